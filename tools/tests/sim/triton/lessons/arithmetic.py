"""One kernel, and functions for it to apply."""

import torch
import triton
import triton.language as tl

import tools.gpu  # noqa: F401, before Triton


@triton.jit
def apply_kernel(x_ptr, out_ptr, function: tl.constexpr, SIZE: tl.constexpr):
    mine = tl.arange(0, SIZE)
    tl.store(out_ptr + mine, function(tl.load(x_ptr + mine)))


@triton.jit
def scale(x):
    return x * 0.1 + 1


@triton.jit
def exponential(x):
    return tl.exp(x)


@triton.jit
def by_way_of_float64(x):
    return tl.sqrt(x.to(tl.float64) + 1.0)


@triton.jit
def part_of_the_sum(x):
    return x / tl.sum(x, axis=0)


@triton.jit
def running_sum(x):
    return tl.cumsum(x, axis=0)


@triton.jit
def plus(a, b):
    return a + b


@triton.jit
def folded(x):
    return x + tl.reduce(x, 0, plus)


@triton.jit
def larger_than_one(x):
    return x > 1.0


@triton.jit
def whole(x):
    return x.to(tl.int32)


FUNCTIONS = {
    each.__name__: each
    for each in (scale, exponential, by_way_of_float64, part_of_the_sum, running_sum, folded, larger_than_one, whole)
}


def apply(x: torch.Tensor, function: str, dtype: torch.dtype) -> torch.Tensor:
    """The function of this name, in one program; dtype: of the result."""
    out = torch.empty(x.numel(), dtype=dtype)
    apply_kernel[(1,)](x, out, FUNCTIONS[function], x.numel())
    return out


@triton.jit
def widen_kernel(x_ptr, out_ptr, n, SIZE: tl.constexpr):
    mine = tl.arange(0, SIZE)
    x = tl.load(x_ptr + mine, mask=mine < n, other=0.0)
    tl.store(out_ptr + mine, x.to(tl.float32), mask=mine < n)


def widen(x, size):
    out = torch.empty(len(x), device=x.device)
    widen_kernel[(1,)](x, out, len(x), SIZE=size)
    return out
