"""Mistakes about order: shifted, reversed, counted from one, results exchanged, sums carried along."""

import numpy as np

from tools.tests.check_diagnosis.corpus import numbers, wrong_answer


def prefix_sum(x):
    return np.cumsum(x, dtype=x.dtype)


@wrong_answer(prefix_sum, lambda rng: (numbers(rng, 100),), "exclusive where inclusive is wanted", "shifted")
def exclusive_prefix_sum(x):
    result = np.zeros_like(x)
    result[1:] = np.cumsum(x[:-1])
    return result


def window_sums(x, width):
    return np.array([x[i : i + width].sum() for i in range(len(x) - width + 1)], x.dtype)


@wrong_answer(window_sums, lambda rng: (numbers(rng, 90), 4), "each window starts one element late", "shifted")
def late_windows(x, width):
    return np.array([x[i + 1 : i + width + 1].sum() for i in range(len(x) - width + 1)], x.dtype)


def ascending(x):
    return np.sort(x)


@wrong_answer(ascending, lambda rng: (numbers(rng, 64),), "sorts downwards", "reversed")
def descending(x):
    return np.sort(x)[::-1].copy()


def row_sums(x):
    return x.sum(axis=1)


@wrong_answer(
    row_sums, lambda rng: (numbers(rng, 12, 30),), "sets the accumulator to zero once, before the rows", "not_reset"
)
def row_sums_without_reset(x):
    sums, total = np.empty(len(x), x.dtype), x.dtype.type(0)
    for i, row in enumerate(x):
        for value in row:
            total += value
        sums[i] = total
    return sums


def products(a, b):
    return a @ b


@wrong_answer(
    products,
    lambda rng: (numbers(rng, 6, 40), numbers(rng, 40, 5)),
    "tiles of 32, the last of which is cut off and keeps what the one before left",
    "tile_left_over",
)
def products_of_tiles_that_are_not_cleared(a, b):
    result = np.zeros((a.shape[0], b.shape[1]), a.dtype)
    a_tile, b_tile = np.zeros((a.shape[0], 32), a.dtype), np.zeros((32, b.shape[1]), b.dtype)
    for start in range(0, a.shape[1], 32):
        a_part, b_part = a[:, start : start + 32], b[start : start + 32]
        a_tile[:, : a_part.shape[1]], b_tile[: len(b_part)] = a_part, b_part
        result += a_tile @ b_tile
    return result


@wrong_answer(
    products,
    lambda rng: (numbers(rng, 6, 8), numbers(rng, 8, 5)),
    "the accumulator is reset for each row, not for each element",
    "not_reset",
)
def products_reset_by_row(a, b):
    result = np.empty((a.shape[0], b.shape[1]), a.dtype)
    for i in range(a.shape[0]):
        total = 0.0
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                total += float(a[i, k]) * float(b[k, j])
            result[i, j] = total
    return result


def linear_index(row, col, n_cols):
    return row * n_cols + col


@wrong_answer(linear_index, lambda rng: (7, 4, 15), "counts from one", "off_by_one")
def linear_index_from_one(row, col, n_cols):
    return row * n_cols + col + 1


@wrong_answer(linear_index, lambda rng: (7, 4, 15), "counts down the columns", "swapped_arguments")
def linear_index_by_column(row, col, n_cols):
    return col * n_cols + row


def blocks_needed(n, block):
    return -(-n // block)


@wrong_answer(blocks_needed, lambda rng: (1025, 64), "rounds down", "off_by_one")
def whole_blocks(n, block):
    return n // block


def coordinate(index, n_cols):
    return divmod(index, n_cols)


@wrong_answer(coordinate, lambda rng: (38, 7), "gives the column first", "exchanged_pair")
def column_and_row(index, n_cols):
    return index % n_cols, index // n_cols


def number_of_thread(thread, block):
    x, y, z = thread
    return divmod(x + block[0] * (y + block[1] * z), 32)


@wrong_answer(number_of_thread, lambda rng: ((3, 2, 0), (16, 4, 1)), "counts z fastest", "reversed_tuples")
def number_from_the_end(thread, block):
    x, y, z = thread
    return divmod(z + block[2] * (y + block[1] * x), 32)


@wrong_answer(number_of_thread, lambda rng: ((3, 2, 0), (16, 4, 1)), "gives the lane first", "exchanged_pair")
def lane_and_warp(thread, block):
    return number_of_thread(thread, block)[::-1]


def ranks(x):
    return np.argsort(np.argsort(x))


@wrong_answer(ranks, lambda rng: (numbers(rng, 33),), "ranks from one", "off_by_one constant_offset")
def ranks_from_one(x):
    return np.argsort(np.argsort(x)) + 1


def rotated(x):
    return np.roll(x, 3)


@wrong_answer(
    rotated,
    lambda rng: (rng.permutation(400).astype(np.float32) + 0.5,),
    "scatters by a table that is not the right one",
    "wrong_places",
)
def rotated_by_a_table(x):
    table = np.random.default_rng(2).permutation(len(x))
    return np.roll(x, 3)[table]
