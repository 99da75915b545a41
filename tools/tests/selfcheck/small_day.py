"""The files of one small day, sound in every respect: of week1/day1, or of another unit by another name."""

import textwrap

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


def files(unit: str = "week1/day1", module: str = "adding") -> dict[str, str]:
    """Path below the course -> text of a unit of that name, with its reference and wrong answers."""
    reference = LESSON
    for marker, answer in ANSWERS.items():
        reference = reference.replace(marker, answer)
    texts = {
        f"{unit}/{module}.py": LESSON,
        f"{unit}/test_{module}.py": TESTS,
        f"{unit}/day.toml": DAY,
        f"reference/{unit}/{module}.py": reference,
        f"reference/{unit}/wrong.toml": WRONG,
    }
    return {path: _of(unit, module, text) for path, text in texts.items()}


def _of(unit: str, module: str, text: str) -> str:
    package = unit.replace("/", ".")
    text = text.replace("week1.day1 import adding", f"{package} import {module}").replace("week1/day1", unit)
    return textwrap.dedent(text).lstrip("\n")
