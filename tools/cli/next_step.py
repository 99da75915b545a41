"""course, alone: where am I, and what is the one thing to do now."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from tools.cli import complain, room, tasks, units_of
from tools.course.content.catalogue import Unit
from tools.course.learner import journal, waiting
from tools.course.learner.current import current
from tools.course.learner.journal import Journal
from tools.course.learner.progress import OPEN, Progress
from tools.course.learner.todo import SHORT, due, sitting, whats_left
from tools.words import plural, quantity, wrapped

INDENT = 9  # columns, of what a line goes on with below itself: as wide as "  next   "
MOST = 3  # things that are due; the others can wait until these are done
PACES = {"quick": "two days at a sitting", "standard": "an hour a day", SHORT: "half an hour a day"}


def show(root: Path) -> int:
    """Print where the learner is and what is next. Returns the exit code: 2 when a file of the course is broken."""
    units = units_of(root)
    progress, past = Progress.load(root), journal.read(root)
    here = current(units, progress, past)
    lines = [*_where(here, progress)] if here else [whats_left(units, progress)]
    lines += _now(here, units, progress, past, root)
    print(*(part for line in lines for part in _wrapped(line)), sep="\n")
    for warning in filter(None, (progress.warning, past.warning)):
        complain(warning)
    return 0


def _where(unit: Unit, progress: Progress) -> Iterator[str]:
    """The current unit, its tasks, and what its track makes of them."""
    state = progress.state(unit)
    yield f"{unit.name}  {unit.title}, {unit.duration}"
    yield from tasks.short(unit, state)
    yield from (f"  {line}" for line in waiting.lines(state.waits))
    if progress.plan:
        track = progress.plan.track
        yield f"  track  {PACES.get(track, track)}{_share(unit, progress)}"


def _share(unit: Unit, progress: Progress) -> str:
    """The tasks that belong to one sitting, where that is not all of the unit."""
    if not progress.plan or progress.plan.track != SHORT:
        return ""
    numbers = [str(number) for number in sitting(unit, progress.state(unit))]
    return f": {plural('task', len(numbers))} {', '.join(numbers)} now" if numbers else ""


def _now(here: Unit | None, units: list[Unit], progress: Progress, past: Journal, root: Path) -> Iterator[str]:
    """The command to type, and what is due beside it."""
    others = due(units, progress, past, root, datetime.now().astimezone())[:MOST]
    yield ""
    if here:
        command, why = _command(here, progress, past)
        yield _line("Now", command, why)
    for number, other in enumerate(others):
        yield _line("" if number else "Due", other.command, other.why)


def _command(unit: Unit, progress: Progress, past: Journal) -> tuple[str, str]:
    """The next command in the current unit, after "./course", and its reason."""
    asks = unit.recommend and not progress.plan and not past.of(journal.QUIZ, unit.name)
    if asks and progress.state(unit).overall == OPEN:
        return f"quiz {unit.name}", f"{quantity(len(unit.quiz), 'question')} say where to begin"
    return f"watch {unit.name}", "runs its tests whenever you save"


def _line(lead: str, command: str, why: str) -> str:
    return f"{lead:<5}./course {command:<24}  {why}"


def _wrapped(line: str) -> list[str]:
    text = line.lstrip()
    return wrapped(text, room(), line[: len(line) - len(text)], " " * INDENT)
