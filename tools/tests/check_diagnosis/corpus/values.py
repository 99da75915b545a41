"""Mistakes about values: factors, signs, offsets, precision, NaN and infinity."""

import numpy as np

from tools.tests.check_diagnosis.corpus import numbers, wrong_answer


def column_means(x):
    return x.sum(axis=0) / np.asarray(len(x), x.dtype)


@wrong_answer(column_means, lambda rng: (numbers(rng, 40, 9),), "divides by n - 1", "constant_factor")
def column_means_over_n_minus_one(x):
    return x.sum(axis=0) / np.asarray(len(x) - 1, x.dtype)


def mean(x):
    return x.sum() / x.dtype.type(len(x))


@wrong_answer(mean, lambda rng: (numbers(rng, 200),), "divides by n - 1", "constant_factor")
def mean_over_n_minus_one(x):
    return x.sum() / x.dtype.type(len(x) - 1)


def energy(x):
    return x.dtype.type(0.5) * x * x


@wrong_answer(energy, lambda rng: (numbers(rng, 70),), "drops the half", "constant_factor")
def energy_without_the_half(x):
    return x * x


def log_loss(p):
    return -np.log(p)


@wrong_answer(log_loss, lambda rng: (rng.uniform(0.05, 0.95, 80).astype(np.float32),), "drops the minus", "wrong_sign")
def log_loss_without_the_minus(p):
    return np.log(p)


def fahrenheit(celsius):
    return celsius * celsius.dtype.type(1.8) + celsius.dtype.type(32)


@wrong_answer(fahrenheit, lambda rng: (numbers(rng, 55),), "forgets the 32", "constant_offset")
def fahrenheit_without_the_32(celsius):
    return celsius * celsius.dtype.type(1.8)


def inside(x, low, high):
    return (low <= x) & (x < high)


@wrong_answer(inside, lambda rng: (numbers(rng, 200), -1.0, 1.5), "marks what lies outside", "inverted")
def outside(x, low, high):
    return (x < low) | (x >= high)


def row_dots(a, b):
    return (a * b).sum(axis=1)


@wrong_answer(
    row_dots, lambda rng: (numbers(rng, 30, 64), numbers(rng, 30, 64)), "accumulates in float16", "float16_precision"
)
def row_dots_in_float16(a, b):
    sums = np.zeros(len(a), np.float16)
    for k in range(a.shape[1]):
        sums += a[:, k].astype(np.float16) * b[:, k].astype(np.float16)
    return sums.astype(a.dtype)


def keep_bits(x, bits):
    """float32 numbers rounded to `bits` significant bits (8: bfloat16, 11: tf32)."""
    drop = 24 - bits
    raw = x.astype(np.float32).view(np.uint32) + np.uint32(1 << (drop - 1))
    return (raw & np.uint32(0xFFFFFFFF << drop & 0xFFFFFFFF)).view(np.float32)


def gram(x):
    return x.T @ x


@wrong_answer(gram, lambda rng: (numbers(rng, 200, 12),), "lets the tensor cores round to tf32", "tf32_precision")
def gram_in_tf32(x):
    rounded = keep_bits(x, 11)
    return rounded.T @ rounded


def rms_norm(x):
    return x / np.sqrt((x * x).mean(axis=1, keepdims=True))


@wrong_answer(
    rms_norm, lambda rng: (numbers(rng, 20, 48),), "stores the result as bfloat16 on the way", "bfloat16_precision"
)
def rms_norm_through_bfloat16(x):
    return keep_bits(x / np.sqrt((x * x).mean(axis=1, keepdims=True)), 8)


@wrong_answer(
    rms_norm, lambda rng: (numbers(rng, 20, 48, dtype=np.float64),), "computes in float32", "float32_precision"
)
def rms_norm_through_float32(x):
    narrow = x.astype(np.float32)
    return (narrow / np.sqrt((narrow * narrow).mean(axis=1, keepdims=True))).astype(x.dtype)


def with_nan(rng, *shape):
    x = numbers(rng, *shape)
    x.flat[::9] = np.nan
    return x


def clip(x, low, high):
    return np.clip(x, low, high)


@wrong_answer(clip, lambda rng: (with_nan(rng, 64), -1.0, 1.0), "turns NaN into a bound", "lost_nan")
def clips_nan_too(x, low, high):
    return np.fmin(np.fmax(x, x.dtype.type(low)), x.dtype.type(high))


def relu(x):
    return np.maximum(x, 0)


@wrong_answer(relu, lambda rng: (with_nan(rng, 10, 10),), "NaN is not > 0, so it becomes 0", "lost_nan")
def relu_hides_nan(x):
    return np.where(x > 0, x, x.dtype.type(0))


