"""The texts of failures, put where pytest shows them.

A fault of the course itself keeps its full traceback: it must be seen, and it is not the learner's.
"""

from collections.abc import Generator
from typing import Any

import pytest

from tools import ROOT, worker
from tools.check.timing import Ratio
from tools.pytest_course import absent, compared, limits
from tools.pytest_course.endless import line_of
from tools.pytest_course.explanation import explain
from tools.pytest_course.lessons import BrokenLesson, file_of, hung_there
from tools.pytest_course.marks import has_drawn, lacks
from tools.pytest_course.run import HUNG, item_unit, run_of, unit_name, unit_of

OURS = "This looks like a fault of the course and not of your lesson. The whole story:"


@pytest.hookimpl(wrapper=True, tryfirst=True)  # outside order.py: it sees the final outcome
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[Any]) -> Generator[None, Any, Any]:
    if item_unit(item):
        setattr(item, "repr_failure", _nothing_yet)
    report = yield
    if report.failed and call.excinfo and item_unit(item) and not isinstance(report.longrepr, str):
        text = explain(call.excinfo.value, item)
        report.longrepr = text or f"{OURS}\n\n{call.excinfo.getrepr(style='short')}"
        report.course["seeded"] = has_drawn(item)
    return report


def _nothing_yet(excinfo: pytest.ExceptionInfo, style: object = None) -> pytest.ExceptionInfo:
    """In place of pytest's account of a failure, for which it parses the whole file, and which ours replaces."""
    return excinfo


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """A test that hung in native code when this run was tried first is not given the chance to do it again."""
    end = item.config.stash.get(HUNG, None)
    if end and end.place == item.nodeid:
        lesson = file_of(run_of(item.config), unit_of(item).module)
        raise hung_there(end, limits.of(item), lesson)
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Generator[None, Any, Any]:
    report = yield
    call = getattr(report, "call", None)
    if report.failed and call and call.excinfo and (text := unimportable(call.excinfo.value, collector)):
        report.longrepr = text
    elif report.skipped and call and call.excinfo:
        report.lacks = lacks(call.excinfo.value)
    return report


@pytest.hookimpl(optionalhook=True)
def pytest_handlecrashitem(crashitem: str, report: Any, sched: Any) -> None:
    """pytest-xdist lost one of its processes in the middle of a test."""
    report.longrepr = (
        f"{crashitem.rpartition('::')[2]} took its process down, in a crash or past the time limit.\n"
        "Run it without -n to see more."
    )


def pytest_assertrepr_compare(config: pytest.Config, op: str, left: object, right: object) -> list[str] | None:
    if isinstance(left, Ratio) and op == ">=":
        return [f"{left} >= {right}", left.text]
    return compared.told(left, right) if op == "==" and unit_name(run_of(config).busy) else None


def unimportable(error: BaseException, collector: pytest.Collector) -> str | None:
    """Why the tests of a unit cannot be collected, where that is the lesson's doing."""
    if isinstance(error, BrokenLesson):
        return broken(error)
    name = unit_name(collector.path)
    if name is None:
        return None
    unit = run_of(collector.config).unit(name)
    told = absent.told(error, unit)
    return told and f"{unit.lesson.relative_to(ROOT).as_posix()}\n{told}"


def broken(error: BrokenLesson) -> str:
    """A lesson that cannot be imported, in at most five lines."""
    cause = error.__cause__
    assert cause is not None
    if isinstance(cause, worker.TooSlow):
        where = line_of(cause.frames or worker.raised_from(cause, [error.path]).frames)
        return f"{error.shown}: importing it does not end.{where}\nIs there a loop outside the functions?"
    raised = getattr(cause, "raised", None) or worker.raised_from(cause, [error.path])
    if not raised.frames:
        return f"{error.shown} cannot be imported: {cause}"
    last = raised.frames[-1]
    return f"{error.shown}, line {last.line}: {raised.type_name}: {raised.message}\n    {last.source}"
