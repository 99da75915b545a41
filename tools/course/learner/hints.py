"""Hints, one rung at a time: the first asks, the second shows the idea, the third may give the line."""

from dataclasses import dataclass

from tools.course.content.catalogue import Unit
from tools.course.learner import journal
from tools.course.learner.progress import Progress


class NoHints(LookupError):
    """A task without hints; str() is one line that names those that have some."""


@dataclass(frozen=True)
class Rung:
    """Hint `number` (from 1) of the `of` that its task has."""

    task: int
    number: int
    of: int
    text: str
    again: bool  # the last one, shown before: there is no further rung

    @property
    def heading(self) -> str:
        again = ", the last one, again" if self.again else ""
        return f"Hint {self.number} of {self.of} for task {self.task}{again}"


def next_rung(unit: Unit, task: int, progress: Progress) -> Rung:
    """The first rung not yet shown, or the last one again; remembers that it was shown, and tells the journal.

    Raises NoHints.
    """
    rungs = unit.hints.get(task)
    if not rungs:
        have = ", ".join(map(str, sorted(unit.hints))) or "none"
        raise NoHints(f"{unit.name} has no hints for task {task}; tasks with hints: {have}.")
    shown = progress.hint_shown(unit, task)
    if shown < len(rungs):
        progress.show_hint(unit, task)
        # where the journal cannot be written, the next run of the tests will say so; a hint is a hint
        journal.tell(journal.HINT, unit.name, {"task": task, "rung": shown + 1}, unit.root)
    number = min(shown + 1, len(rungs))
    return Rung(task, number, len(rungs), rungs[number - 1], again=shown >= len(rungs))
