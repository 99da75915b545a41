"""Correct kernels in which threads read around their own place: with edges, in global and in shared memory."""

from functools import partial

import numpy as np

from tools.sim import cuda
from tools.tests.sim.cuda.corpus.case import Case, correct

CASES: list[Case] = []
case = partial(correct, CASES)
RADIUS = 3
WEIGHTS = np.array([0.05, 0.1, 0.2, 0.3, 0.2, 0.1, 0.05], np.float32)
BLOCK = 64
TILE = BLOCK + 2 * RADIUS


@cuda.jit
def blur(x, out):
    i = cuda.grid(1)
    if i < x.size:
        total, count = x[i], 1
        if i > 0:
            total += x[i - 1]
            count += 1
        if i + 1 < x.size:
            total += x[i + 1]
            count += 1
        out[i] = total / count


@case(blur, 3, 50, rtol=1e-12)
def _(rng):
    x = rng.random(141)
    wanted = [x[max(0, i - 1) : i + 2].mean() for i in range(x.size)]
    return (x, np.empty_like(x)), {"out": np.array(wanted)}


@cuda.jit
def heat(x, out):
    column, row = cuda.grid(2)
    rows, columns = x.shape
    if row >= rows or column >= columns:
        return
    if 0 < row < rows - 1 and 0 < column < columns - 1:
        around = x[row - 1, column] + x[row + 1, column] + x[row, column - 1] + x[row, column + 1]
        out[row, column] = 0.5 * x[row, column] + 0.125 * around
    else:
        out[row, column] = x[row, column]


@case(heat, (3, 3), (16, 8), rtol=1e-12)
def _(rng):
    x = rng.random((20, 37))
    wanted = x.copy()
    wanted[1:-1, 1:-1] = 0.5 * x[1:-1, 1:-1] + 0.125 * (x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:])
    return (x, np.empty_like(x)), {"out": wanted}


@cuda.jit
def laplace(x, out):
    i, j, k = cuda.grid(3)
    if 0 < i < x.shape[0] - 1 and 0 < j < x.shape[1] - 1 and 0 < k < x.shape[2] - 1:
        out[i, j, k] = (
            x[i - 1, j, k]
            + x[i + 1, j, k]
            + x[i, j - 1, k]
            + x[i, j + 1, k]
            + x[i, j, k - 1]
            + x[i, j, k + 1]
            - 6 * x[i, j, k]
        )


@case(laplace, (2, 2, 3), (4, 4, 3))
def _(rng):
    x = rng.integers(-50, 50, (7, 6, 8))
    wanted, inner = np.zeros_like(x), slice(1, -1)
    wanted[inner, inner, inner] = -6 * x[inner, inner, inner]
    for axis in range(3):
        for step in (-1, 1):
            wanted[inner, inner, inner] += np.roll(x, step, axis)[inner, inner, inner]
    return (x, np.zeros_like(x)), {"out": wanted}


@cuda.jit
def game_of_life(alive, out):
    column, row = cuda.grid(2)
    rows, columns = alive.shape
    if row < rows and column < columns:
        neighbours = 0
        for up in range(-1, 2):
            for left in range(-1, 2):
                if up != 0 or left != 0:
                    neighbours += alive[(row + up) % rows, (column + left) % columns]
        out[row, column] = 1 if neighbours == 3 or (alive[row, column] and neighbours == 2) else 0


@case(game_of_life, (2, 4), (16, 5))
def _(rng):
    alive = rng.integers(0, 2, (19, 23)).astype(np.uint8)
    shifts = [(up, left) for up in (-1, 0, 1) for left in (-1, 0, 1) if (up, left) != (0, 0)]
    neighbours = sum(np.roll(alive, shift, (0, 1)) for shift in shifts)
    wanted = (neighbours == 3) | ((neighbours == 2) & (alive == 1))
    return (alive, np.empty_like(alive)), {"out": wanted.astype(np.uint8)}


@cuda.jit
def convolve(x, out):
    weights = cuda.const.array_like(WEIGHTS)
    tile = cuda.shared.array(TILE, np.float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    for k in range(t, TILE, BLOCK):
        source = cuda.blockIdx.x * BLOCK + k - RADIUS
        tile[k] = x[source] if 0 <= source < x.size else np.float32(0)
    cuda.syncthreads()
    if i < out.size:
        total = np.float32(0)
        for k in range(2 * RADIUS + 1):
            total += weights[k] * tile[t + k]
        out[i] = total


@case(convolve, 4, BLOCK, rtol=1e-5)
def _(rng):
    x = rng.random(230, np.float32)
    return (x, np.empty_like(x)), {"out": np.convolve(x, WEIGHTS, "same")}


@cuda.jit
def relax(x, steps, out):
    """Several steps in shared memory, to and fro between two rows of it."""
    rows = cuda.shared.array((2, BLOCK), np.float32)
    t = cuda.threadIdx.x
    rows[0, t] = x[t]
    cuda.syncthreads()
    for step in range(steps):
        now, new = step % 2, 1 - step % 2
        if 0 < t < BLOCK - 1:
            rows[new, t] = (rows[now, t - 1] + rows[now, t + 1]) * np.float32(0.5)
        else:
            rows[new, t] = rows[now, t]
        cuda.syncthreads()
    out[t] = rows[steps % 2, t]


@case(relax, 1, BLOCK, rtol=1e-6)
def _(rng):
    x = rng.random(BLOCK, np.float32)
    wanted = x.copy()
    for _ in range(5):
        wanted[1:-1] = (wanted[:-2] + wanted[2:]) / 2
    return (x, 5, np.empty_like(x)), {"out": wanted}


@cuda.jit
def turn_round(x):
    """The block's part of x, backwards; its shared memory comes with the launch."""
    tile = cuda.shared.array(0, np.int32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    tile[t] = x[i]
    cuda.syncthreads()
    x[i] = tile[cuda.blockDim.x - 1 - t]


@case(turn_round, 3, 50, shared=200)
def _(rng):
    x = np.arange(150, dtype=np.int32)
    return (x,), {"x": x.reshape(3, 50)[:, ::-1].ravel().copy()}
