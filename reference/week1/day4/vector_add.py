"""Week 1, day 4: your first Triton kernel

Challenge
    Add two vectors on the GPU. You will not write a loop over n. You write what one *program* does
    with one block of elements, and launch as many programs as there are blocks.

        x:        0  1  2  3 | 4  5  6  7 | 8  9  .  .      n = 10, BLOCK = 4
        program:       0     |      1     |      2          3 programs; the last block is half empty

Explore
    python -c "import numpy as np; print(np.arange(12).reshape(3, 4))"
    Row p is the block of program p. Which positions do not exist when n = 10? What if n were 12, or 1?
    marimo run week1/day4/explore_linear_index.py    Where does [row, col] lie, at which strides?

Concept
    A program knows one thing about itself: its number, tl.program_id(0). The rest is arithmetic.
    Element i of block p sits at p * BLOCK + i. In the last block some of those positions lie past
    the end, so every load and every store carries a mask that says which of them exist.
    tl.arange(0, BLOCK) is 0 to BLOCK - 1, all at once. tl.load(x_ptr + positions, mask=...) brings elements,
    tl.store(out_ptr + positions, values, mask=...) writes them. add_kernel[(programs,)](x, y, ...) launches.
    A matrix is a vector with a rule. Row-major: element [row, col] sits at row * n_cols + col.
    Any view of it: at row * row_stride + col * col_stride. Column-major is such a view, so are a
    transpose, every second column, and one row that stands for all of them (row_stride 0).
    Walk along a row of a row-major matrix and neighbours are neighbours in memory. Walk down a
    column and each step jumps n_cols elements; day 7 shows what that costs.

Code it
    Task 1  linear_index and coordinate: the row-major rule, both ways               (two lines)
    Task 2  add_kernel and vector_add: which elements are mine, which exist; then    (eight lines)
            how many programs, and launch
    Task 3  add_2d_kernel and add_2d: the same for matrices of any strides            (nine lines)
    Task 4  predict_traffic: bytes read and written, before you look                    (one line)

Verify
    pytest week1/day4                  then: ./course quiz week1/day4
    Reflect: the kernel moves 12 bytes for each addition. What limits it, arithmetic or memory?

Simulated without a GPU: results, bounds and traffic are exact. Time is not simulated.
"""

import tools.gpu  # a real GPU or a simulated one; before triton

import torch
import triton
import triton.language as tl

BLOCK = 1024  # elements of one program: 4 KiB of float32 for each load


# Task 1
def linear_index(row: int, col: int, n_cols: int) -> int:
    """Position of element [row, col] in a row-major matrix with n_cols columns."""
    return row * n_cols + col


def coordinate(index: int, n_cols: int) -> tuple[int, int]:
    """The (row, col) that linear_index maps to index."""
    return divmod(index, n_cols)


# Task 2
@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    mine = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    exists = mine < n
    x = tl.load(x_ptr + mine, mask=exists)
    y = tl.load(y_ptr + mine, mask=exists)
    tl.store(out_ptr + mine, x + y, mask=exists)  # without the mask the last program writes past the end


def vector_add(x: torch.Tensor, y: torch.Tensor, *, block: int = BLOCK,
               out: torch.Tensor | None = None) -> torch.Tensor:
    """x + y by add_kernel, one program for each block of `block` elements.

    x, y: (n,) float32, contiguous, on one device. block: a power of two.
    out: (n,) float32, contiguous, allocated if not given.
    """
    out = torch.empty_like(x) if out is None else out
    n = x.numel()
    add_kernel[(triton.cdiv(n, block),)](x, y, out, n, BLOCK=block)
    return out


# Task 3
@triton.jit
def add_2d_kernel(x_ptr, y_ptr, out_ptr, n, n_cols, x_row_stride, x_col_stride, y_row_stride, y_col_stride,
                  out_row_stride, out_col_stride, BLOCK: tl.constexpr):
    mine = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    exists = mine < n
    row, col = mine // n_cols, mine % n_cols
    x = tl.load(x_ptr + row * x_row_stride + col * x_col_stride, mask=exists)
    y = tl.load(y_ptr + row * y_row_stride + col * y_col_stride, mask=exists)
    tl.store(out_ptr + row * out_row_stride + col * out_col_stride, x + y, mask=exists)


def add_2d(x: torch.Tensor, y: torch.Tensor, *, block: int = BLOCK,
           out: torch.Tensor | None = None) -> torch.Tensor:
    """x + y by add_2d_kernel, one program for each block of `block` elements, counted row by row.

    x, y: (n_rows, n_cols) float32 of any strides, on one device; neither is copied. block: a power of two.
    out: (n_rows, n_cols) float32 of any strides; allocated row-major if not given.
    """
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device) if out is None else out
    n, n_cols = x.numel(), x.shape[1]
    add_2d_kernel[(triton.cdiv(n, block),)](x, y, out, n, n_cols, *x.stride(), *y.stride(), *out.stride(),
                                            BLOCK=block)
    return out


# Task 4
def predict_traffic(n: int) -> int:
    """Bytes that vector_add moves for n elements of float32, each read or written once."""
    return 3 * 4 * n
