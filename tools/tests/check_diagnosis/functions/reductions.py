"""Functions that sum or count, and plain numbers."""

import numpy as np

from tools.tests.check_diagnosis.functions import instead, length, matrix, pair, plain, vector


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
instead("float16_precision", lambda x: x.T.astype(np.float16).sum(axis=0, dtype=np.float16).astype(x.dtype))


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


@plain(lambda rng: (*vector(rng), int(rng.choice([4, 7, 8, 16]))))
def block_sums(x, block):
    return np.add.reduceat(x, np.arange(0, len(x), block))


instead("", lambda x, block: np.maximum.reduceat(x, np.arange(0, len(x), block)))
instead("", lambda x, block: np.add.reduceat(x * x, np.arange(0, len(x), block)))


@plain(lambda rng: pair(rng, (length(rng, 30, 200),), (5,)))
def convolve(x, kernel):
    return np.convolve(x, kernel, "same")


instead("", lambda x, kernel: np.convolve(x, kernel[::-1], "same"))
instead("", lambda x, kernel: np.convolve(np.abs(x), kernel, "same"))


@plain(matrix)
def row_argmax(x):
    return x.argmax(axis=1)


instead("", lambda x: x.argmin(axis=1))
instead("", lambda x: np.abs(x).argmax(axis=1))


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
