"""What a mask keeps out of a load without other= is undefined: who lets a result hang on it is told so."""

import pytest
import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from tools import gpu
from tools.sim.triton.faults import Fault

pytestmark = pytest.mark.skipif(gpu.card() is not None, reason="tests the simulator: run it with --sim")

BLOCK, LENGTH = 8, 5


@triton.jit
def apply(x_ptr, out_ptr, n, function: tl.constexpr, whole: tl.constexpr, BLOCK: tl.constexpr):
    """One block, whose last elements do not exist. whole: of what comes out everything is stored."""
    mine = tl.arange(0, BLOCK)
    exists = mine < n
    x = tl.load(x_ptr + mine, mask=exists)
    y = function(x, exists)
    if whole:
        tl.store(out_ptr + mine, y)
    else:
        tl.store(out_ptr + mine, y, mask=exists)


def run(function, whole=False, dtype=torch.float32):
    x, out = torch.arange(1, LENGTH + 1).to(dtype), torch.zeros(BLOCK if whole else LENGTH, dtype=dtype)
    apply[(1,)](x, out, LENGTH, function, whole, BLOCK)
    return out.float().tolist()


# What is right -----------------------------------------------------------------------------------


@triton.jit
def itself(x, exists):
    return x


@triton.jit
def computed(x, exists):
    return tl.exp(x * 2 + 1) / x


@triton.jit
def zero_instead(x, exists):
    return tl.where(exists, x, 0)


@triton.jit
def sum_of_what_exists(x, exists):
    return x + tl.sum(tl.where(exists, x, 0.0), axis=0)


@triton.jit
def how_many_are_larger(x, exists):
    return x * 0 + tl.sum((exists & (x > 2)).to(tl.int32), axis=0)


@triton.jit
def how_many_are_larger_the_other_way_round(x, exists):
    return x * 0 + tl.sum(((x > 2) & exists).to(tl.int32), axis=0)


@triton.jit
def all_are_positive(x, exists):
    return x * 0 + tl.min(((x > 0) | (exists == 0)).to(tl.int32), axis=0)


@triton.jit
def running_sum(x, exists):
    return tl.cumsum(x, axis=0)


@triton.jit
def through_shapes(x, exists):
    rows = tl.trans(tl.reshape(x, (2, 4)))
    return tl.reshape(tl.trans(rows), (8,)) + tl.broadcast_to(x[None, :], (1, 8)).reshape(8)


@pytest.mark.parametrize(
    "function, wanted",
    [
        (itself, [1, 2, 3, 4, 5]),
        (zero_instead, [1, 2, 3, 4, 5]),
        (sum_of_what_exists, [16, 17, 18, 19, 20]),
        (how_many_are_larger, [3] * 5),
        (how_many_are_larger_the_other_way_round, [3] * 5),
        (all_are_positive, [1] * 5),
        (running_sum, [1, 3, 6, 10, 15]),
        (through_shapes, [2, 4, 6, 8, 10]),
    ],
)
def test_what_hangs_on_nothing_undefined_is_right(function, wanted):
    assert run(function) == wanted


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64, torch.int8, torch.int32, torch.int64])
def test_a_copy_behind_the_same_mask_is_right_in_every_type(dtype):
    assert run(itself, dtype=dtype) == [1, 2, 3, 4, 5]


def test_computing_with_undefined_elements_is_no_fault_as_long_as_nobody_sees_it():
    assert all(value == value for value in run(computed))


def test_where_puts_something_defined_in_their_place():
    assert run(zero_instead, whole=True) == [1, 2, 3, 4, 5, 0, 0, 0]


@triton.jit
def times_the_mask(x, exists):
    return x * exists.to(tl.int32)


def test_zero_times_a_whole_number_is_zero_whatever_it_is():
    assert run(times_the_mask, whole=True, dtype=torch.int32) == [1, 2, 3, 4, 5, 0, 0, 0]


# What is refused ---------------------------------------------------------------------------------


@triton.jit
def whole_sum(x, exists):
    return x + tl.sum(x, axis=0)


@triton.jit
def largest(x, exists):
    return x + tl.max(x, axis=0)


