"""course kata: the kata that is due, and why."""

from datetime import date
from pathlib import Path

from tools.cli import complain, say
from tools.course.content import catalogue
from tools.course.content.catalogue import Unit
from tools.course.learner import katas
from tools.course.learner.katas import Due
from tools.course.learner.progress import Progress
from tools.words import listed

OTHERS = 4  # that are shown below the first


def show(root: Path) -> int:
    """Print what is due. Returns the exit code: 2 when there is no kata, or a file of the course is broken."""
    units = catalogue.units(root)
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
    say(f"{unit.name}  {unit.title}, {unit.duration}")
    if unit.concepts:
        say(", ".join(unit.concepts), "  ", "    ")
    say(_why(first), "  ", "    ")
    if first.again:
        print(f"\nAgain, from an empty page: ./course reset {unit.name}")
    print(f"{'Then' if first.again else chr(10) + 'Next'}: ./course {unit.name}")
    if others:
        print("\nAlso due")
    for other in others[:OTHERS]:
        what = f"{other.unit.title}, {other.unit.duration}{', again' * other.again}"
        say(f"{other.unit.name}  {what}", "  ", "    ")
    if len(others) > OTHERS:
        print(f"  and {len(others) - OTHERS} more")


def _why(kata: Due) -> str:
    if kata.again:
        return f"You did it on {kata.since}. What comes back without looking is yours."
    if kata.since is None:
        return "It needs nothing but you."
    return f"It needs {listed(kata.unit.needs)}, done since {kata.since}."


def _print_none(units: list[Unit], progress: Progress) -> None:
    ahead = katas.ahead(units, progress)
    if not ahead:
        return say(f"No kata is due: all are done, the last within {katas.RETURN.days} days.")
    first, known = ahead[0], {unit.name for unit in units}
    there, missing = ([name for name in first.needs if (name in known) is here] for here in (True, False))
    print("No kata is due yet.")
    say(f"The nearest is {first.unit.name}, {first.unit.title}: it waits for {listed(first.needs)}.")
    if missing:
        say(f"Not here yet: {listed(missing)}.")
    print(f"Next: ./course {there[0] if there else 'status'}")
