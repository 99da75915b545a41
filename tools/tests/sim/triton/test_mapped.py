"""tl.map_elementwise: a function with ifs and loops for each element."""

import pytest
import torch
import triton
import triton.language as tl

import tools.gpu
from tools.sim.triton.faults import Fault

pytestmark = pytest.mark.skipif(tools.gpu.card() is not None, reason="tests the simulator: run it with --sim")


@triton.jit
def steps_to_one(n):
    """Of the Collatz sequence."""
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


@triton.jit
def count_steps(x_ptr, out_ptr, n, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i, mask=i < n, other=1)
    tl.store(out_ptr + i, tl.map_elementwise(steps_to_one, x))


def test_each_element_goes_its_own_way():
    out = torch.empty(8, dtype=torch.int32)
    count_steps[(1,)](torch.tensor([1, 2, 3, 6, 7], dtype=torch.int32), out, 5, N=8)
    assert out.tolist() == [0, 1, 7, 8, 16, 0, 0, 0]


@triton.jit
def both_parts(x, y):
    return x // y, x % y


@triton.jit
def divide(x_ptr, y_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    quotient, rest = tl.map_elementwise(both_parts, tl.load(x_ptr + i)[:, None], tl.load(y_ptr + i)[None, :])
    places = i[:, None] * N + i[None, :]
    tl.store(out_ptr + places, quotient)
    tl.store(out_ptr + N * N + places, rest)


def test_tensors_come_in_one_shape_and_results_in_several():
    x, y, out = torch.tensor([7, 8, 9, 10]), torch.tensor([1, 2, 3, 4]), torch.empty(2, 4, 4, dtype=torch.int64)
    divide[(1,)](x, y, out, N=4)
    assert out[0].equal(x[:, None] // y) and out[1].equal(x[:, None] % y)


@triton.jit
def sums_and_differences(a0, a1, b0, b1):
    return a0 + b0, a1 + b1, a0 - b0, a1 - b1


@triton.jit
def two_at_a_time(x_ptr, y_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    total, difference = tl.map_elementwise(sums_and_differences, tl.load(x_ptr + i), tl.load(y_ptr + i), pack=2)
    tl.store(out_ptr + i, total)
    tl.store(out_ptr + N + i, difference)


def test_several_elements_come_together():
    x, y, out = torch.arange(8.0), torch.arange(8.0) ** 2, torch.empty(16)
    two_at_a_time[(1,)](x, y, out, N=8)
    assert out.equal(torch.cat([x + y, x - y]))


@triton.jit
def sign(x):
    if x < 0:
        return -1
    return 1


@triton.jit
def signs(x_ptr, out_ptr, n, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, tl.map_elementwise(sign, tl.load(x_ptr + i, mask=i < n)))


def test_what_a_mask_keeps_out_is_undefined_afterwards_too():
    with pytest.raises(Fault, match="loads x with a mask and no other"):
        signs[(1,)](torch.ones(4), torch.empty(4, dtype=torch.int32), 3, N=4)
