"""Correct kernels that reduce: trees in shared memory, shuffles, atomics, the last block."""

import math
from functools import partial

import numpy as np

from tools.sim import cuda
from tools.tests.sim.cuda.corpus.case import Case, correct

CASES: list[Case] = []
case = partial(correct, CASES)
BLOCK, WARPS = 128, 4
ALL = 0xFFFFFFFF


@cuda.jit
def sum_interleaved(x, out):
    s = cuda.shared.array(BLOCK, np.int64)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    s[t] = x[i] if i < x.size else 0
    cuda.syncthreads()
    stride = 1
    while stride < cuda.blockDim.x:
        if t % (2 * stride) == 0:
            s[t] += s[t + stride]
        cuda.syncthreads()
        stride *= 2
    if t == 0:
        out[cuda.blockIdx.x] = s[0]


def sums_of_blocks(rng, blocks: int, size: int):
    x = rng.integers(-100, 100, size)
    wanted = np.pad(x, (0, blocks * BLOCK - size)).reshape(blocks, BLOCK).sum(1)
    return (x, np.zeros(blocks, np.int64)), {"out": wanted}


@case(sum_interleaved, 3, BLOCK)
def _(rng):
    return sums_of_blocks(rng, 3, 300)


@cuda.jit
def sum_sequential(x, out):
    s = cuda.shared.array(BLOCK, np.int64)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    s[t] = x[i] if i < x.size else 0
    cuda.syncthreads()
    half = BLOCK // 2
    while half > 0:
        if t < half:
            s[t] += s[t + half]
        cuda.syncthreads()
        half //= 2
    if t == 0:
        out[cuda.blockIdx.x] = s[0]


@case(sum_sequential, 2, BLOCK)
def _(rng):
    return sums_of_blocks(rng, 2, 201)


@cuda.jit
def sum_warp_tail(x, out):
    """The last steps are one warp's, which needs no barrier of the block."""
    s = cuda.shared.array(BLOCK, np.int64)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    s[t] = x[i] if i < x.size else 0
    cuda.syncthreads()
    half = BLOCK // 2
    while half >= 32:
        if t < half:
            s[t] += s[t + half]
        cuda.syncthreads()
        half //= 2
    if t < 32:
        step = 16
        while step > 0:
            pair = s[t] + s[(t + step) % 32]
            cuda.syncwarp()
            s[t] = pair
            cuda.syncwarp()
            step //= 2
        if t == 0:
            out[cuda.blockIdx.x] = s[0]


@case(sum_warp_tail, 2, BLOCK)
def _(rng):
    return sums_of_blocks(rng, 2, 220)


@cuda.jit
def sum_odd_block(x, out):
    """100 threads: the part that is added up has an odd length now and then."""
    s = cuda.shared.array(100, np.int64)
    t = cuda.threadIdx.x
    s[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    length = cuda.blockDim.x
    while length > 1:
        half = (length + 1) // 2
        if t + half < length:
            s[t] += s[t + half]
        cuda.syncthreads()
        length = half
    if t == 0:
        out[cuda.blockIdx.x] = s[0]


@case(sum_odd_block, 3, 100)
def _(rng):
    x = rng.integers(-100, 100, 300)
    return (x, np.zeros(3, np.int64)), {"out": x.reshape(3, 100).sum(1)}


@cuda.jit
def sum_shuffle(x, out):
    """Each warp by itself, then the first warp over the sums of all."""
    sums = cuda.shared.array(WARPS, np.float64)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    lane, warp = t % 32, t // 32
    total = x[i] if i < x.size else 0.0
    for step in range(5):
        total += cuda.shfl_down_sync(ALL, total, 16 >> step)
    if lane == 0:
        sums[warp] = total
    cuda.syncthreads()
    if warp == 0:
        total = sums[lane] if lane < WARPS else 0.0
        for step in range(5):
            total += cuda.shfl_down_sync(ALL, total, 16 >> step)
        if lane == 0:
            cuda.atomic.add(out, 0, total)


@case(sum_shuffle, 4, BLOCK, rtol=1e-12)
def _(rng):
    x = rng.random(450)
    return (x, np.zeros(1)), {"out": np.array([x.sum()])}


@cuda.jit
def sum_last_block(x, parts, finished, out):
    """The block that finishes last adds up what all have left in global memory."""
    s = cuda.shared.array(BLOCK, np.int64)
    am_last = cuda.shared.array(1, np.int32)
    t, i, blocks = cuda.threadIdx.x, cuda.grid(1), cuda.gridDim.x
    s[t] = x[i] if i < x.size else 0
    cuda.syncthreads()
    half = BLOCK // 2
    while half > 0:
        if t < half:
            s[t] += s[t + half]
        cuda.syncthreads()
        half //= 2
    if t == 0:
        parts[cuda.blockIdx.x] = s[0]
        cuda.threadfence()
        am_last[0] = cuda.atomic.add(finished, 0, 1) == blocks - 1
    cuda.syncthreads()
    if am_last[0] and t == 0:
        total = 0
        for block in range(blocks):
            total += parts[block]
        out[0] = total


@case(sum_last_block, 5, BLOCK)
def _(rng):
    x = rng.integers(-100, 100, 600)
    return (x, np.zeros(5, np.int64), np.zeros(1, np.int32), np.zeros(1, np.int64)), {"out": np.array([x.sum()])}


@cuda.jit
def dot(x, y, out):
    s = cuda.shared.array(BLOCK, np.float64)
    t = cuda.threadIdx.x
    total = 0.0
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        total += x[i] * y[i]
    s[t] = total
    cuda.syncthreads()
    half = BLOCK // 2
    while half > 0:
        if t < half:
            s[t] += s[t + half]
        cuda.syncthreads()
        half //= 2
    if t == 0:
        cuda.atomic.add(out, 0, s[0])


@case(dot, 3, BLOCK, rtol=1e-12)
def _(rng):
    x, y = rng.random((2, 1000))
    return (x, y, np.zeros(1)), {"out": np.array([x @ y])}


@cuda.jit
def argmax(x, out):
    """Ties go to the smaller index."""
    values = cuda.shared.array(BLOCK, np.float32)
    places = cuda.shared.array(BLOCK, np.int32)
    t = cuda.threadIdx.x
    values[t], places[t] = -math.inf, x.size
    for i in range(t, x.size, BLOCK):
        if x[i] > values[t]:
            values[t], places[t] = x[i], i
    cuda.syncthreads()
    half = BLOCK // 2
    while half > 0:
        if t < half:
            other = values[t + half]
            if other > values[t] or (other == values[t] and places[t + half] < places[t]):
                values[t], places[t] = other, places[t + half]
        cuda.syncthreads()
        half //= 2
    if t == 0:
        out[0] = places[0]


@case(argmax, 1, BLOCK)
def _(rng):
    x = rng.integers(0, 50, 333).astype(np.float32)
    return (x, np.zeros(1, np.int64)), {"out": np.array([x.argmax()])}


@cuda.jit
def xor_butterfly(x, out):
    i = cuda.grid(1)
    value = x[i]
    mask = 1
    while mask < 32:
        value ^= cuda.shfl_xor_sync(ALL, value, mask)
        mask *= 2
    out[i] = value


@case(xor_butterfly, 2, 64)
def _(rng):
    x = rng.integers(0, 2**62, 128)
    return (x, np.empty_like(x)), {"out": np.repeat(np.bitwise_xor.reduce(x.reshape(4, 32), 1), 32)}
