"""Mistakes in softmax, its logarithm and log-sum-exp; in blocks as a kernel with a running maximum makes them."""

import numpy as np

from tools.tests.check_diagnosis.corpus import numbers, wrong_answer


def row_softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def row_log_softmax(x):
    return x - row_logsumexp(x)[..., None]


def row_logsumexp(x):
    m = x.max(-1)
    return m + np.log(np.exp(x - m[..., None]).sum(-1))


def rows(rng):
    """A matrix, or a stack of two."""
    shape = (7, 45) if rng.random() < 0.5 else (2, 5, 70)
    return (numbers(rng, *shape) * np.float32(2),)


def rows_far_apart(rng):
    (x,) = rows(rng)
    x[..., 1, :] += 200
    return (x,)


def rows_with_one_far_above(rng):
    (x,) = rows(rng)
    x[..., 1, 3] += 200
    return (x,)


def rows_with_one_empty(rng):
    (x,) = rows(rng)
    x[..., 2, :] = -np.inf
    return (x,)


def all_rows_far_apart(rng):
    (x,) = rows(rng)
    return (x + 2000 * np.arange(np.prod(x.shape[:-1]), dtype=x.dtype).reshape(*x.shape[:-1], 1),)


def rows_with_one_infinite(rng):
    (x,) = rows(rng)
    x[..., 2, 4] = np.inf
    return (x,)


def in_blocks(x, block, rescale, start_anew=False):
    """Maximum and sum of each row, block by block; rescale(old, new) is what the sum so far is multiplied by."""
    m, total = np.full((*x.shape[:-1], 1), -np.inf, x.dtype), np.zeros((*x.shape[:-1], 1), x.dtype)
    for start in range(0, x.shape[-1], block):
        piece = x[..., start : start + block]
        new = np.maximum(m, piece.max(-1, keepdims=True))
        total = (0 if start_anew else total * rescale(m, new)) + np.exp(piece - new).sum(-1, keepdims=True)
        m = new
    return m, total


@wrong_answer(row_softmax, rows_with_one_far_above, "exp of x itself", "maximum_not_subtracted")
def softmax_of_x_itself(x):
    return np.exp(x) / np.exp(x).sum(-1, keepdims=True)


@wrong_answer(row_log_softmax, rows_with_one_far_above, "logarithm of the softmax", "log_of_softmax")
def logarithm_of_the_softmax(x):
    return np.log(row_softmax(x))


@wrong_answer(row_logsumexp, rows_with_one_far_above, "exp of x itself", "maximum_not_subtracted")
def logsumexp_of_x_itself(x):
    return np.log(np.exp(x).sum(-1))


@wrong_answer(row_softmax, rows_far_apart, "the maximum of all", "one_maximum_for_all")
def softmax_with_one_maximum(x):
    e = np.exp(x - x.max())
    return e / e.sum(-1, keepdims=True)


def softmax_of_any_row(x):
    m = x.max(-1, keepdims=True)
    e = np.exp(x - np.where(np.isfinite(m), m, 0))
    total = e.sum(-1, keepdims=True)
    return e / np.where(total == 0, 1, total)


@wrong_answer(softmax_of_any_row, rows_with_one_empty, "-inf - -inf", "empty_row")
def softmax_of_nothing(x):
    return row_softmax(x)


@wrong_answer(row_softmax, rows, "the maximum of columns", "maximum_of_other_axis")
def softmax_with_maxima_of_columns(x):
    e = np.exp(x - x.max(-2, keepdims=True))
    return e / e.sum(-1, keepdims=True)


@wrong_answer(softmax_of_any_row, all_rows_far_apart, "the maximum of columns", "maximum_of_other_axis")
def softmax_far_below_the_maxima_of_columns(x):
    e = np.exp(x - x.max(-2, keepdims=True))
    total = e.sum(-1, keepdims=True)
    return e / np.where(total == 0, 1, total)


@wrong_answer(softmax_of_any_row, all_rows_far_apart, "the maximum of all, and a guard", "one_maximum_for_all")
def softmax_with_one_maximum_and_a_guard(x):
    e = np.exp(x - x.max())
    total = e.sum(-1, keepdims=True)
    return e / np.where(total == 0, 1, total)


