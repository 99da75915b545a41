"""The words of the field in docs/GLOSSARY.md: what is said of each, and which units teach it.

The entries are written by hand; the list by week at its end and the links are made of them.
"""

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tools import ROOT
from tools.course.content import catalogue
from tools.course.content.catalogue import Unit
from tools.course.content.generated import filled
from tools.course.content.week_file import Week, weeks

WIDTH = 120
FILE = "docs/GLOSSARY.md"
_SECTION = "## Words of the field\n"
_ENTRY = re.compile(r"^- \*\*([^*]+)\*\*: ((?:.+\n)(?:  .+\n)*)", re.MULTILINE)
_UNIT = re.compile(r"\[(week\d[^\]]*)\](?!\()")
_WEEK_TO_COME = re.compile(r"\(week \d+(?:, day \d)?\)")


@dataclass(frozen=True)
class Entry:
    """One entry. `name` is as the page writes it, `words` are in lower case, `units` the names of those that teach it,
    none of a week to come."""

    name: str
    words: tuple[str, ...]
    text: str
    units: tuple[str, ...]
    to_come: bool


def read(root: Path = ROOT) -> list[Entry]:
    """The entries in file order; none where there is no glossary."""
    file = root / FILE
    return entries(file.read_text(encoding="utf-8") if file.exists() else "")


def entries(page: str) -> list[Entry]:
    """The entries of a page, in its order."""
    return [_entry(words, below) for words, below in _ENTRY.findall(page.partition(_SECTION)[2])]


def _entry(words: str, below: str) -> Entry:
    text = " ".join(below.split())
    return Entry(
        words, tuple(words.lower().split(", ")), text, tuple(_UNIT.findall(text)), bool(_WEEK_TO_COME.search(text))
    )


# The list by week ---------------------------------------------------------------------------------


def page(text: str, root: Path = ROOT) -> str:
    """The glossary with its list by week and its links as they should be. Raises BrokenCourseFile."""
    found = entries(text)
    taught: dict[str, list[str]] = {}  # unit -> words, as the entries write them
    for entry in found:
        for name in entry.units:
            taught.setdefault(name, []).append(entry.name)
    parts = [part for week in weeks(root) for part in _of_week(week, taught)]
    links = [f"[{unit.name}]: {_target(unit)}\n" for unit in catalogue.units(root) if unit.name in taught]
    return filled(text, "words by week", "".join([*parts, *links]), FILE)


def _of_week(week: Week, taught: dict[str, list[str]]) -> Iterator[str]:
    """In the order of the week's page, with the units that teach a word."""
    yield f"### {week.heading}\n\n"
    for unit in (entry.unit for entry in week.entries if entry.unit.name in taught):
        line = f"- [{unit.name.partition('/')[2]}]({_target(unit)}): {', '.join(taught[unit.name])}"
        yield _filled(line)
    yield "\n"


def _target(unit: Unit) -> str:
    return f"../{unit.name}/{unit.lesson.name}"


def _filled(line: str) -> str:
    return textwrap.fill(line, WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False) + "\n"
