"""Progress as far as the journal tells it, for when progress.json is lost: which tasks passed, and the hints taken.

The journal knows tasks and no stages, so each task has one here; the next run of a unit says the rest.
"""

from collections.abc import Iterable
from pathlib import Path

from tools.course.content import catalogue
from tools.course.content.catalogue import BrokenCourseFile, NoSuchUnit, Unit
from tools.course.learner import journal
from tools.course.learner.journal import HINT
from tools.course.learner.journal import Entry as Told
from tools.course.learner.record import CONFIRMED, HERE, PASSED, SIMULATED, Check, Entry, Record

STAGE, ON_GPU = "correctness", "speed"


def records(root: Path) -> dict[str, Record]:
    """By unit; none of units that this course does not have."""
    found = {}
    told = journal.read(root)
    for name in dict.fromkeys(entry.unit for entry in told):
        try:
            record = _record(catalogue.unit(name, root), told.of(unit=name))
        except (NoSuchUnit, BrokenCourseFile):
            continue
        if record.entries or record.hints:
            found[name] = record
    return found


def _record(unit: Unit, told: Iterable[Told]) -> Record:
    record = Record()
    for entry in told:
        task, rung = entry.facts.get("task"), entry.facts.get("rung")
        if type(task) is not int or task not in {each.number for each in unit.tasks}:
            continue
        if entry.kind == HINT and type(rung) is int:
            record.hints[task] = max(record.hints.get(task, 0), rung)
        elif entry.kind == journal.PASSED:
            _pass(record, task, entry, unit)
    if record.entries:
        record.checks |= {Check(task.number, STAGE) for task in unit.tasks}
    return record


def _pass(record: Record, task: int, told: Told, unit: Unit) -> None:
    """Put in that a task passed, and with a GPU or without."""
    state, card, day = str(told.facts.get("state")), told.facts.get("card"), told.when.astimezone().date().isoformat()
    now = catalogue.file_hash(unit.lesson)
    if state in (HERE, PASSED, SIMULATED, CONFIRMED):
        record.entries[task, STAGE] = Entry(task, STAGE, SIMULATED, None, day, now)
    if state in (SIMULATED, CONFIRMED):
        record.checks |= {Check(task, ON_GPU, True)}
    if state == CONFIRMED and isinstance(card, str):
        record.entries[task, ON_GPU] = Entry(task, ON_GPU, CONFIRMED, card, day, now)
