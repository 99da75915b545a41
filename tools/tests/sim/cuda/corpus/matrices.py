"""Correct kernels on matrices: transposes, products with and without tiles, sparse rows, bodies that attract."""

from functools import partial

import numpy as np

from tools.sim import cuda
from tools.tests.sim.cuda.corpus.case import Case, correct

CASES: list[Case] = []
case = partial(correct, CASES)
TILE, PADDED, ROWS = 16, 17, 4
BODIES = 32


@cuda.jit
def transpose(x, out):
    column, row = cuda.grid(2)
    if row < x.shape[0] and column < x.shape[1]:
        out[column, row] = x[row, column]


@case(transpose, (3, 6), (16, 8))
def _(rng):
    x = rng.random((45, 37), np.float32)
    return (x, np.empty((37, 45), np.float32)), {"out": x.T}


@cuda.jit
def transpose_tiled(x, out):
    tile = cuda.shared.array((TILE, TILE), np.float32)
    left, top = cuda.blockIdx.x * TILE, cuda.blockIdx.y * TILE
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    for k in range(0, TILE, ROWS):
        tile[ty + k, tx] = x[top + ty + k, left + tx]
    cuda.syncthreads()
    for k in range(0, TILE, ROWS):
        out[left + ty + k, top + tx] = tile[tx, ty + k]


@case(transpose_tiled, (2, 3), (TILE, ROWS))
def _(rng):
    x = rng.random((48, 32), np.float32)
    return (x, np.empty((32, 48), np.float32)), {"out": x.T}