@wrong_answer(row_softmax, rows, "the sums of columns", "sum_of_other_axis")
def softmax_with_sums_of_columns(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-2, keepdims=True)


@wrong_answer(row_softmax, rows, "the sum of all", "sum_of_all")
def softmax_with_one_sum(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum()


@wrong_answer(row_logsumexp, rows, "the sum of all", "sum_of_all")
def logsumexp_with_one_sum(x):
    m = x.max(-1)
    return m + np.log(np.exp(x - m[..., None]).sum())


@wrong_answer(row_softmax, rows_with_one_infinite, "takes 0 off a row with inf", "infinity_kept")
def softmax_of_a_finite_maximum(x):
    return softmax_of_any_row(x)


@wrong_answer(row_log_softmax, rows_with_one_infinite, "takes 0 off a row with inf", "infinity_kept")
def log_softmax_of_a_finite_maximum(x):
    m = x.max(-1, keepdims=True)
    m = np.where(np.isfinite(m), m, 0)
    return x - m - np.log(np.exp(x - m).sum(-1, keepdims=True))


@wrong_answer(row_softmax, rows, "exp2 for exp", "base_two")
def softmax_by_exp2(x):
    e = np.exp2(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


@wrong_answer(row_logsumexp, rows, "log2 for log", "base_two")
def logsumexp_by_log2(x):
    m = x.max(-1)
    return m + np.log2(np.exp(x - m[..., None]).sum(-1))


@wrong_answer(row_softmax, rows, "does not divide", "not_divided")
def softmax_not_divided(x):
    return np.exp(x - x.max(-1, keepdims=True))


@wrong_answer(row_softmax, rows, "divides by the number of columns", "divided_by_length")
def softmax_by_the_length(x):
    return np.exp(x - x.max(-1, keepdims=True)) / np.float32(x.shape[-1])


@wrong_answer(row_logsumexp, rows, "does not add the maximum again", "maximum_left_out")
def logsumexp_without_the_maximum(x):
    return np.log(np.exp(x - x.max(-1, keepdims=True)).sum(-1))


@wrong_answer(row_log_softmax, rows, "subtracts the maximum inside the sum only", "maximum_left_out")
def log_softmax_with_half_a_maximum(x):
    return x - np.log(np.exp(x - x.max(-1, keepdims=True)).sum(-1, keepdims=True))


@wrong_answer(row_softmax, rows, "never rescales the sum", "not_rescaled")
def softmax_never_rescaled(x):
    m, total = in_blocks(x, 16, lambda old, new: 1)
    return np.exp(x - m) / total


@wrong_answer(row_logsumexp, rows, "rescales by exp(new - old)", "rescaled_upside_down")
def logsumexp_rescaled_upside_down(x):
    m, total = in_blocks(x, 16, lambda old, new: np.where(np.isinf(old), 0, np.exp(new - old)))
    return (m + np.log(total))[..., 0]


@wrong_answer(row_softmax, rows, "keeps only the last block's sum", "last_block_only")
def softmax_of_the_last_block(x):
    m, total = in_blocks(x, 16, lambda old, new: np.exp(old - new), start_anew=True)
    return np.exp(x - m) / total


@wrong_answer(row_logsumexp, rows, "adds up whole blocks only", "tail_ignored")
def logsumexp_of_whole_blocks(x):
    return row_logsumexp(x[..., : x.shape[-1] // 16 * 16])


@wrong_answer(row_softmax, rows, "uses the last block's maximum", "maximum_of_one_block")
def softmax_with_the_last_maximum(x):
    _, total = in_blocks(x, 16, lambda old, new: np.exp(old - new))
    return np.exp(x - x[..., (x.shape[-1] - 1) // 16 * 16 :].max(-1, keepdims=True)) / total


@wrong_answer(row_softmax, rows, "counts zeros behind the row", "padding_counted")
def softmax_with_padding(x):
    e = np.exp(np.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, -x.shape[-1] % 128)]))
    return e[..., : x.shape[-1]] / e.sum(-1, keepdims=True)
