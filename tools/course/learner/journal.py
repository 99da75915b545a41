"""The learner's journal: what was done and when, a JSON object a line in journal/journal.jsonl, kept with the branch.

Lines are only ever added. Two machines may have added lines of their own: git can join them in any order, so
reading sorts by time.
"""

import ast
import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from itertools import pairwise
from pathlib import Path

from tools import ROOT
from tools.course.content import source
from tools.course.content.catalogue import Unit
from tools.course.content.syntax import statements

FOLDER, FILE = "journal", "journal/journal.jsonl"
OPENED, WORKED, PASSED, HINT = "opened", "worked", "passed", "hint"
QUIZ, COUNT, BENCH, REVIEW, NOTE = "quiz", "count", "bench", "review", "note"
KINDS = (OPENED, WORKED, PASSED, HINT, QUIZ, COUNT, BENCH, REVIEW, NOTE)
OWN = ("when", "kind", "unit")  # keys of a line that are no facts
PAUSE = timedelta(minutes=15)  # a learner of whom nothing is heard for so long was elsewhere
JIT = ("triton.jit", "cuda.jit")


class NotKept(OSError):
    """The journal cannot be written; str() is one line."""


@dataclass(frozen=True)
class Entry:
    """Something that happened: `kind` is one of KINDS, `unit` is "week1/day4" or, for a review, "week1"."""

    when: datetime  # aware, in UTC
    kind: str
    unit: str
    facts: dict


@dataclass(frozen=True)
class Journal:
    """The entries, oldest first. damaged: lines that are none; they stay in the file, and nobody reads them."""

    entries: tuple[Entry, ...] = ()
    damaged: int = 0
    unreadable: str = ""  # why the file cannot be read at all

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def of(self, kind: str | None = None, unit: str | None = None) -> list[Entry]:
        """The entries of this kind and this unit; None stands for all."""
        return [e for e in self.entries if kind in (None, e.kind) and unit in (None, e.unit)]

    @property
    def warning(self) -> str | None:
        """None, or one line that the learner should read."""
        if self.unreadable:
            return f"{FILE} cannot be read ({self.unreadable})."
        if self.damaged:
            lines = "line that is no entry and was" if self.damaged == 1 else "lines that are no entries and were"
            return f"{FILE} has {self.damaged} {lines} left out."
        return None


def wanted() -> bool:
    """Does a run on this machine tell of a learner? In continuous integration it does not."""
    return not os.environ.get("CI")


def add(kind: str, unit: str, facts: dict, root: Path = ROOT, when: datetime | None = None) -> None:
    """Append one entry; facts are plain values, as JSON knows them. Raises NotKept."""
    if kind not in KINDS or not facts.keys().isdisjoint(OWN):
        raise ValueError(f"not an entry: {kind!r}, {facts!r}")
    moment = (when or datetime.now(timezone.utc)).astimezone(timezone.utc).isoformat(timespec="seconds")
    line = json.dumps({"when": moment, "kind": kind, "unit": unit, **facts}, ensure_ascii=False, allow_nan=False)
    file = root / FILE
    try:
        file.parent.mkdir(exist_ok=True)
        torn = _ends_within_a_line(file)
        with open(file, "ab", buffering=0) as journal:  # one write: two runs at once do not mix their lines
            journal.write(b"\n" * torn + line.encode() + b"\n")
    except OSError as error:
        raise NotKept(f"{FILE} cannot be written ({error.strerror}).") from None


def tell(kind: str, unit: str, facts: dict, root: Path = ROOT, when: datetime | None = None) -> str | None:
    """Append one entry where a run tells of a learner. Returns why it could not be kept, if so."""
    try:
        if wanted():
            add(kind, unit, facts, root, when)
    except NotKept as problem:
        return str(problem)
    return None


def read(root: Path = ROOT) -> Journal:
    """The journal of the course in root; an empty one where there is none."""
    try:
        lines = (root / FILE).read_bytes().splitlines()
    except (FileNotFoundError, NotADirectoryError):
        return Journal()
    except OSError as error:
        return Journal(unreadable=str(error.strerror))
    entries = [_entry(line) for line in lines if line.strip()]
    sound = sorted(filter(None, entries), key=lambda entry: entry.when)
    return Journal(tuple(sound), len(entries) - len(sound))


# What follows from the entries --------------------------------------------------------------------


def minutes(entries: Iterable[Entry]) -> dict[str, float]:
    """Minutes of work by unit. The time between two entries counts for the later one's unit, unless it is so
    long that the learner was elsewhere."""
    spent: dict[str, float] = {}
    for earlier, later in pairwise(entries):
        if later.when - earlier.when < PAUSE:
            spent[later.unit] = spent.get(later.unit, 0) + (later.when - earlier.when) / timedelta(minutes=1)
    return spent


def hints(entries: Iterable[Entry]) -> dict[str, int]:
    """The number of hints taken, by unit."""
    return dict(Counter(entry.unit for entry in entries if entry.kind == HINT))


def first_green_kernel(entries: Iterable[Entry]) -> timedelta | None:
    """From the first entry of all to the first kernel that passed; None before that."""
    entries = list(entries)
    passed = (entry.when for entry in entries if entry.kind == PASSED and entry.facts.get("kernel") is True)
    first = next(passed, None)
    return None if first is None else first - entries[0].when


def kernels(unit: Unit) -> frozenset[int]:
    """The tasks in which a function is written for a GPU, in Triton or in Numba's CUDA."""
    try:
        body = statements(source.read(unit.lesson))
    except OSError:
        return frozenset()
    written = {node.name for node in body if isinstance(node, ast.FunctionDef)
               and any(ast.unparse(decorator).startswith(JIT) for decorator in node.decorator_list)}  # fmt: skip
    return frozenset(task.number for task in unit.tasks if not written.isdisjoint(task.functions))


# The file -----------------------------------------------------------------------------------------


def _ends_within_a_line(file: Path) -> bool:
    """Was the last line cut short, as by a full disk?

    A line that another run is just writing may look so too. Then an empty line comes between; `read` skips it.
    """
    if not file.exists() or not file.stat().st_size:
        return False
    with open(file, "rb") as journal:
        journal.seek(-1, os.SEEK_END)
        return journal.read(1) != b"\n"


def _entry(line: bytes) -> Entry | None:
    """The entry that a line holds, or None."""
    try:
        facts = json.loads(line)
        when, kind, unit = (facts.pop(key) for key in OWN)
        moment = datetime.fromisoformat(when).astimezone(timezone.utc)
    except (ValueError, RecursionError, TypeError, KeyError, AttributeError, OverflowError):
        return None
    return Entry(moment, kind, unit, facts) if isinstance(kind, str) and isinstance(unit, str) else None
