"""Behaviour that crosses to a lesson: the fake clock, here and in another process."""

import copy
import inspect

import pytest

from tools import worker
from tools.check.given import fake_clock


def measure(function, clock, repeats):
    times = []
    for _ in range(repeats):
        start = clock()
        function("x")
        times.append(clock() - start)
    return times


@pytest.fixture(params=["here", "in another process"])
def lesson_measure(request, tmp_path):
    if request.param == "here":
        return measure
    file = tmp_path / "clocked.py"
    file.write_text(inspect.getsource(measure))
    return worker.proxy("clocked", file).measure


def test_time_passes_only_while_work_is_done(lesson_measure):
    clock = fake_clock([8.0, 0.5, 0.25])
    assert lesson_measure(clock.work, clock, 5) == [8.0, 0.5, 0.25, 0.25, 0.25]
    assert (clock.calls, clock.readings) == (5, 10)


def test_work_hands_back_its_first_argument():
    clock = fake_clock([1.0])
    assert clock.work("a", "b") == "a" and clock.work() is None


def test_the_clock_does_not_start_at_zero():
    assert fake_clock([1.0])() > 1


def test_two_clocks_do_not_share_their_time():
    first, second = fake_clock([1.0]), fake_clock([1.0])
    first.work()
    assert first() - second() == 1.0


def test_a_copied_clock_goes_on_by_itself_together_with_its_work():
    clock = fake_clock([1.0])
    work, other = copy.deepcopy((clock.work, clock))
    work()
    assert (other.calls, clock.calls) == (1, 0)
