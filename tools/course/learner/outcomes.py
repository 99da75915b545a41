"""Outcomes of a run's tests, and what they say about their unit: one answer for the screen and the progress."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from tools.course.learner.record import CONFIRMED, OPEN, SIMULATED, Check, Record, Result, Wait

PASSED, FAILED, NO_GPU, WAITS = "passed", "failed", "no GPU", "waits"  # outcomes


@dataclass(frozen=True)
class Ended:
    """One test of a unit.

    task: the one it counts for; a test that names several needs the earlier ones, and is about the last.
    outcome: FAILED stands for all that this machine can run and that did not pass, whatever kept it from passing.
    what: it WAITS for, as "numba-cuda".
    """

    task: int
    stage: str
    needs_gpu: bool
    outcome: str
    what: str = ""


def results(tests: Iterable[Ended], card: str | None) -> list[Result]:
    """One result for each task and stage of which some test could run. card: the GPU of the run, None without one."""
    groups = defaultdict(list)
    for test in tests:
        groups[test.task, test.stage].append(test)
    return [_result(key, group, card) for key, group in groups.items() if any(map(_ran, group))]


def checks(tests: Iterable[Ended]) -> set[Check]:
    """The checks that the tests are on this machine."""
    return {Check(test.task, test.stage, test.needs_gpu) for test in tests if test.outcome != WAITS}


def waits(tests: Iterable[Ended]) -> set[Wait]:
    """The packages and programs that tests wait for, and how many tests."""
    found = Counter((test.task, test.stage, test.what) for test in tests if test.outcome == WAITS)
    return {Wait(*key, count) for key, count in found.items()}


def record_of(tests: Iterable[Ended], card: str | None = None) -> Record:
    """The record of the unit, were these all of its tests and this its only run."""
    tests, record = list(tests), Record()
    record.take(results(tests, card), "", date.min)
    record.expect(checks(tests), waits(tests))
    return record


def _result(key: tuple[int, str], tests: list[Ended], card: str | None) -> Result:
    ran = list(filter(_ran, tests))
    if any(test.outcome == FAILED for test in ran):
        return Result(*key, OPEN)
    if card and any(test.needs_gpu for test in ran) and len(ran) == len(tests):
        return Result(*key, CONFIRMED, card)
    return Result(*key, SIMULATED)


def _ran(test: Ended) -> bool:
    return test.outcome in (PASSED, FAILED)
