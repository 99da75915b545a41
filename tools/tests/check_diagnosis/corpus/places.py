"""Mistakes about which elements: tails, heads, blocks, results that were never stored."""

import numpy as np

from tools.tests.check_diagnosis.corpus import numbers, wrong_answer


def block_sums(x, block):
    return np.array([x[start : start + block].sum() for start in range(0, len(x), block)], x.dtype)


@wrong_answer(block_sums, lambda rng: (numbers(rng, 1000), 64), "stops before the ragged last block", "tail_wrong")
def forgets_the_ragged_block(x, block):
    sums = np.zeros(-(-len(x) // block), x.dtype)
    for i in range(len(x) // block):
        sums[i] = x[i * block : (i + 1) * block].sum()
    return sums


def differences(x):
    return x[1:] - x[:-1]


@wrong_answer(differences, lambda rng: (numbers(rng, 50),), "the loop ends one element early", "tail_wrong")
def misses_the_last_difference(x):
    result = np.zeros(len(x) - 1, x.dtype)
    for i in range(len(x) - 2):
        result[i] = x[i + 1] - x[i]
    return result


def square(x, out=None):
    return np.multiply(x, x, out=out)


@wrong_answer(square, lambda rng: (numbers(rng, 512),), "steps by two blocks", "partly_written every_kth_block")
def squares_the_even_blocks(x, out=None):
    out = np.empty_like(x) if out is None else out
    for start in range(0, len(x), 128):
        out[start : start + 64] = x[start : start + 64] ** 2
    return out


@wrong_answer(square, lambda rng: (numbers(rng, 100),), "computes, but never stores into out", "nothing_written")
def squares_into_a_local(x, out=None):
    out = np.empty_like(x) if out is None else out
    result = x * x  # noqa: F841  (the mistake)
    return out


@wrong_answer(
    square, lambda rng: (numbers(rng, 1025),), "rounds the number of blocks down", "partly_written tail_wrong"
)
def squares_whole_blocks(x, out=None):
    out = np.empty_like(x) if out is None else out
    whole = len(x) // 256 * 256
    out[:whole] = x[:whole] ** 2
    return out


@wrong_answer(square, lambda rng: (numbers(rng, 60),), "counts from one", "head_wrong partly_written")
def squares_from_the_second(x, out=None):
    out = np.zeros_like(x) if out is None else out
    for i in range(1, len(x)):
        out[i] = x[i] * x[i]
    return out


def absolute(x):
    return np.abs(x)


@wrong_answer(absolute, lambda rng: (numbers(rng, 20, 30),), "the result never leaves a local name", "all_zeros")
def absolute_kept_local(x):
    result = np.zeros_like(x)
    for row in result:
        row = np.abs(x)  # noqa: F841  (the mistake: binds a name, stores nothing)
    return result


@wrong_answer(
    absolute, lambda rng: (numbers(rng, 1000),), "every block reads the first block", "block_repeated only_first_block"
)
def absolute_of_the_first_block(x):
    result = np.empty_like(x)
    for start in range(0, len(x), 128):
        stop = min(start + 128, len(x))
        result[start:stop] = np.abs(x[: stop - start])
    return result


@wrong_answer(
    absolute, lambda rng: (numbers(rng, 10, 7),), "clamps the row index, so the last rows repeat", "tail_wrong"
)
def absolute_repeats_a_row(x):
    return np.abs(x[np.minimum(np.arange(len(x)), len(x) - 3)])


def tile_products(a, b):
    return a * b


@wrong_answer(
    tile_products,
    lambda rng: (numbers(rng, 20, 37), numbers(rng, 20, 37)),
    "covers the columns with whole tiles of 16 only",
    "tail_wrong columns_wrong",
)
def tiles_without_the_ragged_columns(a, b):
    result = np.zeros_like(a)
    result[:, :32] = a[:, :32] * b[:, :32]
    return result