@triton.jit
def place_of_the_largest(x, exists):
    return x + tl.argmax(x, axis=0)


@triton.jit
def plus(a, b):
    return a + b


@triton.jit
def folded(x, exists):
    return x + tl.reduce(x, 0, plus)


@triton.jit
def sum_from_behind(x, exists):
    return tl.cumsum(x, axis=0, reverse=True)


@triton.jit
def turned(x, exists):
    return tl.flip(x, 0)


@pytest.mark.parametrize(
    "function", [whole_sum, largest, place_of_the_largest, folded, sum_from_behind, turned, times_the_mask]
)
def test_a_result_that_hangs_on_undefined_elements_is_refused(function):
    with pytest.raises(Fault) as caught:
        run(function, whole=function is times_the_mask)
    assert caught.value.kind == "undefined"
    assert caught.value.array == "x"


def line_of(words: str) -> int:
    with open(__file__) as file:
        return next(number for number, line in enumerate(file, start=1) if words in line)


def test_the_fault_names_the_load_and_the_line_that_uses_it():
    with pytest.raises(Fault) as caught:
        run(whole_sum)
    assert caught.value.text == (
        f"apply, line {line_of('tl.store(out_ptr + mine, y, mask=exists)')}:  "
        "tl.store(out_ptr + mine, y, mask=exists)\n"
        f"program 0 of 1: line {line_of('x = tl.load(x_ptr + mine, mask=exists)')} loads x with a mask and no other=.\n"
        f"What the mask keeps out is undefined, and line {line_of('return x + tl.sum(x, axis=0)')} uses it.\n"
        "Here it is stored: 5 of 8 elements.\n\n"
        "What must those positions hold, so that they change nothing?"
    )


def test_a_store_behind_a_wider_mask_is_told_how_many_it_stores():
    with pytest.raises(Fault, match="What the mask keeps out is undefined. Here it is stored: 3 of 8 elements."):
        run(itself, whole=True)


# Other uses --------------------------------------------------------------------------------------


@triton.jit
def gather(ids_ptr, table_ptr, out_ptr, n, BLOCK: tl.constexpr):
    mine = tl.arange(0, BLOCK)
    ids = tl.load(ids_ptr + mine, mask=mine < n)
    tl.store(out_ptr + mine, tl.load(table_ptr + ids), mask=mine < n)


@triton.jit
def decide(x_ptr, out_ptr, n):
    if tl.load(x_ptr, mask=n > 0) > 0:
        tl.store(out_ptr, 1.0)


@triton.jit
def count_to(x_ptr, out_ptr, n):
    for _ in range(tl.load(x_ptr, mask=n > 0)):
        tl.atomic_add(out_ptr, 1)


