"""course status: the month on one page, and what comes next."""

from itertools import groupby
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tools.cli import WIDTH, complain, console, units_of
from tools.course.content.catalogue import Unit
from tools.course.learner import journal, waiting
from tools.course.learner.current import current
from tools.course.learner.progress import CONFIRMED, HERE, PASSED, SIMULATED, STARTED, Progress, UnitState
from tools.course.learner.todo import whats_left
from tools.words import quantity

TITLE_WIDTH = 34  # leaves one line for "confirmed on NVIDIA H200, 2026-11-20" beside a day
STYLES = {CONFIRMED: "bold green", SIMULATED: "green", PASSED: "green", HERE: "green", STARTED: "yellow"}


def show(root: Path) -> int:
    """Print the month. Returns the exit code: 2 when there is no course or a file of it is broken."""
    units = units_of(root)
    progress = Progress.load(root)
    page = console()
    with page.capture() as printed:
        _print_month(page, units, progress, current(units, progress, journal.read(root)))
    print(*(line.rstrip() for line in printed.get().splitlines()), sep="\n")  # rich pads tables with spaces
    if progress.warning:
        complain(progress.warning)
    return 0


def _print_month(page: Console, units: list[Unit], progress: Progress, here: Unit | None) -> None:
    states = {unit.name: progress.state(unit) for unit in units}
    title_width = min(TITLE_WIDTH, max(len(unit.title) for unit in units))
    for (week, is_kata), members in groupby(units, key=lambda unit: (unit.week, unit.is_kata)):
        page.print(f"{week.replace('week', 'Week ')}{', katas' * is_kata}", style="bold")
        table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
        table.add_column(no_wrap=True)
        table.add_column(width=title_width if page.width == WIDTH else None)  # narrower: let rich balance
        for unit in members:
            state = states[unit.name]
            mark = ">" if unit is here else " "
            reached = Text(describe(state, len(unit.tasks)), style=STYLES.get(state.overall, ""))
            table.add_row(f"{mark} {unit.folder.name}", unit.title, reached)
        page.print(table)
        page.print()
    page.print(f"Next: ./course {here.name}" if here else whats_left(units, progress))


def describe(state: UnitState, tasks: int) -> str:
    """One line for the learner, such as "simulated; 2 hints; edited since"."""
    words = [_reached(state, tasks), *waiting.words(state.waits)]
    if hints := sum(state.hints.values()):
        words.append(quantity(hints, "hint"))
    if state.edited:
        words.append("edited since")
    return "; ".join(words)


def _reached(state: UnitState, tasks: int) -> str:
    if state.overall == CONFIRMED and (proof := state.confirmation):
        return f"confirmed on {proof.card}, {proof.date}"
    if state.overall == STARTED:
        return f"started, {len(state.done)} of {tasks} tasks"
    return state.overall
