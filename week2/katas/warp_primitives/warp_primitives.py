"""Week 2, kata: warp primitives

Challenge
    The 32 lanes of a warp can read each other's registers and vote, without shared memory and without a barrier. Use
    it for rows of a matrix, one warp a row: a sum that every lane gets and running sums; in a second sitting, tasks 3
    and 4, positive elements packed together, a search that ends early, and a product of matrices.

        lane                    0   1   2   3   4   5   6   7      eight of 32 lanes
        value                   5   2   8   1   4   7   3   6
        + that of lane ^ 4      9   9  11   7   9   9  11   7
        + that of lane ^ 2     20  16  20  16  20  16  20  16
        + that of lane ^ 1     36  36  36  36  36  36  36  36      a butterfly: every lane has the sum

        value                   5  -2   8  -1   4  -7   3   6
        positive? one bit       1   0   1   0   1   0   1   1      a vote: five in all
        such bits below         0       1       2       3   4      the place of each positive value

Explore
    ./course python -Wi -c "import week2.katas.warp_primitives.warp_primitives as w; print(w.lanes_active(48).tolist())"
    Every fourth of 48 threads asks how many lanes are with it. Why eight in one warp, and four in the other?

Concept
    Lane: cuda.laneid is 0 to 31. Here warp number r of the grid takes row r: cuda.grid(1) // WARP. shares_kernel is
    given: read it first. A lane without an element takes part with a 0, which adds nothing and is neither > 0 nor
    < 0; in a kernel it is np.float32(0), for 0.0 is a float64.
    Mask: the first argument of each of these functions has a bit for each lane that must come to the call. With ALL,
    all 32 must come: call it outside of any branch or loop that parts the lanes, with a neutral value where there is
    nothing. `if row < rows` is no such branch, for the lanes of a warp have one row. A loop parts them if some have
    a turn more than others.
    Butterfly: cuda.shfl_xor_sync(ALL, value, distance) is the `value` of lane laneid ^ distance. Two lanes swap, and
    both add. After distances 16, 8, 4, 2 and 1 every lane has the sum. It takes 5 shuffles, not 31.
    Scan: running sums; [5, 2, 8] becomes [5, 7, 15]. cuda.shfl_up_sync(ALL, value, distance) is the `value` of the
    lane that is `distance` lower. Distances 1, 2, 4, 8, 16: all lanes call, then those from lane `distance` on add.
    The lower ones have nobody to ask, get their own value back, and must not add it.
    Broadcast: cuda.shfl_sync(ALL, value, lane) is the `value` of that one lane, for all. Lane 32 is lane 0: a shuffle
    reads the lower five bits only. A warp takes a long row in turns of 32 elements: a carry goes to the next turn, and
    is what lane 31 stores.
    Vote: cuda.ballot_sync(ALL, condition) is an int32, the same in every lane, with a bit for each lane in which the
    condition is true. Lane 31 has the sign bit, so there are votes where votes != 0. cuda.popc(bits) counts ones.
    cuda.lanemask_lt() has the bits of all lower lanes, so cuda.popc(votes & cuda.lanemask_lt()) says how many of them
    voted yes. cuda.ffs(bits) is the number of the lowest one, counted from 1; 0 if there is none. cuda.any_sync and
    cuda.all_sync tell only whether any or all voted yes.
    Leaving together: a loop that a warp ends early ends by a vote, since all lanes see the same one. If each lane
    left when it was done, the others would wait for it in the next vote.
    activemask: cuda.activemask() has a bit for each lane that is here now. That is what happened, not what was meant:
    a compiler may part lanes that could have stayed together. Only ALL says which lanes have to come.
    Product: lane k holds x[row, k] in a register. In step k, shfl_sync hands that element to all lanes, and each
    multiplies it with w[k, lane], 32 neighbours. No shared memory holds x.

Code it
    Task 1  butterfly_sum: the sum of a warp, in each of its lanes                          (three lines)
    Task 2  warp_scan, scan_kernel: running sums of 32 elements, then of rows of any length  (fifteen lines)
    Task 3  compact_kernel: the positive elements of each row, in their order               (twelve lines)
    Task 4  first_kernel, times_matrix: a search that a vote ends, and a product             (fifteen lines)

Verify
    pytest week2/katas/warp_primitives       then: ./course quiz week2/katas/warp_primitives
    Reflect: rows have 100,000 elements, and there are two of them. What would you give back to shared memory?

Simulated without a GPU: results, bytes, and who takes part in a call are exact. Time is not simulated.
"""

