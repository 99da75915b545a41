"""Tests of tools/check/diagnosis: a corpus of human mistakes, and random mutants of plain array functions."""
