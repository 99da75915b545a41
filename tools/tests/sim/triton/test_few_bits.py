"""Numbers of few bits: tl.int1, which a comparison gives and the compiler adds as i1, and sums that wrap around."""

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


@triton.jit
def total(x_ptr, out_ptr, KIND: tl.constexpr, AXIS: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i[:, None] * N + i[None, :])
    if AXIS is None:
        tl.store(out_ptr, tl.sum(x, dtype=KIND).to(tl.int64))
    else:
        tl.store(out_ptr + i, tl.sum(x, axis=AXIS, dtype=KIND).to(tl.int64))


@pytest.mark.parametrize("dtype", [torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64])
def test_a_sum_that_leaves_its_type_wraps_around(dtype):
    x = torch.full((4, 4), torch.iinfo(dtype).max, dtype=dtype)
    kind, wrapped = getattr(tl, str(dtype).removeprefix("torch.")), int(x.sum(dtype=dtype))
    out = torch.zeros(4, dtype=torch.int64)
    total[(1,)](x, out, kind, None, N=4)
    assert out.tolist() == [wrapped, 0, 0, 0]
    total[(1,)](x, out, kind, 1, N=4)
    assert out.tolist() == x.sum(1, dtype=dtype).tolist()
