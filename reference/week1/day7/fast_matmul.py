"""Week 1, day 7: a fast matmul kernel

Challenge
    Write two kernels that pass 1000 GFLOPS on an H200. In CUDA you say which thread loads what, and who waits
    for whom. In Triton the compiler says so, and an autotuner chooses the size of the tiles. One of the two is
    about six times as fast as the other. Say which, and why, before anybody times them. The day
    takes two sittings: tasks 1 to 3, then tasks 4 and 5.

        a warp loads from matrices with 64 columns; x = 0 to 31 is the thread          sectors of 32 bytes
            b[p, x]    1 element apart      |0 .. 7|8 .. 15|16 .. 23|24 .. 31|                   4
            a[x, p]    64 elements apart    |0     |  |1     |  |2     |   ...   |31     |      32
            a[5, p]    all the same         |0 .. 31|                                            1

Explore
    ./course python -c "print({4 * 2 * x // 32 for x in range(32)})"
    The sectors of a warp whose threads load elements 2 apart. Try 1, 8, 64 and 0. When do they stop growing?
    ./course week1/day7/explore_coalescing.py    At which stride does a warp touch the most sectors?

Concept
    Coalescing: the threads of a warp differ in x before they differ in y. cuda.grid(2) gives x first, and so do
    grids: [(blocks_x, blocks_y), (threads_x, threads_y)]. If x is the last index, [row, x], then what a warp
    asks for lies together in memory, and every byte of its sectors is used.
    Thread in its block: cuda.threadIdx.x and cuda.threadIdx.y, both from 0 to TILE - 1 in blocks of TILE x TILE.
    Shared memory: cuda.shared.array(shape, np.float32) is one array for all threads of a block; its shape must
    be constants, such as (TILE, TILE). Each thread loads one element of a tile of a and one of a tile of b into
    it, and then uses what the others have loaded: day 6's saving, by hand.
    Barriers: at cuda.syncthreads() each thread waits until all threads of its block are there. One stands
    before the tiles are used: they are full. One stands before they are filled again: all have finished. A
    thread whose result does not exist comes too; where a or b has no element, it stores a zero.
    Banks: shared memory has 32 banks, and element i of a float32 array is in bank i % 32. A *wavefront* is one
    pass over the banks, in which each serves one element. 32 neighbours take one wavefront; so does one element
    for all lanes. Different elements in one bank take a wavefront each: a *conflict*.
    Limit: each product takes two numbers from shared memory, and an SM serves one wavefront a clock. tl.dot
    loads a few rows and columns into registers, and uses each number several times.
    Types: in a CUDA kernel 0 is an integer and 0.0 is float64. A sum that begins with one of them becomes float64,
    and so does a[row, p] if p < k else 0. With np.float32(0) both stay float32.
    Autotuning: a *config* is one choice of sizes. For a new shape the autotuner times all configs and keeps the
    fastest. The grid depends on the choice, so it is given as a function of the config, a dict such as
    {"TILE_M": 64, ...}. The autotuner passes these sizes to the kernel: the launch must not.

Code it
    Task 1  sectors_of_request: what a load costs, by how far apart threads look            (one line)
    Task 2  simple_kernel, matmul_simple: given, right, and down the columns; repair them  (two lines)
    Task 3  tiled_kernel and matmul_tiled: fill, wait, multiply, wait                (seventeen lines)
    Task 4  predict_traffic, predict_wavefronts, ceiling: what will limit it            (five lines)
    Task 5  dot_kernel and matmul_dot: day 6's kernel, for any config                 (seventeen lines)

Verify
    pytest week1/day7                  then: ./course quiz week1/day7
    Reflect: which steps of this week saved traffic, which saved waiting, and which saved work?

Simulated without a GPU: results, bounds, races, barriers, bytes, sectors and conflicts are exact, and the
compilers are the real ones. Time is not simulated: the autotuner runs each config once, and keeps the first.
"""

import tools.gpu  # a real GPU or a simulated one; before triton

import numpy as np
import torch
import triton
import triton.language as tl
from tools.gpu import cuda

WARP = 32    # threads
TILE = 32    # rows and columns of a tile, and of a block's threads
LANES = 128  # of an SM for float32, one multiply-add a clock each; 64 in compute capabilities 7.x and 8.0
CONFIGS = [triton.Config({"TILE_M": tile_m, "TILE_N": tile_n, "TILE_K": 32}, num_warps=num_warps, num_stages=3)
           for tile_m, tile_n, num_warps in [(64, 128, 8), (64, 64, 4), (128, 64, 8)]]


# Task 1
def sectors_of_request(stride: int) -> int:
    """Sectors of 32 bytes in a load of one warp, whose thread x loads element x * stride of a float32 array.

    stride: 0 or more. Element 0 begins a sector.
    """
    return max(1, min(WARP, 4 * stride))


