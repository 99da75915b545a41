# ruff: noqa: F401, I001  tools.gpu comes before triton
"""Kernels with one mistake each, for the diagnosis to name. Matrices are float32 and row-major."""

import tools.gpu  # before triton

import torch
import triton
import triton.language as tl

TILE = 16


# Padding: `other` is not neutral --------------------------------------------------------------------


@triton.jit
def row_max_kernel(x_ptr, out_ptr, n_cols, BLOCK: tl.constexpr):
    row, col = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n_cols + col, mask=col < n_cols, other=0.0)
    tl.store(out_ptr + row, tl.max(x, axis=0))


def row_max(x):
    out = torch.empty(x.shape[0])
    row_max_kernel[(x.shape[0],)](x, out, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
    return out


@triton.jit
def softmax_kernel(x_ptr, out_ptr, n_cols, BLOCK: tl.constexpr):
    row, col = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n_cols + col, mask=col < n_cols, other=0.0)
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row * n_cols + col, e / tl.sum(e, axis=0), mask=col < n_cols)


def softmax(x):
    out = torch.empty_like(x)
    softmax_kernel[(x.shape[0],)](x, out, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
    return out


# Products: operands and accumulators --------------------------------------------------------------


@triton.jit
def matmul_kernel(a_ptr, b_ptr, out_ptr, K, N, MISTAKE: tl.constexpr, TILE: tl.constexpr):
    rows = tl.program_id(0) * TILE + tl.arange(0, TILE)
    cols = tl.program_id(1) * TILE + tl.arange(0, TILE)
    if MISTAKE == "accumulates in float16":
        acc = tl.zeros((TILE, TILE), tl.float16)
    else:
        acc = tl.zeros((TILE, TILE), tl.float32)
    for k in range(0, K, TILE):
        inner = k + tl.arange(0, TILE)
        a = tl.load(a_ptr + rows[:, None] * K + inner[None, :])
        b = tl.load(b_ptr + inner[:, None] * N + cols[None, :])
        if MISTAKE == "exchanges the operands":
            acc += tl.dot(b, a, input_precision="ieee")
        else:
            acc += tl.dot(a, b, input_precision="ieee").to(acc.dtype)
    tl.store(out_ptr + rows[:, None] * N + cols[None, :], acc.to(tl.float32))


def matmul(a, b, mistake):
    out = torch.empty(a.shape[0], b.shape[1])
    grid = a.shape[0] // TILE, b.shape[1] // TILE
    matmul_kernel[grid](a, b, out, a.shape[1], b.shape[1], mistake, TILE)
    return out


# Tables: strides and axes -------------------------------------------------------------------------


@triton.jit
def sum_kernel(x_ptr, out_ptr, SIDE: tl.constexpr):
    row, col = tl.arange(0, SIDE)[:, None], tl.arange(0, SIDE)[None, :]
    tl.store(out_ptr + tl.arange(0, SIDE), tl.sum(tl.load(x_ptr + row * SIDE + col), axis=1))


def sum_of_each_column(x):
    """x: (16, 16). It adds up each row."""
    out = torch.empty(16)
    sum_kernel[(1,)](x, out, SIDE=16)
    return out


@triton.jit
def double_kernel(x_ptr, out_ptr, n, n_cols, x_row_stride, BLOCK: tl.constexpr):
    mine = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + mine // n_cols * x_row_stride + mine % n_cols, mask=mine < n)
    tl.store(out_ptr + mine, 2 * x, mask=mine < n)


def double(x, *, out=None):
    """It steps from row to row by the number of rows."""
    out = torch.empty(x.shape) if out is None else out
    double_kernel[(triton.cdiv(x.numel(), 64),)](x, out, x.numel(), x.shape[1], x.shape[0], BLOCK=64)
    return out


# Launches -----------------------------------------------------------------------------------------


@triton.jit
def copy_kernel(x_ptr, out_ptr, n, first, step, MASKED: tl.constexpr, BLOCK: tl.constexpr):
    mine = first + tl.program_id(0) * step + tl.arange(0, BLOCK)
    exists = (mine < n) & MASKED
    x = tl.load(x_ptr + mine, mask=exists)
    tl.store(out_ptr + mine, x, mask=exists)


def copy(x, how, *, out=None):
    """how: the mistake in the launch."""
    out = torch.empty_like(x) if out is None else out
    grid, first, step, masked = {
        "no launch": (None, 0, 16, True),
        "no programs": (0, 0, 16, True),
        "masks all": (4, 0, 16, False),
        "too few": (x.numel() // 16, 0, 16, True),
        "starts late": (4, 3, 16, True),
        "same block": (4, 0, 0, True),
        "overlap": (4, 0, 8, True),
    }[how]
    if grid is not None:
        copy_kernel[(grid,)](x, out, x.numel(), first, step, MASKED=masked, BLOCK=16)
    return out


@triton.jit
def positive_kernel(x_ptr, out_ptr, n, LATE: tl.constexpr, BLOCK: tl.constexpr):
    mine = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + mine, mask=mine < n, other=0.0)
    if LATE:
        tl.store(out_ptr + mine + 3, tl.maximum(x, 0.0), mask=mine + 3 < n)
    else:
        tl.store(out_ptr + mine, x, mask=(mine < n) & (x > 0.0))


def positive(x, late, *, out=None):
    """x where it is positive and 0 elsewhere. It leaves the others out, or stores what it loaded three places late."""
    out = torch.empty_like(x) if out is None else out
    positive_kernel[(triton.cdiv(x.numel(), 16),)](x, out, x.numel(), late, BLOCK=16)
    return out


@triton.jit
def turn_kernel(x_ptr, out_ptr, m, n, MASKED: tl.constexpr, TILE_M: tl.constexpr, TILE_N: tl.constexpr):
    row, col = tl.arange(0, TILE_M)[:, None], tl.arange(0, TILE_N)[None, :]
    exists = (row < m) & (col < n)
    x = tl.load(x_ptr + row * n + col, mask=exists)
    if MASKED:
        tl.store(out_ptr + col * m + row, x, mask=(row < n) & (col < m))
    else:
        tl.store(out_ptr + row * m + col, x, mask=exists)


def turned(x, how, *, tile_m, tile_n):
    """The transpose. how: "bounds exchanged", or rows of out for its columns."""
    out = torch.empty(x.shape[::-1])
    turn_kernel[(1,)](x, out, *x.shape, MASKED=how == "bounds exchanged", TILE_M=tile_m, TILE_N=tile_n)
    return out


@triton.jit
def careless_kernel(x_ptr, out_ptr, n, HOW: tl.constexpr, BLOCK: tl.constexpr):
    mine = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if HOW == "one too many":
        x = tl.load(x_ptr + mine, mask=mine <= n)
    elif HOW == "mask of another":
        x = tl.load(x_ptr + mine, mask=tl.arange(0, BLOCK) < n)
    else:
        x = tl.load(x_ptr + mine)
    tl.store(out_ptr + mine, x, mask=mine < n)


def careless(x, how):
    out = torch.empty_like(x)
    careless_kernel[(triton.cdiv(x.numel(), 16),)](x, out, x.numel(), HOW=how, BLOCK=16)
    return out


@triton.jit
def table_kernel(x_ptr, out_ptr, n, n_cols, x_row_stride, x_col_stride, BLOCK: tl.constexpr):
    mine = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    row, col = mine // n_cols, mine % n_cols
    x = tl.load(x_ptr + row * x_row_stride + col * x_col_stride, mask=mine < n)
    tl.store(out_ptr + mine, x, mask=mine < n)


def table(x, how):
    out, (rows, cols) = torch.empty(x.shape), x.shape
    n_cols, strides = (rows, (cols, 1)) if how == "rows for columns" else (cols, (1, cols))
    table_kernel[(triton.cdiv(x.numel(), 64),)](x, out, x.numel(), n_cols, *strides, BLOCK=64)
    return out


def by_strides_of_x(x):
    """It goes along out as it goes along x."""
    out, (rows, cols) = torch.zeros(x.shape), x.shape
    spread_kernel[(triton.cdiv(x.numel(), 16),)](x, out, x.numel(), cols, *x.stride(), BLOCK=16)
    return out


@triton.jit
def spread_kernel(x_ptr, out_ptr, n, n_cols, row_stride, col_stride, BLOCK: tl.constexpr):
    mine = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    place = mine // n_cols * row_stride + mine % n_cols * col_stride
    tl.store(out_ptr + place, tl.load(x_ptr + place, mask=mine < n), mask=mine < n)


@triton.jit
def total_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    mine = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr, tl.sum(tl.load(x_ptr + mine, mask=mine < n, other=0.0)))


