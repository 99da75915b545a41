"""What is moved more than once is told with its line, its array and how often."""

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
def sum_into_memory(x, out):
    t = cuda.grid(1)
    for i in range(4):
        out[t] += x[t]


@cuda.jit
def first_and_sum(x, out):
    t = cuda.grid(1)
    if t > 0:
        out[t] = x[0]
    out[t] = x[t]


@cuda.jit
def loaded_three_times(x, out):
    t = cuda.grid(1)
    one = x[t]
    two = x[t] + one
    out[t] = two + x[t]


@triton.jit
def double(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, 2 * tl.load(x_ptr + i, mask=i < n), mask=i < n)


def by_numba(kernel, n=8):
    return lambda: kernel[1, n](np.ones(n, np.float32), np.zeros(n, np.float32))


def by_triton(blocks):
    def call():
        double[(blocks,)](torch.ones(64), torch.empty(64), 64, BLOCK=32)

    return call


def line_of(text: str) -> int:
    with open(__file__) as file:
        return next(number for number, line in enumerate(file, 1) if text in line)


def told(call, figure: str) -> str:
    counters = count(call)
    return told_by_counters(counters, f"assert counters.{figure} == 1")[-1]


SUM, FIRST, EACH = (line_of(text) for text in ("out[t] += x[t]\n", "out[t] = x[0]\n", "out[t] = x[t]\n"))


def test_elements_that_all_are_moved_as_often():
    assert told(by_numba(sum_into_memory), "bytes_stored") == (
        f"Line {SUM} stores each of 8 elements of out 4 times. How often should that be?"
    )


def test_one_element_that_many_threads_move():
    assert told(by_numba(first_and_sum), "bytes_loaded") == (
        f"Line {FIRST} loads 1 element of x 7 times. How often should that be?"
    )


def test_two_lines_that_move_the_same():
    assert told(by_numba(first_and_sum), "bytes_stored") == (
        f"Lines {FIRST} and {EACH} store the same 7 elements of out. How often should that be?"
    )


def test_three_lines_that_move_the_same_are_all_named():
    first, second, third = (line_of(text) for text in ("one = x[t]\n", "two = x[t] + one\n", "out[t] = two + x[t]\n"))
    assert told(by_numba(loaded_three_times), "bytes_loaded") == (
        f"Lines {first}, {second} and {third} load the same 8 elements of x. How often should that be?"
    )


def test_where_nothing_is_moved_twice_it_is_asked_what_is_too_much():
    assert told(by_triton(2), "bytes_loaded") == "Nothing is moved twice. Which elements are too many?"
    assert told(by_triton(2), "bytes") == "Nothing is moved twice. Which elements are too many?"


def test_a_call_that_raises_or_takes_long_is_not_made_again():
    counters = count(by_numba(sum_into_memory))
    for call in (counters.call._replace(seconds=1e9), counters.call._replace(function=print_nothing)):
        counters.call = call
        question = told_by_counters(counters, "assert counters.bytes_stored == 1")[-1]
        assert question == "How often does that line run, and for which elements?"


def print_nothing():
    raise ValueError


def test_a_prediction_that_forgot_it_hears_of_it_first():
    counters = count(by_numba(sum_into_memory))
    names = {"counters": counters, "predicted": 32}
    question = told_by_counters(counters, "assert counters.bytes_stored == predicted", names)[-1]
    assert question == (
        f"Line {SUM} stores each of 8 elements of out 4 times. What does the prediction leave out, or count twice?"
    )


@cuda.jit
def first_twice(x, out):
    t = cuda.grid(1)
    out[t] = x[t] + (x[0] if t == 1 else 0)


def test_what_is_moved_again_is_left_out_where_it_explains_nothing():
    question = told(by_numba(first_twice, 256), "bytes_loaded")
    assert "How often should that be?" not in question


def test_a_figure_that_may_be_too_small_is_asked_after_in_both_directions():
    counters = count(by_triton(2))
    question = told_by_counters(counters, "assert counters.bytes > len([counters])")[-1]
    assert question == "What is moved more than once, or not at all?"
