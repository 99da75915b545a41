"""Tests of tools/cli."""
