"""Numbers of one bit, tl.int1: what a comparison gives, and what Triton's compiler adds as i1."""

import pytest
import torch
import triton
import triton.language as tl

import tools.gpu

pytestmark = pytest.mark.skipif(tools.gpu.card() is not None, reason="tests the simulator: run it with --sim")


@triton.jit
def combined(x_ptr, y_ptr, out_ptr, OPERATION: tl.constexpr):
    i = tl.arange(0, 4)
    x, y = tl.load(x_ptr + i) != 0, tl.load(y_ptr + i) != 0
    if OPERATION == "+":
        z = x + y
    elif OPERATION == "-":
        z = x - y
    elif OPERATION == "*":
        z = x * y
    else:
        z = -x
    tl.store(out_ptr + i, z.to(tl.int32))


@pytest.mark.parametrize(
    ("operation", "expected"), [("+", [0, 1, 1, 0]), ("-", [0, 1, 1, 0]), ("*", [0, 0, 0, 1]), ("neg", [0, 0, 1, 1])]
)
def test_one_and_one_have_no_room_in_one_bit(operation, expected):
    out = torch.empty(4, dtype=torch.int32)
    combined[(1,)](torch.tensor([0, 0, 1, 1]), torch.tensor([0, 1, 0, 1]), out, operation)
    assert out.tolist() == expected


@triton.jit
def count_of_ones(x_ptr, out_ptr, KIND: tl.constexpr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N)) != 0
    tl.store(out_ptr, tl.sum(x, dtype=KIND).to(tl.int32))


@pytest.mark.parametrize("ones", [0, 1, 6, 7])
def test_a_sum_of_bits_is_a_count_unless_it_has_one_bit_itself(ones):
    out = torch.empty(1, dtype=torch.int32)
    for kind, expected in ((None, ones), (tl.int32, ones), (tl.int1, ones % 2)):
        count_of_ones[(1,)](torch.arange(8) < ones, out, kind, N=8)
        assert out.item() == expected