@cuda.jit
def transpose_padded(x, out):
    tile = cuda.shared.array((TILE, PADDED), np.float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    if row < x.shape[0] and column < x.shape[1]:
        tile[ty, tx] = x[row, column]
    cuda.syncthreads()
    column, row = cuda.blockIdx.y * TILE + tx, cuda.blockIdx.x * TILE + ty
    if row < out.shape[0] and column < out.shape[1]:
        out[row, column] = tile[tx, ty]


@case(transpose_padded, (2, 3), (TILE, TILE))
def _(rng):
    x = rng.random((41, 27), np.float32)
    return (x, np.empty((27, 41), np.float32)), {"out": x.T}


@cuda.jit
def matmul(a, b, c):
    column, row = cuda.grid(2)
    if row < c.shape[0] and column < c.shape[1]:
        total = np.float32(0)
        for k in range(a.shape[1]):
            total += a[row, k] * b[k, column]
        c[row, column] = total


def product(rng, m, n, k):
    a, b = rng.random((m, k), np.float32), rng.random((k, n), np.float32)
    return (a, b, np.empty((m, n), np.float32)), {"c": a @ b}


@case(matmul, (3, 3), (8, 8), rtol=1e-5)
def _(rng):
    return product(rng, 20, 19, 13)


@cuda.jit
def matmul_tiled(a, b, c):
    tile_a = cuda.shared.array((TILE, TILE), np.float32)
    tile_b = cuda.shared.array((TILE, TILE), np.float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    total = np.float32(0)
    for start in range(0, a.shape[1], TILE):
        tile_a[ty, tx] = a[row, start + tx]
        tile_b[ty, tx] = b[start + ty, column]
        cuda.syncthreads()
        for k in range(TILE):
            total += tile_a[ty, k] * tile_b[k, tx]
        cuda.syncthreads()
    c[row, column] = total


@case(matmul_tiled, (2, 3), (TILE, TILE), rtol=1e-5)
def _(rng):
    return product(rng, 48, 32, 64)


@cuda.jit
def matmul_edges(a, b, c):
    tile_a = cuda.shared.array((TILE, TILE), np.float32)
    tile_b = cuda.shared.array((TILE, TILE), np.float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    total = np.float32(0)
    for start in range(0, a.shape[1], TILE):
        tile_a[ty, tx] = tile_b[ty, tx] = 0
        if row < a.shape[0] and start + tx < a.shape[1]:
            tile_a[ty, tx] = a[row, start + tx]
        if start + ty < b.shape[0] and column < b.shape[1]:
            tile_b[ty, tx] = b[start + ty, column]
        cuda.syncthreads()
        for k in range(TILE):
            total += tile_a[ty, k] * tile_b[k, tx]
        cuda.syncthreads()
    if row < c.shape[0] and column < c.shape[1]:
        c[row, column] = total


@case(matmul_edges, (2, 3), (TILE, TILE), rtol=1e-5)
def _(rng):
    return product(rng, 37, 30, 41)


@cuda.jit
def matmul_double_buffered(a, b, c):
    """The next tiles are loaded while the present ones are multiplied: one barrier a turn."""
    tiles_a = cuda.shared.array((2, TILE, TILE), np.float32)
    tiles_b = cuda.shared.array((2, TILE, TILE), np.float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    tiles_a[0, ty, tx], tiles_b[0, ty, tx] = a[row, tx], b[ty, column]
    cuda.syncthreads()
    total = np.float32(0)
    turns = a.shape[1] // TILE
    for turn in range(turns):
        now = turn % 2
        if turn + 1 < turns:
            start = (turn + 1) * TILE
            tiles_a[1 - now, ty, tx] = a[row, start + tx]
            tiles_b[1 - now, ty, tx] = b[start + ty, column]
        for k in range(TILE):
            total += tiles_a[now, ty, k] * tiles_b[now, k, tx]
        cuda.syncthreads()
    c[row, column] = total


@case(matmul_double_buffered, (2, 2), (TILE, TILE), rtol=1e-5)
def _(rng):
    return product(rng, 32, 32, 64)


@cuda.jit
def matvec(a, x, out):
    """A warp for each row."""
    row = cuda.grid(1) // 32
    lane = cuda.laneid
    if row < a.shape[0]:
        total = 0.0
        for k in range(lane, a.shape[1], 32):
            total += a[row, k] * x[k]
        distance = 16
        while distance > 0:
            total += cuda.shfl_down_sync(0xFFFFFFFF, total, distance)
            distance //= 2
        if lane == 0:
            out[row] = total


@case(matvec, 3, 128, rtol=1e-12)
def _(rng):
    a, x = rng.random((10, 75)), rng.random(75)
    return (a, x, np.empty(10)), {"out": a @ x}


@cuda.jit
def spmv(values, columns, starts, x, out):
    row = cuda.grid(1)
    if row < out.size:
        total = 0.0
        for k in range(starts[row], starts[row + 1]):
            total += values[k] * x[columns[k]]
        out[row] = total


@case(spmv, 2, 32, rtol=1e-12)
def _(rng):
    dense = rng.random((50, 40)) * (rng.random((50, 40)) < rng.random((50, 1)) / 2)
    rows, columns = np.nonzero(dense)
    starts = np.searchsorted(rows, np.arange(51)).astype(np.int32)
    x = rng.random(40)
    return (dense[rows, columns], columns.astype(np.int32), starts, x, np.empty(50)), {"out": dense @ x}


@cuda.jit
def attract(places, masses, pulls):
    """Bodies on a line, a tile of them at a time."""
    tile = cuda.shared.array((2, BODIES), np.float64)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    here = places[i]
    pull = 0.0
    for start in range(0, places.size, BODIES):
        tile[0, t], tile[1, t] = places[start + t], masses[start + t]
        cuda.syncthreads()
        for k in range(BODIES):
            apart = tile[0, k] - here
            pull += tile[1, k] * apart / (apart * apart + 0.01)
        cuda.syncthreads()
    pulls[i] = pull


@case(attract, 3, BODIES, rtol=1e-9)
def _(rng):
    places, masses = rng.random((2, 3 * BODIES))
    apart = places - places[:, None]
    return (places, masses, np.empty_like(places)), {"pulls": (masses * apart / (apart**2 + 0.01)).sum(1)}
