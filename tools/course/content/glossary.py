"""The words of the field in docs/GLOSSARY.md: what is said of each, and which units teach it."""

import re
from dataclasses import dataclass
from pathlib import Path

from tools import ROOT

FILE = "docs/GLOSSARY.md"
_SECTION = "## Words of the field\n"
_ENTRY = re.compile(r"^- \*\*([^*]+)\*\*: ((?:.+\n)(?:  .+\n)*)", re.MULTILINE)
_UNIT = re.compile(r"\[(week\d[^\]]*)\](?!\()")
_WEEK_TO_COME = re.compile(r"\(week \d+(?:, day \d)?\)")


@dataclass(frozen=True)
class Entry:
    """One entry. `words` are in lower case, `units` the names of those that teach it, none of a week to come."""

    words: tuple[str, ...]
    text: str
    units: tuple[str, ...]
    to_come: bool


def read(root: Path = ROOT) -> list[Entry]:
    """The entries in file order; none where there is no glossary."""
    file = root / FILE
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    return [_entry(words, below) for words, below in _ENTRY.findall(text.partition(_SECTION)[2])]


def _entry(words: str, below: str) -> Entry:
    text = " ".join(below.split())
    return Entry(tuple(words.lower().split(", ")), text, tuple(_UNIT.findall(text)), bool(_WEEK_TO_COME.search(text)))
