"""docs/READING.md is made of the units' sources: all of them, once for each unit, in course order."""

from tools.course.content import catalogue, reading
from tools.tests.course.miniature import DAY, write

READ = """
[[reading]]
step = "{step}"
title = "{title}"
author = "{author}"
why = "Why, in a sentence."
"""


def add(root, name, *sources):
    texts = (READ.format(step=step, title=title, author=author) for step, title, author in sources)
    write(root, name, day=DAY + "".join(texts))


def test_every_source_of_the_course_is_on_it():
    page = " ".join(reading.text().split())
    for unit in catalogue.units():
        for each in unit.reading:
            assert f"{each.author}: *{each.title}*. {each.step}: {each.why}" in page


def test_sources_stand_under_their_unit_in_course_order(tmp_path):
    add(tmp_path, "week2/day1", ("Verify", "Third", "Ada (1843)"))
    add(tmp_path, "week1/day2", ("Concept", "First", "Grace (1952)"), ("Code it", "Second", "Grace (1953)"))
    write(tmp_path, "week1/day3")  # has none
    assert (
        reading.text(tmp_path).removeprefix(reading.HEAD)
        == """
## Week 1

### [week1/day2](../week1/day2/small.py): Small

- Grace (1952): *First*. Concept: Why, in a sentence.
- Grace (1953): *Second*. Code it: Why, in a sentence.

## Week 2

### [week2/day1](../week2/day1/small.py): Small

- Ada (1843): *Third*. Verify: Why, in a sentence.
"""
    )


def test_a_source_that_stood_before_says_where(tmp_path):
    add(tmp_path, "week1/day1", ("Concept", "Anatomy", "Goto (2008)"))
    add(
        tmp_path,
        "week1/katas/locality",
        ("Code it", "Anatomy", "Goto (2008)"),
        ("Concept", "Anatomy", "Another (2009)"),
    )
    page = reading.text(tmp_path)
    assert page.count("(Also at week1/day1.)") == 1
    assert "Code it: Why, in a sentence. (Also at week1/day1.)" in page
