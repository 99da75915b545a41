"""Correct kernels that count with atomics: in global memory, in shared memory, by warps, and without a lock."""

from functools import partial

import numpy as np

from tools.sim import cuda
from tools.tests.sim.cuda.corpus.case import Case, correct

CASES: list[Case] = []
case = partial(correct, CASES)
BLOCK, BINS = 64, 16
ALL = 0xFFFFFFFF


@cuda.jit
def histogram(x, counts):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(counts, x[i], 1)


@case(histogram, 3, 100)
def _(rng):
    x = rng.integers(0, BINS, 290)
    return (x, np.zeros(BINS, np.int32)), {"counts": np.bincount(x, minlength=BINS)}


@cuda.jit
def histogram_privatised(x, counts):
    mine = cuda.shared.array(BINS, np.int32)
    t = cuda.threadIdx.x
    if t < BINS:
        mine[t] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        cuda.atomic.add(mine, x[i], 1)
    cuda.syncthreads()
    if t < BINS:
        cuda.atomic.add(counts, t, mine[t])


@case(histogram_privatised, 3, 100)
def _(rng):
    x = rng.integers(0, BINS, 1000).astype(np.uint8)
    return (x, np.zeros(BINS, np.int32)), {"counts": np.bincount(x, minlength=BINS)}


@cuda.jit
def histogram_matched(x, counts):
    """Lanes with the same value send one of them."""
    i, lane = cuda.grid(1), cuda.laneid
    same = cuda.match_any_sync(ALL, x[i])
    if lane == cuda.ffs(same) - 1:
        cuda.atomic.add(counts, x[i], cuda.popc(same))


@case(histogram_matched, 2, BLOCK)
def _(rng):
    x = rng.integers(0, BINS, 2 * BLOCK).astype(np.int32)
    return (x, np.zeros(BINS, np.int32)), {"counts": np.bincount(x, minlength=BINS)}


@cuda.jit
def largest_by_cas(x, best):
    """Without a lock: whoever finds another value than expected tries again."""
    value, expected = x[cuda.grid(1)], 0
    while value > expected:
        found = cuda.atomic.cas(best, 0, expected, value)
        if found == expected:
            break
        expected = found


@case(largest_by_cas, 3, 50)
def _(rng):
    x = rng.integers(1, 1000, 150)
    return (x, np.zeros(1, np.int64)), {"best": np.array([x.max()])}
