"""Mistakes in layer norm and RMS norm, and in dropout."""

import numpy as np

from tools.tests.check_diagnosis.corpus import numbers, wrong_answer

EPS = np.float32(1e-5)


def normed(x, center, spread):
    return (x - center) / np.sqrt(spread + EPS)


def mean(x):
    return x.mean(-1, keepdims=True)


def variance(x):
    return ((x - mean(x)) ** 2).mean(-1, keepdims=True)


def layernorm(x, weight, bias):
    return normed(x, mean(x), variance(x)) * weight + bias


def rmsnorm(x, weight):
    return normed(x, 0, mean(x * x)) * weight


def careful_layernorm(x, weight, bias):
    return layernorm(*(each.astype(np.float64) for each in (x, weight, bias))).astype(x.dtype)


def layer(rng):
    shape = (6, 20) if rng.random() < 0.5 else (2, 3, 50)
    return numbers(rng, *shape), numbers(rng, shape[-1]), numbers(rng, shape[-1])


def rms(rng):
    return layer(rng)[:2]


def small_layer(rng):
    x, weight, bias = layer(rng)
    return x * np.float32(5e-3), weight, bias


def far_layer(rng):
    """Rows whose mean is many times their deviation."""
    x, weight, bias = layer(rng)
    return rng.normal(50, 1, x.shape).astype(np.float32), weight, bias


@wrong_answer(layernorm, small_layer, "forgets eps", "eps_forgotten")
def layernorm_without_eps(x, weight, bias):
    return (x - mean(x)) / np.sqrt(variance(x)) * weight + bias


@wrong_answer(layernorm, small_layer, "adds eps to the root", "eps_outside")
def layernorm_with_eps_outside(x, weight, bias):
    return (x - mean(x)) / (np.sqrt(variance(x)) + EPS) * weight + bias


@wrong_answer(layernorm, layer, "does not subtract the mean", "mean_not_subtracted")
def layernorm_not_centred(x, weight, bias):
    return normed(x, 0, variance(x)) * weight + bias


@wrong_answer(layernorm, layer, "divides by n - 1", "divided_by_n_minus_one")
def layernorm_over_n_minus_one(x, weight, bias):
    return normed(x, mean(x), variance(x) * x.shape[-1] / np.float32(x.shape[-1] - 1)) * weight + bias


@wrong_answer(layernorm, layer, "counts the padding in the variance", "padding_counted")
def layernorm_with_padding(x, weight, bias):
    padding = (64 - x.shape[-1]) * mean(x) ** 2 / np.float32(x.shape[-1])
    return normed(x, mean(x), variance(x) + padding) * weight + bias


@wrong_answer(layernorm, layer, "divides by the block", "divided_by_block")
def layernorm_over_the_block(x, weight, bias):
    own = x.sum(-1, keepdims=True) / np.float32(64)
    return normed(x, own, ((x - own) ** 2).sum(-1, keepdims=True) / np.float32(64)) * weight + bias


@wrong_answer(careful_layernorm, far_layer, "computes E[x^2] - mean^2", "cancelled")
def layernorm_by_two_sums(x, weight, bias):
    spread = (x * x).sum(-1, keepdims=True) / np.float32(x.shape[-1]) - mean(x) ** 2
    return normed(x, mean(x), spread) * weight + bias


@wrong_answer(layernorm, layer, "applies the weight first", "weight_first")
def layernorm_of_weighted(x, weight, bias):
    return normed(x * weight, mean(x * weight), variance(x * weight)) + bias


@wrong_answer(layernorm, layer, "adds the bias first", "bias_first")
def layernorm_bias_first(x, weight, bias):
    return (normed(x, mean(x), variance(x)) + bias) * weight


@wrong_answer(layernorm, layer, "normalises another axis", "normed_along_other_axis")
def layernorm_of_columns(x, weight, bias):
    return normed(x, x.mean(-2, keepdims=True), x.var(-2, keepdims=True)) * weight + bias


@wrong_answer(layernorm, layer, "normalises all elements together", "normed_over_all")
def layernorm_of_all(x, weight, bias):
    return normed(x, x.mean(), x.var()) * weight + bias


@wrong_answer(layernorm, layer, "is an RMS norm", "rms_for_deviation")
def layernorm_by_rms(x, weight, bias):
    return normed(x, 0, mean(x * x)) * weight + bias


@wrong_answer(rmsnorm, rms, "is a layer norm", "deviation_for_rms")
def rmsnorm_by_deviation(x, weight):
    return normed(x, mean(x), variance(x)) * weight


@wrong_answer(rmsnorm, rms, "forgets the root", "no_root")
def rmsnorm_without_root(x, weight):
    return x / (mean(x * x) + EPS) * weight


@wrong_answer(rmsnorm, rms, "forgets the weight", "weight_forgotten")
def rmsnorm_without_weight(x, weight):
    return normed(x, 0, mean(x * x))


# Dropout --------------------------------------------------------------------------------------------------


def random_numbers(x, seed, start=0):
    """A number in [0, 1) for each element, of its position and the seed alone."""
    i = np.arange(start, start + x.size, dtype=np.uint64) * np.uint64(2654435761) + np.uint64(seed * 97 + 13)
    i ^= i >> np.uint64(17)
    i = i * np.uint64(0x9E3779B97F4A7C15)
    return ((i >> np.uint64(40)).astype(np.float64) / 2**24).reshape(x.shape)


def dropout(x, p, seed):
    return np.where(random_numbers(x, seed) >= p, x / x.dtype.type(1 - p), x.dtype.type(0))


def dropped(rng):
    shape = (300,) if rng.random() < 0.5 else (9, 64)
    return numbers(rng, *shape), float(rng.choice([0.1, 0.25, 0.3])), int(rng.integers(1, 1000))


@wrong_answer(dropout, dropped, "does not scale", "not_scaled")
def dropout_not_scaled(x, p, seed):
    return np.where(random_numbers(x, seed) >= p, x, x.dtype.type(0))


@wrong_answer(dropout, dropped, "multiplies by 1 - p", "scaled_upside_down")
def dropout_scaled_upside_down(x, p, seed):
    return np.where(random_numbers(x, seed) >= p, x * x.dtype.type(1 - p), x.dtype.type(0))


@wrong_answer(dropout, dropped, "keeps what it should drop", "kept_and_dropped_exchanged")
def dropout_the_other_way_round(x, p, seed):
    return np.where(random_numbers(x, seed) < p, x / x.dtype.type(1 - p), x.dtype.type(0))


@wrong_answer(dropout, dropped, "keeps with probability p", "p_for_keep")
def dropout_of_too_many(x, p, seed):
    return np.where(random_numbers(x, seed) >= 1 - p, x / x.dtype.type(1 - p), x.dtype.type(0))


@wrong_answer(dropout, dropped, "draws the same numbers for every block", "same_mask_in_every_block")
def dropout_alike_in_every_block(x, p, seed):
    numbers = np.resize(random_numbers(x, seed).reshape(-1)[:64], x.size).reshape(x.shape)
    return np.where(numbers >= p, x / x.dtype.type(1 - p), x.dtype.type(0))


@wrong_answer(dropout, dropped, "begins at offset 1", "mask_shifted")
def dropout_from_offset_one(x, p, seed):
    return np.where(random_numbers(x, seed, 1) >= p, x / x.dtype.type(1 - p), x.dtype.type(0))


@wrong_answer(dropout, dropped, "uses another seed", "another_mask")
def dropout_of_another_seed(x, p, seed):
    return np.where(random_numbers(x, seed + 1) >= p, x / x.dtype.type(1 - p), x.dtype.type(0))
