"""Week 2, day 3: bank conflicts

Challenge
    A kernel transposes a matrix through shared memory, and asks global memory for whole sectors only. But one of its
    lines takes 32 passes over shared memory, called wavefronts, where one would do. Bring them down to one in two
    ways: the first costs memory, the second (^, see Explore) costs none. Then predict the wavefronts with and without
    padding, and how many blocks fit on an SM.

        lane x of a warp reads down column 1 of a tile of 32 x 32: which bank has its element?
                                              x = 0   1   2   3   ...   31      wavefronts
            tile[x, 1], rows of 32                1   1   1   1   ...    1          32
            tile[x, 1], rows of 33                1   2   3   4   ...    0           1
            tile[x, 1 ^ x], rows of 32            1   0   3   2   ...   30           1
            tile[5, 1], the same for all          1   1   1   1   ...    1           1

Explore
    ./course python -c "for row in range(4): print([col ^ row for col in range(4)])"
    ^ is the exclusive or of two numbers, bit by bit. Does any number stand twice in a row, or in a column?
    ./course show week2/day3                Which banks does each line of transpose_kernel ask? Below "banks" stands
                                            for each of the 32 how many elements it is asked for: * is 10 or more.
                                            Between two bars: the lanes that share a sector.
    ./course week2/day3/explore_banks.py    Which paddings make a column one wavefront?

Concept
    Banks: element i of a float32 array in shared memory is in bank i % 32. In one wavefront each bank serves one
    element, to every lane that wants it. So a request takes as many wavefronts as different elements are wanted
    from the busiest bank. That number is the *degree* of its conflict; at 1 there is none.
    Broadcast: all lanes want the same element. One wavefront serves them all: no conflict, and no need of copies.
    Strides: lanes that read 1, 2, 3, ... elements apart conflict to the degree math.gcd(stride, 32), the greatest
    common divisor; of an odd stride it is 1. (At stride 0 they read one element.) On an H200 a loop of such reads took
    1.43 times as long at stride 2 as at stride 1, 5.6 times at stride 8, 22.4 times at 32, and no longer at 33.
    Transposing: a block loads a tile along the rows of a, and after a barrier stores it along the rows of out.
    The tile in row blockIdx.y and column blockIdx.x of all tiles goes to row blockIdx.x and column blockIdx.y. A
    thread fills tile[y, x] and reads tile[x, y]: one goes along a row of the tile, the other down a column. A tile at
    the edge is part full, and out has other bounds than a: the second guard keeps to those of out.
    Padding: the tile has PADDED columns, one more than it needs, so the elements of a column are an odd number of
    elements apart. Nobody uses the column that was added.
    Swizzle: element [row, col] of the tile, both from 0 to 31, is kept in column col ^ row of its row. A row then has
    the same 32 elements in another order, and the 32 elements of a column are in 32 different columns, so in 32 banks.
    Whoever stores and whoever loads must use the same order. ^ needs rows of a power of two; (col + row) % 32 is
    another order that serves.
    Swizzle or pad, not both: in rows of 33 the swizzle brings conflicts back. The page draws diagonals as well.
    Room: the blocks of an SM share its shared memory. An H100's SM has 233472 bytes, and the system reserves 1024
    for each block; a T4's has 65536 and reserves none. A block for which there is no room waits.

Code it
    Task 1  wavefronts, conflict_degree, padding_for: what the banks make of a request    (four lines)
    Task 2  polynomial_kernel: given, right, and afraid of a broadcast; repair it, so that a block
            loads each coefficient once, and its warps read one in one wavefront          (four lines)
    Task 3  padded_kernel: transpose_kernel, with a tile that is wider                    (nine lines)
    Task 4  swizzled_kernel: the same without a byte more                                 (nine lines)
    Task 5  predict_wavefronts, tile_bytes, blocks_on_sm: what each of them costs        (three lines)

Verify
    pytest week2/day3                  then: ./course quiz week2/day3
    Reflect: a kernel reads rows, columns and diagonals of a tile. Which does padding serve, which the swizzle?

Simulated without a GPU: results, races, barriers, sectors, wavefronts and conflicts are exact; Nsight Compute counted
the same for transposes like these on an H200. Time is not simulated.
"""

import tools.gpu  # a real GPU or a simulated one; before triton

import math

import numpy as np
import torch
import triton
from tools.gpu import cuda

BANKS = 32   # of shared memory
WARP = 32    # lanes
TILE = 32    # rows and columns of a tile, and of a block's threads
PADDED = TILE + 1  # columns with padding; a shape in a kernel takes numbers and names, no sums
TERMS = 16   # of a polynomial
BLOCK = 256  # threads of a block of polynomial_kernel


