"""Runs in the journal: that a unit was opened, is still worked on, and which of its tasks passed."""

from datetime import datetime, timedelta
from pathlib import Path

from tools import ROOT
from tools.course.content.catalogue import Unit
from tools.course.learner import journal
from tools.course.learner.journal import OPENED, PASSED, WORKED
from tools.course.learner.progress import CONFIRMED, OPEN, UnitState

AMONG = "among"  # the fact of an entry that many units were run at once
NEWS = timedelta(minutes=5)  # a run so long after the last entry says that work goes on; below journal.PAUSE


def enter(unit: Unit, state: UnitState, began: datetime, root: Path = ROOT, among: int = 1) -> None:
    """Add to the journal what the run that began then, and left `state`, has shown anew. Raises NotKept.

    among: of how many units that run was; an entry says so where it was not of this one alone.
    """
    past = journal.read(root)
    known, run = past.of(unit=unit.name), {AMONG: among} if among > 1 else {}
    if not any(entry.kind == OPENED for entry in known):
        journal.add(OPENED, unit.name, run, root, began)
    told = {(entry.facts.get("task"), entry.facts.get("state")) for entry in known if entry.kind == PASSED}
    news = [task for task, reached in state.reached.items() if reached != OPEN and (task, reached) not in told]
    kernels = journal.kernels(unit) if news else ()
    for task in news:
        facts = {"task": task, "state": state.reached[task], "card": _card(state, task), "kernel": task in kernels}
        journal.add(PASSED, unit.name, facts | run, root)
    returned = among == 1 and past.entries and past.entries[-1].unit != unit.name
    if known and not news and (returned or began - known[-1].when >= NEWS):
        journal.add(WORKED, unit.name, run, root, began)


def _card(state: UnitState, task: int) -> str | None:
    """The card that confirmed this task."""
    if state.reached[task] != CONFIRMED:
        return None
    return next(e.card for e in state.entries.values() if e.task == task and e.state == CONFIRMED)
