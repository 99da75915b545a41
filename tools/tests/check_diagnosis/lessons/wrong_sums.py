# ruff: noqa: F401, I001  tools.gpu comes before triton
"""Sums over blocks with one mistake each, made in Triton, in Numba-CUDA and in NumPy alike: of all numbers, of each
row, and running ones. Float32, contiguous."""

import tools.gpu  # before triton
from tools.gpu import cuda

import numpy as np
import torch
import triton
import triton.language as tl

BLOCK = 16


def turns(how: str, n: int) -> range:
    """Where the turns of the loop along a row begin."""
    return {
        "one block": range(0, BLOCK, BLOCK),
        "whole blocks": range(0, n // BLOCK * BLOCK, BLOCK),
        "from the second": range(BLOCK, n, BLOCK),
        "every second": range(0, n, 2 * BLOCK),
    }.get(how, range(0, n, BLOCK))


# Of each row --------------------------------------------------------------------------------------


@triton.jit
def triton_kernel(x_ptr, out_ptr, n, begin, end, step, HOW: tl.constexpr, BLOCK: tl.constexpr):
    row, total = tl.program_id(0), tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(begin, end, step):
        col = tl.arange(0, BLOCK) + (0 if HOW == "same block" else start)
        x = tl.load(x_ptr + row * n + col, mask=col < n, other=0.0)
        total = x if HOW == "overwrites" else total + x
        if HOW == "first twice" and start == 0:
            total += x
    tl.store(out_ptr + row, tl.sum(total))


def by_triton(x, how):
    loop, out = turns(how, x.shape[1]), torch.empty(len(x))
    triton_kernel[(len(x),)](x, out, x.shape[1], loop.start, loop.stop, loop.step, HOW=how, BLOCK=BLOCK)
    return out


@cuda.jit
def numba_kernel(x, out, begin, end, step, how):
    row, total = cuda.grid(1), np.float32(0)
    if row < out.size:
        for start in range(begin, end, step):
            if how == 2:  # overwrites
                total = np.float32(0)
            first = 0 if how == 1 else start  # same block
            for i in range(first, min(first + BLOCK, x.shape[1])):
                total += x[row, i]
                if how == 3 and start == 0:  # first twice
                    total += x[row, i]
        out[row] = total


def by_numba(x, how):
    loop, out = turns(how, x.shape[1]), torch.empty(len(x))
    number = {"same block": 1, "overwrites": 2, "first twice": 3}.get(how, 0)
    numba_kernel[max(1, -(-len(x) // 32)), 32](x, out, loop.start, loop.stop, loop.step, number)
    return out


def by_numpy(x, how):
    out = np.zeros(len(x), x.dtype)
    for start in turns(how, x.shape[1]):
        first = 0 if how == "same block" else start
        part = x[:, first : first + BLOCK].sum(axis=1)
        out = part if how == "overwrites" else out + part * (2 if how == "first twice" and start == 0 else 1)
    return out


# Of all numbers, and running sums -----------------------------------------------------------------


def total_by_triton(x, how):
    return by_triton(x[None], how)[0]


def total_by_numba(x, how):
    return by_numba(x[None], how)[0]


def total_by_numpy(x, how):
    return by_numpy(x[None], how)[0]


@triton.jit
def running_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    mine = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + mine, mask=mine < n, other=0.0)
    tl.store(out_ptr + mine, tl.cumsum(x, axis=0), mask=mine < n)


def running_by_triton(x):
    """Each block's own running sums."""
    out = torch.empty_like(x)
    running_kernel[(triton.cdiv(len(x), BLOCK),)](x, out, len(x), BLOCK=BLOCK)
    return out


@cuda.jit
def running_numba_kernel(x, out):
    block = cuda.grid(1)
    total = np.float32(0)
    for i in range(block * BLOCK, min((block + 1) * BLOCK, x.size)):
        total += x[i]
        out[i] = total


def running_by_numba(x):
    out = torch.empty_like(x)
    running_numba_kernel[1, max(1, -(-len(x) // BLOCK))](x, out)
    return out


def running_by_numpy(x):
    return np.concatenate([x[start : start + BLOCK].cumsum() for start in range(0, len(x), BLOCK)])
