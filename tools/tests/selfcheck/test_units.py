"""Tests that are made for each unit: a unit's check runs its own, and all rooms' tests may run in one session."""

import os
import subprocess
import sys

from tools import ROOT
from tools.selfcheck.recording import recorded

UNITS, WORDS = "tools/tests/units/test_workloads.py", "tools/tests/test_words.py"


def collected(*arguments: str) -> list[str]:
    """The tests that pytest finds, by file and function."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", *arguments]
    done = subprocess.run(command, cwd=ROOT, env=recorded(os.environ), capture_output=True, text=True)
    return [line for line in done.stdout.splitlines() if "::" in line]


def test_those_of_one_unit_are_of_no_other_and_other_rooms_are_left_alone():
    found = collected(UNITS, WORDS, "--unit=week1/day1")
    made, others = ([test for test in found if test.startswith(file)] for file in (UNITS, WORDS))
    assert made and all("[week1/day1" in test for test in made)
    assert others == collected(WORDS) != []
