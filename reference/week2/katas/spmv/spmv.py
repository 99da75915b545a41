"""Week 2, kata: spmv

Challenge
    Often most elements of a matrix are zero. A *sparse* matrix keeps the others alone, its non-zeros, and y = A @ x
    reads nothing else. Each element of y sums a row: two terms here, thirty thousand there. Write three kernels that
    differ in who adds up what: a thread a row, 32 lanes a row; in a second sitting, task 4, a program an equal share.

        A, 4 x 4             indptr    0     2 2       5   6       row r has the places indptr[r] to indptr[r + 1] - 1
        5  .  2  .           place     0   1   2   3   4   5
        .  .  .  .           indices   0   2   0   1   3   2       the column of each non-zero
        8  1  .  4           values    5   2   8   1   4   7
        .  .  7  .           shares of 4      0      |   1         row 2 lies in both

Explore
    ./course python -W ignore -c "import torch; print(torch.tensor([[5., 2], [0, 0], [8, 1]]).to_sparse_csr())"
    The same three arrays under other names (-W ignore: no warnings). Which tells you that row 1 is empty, and how?

Concept
    CSR (compressed sparse rows): indptr, indices, values. The non-zeros stand row after row; row r begins at place
    indptr[r] and ends before place indptr[r + 1]. The last element of indptr is the number of non-zeros.
    A thread a row: cuda.grid(1) is its row, and y has an element for each row. Its sum begins with np.float32(0), as
    0.0 is float64, and it adds values[k] * x[indices[k]] for the places k of its row. Its neighbour is in the next row:
    where rows are long, each lane asks for a sector of its own. A warp takes as many turns as its longest row.
    Busy lanes: the share of lanes that have a non-zero to add, over all turns of all warps. A warp holds 32 rows, the
    last warp perhaps fewer, but each turn counts 32 lanes.
    Imbalance: the length of the longest row, over the mean of all rows, empty ones too. A program ends with the longest
    of its rows, the launch with its last program: while one of them adds up a row of millions, all other SMs are idle.
    Traffic: a non-zero costs its value, its column and an element of x, 4 bytes each. A row costs two elements of
    indptr and its result. Each load counts, even if another thread loads the same element.
    Lanes along a row: a program takes ROWS rows as a table of sums, tl.zeros((ROWS, LANES), tl.float32). In each turn
    the lanes of a row take LANES places side by side, starts[:, None] + first + tl.arange(0, LANES)[None, :], with
    first = 0, LANES, 2 * LANES, ... [:, None] makes a column of a block, [None, :] a row, and their sum is a table. The
    longest row has tl.max(ends - starts) places, and the loop takes the turns that they need, no more. After it
    tl.sum(table, 1) adds up each row of the table; in the loop it would make the lanes exchange sums in each turn.
    What does not exist: places beyond their row are masked in all three loads, with other=0 for columns, so that each
    is a number, and other=0.0 for values and x. To load x[0] instead, and count on the value 0.0, is wrong: x[0] may be
    NaN, and 0 * NaN too. An empty row does exist. y may hold anything before the call, so its sum of 0 is stored too.
    Shares: program p takes SHARE places from p * SHARE on, whatever rows they belong to. row_of searches indptr for the
    row of the first. It has numbers, no blocks, so if and while work as in Python; a return may not stand in them. Row
    low begins at or before that place; row high begins after it, or high is rows, one past the last. The row in the
    middle becomes low or high, until high is low + 1. Then low is the row: of several that begin at one place the last,
    since the others are empty. From there share_kernel takes ROWS rows at a time. tl.maximum(starts, begin) and
    tl.minimum(ends, end) cut off what belongs to other programs. What is left of a row may end before it starts.
    A row may lie in several shares, so each program adds its part to y, which begins with zeros:
    tl.atomic_add(y_ptr + row, sums, mask=..., sem="relaxed"). The mask leaves out rows of which nothing is left. By
    default an atomic also puts all other memory in order, which nobody needs; the kernel took 1.3 times as long then.

Code it
    Task 1  row_kernel: a thread a row, as a CUDA kernel                                   (six lines)
    Task 2  imbalance, busy_lanes, predict_traffic: before you count                       (six lines)
    Task 3  row_sums, and the rest of lanes_kernel: a table of rows and lanes           (eleven lines)
    Task 4  row_of and add_parts: the same number of places for every program              (ten lines)

Verify
    pytest week2/katas/spmv            then: ./course quiz week2/katas/spmv
    Reflect: your matrix is used a thousand times. What would you compute once, and keep beside it?

Simulated without a GPU: results, bounds, bytes, sectors and lanes are exact. Time and caches are not simulated. On an
H200 (2026-11-23) row_kernel reached 0.54 of cuSPARSE's speed with 2**20 rows of 32, lanes_kernel 1.02. With rows from 9
to some 30,000 they reached 0.08 and 0.2, and share_kernel 0.81.
"""

