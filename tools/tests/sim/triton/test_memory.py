"""What kernels do to memory: counted exactly, and refused where it is nobody's."""

import contextvars

import pytest
import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from tools import gpu
from tools.sim.recording import record
from tools.sim.triton.faults import Fault

pytestmark = pytest.mark.skipif(gpu.card() is not None, reason="tests the simulator: run it with --sim")


@triton.jit
def copy(x_ptr, out_ptr, n, stride, offset, BLOCK: tl.constexpr):
    mine = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offset + mine * stride, mask=mine < n)
    tl.store(out_ptr + mine, x, mask=mine < n)


@triton.jit
def copy_all(x_ptr, out_ptr, shift, BLOCK: tl.constexpr):
    mine = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + mine + shift)
    tl.store(out_ptr + mine, x)


@triton.jit
def copy_tile(x_ptr, out_ptr, stride_row, stride_col, ROWS: tl.constexpr, COLS: tl.constexpr):
    rows, cols = tl.arange(0, ROWS)[:, None], tl.arange(0, COLS)[None, :]
    x = tl.load(x_ptr + rows * stride_row + cols * stride_col)
    tl.store(out_ptr + rows * COLS + cols, x)


@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, N: tl.constexpr, TILE: tl.constexpr):
    rows = (tl.program_id(0) * TILE + tl.arange(0, TILE))[:, None]
    cols = (tl.program_id(1) * TILE + tl.arange(0, TILE))[None, :]
    acc = tl.zeros((TILE, TILE), tl.float32)
    for start in range(0, N, TILE):
        along = start + tl.arange(0, TILE)
        a = tl.load(a_ptr + rows * N + along[None, :])
        b = tl.load(b_ptr + along[:, None] * N + cols)
        acc = tl.dot(a, b, acc)
    tl.store(c_ptr + rows * N + cols, acc)


@triton.jit
def histogram(x_ptr, counts_ptr, n, BLOCK: tl.constexpr):
    mine = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + mine, mask=mine < n, other=0)
    tl.atomic_add(counts_ptr + x, 1, mask=mine < n)


def counts_of(kernel, grid, *args, **constants):
    with record() as counters:
        kernel[grid](*args, **constants)
    return counters


def fault_of(kernel, grid, *args, **constants) -> Fault:
    with pytest.raises(Fault) as caught:
        kernel[grid](*args, **constants)
    return caught.value


# Counts ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "stride, offset, sectors, lines",
    [
        (1, 0, 512, 128),
        (1, 1, 528, 144),  # each of the 16 blocks reaches into one piece more
        (2, 0, 1024, 256),
        (8, 0, 4096, 1024),
        (32, 0, 4096, 4096),
    ],
)
def test_strides_and_offsets_cost_sectors_and_lines(stride, offset, sectors, lines):
    x, out = torch.randn(4096 * stride + offset), torch.empty(4096)
    counters = counts_of(copy, (16,), x, out, 4096, stride, offset, BLOCK=256)
    load, store = (line.counts for line in counters.launches[0].lines)
    assert (load.bytes_loaded, load.accesses, load.sectors, load.lines) == (16384, 4096, sectors, lines)
    assert (store.bytes_stored, store.accesses, store.sectors, store.lines) == (16384, 4096, 512, 128)
    assert (counters.sectors, counters.programs) == (sectors + 512, 16)


def test_elements_behind_a_mask_do_not_count():
    counters = counts_of(copy, (4,), torch.randn(1000), torch.empty(1000), 1000, 1, 0, BLOCK=256)
    assert (counters.bytes_loaded, counters.bytes_stored, counters.accesses) == (4000, 4000, 2000)
    assert (counters.sectors, counters.lines) == (2 * 125, 2 * 32)


def test_an_access_that_is_masked_entirely_touches_nothing():
    counters = counts_of(copy, (3,), torch.randn(8), torch.empty(8), 8, 1, 0, BLOCK=8)
    assert (counters.programs, counters.accesses, counters.sectors) == (3, 16, 2)


def test_the_order_of_addresses_and_repeated_ones_do_not_matter():
    counters = counts_of(copy, (1,), torch.randn(64), torch.empty(64), 64, -1, 63, BLOCK=64)
    assert (counters.sectors, counters.lines) == (16, 4)
    counters = counts_of(copy, (1,), torch.randn(1), torch.empty(64), 64, 0, 0, BLOCK=64)
    assert (counters.bytes_loaded, counters.sectors, counters.lines) == (256, 1 + 8, 1 + 2)


