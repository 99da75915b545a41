"""The tasks of a unit in lines: done, begun, next, open."""

from collections.abc import Iterator

from tools.course.content.catalogue import Task, Unit
from tools.course.learner.progress import OPEN, UnitState
from tools.course.learner.todo import BEGUN, DONE, WAITS, next_task, task_states
from tools.course.learner.written import shares
from tools.words import plural


def short(unit: Unit, state: UnitState) -> Iterator[str]:
    """A line for what is done, one for the task that is next, one each for what is begun and what is open."""
    states, coming = task_states(unit, state), next_task(unit, state)
    for which in (DONE, BEGUN, OPEN, WAITS):
        if which == BEGUN and coming:
            yield f"  next   task {coming.number}  {where(unit, coming)}"
        if numbers := [str(task.number) for task, reached in states.items() if reached == which and task != coming]:
            yield f"  {which:<6} {plural('task', len(numbers))} {', '.join(numbers)}"


def full(unit: Unit, state: UnitState) -> Iterator[str]:
    """A line for each task: its state, what of it is the learner's, and how many of its hints were read."""
    theirs = shares(unit)
    for task, reached in task_states(unit, state).items():
        hints = state.hints.get(task.number, 0)
        read = f"; {hints} of {len(unit.hints.get(task.number, ()))} hints read" if hints else ""
        yield f"  {reached:<6} task {task.number}  {task.about(theirs[task.number].own)}{read}"


def where(unit: Unit, task: Task) -> str:
    """The place in the lesson where a task begins, as editors and terminals know it, and what is to be done there."""
    path, share = unit.lesson.relative_to(unit.root).as_posix(), shares(unit)[task.number]
    line = share.line or task.line
    return f"{path}{f':{line}' if line else ''}  {task.about(share.names)}"
