"""Mistakes of softmax, of its logarithm and of log-sum-exp in the formula: what comes back when each is made."""

from functools import partial

import numpy as np

from tools.check.diagnosis.formulas import Mistake
from tools.check.diagnosis.softmax_rows import Rows

LN2 = float(np.log(2))


def only_the_maximum(rows: Rows) -> np.ndarray:
    return rows.of(rows.m)


def by_the_length(rows: Rows) -> np.ndarray:
    return rows.of(rows.m + np.log(rows.length))


def maximum_left_out(rows: Rows) -> np.ndarray:
    return rows.of(rows.log_sum - rows.m)


def maximum_twice(rows: Rows) -> np.ndarray:
    return rows.of(rows.log_sum + rows.m)


def times(rows: Rows, factor: float) -> np.ndarray | None:
    """exp(factor * x) in place of exp(x)."""
    return None if rows.kind == "logsumexp" else rows.of_other_numbers(factor * rows.x)


def powers_of_two_below(rows: Rows) -> np.ndarray:
    return rows.of(rows.finite_m + np.log(np.exp2(rows.x - rows.finite_m).sum(-1, keepdims=True)))


def logarithm_to_base_two(rows: Rows) -> np.ndarray:
    return rows.of(rows.finite_m + (rows.log_sum - rows.finite_m) / LN2)


def all_in_base_two(rows: Rows) -> np.ndarray | None:
    return rows.of(rows.log_sum / LN2) if rows.kind == "logsumexp" else None


def other_axis(rows: Rows) -> np.ndarray | None:
    if rows.kind == "logsumexp" or rows.other is None:
        return None
    return np.moveaxis(rows.of_other_numbers(np.moveaxis(rows.x, rows.other, -1)), -1, rows.other)


def maximum_of_other_axis(rows: Rows) -> np.ndarray | None:
    """exp(x - m) with m along another axis, in numerator and denominator: wrong only where it differs in a row."""
    if rows.other is None:
        return None
    other = Rows(rows.x - rows.x.max(rows.other, keepdims=True), rows.kind)
    return other.of(other.log_sum)


def sum_of_other_axis(rows: Rows) -> np.ndarray | None:
    """The maximum of each row is taken off, and the exponentials are added up along another axis."""
    if rows.kind == "logsumexp" or rows.other is None:
        return None
    return rows.of(rows.finite_m + np.log(rows.e.sum(rows.other, keepdims=True)))


def sum_of_all(rows: Rows) -> np.ndarray | None:
    """The maximum of each row is taken off, and the exponentials of all rows are added up."""
    return rows.of(rows.finite_m + np.log(rows.e.sum())) if rows.m.size > 1 else None


PLAIN = (
    Mistake(
        "not_divided",
        only_the_maximum,
        "As if the sum of exp(x - max) were 1.",
        "Which line divides by the sum, or takes off its logarithm?",
    ),
    Mistake(
        "divided_by_length",
        by_the_length,
        "As if the sum of exp(x - max) were the number of elements, {length}.",
        "What is added up?",
    ),
    Mistake(
        "maximum_left_out",
        maximum_left_out,
        "The maximum was taken off inside the sum, and nowhere else.",
        "Where must it be added again, or taken off as well?",
    ),
    Mistake(
        "maximum_left_out",
        maximum_twice,
        "The maximum was taken off everywhere but inside the sum.",
        "What does exp see inside the sum?",
    ),
    Mistake(
        "base_two",
        partial(times, factor=LN2),
        "As if 2**{x} stood in place of exp({x}).",
        "exp(x) is exp2(x * log2(e)): where is the factor?",
    ),
    Mistake(
        "base_two",
        partial(times, factor=1 / LN2),
        "As if {x} were multiplied by log2(e), and exp taken of that.",
        "With which function does that factor go?",
    ),
    Mistake(
        "base_two",
        partial(times, factor=LN2**2),
        "As if exp2 were taken of {x} * log(2).",
        "exp(x) is exp2(x * log2(e)): which factor is it?",
    ),
    Mistake(
        "base_two",
        powers_of_two_below,
        "As if only the sum were one of 2**({x} - max).",
        "Which function belongs to the logarithm that is taken of it?",
    ),
    Mistake(
        "base_two",
        logarithm_to_base_two,
        "As if log2 of the sum were added to the maximum.",
        "Which logarithm undoes exp?",
    ),
    Mistake(
        "base_two",
        all_in_base_two,
        "It is right in units of log(2): log2 of the sum of exp({x}).",
        "Which logarithm is asked for?",
    ),
    Mistake(
        "softmax_along_other_axis",
        other_axis,
        "It is right along axis {other} of {x}, wanted is axis {axis}.",
        "Along which axis should the results add up to 1?",
    ),
    Mistake(
        "maximum_of_other_axis",
        maximum_of_other_axis,
        "As if the maximum ran along axis {other} of {x}, and the sum along {axis}.",
        "Along which axis must the maximum be the same number?",
    ),
    Mistake(
        "sum_of_other_axis",
        sum_of_other_axis,
        "As if the maximum ran along axis {axis} of {x}, and the sum along {other}.",
        "Along which axis should the results add up to 1?",
    ),
    Mistake(
        "sum_of_all",
        sum_of_all,
        "As if the exponentials of all rows were added up, not those of each.",
        "Which line adds them up, and along which axis?",
    ),
)
