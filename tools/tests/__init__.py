"""Tests of the tools, one folder for each room."""
