"""Behaviour that crosses to a lesson: the fake clock and the watched array, here and in another process."""

import copy
import inspect

import numpy as np
import pytest

from tools import worker
from tools.check.given import fake_clock, followed, watched


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
    assert seen.notes.products == [((2, 5), (5, 3))]
    assert seen.notes.sizes == [30, 6]  # the differences and the product; their sum has no part of x


def all_kinds_of_products(x, y, out):
    np.matmul(x, y, out=out)
    x.dot(y), np.dot(x, y, out), np.einsum("ik,kj->ij", x, y)
    return np.sum(x * 2.0, axis=0)


def test_a_watched_array_notes_each_product_by_its_name_and_whether_it_was_given_out():
    seen = watched(np.ones((4, 5)))
    all_kinds_of_products(seen, np.ones((5, 3)), np.empty((4, 3)))
    assert seen.notes.calls == ["matmul into out", "dot", "dot into out", "einsum", "multiply"]
    assert seen.notes.products == [((4, 5), (5, 3))] * 4


def test_what_comes_out_of_a_product_is_not_watched():
    seen = watched(np.ones((4, 5)))
    assert {type(each) for each in (seen @ seen.T, seen.dot(seen.T), np.dot(seen, seen.T))} == {np.ndarray}


def row_sums(x):
    return [sum(row) for row in x[1:]]


def test_a_watched_array_notes_how_many_single_numbers_were_taken_out_of_its_parts(tmp_path):
    file = tmp_path / "summed.py"
    file.write_text(inspect.getsource(row_sums))
    for lesson_row_sums in (row_sums, worker.proxy("summed", file).row_sums):
        seen = watched(np.ones((4, 5)))
        assert lesson_row_sums(seen) == [5.0] * 3
        assert seen.notes.numbers_read == 15


def softmax(x):
    e = x - x.max(axis=-1, keepdims=True, initial=-np.inf)
    np.exp(e, out=e)
    e /= np.where(x == 0, 1, e).sum(axis=-1, dtype=np.float64, keepdims=True).astype(x.dtype)
    return np.exp(e)


def test_a_followed_array_notes_what_is_done_with_what_came_out_of_it(tmp_path):
    file = tmp_path / "followed_far.py"
    file.write_text(f"import numpy as np\n\n\n{inspect.getsource(softmax)}")
    for lesson_softmax in (softmax, worker.proxy("followed_far", file).softmax):
        seen = followed(np.ones((4, 5), np.float32))
        lesson_softmax(seen)
        assert [tuple(each) for each in seen.notes.made] == [
            ("maximum.reduce", 4, "float32"),
            ("subtract", 20, "float32"),
            ("exp", 20, "float32"),
            ("equal", 20, "bool"),
            ("add.reduce", 4, "float64"),
            ("divide", 20, "float32"),
            ("exp", 20, "float32"),
        ]
        assert seen.notes.calls[2] == "exp into out"


def test_what_is_computed_beside_a_followed_array_is_right():
    x = np.float32([[1, 2], [3, 5]])
    assert np.array_equal(softmax(followed(x)), softmax(x))
    seen = followed(x)
    assert np.divide(x, seen, out=np.zeros_like(seen), where=seen > 2).tolist() == [[0, 0], [1, 1]]
    assert (followed(x) @ x).notes.products == [((2, 2), (2, 2))]
