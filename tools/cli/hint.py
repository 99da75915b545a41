"""course hint [DAY] [TASK]: the next rung of a task's three hints."""

from pathlib import Path

from tools.cli import chosen, complain, room, tasks
from tools.course.content.catalogue import Unit
from tools.course.learner import hints
from tools.course.learner.hints import NoHints, Rung
from tools.course.learner.progress import Progress
from tools.course.learner.todo import next_task
from tools.words import wrapped


def show(day: str | None, task: int | None, root: Path) -> int:
    """Print the next hint for `task`, by default the first task that is not done. Returns the exit code.

    A number in the place of the day is a task of the current day.
    """
    if day is not None and day.isdecimal() and task is None:
        task, day = int(day), None
    unit = chosen(day, root)
    progress = Progress.load(root)
    if task is None:
        state = progress.state(unit)
        waiting = next_task(unit, state)
        if waiting is None:
            which = " that can run here" if state.waits else ""
            return complain(
                f"Every task of {unit.name}{which} is done. To read a hint all the same, name the task:\n"
                f"./course hint {unit.name} {unit.tasks[-1].number if unit.tasks else 1}"
            )
        task = waiting.number
    try:
        rung = hints.next_rung(unit, task, progress)
    except NoHints as error:
        return complain(error)
    print(*lines(unit, rung), sep="\n")
    if progress.warning:
        complain(progress.warning)
    return 0


def lines(unit: Unit, rung: Rung) -> list[str]:
    """A hint as it is printed: which it is, where its task is, the text, and what there is beyond it."""
    task = next((task for task in unit.tasks if task.number == rung.task), None)
    where = [f"  {tasks.where(unit, task)}"] if task and task.functions else []
    text = wrapped(rung.text, room(), lead="  ")
    return [f"{unit.name}: {rung.heading[0].lower()}{rung.heading[1:]}", *where, "", *text]
