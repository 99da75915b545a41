"""docs/READING.md, made of every [[reading]] of the course. `./course pages` writes it."""

import textwrap
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from tools import ROOT
from tools.course.content import catalogue
from tools.course.content.catalogue import Reading, Unit

FILE = "docs/READING.md"
WIDTH = 120
HEAD = """# Reading

The sources of each unit, with the step of the lesson that they belong to and what you get from them. None is needed to
pass; each is worth an evening. Search for title and author.

Made from the units' `day.toml` by `./course pages`.
"""


def text(root: Path = ROOT) -> str:
    """The page. Raises BrokenCourseFile."""
    return HEAD + "".join(_sections(catalogue.units(root)))


def _sections(units: list[Unit]) -> Iterator[str]:
    seen: dict[tuple[str, str], str] = {}  # title and author -> the first unit that names them
    for week, members in groupby((unit for unit in units if unit.reading), key=lambda unit: unit.week):
        yield f"\n## {week.replace('week', 'Week ')}\n"
        for unit in members:
            yield f"\n### [{unit.name}](../{unit.name}/{unit.lesson.name}): {unit.title}\n\n"
            for reading in unit.reading:
                first = seen.setdefault((reading.title, reading.author), unit.name)
                yield _entry(reading, "" if first == unit.name else first)


def _entry(reading: Reading, before: str) -> str:
    again = f" (Also at {before}.)" if before else ""
    line = f"- {reading.author}: *{reading.title}*. {reading.step}: {reading.why}{again}"
    return textwrap.fill(line, WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False) + "\n"
