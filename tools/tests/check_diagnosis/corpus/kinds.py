"""Mistakes about what comes back: its type, dtype, shape, whose memory it is, the same twice or not."""

import numpy as np

from tools.tests.check_diagnosis.corpus import numbers, wrong_answer


def double(x):
    return x + x


@wrong_answer(double, lambda rng: (numbers(rng, 30),), "gives a list", "wrong_type")
def doubles_into_a_list(x):
    return [value + value for value in x]


@wrong_answer(double, lambda rng: (numbers(rng, 30),), "lets np.zeros choose the dtype", "wrong_dtype")
def doubles_into_float64(x):
    result = np.zeros(x.shape)
    result[:] = x + x
    return result


@wrong_answer(double, lambda rng: (numbers(rng, 30),), "forgets the return", "nothing_returned")
def doubles_without_return(x):
    result = x + x  # noqa: F841  (the mistake)


@wrong_answer(double, lambda rng: (numbers(rng, 30),), "adds into its argument", "input_modified returns_its_input")
def doubles_in_place(x):
    x += x
    return x


@wrong_answer(double, lambda rng: (numbers(rng, 30),), "uses its argument as scratch space", "input_modified")
def doubles_through_its_argument(x):
    x += x
    return x.copy()


UNINITIALISED = np.random.default_rng(20240229)  # stands in for memory that nobody wrote


@wrong_answer(double, lambda rng: (numbers(rng, 30),), "reads memory before it is written", "differs_between_runs")
def doubles_on_top_of_garbage(x):
    return (x + x + UNINITIALISED.normal(size=x.shape)).astype(x.dtype)


def row_max(x):
    return x.max(axis=1)


@wrong_answer(row_max, lambda rng: (numbers(rng, 9, 14),), "keeps the axis", "reshaped")
def row_max_keeps_the_axis(x):
    return x.max(axis=1, keepdims=True)


def share_of(part, whole):
    return 100 * part / whole


@wrong_answer(share_of, lambda rng: (17, 40), "divides with //", "rounded_down")
def share_without_its_fraction(part, whole):
    return float(100 * part // whole)


@wrong_answer(share_of, lambda rng: (17, 40), "divides with //, and gives an int", "rounded_down")
def whole_share(part, whole):
    return 100 * part // whole


def longest_of(times) -> float:
    return max(times, default=0.0)


@wrong_answer(longest_of, lambda rng: ([],), "begins with the int 0", "an_int")
def longest_from_an_int(times) -> float:
    return max(times, default=0)


def report_of(n, nbytes):
    return {"n": n, "mib": nbytes / 2**20, "squares": [k * k for k in range(4)]}


@wrong_answer(report_of, lambda rng: (3, 2**21), "divides one entry with //", "rounded_down")
def report_in_whole_mib(n, nbytes):
    return {"n": n, "mib": nbytes // 2**20, "squares": [k * k for k in range(4)]}


def places(n, block):
    return [min(start, n) for start in range(0, n + block, block)]


@wrong_answer(places, lambda rng: (50, 16), "gives where blocks begin, without the end", "another_length")
def places_without_the_end(n, block):
    return list(range(0, n, block))


def count_positive(x):
    return int((x > 0).sum())


@wrong_answer(count_positive, lambda rng: (numbers(rng, 50),), "counts in floating point", "wrong_type")
def counts_in_float(x):
    return float((x > 0).sum())


def rectify(x):
    return np.maximum(x, 0)


@wrong_answer(
    rectify, lambda rng: (np.abs(numbers(rng, 40)),), "hands x back when nothing is negative", "returns_its_input"
)
def hands_x_back(x):
    return x if (x >= 0).all() else np.maximum(x, 0)


def bytes_of_tiles(m, n, k, tile):
    return 4 * (-(-m // tile) * n * k + -(-n // tile) * m * k + m * n)


@wrong_answer(bytes_of_tiles, lambda rng: (33, 70, 20, 32), "exchanges two lengths", "lengths_mixed_up")
def bytes_of_the_other_tiles(m, n, k, tile):
    return 4 * (-(-n // tile) * n * k + -(-m // tile) * m * k + m * n)


def bytes_of_rows(rows, n, itemsize):
    return rows * (8 * n + 4) * itemsize


@wrong_answer(bytes_of_rows, lambda rng: (3, 100, 2), "counts what a mask leaves out", "next_power_of_two")
def bytes_of_whole_blocks(rows, n, itemsize):
    return bytes_of_rows(rows, 1 << (n - 1).bit_length(), itemsize)


@wrong_answer(bytes_of_tiles, lambda rng: (33, 70, 20, 32), "forgets the rest after whole tiles", "left_after_blocks")
def bytes_of_whole_tiles(m, n, k, tile):
    return 4 * (m // tile * n * k + n // tile * m * k + m * n)
