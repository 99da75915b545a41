"""What Triton kernels compute in float64, and what they convert, is counted as it is written."""

from pathlib import Path

import pytest
import torch
import triton
import triton.language as tl

from tools import gpu, worker
from tools.check import compiled
from tools.sim.counters import Counters, NotCounted
from tools.sim.recording import record
from tools.tests.sim.triton.lessons import arithmetic as lesson

pytestmark = pytest.mark.skipif(gpu.card() is not None, reason="tests the simulator: run it with --sim")

SIZE = 16
CASES = [  # function, types of the argument and of the result, operations in float64, conversions
    ("scale", torch.float32, torch.float32, 0, 0),
    ("scale", torch.float64, torch.float64, 2 * SIZE, 0),
    ("exponential", torch.float32, torch.float32, 0, 0),
    ("exponential", torch.float64, torch.float64, SIZE, 0),
    ("by_way_of_float64", torch.float32, torch.float32, 2 * SIZE, 2 * SIZE),
    ("part_of_the_sum", torch.float32, torch.float32, 0, 0),
    ("part_of_the_sum", torch.float64, torch.float64, 2 * SIZE - 1, 0),
    ("running_sum", torch.float64, torch.float64, SIZE, 0),
    ("running_sum", torch.int32, torch.int32, 0, 0),
    ("folded", torch.float64, torch.float64, 2 * SIZE - 1, 0),
    ("larger_than_one", torch.float64, torch.bool, SIZE, 0),
    ("whole", torch.float32, torch.int32, 0, SIZE),
    ("scale", torch.float16, torch.float32, 0, SIZE),
    ("scale", torch.int32, torch.float32, 0, SIZE),
]


def counted(function: str, dtype=torch.float32, result=torch.float32) -> Counters:
    with record() as counters:
        lesson.apply(torch.arange(SIZE).to(dtype), function, result)
    return counters


@pytest.mark.parametrize("function, dtype, result, float64, conversions", CASES)
def test_operations_and_conversions_are_counted(function, dtype, result, float64, conversions):
    counters = counted(function, dtype, result)
    assert (counters.float64, counters.conversions) == (float64, conversions)


@pytest.mark.parametrize("function, dtype, result, float64, conversions", CASES[:7] + CASES[-4:-2])
def test_the_compiled_kernel_computes_in_float64_where_that_is_counted(function, dtype, result, float64, conversions):
    apart = worker.proxy("week9.day3.arithmetic", Path(lesson.__file__), mode="compile")
    (kernel,) = compiled(apart.apply, torch.arange(SIZE).to(dtype), function, result).kernels
    arithmetic = [name for name in kernel.instructions if "f64" in name and not name.startswith(("ld", "st", "mov"))]
    assert bool(arithmetic) == (float64 > 0)


def test_what_masked_places_get_is_no_conversion():
    with record() as counters:
        lesson.widen(torch.arange(SIZE - 3).half(), SIZE)
    assert counters.conversions == SIZE


def test_a_line_says_how_much_it_does():
    counters = counted("scale", torch.float64, torch.float64)
    (line,) = [line for line in counters.launches[0].lines if line.kind == "arithmetic"]
    assert (line.source, line.counts.float64) == ("return x * 0.1 + 1", 2 * SIZE)
    assert "32 float64 operations" in str(counters)


@triton.jit
def product(a_ptr, b_ptr, c_ptr, N: tl.constexpr):
    places = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(c_ptr + places, tl.dot(tl.load(a_ptr + places), tl.load(b_ptr + places), out_dtype=tl.float64))


def test_a_product_in_float64_counts_as_many_operations_as_it_has():
    a, b = torch.ones(2, 16, 16, dtype=torch.float64)
    with record() as counters:
        product[(1,)](a, b, torch.empty_like(a), 16)
    assert counters.float64 == counters.flops == 2 * 16**3


def test_barriers_cannot_be_counted_and_the_reason_is_told():
    with pytest.raises(NotCounted, match="barriers cannot be counted: a Triton program has no warps"):
        counted("scale").barriers


def test_a_library_function_that_works_with_float64_is_named():
    with record() as counters:
        torch.ones(3, dtype=torch.float64) + 1
        torch.ones(3) * 2
        torch.ones(3).double()
    assert counters.library_operations == ["torch.add", "torch.mul", "torch.Tensor.double"]
    assert counters.library_float64 == ["torch.add", "torch.Tensor.double"]
