"""Outcomes of lesson tests beyond pass and fail: "after task N" (an earlier test of the task failed first),
"undecided" (a timing too noisy to judge), and --red turned round."""

from collections.abc import Generator
from typing import Any

import pytest

from tools.check import Undecided, notes
from tools.pytest_course.marks import lacks, needs_gpu, needs_program, stage_of, tasks_of
from tools.pytest_course.run import Run, item_unit, run_of, unit_of
from tools.pytest_course.shares import gap_met
from tools.words import listed, plural
from tools.worker import TooSlow
from tools.worker.deadlines import hung

AFTER = "after an open task"  # the category of tests that did not run, until all of them are known


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Interruptions(run_of(config)), "course-interruptions")


class Interruptions:
    """Notes that a run did not come to its end."""

    def __init__(self, run: Run) -> None:
        self.run = run

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Ctrl-C, or pytest.exit, which a debugger calls when it is left; pytest's own kind has a failure to show."""
        self.run.interrupted = not isinstance(excinfo.value, pytest.Session.Interrupted)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.run.interrupted:
            session.exitstatus = pytest.ExitCode.INTERRUPTED  # pytest.exit may have asked for another


@pytest.hookimpl(trylast=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    run = run_of(item.config)
    run.busy = item.nodeid
    notes.taken.clear()
    if _runs_everything(run):
        return
    own = max(tasks_of(item), default=None)
    if (item_unit(item), own) in run.hung_tasks:
        pytest.skip(f"after task {own}")
    stage = stage_of(item)
    for task in tasks_of(item):
        wrong = (item_unit(item), task) in run.failed_tasks and (task != own or stage != "correctness")
        counts = stage == "counters" and task != own and (item_unit(item), task) in run.miscounted
        if wrong or counts:  # a prediction is not compared with what an earlier task's kernel should not do
            pytest.skip(f"after task {task}")


def _runs_everything(run: Run) -> bool:
    """Whoever picks single tests, or checks the course itself, wants each of them run."""
    return bool(run.red or run.answers or run.selected)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[Any]) -> Generator[None, Any, Any]:
    report = yield
    unit = item_unit(item)
    if unit is None:
        return report
    run = run_of(item.config)
    report.course = {
        "unit": unit,
        "tasks": tasks_of(item),
        "stage": stage_of(item),
        "needs_gpu": needs_gpu(item),
        "needs_program": needs_program(item),
        "counters": "; ".join(notes.taken),
    }
    if report.skipped and isinstance(report.longrepr, tuple):  # say where the test is, not where it was skipped
        report.longrepr = (report.location[0], (report.location[1] or 0) + 1, report.longrepr[2])
    if call.excinfo is not None:
        _classify(report, call.excinfo.value, item)
    if run.red and call.when == "call" and not _is_setup(item):
        _turn_round(report)
    return report


def _classify(report: Any, error: BaseException, item: pytest.Item) -> None:
    """Note in the report what kind of failure or skip this is, and in the run that a task's correctness failed."""
    course, run = report.course, run_of(item.config)
    marker = gap_met(error, item) if report.failed else None
    if report.skipped and str(error).startswith("after task"):
        course["after"] = str(error)
    elif report.skipped:
        course["lacks"] = lacks(error)
    elif isinstance(error, Undecided):
        course["undecided"] = True
    elif report.failed and course["stage"] in ("correctness", "counters"):
        task = marker.task if marker else max(course["tasks"])
        failed = run.failed_tasks if course["stage"] == "correctness" else run.miscounted
        failed.add((course["unit"], task))
    if report.failed and marker is None and run.own_files and max(course["tasks"]) in run.untouched(course["unit"]):
        course["given"] = True
    if isinstance(error, TooSlow):
        _note_hang(report, error, run)
    if marker:
        course["gap"] = marker.task
        if marker in run.gaps_met and not _runs_everything(run):  # one failure for each gap is enough
            _becomes_after(report, marker.task)
        run.gaps_met.add(marker)


def _note_hang(report: Any, error: TooSlow, run: Run) -> None:
    """One function that does not end is one failure: other tests of that task, or that need it, are not waited for."""
    unit = run.unit(report.course["unit"])
    run.hung_tasks.add((unit.name, max(report.course["tasks"])))
    ended = {function for _, function in hung}
    culprit = next((task.number for task in unit.tasks if not ended.isdisjoint(task.functions)), None)
    if error.again and culprit is not None and not _runs_everything(run):
        _becomes_after(report, culprit)


def _becomes_after(report: Any, task: int) -> None:
    report.outcome, report.course["after"] = "skipped", f"after task {task}"
    report.longrepr = (report.course["unit"], 0, report.course["after"])


def _is_setup(item: pytest.Item) -> bool:
    """Does the test ask the machine and not the lesson? A stub cannot turn such a test red."""
    setup = {task.number for task in unit_of(item).tasks if task.kind == "setup"}
    return setup.issuperset(tasks_of(item))


def _turn_round(report: Any) -> None:
    if report.passed:
        report.outcome, report.longrepr = "failed", "It passes on the untouched stub."
    elif report.failed:
        report.outcome, report.longrepr = "passed", None


@pytest.hookimpl(tryfirst=True)
def pytest_report_teststatus(report: Any) -> tuple[str, str, str] | None:
    course = getattr(report, "course", {})
    if "after" in course and report.when != "teardown":
        return AFTER, "-", course["after"]
    if "undecided" in course:
        return "undecided", "u", "UNDECIDED"
    return None


@pytest.hookimpl(tryfirst=True)
def pytest_terminal_summary(terminalreporter: Any) -> None:
    """The last line says which tasks the tests that did not run wait for."""
    if late := terminalreporter.stats.pop(AFTER, []):
        terminalreporter.stats[_wait(late)] = late
        terminalreporter._set_main_color()  # or a run that was cut short would count by the old category


def _wait(late: list[Any]) -> str:
    """ "wait for task 2", "waits for tasks 1 and 4", "wait for tasks 1 to 4"; without numbers where units are mixed."""
    verb = "waits" if len(late) == 1 else "wait"
    if len({report.course["unit"] for report in late}) > 1:
        return f"{verb} for an open task"
    tasks = sorted({int(report.course["after"].rpartition(" ")[2]) for report in late})
    in_a_row = len(tasks) > 2 and tasks == list(range(tasks[0], tasks[-1] + 1))
    numbers = f"{tasks[0]} to {tasks[-1]}" if in_a_row else listed([str(task) for task in tasks])
    return f"{verb} for {plural('task', len(tasks))} {numbers}"
