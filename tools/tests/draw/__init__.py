"""Tests of tools/draw."""
