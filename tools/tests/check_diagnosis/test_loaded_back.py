"""What a kernel loads although the same thread or program stored it is told before anything that is loaded twice."""

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

from tools import gpu
from tools.check import count
from tools.check.diagnosis.counted import told_by_counters
from tools.gpu import cuda

pytestmark = [
    pytest.mark.skipif(gpu.card() is not None, reason="calls are made again in the simulator: run it with --sim"),
    pytest.mark.filterwarnings("ignore:(Grid size|Host array)"),  # small grids, on purpose
]


@cuda.jit
def first_one_then_the_other(x, bias, out):
    i = cuda.grid(1)
    out[i] = x[i]  # first
    out[i] += bias[i % 4]


@cuda.jit
def sum_in_memory(x, out):
    i = cuda.grid(1)
    for turn in range(3):
        out[i] += x[i]  # in a loop


@cuda.jit
def in_place(x, out):
    i = cuda.grid(1)
    x[i] += out[i]


@cuda.jit
def from_the_neighbour(x, out):
    i = cuda.grid(1)
    out[i] = x[i]
    cuda.syncthreads()
    x[i] = out[i ^ 1]


@triton.jit
def back_and_forth(x_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i))  # by a program
    tl.store(out_ptr + i, 2 * tl.load(out_ptr + i))  # again


def line_of(text: str) -> int:
    with open(__file__) as file:
        return next(number for number, line in enumerate(file, 1) if text in line)


def told(call, figure: str = "bytes_loaded", needed: int = 1) -> str:
    return told_by_counters(count(call), f"assert counters.{figure} == {needed}")[-1]


def by_numba(kernel, *lengths):
    return lambda: kernel[1, 8](*(np.ones(length, np.float32) for length in lengths))


def by_triton():
    back_and_forth[(1,)](torch.ones(16), torch.empty(16), BLOCK=16)


FIRST, PLUS, LOOP, STORED, AGAIN = (
    line_of(text) for text in ("# first\n", "out[i] += bias[", "# in a loop\n", "# by a program\n", "# again\n")
)


@pytest.mark.parametrize("figure, needed", [("bytes_loaded", 64), ("bytes", 96), ("sectors", 1)])
def test_the_line_that_loads_back_is_told_not_an_array_whose_loads_are_wanted(figure, needed):
    assert told(by_numba(first_one_then_the_other, 8, 4, 8), figure, needed) == (
        f"Line {PLUS} loads 8 elements of out that the same thread stored in line {FIRST}. "
        "Where else could that thread keep a value in between?"
    )


def test_elements_loaded_back_more_than_once():
    assert told(by_numba(sum_in_memory, 8, 8), needed=64).startswith(
        f"Line {LOOP} loads 8 elements of out, 16 times in all, that the same thread stored in line {LOOP}. "
    )


def test_triton_has_programs():
    assert told(by_triton, needed=64) == (
        f"Line {AGAIN} loads 16 elements of out that the same program stored in line {STORED}. "
        "Where else could that program keep a value in between?"
    )


@pytest.mark.parametrize("needed", [63, 72, 95, 96 - 31])
def test_more_than_is_too_much_may_be_wanted(needed):
    """96 bytes are loaded, 32 of them back: they explain what is too much if it is 32 to 64 bytes."""
    explains = 32 <= 96 - needed <= 64
    assert ("Where else" in told(by_numba(first_one_then_the_other, 8, 4, 8), needed=needed)) == explains


@pytest.mark.parametrize("kernel", [in_place, from_the_neighbour])
def test_what_is_stored_later_or_by_another_thread_is_not_loaded_back(kernel):
    assert "Where else" not in told(by_numba(kernel, 8, 8), needed=32)
    assert "Where else" not in told(by_numba(kernel, 8, 8), "sectors")


def test_what_another_launch_stored_is_not_loaded_back():
    def call():
        x, out = np.ones(8, np.float32), np.ones(8, np.float32)
        in_place[1, 8](x, out)
        in_place[1, 8](x, out)

    assert "Where else" not in told(call, needed=64)
