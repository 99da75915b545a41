"""What a run of a unit's tests tells the journal: that it was opened, is still worked on, and what passed."""

from datetime import datetime, timedelta

from tools import ROOT
from tools.course import journal
from tools.course.catalogue import Unit
from tools.course.journal import OPENED, PASSED, WORKED
from tools.course.progress import CONFIRMED, OPEN, UnitState

NEWS = timedelta(minutes=5)  # a run so long after the last entry says that work goes on; below journal.PAUSE


def enter(unit: Unit, state: UnitState, began: datetime, root=ROOT) -> None:
    """Add to the journal what the run that began then, and left `state`, has shown anew. Raises NotKept."""
    known = journal.read(root).of(unit=unit.name)
    if not any(entry.kind == OPENED for entry in known):
        journal.add(OPENED, unit.name, {}, root, began)
    told = {(entry.facts.get("task"), entry.facts.get("state")) for entry in known if entry.kind == PASSED}
    news = [task for task, reached in state.reached.items() if reached != OPEN and (task, reached) not in told]
    kernels = journal.kernels(unit) if news else ()
    for task in news:
        facts = {"task": task, "state": state.reached[task], "card": _card(state, task), "kernel": task in kernels}
        journal.add(PASSED, unit.name, facts, root)
    if known and not news and began - known[-1].when >= NEWS:
        journal.add(WORKED, unit.name, {}, root, began)


def _card(state: UnitState, task: int) -> str | None:
    """The card that confirmed this task."""
    if state.reached[task] != CONFIRMED:
        return None
    return next(e.card for e in state.entries.values() if e.task == task and e.state == CONFIRMED)
