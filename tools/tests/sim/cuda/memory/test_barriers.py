"""Barriers that some threads of a block leave out: refused, with the threads that are missing."""

import numpy as np
import pytest

from tools.sim import cuda
from tools.tests.sim.cuda.memory.running import fault_of


@cuda.jit
def some_threads_wait(out):
    if cuda.threadIdx.x < 40:
        cuda.syncthreads()
    out[cuda.grid(1)] = 1


def test_a_barrier_that_some_threads_never_reach_is_refused():
    fault = fault_of(some_threads_wait, (2, 64), np.zeros(128))
    assert fault.kind == "divergent_barrier"
    assert "24 threads of its block never come: 40 to 63." in " ".join(fault.text.split())


@cuda.jit
def every_second_block_waits(x, out):
    part = cuda.shared.array(64, np.int64)
    t = cuda.threadIdx.x
    part[t] = x[t]
    if cuda.blockIdx.x % 2 == 0:
        cuda.syncthreads()
    out[cuda.grid(1)] = part[t]
    if cuda.blockIdx.x % 2 == 0:
        out[cuda.grid(1)] = part[63 - t]


def test_whole_blocks_may_leave_a_barrier_out():
    out = np.zeros(128, np.int64)
    every_second_block_waits[2, 64](np.arange(64), out)
    assert out.tolist() == [*range(63, -1, -1), *range(64)]


@cuda.jit
def returned_threads(out):
    if cuda.threadIdx.x >= 40:
        return
    cuda.syncthreads()
    out[cuda.threadIdx.x] = 1


def test_threads_that_have_left_the_kernel_are_not_waited_for():
    out = np.zeros(64)
    returned_threads[1, 64](out)
    assert out.sum() == 40


@cuda.jit
def a_barrier_for_each_warp(out):
    part = cuda.shared.array(64, np.float32)
    t = cuda.threadIdx.x
    part[t] = t
    if t < 32:
        cuda.syncthreads()
    else:
        cuda.syncthreads()
    out[t] = part[63 - t]


@cuda.jit
def a_barrier_before_and_after(out):
    part = cuda.shared.array(64, np.float32)
    t = cuda.threadIdx.x
    if t < 3:
        part[t] = t
        cuda.syncthreads()
        out[t] = part[2 - t]
    cuda.syncthreads()


@cuda.jit
def a_barrier_in_each_turn(out):
    for i in range(1 + cuda.threadIdx.x % 2):
        out[cuda.threadIdx.x] = i
        cuda.syncthreads()


@cuda.jit
def a_barrier_before_a_fault(out):
    if cuda.threadIdx.x < 3:
        cuda.syncthreads()
    else:
        out[64 + cuda.threadIdx.x] = 1


def divergent(kernel) -> str:
    fault = fault_of(kernel, (1, 64), np.zeros(64))
    assert fault.kind == "divergent_barrier"
    text = fault.text
    assert len(text.splitlines()) <= 6 and max(map(len, text.splitlines())) <= 80
    return " ".join(text.split())


@pytest.mark.parametrize(
    "kernel, says",
    [
        (a_barrier_for_each_warp, "A GPU may let it pass; CUDA promises nothing."),
        (a_barrier_before_and_after, None),
        (some_threads_wait, None),
    ],
)
def test_a_barrier_that_whole_warps_leave_out_says_what_a_gpu_does(kernel, says):
    text = divergent(kernel)
    assert says in text if says else "A GPU may" not in text


@pytest.mark.parametrize(
    "kernel, first, last, threads",
    [(a_barrier_for_each_warp, 6, 8, "32 to 63"), (a_barrier_before_and_after, 6, 8, "3 to 63")],
)
def test_threads_that_wait_at_another_barrier_are_said_to(kernel, first, last, threads):
    start = kernel.py_func.__code__.co_firstlineno
    text = divergent(kernel)
    assert f"line {start + first}:" in text and f"never come: {threads}." in text
    assert f"They wait in line {start + last}, and two lines are two barriers." in text


@pytest.mark.parametrize("kernel", [some_threads_wait, a_barrier_in_each_turn, a_barrier_before_a_fault])
def test_threads_that_wait_nowhere_else_are_not_said_to(kernel):
    assert "two lines are two barriers" not in divergent(kernel)
