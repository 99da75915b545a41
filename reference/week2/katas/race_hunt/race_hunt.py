"""Week 2, kata: race_hunt

Challenge
    Eight kernels. One is healthy; seven are wrong, though most of these give the right result on most days. Find out
    from reports what is wrong with each, and mend it with no more than it needs; tasks 3 and 4 are a second sitting, at
    whose end you write the heart of such a report yourself.

        mirror: a block turns tile after tile of 64 elements round. Its two warps need not keep step:
            warp 0   stores 0 to 31  | loads 63 to 32, stores 0 to 31 of the next tile
            warp 1   stores 32 to 63 | (is held up)             loads 31 to 0: of this tile, or of the next one?
                                  barrier

Explore
    The kernels stand in planted.py, which stays as it is. Read the first, and guess: which line, which two threads?
    Then let it run on its sample and see what the simulator reports:
    ./course python -m week2.katas.race_hunt.planted mirror

Concept
    Race: two threads use one element, at least one of them changes it, and nothing puts the two in order. Two loads
    do not race, nor do two atomics; an atomic and a plain load do. In shared memory it is also called a *hazard*.
    The report names the line and the thread that came later, then the thread and the line that came before.
    Three causes, three cures. A thread has to wait for others: a barrier. Several threads change one element, as
    they should: an atomic. Two threads use one element, and each should have its own: another index. A barrier
    between their two stores would end the race, and leave the result wrong.
    Barriers: cuda.syncthreads() is for all threads of a block. What one thread stored needs it before others load
    it, and again before it is overwritten. In a loop, the last line of a turn comes just before the first line.
    Warps: cuda.syncwarp() lets the 32 lanes of a warp wait for each other, and no other warp. *Warp-synchronous* code
    leaves it out, since lanes go in step; since Volta GPUs no longer promise that. All lanes have to come to it; of a
    mask, cuda.syncwarp(mask), all that it names, and only these are put in order.
    Fences: cuda.threadfence() and threadfence_block() make no thread wait for another. They are no barriers.
    Branches: all threads of a block have to come to the same barrier, which is one line. It may stand in a branch that
    all of them take, chosen by the block's number, say. Else some wait for others who never come, and a barrier in the
    other arm is another one: end the branch, wait, begin it again. A thread that has left by return is not waited for.
    Values: shared memory holds nothing defined until somebody stores to it. (The report: "nothing was stored".) If the
    result needs that value, the read is right, and what is missing is the store.
    Masks: a mask is about places. One that suits x_ptr + i need not suit x_ptr + i + 1.
    On a GPU: compute-sanitizer watches kernels. Of its tools racecheck looks for races in shared memory alone, between
    warps and within one; memcheck for accesses outside of arrays, and initcheck for elements inside of arrays that are
    loaded before anybody stored to them, in global memory alone. synccheck is for barriers; but on an H200 it reported
    none of those that some threads passed by. With one more barrier behind such a one, the kernel hung.
    ./course python -m week2.katas.race_hunt.sanitize     runs all four on planted.py, where there is a GPU.
    A report of your own: note of each access which thread made it, how many barriers of its block the thread had
    passed, whether it was a load, a store or an atomic, and of which element. Two accesses with different numbers of
    barriers are in order, since all threads of a block pass the same barriers. (syncwarp is not counted there.) Such a
    list is long, so a new access is compared only with those that may race with it.

Code it
    Task 1  findings: what the reports say; by_tool: which tool sees it on an H200           (twelve lines)
    Task 2  mirror, row_sums, below_largest, snake: who waits for whom                  (four lines in all)
    Task 3  histogram, interleave, triples, steps: who has which place                  (four lines in all)
    Task 4  find_race: a report for one block and one array in shared memory                   (nine lines)

Verify
    pytest week2/katas/race_hunt           then: ./course quiz week2/katas/race_hunt
    Mend and do not rewrite: a tile stays. Nothing gets more barriers, atomics or bytes than it needs. (Behind its
    last tile mirror need not wait, but may: an if that spares that barrier is not asked for.)
    Reflect: mirror, as planted, gave the right result in a hundred runs on a GPU. What is that worth?

Simulated without a GPU: reports, results, barriers, atomics and bytes are exact.
"""

import tools.gpu  # a real GPU or a simulated one; before triton

import numpy as np
import torch
import triton
import triton.language as tl
from tools.gpu import cuda

