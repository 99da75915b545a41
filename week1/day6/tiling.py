"""Week 1, day 6: tiling

Challenge
    Let each program compute a *tile* of results, a small rectangle, in place of one result. Then an element that
    it loads serves a whole row or column of the tile, and the traffic falls by the size of the tile.

                   16      8              m = 40, n = 24, tiles of 16 x 16: 6 programs
                +-------+----+
            16  |   0   |  1 |            Program 5 has the tile that begins at row 32 and column 16.
                +-------+----+            Of its 16 rows 8 exist, and of its 16 columns 8.
            16  |   2   |  3 |
                +-------+----+            It needs rows 32 to 39 of a and columns 16 to 23 of b, and takes
             8  |   4   |  5 |            them in tiles as well, 16 elements of k at a time.
                +-------+----+

Explore
    ./course python -c "import numpy as np; print(np.arange(6).reshape(3, 2).repeat(2, 0).repeat(2, 1))"
    The number of each element's program, in tiles of 2 x 2. Cover the last row and the last column: what is
    left of program 5? Which rows of a and which columns of b does it need?
    ./course week1/day6/explore_tiles.py           Which programs need a mask?
    ./course week1/day6/explore_tiled_matmul.py    What does a program load again?

Concept
    Product of tiles: a matrix of tiles multiplies like a matrix of numbers. A tile of out is a sum over k: a
    tile of a times a tile of b, added to an accumulator that begins with zeros. For 16 x 16 results a step
    along k takes 16 elements of a and 16 of b, and uses each of them 16 times. On day 5 each served once.
    Two axes: [:, None] stands a block up as a column, [None, :] lays it down as a row, and a column with a row
    spreads out to a tile: row * row_stride + col * col_stride, and masks such as (row < m) & (col < n).
    tl.dot(a, b, acc) is acc plus the product of two tiles; every side of a tile is at least 16.
    input_precision="ieee" keeps float32 exact; without it, the units for small products (tensor cores) round.
    Scope and lifetime: where a number is kept decides who can use it, and for how long:
        memory           used by                  until                      in matmul_kernel
        registers        one thread               its program ends           the accumulator
        shared memory    one program's threads    the program ends           a tile of a, a tile of b
        L2               all programs             others push it out         what a neighbour has just loaded
        global memory    all, and the host        it is freed                a, b and out
    Triton puts the tiles of a and b into shared memory for you; on day 7 you do that yourself. A value that was
    loaded stays in registers as long as its name stands for it. Registers and shared memory are scarce: tiles
    cannot grow for ever.

Code it
    Task 1  tile_coordinates: where a program's tile begins, and how much of it exists     (three lines)
    Task 2  statistics_kernel: given, right, and it loads every tile twice; repair it    (one line less)
    Task 3  matmul_kernel and matmul: tiles of a, tiles of b, a sum in registers        (thirteen lines)
    Task 4  predict_traffic and reuse: the bytes, and what tiles save                       (four lines)

Verify
    pytest week1/day6                  then: ./course quiz week1/day6
    Reflect: which of its six arguments does predict_traffic not need? What is that one good for?

Simulated without a GPU: results, bounds and bytes are exact. The real compiler says how much shared memory and
how many registers a kernel takes. Time is not simulated.
"""

import tools.gpu  # a real GPU or a simulated one; before triton

import torch
import triton
import triton.language as tl

TILE = 32  # rows, columns and steps of k of a tile: 4 KiB of float32


# Task 1
def tile_coordinates(program: int, m: int, n: int, tile_m: int, tile_n: int) -> tuple[int, int, int, int]:
    """The first row and the first column of a program's tile of an (m, n) matrix; how many of each exist.

    Tiles have tile_m rows and tile_n columns, and are counted row by row.
    """
    raise NotImplementedError("week1/day6 task 1: tile_coordinates")


# Task 2
@triton.jit
def statistics_kernel(x_ptr, out_ptr, m, n, TILE: tl.constexpr):
    """The mean of a tile's elements, then their variance. x is row-major; out has all means first."""
    tiles_across = tl.cdiv(n, TILE)
    row = tl.program_id(0) // tiles_across * TILE + tl.arange(0, TILE)[:, None]
    col = tl.program_id(0) % tiles_across * TILE + tl.arange(0, TILE)[None, :]
    exists = (row < m) & (col < n)
    number = tl.sum(exists.to(tl.float32))
    x = tl.load(x_ptr + row * n + col, mask=exists, other=0.0)
    mean = tl.sum(x) / number
    tl.store(out_ptr + tl.program_id(0), mean)
    x = tl.load(x_ptr + row * n + col, mask=exists, other=0.0)
    apart = tl.where(exists, x - mean, 0.0)
    tl.store(out_ptr + tl.num_programs(0) + tl.program_id(0), tl.sum(apart * apart) / number)


def tile_statistics(x: torch.Tensor, *, tile: int = TILE, out: torch.Tensor | None = None) -> torch.Tensor:
    """Mean and variance of each tile of x by statistics_kernel: out[0] and out[1].

    x: (m, n) float32, contiguous; neither m nor n is 0. tile: a power of two from 16.
    out: (2, tiles down, tiles across) float32, contiguous, allocated if not given.
    """
    (m, n), (down, across) = x.shape, (triton.cdiv(length, tile) for length in x.shape)
    out = torch.empty((2, down, across), dtype=x.dtype, device=x.device) if out is None else out
    statistics_kernel[(down * across,)](x, out, m, n, TILE=tile)
    return out


# Task 3
@triton.jit
def matmul_kernel(a_ptr, b_ptr, out_ptr, m, n, k, a_row_stride, a_col_stride, b_row_stride, b_col_stride,
                  out_row_stride, out_col_stride, TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr):
    pass  # which rows and columns are mine; tile by tile of k: load what exists, multiply, add; store what exists


def matmul(a: torch.Tensor, b: torch.Tensor, *, tile_m: int = TILE, tile_n: int = TILE, tile_k: int = TILE,
           out: torch.Tensor | None = None) -> torch.Tensor:
    """a @ b by matmul_kernel, one program for each tile of the result, counted row by row.

    a: (m, k), b: (k, n), float32 of any strides, on one device; neither is copied.
    tile_m, tile_n, tile_k: powers of two from 16. out: (m, n) float32 of any strides; row-major if not given.
    """
    (m, k), n = a.shape, b.shape[1]
    out = torch.empty((m, n), dtype=a.dtype, device=a.device) if out is None else out
    raise NotImplementedError("week1/day6 task 3: matmul")


# Task 4
def predict_traffic(m: int, n: int, k: int, tile_m: int, tile_n: int, tile_k: int) -> int:
    """Bytes that the programs of matmul load and store, for an (m, k) and a (k, n) matrix of float32."""
    raise NotImplementedError("week1/day6 task 4: predict_traffic")


def reuse(m: int, n: int, k: int, tile_m: int, tile_n: int, tile_k: int) -> float:
    """Products that each loaded element serves, on average: 1 on day 5. None of m, n and k is 0."""
    raise NotImplementedError("week1/day6 task 4: reuse")