@pytest.mark.parametrize("tile", [16, 32])
def test_larger_tiles_move_fewer_bytes_for_the_same_products(tile):
    n = 64
    a, b, c = torch.randn(n, n), torch.randn(n, n), torch.empty(n, n)
    counters = counts_of(matmul, (n // tile, n // tile), a, b, c, N=n, TILE=tile)
    assert (counters.bytes_loaded, counters.bytes_stored) == (2 * n**3 // tile * 4, n * n * 4)
    assert (counters.flops, counters.programs) == (2 * n**3, (n // tile) ** 2)
    assert [line.kind for line in counters.launches[0].lines] == ["load", "load", "dot", "store"]


@triton.jit
def scaled_product(a_ptr, b_ptr, scale_ptr, out_ptr, M: tl.constexpr, K: tl.constexpr):
    rows, pairs = tl.arange(0, M)[:, None], tl.arange(0, K // 2)[None, :]
    a = tl.load(a_ptr + rows * (K // 2) + pairs)
    b = tl.load(b_ptr + rows * (K // 2) + pairs)
    scale = tl.load(scale_ptr + rows * (K // 32) + tl.arange(0, K // 32)[None, :])
    form: tl.constexpr = tl.constexpr("e2m1")
    product = tl.dot_scaled(a, scale, form, b.T, scale, form)
    tl.store(out_ptr + rows * M + tl.arange(0, M)[None, :], product)


def test_products_of_packed_numbers_count_once_each():
    m, k = 32, 64
    a, scale = torch.zeros(m, k // 2, dtype=torch.uint8), torch.full((m, k // 32), 127, dtype=torch.uint8)
    counters = counts_of(scaled_product, (1,), a, a, scale, torch.empty(m, m), M=m, K=k)
    assert counters.flops == 2 * m * m * k


def test_atomics_have_bytes_of_their_own():
    x, bins = torch.arange(100, dtype=torch.int32) % 4, torch.zeros(4, dtype=torch.int32)
    counters = counts_of(histogram, (4,), x, bins, 100, BLOCK=32)
    assert bins.tolist() == [25, 25, 25, 25]
    assert (counters.bytes_loaded, counters.bytes_atomic, counters.bytes_stored) == (400, 400, 0)
    assert counters.launches[0].lines[1].counts.sectors == 4  # one for each program


def test_a_view_counts_from_where_its_storage_begins():
    storage = torch.randn(64)
    aligned, shifted = (
        counts_of(copy, (1,), storage[start : start + 32], torch.empty(32), 32, 1, 0, BLOCK=32) for start in (0, 4)
    )
    assert aligned.launches[0].lines[0].counts.sectors == 4
    assert shifted.launches[0].lines[0].counts.sectors == 5


def test_counts_do_not_depend_on_where_memory_lies():
    memory = bytearray(1024)
    places = [torch.frombuffer(memory, dtype=torch.float32, offset=start, count=200) for start in (0, 4, 60)]
    counters = [counts_of(copy, (2,), x, torch.empty(200), 200, 1, 0, BLOCK=128) for x in places]
    assert counters[0] == counters[1] == counters[2]


@pytest.mark.parametrize("dtype, size", [(torch.bool, 1), (torch.bfloat16, 2), (torch.float64, 8)])
def test_bytes_follow_the_element_type(dtype, size):
    x = torch.ones(64, dtype=dtype)
    counters = counts_of(copy, (1,), x, torch.empty_like(x), 64, 1, 0, BLOCK=64)
    assert (counters.bytes_loaded, counters.sectors) == (64 * size, 2 * 64 * size // 32)


@triton.jit
def copy_block_pointer(x_ptr, out_ptr, rows, cols, TILE: tl.constexpr):
    x = tl.make_block_ptr(x_ptr, (rows, cols), (cols, 1), (0, 0), (TILE, TILE), (1, 0))
    out = tl.make_block_ptr(out_ptr, (rows, cols), (cols, 1), (0, 0), (TILE, TILE), (1, 0))
    tl.store(out, tl.load(x, boundary_check=(0, 1)), boundary_check=(0, 1))


@triton.jit
def copy_descriptor(x_ptr, out_ptr, rows, cols, TILE: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, (rows, cols), (cols, 1), (TILE, TILE))
    out = tl.make_tensor_descriptor(out_ptr, (rows, cols), (cols, 1), (TILE, TILE))
    out.store([0, 0], x.load([0, 0]))


@pytest.mark.filterwarnings("ignore:tl.make_block_ptr is deprecated")
@pytest.mark.parametrize("kernel", [copy_block_pointer, copy_descriptor])
def test_block_pointers_and_descriptors_count_what_exists(kernel):
    triton.set_allocator(lambda size, alignment, stream: torch.empty(size, dtype=torch.int8))
    x, out = torch.randn(5, 12), torch.empty(5, 12)
    counters = counts_of(kernel, (1,), x, out, 5, 12, TILE=16)
    assert torch.equal(x, out)
    assert (counters.bytes_loaded, counters.bytes_stored, counters.accesses) == (240, 240, 120)


def test_a_descriptor_that_a_kernel_makes_needs_an_allocator():
    fault = contextvars.Context().run(fault_of, copy_descriptor, (1,), torch.ones(8, 8), torch.ones(8, 8), 8, 8, TILE=8)
    assert fault.text.splitlines() == [
        f"copy_descriptor, line {fault.line}:  x = tl.make_tensor_descriptor(x_ptr, (rows, cols)...",
        "A descriptor that a kernel makes lies in memory which the launch allocates,",
        "and no allocator is set: a GPU's launcher refuses this kernel.",
        "",
        "What does triton.set_allocator(f) want of f(size, alignment, stream)?",
    ]


@triton.jit
def copy_from_descriptor(x, out_ptr, TILE: tl.constexpr):
    tl.store(out_ptr + tl.arange(0, TILE), x.load([0]))


def test_a_descriptor_of_the_host_needs_none():
    out = torch.zeros(8)
    contextvars.Context().run(copy_from_descriptor[(1,)], TensorDescriptor.from_tensor(torch.ones(8), [8]), out, TILE=8)
    assert out.tolist() == [1.0] * 8


# Bounds ------------------------------------------------------------------------------------------


def test_a_forgotten_mask_is_refused_with_the_element_that_does_not_exist():
    x, out = torch.randn(32), torch.zeros(25)
    fault = fault_of(copy_all, (2,), x, out, 0, BLOCK=16)
    assert fault.text.splitlines() == [
        f"copy_all, line {fault.line}:  tl.store(out_ptr + mine, x)",
        "program 1 of 2 stores 16 elements; 7 of them lie past the end of out (25 elements).",
        "First one: element 25.",
        "",
        "The last block is partly empty. Which of its positions exist?",
    ]
    assert (fault.kind, fault.array, fault.operation) == ("out_of_bounds", "out", "store")
    assert fault.file == "tools/tests/sim/triton/test_memory.py"
    assert fault.source == "tl.store(out_ptr + mine, x)"
    assert (fault.program, fault.grid, str(fault)) == ((1,), (2,), fault.text)


@triton.jit
def copy_square(x_ptr, out_ptr, MASKED: tl.constexpr, SIDE: tl.constexpr):
    place = tl.arange(0, SIDE)[:, None] * SIDE + tl.arange(0, SIDE)[None, :]
    x = tl.load(x_ptr + place, mask=place < 9)
    if MASKED:
        tl.store(out_ptr + place, x, mask=place >= 0)
    else:
        tl.store(out_ptr + place, x)


def test_an_access_without_a_mask_is_told_from_one_whose_mask_lets_all_through():
    for masked, question in [
        (False, "This store has no mask. Which of these places exist?"),
        (True, "Which of these places exist, and what computes them?"),
    ]:
        fault = fault_of(copy_square, (1,), torch.ones(3, 3), torch.zeros(3, 3), masked, SIDE=4)
        assert "7 of them lie past the end of out (3 x 3 elements)" in fault.text
        assert fault.text.splitlines()[-1] == question


@triton.jit
def copy_part(x_ptr, out_ptr, rows, columns, stride, ACROSS: tl.constexpr):
    row, column = tl.arange(0, 4), tl.arange(0, 8)
    if ACROSS:
        place = row[None, :] * stride + column[:, None]
        exists = (row < rows)[None, :] & (column < columns)[:, None]
    else:
        place = row[:, None] * stride + column[None, :]
        exists = (row < rows)[:, None] & (column < columns)[None, :]
    tl.store(out_ptr + place, tl.load(x_ptr + place, mask=exists), mask=exists)


@pytest.mark.parametrize("across", [False, True])
@pytest.mark.parametrize(
    "rows, columns, first, asks",
    [
        (3, 8, "[3, 0]. The kernel comes to it as row 2, column 5.", "A row of x has 5 elements. What keeps later co"),
        (4, 5, "[3, 0].", "x has 3 rows. What keeps later rows out?"),
    ],
)
def test_columns_past_the_end_of_a_row_are_told_from_rows_that_do_not_exist(rows, columns, first, asks, across):
    fault = fault_of(copy_part, (1,), torch.ones(3, 5), torch.zeros(4, 8), rows, columns, 5, across)
    assert fault.text.splitlines()[2] == f"First one: element {first}"
    assert fault.text.splitlines()[-1].startswith(asks)


@pytest.mark.parametrize("shape, rows, columns, stride", [((3, 5), 4, 5, 6), ((3, 5), 4, 8, 5), ((3, 1), 3, 8, 1)])
def test_neither_rows_nor_columns_are_blamed_where_it_may_be_the_stride_or_both(shape, rows, columns, stride):
    fault = fault_of(copy_part, (1,), torch.ones(shape), torch.zeros(4, 8), rows, columns, stride, False)
    assert fault.text.splitlines()[-1] == "Which of these places exist, and what computes them?"


@pytest.mark.parametrize("across", [False, True])
@pytest.mark.parametrize("shape", [(3, 5), (2, 3, 5)])
def test_rows_that_lie_farther_apart_than_those_of_the_tensor_are_told_as_such(shape, across):
    """As of a kernel that multiplies by the length of its block; of two matrices it loads the second."""
    x = torch.ones(shape)
    fault = fault_of(copy_part, (1,), x if x.dim() == 2 else x[1:], torch.zeros(4, 8), 3, 5, 8, across)
    assert fault.text.splitlines()[2].endswith(" The block takes rows 8 elements apart.")
    assert fault.text.splitlines()[-1] == "Rows of x lie 5 apart. What is the number of a row multiplied by?"


@triton.jit
def copy_second_half(x_ptr, out_ptr, columns, step, BLOCK: tl.constexpr):
    row, column = 2 + tl.arange(0, 2), tl.arange(0, BLOCK)
    place, exists = row[:, None] * step + column[None, :], (row < 4)[:, None] & (column < columns)[None, :]
    tl.store(out_ptr + tl.arange(0, 2)[:, None] * BLOCK + column[None, :], tl.load(x_ptr + place, mask=exists))


@pytest.mark.parametrize("step, says", [(4, "rows 4 elements apart"), (7, "rows 7 elements apart")])
def test_so_is_a_later_block_all_of_whose_rows_are_counted_so(step, says):
    fault = fault_of(copy_second_half, (1,), torch.ones(4, 3), torch.zeros(2, 4), 3, step, BLOCK=4)
    assert says in fault.text


@pytest.mark.parametrize(
    "shape, step, columns", [((4, 3), 12, 4), ((1, 4, 3), 12, 3)], ids=["a column too many", "own"]
)
def test_a_step_is_not_blamed_where_it_would_not_do_or_is_one_of_the_tensors_own(shape, step, columns):
    fault = fault_of(copy_second_half, (1,), torch.ones(shape), torch.zeros(2, 4), columns, step, BLOCK=4)
    assert "elements apart" not in fault.text


@triton.jit
def load_line(x_ptr, out_ptr, first, step):
    place = first + tl.arange(0, 1)[:, None] + tl.arange(0, 8)[None, :] * step
    x = tl.load(x_ptr + place, mask=place >= 0)
    tl.store(out_ptr + tl.arange(0, 8)[None, :], x)


@pytest.mark.parametrize("first, step", [(8, 1), (4, 5)])
def test_neither_rows_nor_columns_are_blamed_for_a_single_line(first, step):
    """That of the last row may begin too late, and a line down the rows may have been meant to go along one."""
    fault = fault_of(load_line, (1,), torch.ones(3, 5), torch.zeros(8), first, step)
    assert fault.text.splitlines()[-1] == "Which of these places exist, and what computes them?"


@pytest.mark.parametrize(
    "given, says",
    [
        (torch.ones(1).expand(16), "Of its 16 elements 1 is in memory; a stride of 0 repeats it."),
        (torch.ones(4, 1).expand(4, 8), "Of its 4 x 8 elements 4 are in memory; a stride of 0 repeats them."),
    ],
)
def test_a_view_that_repeats_its_elements_is_told(given, says):
    fault = fault_of(copy_all, (1,), given, torch.empty(16), 0, BLOCK=16)
    assert fault.text.splitlines()[2:] == [
        says,
        "",
        "Does the kernel use its strides? Else x.contiguous() writes all of it out.",
    ]


def test_nothing_is_stored_by_an_access_that_is_refused():
    storage = torch.zeros(64)
    fault_of(copy_all, (1,), torch.ones(16), storage[:8], 0, BLOCK=16)
    assert storage.count_nonzero() == 0


def test_a_negative_index_is_refused():
    fault = fault_of(copy_all, (1,), torch.randn(16), torch.empty(16), -2, BLOCK=16)
    assert fault.text.splitlines()[1:] == [
        "program 0 of 1 loads 16 elements; 2 of them lie before the start of x (16 elements).",
        "First one: element -2.",
        "",
        "Which index is negative, and in which program?",
    ]


def test_a_program_too_many_is_refused():
    fault = fault_of(copy_all, (2,), torch.randn(32), torch.empty(16), 0, BLOCK=16)
    assert "16 of them lie past the end of out (16 elements)" in fault.text
    assert fault.text.endswith("Is this program needed, and does it start where it should?")


@pytest.mark.parametrize("grid, first, x", [(1, 8, 16), (4, 0, 40)], ids=["begins elsewhere", "is followed by another"])
def test_a_block_that_is_not_the_last_one_is_not_called_so(grid, first, x):
    fault = fault_of(copy_all, (grid,), torch.randn(x), torch.empty(16 * grid), first, BLOCK=16)
    assert "last block" not in fault.text and fault.text.endswith("?")


def test_a_pointer_belongs_to_its_argument_even_where_another_begins():
    storage = torch.randn(32)
    fault = fault_of(copy_all, (1,), storage[:16], storage[16:], 8, BLOCK=16)
    assert (fault.array, fault.operation) == ("x", "load")


@pytest.mark.parametrize("far", [2**20, 2**31 - 16, -(2**31)])
def test_a_pointer_that_strays_far_is_told_by_its_argument(far):
    fault = fault_of(copy_all, (1,), torch.randn(16), torch.empty(16), far, BLOCK=16)
    assert (fault.kind, fault.array) == ("out_of_bounds", "x")
    assert f"First one: element {far}." in fault.text


def test_the_bounds_are_those_of_the_view_and_the_element_is_told_by_row_and_column():
    view = torch.randn(6, 8)[1:4, 2:7]  # 3 x 5, rows 8 elements apart
    fault = fault_of(copy_tile, (1,), view, torch.empty(4, 4), 8, 1, ROWS=4, COLS=4)
    assert fault.text.splitlines()[1:3] == [
        "program 0 of 1 loads 16 elements; 4 of them lie past the end of x (3 x 5 elements).",
        "First one: element [3, 0].",
    ]


def test_what_lies_between_the_rows_of_a_view_is_inside_its_bounds():
    view = torch.randn(2, 8)[:, :4]
    fault = fault_of(copy_tile, (1,), view, torch.empty(2, 8), 8, 1, ROWS=2, COLS=8)
    assert "4 of them lie past the end of x (2 x 4 elements).\nFirst one: element [1, 4]." in fault.text


def test_the_element_of_a_transposed_argument_has_its_own_row_and_column():
    fault = fault_of(copy_tile, (1,), torch.randn(4, 2).T, torch.empty(2, 8), 1, 2, ROWS=2, COLS=8)
    assert "past the end of x (2 x 4 elements).\nFirst one: element [0, 4]." in fault.text


def test_an_argument_without_elements_is_no_place_to_go():
    fault = fault_of(copy_all, (1,), torch.empty(0), torch.empty(4), 0, BLOCK=1)
    assert fault.text.splitlines()[1:3] == [
        "program 0 of 1 loads 1 element; it lies past the end of x (no elements).",
        "That is: element 0.",
    ]
    copy_all[(0,)](torch.empty(0), torch.empty(0), 0, BLOCK=16)


@triton.jit
def load_from_number(x_ptr, out_ptr):
    tl.store(out_ptr, tl.load(tl.load(x_ptr).to(tl.pointer_type(tl.float32))))


def test_an_address_that_is_no_arguments_is_refused():
    fault = fault_of(load_from_number, (1,), torch.tensor([4096]), torch.empty(1))
    assert fault.array is None
    assert "program 0 of 1 loads 1 element; it lies in none of its arguments." in fault.text


@triton.jit
def copy_halfway(x_ptr, out_ptr):
    wide = (x_ptr + 1).to(tl.pointer_type(tl.int64))
    tl.store(out_ptr, tl.load(wide))


def test_an_address_that_is_no_multiple_of_the_elements_size_is_refused():
    fault = fault_of(copy_halfway, (1,), torch.randn(8), torch.zeros(1, dtype=torch.int64))
    assert fault.kind == "misaligned"
    assert "It loads 8 bytes at a time, but one begins 4 bytes into x." in fault.text


@triton.jit
def load_either(x_ptr, y_ptr, out_ptr, BLOCK: tl.constexpr):
    mine = tl.arange(0, BLOCK)
    tl.store(out_ptr + mine, tl.load(tl.where(mine % 2 == 0, x_ptr + mine, y_ptr + mine)))


def test_one_access_may_go_to_two_arguments_but_to_each_in_its_bounds():
    x, y, out = torch.zeros(16), torch.ones(16), torch.empty(16)
    load_either[(1,)](x, y, out, BLOCK=16)
    assert out.tolist() == [0, 1] * 8
    fault = fault_of(load_either, (1,), x, y[:8], out, BLOCK=16)
    assert fault.array == "y" and "4 of them lie past the end of y" in fault.text


@triton.jit
def copy_second(pair, out_ptr, nothing, BLOCK: tl.constexpr):
    mine = tl.arange(0, BLOCK)
    tl.store(out_ptr + mine, tl.load(pair[1] + mine))
    if nothing is not None:
        tl.store(nothing, 0.0)


def test_arguments_in_a_tuple_have_bounds_and_none_is_none():
    x, y, out = torch.zeros(8), torch.ones(16), torch.empty(16)
    copy_second[(1,)]((x, y), out, None, BLOCK=16)
    assert torch.equal(out, y)
    assert fault_of(copy_second, (1,), (y, x), out, None, BLOCK=16).array == "pair[1]"


@triton.jit
def copy_by_descriptor(x_desc, out_desc, row):
    out_desc.store([row, 0], x_desc.load([row, 0]))


def test_a_descriptor_made_outside_names_its_argument():
    x, out = torch.randn(4, 16), torch.zeros(4, 16)
    described = [TensorDescriptor.from_tensor(table, [8, 16]) for table in (x, out)]
    counters = counts_of(copy_by_descriptor, (1,), *described, 0)
    assert torch.equal(x, out) and counters.bytes_loaded == 256
    taller = TensorDescriptor(x, [6, 16], [16, 1], [8, 16])  # says that x has six rows
    fault = fault_of(copy_by_descriptor, (1,), taller, described[1], 0)
    assert fault.array == "x_desc" and "First one: element [4, 0]." in fault.text


@triton.jit
def copy_scalar(x_ptr, out_ptr, exists, place):
    tl.store(out_ptr, tl.load(x_ptr + place, mask=exists, other=7.0))


def test_a_single_element_may_have_a_mask():
    x, out = torch.tensor(3.0), torch.zeros(1)
    assert counts_of(copy_scalar, (1,), x, out, True, 0).accesses == 2 and out.item() == 3
    assert counts_of(copy_scalar, (1,), x, out, False, 9).accesses == 1 and out.item() == 7
    assert (
        "it lies past the end of x (1 element).\nThat is: element 9."
        in fault_of(copy_scalar, (1,), x, out, True, 9).text
    )


@pytest.mark.filterwarnings("ignore:tl.make_block_ptr is deprecated")
def test_a_block_pointer_without_boundary_check_is_refused():
    @triton.jit
    def load_block(x_ptr, TILE: tl.constexpr):
        tl.load(tl.make_block_ptr(x_ptr, (5, 5), (5, 1), (0, 0), (TILE, TILE), (1, 0)))

    assert "First one: element [5, 0]." in fault_of(load_block, (1,), torch.randn(5, 5), TILE=8).text


def test_an_atomic_is_refused_like_a_store():
    x = torch.tensor([1, 9], dtype=torch.int32)
    fault = fault_of(histogram, (1,), x, torch.zeros(4, dtype=torch.int32), 2, BLOCK=2)
    assert (fault.operation, fault.array) == ("atomic", "counts")
    assert "updates 2 elements; 1 of them lies past the end of counts (4 elements)." in fault.text