THREADS = 64  # of a block
HALO = 66     # THREADS, and one place on either side
PAIRS = 128   # 2 * THREADS
BINS = 16
MOST_BLOCKS = 4096  # of a grid whose blocks take several pieces


# Task 1
def findings() -> dict[str, tuple[str, int, list[int]]]:
    """Of each kernel of planted.py: (kind, line, threads), as its report has them.

    kind: "race", "barrier" (some never come), "unset" (read, and nobody stored it), "bounds", or "none".
    line: that of planted.py with which the report begins; 0 if there is no report.
    threads: "race": who came later, who came before. "barrier": the first who waits, the first who never comes.
    "unset": who reads. "bounds": the program. "none": an empty list.
    """
    return {
        "mirror": ("race", 39, [0, 63]),
        "row_sums": ("race", 51, [0, 1]),
        "below_largest": ("barrier", 65, [0, 36]),
        "snake": ("none", 0, []),
        "histogram": ("race", 89, [0, 32]),
        "interleave": ("race", 100, [33, 17]),
        "triples": ("unset", 117, [63]),
        "steps": ("bounds", 124, [1]),
    }


def by_tool() -> dict[str, list[str]]:
    """Which of the eight kernels each tool of compute-sanitizer reports, on an H200, by what the lesson says.

    Keys: "racecheck", "memcheck", "synccheck" and "initcheck". Values: names, in any order; an empty list for none.
    """
    return {
        "racecheck": ["mirror", "row_sums", "histogram", "interleave"],
        "memcheck": ["steps"],
        "synccheck": [],
        "initcheck": [],
    }


def blocks_for(n: int) -> int:
    """Blocks of THREADS threads with a thread for each of n elements: 1 at least, MOST_BLOCKS at most."""
    return max(1, min(triton.cdiv(n, THREADS), MOST_BLOCKS))


# Task 2
@cuda.jit
def mirror_kernel(x, out):
    tile = cuda.shared.array(THREADS, np.float32)
    t = cuda.threadIdx.x
    for start in range(cuda.blockIdx.x * THREADS, x.size, cuda.gridsize(1)):
        tile[t] = x[start + t]
        cuda.syncthreads()
        out[start + t] = tile[THREADS - 1 - t]
        cuda.syncthreads()


def mirror(x: torch.Tensor, *, blocks: int | None = None, out: torch.Tensor | None = None) -> torch.Tensor:
    """Each piece of THREADS elements turned round. Block b takes pieces b, b + blocks, b + 2 * blocks, ...

    x: (n,) float32, n a multiple of THREADS. blocks: blocks_for(n) if not given.
    out: (n,) float32, allocated if not given.
    """
    out = torch.empty_like(x) if out is None else out
    mirror_kernel[blocks or blocks_for(x.numel()), THREADS](x, out)
    return out


