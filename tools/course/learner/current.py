"""The unit that a learner is at: the one worked on last, until it is done; then the one after it."""

from collections.abc import Sequence

from tools.course.content.catalogue import Unit
from tools.course.learner import activity
from tools.course.learner.journal import HINT, OPENED, PASSED, QUIZ, WORKED, Journal
from tools.course.learner.progress import Progress

WORK = {OPENED, WORKED, PASSED, HINT}  # entries of the journal that tell of work; whoever counts may just be looking


def current(units: Sequence[Unit], progress: Progress, past: Journal) -> Unit | None:
    """The unit that commands without a day mean; None when all is done."""
    known = {unit.name: unit for unit in units}
    for entry in reversed(past.entries):
        unit = known.get(entry.unit)
        if unit and entry.kind == QUIZ and unit.recommend and progress.plan:
            break  # the quiz that said where to begin is newer than all work
        if unit and entry.kind in WORK and activity.AMONG not in entry.facts:
            waits = progress.current([unit])
            if waits or not unit.is_kata:  # after a kata it goes on where the learner was
                return waits or following(unit, units, progress)
    return progress.current(units)


def following(unit: Unit, units: Sequence[Unit], progress: Progress) -> Unit | None:
    """The unit that comes after this one: the first day behind it that waits; else, or after a kata, the first of all.

    A unit that was passed over comes last: whoever began with day 1 is not sent back to day 0.
    """
    names = [each.name for each in units]
    behind = [] if unit.is_kata else [each for each in units[names.index(unit.name) + 1 :] if not each.is_kata]
    return progress.current(behind) or progress.current([each for each in units if each.name != unit.name])
