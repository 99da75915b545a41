"""Small courses to test with: a unit takes one line, and what matters to a test is said in that line."""

from pathlib import Path

from tools.course.content import catalogue
from tools.course.content.catalogue import Unit

LESSON = '''"""Week 1, day 1: small"""

import math

SIZE = 4


# Task 1
def double(x: int) -> int:
    """Twice x."""
    raise NotImplementedError("week1/day1 task 1: double")


def halve(x: int) -> int:
    """Half of x."""
    raise NotImplementedError("week1/day1 task 1: halve")


# Task 2
@staticmethod
def kernel(x_ptr, n):
    pass  # store what double returns
'''

DAY = """title = "Small"
minutes = 30
points = { correctness = 4 }

[hints]
1 = ["one?", "two", "three"]
2 = ["uno?", "dos", "tres"]
"""

QUIZ = """
[[quiz]]
question = "How many lanes has a warp?"
number = 32
why = "A warp is 32 threads."

[[quiz]]
question = "A warp diverges. What happens?"
choices = [
  { text = "an error", why = "Divergence is legal." },
  { text = "both arms run", right = true, why = "One after the other." },
]
"""

DIAGNOSTIC = """
[[quiz]]
question = "Strides?"
number = 1
why = "One."
topic = "strides"

[[quiz]]
question = "More strides?"
number = 2
why = "Two."
topic = "strides"

[[quiz]]
question = "Flops?"
number = 3
why = "Three."
topic = "flops"

[[recommend]]
at_least = 0
start = "week1/day0"
track = "half an hour a day"
words = "One task a day is a good pace."

[[recommend]]
at_least = 3
start = "week1/day4"
track = "quick"
words = "You know the ground already."

[[recommend]]
at_least = 2
start = "week1/day1"
track = "standard"
words = "An hour a day."

[topics]
strides = "week1/day0"
flops = "week1/day1"
"""


def write(root: Path, name: str = "week1/day1", *, day: str = DAY, lesson: str = LESSON) -> Path:
    """Write a unit below root and return its folder."""
    folder = root / name
    folder.mkdir(parents=True)
    (folder / "day.toml").write_text(day, encoding="utf-8")
    (folder / "small.py").write_text(lesson, encoding="utf-8")
    (folder / "test_small.py").write_text("", encoding="utf-8")
    return folder


def make(root: Path, name: str = "week1/day1", **texts: str) -> Unit:
    """Write a unit below root and load it."""
    write(root, name, **texts)
    return catalogue.unit(name, root)
