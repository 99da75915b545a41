"""The error model against what NumPy and PyTorch really do, and against what careless programs do."""

import numpy as np
import pytest
import torch

from tools.check.inputs import matrices
from tools.check.tolerances import (
    Tolerance,
    WeakTolerance,
    accumulated,
    audit,
    cancelled,
    elementwise,
    errors,
    impostors,
    largest_error,
    round_to,
)

LENGTHS = [1, 2, 3, 16, 100, 512, 4096]


def step_by_step(a, b):
    """A matrix product whose sums are rounded at each step: the least careful program that still is right."""
    total = np.zeros((a.shape[0], b.shape[1]), a.dtype)
    for k in range(a.shape[1]):
        total = total + a[:, k : k + 1] * b[k : k + 1, :]
    return total


def exact_product(a, b):
    return np.asarray(a.astype(np.longdouble) @ b.astype(np.longdouble), np.float64)


def case(dtype, length):
    a, b = matrices(np.random.default_rng(length), (33, length), (length, 31), dtype=dtype)
    return a, b, exact_product(a, b), accumulated(dtype, length)


# The reference: at most a quarter --------------------------------------------------------------------------


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_products_of_any_length_stay_within_a_quarter(dtype, length):
    a, b, want, tolerance = case(dtype, length)
    for got in (a @ b, step_by_step(a, b), (torch.from_numpy(a) @ torch.from_numpy(b)).numpy()):
        assert largest_error(got, want) <= tolerance.relative / 4


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_sums_of_positive_numbers_stay_within_a_quarter(dtype, length):
    x = matrices(np.random.default_rng(length), (length, 300), dtype=dtype)[0] ** 2
    want = np.asarray(x.astype(np.longdouble).sum(axis=0), np.float64)
    running = np.zeros(300, dtype)
    for row in x:
        running = running + row
    for got in (x.sum(axis=0), running, torch.from_numpy(x).sum(0).numpy()):
        assert largest_error(got, want) <= accumulated(dtype, length).relative / 4


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_products_summed_in_float32_stay_within_a_quarter(dtype, length):
    wide = matrices(np.random.default_rng(length), (33, length), (length, 31))
    a, b = (torch.from_numpy(x).to(dtype) for x in wide)
    want = (a.double() @ b.double()).numpy()
    got = (a.float() @ b.float()).to(dtype).double().numpy()
    assert largest_error(got, want) <= accumulated(dtype, length).relative / 4


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_chain_of_operations_stays_within_a_quarter_of_elementwise(dtype):
    x = matrices(np.random.default_rng(0), (100, 100), dtype=dtype)[0]

    def gelu(x):
        return x * (1 + np.tanh(x * (1 + x * x / 8))) / 2 + 1

    want = gelu(x.astype(np.longdouble)).astype(float)
    assert largest_error(gelu(x), want) <= elementwise(dtype).relative / 4


# Impostors: at least twice ---------------------------------------------------------------------------------


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_every_impostor_of_a_product_is_at_least_twice_outside(dtype, length):
    a, b, want, tolerance = case(dtype, length)
    stand_ins = impostors(want, (a.astype(float), b.astype(float)), np.matmul, dtype, length)
    assert {"zeros", "mean"} < stand_ins.keys()
    assert {"tf32 round trip", "float16 round trip", "bfloat16 round trip"} < stand_ins.keys()
    assert ("float32 round trip" in stand_ins) == (dtype == "float64")
    assert ("float16 accumulation" in stand_ins) == (length > 1)
    for name, values in stand_ins.items():
        assert largest_error(values, want) >= 2 * tolerance.relative, name
    audit(step_by_step(a, b), want, tolerance, stand_ins)


def test_an_impostor_that_the_model_cannot_tell_is_named_and_not_hidden():
    """A long sum of positive numbers averages tf32's rounding of each away: sums in float32 are no better."""
    x = matrices(np.random.default_rng(1), (4096, 300), dtype=np.float32)[0] ** 2
    want = x.astype(float).sum(axis=0)
    tolerance = accumulated(np.float32, 4096)
    stand_ins = impostors(want, (x.astype(float),), lambda x: x.sum(axis=0), "float32", 4096)
    with pytest.raises(WeakTolerance, match="tf32 round trip has error"):
        audit(x.sum(axis=0), want, tolerance, stand_ins)
    audit(x.sum(axis=0), want, tolerance.blind_to("tf32 round trip"), stand_ins)


@pytest.mark.parametrize("length, told", [(16, False), (256, True)])
def test_short_sums_in_half_precision_cannot_be_told_from_sums_in_float32(length, told):
    a, b = (x.astype(np.float16) for x in matrices(np.random.default_rng(2), (33, length), (length, 31)))
    wide = a.astype(float), b.astype(float)
    want = wide[0] @ wide[1]
    stand_ins = impostors(want, wide, np.matmul, "float16", length)
    assert set(stand_ins) == {"zeros", "mean", "bfloat16 round trip", "float16 accumulation"}
    tolerance = accumulated(np.float16, length)
    assert (largest_error(stand_ins["float16 accumulation"], want) >= 2 * tolerance.relative) == told


def test_an_input_handed_back_is_an_impostor_where_shapes_fit():
    x = matrices(np.random.default_rng(3), (4, 5))[0]
    assert "copy of array 2" in impostors(2 * x, (x[:1], x), lambda a, b: 2 * b, "float64")
    assert "copy of array 1" not in impostors(2 * x, (x[:1], x), lambda a, b: 2 * b, "float64")