def total(x):
    """One number, which every program stores."""
    out = torch.zeros(1)
    total_kernel[(triton.cdiv(x.numel(), 16),)](x, out, x.numel(), BLOCK=16)
    return out


@triton.jit
def rows_kernel(x_ptr, ids_ptr, out_ptr, n_rows, n_cols, BLOCK: tl.constexpr):
    row, col = tl.program_id(0), tl.arange(0, BLOCK)
    wanted = tl.load(ids_ptr + row)
    values = tl.load(x_ptr + wanted * n_cols + col, mask=(wanted < n_rows) & (col < n_cols), other=0.0)
    tl.store(out_ptr + row * n_cols + col, values, mask=(wanted < n_rows) & (col < n_cols))


def rows(x, ids, *, out=None):
    """Rows of x, zeros for one that does not exist, which the mask of the store forgets."""
    out = torch.empty(len(ids), x.shape[1]) if out is None else out
    rows_kernel[(len(ids),)](x, ids, out, len(x), x.shape[1], BLOCK=16)
    return out


@triton.jit
def between_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    mine = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + mine, tl.load(x_ptr + mine, mask=mine < n), mask=(mine < n) and (0 <= mine < n))


def between(x):
    out = torch.empty_like(x)
    between_kernel[(1,)](x, out, len(x), BLOCK=16)
    return out


