"""Plain array functions to mutate, each with random arguments and with functions that could be written in its place."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

FUNCTIONS = []


@dataclass(frozen=True)
class Plain:
    """A right function. instead: (another function, the causes that are literally true of it), in pairs."""

    right: Callable
    inputs: Callable[[np.random.Generator], tuple]
    copies: bool  # elements of the result are elements of an argument
    instead: list = field(default_factory=list)


def plain(inputs, copies=False):
    def enter(function):
        FUNCTIONS.append(Plain(function, inputs, copies))
        return function
    return enter


def instead(causes, function):
    """Enters `function` as another one that could stand where the last plain function stands."""
    FUNCTIONS[-1].instead.append((function, frozenset(causes.split())))


def length(rng, low=12, high=400):
    return int(rng.integers(low, high))


def side(rng):
    return int(rng.integers(6, 40))


def floats(rng, *shape):
    """Random numbers with random mean and spread, one time in five in float64."""
    values = rng.normal(size=shape) * rng.uniform(0.3, 4) + rng.uniform(-3, 3)
    return values.astype(np.float32 if rng.random() < 0.8 else np.float64)


def pair(rng, *shapes):
    """Several arrays of one dtype."""
    first = floats(rng, *shapes[0])
    return (first, *(floats(rng, *shape).astype(first.dtype) for shape in shapes[1:]))


def same_shape(rng):
    shape = (length(rng),) if rng.random() < 0.5 else (side(rng), side(rng))
    return pair(rng, shape, shape)


def matrix(rng):
    n = side(rng)
    return (floats(rng, n, n if rng.random() < 0.4 else side(rng)),)


def vector(rng):
    return (floats(rng, length(rng)),)


@plain(same_shape)
def add(x, y):
    return x + y


instead("", lambda x, y: np.maximum(x, y))
instead("", lambda x, y: x + y * y)
instead("", lambda x, y: np.hypot(x, y))


@plain(same_shape)
def subtract(x, y):
    return x - y


instead("", lambda x, y: np.abs(x - y))
instead("", lambda x, y: x + y)


@plain(same_shape)
def multiply(x, y):
    return x * y


instead("", lambda x, y: x * np.abs(y))
instead("", lambda x, y: x / y)


@plain(lambda rng: (float(rng.uniform(1.2, 4)), *same_shape(rng)))
def saxpy(alpha, x, y):
    return alpha * x + y


instead("", lambda alpha, x, y: alpha * (x + y))
instead("", lambda alpha, x, y: alpha * x - y)


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


@plain(lambda rng: pair(rng, *[(n := side(rng), n)] * 2))
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


@plain(vector)
def prefix_sum(x):
    return np.cumsum(x, dtype=x.dtype)


instead("", lambda x: np.cumsum(x[::-1], dtype=x.dtype)[::-1].copy())
instead("", lambda x: np.maximum.accumulate(x))


@plain(matrix)
def row_sums(x):
    return x.sum(axis=1)


instead("", lambda x: x.max(axis=1))
instead("constant_factor", lambda x: x.mean(axis=1))
instead("float16_precision", lambda x: np.add.reduce(x.T.astype(np.float16), dtype=np.float16).astype(x.dtype))


@plain(lambda rng: pair(rng, (side(rng),), (side(rng),)))
def outer(a, b):
    return a[:, None] * b[None, :]


instead("", lambda a, b: a[:, None] + b[None, :])
instead("", lambda a, b: np.abs(a[:, None]) * b[None, :])


@plain(matrix)
def unit_rows(x):
    return x / np.sqrt((x * x).sum(axis=1, keepdims=True))


instead("", lambda x: x / (x * x).sum(axis=1, keepdims=True))
instead("", lambda x: x / np.abs(x).sum(axis=1, keepdims=True))
instead("constant_factor", lambda x: x / np.sqrt((x * x).mean(axis=1, keepdims=True)))


@plain(lambda rng: (*vector(rng), -0.8, 1.3), copies=True)
def clip(x, low, high):
    return np.clip(x, low, high)


instead("", lambda x, low, high: np.minimum(x, high))
instead("", lambda x, low, high: x.dtype.type(high) * np.tanh(x))
instead("argument_unchanged", lambda x, low, high: x.copy())


@plain(vector, copies=True)
def relu(x):
    return np.maximum(x, 0)


instead("", lambda x: np.abs(x))
instead("argument_unchanged", lambda x: x.copy())
instead("", lambda x: np.log1p(np.exp(x)))


@plain(vector)
def sigmoid(x):
    return 1 / (1 + np.exp(-x))


instead("", lambda x: 1 / (1 + np.exp(x)))
instead("", lambda x: np.tanh(x))
instead("", lambda x: 1 / (1 + np.exp2(-x)))


@plain(vector)
def total(x):
    return x.sum()


instead("", lambda x: x.max())
instead("", lambda x: np.abs(x).sum())
instead("constant_factor", lambda x: x.mean())


@plain(vector)
def variance(x):
    return x.var()


instead("constant_factor", lambda x: x.var(ddof=1))
instead("", lambda x: x.std())
instead("", lambda x: (x * x).mean())


@plain(lambda rng: pair(rng, *[(length(rng),)] * 2))
def dot(x, y):
    return (x * y).sum()


instead("", lambda x, y: (x + y).sum())
instead("", lambda x, y: (x * np.abs(y)).sum())


@plain(lambda rng: (floats(rng, n := side(rng), side(rng)), rng.integers(0, n, side(rng))), copies=True)
def gather(table, ids):
    return table[ids]


instead("", lambda table, ids: table[np.minimum(ids, len(table) // 2)])
instead("", lambda table, ids: table[np.sort(ids)])
instead("", lambda table, ids: table[(ids + 1) % len(table)])


@plain(lambda rng: pair(rng, (side(rng), n := side(rng)), (n,)))
def rms_norm(x, weight):
    return x / np.sqrt((x * x).mean(axis=1, keepdims=True)) * weight


instead("", lambda x, weight: x / (x * x).mean(axis=1, keepdims=True) * weight)
instead("", lambda x, weight: (x - x.mean(axis=1, keepdims=True)) / x.std(axis=1, keepdims=True) * weight)
instead("", lambda x, weight: x / np.sqrt((x * x).mean(axis=1, keepdims=True)) / weight)


@plain(lambda rng: (*vector(rng), int(rng.choice([4, 7, 8, 16]))))
def block_sums(x, block):
    return np.add.reduceat(x, np.arange(0, len(x), block))


instead("", lambda x, block: np.maximum.reduceat(x, np.arange(0, len(x), block)))
instead("", lambda x, block: np.add.reduceat(x * x, np.arange(0, len(x), block)))


@plain(lambda rng: pair(rng, (side(rng), d := side(rng)), (side(rng), d)))
def distances(x, y):
    return ((x[:, None] - y[None]) ** 2).sum(axis=2)


instead("", lambda x, y: np.sqrt(((x[:, None] - y[None]) ** 2).sum(axis=2)))
instead("", lambda x, y: np.abs(x[:, None] - y[None]).sum(axis=2))
instead("", lambda x, y: x @ y.T)


@plain(lambda rng: pair(rng, (length(rng, 30, 200),), (5,)))
def convolve(x, kernel):
    return np.convolve(x, kernel, "same")


instead("", lambda x, kernel: np.convolve(x, kernel[::-1], "same"))
instead("", lambda x, kernel: np.convolve(np.abs(x), kernel, "same"))


@plain(lambda rng: pair(rng, *[(n := side(rng), d := side(rng))] * 3))
def attention(q, k, v):
    scores = q @ k.T / np.sqrt(q.shape[1]).astype(q.dtype)
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True) @ v


instead("", lambda q, k, v: q @ k.T @ v)
instead("", lambda q, k, v: attention(q * np.sqrt(q.shape[1]).astype(q.dtype), k, v))


@plain(matrix)
def row_argmax(x):
    return x.argmax(axis=1)


instead("", lambda x: x.argmin(axis=1))
instead("", lambda x: np.abs(x).argmax(axis=1))


@plain(lambda rng: (*vector(rng), float(rng.uniform(-1, 1))))
def above(x, threshold):
    return x > threshold


instead("", lambda x, threshold: np.abs(x) > threshold)


@plain(lambda rng: tuple(int(n) for n in rng.integers(3, 60, 3)))
def linear_index(row, col, n_cols):
    return row * n_cols + col


instead("", lambda row, col, n_cols: row * (n_cols + 1) + col)
instead("", lambda row, col, n_cols: row + n_cols + col)


@plain(lambda rng: (int(rng.integers(100, 5000)), int(rng.integers(3, 60))))
def blocks_needed(n, block):
    return -(-n // block)


instead("off_by_one", lambda n, block: n // block)
instead("off_by_one", lambda n, block: -(-n // block) + 1)
instead("", lambda n, block: n % block)


@plain(lambda rng: tuple(int(n) for n in rng.integers(3, 90, 3)))
def matmul_flops(m, n, k):
    return 2 * m * n * k


instead("constant_factor", lambda m, n, k: m * n * k)
instead("", lambda m, n, k: m * n * (2 * k - 1))
instead("", lambda m, n, k: 2 * (m * n + n * k + m * k))
