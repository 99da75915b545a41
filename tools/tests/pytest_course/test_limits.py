"""The time limit: it interrupts, it never fires late, and it waits for whoever is debugging."""

import time

import pytest

from tools import worker
from tools.pytest_course import limits


def wait(seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


def test_a_loop_is_interrupted_at_the_limit():
    start = time.monotonic()
    with pytest.raises(worker.TooSlow, match="within 0.2 s"), limits.time_limit(0.2):
        wait(5)
    assert 0.2 <= time.monotonic() - start < 4


def test_nothing_happens_after_the_limited_part_is_over():
    with limits.time_limit(0.1):
        pass
    wait(0.3)


def test_an_inner_limit_leaves_the_outer_one_in_charge():
    with pytest.raises(worker.TooSlow, match="0.2 s"), limits.time_limit(0.2), limits.time_limit(30):
        wait(5)


def test_the_clock_stands_still_in_the_debugger_and_starts_anew_after_it():
    with pytest.raises(worker.TooSlow), limits.time_limit(0.2):
        limits.pytest_enter_pdb()
        wait(0.5)
        limits.pytest_leave_pdb()
        wait(5)


def test_leaving_the_debugger_without_a_limit_starts_none():
    limits.pytest_leave_pdb()
    wait(0.05)
    assert limits.Alarm.current is None