import tools.gpu  # a real GPU or a simulated one

import numpy as np
import torch
from tools.gpu import cuda, device

WARP = 32         # lanes
ALL = 0xFFFFFFFF  # lanes of a warp, a bit for each
THREADS = 128     # of a block: four warps, for four rows


def blocks_for(rows: int) -> int:
    """Blocks of THREADS threads with a warp for each row; at least one. Given."""
    return max(1, -(-rows * WARP // THREADS))


@cuda.jit
def active_kernel(out):
    """Given."""
    i = cuda.grid(1)
    if i < out.size and i % 4 == 0:
        out[i] = cuda.popc(cuda.activemask())


def lanes_active(threads: int) -> torch.Tensor:
    """For every fourth of so many threads of a block, at most 1024: the lanes that are active beside it. Given."""
    out = torch.zeros(threads, dtype=torch.int32, device=device)
    active_kernel[1, threads](out)
    return out


# Task 1
@cuda.jit(device=True)  # a function for kernels to call
def butterfly_sum(value):
    """The sum of `value` over the 32 lanes of a warp, in each of them. All lanes come."""
    pass


@cuda.jit
def shares_kernel(x, out):
    """Given."""
    row, lane = cuda.grid(1) // WARP, cuda.laneid
    if row < x.shape[0]:
        value = x[row, lane] if lane < x.shape[1] else np.float32(0)
        total = butterfly_sum(value)
        if lane < x.shape[1]:
            out[row, lane] = value / total


def shares(x: torch.Tensor) -> torch.Tensor:
    """Each element of x divided by the sum of its row. Given.

    x: (rows, columns) float32, contiguous, at most 32 columns.
    """
    out = torch.empty_like(x)
    shares_kernel[blocks_for(x.shape[0]), THREADS](x, out)
    return out


# Task 2
@cuda.jit(device=True)
def warp_scan(value):
    """In lane l: the sum of `value` over the lanes 0 to l of its warp. All lanes come."""
    pass


@cuda.jit
def scan_kernel(x, out):
    """Stores the running sums of each row of x in out; the grid has a warp for each row."""
    pass


def scan_rows(x: torch.Tensor) -> torch.Tensor:
    """The running sums of each row of x, by scan_kernel. x: (rows, columns) float32, contiguous. Given."""
    out = torch.empty_like(x)
    scan_kernel[blocks_for(x.shape[0]), THREADS](x, out)
    return out


# Task 3
@cuda.jit
def compact_kernel(x, out, counts):
    """Stores the elements > 0 of each row of x at the front of that row of out, in order, and their number in counts.

    What lies behind them in out stays as it is. The grid has a warp for each row.
    """
    pass


def compact_rows(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """(out, counts) of compact_kernel, with zeros behind the last positive element. Given.

    x: (rows, columns) float32, contiguous. out: as x. counts: (rows,) int32.
    """
    out, counts = torch.zeros_like(x), x.new_zeros(x.shape[0], dtype=torch.int32)
    compact_kernel[blocks_for(x.shape[0]), THREADS](x, out, counts)
    return out, counts


# Task 4
@cuda.jit
def first_kernel(x, places):
    """Stores in places[row] where the first element < 0 of that row of x lies; -1 if there is none.

    A row is not read beyond the 32 elements in which it was found. The grid has a warp for each row.
    """
    pass


def first_negative(x: torch.Tensor) -> torch.Tensor:
    """places of first_kernel, (rows,) int32. x: (rows, columns) float32, contiguous. Given."""
    places = x.new_full((x.shape[0],), -2, dtype=torch.int32)  # -2: nothing was stored
    first_kernel[blocks_for(x.shape[0]), THREADS](x, places)
    return places


@cuda.jit(device=True)
def times_matrix(value, w):
    """The element of this lane of the row times w. value: the row's, one in each lane. w: (32, 32) float32."""
    pass


@cuda.jit
def product_kernel(x, w, out):
    """Given."""
    row, lane = cuda.grid(1) // WARP, cuda.laneid
    if row < x.shape[0]:
        out[row, lane] = times_matrix(x[row, lane], w)


def product(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    """x @ w by shuffles. x: (rows, 32), w: (32, 32), both float32 and contiguous. Given."""
    out = torch.empty_like(x)
    product_kernel[blocks_for(x.shape[0]), THREADS](x, w, out)
    return out
