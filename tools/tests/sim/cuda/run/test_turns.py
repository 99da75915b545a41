"""Blocks that wait for each other take turns; what waits for ever is told so, and nothing hangs."""

import time

import numpy as np
import pytest

from tools.sim import cuda
from tools.sim.cuda.faults import Fault
from tools.sim.cuda.host.launch_config import LaunchConfiguration


def deadlock(kernel, configuration, *arguments) -> str:
    begun = time.perf_counter()
    with pytest.raises(Fault) as caught:
        kernel[configuration](*arguments)
    assert caught.value.kind == "endless_loop" and time.perf_counter() - begun < 3
    assert max(map(len, caught.value.text.splitlines())) <= 80 and len(caught.value.text.splitlines()) <= 6
    return " ".join(caught.value.text.split())


@cuda.jit(device=True)
def lock(mutex):
    while cuda.atomic.cas(mutex, 0, 0, 1) != 0:
        pass
    cuda.threadfence()


@cuda.jit(device=True)
def unlock(mutex):
    cuda.threadfence()
    cuda.atomic.exch(mutex, 0, 0)


@cuda.jit
def count_under_a_lock(mutex, x):
    if cuda.threadIdx.x == 0:
        lock(mutex)
        x[0] += 1
        unlock(mutex)


def test_a_lock_in_a_device_function_is_held_by_one_block_at_a_time():
    mutex, x = np.zeros(1, np.int32), np.zeros(1, np.int32)
    count_under_a_lock[8, 32](mutex, x)
    assert x[0] == 8 and mutex[0] == 0


def test_a_lock_that_nobody_frees_is_a_deadlock():
    text = deadlock(count_under_a_lock, (8, 32), np.ones(1, np.int32), np.zeros(1, np.int32))
    assert text.startswith("lock, line") and "nothing changes from turn to turn, in any block that is left" in text


@cuda.jit
def waits_for_the_next_block(flags, out):
    block = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        if block < cuda.gridDim.x - 1:
            while cuda.atomic.add(flags, block + 1, 0) == 0:
                pass
            out[block] = out[block + 1] + 1
        else:
            out[block] = 1
        cuda.threadfence()
        cuda.atomic.add(flags, block, 1)


def test_a_block_waits_for_a_later_one():
    out = np.zeros(6)
    waits_for_the_next_block[6, 32](np.zeros(6, np.int32), out)
    assert out.tolist() == [6, 5, 4, 3, 2, 1]


def test_a_block_that_the_gpu_has_no_room_for_is_waited_for_in_vain(monkeypatch):
    monkeypatch.setattr(LaunchConfiguration, "_resident", lambda self: 4)
    text = deadlock(waits_for_the_next_block, (6, 32), np.zeros(6, np.int32), np.zeros(6))
    assert "and 2 blocks have not begun: the GPU holds 4 of them at a time, and those all wait." in text


@cuda.jit
def barrier_of_the_grid(arrived, x, out):
    i = cuda.grid(1)
    x[i] = i
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        cuda.threadfence()
        cuda.atomic.add(arrived, 0, 1)
        while cuda.atomic.add(arrived, 0, 0) < cuda.gridDim.x:
            cuda.nanosleep(100)
    cuda.syncthreads()
    out[i] = x[x.size - 1 - i]


def test_a_barrier_of_the_grid_can_be_made_of_a_counter():
    x, out = np.zeros(256), np.zeros(256)
    barrier_of_the_grid[4, 64](np.zeros(1, np.int32), x, out)
    assert (out == np.arange(256)[::-1]).all()


@cuda.jit
def producer_and_consumer(queue, full, out, rounds):
    if cuda.threadIdx.x == 0:
        for k in range(rounds):
            wanted = cuda.blockIdx.x
            while cuda.atomic.add(full, 0, 0) != wanted:
                pass
            if cuda.blockIdx.x == 0:
                queue[0] = k * k
            else:
                out[k] = queue[0]
            cuda.threadfence()
            cuda.atomic.xor(full, 0, 1)


def test_two_blocks_hand_values_to_each_other():
    out = np.zeros(5)
    producer_and_consumer[2, 32](np.zeros(1), np.zeros(1, np.int32), out, 5)
    assert out.tolist() == [0, 1, 4, 9, 16]


@cuda.jit
def two_locks(first, second, x):
    if cuda.threadIdx.x == 0:
        if cuda.blockIdx.x == 0:
            lock(first)
            while cuda.atomic.add(x, 0, 0) == 0:  # until the other block has its lock
                pass
            lock(second)
        else:
            lock(second)
            cuda.atomic.add(x, 0, 1)
            lock(first)


def test_two_blocks_that_each_hold_what_the_other_wants_are_a_deadlock():
    assert deadlock(two_locks, (2, 32), *(np.zeros(1, np.int32) for _ in range(3))).startswith("lock, line")


@cuda.jit
def counts_its_turns(flag, out):
    if cuda.threadIdx.x == 0:
        turns = 0
        while cuda.atomic.add(flag, 0, 0) == 0:
            turns += 1
        out[cuda.blockIdx.x] = turns


def test_a_loop_that_only_counts_its_turns_is_a_deadlock_too(monkeypatch):
    monkeypatch.setattr("tools.sim.cuda.run.turns.MOST_TURNS", 640)
    deadlock(counts_its_turns, (3, 32), np.zeros(1, np.int32), np.zeros(3))


@cuda.jit
def stack(heads, nexts):
    if cuda.threadIdx.x == 0:
        mine = cuda.blockIdx.x
        while True:
            head = heads[0]
            nexts[mine] = head
            cuda.threadfence()
            if cuda.atomic.cas(heads, 0, head, mine) == head:
                break


def test_a_list_that_blocks_push_on_by_swaps_holds_them_all():
    heads, nexts = np.full(1, -1), np.zeros(5, np.int64)
    stack[5, 32](heads, nexts)
    found, at = [], int(heads[0])
    while at >= 0 and len(found) < 9:
        found.append(at)
        at = int(nexts[at])
    assert sorted(found) == list(range(5))


@cuda.jit
def fails_in_a_block(flags, x):
    if cuda.threadIdx.x == 0:
        if cuda.blockIdx.x == 2:
            x[99] = 1
        while cuda.atomic.add(flags, 0, 0) == 0:
            pass


def test_a_fault_of_a_block_ends_the_launch():
    with pytest.raises(Fault, match="block 2 stores element 99 of x"):
        fails_in_a_block[4, 32](np.zeros(1, np.int32), np.zeros(4))
    out = np.zeros(6)
    waits_for_the_next_block[6, 32](np.zeros(6, np.int32), out)
    assert out[0] == 6
