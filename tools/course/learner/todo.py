"""The learner's next steps: the task that is next, how much is one sitting, and what is due beside the day's tasks."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import ceil
from pathlib import Path

from tools.course.content.catalogue import Task, Unit
from tools.course.learner import diary, katas, quizzes, waiting
from tools.course.learner.current import current
from tools.course.learner.journal import QUIZ, Journal
from tools.course.learner.progress import OPEN, SIMULATED, Progress, UnitState
from tools.words import quantity

SHORT = "half an hour a day"  # the track that spreads a day over several sittings
SITTING = 30  # minutes of one
DONE, BEGUN, WAITS = "done", "begun", "waits"  # states of a task, beside OPEN


@dataclass(frozen=True)
class Due:
    """Something worth doing now: what to type after ./course, and why, in a few words."""

    command: str
    why: str


def task_states(unit: Unit, state: UnitState) -> dict[Task, str]:
    """DONE, WAITS (nothing of it can run here), BEGUN (some of it passed) or OPEN, for each task in lesson order."""
    begun = {task for task, _ in state.entries}
    sets = ((DONE, state.done), (WAITS, state.blocked), (BEGUN, begun))
    return {task: next((name for name, tasks in sets if task.number in tasks), OPEN) for task in unit.tasks}


def next_task(unit: Unit, state: UnitState) -> Task | None:
    """The first task to do that is written, not asked of the machine; None when all that can run here is done."""
    todo = [task for task in unit.tasks if task.number not in state.done | state.blocked]
    return min(todo, key=lambda task: task.kind == "setup", default=None)


def sitting(unit: Unit, state: UnitState) -> tuple[int, ...]:
    """The tasks of the half hour that is next: the unit's tasks, cut into as many parts as it has half hours."""
    to_write = [task.number for task in unit.tasks if task.kind != "setup"]
    size = ceil(len(to_write) / max(1, ceil(unit.minutes / SITTING)))
    parts = [to_write[start : start + size] for start in range(0, len(to_write), size or 1)]
    todo = ([task for task in part if task not in state.done | state.blocked] for part in parts)
    return next((tuple(part) for part in todo if part), ())


def whats_left(units: Iterable[Unit], progress: Progress) -> str:
    """One line for whoever has no open day and no open kata."""
    states = [progress.state(unit) for unit in units]
    if waits := [wait for state in states for wait in state.waits]:
        return f"All that can run here is done; {'; '.join(waiting.lines(waits))}"
    if any(state.overall == SIMULATED for state in states):
        return "Next, on a machine with a GPU: ./course --all"
    return "Every day and kata is done."


def due(units: Sequence[Unit], progress: Progress, journal: Journal, root: Path, now: datetime) -> list[Due]:
    """Things that are due beside the tasks of the current unit, the most pressing first."""
    states = {unit.name: progress.state(unit) for unit in units}
    done = [unit for unit in units if states[unit.name].finished]
    return [*_of_latest(done, states, journal, root), *_of_week(units, done, root),
            *_missed(journal, units, now), *_kata(units, progress, journal, now)]  # fmt: skip


def _of_latest(done: Sequence[Unit], states: dict[str, UnitState], journal: Journal, root: Path) -> Iterable[Due]:
    """The quiz and the note of the unit that was finished last."""
    if not done:
        return
    latest = max(reversed(done), key=lambda unit: max(entry.date for entry in states[unit.name].entries.values()))
    if latest.quiz and not journal.of(QUIZ, latest.name):
        yield Due(f"quiz {latest.name}", f"{quantity(len(latest.quiz), 'question')} about what you just did")
    if not (root / diary.note_file(latest.name)).exists():
        yield Due(f"note {latest.name}", "what, why, when not to use it")


def _of_week(units: Sequence[Unit], done: Sequence[Unit], root: Path) -> Iterable[Due]:
    for week in dict.fromkeys(unit.week for unit in units):
        days = [unit for unit in units if unit.week == week and not unit.is_kata]
        if days and all(day in done for day in days) and not (root / diary.review_file(week)).exists():
            yield Due(f"review {week}", "five questions about yourself")
            return


def _missed(journal: Journal, units: Sequence[Unit], now: datetime) -> Iterable[Due]:
    """Questions that were missed before today and not mended since."""
    today = now.astimezone().date()
    before = quizzes.missed(entry for entry in journal if entry.when.astimezone().date() < today)
    asked = {question.question for unit in units for question in unit.quiz}
    again = set(before) & set(quizzes.missed(journal)) & asked
    if again:
        yield Due("quiz --review", f"{quantity(len(again), 'question')} that you missed, and others")


def _kata(units: Sequence[Unit], progress: Progress, journal: Journal, now: datetime) -> Iterable[Due]:
    """The kata that is due, unless it is the learner's work anyway."""
    here = current(units, progress, journal)
    for kata in katas.due(units, progress, now.astimezone().date())[:1]:
        if here is None or kata.unit.name != here.name:
            command = "kata" if kata.again else kata.unit.name
            yield Due(command, f"a kata{' again' * kata.again}: {kata.unit.title}, {kata.unit.duration}")
