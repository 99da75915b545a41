"""docs/GLOSSARY.md: every concept that a unit lists is there, in a few lines, with a unit that teaches it."""

import re

import pytest

from tools import ROOT
from tools.course.content import catalogue

TEXT = (ROOT / "docs/GLOSSARY.md").read_text(encoding="utf-8")
ENTRIES = {}  # word -> what stands below it
for words, below in re.findall(r"^- \*\*([^*]+)\*\*: ((?:.+\n)(?:  .+\n)*)", TEXT, re.MULTILINE):
    ENTRIES |= {word.lower(): below for word in words.split(", ")}
TARGETS = dict(re.findall(r"^\[([^\]]+)\]: (\S+)$", TEXT, re.MULTILINE))
UNITS = {unit.name: unit for unit in catalogue.units()}
OF_THE_COURSE = (
    "day",
    "kata",
    "task",
    "gap",
    "lesson",
    "stub",
    "reference",
    "wrong answer",
    "counters",
    "sector",
    "request",
    "wavefront",
    "simulated",
    "confirmed",
    "race",
)


def taught_in(word: str) -> list[str]:
    return re.findall(r"\[(week\d[^\]]*)\](?!\()", ENTRIES[word])


@pytest.mark.parametrize("name", UNITS)
def test_every_concept_of_a_unit_is_there_and_leads_to_a_unit_that_lists_it(name):
    for concept in UNITS[name].concepts:
        word = concept.lower()
        assert word in ENTRIES, f"docs/GLOSSARY.md has no entry for {concept!r}, a concept of {name}"
        listing = [each.name for each in UNITS.values() if word in map(str.lower, each.concepts)]
        assert set(taught_in(word)) & set(listing), f"{concept!r} in docs/GLOSSARY.md names none of {listing}"


@pytest.mark.parametrize("word", OF_THE_COURSE)
def test_the_words_of_the_course_are_there(word):
    assert word in ENTRIES


@pytest.mark.parametrize("word", ENTRIES)
def test_an_entry_takes_at_most_three_lines(word):
    lines = ENTRIES[word].splitlines()
    assert len(lines) <= 3
    assert max(map(len, lines)) <= 120


@pytest.mark.parametrize("word", ENTRIES)
def test_a_unit_that_an_entry_names_exists_and_is_linked(word):
    for name in taught_in(word):
        assert name in UNITS, f"there is no unit {name}"
        assert TARGETS[name] == f"../{name}/{UNITS[name].lesson.name}"


def test_what_is_said_to_come_is_not_there_yet():
    for week, day in re.findall(r"\(week (\d), day (\d)\)", " ".join(TEXT.split())):
        assert f"week{week}/day{day}" not in UNITS, f"week{week}/day{day} is there now: link it in docs/GLOSSARY.md"


def test_words_are_in_order_and_stand_once():
    for section in TEXT.split("\n## ")[1:]:
        words = re.findall(r"^- \*\*([^*]+)\*\*", section, re.MULTILINE)
        assert words == sorted(set(words), key=str.lower)


def test_no_link_is_left_over():
    assert set(TARGETS) == {name for word in ENTRIES for name in taught_in(word)}