# Task 1
def wavefronts(elements: list[int]) -> int:
    """How many wavefronts a warp's load of a float32 array in shared memory takes.

    elements: the number of the element that each lane wants; if no lane wants any, it is empty and takes 0.
    """
    raise NotImplementedError("week2/day3 task 1: wavefronts")


def conflict_degree(stride: int) -> int:
    """The wavefronts of a load whose lane i wants element i * stride, for any stride from 0."""
    raise NotImplementedError("week2/day3 task 1: conflict_degree")


def padding_for(cols: int) -> int:
    """The fewest columns to add to a tile of cols columns, so that 32 lanes read down one without a conflict."""
    raise NotImplementedError("week2/day3 task 1: padding_for")


# Task 2
@cuda.jit
def polynomial_kernel(x, coefficients, out):
    shared = cuda.shared.array((WARP, TERMS), np.float32)  # a copy for each lane, lest they want the same element
    thread = cuda.threadIdx.x
    if thread < WARP:
        for p in range(TERMS):
            shared[thread, p] = coefficients[p]
    cuda.syncthreads()
    i = cuda.grid(1)
    if i < x.size:
        value, total = x[i], np.float32(0)
        for p in range(TERMS):
            total = total * value + shared[thread % WARP, p]
        out[i] = total


def polynomial(x: torch.Tensor, coefficients: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    """coefficients[0] * x**15 + ... + coefficients[14] * x + coefficients[15] for each element of x. Given.

    x: (n,) float32. coefficients: (TERMS,) float32. out: (n,) float32, allocated if not given.
    """
    out = torch.empty_like(x) if out is None else out
    polynomial_kernel[max(1, triton.cdiv(x.numel(), BLOCK)), BLOCK](x, coefficients, out)
    return out


# Task 3
@cuda.jit
def transpose_kernel(a, out):
    tile = cuda.shared.array((TILE, TILE), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    if row < a.shape[0] and col < a.shape[1]:
        tile[y, x] = a[row, col]
    cuda.syncthreads()  # the tile is full
    col, row = cuda.blockIdx.y * TILE + x, cuda.blockIdx.x * TILE + y  # in out: the tile's new place
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = tile[x, y]


@cuda.jit
def padded_kernel(a, out):
    pass  # where am I; fill a tile, wait; store it in its new place


def launch(kernel, a: torch.Tensor, out: torch.Tensor | None) -> torch.Tensor:
    """Start one block of TILE x TILE threads for each tile of a, and return out. Given."""
    m, n = a.shape
    out = torch.empty((n, m), dtype=a.dtype, device=a.device) if out is None else out
    kernel[(max(1, triton.cdiv(n, TILE)), max(1, triton.cdiv(m, TILE))), (TILE, TILE)](a, out)
    return out


def transpose(a: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    """a.T by transpose_kernel, with conflicts. Given, as are the two below.

    a: (m, n) float32 of any strides. out: (n, m) float32 of any strides; allocated row-major if not given.
    """
    return launch(transpose_kernel, a, out)


def transpose_padded(a: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    """a.T by padded_kernel, without conflicts. Arguments as for transpose."""
    return launch(padded_kernel, a, out)


# Task 4
@cuda.jit
def swizzled_kernel(a, out):
    pass  # the same, with an order of columns that changes from row to row


def transpose_swizzled(a: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    """a.T by swizzled_kernel, without conflicts, and with no more shared memory than transpose. Arguments as there."""
    return launch(swizzled_kernel, a, out)


# Task 5
def predict_wavefronts(m: int, n: int, padding: int) -> int:
    """Wavefronts of shared memory in a transposition of an (m, n) matrix: all loads and stores of all warps.

    The tiles are not swizzled; their rows are padding elements longer than TILE. m and n are multiples of TILE.
    """
    raise NotImplementedError("week2/day3 task 5: predict_wavefronts")


def tile_bytes(rows: int, cols: int, padding: int) -> int:
    """Bytes of shared memory that a float32 tile takes, whose rows are padding elements longer than cols."""
    raise NotImplementedError("week2/day3 task 5: tile_bytes")


def blocks_on_sm(block_bytes: int, sm_bytes: int, reserved: int) -> int:
    """How many blocks with block_bytes of shared memory each fit on an SM at a time, as far as that memory goes.

    sm_bytes: of the SM, for all of its blocks. reserved: what the system takes of them for each block.
    """
    raise NotImplementedError("week2/day3 task 5: blocks_on_sm")
