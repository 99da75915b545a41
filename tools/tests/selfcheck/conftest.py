"""A course of one small day, sound in every respect, for tests to break in one place each."""

import textwrap
from pathlib import Path

import pytest

from tools.course.content import catalogue
from tools.selfcheck import static

LESSON = '''
"""Week 1, day 1: adding

Challenge
    Add numbers up.
Explore
    Try sum([1, 2]).
Concept
    A sum needs a start.
Code it
    Task 1  total: add them up        (three lines)
    Task 2  mean: then divide          (one line)
Verify
    pytest week1/day1
"""

import statistics

START = 0


# Task 1
def total(values: list[float]) -> float:
    """The sum of values."""
    result = START
    raise NotImplementedError("week1/day1 task 1: total")


# Task 2
def mean(values: list[float]) -> float:
    """The sum of values, over how many they are."""
    raise NotImplementedError("week1/day1 task 2: mean")
'''

ANSWERS = {
    'raise NotImplementedError("week1/day1 task 1: total")':
        "for value in values:\n        result += value\n    return result",
    'raise NotImplementedError("week1/day1 task 2: mean")':
        "return total(values) / len(values)",
}  # fmt: skip

TESTS = """
import pytest
from week1.day1 import adding as lesson

@pytest.mark.task(1)
def test_total_adds_every_value():
    assert lesson.total([1, 2, 4]) == 7

@pytest.mark.task(2)
def test_mean_divides_by_the_count():
    assert lesson.mean([1, 2, 6]) == 3
"""

DAY = """
title = "Adding"
minutes = 10
[hints]
1 = ["Where does a sum start?", "Go through the values.", "result += value"]
2 = ["How many are there?", "Use len.", "total(values) / len(values)"]
"""

WRONG = "".join(
    f'[[wrong]]\nname = "{name}"\nfind = "{find}"\nreplace = "{replace}"\n'
    f'rejected_by = "{test}"\nsays = "{says}"\n'
    for name, find, replace, test, says in [
        ("keeps_the_last", "result += value", "result = value", "test_total_adds_every_value", "4 == 7"),
        ("takes_away", "result += value", "result -= value", "test_total_adds_every_value", "-7 == 7"),
        ("stops", "    return result", "        return result", "test_total_adds_every_value", "1 == 7"),
        ("forgets_to_divide", " / len(values)", "", "test_mean_divides_by_the_count", "9 == 3"),
        ("turns_it_round", "total(values) / len(values)", "len(values) / total(values)",
         "test_mean_divides_by_the_count", "0.33"),
        ("takes_the_median", "total(values) / len(values)", "statistics.median(values)",
         "test_mean_divides_by_the_count", "2 == 3"),
    ]
)  # fmt: skip

CONFTEST = '''
"""As much of the course's plugin as the self-check asks for."""
import importlib.util, sys
from pathlib import Path
import pytest

def pytest_addoption(parser):
    parser.addoption("--answers")
    parser.addoption("--seed")
    parser.addoption("--remote", action="store_true")
    parser.addini("course_limit", "")
    parser.addini("course_compiler", "")

class Finder:
    def __init__(self, folder):
        self.folder = folder
    def find_spec(self, name, path=None, target=None):
        file = self.folder / Path(*name.split(".")).with_suffix(".py")
        return importlib.util.spec_from_file_location(name, file) if name == "week1.day1.adding" else None

def pytest_configure(config):
    config.addinivalue_line("markers", "task(*numbers)")
    config.addinivalue_line("markers", "gpu")
    finder = Finder(config.rootpath / config.getoption("--answers"))
    sys.meta_path.insert(0, finder)
    config.add_cleanup(lambda: sys.meta_path.remove(finder))

def pytest_runtest_setup(item):
    if item.get_closest_marker("gpu"):
        pytest.skip("needs an NVIDIA GPU")

@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    gpu = item.get_closest_marker("gpu") is not None
    report.course = {"tasks": item.get_closest_marker("task").args, "stage": "correctness", "needs_gpu": gpu,
                     "needs_program": False}
    return report

def pytest_report_teststatus(report):
    if report.failed and "too noisy" in report.longreprtext:
        return "undecided", "u", "UNDECIDED"
'''


class Course:
    """The files of the course below `root`."""

    def __init__(self, root: Path):
        self.root = root
        reference = LESSON
        for marker, answer in ANSWERS.items():
            reference = reference.replace(marker, answer)
        self.write("week1/day1/adding.py", LESSON)
        self.write("week1/day1/test_adding.py", TESTS)
        self.write("week1/day1/day.toml", DAY)
        self.write("reference/week1/day1/adding.py", reference)
        self.write("reference/week1/day1/wrong.toml", WRONG)
        self.write("conftest.py", CONFTEST)
        self.write("pytest.ini", "[pytest]\naddopts = --import-mode=importlib\npythonpath = .\n")

    def write(self, path: str, text: str) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(textwrap.dedent(text).lstrip("\n"), encoding="utf-8")

    def edit(self, path: str, old: str, new: str) -> None:
        """Change the one place in `path` that says `old`."""
        text = (self.root / path).read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{path} says {old!r} {text.count(old)} times"
        self.write(path, text.replace(old, new))

    def unit(self) -> catalogue.Unit:
        return catalogue.unit("week1/day1", self.root)

    def problems(self) -> list[str]:
        """What the static rules find, in words."""
        return [str(problem) for found in static.check_unit(self.unit(), self.root).values() for problem in found]


@pytest.fixture
def course(tmp_path) -> Course:
    return Course(tmp_path)
