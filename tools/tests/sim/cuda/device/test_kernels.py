"""Whole kernels of the kind that these functions are for, launched as learners launch them."""

import math

import numpy as np
import pytest

from tools.sim import cuda
from tools.sim.cuda.faults import Fault

pytestmark = pytest.mark.filterwarnings("ignore::tools.sim.cuda.host.errors.NumbaPerformanceWarning")

FULL = 0xFFFFFFFF
SIZES = [1, 31, 32, 1000, 4099]


@cuda.jit(device=True)
def warp_sum(x):
    offset = 16
    while offset > 0:
        x += cuda.shfl_down_sync(FULL, x, offset)
        offset //= 2
    return x


@cuda.jit
def block_sums(x, out):
    partial = cuda.shared.array(32, np.float64)
    i = cuda.grid(1)
    mine = 0.0
    if i < x.size:
        mine = x[i]
    mine = warp_sum(mine)
    warp = cuda.threadIdx.x // 32
    if cuda.laneid == 0:
        partial[warp] = mine
    cuda.syncthreads()
    if warp == 0:
        mine = 0.0
        if cuda.threadIdx.x < cuda.blockDim.x // 32:
            mine = partial[cuda.threadIdx.x]
        mine = warp_sum(mine)
        if cuda.threadIdx.x == 0:
            cuda.atomic.add(out, 0, mine)


@cuda.jit
def inclusive_scan(x):
    i = cuda.grid(1)
    mine = x[i]
    for step in range(5):
        lower = cuda.shfl_up_sync(FULL, mine, 1 << step)
        if cuda.laneid >= 1 << step:
            mine += lower
    x[i] = mine


@cuda.jit
def keep_positive(x, kept, count):
    i = cuda.grid(1)
    here = cuda.ballot_sync(FULL, i < x.size)
    if i >= x.size:
        return
    chosen = cuda.ballot_sync(here, x[i] > 0)
    first = cuda.ffs(here) - 1
    start = 0
    if cuda.laneid == first:
        start = cuda.atomic.add(count, 0, cuda.popc(chosen))
    start = cuda.shfl_sync(here, start, first)
    if x[i] > 0:
        kept[start + cuda.popc(chosen & cuda.lanemask_lt())] = x[i]


@cuda.jit
def count_keys(keys, counts):
    i = cuda.grid(1)
    if i < keys.size:
        peers = cuda.match_any_sync(cuda.activemask(), keys[i])
        if cuda.laneid == cuda.ffs(peers) - 1:
            cuda.atomic.add(counts, keys[i], cuda.popc(peers))


@cuda.jit
def private_histogram(keys, counts):
    mine = cuda.shared.array(16, np.int32)
    if cuda.threadIdx.x < 16:
        mine[cuda.threadIdx.x] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), keys.size, cuda.gridsize(1)):
        cuda.atomic.add(mine, keys[i], 1)
    cuda.syncthreads()
    if cuda.threadIdx.x < 16:
        cuda.atomic.add(counts, cuda.threadIdx.x, mine[cuda.threadIdx.x])


@cuda.jit
def norm_by_last_block(x, partial, done, out):
    i, block = cuda.grid(1), cuda.blockIdx.x
    if i < x.size:
        cuda.atomic.add(partial, block, x[i] * x[i])
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        cuda.threadfence()
        if cuda.atomic.inc(done, 0, cuda.gridDim.x - 1) == cuda.gridDim.x - 1:
            total = 0.0
            for other in range(cuda.gridDim.x):
                total += partial[other]
            out[0] = math.sqrt(total)


@cuda.jit
def guarded_increments(lock, value):
    if cuda.threadIdx.x == 0:
        while cuda.atomic.cas(lock, 0, 0, 1) != 0:
            cuda.nanosleep(10)
        value[0] += 1
        cuda.threadfence()
        cuda.atomic.exch(lock, 0, 0)


@cuda.jit
def largest(x, out):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.max(out, 0, x[i])


def blocks(size: int) -> int:
    return -(-size // 128)


@pytest.mark.parametrize("size", SIZES)
def test_a_sum_by_shuffles(size):
    x, out = np.arange(size, dtype=np.float64), np.zeros(1)
    block_sums[blocks(size), 128](x, out)
    assert out[0] == size * (size - 1) / 2


def test_a_scan_by_shuffles():
    x = np.random.default_rng(0).integers(-9, 9, 256)
    want = np.cumsum(x.reshape(-1, 32), axis=1).ravel()
    inclusive_scan[2, 128](x)
    assert x.tolist() == want.tolist()


@pytest.mark.parametrize("size", SIZES)
def test_a_compaction_by_ballots(size):
    x = np.random.default_rng(size).standard_normal(size)
    kept, count = np.zeros(size), np.zeros(1, np.int32)
    keep_positive[blocks(size), 128](x, kept, count)
    assert count[0] == (x > 0).sum()
    assert sorted(kept[: count[0]]) == sorted(x[x > 0])


@pytest.mark.parametrize("kernel", [count_keys, private_histogram])
@pytest.mark.parametrize("size", SIZES)
def test_a_histogram(kernel, size):
    keys, counts = np.random.default_rng(size).integers(0, 16, size), np.zeros(16, np.int32)
    kernel[min(blocks(size), 8) if kernel is private_histogram else blocks(size), 128](keys, counts)
    assert counts.tolist() == np.bincount(keys, minlength=16).tolist()


def test_the_last_block_is_the_one_that_counted_to_the_end():
    x, partial, done, out = np.full(1000, 2.0), np.zeros(8), np.zeros(1, np.uint32), np.zeros(1)
    norm_by_last_block[8, 128](x, partial, done, out)
    assert out[0] == math.sqrt(4000) and done[0] == 0


def test_a_lock_is_held_by_one_block_at_a_time():
    lock, value = np.zeros(1, np.int32), np.zeros(1, np.int32)
    guarded_increments[20, 32](lock, value)
    assert value[0] == 20 and lock[0] == 0


def test_a_maximum_over_all_blocks_ignores_nan():
    x = np.random.default_rng(0).standard_normal(1000).astype(np.float32)
    x[[3, 500]] = np.nan
    out = np.full(1, -np.inf, np.float32)
    largest[8, 128](x, out)
    assert out[0] == np.nanmax(x)


def test_the_lock_of_a_warp_against_itself_is_said_to_be_endless():
    @cuda.jit
    def all_lanes_lock(lock):
        while cuda.atomic.cas(lock, 0, 0, 1) != 0:
            pass
        cuda.atomic.exch(lock, 0, 0)

    with pytest.raises(Fault) as caught:
        all_lanes_lock[1, 32](np.zeros(1, np.int32))
    assert caught.value.kind == "endless_loop"
