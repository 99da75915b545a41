# ruff: noqa: F401, I001  tools.gpu comes before triton
"""Products of tiles with one mistake each, made in Triton, in Numba-CUDA and in NumPy alike. Float32, row-major."""

import tools.gpu  # before triton
from tools.gpu import cuda

import numpy as np
import torch
import triton
import triton.language as tl

TILE = 16  # of all three; a power of two, for tl.dot


def steps(how: str, k: int) -> range:
    """Where the turns of the loop along k begin."""
    return {
        "one step": range(0, TILE, TILE),
        "whole steps": range(0, k // TILE * TILE, TILE),
        "turns for steps": range(0, k // TILE),
        "from the second": range(TILE, k, TILE),
        "stops early": range(0, k - TILE, TILE),
        "every second": range(0, k, 2 * TILE),
    }.get(how, range(0, k, TILE))


# Triton -------------------------------------------------------------------------------------------


@triton.jit
def triton_kernel(a_ptr, b_ptr, out_ptr, m, n, k, begin, end, step, HOW: tl.constexpr, TILE: tl.constexpr):
    i, j = tl.program_id(0), tl.program_id(1)
    own_row, own_col = i * TILE + tl.arange(0, TILE)[:, None], j * TILE + tl.arange(0, TILE)[None, :]
    row, col = own_row, own_col
    if HOW == "tile elsewhere":
        row, col = j * TILE + tl.arange(0, TILE)[:, None], i * TILE + tl.arange(0, TILE)[None, :]
    elif HOW == "row of the column":
        row = i * TILE + tl.arange(0, TILE)[:, None]
    acc = tl.zeros((TILE, TILE), dtype=tl.float32)
    for start in range(begin, end, step):
        across, down = start + tl.arange(0, TILE)[None, :], start + tl.arange(0, TILE)[:, None]
        if HOW == "same step":
            across, down = tl.arange(0, TILE)[None, :], tl.arange(0, TILE)[:, None]
        a_exists, b_exists = (row < m) & (across < k), (down < k) & (col < n)
        if HOW == "m for k":
            a_exists = (row < m) & (across < m)
        elif HOW == "n for k":
            b_exists = (down < n) & (col < n)
        elif HOW == "k for n":
            b_exists = (down < k) & (col < k)
        elif HOW == "own number in a":
            across = start + tl.arange(0, TILE)[:, None] + 0 * across
            a_exists = (row < m) & (across < k)
        elif HOW == "own number in b":
            down = start + tl.arange(0, TILE)[None, :] + 0 * down
            b_exists = (down < k) & (col < n)
        a = tl.load(a_ptr + row * k + across, mask=a_exists, other=0.0)
        b = tl.load(b_ptr + down * n + col, mask=b_exists, other=0.0)
        if HOW == "a transposed" or HOW == "both transposed":
            a = tl.trans(a)
        if HOW == "b transposed" or HOW == "both transposed":
            b = tl.trans(b)
        if HOW == "exchanged":
            acc = tl.dot(b, a, acc, input_precision="ieee")
        elif HOW == "overwrites":
            acc = tl.dot(a, b, input_precision="ieee")
        else:
            acc = tl.dot(a, b, acc, input_precision="ieee")
            if HOW == "first twice" and start == 0:
                acc = tl.dot(a, b, acc, input_precision="ieee")
    if HOW == "out transposed":
        acc = tl.trans(acc)
    elif HOW == "row of the column":  # every row of the tile holds its diagonal's rows
        same = tl.arange(0, TILE)[:, None] == tl.arange(0, TILE)[None, :]
        acc = tl.sum(tl.where(same, acc, 0.0), axis=0)[None, :] + tl.zeros((TILE, TILE), dtype=tl.float32)
    elif HOW == "column of the row":
        same = tl.arange(0, TILE)[:, None] == tl.arange(0, TILE)[None, :]
        acc = tl.sum(tl.where(same, acc, 0.0), axis=1)[:, None] + tl.zeros((TILE, TILE), dtype=tl.float32)
    tl.store(out_ptr + own_row * n + own_col, acc, mask=(own_row < m) & (own_col < n))


def by_triton(a, b, how):
    (m, k), n, turns = a.shape, b.shape[1], steps(how, a.shape[1])
    out = torch.empty(m, n)
    triton_kernel[(triton.cdiv(m, TILE), triton.cdiv(n, TILE))](
        a, b, out, m, n, k, turns.start, turns.stop, turns.step, HOW=how, TILE=TILE
    )
    return out


# Numba --------------------------------------------------------------------------------------------


@cuda.jit
def numba_kernel(a, b, out, begin, end, step, how):
    a_tile = cuda.shared.array((TILE, TILE), np.float32)
    b_tile = cuda.shared.array((TILE, TILE), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    own_col, own_row = cuda.grid(2)
    (m, k), n = a.shape, b.shape[1]
    col, row = own_col, own_row
    if how == 14:  # tile elsewhere
        row, col = cuda.blockIdx.x * TILE + y, cuda.blockIdx.y * TILE + x
    total = np.float32(0)
    for start in range(begin, end, step):
        across, down = start + x, start + y
        if how == 4:  # same step
            across, down = x, y
        elif how == 18:  # own number in a
            across = start + y
        elif how == 19:  # own number in b
            down = start + x
        a_end, b_end, col_end = k, k, n
        if how == 15:  # m for k
            a_end = m
        elif how == 16:  # n for k
            b_end = n
        elif how == 17:  # k for n
            col_end = k
        a_tile[y, x] = a[row, across] if row < m and across < k and across < a_end else np.float32(0)
        b_tile[y, x] = b[down, col] if down < k and down < b_end and col < n and col < col_end else np.float32(0)
        cuda.syncthreads()
        if how == 5:  # overwrites
            total = np.float32(0)
        for p in range(TILE):
            if how == 10:  # a transposed
                total += a_tile[p, y] * b_tile[p, x]
            elif how == 11:  # b transposed
                total += a_tile[y, p] * b_tile[x, p]
            elif how == 12:  # both transposed
                total += a_tile[p, y] * b_tile[x, p]
            elif how == 13:  # exchanged
                total += b_tile[y, p] * a_tile[p, x]
            elif how == 20:  # row of the column
                total += a_tile[x, p] * b_tile[p, x]
            elif how == 21:  # column of the row
                total += a_tile[y, p] * b_tile[p, y]
            elif how == 22:  # out transposed
                total += a_tile[x, p] * b_tile[p, y]
            else:
                total += a_tile[y, p] * b_tile[p, x]
                if how == 6 and start == 0:  # first twice
                    total += a_tile[y, p] * b_tile[p, x]
        cuda.syncthreads()
    if own_row < m and own_col < n:
        out[own_row, own_col] = total


NUMBERS = {
    "same step": 4,
    "overwrites": 5,
    "first twice": 6,
    "a transposed": 10,
    "b transposed": 11,
    "both transposed": 12,
    "exchanged": 13,
    "tile elsewhere": 14,
    "m for k": 15,
    "n for k": 16,
    "k for n": 17,
    "own number in a": 18,
    "own number in b": 19,
    "row of the column": 20,
    "column of the row": 21,
    "out transposed": 22,
}


def by_numba(a, b, how):
    (m, k), n, turns = a.shape, b.shape[1], steps(how, a.shape[1])
    out = torch.empty(m, n)
    grid = triton.cdiv(n, TILE), triton.cdiv(m, TILE)
    numba_kernel[grid, (TILE, TILE)](a, b, out, turns.start, turns.stop, turns.step, NUMBERS.get(how, 0))
    return out


# NumPy --------------------------------------------------------------------------------------------


def tile_of(array, row, col, rows=None, cols=None):
    """A tile of the array, zeros where it ends, or where it is said to end."""
    rows, cols = rows or array.shape[0], cols or array.shape[1]
    tile, part = np.zeros((TILE, TILE), array.dtype), array[row : min(row + TILE, rows), col : min(col + TILE, cols)]
    tile[: part.shape[0], : part.shape[1]] = part
    return tile


def by_numpy(a, b, how):
    (m, k), n = a.shape, b.shape[1]
    out = np.zeros((m, n), a.dtype)
    for i in range(0, m, TILE):
        for j in range(0, n, TILE):
            total = np.zeros((TILE, TILE), a.dtype)
            for start in steps(how, k):
                p = 0 if how == "same step" else start
                row, col = (j, i) if how == "tile elsewhere" else (i, j)
                a_tile = tile_of(a, row, p, cols=m if how == "m for k" else None)
                b_tile = tile_of(b, p, col, n if how == "n for k" else None, k if how == "k for n" else None)
                total = added(total, a_tile, b_tile, how, start)
            if how == "out transposed":
                total = total.T
            elif how == "row of the column":
                total = np.broadcast_to(np.diag(total), total.shape)
            elif how == "column of the row":
                total = np.broadcast_to(np.diag(total)[:, None], total.shape)
            part = out[i : i + TILE, j : j + TILE]
            part[...] = total[: part.shape[0], : part.shape[1]]
    return out


def added(total, a_tile, b_tile, how, start):
    if how in ("a transposed", "both transposed"):
        a_tile = a_tile.T
    if how in ("b transposed", "both transposed"):
        b_tile = b_tile.T
    if how == "own number in a":
        a_tile = np.broadcast_to(np.diag(a_tile)[:, None], a_tile.shape)
    if how == "own number in b":
        b_tile = np.broadcast_to(np.diag(b_tile), b_tile.shape)
    product = b_tile @ a_tile if how == "exchanged" else a_tile @ b_tile
    if how == "overwrites":
        return product
    return total + product * (2 if how == "first twice" and start == 0 else 1)
