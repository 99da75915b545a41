"""Functions of one element at a time."""

import numpy as np

from tools.tests.check_diagnosis.functions import instead, pair, plain, same_shape, side, vector


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


@plain(lambda rng: (*vector(rng), float(rng.uniform(-1, 1))))
def above(x, threshold):
    return x > threshold


instead("", lambda x, threshold: np.abs(x) > threshold)


@plain(lambda rng: pair(rng, (side(rng),), (side(rng),)))
def outer(a, b):
    return a[:, None] * b[None, :]


instead("", lambda a, b: a[:, None] + b[None, :])
instead("", lambda a, b: np.abs(a[:, None]) * b[None, :])