@triton.jit
def claim(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    mine = tl.arange(0, BLOCK)
    tl.device_assert(tl.load(x_ptr + mine, mask=mine < n) >= 0)


@triton.jit
def add_up(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    mine = tl.arange(0, BLOCK)
    tl.atomic_add(out_ptr + mine * 0, tl.load(x_ptr + mine, mask=mine < n))


@triton.jit
def mask_by_values(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    mine = tl.arange(0, BLOCK)
    tl.store(out_ptr + mine, mine, mask=tl.load(x_ptr + mine, mask=mine < n) > 0)


@pytest.mark.parametrize(
    "kernel, arguments, words",
    [
        (
            gather,
            (torch.zeros(5, dtype=torch.int32), torch.zeros(3), torch.zeros(5), 5, 8),
            "an address: 3 of 8 elements",
        ),
        (decide, (torch.zeros(1), torch.zeros(1), 0), "a condition"),
        (count_to, (torch.zeros(1, dtype=torch.int32), torch.zeros(1, dtype=torch.int32), 0), "the bound of a loop"),
        (claim, (torch.zeros(5), torch.zeros(1), 5, 8), "asserted: 3 of 8"),
        (add_up, (torch.zeros(5), torch.zeros(8), 5, 8), "stored: 3 of 8"),
        (mask_by_values, (torch.zeros(5), torch.zeros(8), 5, 8), "a mask: 3 of 8"),
    ],
)
def test_other_uses_are_refused_by_name(kernel, arguments, words):
    with pytest.raises(Fault, match=f"undefined.* Here it is {words}"):
        kernel[(1,)](*arguments)


# Products ----------------------------------------------------------------------------------------


@triton.jit
def product(a_ptr, b_ptr, out_ptr, rows, depth, padded: tl.constexpr, N: tl.constexpr):
    i, k = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
    if padded:
        a = tl.load(a_ptr + i * depth + k, mask=(i < rows) & (k < depth), other=0.0)
        b = tl.load(b_ptr + i * N + k, mask=i < depth, other=0.0)
    else:
        a = tl.load(a_ptr + i * depth + k, mask=(i < rows) & (k < depth))
        b = tl.load(b_ptr + i * N + k, mask=i < depth)
    tl.store(out_ptr + i * N + k, tl.dot(a, b), mask=i < rows)


@pytest.mark.parametrize("rows, depth, padded", [(16, 16, False), (5, 16, False), (5, 9, True), (16, 9, True)])
def test_a_product_may_leave_rows_undefined_that_nobody_stores(rows, depth, padded):
    a, b, out = torch.ones(rows, depth), torch.ones(depth, 16), torch.zeros(rows, 16)
    product[(1,)](a, b, out, rows, depth, padded, 16)
    assert (out == depth).all()


def test_a_product_along_undefined_elements_is_refused():
    with pytest.raises(Fault, match="no other=.\nWhat the mask keeps out is undefined. Here it is stored"):
        product[(1,)](torch.ones(16, 9), torch.ones(9, 16), torch.zeros(16, 16), 16, 9, False, 16)


# Block pointers and descriptors ------------------------------------------------------------------


@triton.jit
def by_block_pointer(x_ptr, out_ptr, n, padding: tl.constexpr, BLOCK: tl.constexpr):
    block = tl.make_block_ptr(x_ptr, (n,), (1,), (0,), (BLOCK,), (0,))
    x = tl.load(block, boundary_check=(0,), padding_option=padding)
    tl.store(out_ptr, tl.sum(x, axis=0))


def test_a_block_pointer_needs_a_padding_option_for_what_is_used():
    out = torch.zeros(1)
    by_block_pointer[(1,)](torch.ones(5), out, 5, "zero", 8)
    assert out.item() == 5
    with pytest.raises(Fault, match="loads x with a boundary_check and no padding_option=.\nWhat the boundary_check"):
        by_block_pointer[(1,)](torch.ones(5), out, 5, "", 8)


@triton.jit
def by_descriptor(descriptor, out_ptr, BLOCK: tl.constexpr):
    tl.store(out_ptr, tl.sum(descriptor.load([0, 0])))


def test_a_descriptor_fills_with_zeros():
    x, out = torch.ones(5, 8), torch.zeros(1)
    by_descriptor[(1,)](TensorDescriptor(x, [5, 8], [8, 1], [8, 8]), out, 8)
    assert out.item() == 40


# A single 0 is an `other` like any other number -----------------------------------------------------------


@triton.jit
def one_or_nothing(x_ptr, out_ptr, n, other, BLOCK: tl.constexpr):
    if BLOCK:
        place = tl.arange(0, BLOCK)
    else:
        place = 0
    tl.store(out_ptr + place, tl.load(x_ptr + place, mask=place < n, other=other))


@pytest.mark.parametrize("block", [0, 1])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int32, torch.bool])
def test_a_single_element_that_does_not_exist_is_the_other_that_was_given(dtype, block):
    for n, other, wanted in (0, 0, 0), (0, 1, 1), (1, 0, 1):
        out = torch.full((1,), 3).to(dtype)
        one_or_nothing[(1,)](torch.ones(1).to(dtype), out, n, other, BLOCK=block)
        assert out.item() == wanted


@triton.jit
def one_without_other(x_ptr, out_ptr, n):
    tl.store(out_ptr, tl.load(x_ptr, mask=n > 0))


def test_a_single_element_without_other_is_undefined_still():
    with pytest.raises(Fault, match="no other="):
        one_without_other[(1,)](torch.ones(1), torch.zeros(1), 0)
