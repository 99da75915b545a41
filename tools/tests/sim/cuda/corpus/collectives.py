"""Correct kernels that scan, compact and sort."""

from functools import partial

import numpy as np

from tools.sim import cuda
from tools.tests.sim.cuda.corpus.case import Case, correct

CASES: list[Case] = []
case = partial(correct, CASES)
BLOCK, PAIRS = 64, 128
ALL = 0xFFFFFFFF


@cuda.jit
def scan_hillis_steele(x, out):
    """Inclusive; to and fro between two rows of shared memory."""
    rows = cuda.shared.array((2, BLOCK), np.int64)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    rows[0, t] = x[i]
    cuda.syncthreads()
    now, distance = 0, 1
    while distance < BLOCK:
        if t >= distance:
            rows[1 - now, t] = rows[now, t] + rows[now, t - distance]
        else:
            rows[1 - now, t] = rows[now, t]
        cuda.syncthreads()
        now, distance = 1 - now, 2 * distance
    out[i] = rows[now, t]


@case(scan_hillis_steele, 2, BLOCK)
def _(rng):
    x = rng.integers(-9, 9, 2 * BLOCK)
    return (x, np.empty_like(x)), {"out": x.reshape(2, BLOCK).cumsum(1).ravel()}


@cuda.jit
def scan_blelloch(x, out):
    """Exclusive; two elements for each thread."""
    s = cuda.shared.array(PAIRS, np.int64)
    t = cuda.threadIdx.x
    s[2 * t], s[2 * t + 1] = x[2 * t], x[2 * t + 1]
    offset, pairs = 1, BLOCK
    while pairs > 0:
        cuda.syncthreads()
        if t < pairs:
            s[offset * (2 * t + 2) - 1] += s[offset * (2 * t + 1) - 1]
        offset, pairs = 2 * offset, pairs // 2
    if t == 0:
        s[PAIRS - 1] = 0
    pairs = 1
    while pairs <= BLOCK:
        offset //= 2
        cuda.syncthreads()
        if t < pairs:
            left, right = offset * (2 * t + 1) - 1, offset * (2 * t + 2) - 1
            s[left], s[right] = s[right], s[left] + s[right]
        pairs *= 2
    out[2 * t], out[2 * t + 1] = s[2 * t], s[2 * t + 1]


@case(scan_blelloch, 1, BLOCK)
def _(rng):
    x = rng.integers(-9, 9, 2 * BLOCK)
    return (x, np.empty_like(x)), {"out": x.cumsum() - x}


@cuda.jit
def scan_warp(x, out):
    i, lane = cuda.grid(1), cuda.laneid
    value = x[i]
    distance = 1
    while distance < 32:
        below = cuda.shfl_up_sync(ALL, value, distance)
        if lane >= distance:
            value += below
        distance *= 2
    out[i] = value


@case(scan_warp, 2, 96)
def _(rng):
    x = rng.integers(-9, 9, 192)
    return (x, np.empty_like(x)), {"out": x.reshape(6, 32).cumsum(1).ravel()}


@cuda.jit
def scan_rows(x, out):
    """A thread for each row; the rows ragged."""
    row = cuda.grid(1)
    if row < x.shape[0]:
        total = 0
        for column in range(row + 1):
            total += x[row, column]
            out[row, column] = total


@case(scan_rows, 2, 16)
def _(rng):
    x = rng.integers(-9, 9, (20, 20))
    return (x, np.zeros_like(x)), {"out": np.tril(x.cumsum(1))}


@cuda.jit
def compact(x, kept, count):
    """Keeps what is positive, in order within each warp: one atomic for a warp."""
    i, lane = cuda.grid(1), cuda.laneid
    positive = i < x.size and x[i] > 0
    chosen = cuda.ballot_sync(ALL, positive)
    start = np.int32(0)
    if lane == 0:
        start = cuda.atomic.add(count, 0, cuda.popc(chosen))
    start = cuda.shfl_sync(ALL, start, 0)
    if positive:
        kept[start + cuda.popc(chosen & ((1 << lane) - 1))] = x[i]


@case(compact, 1, 32)
def _(rng):
    x = rng.integers(-9, 9, 30)
    wanted = x[x > 0]
    kept, count = np.zeros(wanted.size, np.int64), np.zeros(1, np.int32)
    return (x, kept, count), {"kept": wanted, "count": np.array([wanted.size])}


@cuda.jit
def bitonic_sort(x):
    s = cuda.shared.array(BLOCK, np.float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    size = 2
    while size <= BLOCK:
        stride = size // 2
        while stride > 0:
            partner = t ^ stride
            if partner > t:
                ascending = (t & size) == 0
                if (s[t] > s[partner]) == ascending:
                    s[t], s[partner] = s[partner], s[t]
            cuda.syncthreads()
            stride //= 2
        size *= 2
    x[t] = s[t]


@case(bitonic_sort, 1, BLOCK)
def _(rng):
    x = rng.random(BLOCK, np.float32)
    return (x.copy(),), {"x": np.sort(x)}


@cuda.jit
def rotate_within_warp(x, out):
    """Neighbours in a warp meet in shared memory; a barrier of the warp is enough."""
    s = cuda.shared.array(BLOCK, np.int32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    s[t] = x[i]
    cuda.syncwarp()
    out[i] = s[t // 32 * 32 + (t + 1) % 32]


@case(rotate_within_warp, 2, BLOCK)
def _(rng):
    x = np.arange(2 * BLOCK, dtype=np.int32)
    return (x, np.empty_like(x)), {"out": np.roll(x.reshape(4, 32), -1, 1).ravel()}


@cuda.jit
def broadcast_within_branch(x, out):
    """The lanes of a branch take the value of the first of them."""
    i = cuda.grid(1)
    odd = x[i] % 2 == 1
    chosen = cuda.ballot_sync(ALL, odd)
    if odd:
        out[i] = cuda.shfl_sync(chosen, x[i], cuda.ffs(chosen) - 1)


@case(broadcast_within_branch, 2, BLOCK)
def _(rng):
    x = rng.integers(0, 100, 2 * BLOCK)
    wanted = np.zeros_like(x)
    for row, out in zip(x.reshape(4, 32), wanted.reshape(4, 32)):
        out[row % 2 == 1] = row[row % 2 == 1][0]
    return (x, np.zeros_like(x)), {"out": wanted}
