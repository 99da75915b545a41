"""course kata: the kata that is due, and why."""

import textwrap
from datetime import date
from pathlib import Path

from tools.cli import WIDTH, complain
from tools.course import catalogue, katas
from tools.course.catalogue import BrokenCourseFile, Unit
from tools.course.katas import Due
from tools.course.progress import Progress

OTHERS = 4  # that are shown below the first


def show(root: Path) -> int:
    """Print what is due. Returns the exit code: 2 when there is no kata, or a file of the course is broken."""
    try:
        units = catalogue.units(root)
    except BrokenCourseFile as problem:
        return complain(problem)
    if not any(unit.is_kata for unit in units):
        return complain("There is no kata here: no file week1/katas/NAME/day.toml.")
    progress = Progress.load(root)
    due = katas.due(units, progress, date.today())
    if due:
        _print_due(due[0], due[1:])
    else:
        _print_none(units, progress)
    if progress.warning:
        complain(progress.warning)
    return 0


def _print_due(first: Due, others: list[Due]) -> None:
    unit = first.unit
    _say(f"{unit.name}  {unit.title}, {unit.minutes} minutes")
    if unit.concepts:
        _say(", ".join(unit.concepts), "  ")
    _say(_why(first), "  ")
    if first.again:
        print(f"\nAgain, from an empty page: ./course reset {unit.name}")
    print(f"{'Then' if first.again else chr(10) + 'Next'}: ./course {unit.name}")
    if others:
        print("\nAlso due")
    for other in others[:OTHERS]:
        _say(f"{other.unit.name}  {other.unit.title}, {other.unit.minutes} minutes{', again' * other.again}", "  ")
    if len(others) > OTHERS:
        print(f"  and {len(others) - OTHERS} more")


def _why(kata: Due) -> str:
    if kata.again:
        return f"You did it on {kata.since}. What comes back without looking is yours."
    if kata.since is None:
        return "It needs nothing but you."
    return f"It needs {_list(kata.unit.needs)}, done since {kata.since}."


def _print_none(units: list[Unit], progress: Progress) -> None:
    ahead = katas.ahead(units, progress)
    if not ahead:
        return print(f"No kata is due: all are done, the last within {katas.RETURN.days} days.")
    first = ahead[0]
    print("No kata is due yet.")
    _say(f"The nearest is {first.unit.name}, {first.unit.title}: it waits for {_list(first.needs)}.")
    print(f"Next: ./course {first.needs[0]}")


def _list(names: tuple[str, ...]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _say(text: str, indent: str = "") -> None:
    print(textwrap.fill(text, WIDTH, initial_indent=indent, subsequent_indent=2 * indent, break_on_hyphens=False))
