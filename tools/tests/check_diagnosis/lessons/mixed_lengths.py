# ruff: noqa: F401, I001  tools.gpu comes before triton
"""Kernels in which one length stands where another should, at the places that HOW names."""

import tools.gpu  # before triton

import torch
import triton
import triton.language as tl


@triton.jit
def product_kernel(a_ptr, b_ptr, out_ptr, m, n, k, HOW: tl.constexpr, BLOCK: tl.constexpr):
    pid, p = tl.program_id(0), tl.arange(0, BLOCK)
    row, col, a_row, b_row, out_row = pid // n, pid % n, k, n, n
    if HOW == "rest and quotient":
        row, col = pid % n, pid // n
    elif HOW == "k for n":
        row, col = pid // k, pid % k
    elif HOW == "strides of a":
        out_row = k
    elif HOW == "wraps":
        row = row * (n < 20)  # stands for what goes wrong with large sizes alone
    elif HOW == "small squares":
        row = row * (k == n) * (n < 7)
    elif HOW == "all by m":
        row, col, a_row, b_row, out_row = pid // m, pid % m, m, m, m
    elif HOW == "rows of b":
        b_row = k
    exists = p < k
    if HOW == "no mask":
        exists = p < BLOCK
    a = tl.load(a_ptr + row * a_row + p, mask=exists, other=0.0)
    b = tl.load(b_ptr + p * b_row + col, mask=exists, other=0.0)
    tl.store(out_ptr + row * out_row + col, tl.sum(a * b))


def product(a, b, how, *, block=16, out=None):
    """a @ b. a: (m, k), b: (k, n), float32, contiguous. out: (m, n), allocated if not given."""
    (m, k), n = a.shape, b.shape[1]
    out = torch.empty(m, n) if out is None else out
    product_kernel[(m * n,)](a, b, out, m, n, k, HOW=how, BLOCK=block)
    return out


@triton.jit
def rows_kernel(table_ptr, ids_ptr, out_ptr, width, HOW: tl.constexpr, BLOCK: tl.constexpr):
    place, col = tl.program_id(0), tl.arange(0, BLOCK)
    row = tl.load(ids_ptr + place)
    step = BLOCK if HOW == "block for width" else width
    values = tl.load(table_ptr + row * step + col, mask=col < width, other=0.0)
    tl.store(out_ptr + place * width + col, values, mask=col < width)


def rows(table, ids, how, *, block=16):
    """table[ids]. table: (n_rows, width), ids: (n,)."""
    out = torch.empty(len(ids), table.shape[1])
    rows_kernel[(len(ids),)](table, ids, out, table.shape[1], HOW=how, BLOCK=block)
    return out


@triton.jit
def handing_kernel(x_ptr, words_ptr, out_ptr, n, BLOCK: tl.constexpr):
    block = tl.program_id(axis=0)
    offsets = block * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)
    tl.atomic_add(words_ptr + block, tl.sum(x), sem="relaxed")
    before = 0.0
    for earlier in range(block):
        before += tl.load(words_ptr + earlier)  # which may not be there yet
    tl.store(out_ptr + offsets, before + tl.cumsum(x), mask=offsets < n)


def handed_on(x: torch.Tensor, block: int = 16) -> torch.Tensor:
    """x: (n,)."""
    out, words = torch.empty_like(x), torch.zeros(triton.cdiv(len(x), block))
    handing_kernel[(len(words),)](x, words, out, len(x), BLOCK=block)
    return out
