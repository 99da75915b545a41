"""Fences, and swaps that check what was read before: what they put in order, and what not."""

import numpy as np
import pytest

from tools.sim import cuda
from tools.tests.sim.cuda.memory.running import race_of

# Compare-and-swap --------------------------------------------------------------------------------


@cuda.jit
def largest_by_swaps(x, out):
    i = cuda.grid(1)
    old = out[0]
    while x[i] > old:
        seen = cuda.atomic.cas(out, 0, old, x[i])
        if seen == old:
            break
        old = seen


@cuda.jit
def largest_by_swaps_of_a_copy(x, out):
    i = cuda.grid(1)
    old = out[0]
    while True:
        assumed = old
        if assumed >= x[i]:
            break
        old = cuda.atomic.cas(out, 0, assumed, x[i])
        if old == assumed:
            break


@pytest.mark.parametrize("kernel", [largest_by_swaps, largest_by_swaps_of_a_copy])
def test_a_first_read_that_a_swap_checks_is_no_race(kernel):
    x, out = np.random.default_rng(0).permutation(256).astype(np.int32), np.zeros(1, np.int32)
    kernel[4, 64](x, out)
    assert out[0] == 255


@cuda.jit
def reads_another_element_than_it_swaps(x, out):
    i = cuda.grid(1)
    old = out[1]
    cuda.atomic.cas(out, 0, old, x[i])
    cuda.atomic.add(out, 1, 1)


@cuda.jit
def swaps_what_others_store(x, out):
    old = out[0]
    if cuda.grid(1) == 40:
        out[0] = 3
    cuda.atomic.cas(out, 0, old, x[0])


@pytest.mark.parametrize("kernel", [reads_another_element_than_it_swaps, swaps_what_others_store])
def test_other_reads_race_with_swaps_and_so_do_stores(kernel):
    race_of(kernel, (2, 64), np.zeros(128, np.int32), np.zeros(2, np.int32))


# Fences ------------------------------------------------------------------------------------------


@cuda.jit
def adds_with_a_fence_and_no_lock(x):
    if cuda.threadIdx.x == 0:
        x[0] += 1
        cuda.threadfence()


def test_a_fence_alone_puts_nothing_in_order():
    assert "Blocks run in any order." in race_of(adds_with_a_fence_and_no_lock, (4, 32), np.zeros(1)).text


@cuda.jit
def fence_after_the_flag(data, flag, out):
    if cuda.threadIdx.x == 0:
        if cuda.blockIdx.x == 0:
            data[0] = 5
            cuda.atomic.exch(flag, 0, 1)
            cuda.threadfence()
        elif cuda.atomic.add(flag, 0, 0) == 1:
            out[0] = data[0]


def test_a_fence_after_the_flag_comes_too_late():
    race_of(fence_after_the_flag, (2, 32), np.zeros(1), np.zeros(1, np.int32), np.zeros(1))


@cuda.jit
def flags_of_others(data, flags, out):
    if cuda.threadIdx.x == 0:
        block = cuda.blockIdx.x
        data[block] = 5
        cuda.threadfence()
        cuda.atomic.exch(flags, block, 1)
        if block > 0 and cuda.atomic.add(flags, 0, 0) == 1:
            out[block] = data[block - 1]


def test_the_flag_of_one_block_says_nothing_of_another_block():
    flags_of_others[2, 32](np.zeros(2), np.zeros(2, np.int32), np.zeros(2))
    race_of(flags_of_others, (3, 32), np.zeros(3), np.zeros(3, np.int32), np.zeros(3))


@cuda.jit
def handed_on(data, flags):
    if cuda.threadIdx.x == 0:
        block = cuda.blockIdx.x
        if block == 0 or cuda.atomic.add(flags, block - 1, 0) == 1:
            data[0] += 1
            cuda.threadfence()
            cuda.atomic.exch(flags, block, 1)
        if block == 5 and cuda.atomic.add(flags, 4, 0) == 1:
            data[1] = data[0]


def test_order_is_handed_on_from_block_to_block():
    data = np.zeros(2)
    handed_on[6, 1024](data, np.zeros(6, np.int32))
    assert data[0] >= 1


@cuda.jit
def warps_with_a_fence_between(x, out, flag, sets_a_flag):
    t = cuda.threadIdx.x
    x[t] = t
    cuda.threadfence()
    if sets_a_flag:
        cuda.atomic.add(flag, 0, 1)
    out[t] = x[(t + 32) % 64]


def test_an_atomic_after_a_fence_ends_the_search_within_a_block():
    warps_with_a_fence_between[1, 64](np.zeros(64), np.zeros(64), np.zeros(1, np.int32), True)
    fault = race_of(warps_with_a_fence_between, (1, 64), np.zeros(64), np.zeros(64), np.zeros(1, np.int32), False)
    line = warps_with_a_fence_between.py_func.__code__.co_firstlineno + 4
    assert fault.what.endswith(f"The threadfence in line {line} lets no thread wait: it is no barrier.")


@cuda.jit
def lanes_with_a_fence_of_the_block(out):
    part = cuda.shared.array(32, np.int64)
    t = cuda.threadIdx.x
    part[t] = t
    cuda.threadfence_block()
    out[t] = part[31 - t]
    cuda.syncwarp()


def test_a_fence_of_the_block_is_no_barrier_for_lanes_either():
    fault = race_of(lanes_with_a_fence_of_the_block, (1, 32), np.zeros(32))
    assert "The threadfence_block in line" in fault.what
