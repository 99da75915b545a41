"""assert_matches: which calls it makes, what it judges, in which order; arrays and tensors."""

import numpy as np
import pytest
import torch

from tools.check import Mismatch, assert_matches
from tools.check.diagnosis import Cause
from tools.check.given import fake_clock
from tools.check.tolerances import Tolerance, accumulated
from tools.tests.check.told import cause_of

X = np.array([3.0, -1.0, 2.5])


def double(x):
    return 2 * x


# What is accepted -----------------------------------------------------------------------------------------


def test_gives_back_the_value():
    assert assert_matches(divmod, 17, 5, oracle=lambda a, b: (a // b, a % b)) == (3, 2)


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
def test_the_oracle_works_in_float64_and_the_result_has_the_dtype_of_the_arguments(dtype):
    seen = []

    def oracle(x):
        seen.append(x.dtype)
        return x / 3

    result = assert_matches(lambda x: x / np.array(3, dtype), X.astype(dtype), oracle=oracle)
    assert seen == [np.float64]
    assert result.dtype == dtype


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
def test_tensors_of_every_float_dtype_are_judged_too(dtype):
    x = torch.tensor(X).to(dtype)
    assert_matches(lambda x: x / 3, x, oracle=lambda x: x / 3)
    assert cause_of(lambda x: (x / 3).to(torch.float8_e5m2), x, oracle=lambda x: x / 3) == "wrong_dtype"


def test_the_oracle_works_in_the_given_dtype_when_exact():
    def shift(x):
        return x + np.float32(0.1)

    assert_matches(shift, X.astype(np.float32), oracle=shift, exact=True)


def test_the_tolerance_names_the_dtype_where_it_is_not_that_of_the_arguments():
    a = np.arange(6, dtype=np.float16).reshape(2, 3)

    def widening(a):
        return a.astype(np.float32) @ a.T.astype(np.float32)

    assert_matches(widening, a, oracle=lambda a: a @ a.T, tolerance=accumulated(np.float32, 3))


def test_a_difference_of_near_equals_needs_only_the_digits_that_float32_leaves_it():
    x = np.float32([0.7])
    y = np.float32(1.5) * x + np.float32(1e-7)

    def sum_and_rest(x, y):
        return x + y, -1.5 * x + y

    assert_matches(sum_and_rest, x, y, oracle=sum_and_rest)
    with pytest.raises(Mismatch, match=r"result\[1\]"):
        assert_matches(lambda x, y: (x + y, -1.5001 * x + y), x, y, oracle=sum_and_rest)


def test_nested_arguments_and_keywords_reach_function_and_oracle_alike():
    def total(parts, *, scale):
        return scale * sum(parts["arrays"])

    assert_matches(total, {"arrays": [X, X + 1]}, scale=2.0, oracle=total)


def test_a_tuple_of_arrays_is_compared_part_by_part():
    def split(x):
        return x[1:] * 1.0, {"head": x[0] * 1.0}

    assert_matches(split, X, oracle=split)
    assert cause_of(lambda x: (x[1:] * 1.0, {"head": 7.0}), X, oracle=split) is None
    assert cause_of(lambda x: (x[1:] * 1.0,), X, oracle=split) == "another_length"
    assert cause_of(lambda x: [x[1:] * 1.0, {}], X, oracle=split) == "wrong_type"


def test_the_entries_of_a_dict_may_stand_in_any_order():
    def sums(x):
        return {"head": x[:1] * 1.0, "rest": x[1:] * 1.0}

    assert_matches(lambda x: dict(reversed(sums(x).items())), X, oracle=sums)
    with pytest.raises(Mismatch, match=r"In result\['b'\]: got 3, wanted 2"):
        assert_matches(lambda n: {"b": n + 1, "a": 1}, 2, oracle=lambda n: {"a": 1, "b": n})


def test_empty_arrays_match():
    assert_matches(double, np.empty((0, 3)), oracle=double, layouts="any")


# What is judged, and in which order ------------------------------------------------------------------------


def scaled_in_place(x):
    x *= 2
    return x


@pytest.mark.parametrize(
    "function, cause",
    [
        (lambda x: None, "nothing_returned"),
        (lambda x: x.tolist(), "wrong_type"),
        (lambda x: torch.tensor(x), "wrong_type"),
        (lambda x: x.astype(np.float32)[:2], "wrong_dtype"),
        (lambda x: 2 * x[:2], "wrong_shape"),
        (scaled_in_place, "input_modified"),
        (lambda x: x, "returns_its_input"),
        (lambda x: x[:], "returns_a_view"),
        (lambda x: x + 1, None),
        (lambda x: x + None, "raised"),
    ],
    ids=["None", "list", "tensor", "dtype", "shape", "input", "alias", "view", "values", "error"],
)
def test_the_plainest_fault_comes_first(function, cause, monkeypatch):
    monkeypatch.setattr("tools.check.diagnosis.diagnose", lambda symptoms: None)
    assert cause_of(function, X.copy(), oracle=double) == cause


def test_a_tensor_that_counts_as_input_is_seen_to_change():
    assert cause_of(scaled_in_place, torch.tensor(X), oracle=double) == "input_modified"


def test_a_changed_array_inside_a_list_is_seen():
    def total(parts):
        parts[1] += parts[0]
        return parts[1] * 1.0

    assert cause_of(total, [X.copy(), X.copy()], oracle=sum) == "input_modified"


def test_all_arguments_after_a_star_are_seen():
    def total(*parts):
        parts[1][0] = 0
        return sum(parts) * 1.0

    assert cause_of(total, X.copy(), X.copy(), oracle=lambda *parts: sum(parts)) == "input_modified"


def test_an_unwritten_gap_raises_what_the_lesson_raised():
    def matmul(a):
        raise NotImplementedError("week1/day1 task 2: matmul")

    with pytest.raises(NotImplementedError, match="^week1/day1 task 2: matmul$"):
        assert_matches(matmul, X, oracle=double)


def test_any_other_not_implemented_error_is_a_failure():
    def matmul(a):
        raise NotImplementedError("later")

    assert cause_of(matmul, X, oracle=double) == "raised"


def test_an_error_of_the_oracle_is_ours_and_passes_through():
    with pytest.raises(ZeroDivisionError):
        assert_matches(double, 3, oracle=lambda x: x / 0)


@pytest.mark.parametrize(
    "options", [{"exact": True, "tolerance": Tolerance(1.0, "a guess")}, {"layouts": "all"}, {"out": X}]
)
def test_impossible_options_are_refused(options):
    with pytest.raises(ValueError):
        assert_matches(double, X, oracle=double, **options)


# One call decides ------------------------------------------------------------------------------------------


def test_one_call_is_enough_when_it_is_right():
    calls = []

    def counted(x):
        calls.append(x)
        return 2 * x

    assert_matches(counted, X, oracle=double)
    assert len(calls) == 1 and calls[0] is X


def test_a_right_second_call_does_not_undo_a_wrong_first():
    calls = []

    def late(x):
        calls.append(x)
        return 2 * x if len(calls) > 1 else x + 1

    assert cause_of(late, X, oracle=double) == "differs_between_runs"


def test_a_slow_call_is_not_repeated_to_explain_it(monkeypatch):
    monkeypatch.setattr("tools.check.explain.SLOW_CALL", 0.0)
    calls = []

    def slow(x):
        calls.append(x)
        return x + len(calls)

    cause_of(slow, 7, oracle=double)
    assert len(calls) == 1


def test_a_call_that_changes_an_object_of_the_lesson_is_not_repeated_to_explain_it():
    class Cache:
        length = 0

    def append(cache):
        cache.length += 1
        return cache.length

    cache = Cache()
    assert cause_of(append, cache, oracle=lambda cache: 7) != "differs_between_runs"
    assert cache.length == 1


def test_a_second_call_that_returns_another_form_is_another_result():
    calls = []

    def fickle(x):
        calls.append(x)
        return None if len(calls) > 1 else x + 1

    assert cause_of(fickle, X, oracle=double) == "differs_between_runs"


def test_a_clock_is_handed_out_afresh_for_each_call():
    def elapsed(work, clock):
        start = clock()
        work()
        return clock() - start

    clock = fake_clock([0.5, 0.25])
    assert_matches(elapsed, clock.work, clock, oracle=lambda work, clock: 0.5)
    assert clock.calls == 1
    clock = fake_clock([0.5, 0.25])
    assert cause_of(elapsed, clock.work, clock, oracle=lambda work, clock: 9.0) != "differs_between_runs"


def test_the_diagnosis_sees_numpy_arrays_and_may_call_lesson_and_oracle(monkeypatch):
    seen = []

    def diagnose(symptoms):
        seen.append(symptoms)
        return Cause("known", "Words.")

    monkeypatch.setattr("tools.check.diagnosis.diagnose", diagnose)
    x = torch.tensor(X, dtype=torch.bfloat16)

    def triple(x):
        return 3 * x

    assert cause_of(triple, x, oracle=double) == "known"
    (symptoms,) = seen
    assert [type(value) for value in (symptoms.got, symptoms.want, *symptoms.args)] == [np.ndarray] * 3
    assert symptoms.got.dtype.name == "bfloat16" and symptoms.names == ("x",)
    np.testing.assert_array_equal(symptoms.again(*symptoms.args).astype(float), 3 * X)
    np.testing.assert_array_equal(symptoms.oracle(*symptoms.args), 2 * X)
    assert symptoms.oracle.__name__ == "double"


# out ------------------------------------------------------------------------------------------------------


def add(x, y, *, out=None):
    out = np.empty_like(x) if out is None else out
    out[...] = x + y
    return out


def test_a_function_that_fills_and_returns_out_matches():
    assert_matches(add, X, X, oracle=np.add, exact=True)
    assert_matches(add, np.arange(6).reshape(2, 3), np.arange(6).reshape(2, 3), oracle=np.add)
    assert_matches(add, np.array([True, False]), np.array([False, False]), oracle=np.add)


def test_a_torch_function_that_fills_and_returns_out_matches():
    def add(x, y, *, out=None):
        return torch.add(x, y, out=out)

    for dtype in (torch.float32, torch.bfloat16, torch.int64):
        assert_matches(add, torch.arange(7).to(dtype), torch.arange(7).to(dtype), oracle=torch.add)


@pytest.mark.parametrize("make", [np.array, torch.tensor], ids=["NumPy", "PyTorch"])
@pytest.mark.parametrize("values", [[3.0, 1.5, 2.0], [3, 1, 2], [True, False, True]], ids=["float", "int", "bool"])
def test_elements_that_are_never_written_are_told_from_wrong_ones(make, values, monkeypatch):
    monkeypatch.setattr("tools.check.diagnosis.diagnose", lambda symptoms: None)

    def opposite(x):
        return -x if len(set(values)) == 3 else ~x

    def partly(x, *, out=None):
        if out is None:
            return opposite(x)
        out[:2] = opposite(x[:2])
        return out

    assert cause_of(partly, make(values), oracle=opposite) == "never_written"


def test_a_count_that_begins_with_what_out_held_is_told():
    def count(x, *, out=None):
        out = torch.empty(1, dtype=torch.int32) if out is None else out
        return out.add_(len(x))

    def zeros_and_count(x, *, out=None):
        return count(x, out=torch.zeros(1, dtype=torch.int32) if out is None else out)

    def wanted(x):
        return torch.tensor([len(x)], dtype=torch.int32)

    for function in (count, zeros_and_count):
        assert cause_of(function, torch.ones(3), oracle=wanted) == "reads_out"


def test_a_count_that_differs_from_call_to_call_does_not_depend_on_out():
    calls = iter(range(99))

    def count(x, *, out=None):
        out = torch.empty(1, dtype=torch.int32) if out is None else out
        return out.fill_(len(x) + 1 + next(calls))

    assert cause_of(count, torch.ones(3), oracle=lambda x: torch.tensor([len(x)], dtype=torch.int32)) != "reads_out"


def test_a_result_that_is_nan_by_computation_was_written():
    def root(x, *, out=None):
        out = np.empty_like(x) if out is None else out
        with np.errstate(invalid="ignore"):
            out[...] = np.sqrt(x)
        return out

    assert cause_of(root, X, oracle=lambda x: np.abs(x)) not in ("never_written", "reads_out")


def test_a_function_that_leaves_elements_out_is_told_so_even_when_it_fails_without_out(monkeypatch):
    monkeypatch.setattr("tools.check.diagnosis.diagnose", lambda symptoms: None)

    def partly(x, *, out=None):
        out = np.full_like(x, 77.0) if out is None else out
        out[:2] = 2 * x[:2]
        return out

    assert cause_of(partly, X, oracle=double) == "never_written"


@pytest.mark.parametrize("place", [-1, 10], ids=["before", "after"])
def test_a_write_beside_out_is_seen(place):
    def stray(x, *, out=None):
        if out is None:
            return 2 * x
        out[...] = 2 * x
        out.base[4096 + place] = 0.0
        return out

    with pytest.raises(Mismatch, match="before" if place < 0 else "after"):
        assert_matches(stray, np.arange(10.0), oracle=double)


def test_a_function_with_out_must_return_an_array():
    with pytest.raises(TypeError, match="one array"):
        assert_matches(lambda x, out=None: 7, 7, oracle=lambda x: 7)


def test_elements_of_a_result_that_were_never_stored_are_told():
    def opposite(x):
        out = torch.empty_like(x)
        out[:2] = -x[:2]
        return out, -x

    with pytest.raises(Mismatch, match="1 of 3 elements of result.0. was never stored. First: .2.") as caught:
        assert_matches(opposite, torch.tensor([3.0, 1.5, 2.0]), oracle=lambda x: (-x, -x))
    assert caught.value.cause == "partly_written"


def test_an_element_that_was_never_stored_and_is_right_by_chance_is_told_too():
    def opposite(x):
        out = torch.empty_like(x)
        if out.tolist() != [96.0] * 3 and out.tolist() != [40.0] * 3:  # what memory held before, this time
            out[:] = torch.tensor([0.0, 0.0, 7.0])
        out[0] = -x[0]
        return out

    with pytest.raises(Mismatch, match="2 of 3 elements of the result were never stored. First: .1."):
        assert_matches(opposite, torch.tensor([3.0, 0.0, 2.0]), oracle=lambda x: -x)


def test_a_result_that_was_computed_from_what_was_never_stored_is_told_each_time():
    def opposite(x):
        scratch = torch.empty_like(x)
        return scratch + x, -x

    with pytest.raises(Mismatch, match=r"result\[0\] depends on what new memory held, as") as caught:
        assert_matches(opposite, torch.tensor([3.0, 1.5, 2.0]), oracle=lambda x: (-x, -x))
    assert caught.value.cause == "reads_fresh"


def test_a_result_that_changes_by_itself_does_not_depend_on_what_memory_held():
    calls = iter(range(99))

    def opposite(x):
        return next(calls) + torch.empty_like(x).copy_(x)

    assert cause_of(opposite, torch.tensor([3.0, 1.5, 2.0]), oracle=lambda x: -x) not in ("never_stored", "reads_fresh")


# Layouts --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [np.asarray, torch.tensor], ids=["NumPy", "PyTorch"])
def test_any_layout_means_four_calls_for_a_matrix_with_equal_values(make):
    seen = []

    def remember(x, y):
        seen.append((x, y))
        return x + y

    x, y = make(np.arange(6.0).reshape(2, 3)), make(np.arange(6.0, 12.0).reshape(2, 3))
    assert_matches(remember, x, y, oracle=lambda x, y: x + y, layouts="any")
    assert len(seen) == 7
    assert all((a == x).all() and (b == y).all() for a, b in seen)
    if make is np.asarray:
        assert [a.strides for a, _ in seen] == [(24, 8), (8, 16), (48, 16), *[(24, 8)] * 4]
    else:
        assert [b.stride() for _, b in seen] == [(3, 1), (3, 1), (3, 1), (3, 1), (1, 2), (6, 2), (3, 1)]
        assert [b.storage_offset() for _, b in seen] == [0, 0, 0, 0, 0, 0, 3]


def test_a_function_that_ignores_a_storage_offset_is_caught():
    def from_the_start(x):
        return torch.as_strided(x, x.shape, x.stride(), storage_offset=0) * 2

    with pytest.raises(Mismatch, match="3 elements after the start of its memory"):
        assert_matches(from_the_start, torch.tensor(X), oracle=double, layouts="any")