def test_too_few_elements_say_nothing_about_precision():
    x = matrices(np.random.default_rng(3), (3, 5))[0]
    assert impostors(2 * x, (), lambda: 2 * x, "float64").keys() == {"zeros", "mean"}
    assert impostors(np.float64(3.0), (), None, "float64").keys() == {"zeros"}


def test_nearly_constant_results_are_told_by_the_audit():
    want = np.array([1.0, 1.0 + 1e-15, 1.0])
    with pytest.raises(WeakTolerance, match="mean"):
        audit(want, want, elementwise("float64"), impostors(want, (), None, "float64"))


def test_an_impostor_that_is_right_is_none():
    """A product over no terms is all zeros, and a test may well ask for it."""
    assert impostors(np.zeros((2, 3)), (), None, "float64") == {}


# The measure -----------------------------------------------------------------------------------------------


def test_errors_are_relative_to_the_typical_size_or_to_the_element_if_it_is_larger():
    want = np.array([3.0, 4.0, 0.0, 0.0])  # typical size 2.5
    np.testing.assert_allclose(errors(want + 0.25, want), [0.25 / 3, 0.25 / 4, 0.1, 0.1])


def test_one_large_element_does_not_fail_for_being_rounded_like_all_others():
    want = np.full(10_000, 1e-3)
    want[7] = 1e6 / 3
    assert largest_error(want.astype(np.float32), want) <= 2.0**-24


def test_errors_of_what_is_not_finite():
    inf, nan = np.inf, np.nan
    assert errors([nan, inf, -inf], [nan, inf, -inf]).tolist() == [0, 0, 0]
    assert errors([1, nan, inf, 1], [nan, 1, -inf, inf]).tolist() == [inf] * 4


def test_errors_where_zero_is_wanted():
    assert errors([0.0, 0.0], [0.0, -0.0]).tolist() == [0, 0]
    assert largest_error([0.0, 1e-30], [0.0, 0.0]) > 1


def test_errors_of_huge_numbers_do_not_overflow():
    assert largest_error([2e300, 1e300], [1e300, 1e300]) == 1.0


@pytest.mark.parametrize("name", ["float32", "float16", "bfloat16"])
def test_rounding_equals_pytorchs(name):
    x = 100 * np.random.default_rng(4).standard_normal(5000)
    x = x if name == "float32" else x.astype(np.float32)
    np.testing.assert_array_equal(
        round_to(x.astype(float), name), torch.from_numpy(x).to(getattr(torch, name)).double().numpy()
    )


def test_tf32_keeps_eleven_bits():
    kept, lost = 1 + 2.0**-10, 1 + 2.0**-12
    assert round_to(np.array([kept, lost, -3.0]), "tf32").tolist() == [kept, 1.0, -3.0]


def test_a_tolerance_says_why():
    tolerance = accumulated(torch.float32, 64)
    assert tolerance == Tolerance(tolerance.relative, "float32 sums of 64 terms", "float32", 64)
    assert elementwise(np.float64).why == "float64 arithmetic"


# Few elements: what cancelled ------------------------------------------------------------------------------


def axpy(x, y):
    return -1.5 * x + y


@pytest.mark.parametrize("seed", range(20))
def test_what_cancels_in_a_single_element_is_allowed_for(seed):
    x = np.float32([np.random.default_rng(seed).uniform(1, 2)])
    y = np.float32(1.5) * x + np.float32(1e-6)  # rounded: the difference is a few of y's last digits
    args = x.astype(float), y.astype(float)
    want = axpy(*args)
    size = cancelled(want, args, axpy)
    assert 0.5 * y < size < 5 * y
    assert largest_error(axpy(x, y), want, size) <= elementwise("float32").relative / 4


def test_without_cancellation_an_element_has_its_own_size():
    args = np.array([2.0]), np.array([12.0])
    size = cancelled(axpy(*args), args, axpy)
    assert size < 3 * axpy(*args)


def test_many_elements_are_judged_by_the_typical_size_alone():
    args = tuple(np.random.default_rng(0).standard_normal((2, 64)))
    assert cancelled(axpy(*args), args, axpy) == 0


def test_what_is_not_finite_has_no_size():
    args = np.array([np.inf, np.nan, 1.0]), np.array([1.0, 1.0, np.inf])
    with np.errstate(all="ignore"):
        assert not cancelled(axpy(*args), args, axpy).any()


@pytest.mark.parametrize("jump", [np.floor, np.round, np.sign, lambda x: x >= 3.0, lambda x: np.maximum(x, 3.0)])
def test_where_a_function_jumps_nothing_is_allowed_for(jump):
    args = (np.array([3.0, 2.5, 0.5, 1.0]),)
    oracle = lambda x: np.asarray(jump(x), float)  # noqa: E731
    assert (cancelled(oracle(*args), args, oracle) <= 3 * np.abs(args[0])).all()


def test_nothing_is_allowed_for_where_a_function_jumps_by_as_much_both_ways():
    args = np.array([1.0, 2.0]), np.array([1.0, 3.0])

    def side(x, y):
        return np.sign(x - y)

    assert not cancelled(side(*args), args, side).any()


@pytest.mark.filterwarnings("error")
def test_a_large_number_has_its_own_size():
    args = (np.array([1e200, 2.0]),)
    size = cancelled(2 * args[0], args, lambda x: 2 * x)
    assert (size < 3 * 2 * args[0]).all()


def test_a_result_whose_length_depends_on_the_inputs_has_no_size():
    args = (np.array([1.0, 1.0, 2.0]),)
    assert cancelled(np.unique(*args), args, np.unique) == 0