import tools.gpu  # a real GPU or a simulated one; before triton

import numpy as np
import torch
import triton
import triton.language as tl
from tools.gpu import cuda

WARP = 32      # lanes
THREADS = 256  # of a block of row_kernel
SHARE = 2048   # non-zeros of a program of share_kernel


def csr_from_dense(dense: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """(indptr, indices, values) of a matrix: int32, int32 and the dtype of the matrix. Given."""
    rows, cols = torch.nonzero(dense, as_tuple=True)
    indptr = torch.zeros(dense.shape[0] + 1, dtype=torch.int32, device=dense.device)
    indptr[1:] = torch.bincount(rows, minlength=dense.shape[0]).cumsum(0)
    return indptr, cols.to(torch.int32), dense[rows, cols]


def row_lengths(indptr: list[int]) -> list[int]:
    """The number of non-zeros of each row. Given."""
    return [end - start for start, end in zip(indptr, indptr[1:])]


# Task 1
@cuda.jit
def row_kernel(indptr, indices, values, x, y):
    row = cuda.grid(1)
    if row < y.size:
        total = np.float32(0)
        for k in range(indptr[row], indptr[row + 1]):
            total += values[k] * x[indices[k]]
        y[row] = total


def spmv_rows(indptr: torch.Tensor, indices: torch.Tensor, values: torch.Tensor, x: torch.Tensor, *,
              out: torch.Tensor | None = None) -> torch.Tensor:
    """A @ x by row_kernel. Given.

    indptr: (rows + 1,) int32, indices: (n,) int32, values: (n,) float32: a matrix in CSR. x: (cols,) float32.
    out: (rows,) float32, allocated if not given. All contiguous; rows at least 1.
    """
    rows = indptr.numel() - 1
    out = x.new_empty(rows) if out is None else out
    row_kernel[triton.cdiv(rows, THREADS), THREADS](indptr, indices, values, x, out)
    return out


# Task 2
def imbalance(indptr: list[int]) -> float:
    """The length of the longest row, over the mean length. There is at least one non-zero."""
    lengths = row_lengths(indptr)
    return max(lengths) / (sum(lengths) / len(lengths))


def busy_lanes(indptr: list[int]) -> float:
    """The share of busy lanes in the loop of row_kernel, from 0 to 1. There is at least one non-zero."""
    lengths = row_lengths(indptr)
    turns = sum(max(lengths[first : first + WARP]) for first in range(0, len(lengths), WARP))
    return sum(lengths) / (WARP * turns)


def predict_traffic(rows: int, nonzeros: int) -> int:
    """Bytes of global memory that spmv_rows loads and stores; each load of an element of x counts."""
    return 12 * nonzeros + 12 * rows


# Task 3
@triton.jit
def row_sums(starts, ends, indices_ptr, values_ptr, x_ptr, ROWS: tl.constexpr, LANES: tl.constexpr):
    """A block of ROWS sums: values * x over the places from starts[i] on and before ends[i]."""
    sums = tl.zeros((ROWS, LANES), tl.float32)
    for first in range(0, tl.max(ends - starts), LANES):
        places = starts[:, None] + first + tl.arange(0, LANES)[None, :]
        exists = places < ends[:, None]
        cols = tl.load(indices_ptr + places, mask=exists, other=0)
        x = tl.load(x_ptr + cols, mask=exists, other=0.0)
        sums += x * tl.load(values_ptr + places, mask=exists, other=0.0)
    return tl.sum(sums, 1)


@triton.jit
def lanes_kernel(indptr_ptr, indices_ptr, values_ptr, x_ptr, y_ptr, rows, ROWS: tl.constexpr, LANES: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    starts = tl.load(indptr_ptr + row, mask=row < rows, other=0)
    ends = tl.load(indptr_ptr + row + 1, mask=row < rows, other=0)
    sums = row_sums(starts, ends, indices_ptr, values_ptr, x_ptr, ROWS=ROWS, LANES=LANES)
    tl.store(y_ptr + row, sums, mask=row < rows)


def spmv_lanes(indptr: torch.Tensor, indices: torch.Tensor, values: torch.Tensor, x: torch.Tensor, *,
               rows_each: int = 8, lanes: int = 32, out: torch.Tensor | None = None) -> torch.Tensor:
    """A @ x by lanes_kernel, one program for each rows_each rows. Given.

    rows_each, lanes: powers of two. Places are int32, also those beyond a row: the number of non-zeros, the longest row
    and lanes together stay below 2**31. The rest as for spmv_rows.
    """
    rows = indptr.numel() - 1
    out = x.new_empty(rows) if out is None else out
    lanes_kernel[(triton.cdiv(rows, rows_each),)](indptr, indices, values, x, out, rows, ROWS=rows_each, LANES=lanes)
    return out


# Task 4
@triton.jit
def row_of(place, indptr_ptr, rows):
    """The row in which a place lies: the last one that begins at or before it."""
    low, high = 0, rows
    while high - low > 1:
        middle = (low + high) // 2
        if tl.load(indptr_ptr + middle) <= place:
            low = middle
        else:
            high = middle
    return low


@triton.jit
def row_of_kernel(indptr_ptr, rows_ptr, rows):
    """Store the row of each place, a program each. Given."""
    place = tl.program_id(0)
    tl.store(rows_ptr + place, row_of(place, indptr_ptr, rows))


def rows_of(indptr: torch.Tensor) -> torch.Tensor:
    """The row of each non-zero, (nonzeros,) int32, by row_of alone. Given, to test it."""
    nonzeros = int(indptr[-1])
    out = indptr.new_empty(nonzeros)
    row_of_kernel[(nonzeros,)](indptr, out, indptr.numel() - 1)
    return out


@triton.jit
def add_parts(row, starts, ends, begin, end, indices_ptr, values_ptr, x_ptr, y_ptr, ROWS: tl.constexpr,
              LANES: tl.constexpr):
    """Add to y the sums of a block of rows over their places from begin on and before end."""
    starts, ends = tl.maximum(starts, begin), tl.minimum(ends, end)
    sums = row_sums(starts, ends, indices_ptr, values_ptr, x_ptr, ROWS=ROWS, LANES=LANES)
    tl.atomic_add(y_ptr + row, sums, mask=starts < ends, sem="relaxed")


@triton.jit
def share_kernel(indptr_ptr, indices_ptr, values_ptr, x_ptr, y_ptr, rows, nonzeros, SHARE: tl.constexpr,
                 ROWS: tl.constexpr, LANES: tl.constexpr):
    """Add to y what the places of one share come to. Given."""
    begin = tl.program_id(0) * SHARE
    end = tl.minimum(begin + SHARE, nonzeros)
    first, done = row_of(begin, indptr_ptr, rows), begin
    while done < end:
        row = first + tl.arange(0, ROWS)
        starts = tl.load(indptr_ptr + row, mask=row < rows, other=nonzeros)
        ends = tl.load(indptr_ptr + row + 1, mask=row < rows, other=nonzeros)
        add_parts(row, starts, ends, begin, end, indices_ptr, values_ptr, x_ptr, y_ptr, ROWS=ROWS, LANES=LANES)
        first, done = first + ROWS, tl.max(ends)


def spmv_shares(indptr: torch.Tensor, indices: torch.Tensor, values: torch.Tensor, x: torch.Tensor, *,
                share: int = SHARE, rows_each: int = 4, lanes: int = 32,
                out: torch.Tensor | None = None) -> torch.Tensor:
    """A @ x by share_kernel, one program for each `share` non-zeros; rows_each rows at a time. Given.

    share: any number from 1. rows_each, lanes: powers of two. The number of non-zeros, share and lanes together stay
    below 2**31. The rest as for spmv_rows.
    """
    rows, nonzeros = indptr.numel() - 1, values.numel()
    out = x.new_empty(rows) if out is None else out
    out.zero_()
    share_kernel[(triton.cdiv(nonzeros, share),)](indptr, indices, values, x, out, rows, nonzeros, SHARE=share,
                                                  ROWS=rows_each, LANES=lanes, num_warps=1)  # 4 x 32 sums are few
    return out
