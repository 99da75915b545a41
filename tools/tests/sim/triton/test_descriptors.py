"""Updates of a tile through a descriptor, and the precisions of a product that are made of bfloat16."""

import pytest
import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

import tools.gpu
from tools.sim.recording import record
from tools.sim.triton.faults import Fault

pytestmark = pytest.mark.skipif(tools.gpu.card() is not None, reason="tests the simulator: run it with --sim")


@triton.jit
def update(target, HOW: tl.constexpr, DTYPE: tl.constexpr):
    rows = tl.arange(0, 16)[:, None] + tl.zeros((16, 16), tl.int32)
    tile = (rows * (tl.program_id(0) + 1)).to(DTYPE)
    if HOW == "add":
        target.atomic_add([8, 0], tile)
    elif HOW == "max":
        target.atomic_max([8, 0], tile)
    elif HOW == "min":
        target.atomic_min([8, 0], tile)
    elif HOW == "or":
        target.atomic_or([8, 0], tile)


def updated(how: str, dtype: torch.dtype, kind, start: int) -> torch.Tensor:
    x = torch.full((16, 16), start, dtype=dtype)
    update[(2,)](TensorDescriptor.from_tensor(x, [16, 16]), HOW=how, DTYPE=kind)
    assert (x[:8] == start).all() and (x[:, :1] == x).all()
    return x[8:, 0].tolist()


@pytest.mark.parametrize(
    ("dtype", "kind"),
    [(torch.float32, tl.float32), (torch.float16, tl.float16), (torch.bfloat16, tl.bfloat16), (torch.int32, tl.int32)],
)
def test_a_tile_is_added_and_what_lies_outside_is_left_out(dtype, kind):
    assert updated("add", dtype, kind, 1) == [1 + 3 * row for row in range(8)]


@pytest.mark.parametrize(("dtype", "kind"), [(torch.bfloat16, tl.bfloat16), (torch.float16, tl.float16)])
def test_the_greater_and_the_smaller_of_short_floats(dtype, kind):
    assert updated("max", dtype, kind, 5) == [max(5, 2 * row) for row in range(8)]
    assert updated("min", dtype, kind, 5) == [min(5, row) for row in range(8)]


def test_bits_are_combined():
    assert updated("or", torch.int32, tl.int32, 64) == [64 | row | 2 * row for row in range(8)]


def test_an_update_through_a_descriptor_is_counted_as_atomic():
    with record() as recording:
        updated("add", torch.float32, tl.float32, 0)
    counts = recording.launches[0].counts
    assert (counts.bytes_atomic, counts.bytes_stored) == (2 * 8 * 16 * 4, 0)


@triton.jit
def add_undefined(target, x_ptr, n):
    i = tl.arange(0, 16)
    x = tl.load(x_ptr + i, mask=i < n)
    target.atomic_add([0, 0], x[:, None] + tl.zeros((16, 16), tl.float32))


def test_undefined_elements_are_not_added():
    target = TensorDescriptor.from_tensor(torch.zeros(16, 16), [16, 16])
    with pytest.raises(Fault, match="What the mask keeps out is undefined"):
        add_undefined[(1,)](target, torch.zeros(16), 15)


# Products ----------------------------------------------------------------------------------------


@triton.jit
def multiply(a_ptr, b_ptr, out_ptr, N: tl.constexpr, HOW: tl.constexpr):
    i = tl.arange(0, N)
    places = i[:, None] * N + i[None, :]
    tl.store(out_ptr + places, tl.dot(tl.load(a_ptr + places), tl.load(b_ptr + places), input_precision=HOW))


def product(a: torch.Tensor, b: torch.Tensor, how: str) -> torch.Tensor:
    out = torch.empty(len(a), len(a))
    multiply[(1,)](a, b, out, N=len(a), HOW=how)
    return out


def test_products_of_bfloat16_parts_come_near_those_of_float32_the_more_parts_the_nearer(rng):
    a, b = (torch.from_numpy(rng.standard_normal((32, 32))).float() for _ in range(2))
    exact, size = a.double() @ b.double(), a.double().abs() @ b.double().abs()
    error = {how: float(((product(a, b, how) - exact).abs() / size).max()) for how in ("tf32", "bf16x3", "bf16x6")}
    assert error["tf32"] > 1e-4 > 2e-5 > error["bf16x3"] > 1e-6 > 3e-7 > error["bf16x6"]


@pytest.mark.parametrize("how", ["bf16x3", "bf16x6"])
def test_an_infinity_stays_one(how):
    a = torch.eye(16)
    a[3, 3] = torch.inf
    assert product(a, torch.ones(16, 16), how)[3].isinf().all()


@triton.jit
def first_row_from(target, col):
    target.store([0, col], target.load([0, col]))


def test_a_box_that_begins_between_multiples_of_16_bytes_says_where():
    x = torch.zeros(16, 64)
    first_row_from[(1,)](TensorDescriptor.from_tensor(x, [16, 32]), 4)
    with pytest.raises(Fault) as raised:
        first_row_from[(1,)](TensorDescriptor.from_tensor(x, [16, 32]), 1)
    for words in ("A box of [16, 32] begins at [0, 1].", "elements, of 4 bytes each", "Does it count boxes"):
        assert words in str(raised.value)


@triton.jit
def one_box_each(target, step):
    target.store([tl.program_id(0) * step, 0], tl.zeros((16, 32), tl.float32))


@triton.jit
def two_boxes_each(target, step):
    target.store([32 + 16 * tl.program_id(0), 0], tl.zeros((16, 32), tl.float32))
    target.store([tl.program_id(0) * step, 0], tl.zeros((16, 32), tl.float32))


@pytest.mark.parametrize(
    ("step", "asks"), [(1, "How far apart should their boxes begin?"), (0, "Which box should each")]
)
def test_two_boxes_that_overlap_say_where_they_begin(step, asks):
    boxes = TensorDescriptor.from_tensor(torch.zeros(64, 32), [16, 32])
    one_box_each[(2,)](boxes, 16)
    one_box_each[(2,)](boxes, 32)
    with pytest.raises(Fault) as raised:
        one_box_each[(2,)](boxes, step)
    assert f"Their boxes have the sides [16, 32], and begin at [0, 0] and at [{step}, 0]." in str(raised.value)
    assert asks in raised.value.question
    with pytest.raises(Fault) as raised:  # of several boxes of one program nothing tells which one it is
        two_boxes_each[(2,)](boxes, step)
    assert "both store" in str(raised.value) and "Their boxes" not in str(raised.value)
