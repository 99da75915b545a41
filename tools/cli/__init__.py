"""The `course` commands. Each is thin: it asks tools.course and prints."""

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from tools.course.content import catalogue
from tools.course.content.catalogue import NoSuchUnit, Unit
from tools.course.learner import journal
from tools.course.learner.current import current
from tools.course.learner.progress import Progress
from tools.words import WIDTH, wrapped

if TYPE_CHECKING:
    from rich.console import Console

LEAST = 20  # columns: a terminal that says less of itself is not believed


def units_of(root: Path) -> list[Unit]:
    """All days and katas. Raises NoSuchUnit where there is none, BrokenCourseFile."""
    units = catalogue.units(root)
    if not units:
        raise NoSuchUnit("There is no day here: no file week1/day0/day.toml, nor any other day.")
    return units


def chosen(day: str | None, root: Path) -> Unit:
    """The unit named `day`; the learner's current one where day is None. Raises NoSuchUnit, BrokenCourseFile."""
    if day is not None:
        return catalogue.unit(day, root)
    unit = current(units_of(root), Progress.load(root), journal.read(root))
    if unit is None:
        raise NoSuchUnit("Every day and kata is done: name the one that you mean. ./course status lists them.")
    return unit


def whats_next(root: Path) -> str:
    """The last line of a command: what to type now. Raises BrokenCourseFile."""
    unit = current(catalogue.units(root), Progress.load(root), journal.read(root))
    return f"Next: ./course {unit.name if unit else 'status'}"


def where_typed(path: Path) -> Path:
    """A file named on the command line, from the folder that the learner stands in: a command runs in the root."""
    return Path(os.environ.get("COURSE_FROM", "."), path)


def room() -> int:
    """The columns that a line may have: those of the terminal, at most WIDTH."""
    return max(LEAST, min(WIDTH, shutil.get_terminal_size().columns))


def console() -> "Console":
    """A rich console for plain text: as wide as there is room, no colour where there is no terminal."""
    from rich.console import Console  # late: this package must import where rich is missing

    return Console(highlight=False, markup=False, emoji=False, width=room())


def say(text: str, lead: str = "", indent: str | None = None, style: str = "", page: "Console | None" = None) -> None:
    """Print a text in lines that fit, as tools.words.wrapped makes them. page: a rich console, which knows styles."""
    for line in wrapped(text, room(), lead, indent):
        if page is None:
            print(line)
        else:
            page.print(line, style=style, soft_wrap=True)


@contextmanager
def busy(page: "Console", on: str) -> Iterator[None]:
    """A sign of life on a terminal while there is nothing to print: PyTorch alone takes seconds to load."""
    with page.status(on) if page.is_terminal else nullcontext():
        yield


def complain(message: object) -> int:
    """Say why a command cannot be done; returns the exit code for that. Only a terminal gets long lines in parts."""
    text = str(message)
    if sys.stderr.isatty():
        text = "\n".join(wrapped(text, room()))
    print(text, file=sys.stderr)
    return 2


def nothing_for(command: str, what: str, unit: Unit) -> int:
    """Say that a unit has nothing for a command (no "kernel"), and what to do with it; returns the exit code."""
    return complain(f"{unit.name} has no {what} for ./course {command}. To work it: ./course {unit.name}")


def keep(kind: str, unit: Unit, *findings: dict) -> None:
    """Tell the journal what a command found; where it cannot be written, say so once: the screen has it all."""
    problems = (journal.tell(kind, unit.name, facts, unit.root) for facts in findings)
    if problem := next(filter(None, problems), None):
        complain(problem)


def stopped(message: str = "Stopped.") -> int:
    """Say that Ctrl-C was heard; returns the exit code that shells give for it."""
    complain(message)
    return 130
