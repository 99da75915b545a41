"""Outcomes of lesson tests beyond pass and fail: "after task N" (an earlier test of the task failed first),
"undecided" (a timing too noisy to judge), and --red turned round."""

import pytest

from tools.check import Undecided
from tools.course import catalogue
from tools.pytest_course.marks import needs_gpu, stage_of, tasks_of
from tools.pytest_course.run import item_unit, run_of


@pytest.hookimpl(trylast=True)
def pytest_runtest_setup(item):
    run = run_of(item.config)
    if run.red or run.answers or run.selected:
        return  # whoever picks single tests, or checks the course itself, wants each of them run
    for task in tasks_of(item):
        if (item_unit(item), task) in run.failed_tasks:
            pytest.skip(f"after task {task}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    unit = item_unit(item)
    if unit is None:
        return report
    run = run_of(item.config)
    report.course = {"unit": unit, "tasks": tasks_of(item), "stage": stage_of(item), "needs_gpu": needs_gpu(item)}
    if report.skipped and str(call.excinfo.value).startswith("after task"):
        report.course["after"] = str(call.excinfo.value)
    if call.excinfo and isinstance(call.excinfo.value, Undecided):
        report.course["undecided"] = True
    if report.failed:
        run.failed_tasks.update((unit, task) for task in tasks_of(item))
    if run.red and call.when == "call" and not _is_setup(item):
        _turn_round(report)
    return report


def _is_setup(item) -> bool:
    """Does the test ask the machine and not the lesson? A stub cannot turn such a test red."""
    setup = {task.number for task in catalogue.unit(item_unit(item)).tasks if task.kind == "setup"}
    return setup.issuperset(tasks_of(item))


def _turn_round(report) -> None:
    if report.passed:
        report.outcome, report.longrepr = "failed", "It passes on the untouched stub."
    elif report.failed:
        report.outcome, report.longrepr = "passed", None


@pytest.hookimpl(tryfirst=True)
def pytest_report_teststatus(report):
    course = getattr(report, "course", {})
    if "after" in course and report.when == "setup":
        return "after an open task", "-", course["after"]
    if "undecided" in course:
        return "undecided", "u", "UNDECIDED"
    return None
