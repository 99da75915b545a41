"""Tests of tools/course."""