# Task 2
@cuda.jit
def simple_kernel(a, b, out):
    """One element of out for each thread."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        total = np.float32(0)
        for p in range(a.shape[1]):
            total += a[row, p] * b[p, col]
        out[row, col] = total


def matmul_simple(a: torch.Tensor, b: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    """a @ b by simple_kernel, one thread for each element of the result, in blocks of TILE x TILE threads.

    a: (m, k), b: (k, n), float32 of any strides, on one device; m and n at least 1.
    out: (m, n) float32 of any strides; allocated row-major if not given.
    """
    m, n = a.shape[0], b.shape[1]
    out = torch.empty((m, n), dtype=a.dtype, device=a.device) if out is None else out
    simple_kernel[(triton.cdiv(n, TILE), triton.cdiv(m, TILE)), (TILE, TILE)](a, b, out)
    return out


# Task 3
@cuda.jit
def tiled_kernel(a, b, out):
    a_tile = cuda.shared.array((TILE, TILE), np.float32)
    b_tile = cuda.shared.array((TILE, TILE), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    (m, k), n = a.shape, b.shape[1]
    total = np.float32(0)
    for start in range(0, k, TILE):
        a_tile[y, x] = a[row, start + x] if row < m and start + x < k else np.float32(0)
        b_tile[y, x] = b[start + y, col] if start + y < k and col < n else np.float32(0)
        cuda.syncthreads()  # the tiles are full
        for p in range(TILE):
            total += a_tile[y, p] * b_tile[p, x]
        cuda.syncthreads()  # everybody has used them
    if row < m and col < n:
        out[row, col] = total


def matmul_tiled(a: torch.Tensor, b: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    """a @ b by tiled_kernel, one block of TILE x TILE threads for each tile of the result.

    a: (m, k), b: (k, n), float32 of any strides, on one device; m and n at least 1.
    out: (m, n) float32 of any strides; allocated row-major if not given.
    """
    m, n = a.shape[0], b.shape[1]
    out = torch.empty((m, n), dtype=a.dtype, device=a.device) if out is None else out
    tiled_kernel[(triton.cdiv(n, TILE), triton.cdiv(m, TILE)), (TILE, TILE)](a, b, out)
    return out


# Task 4
def predict_traffic(m: int, n: int, k: int, tile: int) -> int:
    """Bytes of global memory that a @ b loads and stores, where tile x tile results share what is loaded for them.

    a: (m, k), b: (k, n), float32. tile: TILE for matmul_tiled, 1 for matmul_simple.
    """
    times_a, times_b = triton.cdiv(n, tile), triton.cdiv(m, tile)  # that each element is loaded
    return 4 * (times_a * m * k + times_b * k * n + m * n)


def predict_wavefronts(m: int, n: int, k: int) -> int:
    """Wavefronts of shared memory in matmul_tiled: without conflicts one for each load or store of a warp.

    a: (m, k), b: (k, n); m, n and k are multiples of TILE.
    """
    warps, steps = m * n // WARP, k // TILE
    return warps * steps * (2 + 2 * TILE)  # two tiles filled; two numbers for each of TILE products


def ceiling(m: int, n: int, k: int) -> float:
    """Share of an SM's peak that matmul_tiled can reach, from 0 to 1, where a wavefront takes one clock.

    The peak: LANES multiply-adds a clock. m, n, k: multiples of TILE, none of them 0.
    """
    return m * n * k / LANES / predict_wavefronts(m, n, k)


# Task 5
@triton.autotune(CONFIGS, key=["m", "n", "k"])
@triton.jit
def dot_kernel(a_ptr, b_ptr, out_ptr, m, n, k, a_row_stride, a_col_stride, b_row_stride, b_col_stride,
               out_row_stride, out_col_stride, TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr):
    col = tl.program_id(0) * TILE_N + tl.arange(0, TILE_N)[None, :]
    row = tl.program_id(1) * TILE_M + tl.arange(0, TILE_M)[:, None]
    acc = tl.zeros((TILE_M, TILE_N), dtype=tl.float32)
    for start in range(0, k, TILE_K):
        p = start + tl.arange(0, TILE_K)
        a = tl.load(a_ptr + row * a_row_stride + p[None, :] * a_col_stride,
                    mask=(row < m) & (p[None, :] < k), other=0.0)
        b = tl.load(b_ptr + p[:, None] * b_row_stride + col * b_col_stride,
                    mask=(p[:, None] < k) & (col < n), other=0.0)
        acc = tl.dot(a, b, acc, input_precision="ieee")
    tl.store(out_ptr + row * out_row_stride + col * out_col_stride, acc, mask=(row < m) & (col < n))


def matmul_dot(a: torch.Tensor, b: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    """a @ b by dot_kernel, one program for each tile of the result; columns along the first axis of the grid.

    a: (m, k), b: (k, n), float32 of any strides, on one device.
    out: (m, n) float32 of any strides; allocated row-major if not given.
    """
    (m, k), n = a.shape, b.shape[1]
    out = torch.empty((m, n), dtype=a.dtype, device=a.device) if out is None else out

    def grid(config):
        return triton.cdiv(n, config["TILE_N"]), triton.cdiv(m, config["TILE_M"])

    dot_kernel[grid](a, b, out, m, n, k, *a.stride(), *b.stride(), *out.stride())
    return out
