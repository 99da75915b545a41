"""Parameters that say their type: numbers come in it, as a GPU's launcher hands them over."""

import math

import pytest
import torch
import triton
import triton.language as tl

import tools.gpu

pytestmark = pytest.mark.skipif(tools.gpu.card() is not None, reason="tests the simulator: run it with --sim")


@triton.jit
def far(x_ptr, row, stride: tl.int64, out_ptr):
    tl.static_assert(stride.dtype == tl.int64)
    tl.store(out_ptr, tl.load(x_ptr + row * stride - (row * stride - 2)))
    tl.store(out_ptr + 1, (row * stride) // 1000000)


def test_products_with_an_int64_have_its_range():
    out = torch.empty(2, dtype=torch.int64)
    far[(1,)](torch.arange(4), 3_000_000, 4096, out)
    assert out.tolist() == [2, 12288]


@triton.jit
def halves(x: tl.float16, y: "tl.bfloat16", z: tl.float64, n: tl.int8, flag: "bool", plain, out_ptr):
    tl.static_assert(x.dtype == tl.float16 and y.dtype == tl.bfloat16 and z.dtype == tl.float64)
    tl.static_assert(n.dtype == tl.int8 and flag.dtype == tl.int1 and plain.dtype == tl.float32)
    tl.store(out_ptr, x.to(tl.float64))
    tl.store(out_ptr + 1, y.to(tl.float64))
    tl.store(out_ptr + 2, z)
    tl.store(out_ptr + 3, n.to(tl.float64))
    tl.store(out_ptr + 4, flag.to(tl.float64))


def test_numbers_are_rounded_to_what_holds_them():
    """To float16 to the nearest; of a float32 the launcher takes the first half for a bfloat16."""
    out = torch.empty(5, dtype=torch.float64)
    halves[(1,)](0.1, 0.1, 0.1, -3, True, 0.5, out)
    assert out.tolist() == [0.0999755859375, 0.099609375, 0.1, -3.0, 1.0]
    halves[(1,)](math.inf, math.nan, 7, 1, False, 0.5, out)
    assert out[0] == math.inf and out[1].isnan() and out[2:].tolist() == [7.0, 1.0, 0.0]


@pytest.mark.parametrize("value", [128, 2.5])
def test_a_number_that_does_not_fit_is_refused(value):
    with pytest.raises(TypeError, match=f"n is annotated as int8, and is given {value}, which does not fit"):
        halves[(1,)](0.1, 0.1, 0.1, value, True, 0.5, torch.empty(5, dtype=torch.float64))


@triton.jit
def asks_for_a_type(out_ptr):
    three: tl.constexpr = 3
    tl.store(out_ptr, three.type == tl.int32)


def test_a_constant_of_a_kernel_has_no_type_of_tritons():
    with pytest.raises(AttributeError, match="type"):
        asks_for_a_type[(1,)](torch.empty(1, dtype=torch.int32))
