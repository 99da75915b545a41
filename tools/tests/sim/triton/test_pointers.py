"""Addresses that a kernel reads from memory, and arguments that have a data_ptr() and are no tensors."""

import gc
import weakref

import pytest
import torch
import triton
import triton.language as tl

import tools.gpu
from tools.sim.recording import record
from tools.sim.triton.faults import Fault

pytestmark = pytest.mark.skipif(tools.gpu.card() is not None, reason="tests the simulator: run it with --sim")


@triton.jit
def grouped_matmul(table_ptr, sizes_ptr, BLOCK: tl.constexpr):
    """Program g: C = A @ B of group g. table: addresses of A, B and C; sizes: M, N, K, of each group."""
    group, i = tl.program_id(0), tl.arange(0, BLOCK)
    a_ptr = tl.load(table_ptr + 3 * group).to(tl.pointer_type(tl.float16))
    b_ptr = tl.load(table_ptr + 3 * group + 1).to(tl.pointer_type(tl.float16))
    c_ptr = tl.load(table_ptr + 3 * group + 2).to(tl.pointer_type(tl.float32))
    m, n, k = tl.load(sizes_ptr + 3 * group), tl.load(sizes_ptr + 3 * group + 1), tl.load(sizes_ptr + 3 * group + 2)
    a = tl.load(a_ptr + i[:, None] * k + i[None, :], mask=(i[:, None] < m) & (i[None, :] < k), other=0)
    b = tl.load(b_ptr + i[:, None] * n + i[None, :], mask=(i[:, None] < k) & (i[None, :] < n), other=0)
    tl.store(c_ptr + i[:, None] * n + i[None, :], tl.dot(a, b), mask=(i[:, None] < m) & (i[None, :] < n))


def test_products_of_several_sizes_find_their_matrices_through_a_table_of_addresses():
    shapes = [(16, 8, 16), (5, 16, 3), (1, 7, 9)]
    a = [torch.randn(m, k).half() for m, n, k in shapes]
    b = [torch.randn(k, n).half() for m, n, k in shapes]
    c = [torch.full((m, n), torch.nan) for m, n, k in shapes]
    table = torch.tensor([each.data_ptr() for group in zip(a, b, c) for each in group])
    with record() as recording:
        grouped_matmul[(3,)](table, torch.tensor(shapes, dtype=torch.int32), BLOCK=16)
    for x, y, z in zip(a, b, c):
        torch.testing.assert_close(z, x.float() @ y.float(), rtol=1e-5, atol=1e-5)
    counts = recording.launches[0].counts
    assert counts.bytes_stored == sum(4 * m * n for m, n, k in shapes)
    assert counts.bytes_loaded == sum(2 * k * (m + n) for m, n, k in shapes) + 3 * (3 * 8 + 3 * 4)


@triton.jit
def copy_from(table_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x_ptr = tl.load(table_ptr).to(tl.pointer_type(tl.float32))
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n, other=0))


def test_an_address_of_no_tensor_is_refused():
    with pytest.raises(Fault, match="8 of them .* arguments.\nNor is there another tensor at") as caught:
        copy_from[(1,)](torch.tensor([4096]), torch.empty(8), 8, BLOCK=8)
    assert (caught.value.kind, caught.value.function) == ("out_of_bounds", "copy_from")
    assert "still alive" in caught.value.text


def test_where_the_tensor_lies_changes_no_count():
    memory = torch.randn(64)
    sectors = []
    for start in (0, 8, 16):
        with record() as recording:
            copy_from[(1,)](torch.tensor([memory[start:].data_ptr()]), torch.empty(8), 8, BLOCK=8)
        sectors.append(recording.launches[0].counts.sectors)
    assert sectors == [3, 3, 3]


@triton.jit
def note_addresses(x_ptr, table_ptr):
    tl.store(table_ptr, (x_ptr + 4).to(tl.int64))


def test_an_address_that_one_kernel_notes_another_one_uses():
    x, table, out = torch.arange(16.0), torch.zeros(1, dtype=torch.int64), torch.empty(8)
    note_addresses[(1,)](x, table)
    assert table.item() == x[4:].data_ptr()
    copy_from[(1,)](table, out, 8, BLOCK=8)
    assert out.tolist() == list(range(4, 12))


@triton.jit
def to_pointers_and_back(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    pointers = tl.load(x_ptr + i).to(tl.pointer_type(tl.int32))
    tl.store(out_ptr + i, tl.where(i % 2 == 0, pointers, pointers + 1).to(tl.int64))


def test_numbers_that_are_no_addresses_stay_what_they_are_or_are_refused():
    out = torch.empty(4, dtype=torch.int64)
    to_pointers_and_back[(1,)](torch.tensor([0, -4, 2**62, 12]), out, N=4)
    assert out.tolist() == [0, 0, 2**62, 16]
    with pytest.raises(Fault, match="is no address of this machine") as caught:
        to_pointers_and_back[(1,)](torch.tensor([0, -4, (1 << 60) + 12, 12]), out, N=4)
    assert "tl.load(x_ptr + i).to(" in caught.value.source


# Parts of a tensor -------------------------------------------------------------------------------


@triton.jit
def sum_of_two(q_ptr, out_ptr, step, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(q_ptr + i) + tl.load(q_ptr + step + i))


def test_another_part_of_a_tensor_is_reached_through_the_whole_and_not_through_a_part():
    qkv, out = torch.arange(48.0).reshape(3, 16), torch.empty(16)
    sum_of_two[(1,)](qkv, out, qkv.stride(0), BLOCK=16)
    assert out.tolist() == (qkv[0] + qkv[1]).tolist()
    with pytest.raises(Fault, match="16 of them lie past the end of q") as caught:
        sum_of_two[(1,)](qkv[0], out, qkv.stride(0), BLOCK=16)
    assert "A GPU would not notice: q is a part of a tensor. Is that one meant? Then pass it." in caught.value.text


# Arguments that are no tensors -------------------------------------------------------------------


class Buffer:
    """A data type and an address: all that Triton asks of an argument."""

    def __init__(self, tensor: torch.Tensor) -> None:
        self.tensor, self.dtype = tensor, tensor.dtype

    def data_ptr(self) -> int:
        return self.tensor.data_ptr()


@triton.jit
def add_one(x_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(x_ptr + i, tl.load(x_ptr + i, mask=i < n) + 1, mask=i < n)


def test_an_argument_needs_no_more_than_a_type_and_an_address():
    x = torch.zeros(16)
    add_one[(1,)](Buffer(x[4:]), 12, BLOCK=16)
    add_one[(1,)](x_ptr=Buffer(x), n=2, BLOCK=16)
    assert x.tolist() == [1.0] * 2 + [0.0] * 2 + [1.0] * 12


def test_of_such_an_argument_the_bounds_are_those_of_the_tensor_that_it_lies_in():
    x = torch.zeros(16)
    with pytest.raises(Fault, match=r"1 of them lies past the end of x \(16 elements\)"):
        add_one[(1,)](Buffer(x), 17, BLOCK=32)


def test_a_launch_holds_none_of_its_arguments_when_it_has_ended():
    x = torch.zeros(16)
    storage = weakref.ref(x.untyped_storage())
    gc.disable()  # what only a collection frees counts as memory in use
    try:
        add_one[(1,)](x, 16, BLOCK=16)
        del x
        assert storage() is None
    finally:
        gc.enable()