def softmax(x):
    weights = np.exp(x - x.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


def some_large_rows(rng):
    x = numbers(rng, 12, 20)
    x[3:6] += 200
    return (x,)


@wrong_answer(softmax, some_large_rows, "does not subtract the maximum", "maximum_not_subtracted")
def softmax_overflows(x):
    weights = np.exp(x)
    return weights / weights.sum(axis=1, keepdims=True)


def logsumexp(x):
    largest = x.max(axis=1)
    return largest + np.log(np.exp(x - largest[:, None]).sum(axis=1))


@wrong_answer(logsumexp, some_large_rows, "does not subtract the maximum", "maximum_not_subtracted")
def logsumexp_overflows(x):
    return np.log(np.exp(x).sum(axis=1))


def requests_and_sectors(n):
    return 3 * n, 12 * n


@wrong_answer(requests_and_sectors, lambda rng: (96,), "forgets one of three arrays", "constant_factor")
def requests_and_sectors_of_two_arrays(n):
    return 2 * n, 8 * n


def bytes_of(rows, cols, itemsize):
    return rows * cols * itemsize


def bytes_moved(n):
    return 3 * 4 * n


@wrong_answer(bytes_moved, lambda rng: (4999,), "counts the last block as full", "whole_blocks")
def bytes_moved_in_whole_blocks(n):
    return 3 * 4 * 1024 * -(-n // 1024)


@wrong_answer(bytes_of, lambda rng: (5, 7, 2), "takes float64 for every dtype", "unused_argument")
def bytes_in_float64(rows, cols, itemsize):
    return rows * cols * 8


def costs(m, n, k):
    """Products, bytes of a and b, bytes of the result, and sectors of these."""
    return m * n * k, 4 * (m + n) * k, 4 * m * n, m * n // 8


@wrong_answer(costs, lambda rng: (48, 24, 40), "takes bfloat16 for the result alone", "constant_factor")
def costs_of_a_short_result(m, n, k):
    return m * n * k, 4 * (m + n) * k, 2 * m * n, m * n // 8


def shrunk(x, by):
    return x * np.exp(-by * np.arange(len(x), dtype=x.dtype) / len(x))


@wrong_answer(shrunk, lambda rng: (numbers(rng, 60), 0.7), "drops the minus of the exponent", "negated_argument")
def grown(x, by):
    return x * np.exp(by * np.arange(len(x), dtype=x.dtype) / len(x))


def distances(x):
    return np.abs(x - x.mean())


@wrong_answer(distances, lambda rng: (numbers(rng, 50),), "gives the mean distance to every element", "all_the_same")
def the_mean_distance(x):
    return np.full_like(x, np.abs(x - x.mean()).mean())


def speedup(serial, workers):
    return 1 / (serial + (1 - serial) / workers)


@wrong_answer(speedup, lambda rng: (0.1, 4.0), "gives the share of the time that is left", "power")
def time_left(serial, workers):
    return serial + (1 - serial) / workers


def lengths(x):
    return np.sqrt((x * x).sum(axis=1))


@wrong_answer(lengths, lambda rng: (numbers(rng, 20, 3),), "forgets the root", "power")
def squared_lengths(x):
    return (x * x).sum(axis=1)


def spread(x):
    return np.sqrt((x * x).mean(axis=1))


@wrong_answer(spread, lambda rng: (numbers(rng, 12, 8),), "halves what is below the root", "constant_factor")
def spread_of_half(x):
    return np.sqrt((x * x).mean(axis=1) / 2)


def products(m, n):
    return m.astype(np.int64) * n


@wrong_answer(
    products,
    lambda rng: (rng.integers(10**5, 10**6, 9, np.int32), rng.integers(10**5, 10**6, 9, np.int32)),
    "multiplies in 32 bits",
    "wrapped_around",
)
def products_in_32_bits(m, n):
    return (m * n).astype(np.int64)


def bytes_moved(m, n, itemsize):
    return (m * n + m + n) * itemsize


@wrong_answer(bytes_moved, lambda rng: (*map(int, rng.integers(20, 90, 2)), 8), "counts elements", "unused_argument")
def elements_moved(m, n, itemsize):
    return m * n + m + n


def ones_after_many(x):
    return x.sum(dtype=np.float64).astype(x.dtype)


@wrong_answer(
    ones_after_many,
    lambda rng: (np.r_[2048, np.ones(300)].astype(np.float16),),
    "adds each to a sum that is too large for it",
    "ones_lost",
)
def ones_that_are_lost(x):
    total = x.dtype.type(0)
    for value in x:
        total += value
    return total


def gigabytes(x):
    return x / 1e9


@wrong_answer(gigabytes, lambda rng: (numbers(rng, 30, dtype=np.float64) * 1e9,), "divides by 2**30", "constant_factor")
def gibibytes(x):
    return x / 2**30


def eighths_of_a_root(x):
    return x * x.dtype.type(8**-0.5)


@wrong_answer(
    eighths_of_a_root, lambda rng: (numbers(rng, 90, dtype=np.float64),), "rounds the factor", "constant_factor"
)
def eighths_of_a_root_in_float32(x):
    return x * float(np.float32(8**-0.5))