@cuda.jit
def row_sums_kernel(x, out):
    sums = cuda.shared.array(THREADS, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    sums[t] = x[i]
    for step in (16, 8, 4, 2, 1):
        cuda.syncwarp()
        if t % 32 < step:
            sums[t] += sums[t + step]
    if t % 32 == 0:
        out[i // 32] = sums[t]


def row_sums(x: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    """The sum of each row, by a warp of its own.

    x: (rows, 32) float32, contiguous, rows even. out: (rows,) float32, allocated if not given.
    """
    out = x.new_empty(len(x)) if out is None else out
    row_sums_kernel[len(x) // 2, THREADS](x.view(-1), out)
    return out


@cuda.jit
def below_largest_kernel(x, out):
    largest = cuda.shared.array(1, np.int32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    if t == 0:
        largest[0] = 0
    cuda.syncthreads()
    if i < x.size:
        cuda.atomic.max(largest, 0, x[i])
    cuda.syncthreads()
    if i < x.size:
        out[i] = largest[0] - x[i]


def below_largest(x: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    """How far each element lies below the largest of its block of THREADS elements.

    x: (n,) int32, n at least 1, no element below 0. out: (n,) int32, allocated if not given.
    """
    out = torch.empty_like(x) if out is None else out
    below_largest_kernel[triton.cdiv(x.numel(), THREADS), THREADS](x, out)
    return out


@cuda.jit
def snake_kernel(x, out):
    tile = cuda.shared.array(THREADS, np.float32)
    t, row = cuda.threadIdx.x, cuda.blockIdx.x
    tile[t] = x[row, t]
    if row % 2 == 1:
        cuda.syncthreads()
        out[row, t] = tile[THREADS - 1 - t]
    else:
        out[row, t] = tile[t]


def snake(x: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    """Every second row turned round: row 1, row 3, ...

    x: (rows, THREADS) float32, contiguous, at least one row. out: the same shape, allocated if not given.
    """
    out = torch.empty_like(x) if out is None else out
    snake_kernel[len(x), THREADS](x, out)
    return out


# Task 3
@cuda.jit
def histogram_kernel(x, out):
    bins = cuda.shared.array(BINS, np.int32)
    t = cuda.threadIdx.x
    if t < BINS:
        bins[t] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        cuda.atomic.add(bins, x[i], 1)
    cuda.syncthreads()
    if t < BINS:
        cuda.atomic.add(out, t, bins[t])


def histogram(x: torch.Tensor, *, blocks: int | None = None, out: torch.Tensor | None = None) -> torch.Tensor:
    """How often each of 0, 1, ... BINS - 1 occurs.

    x: (n,) int32 from 0 to BINS - 1. blocks: blocks_for(n) if not given.
    out: (BINS,) int32, allocated if not given; what it held does not count.
    """
    out = x.new_empty(BINS) if out is None else out
    out.zero_()
    histogram_kernel[blocks or blocks_for(x.numel()), THREADS](x, out)
    return out


@cuda.jit
def interleave_kernel(a, b, out):
    tile = cuda.shared.array(PAIRS, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    tile[2 * t] = a[i]
    tile[2 * t + 1] = b[i]
    cuda.syncthreads()
    for k in range(t, PAIRS, THREADS):
        out[cuda.blockIdx.x * PAIRS + k] = tile[k]


def interleave(a: torch.Tensor, b: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    """a[0], b[0], a[1], b[1], ...

    a, b: (n,) float32, n a multiple of THREADS and not 0. out: (2 * n,) float32, allocated if not given.
    """
    out = a.new_empty(2 * len(a)) if out is None else out
    interleave_kernel[len(a) // THREADS, THREADS](a, b, out)
    return out


@cuda.jit
def triples_kernel(x, out):
    tile = cuda.shared.array(HALO, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    tile[t + 1] = x[i] if i < x.size else np.float32(0)
    if t == 0:
        tile[0] = x[i - 1] if i > 0 else np.float32(0)
    if t == THREADS - 1:
        tile[HALO - 1] = x[i + 1] if i + 1 < x.size else np.float32(0)
    cuda.syncthreads()
    if i < x.size:
        out[i] = tile[t] + tile[t + 1] + tile[t + 2]


def triples(x: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    """x[i - 1] + x[i] + x[i + 1] for each i; what lies before the first and after the last counts as 0.

    x: (n,) float32, n at least 1. out: (n,) float32, allocated if not given.
    """
    out = torch.empty_like(x) if out is None else out
    triples_kernel[triton.cdiv(x.numel(), THREADS), THREADS](x, out)
    return out


@triton.jit
def steps_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    after = tl.load(x_ptr + i + 1, mask=i + 1 < n, other=0.0)
    tl.store(out_ptr + i, after - x, mask=i < n)


def steps(x: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    """x[i + 1] - x[i] for each i; what lies after the last counts as 0.

    x: (n,) float32, contiguous, n at least 1. out: (n,) float32, allocated if not given.
    """
    out = torch.empty_like(x) if out is None else out
    steps_kernel[(triton.cdiv(x.numel(), 64),)](x, out, x.numel(), BLOCK=64)
    return out


# Task 4
def find_race(accesses: list[tuple[int, int, str, int]]) -> tuple[int, int] | None:
    """(place of the later access, place of the one before) in the list: the first race in it, None if there is none.

    accesses: (thread, barriers, operation, element) of one block, as they happened in one run: who, how many barriers
    of the block it had passed by then, "load", "store" or "atomic", and which element of a shared array.
    No thread passes a barrier before all have come to it: along the list the numbers of barriers never fall.
    The first race is the one whose later access comes first in the list; if that one races with several before it,
    the one of them that comes first.
    The list may be long: a new access is looked at beside earlier ones of its element and its number of barriers alone.
    """
    same = {}  # (barriers, element) -> places of the accesses so far
    for later, (thread, barriers, operation, element) in enumerate(accesses):
        before = same.setdefault((barriers, element), [])
        for earlier in before:
            other, _, did, _ = accesses[earlier]
            if thread != other and (operation, did) not in (("load", "load"), ("atomic", "atomic")):
                return later, earlier
        before.append(later)
    return None
