"""Mistakes in softmax and in layer norm, in kernels and in NumPy, are named."""

import numpy as np
import pytest
import torch

from tools.check import assert_matches
from tools.check.diagnosis import softmax
from tools.check.tolerances import Tolerance
from tools.tests.check_diagnosis.formula_cases import CLOSE, failure, normed, numbers, said

# Softmax --------------------------------------------------------------------------------------------------


def rows_of(x, how, block=16):
    return torch.softmax(x, 1)


@pytest.mark.parametrize("shape", [(5, 50), (3, 70)], ids=str)
@pytest.mark.parametrize(
    "how, cause, seen",
    [
        ("not rescaled", "not_rescaled", "As if the sum so far stayed when a block of 16 raises the maximum."),
        ("not divided", "not_divided", "As if the sum of exp(x - max) were 1."),
        ("last block only", "last_block_only", "elements from {last} on were in the sum."),
        ("padding counted", "padding_counted", "It is right if x went on with zeros from {n} to {padded}."),
    ],
)
def test_the_mistake_in_a_softmax_kernel_is_named(formulas, shape, how, cause, seen):
    assert_matches(formulas.softmax, numbers(*shape), "", oracle=rows_of, tolerance=CLOSE)
    found = failure(formulas.softmax, 3 * numbers(*shape), how, oracle=rows_of, block=16)
    n = shape[1]
    facts = {"n": n, "last": (n - 1) // 16 * 16, "padded": -(-n // 16) * 16}
    assert found.cause == cause, found.text
    assert seen.format(**facts) in said(found)


def test_a_running_maximum_that_stays_behind_matters_only_where_exp_overflows(formulas):
    x = numbers(7, 50)
    assert_matches(formulas.softmax, x, "maximum not updated", oracle=rows_of, tolerance=CLOSE)
    x[:5, 40] += 200
    x[5, 5] += 200
    found = failure(formulas.softmax, x, "maximum not updated", oracle=rows_of, block=16)
    assert found.cause == "maximum_not_updated", found.text
    assert "As if the maximum of the first 16 were taken off: above it exp overflows." in said(found)


@pytest.mark.parametrize("kind", ["softmax", "log_softmax", "logsumexp"])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_softmax_and_its_kin_are_known_along_every_axis(kind, axis):
    x = numbers(4, 5, 40).numpy()

    def right(x):
        rows = softmax.Formula(0, axis, kind).rows((x,))
        return softmax.Formula(0, axis, kind).placed(rows.of(rows.log_sum))

    def by_two(x):
        m = x.max(axis, keepdims=True)
        total = np.exp2(x - m).sum(axis, keepdims=True)
        results = {"softmax": np.exp2(x - m) / total, "log_softmax": x - m - np.log(total)}
        return results.get(kind, np.squeeze(m + np.log(total), axis)).astype(np.float32)

    assert failure(by_two, x, oracle=right).cause == "base_two"


def test_one_log_sum_exp_is_told_by_further_calls():
    def logsumexp(x):
        return np.array([np.log(np.exp(x).sum())])

    found = failure(lambda x: np.log2(np.exp(x).sum(keepdims=True)), numbers(9).numpy(), oracle=logsumexp)
    assert found.cause == "base_two" and "in units of log(2)" in found.text


def test_all_nan_is_an_overflow_only_if_smaller_numbers_are_right():
    x = np.full((3, 20), 500, np.float32) + numbers(3, 20).numpy()

    def naive(x):
        return np.exp(x) / np.exp(x).sum(1, keepdims=True)

    def always_nan(x):
        return np.full_like(x, np.nan)

    def right(x):
        return np.exp(x - x.max(1, keepdims=True)) / np.exp(x - x.max(1, keepdims=True)).sum(1, keepdims=True)

    with np.errstate(all="ignore"):
        assert failure(naive, x, oracle=right).cause == "maximum_not_subtracted"
        assert failure(always_nan, x, oracle=right).cause == "unexpected_nan"


# Layer norm -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(6, 50), (3, 100)], ids=str)
@pytest.mark.parametrize(
    "how, cause, seen",
    [
        ("eps outside", "eps_outside", "As if eps = 0.1 were added to the root of the variance, not below it."),
        ("padding counted", "padding_counted", "As if the variance counted zeros behind each row, up to {block}."),
        ("divided by the block", "divided_by_block", "As if the sums were divided by {block}, not by {n}."),
    ],
)
def test_the_mistake_in_a_layer_norm_kernel_is_named(formulas, shape, how, cause, seen):
    args = numbers(*shape) + 2, numbers(shape[1], seed=4), numbers(shape[1], seed=5)
    assert_matches(formulas.layernorm, *args, "", 0.1, oracle=normed, tolerance=CLOSE)
    found = failure(formulas.layernorm, *args, how, 0.1, oracle=normed)
    assert found.cause == cause, found.text
    block = 1 << (shape[1] - 1).bit_length()
    assert seen.format(n=shape[1], block=block) in said(found)


@pytest.mark.parametrize("shape", [(6, 50), (3, 100)], ids=str)
@pytest.mark.parametrize("mean", [300, 20000])
def test_a_variance_of_two_sums_is_named_by_how_far_the_mean_lies(formulas, shape, mean):
    """300: digits are lost. 20000: all of them, and of some rows the root is that of a negative number."""
    args = numbers(*shape) + mean, numbers(shape[1], seed=4), numbers(shape[1], seed=5)
    found = failure(formulas.layernorm, *args, "two sums", oracle=normed, tolerance=Tolerance(1e-2, "far from 0"))
    assert found.cause == "cancelled", found.text
    assert "As if the variance were E[x^2] - mean^2, with a mean of " in said(found)


def test_rms_norm_of_a_sum_of_two_arguments_and_a_reciprocal_deviation_are_known():
    x, residual, weight = (numbers(*shape).numpy() for shape in ((5, 24), (5, 24), (24,)))
    residual = residual[::-1].copy()

    def fused(x, residual, weight, eps=1e-6):
        total = x + residual
        return total / np.sqrt((total**2).mean(1, keepdims=True) + eps) * weight

    def without_root(x, residual, weight, eps=np.float32(1e-6)):
        total = x + residual
        return total / ((total**2).mean(1, keepdims=True) + eps) * weight

    assert failure(without_root, x, residual, weight, oracle=fused).cause == "no_root"

    def rstd(x):
        return 1 / np.sqrt(x.var(1) + 1e-5)

    found = failure(lambda x: 1 / np.sqrt(x.var(1, ddof=1) + np.float32(1e-5)), x, oracle=rstd)
    assert found.cause == "divided_by_n_minus_one" and "divided by 23, not by 24" in found.text


def standardised(x):
    return (x - x.mean(1, keepdims=True)) / x.std(1, keepdims=True)


def test_half_of_a_row_whose_spread_is_2_is_not_taken_for_a_forgotten_root():
    x = np.array([[3.0, 1, 0, -1, -3]])
    half = failure(lambda x: standardised(x) / 2, x, oracle=standardised)
    assert half.cause == "constant_factor", half.text
    found = failure(lambda x: standardised(x) / x.std(1, keepdims=True), x, oracle=standardised)
    assert found.cause == "no_root", found.text
