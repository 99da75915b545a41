"""The standing of a unit's tasks, by the reports of a run."""

from typing import Any

from tools.course.learner.outcomes import FAILED, NO_GPU, PASSED, WAITS, Ended
from tools.course.learner.record import Record

GREEN, RED, TO_WRITE, NOTHING = "green", "red", "to write", ""  # states of a task on the screen, with others


def last_task(report: Any) -> int:
    """The task that a test counts for: it needs the others that it names, and is about the last."""
    return max(report.course["tasks"], default=0)


def ended(report: Any) -> Ended:
    """What a report says for the record of its unit."""
    course, what = report.course, report.course.get("lacks")
    if report.passed:
        outcome = PASSED
    else:
        outcome = FAILED if what is None else WAITS if what else NO_GPU
    return Ended(last_task(report), course["stage"], course["needs_gpu"], outcome, what or "")


def owner(report: Any) -> int:
    """The task that a failure is about: the one whose gap was met, or else the test's own."""
    return report.course.get("gap", last_task(report))


def standing(record: Record, task: int, reports: Any) -> str:
    """How a task stands: green where the progress would say that it is done. record: of these reports."""
    if record.is_done(task):
        return GREEN
    if any(r.failed and r.course.get("gap") == task for r in reports):
        return TO_WRITE
    own = [r for r in reports if last_task(r) == task]
    if failed := [r for r in own if r.failed and "gap" not in r.course]:
        if all("given" in r.course for r in failed):
            return "to mend"
        red = {last_task(r) for r in reports if r.failed and "gap" not in r.course} - {task}
        if all(red.intersection(r.course["tasks"]) for r in failed):  # what it is about may be right
            return "waiting"
        return "undecided" if all("undecided" in r.course for r in failed) else RED
    if any("after" in r.course or "gap" in r.course for r in own):
        return "waiting"
    if not record.can_run(task):
        return "waits"
    return "skipped" if any(r.skipped for r in own) else NOTHING
