"""The reach of a change: what it may turn runs again, and so does all of which the syntax does not tell."""

import pytest

from tools.selfcheck.reach import changed, unreached

LESSON = '''
"""A lesson."""

import numpy as np

SIZE = 4
POWERS = {name: 2 for name in ("one", "two")}


def total(values):
    return sum(values, START)


START = 0


def mean(values):
    return total(values) / len(values)


def largest(values, least=SIZE):
    return max(values, default=least)
'''

TESTS = """
import pytest
from week1.day1 import adding as lesson
from week1.day1.small import SHORT

WANTED = lesson.POWERS


@pytest.fixture
def means():
    return lesson.mean


def check(values):
    assert lesson.total(values) == 7


def test_total():
    check([1, 2, 4])


def test_mean(means):
    assert means([1, 3]) == 2


@pytest.mark.parametrize("least", [lesson.SIZE])
def test_largest(least):
    assert lesson.largest([]) == least


def test_each_by_name():
    assert all(getattr(lesson, name)([2]) == 2 for name in ("total", "mean"))


def test_short():
    assert lesson.total(SHORT)


def test_powers():
    assert WANTED["one"] == 2
"""

EVERY = {"test_total", "test_mean", "test_largest", "test_each_by_name", "test_short", "test_powers"}
ALWAYS = {"test_each_by_name", "test_short"}  # who hand the lesson on, or use another file of the course's weeks


def rerun(old: str, new: str, lesson: str = LESSON, tests: str = TESTS) -> set[str]:
    assert old in lesson
    return EVERY - set(unreached(tests, "week1.day1.adding", lesson, lesson.replace(old, new)))


@pytest.mark.parametrize("old, new, reached", [
    ("sum(values, START)", "sum(values)", {"test_total", "test_mean"}),
    ("/ len(values)", "/ 2", {"test_mean"}),
    ("max(values", "min(values", {"test_largest"}),
    ("START = 0", "START = 1", {"test_total", "test_mean"}),
    ("SIZE = 4", "SIZE = 5", {"test_largest"}),
    ("least=SIZE", "least=3", {"test_largest"}),
    (": 2 for", ": 3 for", {"test_powers"}),
    ("A lesson.", "Another.", set()),
    ("sum(values, START)", "sum( values,START)  # the same", set()),
])  # fmt: skip
def test_a_change_reaches_what_uses_it_through_whatever_lies_between(old, new, reached):
    assert rerun(old, new) == reached | ALWAYS


@pytest.mark.parametrize("new", [
    "SIZE = 4\nSIZE += 1",
    "SIZE = 4\nfor _ in range(2):\n    pass",
    "SIZE = 4\nif SIZE:\n    SIZE = 3",
    "SIZE, more = 4, 5",
    "SIZE = 4\nprint(SIZE)",
])  # fmt: skip
def test_a_changed_statement_that_only_runs_reaches_everything(new):
    assert rerun("SIZE = 4", new) == EVERY


def test_what_a_statement_that_only_runs_reads_reaches_everything():
    lesson = LESSON + "\nif largest([1]):\n    START = 0\n"
    assert rerun("max(values", "min(values", lesson) == EVERY
    assert rerun("/ len(values)", "/ 2", lesson) == {"test_mean"} | ALWAYS


@pytest.mark.parametrize("sees", ["globals()['total'](values)", "eval('total')(values)"])
def test_who_looks_names_up_may_use_any(sees):
    lesson = LESSON.replace("max(values, default=least)", sees)
    assert rerun("/ len(values)", "/ 2", lesson) == {"test_mean", "test_largest"} | ALWAYS


def test_what_every_test_has_reaches_every_test():
    fixture = "\n@pytest.fixture(autouse=True)\ndef ready():\n    lesson.largest([1])\n"
    assert rerun("max(values", "min(values", tests=TESTS + fixture) == EVERY
    marked = "\npytestmark = pytest.mark.skipif(lesson.SIZE == 5, reason='large')\n"
    assert rerun("SIZE = 4", "SIZE = 5", tests=TESTS + marked) == EVERY


def test_names_that_were_added_or_taken_away_are_changed():
    assert changed("a = b\n", "a = b\nb = 1\n") == {"a", "b"}
    assert changed("import x\ny = x\n", "y = x\n") == {"x", "y"}
