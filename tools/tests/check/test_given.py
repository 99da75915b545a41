"""Behaviour that crosses to a lesson: the fake clock and the watched array, here and in another process."""

import copy
import inspect

import numpy as np
import pytest

from tools import worker
from tools.check.given import fake_clock, watched


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


def differences(x, y):
    return ((x[:2, None] - y[None, :3]) ** 2).sum(axis=2) + x[:2] @ y[:3].T


@pytest.fixture(params=["here", "in another process"])
def lesson_differences(request, tmp_path):
    if request.param == "here":
        return differences
    file = tmp_path / "different.py"
    file.write_text(inspect.getsource(differences))
    return worker.proxy("different", file).differences


def test_a_watched_array_notes_products_and_how_much_each_operation_made(lesson_differences):
    x, y = np.ones((4, 5)), np.zeros((6, 5))
    seen = watched(x)
    assert lesson_differences(seen, y).tolist() == [[5.0] * 3] * 2
    assert seen.products == [((2, 5), (5, 3))]
    assert seen.sizes == [30, 6]  # the differences and the product; their sum has no part of x
