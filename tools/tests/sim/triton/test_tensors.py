"""Python that works on arrays and not on tensors is refused in words about the kernel, not about the interpreter."""

import math

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

from tools import gpu

pytestmark = pytest.mark.skipif(gpu.card() is not None, reason="tests the simulator: run it with --sim")

SIZE = 8


@triton.jit
def apply(x_ptr, out_ptr, function: tl.constexpr, SIZE: tl.constexpr):
    mine = tl.arange(0, SIZE)
    tl.store(out_ptr + mine, function(tl.load(x_ptr + mine), x_ptr))


@triton.jit
def exponential_of_numpy(x, pointer):
    return np.exp(x)


@triton.jit
def product_of_numpy(x, pointer):
    return np.float32(2) * x


@triton.jit
def root_of_math(x, pointer):
    return math.sqrt(x)


@triton.jit
def as_a_float(x, pointer):
    return float(x)


@triton.jit
def one_element(x, pointer):
    return x[0]


@triton.jit
def one_element_of_a_pointer(x, pointer):
    return pointer[0]


@triton.jit
def a_loop_over_elements(x, pointer):
    total = 0.0
    for value in x:
        total += value
    return total


@triton.jit
def a_loop_to_a_tensor(x, pointer):
    total = 0.0
    for _ in range(x.to(tl.int32)):
        total += 1
    return total


@pytest.mark.parametrize(
    "function, words",
    [
        (exponential_of_numpy, "np.exp takes no tensors. tl.exp does."),
        (product_of_numpy, "np.multiply takes no tensors. Numbers of a kernel are Python's or Triton's."),
        (root_of_math, "the functions of math take no tensors"),
        (as_a_float, "x.to\\(tl.float32\\) converts one"),
        (one_element, "This is a tensor of 8, and a kernel takes no single elements out of it."),
        (one_element_of_a_pointer, "A pointer has no elements in a kernel: tl.load"),
        (a_loop_over_elements, "This is a tensor of 8, and a kernel does not loop over it"),
        (a_loop_to_a_tensor, "This is a tensor of 8, and Python wants one whole number here."),
    ],
)
def test_it_says_what_a_tensor_is_not(function, words):
    with pytest.raises(TypeError, match=words):
        apply[(1,)](torch.ones(SIZE), torch.empty(SIZE), function, SIZE)


@triton.jit
def columns(x, pointer):
    return tl.sum(x[:, None] * x[None, :], axis=0)


def test_an_index_may_add_an_axis():
    out = torch.empty(SIZE)
    apply[(1,)](torch.ones(SIZE), out, columns, SIZE)
    assert (out == SIZE).all()


@pytest.mark.parametrize("argument, kind", [(np.ones(SIZE), "numpy.ndarray"), ([1.0], "list")])
def test_a_kernel_takes_tensors(argument, kind):
    with pytest.raises(TypeError, match=f"x_ptr of apply is given a {kind}.\nA kernel takes tensors and numbers"):
        apply[(1,)](argument, torch.empty(SIZE), columns, SIZE)


def test_a_grid_has_three_axes_at_most():
    with pytest.raises(TypeError, match="A grid has one, two or three axes"):
        apply[(1, 1, 1, 1)](torch.ones(SIZE), torch.empty(SIZE), columns, SIZE)
