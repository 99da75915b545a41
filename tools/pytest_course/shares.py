"""The learner's share in a run: the gap that a failure comes from, and the functions that a task's line names."""

from collections.abc import Iterable
from typing import Any

import pytest

from tools.course.content import uses
from tools.course.content.catalogue import Task, Unit
from tools.course.content.gaps import Open
from tools.marker import Marker, marker_of
from tools.pytest_course.marks import tasks_of
from tools.pytest_course.run import Run, run_of, unit_of
from tools.pytest_course.standing import RED, TO_WRITE, last_task
from tools.words import listed

MOST = 3  # functions that a sentence names


def gap_met(error: BaseException, item: pytest.Item) -> Marker | None:
    """The gap that a failure comes from: the one that its marker names, or one that raises nothing, as `pass` does.

    The latter must be of a task of the test, and the test must use it: while it is open, the test cannot pass.
    """
    if (marker := marker_of(error)) or run_of(item.config).answers:
        return marker
    run, unit = run_of(item.config), unit_of(item)
    theirs = [share for task, share in run.shares(unit.name).items() if task in tasks_of(item)]
    used = used_by(run, unit, [item.nodeid]) if any(gap.silent for share in theirs for gap in share.open) else set()
    for share in theirs:
        untouched = len(share.open) == len(share.own)
        for gap in share.open:
            if gap.silent and (untouched if used is None else _top(gap.function) in used):
                return Marker(unit.name, gap.task, gap.function)
    return None


def to_begin_with(run: Run, met: Marker) -> Open | None:
    """The first that is open of the gap that was met, what it uses, and what could not be met as it raises nothing."""
    share = run.shares(met.unit).get(met.task)
    left = share.open if share else ()
    itself = [gap for gap in left if met.function in (gap.function, gap.function.rpartition(".")[2])]
    used = uses.through(run.text(met.unit), {met.function})
    by_marker = not any(gap.silent for gap in itself)
    return next((gap for gap in left if gap in itself or _top(gap.function) in used or gap.silent and by_marker), None)


def named(run: Run, unit: Unit, task: Task, state: str, reports: Iterable[Any]) -> str:
    """What the line of a task names: what is to be written; of a red one what its failed tests use; else all.

    A failed test does not count where another used a part of the same functions and failed too.
    """
    share = run.shares(unit.name)[task.number]
    if state == TO_WRITE:
        return task.about(share.names)
    if state != RED:
        return task.about(share.own)
    todo = {gap.function for gap in share.open}
    written = [function for function in share.own if function not in todo] or share.own
    failed = [report.nodeid for report in reports if report.failed and last_task(report) == task.number]
    of_each = [used_by(run, unit, [test]) for test in failed]
    told = [{name for name in written if used is None or _top(name) in used} for used in of_each]
    least = [names for names in told if not any(other and other < names for other in told)]  # each has a mistake
    used_by_these = set().union(*least)
    return task.about([name for name in written if name in used_by_these] or written)


def of_tests(function: object, item: pytest.Item) -> str:
    """A sentence on a called function that the test file defines: what of the learner's it uses, the test's task first.

    "" for any other function.
    """
    run, unit, name = run_of(item.config), unit_of(item), getattr(function, "__name__", "")
    known = uses.of_lesson(unit.tests.read_text(encoding="utf-8"), unit.module)
    if name not in known or getattr(function, "__module__", "") != getattr(item, "module").__name__:
        return ""
    direct = known[name] or set()
    reached = uses.through(run.text(unit.name), direct)
    theirs = sorted(run.shares(unit.name).items(), key=lambda each: each[0] != max(tasks_of(item), default=0))
    own = [each for _, share in theirs for each in share.own]
    used = [each for each in own if _top(each) in direct] or [each for each in own if _top(each) in reached]
    return f"{name}, of the tests, uses {listed(used[:MOST])}." if used else f"{name} is a function of the tests."


def used_by(run: Run, unit: Unit, tests: Iterable[str]) -> set[str] | None:
    """The names of a lesson that any of these tests (node ids) uses, directly or not; None: perhaps all."""
    known = uses.of_lesson(unit.tests.read_text(encoding="utf-8"), unit.module)
    found: set[str] = set()
    for test in tests:
        names = known.get(test.split("::")[1].partition("[")[0])
        if names is None:
            return None
        found |= names
    return uses.through(run.text(unit.name), found)


def _top(function: str) -> str:
    """The name at the top of the file: of a method, that of its class."""
    return function.partition(".")[0]