@triton.jit
def bare_kernel(x_ptr, out_ptr, n, n_cols, BLOCK: tl.constexpr):
    row, col = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n_cols + col, mask=col < n_cols)
    tl.store(out_ptr + row * n_cols + col, x - tl.sum(x, axis=0), mask=col < n_cols)


def bare(x):
    """x less the sum of each row. It loads without other=."""
    out = torch.empty_like(x)
    bare_kernel[(len(x),)](x, out, x.numel(), x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
    return out


def by_column(x):
    """A copy of x whose memory goes down its columns, filled as if it went along its rows."""
    out = torch.empty(x.shape[1], x.shape[0]).T
    copy_kernel[(triton.cdiv(x.numel(), 16),)](x, out, x.numel(), 0, 16, MASKED=True, BLOCK=16)
    return out


# A store inside the loop --------------------------------------------------------------------------


@triton.jit
def row_sums_kernel(x_ptr, out_ptr, k, BLOCK: tl.constexpr):
    row, total = tl.program_id(0), 0.0
    for start in range(0, k, BLOCK):
        p = start + tl.arange(0, BLOCK)
        total += tl.sum(tl.load(x_ptr + row * k + p, mask=p < k, other=0.0))
        tl.store(out_ptr + row, total)


def row_sums(x, *, out=None):
    """Sums of the rows. x: (m, k) float32. out: (m,), allocated if not given."""
    out = torch.empty(len(x)) if out is None else out
    row_sums_kernel[(len(x),)](x, out, x.shape[1], BLOCK=16)
    return out


@triton.jit
def power_kernel(x_ptr, out_ptr, turns):
    result = 1.0
    for _ in range(turns):
        result *= tl.load(x_ptr)
        tl.store(out_ptr, result)


def power(x, turns, out=None):
    out = torch.empty_like(x) if out is None else out
    power_kernel[(1,)](x, out, turns)
    return out
