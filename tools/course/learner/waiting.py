"""Tests that wait for a package or a program, in the words that every command has for them."""

from collections import defaultdict
from collections.abc import Iterable

from tools.course.learner.record import Wait

DOCTOR = "./course doctor"


def words(waits: Iterable[Wait]) -> list[str]:
    """`3 compiled tests wait for numba-cuda`, one for each thing that is missing."""
    missing = defaultdict(list)
    for wait in sorted(waits, key=lambda wait: wait.what):
        missing[wait.what].append(wait)
    return [f"{_tests(group)} for {what}" for what, group in missing.items()]


def lines(waits: Iterable[Wait]) -> list[str]:
    """The same, each with the command that says what to do about it."""
    return [f"{each}: {DOCTOR}" for each in words(waits)]


def _tests(waits: list[Wait]) -> str:
    count, stages = sum(wait.tests for wait in waits), {wait.stage for wait in waits}
    kind = "compiled " if stages == {"compiled"} else ""
    if count == 0:
        return "all tests wait"
    return f"{count} {kind}test{'s wait' if count > 1 else ' waits'}"
