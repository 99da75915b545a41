"""Mistakes about arguments: exchanged, read twice, forgotten, transposed, reduced along the wrong axis."""

import numpy as np

from tools.tests.check_diagnosis.corpus import numbers, wrong_answer


def saxpy(alpha, x, y):
    return alpha * x + y


@wrong_answer(
    saxpy, lambda rng: (2.5, numbers(rng, 257), numbers(rng, 257)), "scales y instead of x", "swapped_arguments"
)
def scales_the_other_vector(alpha, x, y):
    return alpha * y + x


def add(x, y):
    return x + y


@wrong_answer(
    add, lambda rng: (numbers(rng, 300), numbers(rng, 300)), "copy and paste: reads x twice", "repeated_argument"
)
def adds_x_to_itself(x, y):
    return x + x


@wrong_answer(
    add,
    lambda rng: (numbers(rng, 300), numbers(rng, 300)),
    "returns a copy of the first argument",
    "argument_unchanged unused_argument",
)
def copies_x(x, y):
    return x.copy()


def linear(x, weight, bias):
    return x @ weight + bias


@wrong_answer(
    linear,
    lambda rng: (numbers(rng, 9, 16), numbers(rng, 16, 7), numbers(rng, 7)),
    "forgets the bias",
    "unused_argument",
)
def forgets_the_bias(x, weight, bias):
    return x @ weight


def leaky_relu(x, slope):
    return np.where(x > 0, x, slope * x)


@wrong_answer(leaky_relu, lambda rng: (numbers(rng, 40, 12), 0.3), "wires the usual slope in", "unused_argument")
def wires_the_slope_in(x, slope):
    return np.where(x > 0, x, x.dtype.type(0.01) * x)


def project(x, weight):
    return x @ weight.T


@wrong_answer(
    project,
    lambda rng: (numbers(rng, 6, 11), numbers(rng, 11, 11)),
    "takes weight as stored, not transposed",
    "argument_transposed",
)
def projects_untransposed(x, weight):
    return x @ weight


def outer(a, b):
    return a[:, None] * b[None, :]


@wrong_answer(
    outer, lambda rng: (numbers(rng, 5), numbers(rng, 8)), "rows from b, columns from a", "swapped_arguments transposed"
)
def outer_of_b_and_a(a, b):
    return b[:, None] * a[None, :]


def scores(q, k):
    return q @ k.T


@wrong_answer(
    scores,
    lambda rng: (numbers(rng, 12, 4), numbers(rng, 12, 4)),
    "one row per key instead of one per query",
    "transposed swapped_arguments",
)
def scores_by_key(q, k):
    return k @ q.T


def softmax(x):
    weights = np.exp(x - x.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


@wrong_answer(softmax, lambda rng: (numbers(rng, 8, 13),), "normalises down the columns", "softmax_along_other_axis")
def softmax_of_columns(x):
    weights = np.exp(x - x.max(axis=0, keepdims=True))
    return weights / weights.sum(axis=0, keepdims=True)


def unit_rows(x):
    return x / np.sqrt((x * x).sum(axis=1, keepdims=True))


@wrong_answer(unit_rows, lambda rng: (numbers(rng, 10, 10),), "takes the length of the columns", "wrong_axis")
def unit_columns(x):
    return x / np.sqrt((x * x).sum(axis=0, keepdims=True))


def row_means(x):
    return x.mean(axis=1)


@wrong_answer(row_means, lambda rng: (numbers(rng, 14, 9),), "means of the columns", "wrong_axis wrong_shape")
def column_means(x):
    return x.mean(axis=0)


def total(x):
    return x.sum()


@wrong_answer(
    total, lambda rng: (numbers(rng, 1000),), "sums whole blocks of 64 and forgets the ragged tail", "tail_ignored"
)
def total_of_whole_blocks(x):
    return x[: len(x) // 64 * 64].sum()


@wrong_answer(total, lambda rng: (numbers(rng, 100),), "starts anew with each block of 32", "head_forgotten")
def total_of_the_last_block(x):
    return x[96:].sum()


@wrong_answer(total, lambda rng: (numbers(rng, 77),), "begins at the second element", "head_ignored")
def total_without_the_first(x):
    return x[1:].sum()
