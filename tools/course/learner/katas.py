"""Katas that are due: those whose ground is laid, and those done so long ago that they are worth redoing."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from tools.course.content.catalogue import Unit
from tools.course.learner.progress import Progress, UnitState

RETURN = timedelta(days=14)  # half the month: the katas of week 1 come back in week 3


@dataclass(frozen=True)
class Due:
    """A kata and the day since which it waits: all that it needs is done, or, `again`, it was done itself."""

    unit: Unit
    since: date | None  # None where it needs nothing
    again: bool = False


@dataclass(frozen=True)
class Ahead:
    """A kata that is not due yet, and the units that it waits for."""

    unit: Unit
    needs: tuple[str, ...]


def due(units: Sequence[Unit], progress: Progress, today: date) -> list[Due]:
    """The katas that are due, the longest waiting first; all new ones before those to do again."""
    states = {unit.name: progress.state(unit) for unit in units}
    finished = {name: _date(state) for name, state in states.items() if state.finished}
    found = []
    for unit in filter(lambda unit: unit.is_kata, units):
        if unit.name not in finished and finished.keys() >= set(unit.needs):
            found.append(Due(unit, max((finished[name] for name in unit.needs), default=None)))
        elif unit.name in finished and today - finished[unit.name] >= RETURN:
            found.append(Due(unit, finished[unit.name], again=True))
    return sorted(found, key=lambda kata: (kata.again, kata.since or date.min))


def ahead(units: Sequence[Unit], progress: Progress) -> list[Ahead]:
    """The katas that wait for other units: those first of which all are there, then those that wait for the fewest."""
    states = {unit.name: progress.state(unit) for unit in units}
    waits = {name for name, state in states.items() if not state.finished}
    found = [Ahead(unit, tuple(name for name in unit.needs if name in waits or name not in states))
             for unit in units if unit.is_kata and unit.name in waits]  # fmt: skip
    return sorted(
        (kata for kata in found if kata.needs), key=lambda kata: (not set(kata.needs) <= states.keys(), len(kata.needs))
    )


def _date(state: UnitState) -> date:
    """The day on which the last part of a unit passed."""
    return max(date.fromisoformat(entry.date) for entry in state.entries.values())
