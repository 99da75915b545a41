"""Functions of rows and columns."""

import numpy as np

from tools.tests.check_diagnosis.functions import floats, instead, matrix, pair, plain, side


def linear_inputs(rng):
    m, k, n = side(rng), side(rng), side(rng)
    return pair(rng, (m, k), (k, n), (n,))


@plain(linear_inputs)
def linear(x, weight, bias):
    return x @ weight + bias


instead("", lambda x, weight, bias: np.maximum(x @ weight, 0) + bias)
instead("", lambda x, weight, bias: x @ weight - bias)


@plain(lambda rng: linear_inputs(rng)[:2])
def matmul(a, b):
    return a @ b


instead("", lambda a, b: a @ np.abs(b))
instead("", lambda a, b: (a[:, :, None] * b[None]).max(axis=1))


def two_squares(rng):
    n = side(rng)
    return pair(rng, (n, n), (n, n))


@plain(two_squares)
def square_matmul(a, b):
    return a @ b


instead("", lambda a, b: a * b)
instead("transposed", lambda a, b: b.T @ a.T)


@plain(matrix)
def softmax(x):
    weights = np.exp(x - x.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


instead("", lambda x: np.exp(x - x.max(axis=1, keepdims=True)))
instead("", lambda x: np.exp2(x) / np.exp2(x).sum(axis=1, keepdims=True))
instead("", lambda x: np.exp(x) / np.exp(x).sum())


@plain(matrix)
def unit_rows(x):
    return x / np.sqrt((x * x).sum(axis=1, keepdims=True))


instead("", lambda x: x / (x * x).sum(axis=1, keepdims=True))
instead("", lambda x: x / np.abs(x).sum(axis=1, keepdims=True))
instead("constant_factor", lambda x: x / np.sqrt((x * x).mean(axis=1, keepdims=True)))


@plain(lambda rng: pair(rng, (side(rng), n := side(rng)), (n,)))
def rms_norm(x, weight):
    return x / np.sqrt((x * x).mean(axis=1, keepdims=True)) * weight


instead("", lambda x, weight: x / (x * x).mean(axis=1, keepdims=True) * weight)
instead("", lambda x, weight: (x - x.mean(axis=1, keepdims=True)) / x.std(axis=1, keepdims=True) * weight)
instead("", lambda x, weight: x / np.sqrt((x * x).mean(axis=1, keepdims=True)) / weight)


@plain(lambda rng: pair(rng, (side(rng), d := side(rng)), (side(rng), d)))
def distances(x, y):
    return ((x[:, None] - y[None]) ** 2).sum(axis=2)


instead("", lambda x, y: np.sqrt(((x[:, None] - y[None]) ** 2).sum(axis=2)))
instead("", lambda x, y: np.abs(x[:, None] - y[None]).sum(axis=2))
instead("", lambda x, y: x @ y.T)


@plain(lambda rng: pair(rng, *[(side(rng), side(rng))] * 3))
def attention(q, k, v):
    scores = q @ k.T / np.sqrt(q.shape[1]).astype(q.dtype)
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True) @ v


instead("", lambda q, k, v: q @ k.T @ v)
instead("", lambda q, k, v: attention(q * np.sqrt(q.shape[1]).astype(q.dtype), k, v))


@plain(lambda rng: (floats(rng, n := side(rng), side(rng)), rng.integers(0, n, side(rng))), copies=True)
def gather(table, ids):
    return table[ids]


instead("", lambda table, ids: table[np.minimum(ids, len(table) // 2)])
instead("", lambda table, ids: table[np.sort(ids)])
instead("", lambda table, ids: table[(ids + 1) % len(table)])
