"""The arrays of a kernel: views, records, shared, local and constant memory, and what must not be done to them."""

import numpy as np
import pytest

from tools.sim import cuda
from tools.sim.cuda.faults import Fault
from tools.sim.cuda.host.launch import launch
from tools.sim.cuda.memory.storage import GlobalArray
from tools.sim.recording import record
from tools.tests.sim.cuda.memory.running import fault_of

TABLE = np.array([10, 20, 30, 40], np.int64)


def one_line(fault: Fault) -> str:
    return " ".join(fault.text.split())


@cuda.jit
def copy(x, out):
    i = cuda.grid(1)
    out[i] = x[i]


def test_reading_past_the_end_names_line_thread_and_element():
    fault = fault_of(copy, (2, 32), np.zeros(60), np.zeros(64))
    assert (fault.kind, fault.array, fault.index, fault.block, fault.thread) == (
        "out_of_bounds",
        "x",
        (60,),
        (1, 0, 0),
        (28, 0, 0),
    )
    assert one_line(fault).startswith(
        f"copy, line {fault.line}: out[i] = x[i] thread 28 of block 1 (and 3 more) loads element 60 of x; it has 60."
    )


@cuda.jit
def place_in_the_grid(x, out):
    tile = cuda.shared.array(32, np.float64)
    tile[cuda.grid(1)] = 1


def test_of_a_shared_array_it_is_asked_which_element_is_the_threads_own():
    fault = fault_of(place_in_the_grid, (2, 32), np.zeros(64), np.zeros(64))
    assert "thread 0 of block 1 (and 31 more) stores element 32 of tile; it has 32." in one_line(fault)
    assert "Which element of its block's own array is this thread's, if any?" in one_line(fault)


@cuda.jit
def copy_or_zero(x, out):
    i = cuda.grid(1)
    out[i] = x[i] if i >= 0 else 0


def test_a_part_of_a_conditional_expression_belongs_to_the_kernel():
    fault = fault_of(copy_or_zero, (1, 32), np.zeros(30), np.zeros(32))
    assert one_line(fault).startswith(f"copy_or_zero, line {fault.line}: out[i] = x[i] if i >= 0 else 0 thread 30")


@cuda.jit
def left_neighbour(x, out):
    i = cuda.grid(1)
    out[i] = x[i - 1]


def test_a_computed_index_below_zero_is_refused():
    fault = fault_of(left_neighbour, (1, 32), np.zeros(32), np.zeros(32))
    assert (fault.kind, fault.index) == ("negative_index", (-1,))
    assert "counts from the end in Numba" in one_line(fault)


def test_a_negative_index_says_that_a_gpu_lets_it_pass():
    text = fault_of(left_neighbour, (1, 32), np.zeros(32), np.zeros(32)).text
    assert "On a GPU it passes, for Numba counts from the end; refused, as few mean that." in " ".join(text.split())
    assert len(text.splitlines()) <= 6 and max(map(len, text.splitlines())) <= 80


@cuda.jit
def last_element(x, out):
    out[cuda.grid(1)] = x[-1]


def test_minus_one_written_by_hand_means_the_last_element():
    out = np.zeros(4)
    last_element[1, 4](np.array([1.0, 2.0, 3.0]), out)
    assert (out == 3).all()


@cuda.jit
def copy_2d(a, out):
    column, row = cuda.grid(2)
    if row < out.shape[0] and column < out.shape[1]:
        out[row, column] = a[row, column]


@pytest.mark.parametrize(
    "view",
    [lambda a: a, lambda a: a.T, lambda a: a[::2, ::-1], lambda a: a[::-1, 1:], lambda a: a[:0]],
    ids=["contiguous", "transposed", "reversed columns", "reversed rows", "empty"],
)
def test_a_view_has_its_own_strides_and_bounds(view):
    a = view(np.arange(30.0).reshape(5, 6))
    out = np.zeros(a.shape)
    launch(copy_2d.py_func, (2, 2, 1), (4, 4, 1), [GlobalArray("a", a, 1 << 30), GlobalArray("out", out, 1 << 31)])
    assert (out == a).all()


@cuda.jit
def row_views(a, out):
    row = a[cuda.grid(1)]
    tail = row[1:]
    every_other = row[::2]
    out[cuda.grid(1)] = tail[0] * 100 + every_other[1] + tail.shape[0]


def test_rows_and_slices_are_views():
    out = np.zeros(5)
    row_views[1, 5](np.arange(30.0).reshape(5, 6), out)
    assert out.tolist() == [(6 * i + 1) * 100 + 6 * i + 2 + 5 for i in range(5)]


@cuda.jit
def beyond_a_slice(x, out):
    part = x[2:5]
    out[0] = part[cuda.threadIdx.x]


def test_a_slice_ends_where_it_ends():
    assert fault_of(beyond_a_slice, (1, 4), np.zeros(10), np.zeros(1)).kind == "out_of_bounds"


@cuda.jit
def move(points, step):
    i = cuda.grid(1)
    points[i].x += step
    points.y[i] = points[i]["x"] * 2


def test_fields_of_records_are_read_and_written_alone():
    points = np.zeros(4, np.dtype([("x", np.float32), ("y", np.float64)], align=True))
    move[1, 4](points, 1.5)
    assert points["x"].tolist() == [1.5] * 4
    assert points["y"].tolist() == [3.0] * 4


def test_a_field_of_packed_records_costs_the_sectors_that_it_lies_in():
    points = cuda.to_device(np.zeros(32, [("x", np.float32), ("rest", np.float32, 3)]))
    with record() as counters:
        read_x[1, 32](points, cuda.to_device(np.zeros(32)))
    (load,) = (line for line in counters.launches[0].lines if line.kind == "load")
    assert (load.counts.bytes, load.counts.sectors) == (128, 16)


@cuda.jit
def read_x(points, out):
    out[cuda.grid(1)] = points[cuda.grid(1)].x


@cuda.jit
def constants(out):
    table = cuda.const.array_like(TABLE)
    i = cuda.grid(1)
    out[i] = table[i % 4]


def test_constant_arrays_hold_what_the_module_holds():
    out = np.zeros(8, np.int64)
    constants[1, 8](out)
    assert out.tolist() == [10, 20, 30, 40] * 2


@cuda.jit
def reverse_by_shared(x, out):
    part = cuda.shared.array(32, np.float64)
    t = cuda.threadIdx.x
    part[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    out[cuda.grid(1)] = part[31 - t]


def test_each_block_has_its_own_shared_memory():
    x, out = np.arange(96.0), np.zeros(96)
    reverse_by_shared[3, 32](x, out)
    assert (out.reshape(3, 32) == x.reshape(3, 32)[:, ::-1]).all()


@cuda.jit
def unfilled(out):
    part = cuda.shared.array(32, np.float32)
    t = cuda.threadIdx.x
    if t != 5:
        part[t] = t
    cuda.syncthreads()
    out[t] = part[t]


def test_shared_memory_that_nobody_filled_is_not_zero():
    fault = fault_of(unfilled, (1, 32), np.zeros(32))
    assert (fault.kind, fault.array, fault.index, fault.thread) == ("uninitialised", "part", 5, (5, 0, 0))
    assert (
        "thread 5 of block 0 reads element 5 of part, to which nothing was stored. "
        "Only elements 0 to 4, 6 to 31 were stored." in one_line(fault)
    )


@cuda.jit
def unfilled_in_block_1(out):
    part = cuda.shared.array(32, np.float32)
    t = cuda.threadIdx.x
    if cuda.blockIdx.x == 0:
        part[t] = t
    cuda.syncthreads()
    out[cuda.grid(1)] = part[t]


def test_what_another_block_stored_does_not_count():
    text = one_line(fault_of(unfilled_in_block_1, (2, 32), np.zeros(64)))
    assert "reads element 0 of part, to which nothing was stored, nor to any other element." in text


def test_what_a_gpu_reads_by_chance_is_refused_in_those_words():
    text = fault_of(unfilled, (1, 32), np.zeros(32)).text
    assert "A GPU reads what lies there by chance: refused even if it is not used." in text
    assert len(text.splitlines()) <= 6 and max(map(len, text.splitlines())) <= 80


@cuda.jit
def unfilled_by_those_that_left(x, out):
    part = cuda.shared.array(64, np.float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    if i >= x.size:
        return
    part[t] = x[i]
    cuda.syncthreads()
    out[i] = part[63 - t]


def test_where_threads_have_ended_they_are_named_for_what_nobody_filled():
    fault = fault_of(unfilled_by_those_that_left, (2, 64), np.ones(125), np.zeros(125))
    assert fault.text.splitlines()[1:] == [
        "thread 0 of block 1 (and 2 more) reads element 63 of part,",
        "to which nothing was stored. Only elements 0 to 60 were stored.",
        "3 threads of its block have ended: 61 to 63.",
        "",
        "Is the thread among them that should fill it?",
    ]
    one = fault_of(unfilled_by_those_that_left, (1, 64), np.ones(63), np.zeros(63))
    assert "1 thread of its block has ended: 63." in one_line(one)


@cuda.jit
def private_powers(out):
    powers = cuda.local.array(4, np.int64)
    i = cuda.grid(1)
    powers[0] = 1
    for k in range(1, 4):
        powers[k] = powers[k - 1] * i
    out[i] = powers[3]


def test_local_arrays_belong_to_one_thread_and_are_not_counted():
    out = np.zeros(40, np.int64)
    with record() as counters:
        private_powers[2, 20](out)
    assert out.tolist() == [i**3 for i in range(40)]
    assert [line.kind for line in counters.launches[0].lines] == ["store"]


@cuda.jit
def dynamic(out):
    whole = cuda.shared.array(0, np.float32)
    other = cuda.shared.array(0, np.float32)
    t = cuda.threadIdx.x
    whole[t] = t
    cuda.syncthreads()
    out[t] = other[whole.shape[0] - 1 - t]


def test_dynamic_shared_arrays_begin_at_the_same_place():
    out = np.zeros(10)
    dynamic[1, 10, 0, 40](out)
    assert out.tolist() == list(range(10))[::-1]


@cuda.jit
def greedy(out):
    much = cuda.shared.array((128, 97), np.float32)
    much[cuda.threadIdx.x, 0] = 0
    out[0] = much[0, 0]


def test_too_much_shared_memory_is_refused():
    fault = fault_of(greedy, (1, 1), np.zeros(1))
    assert "Its blocks need 49,664 bytes of shared memory each; there are 49,152." in one_line(fault)


def test_an_array_at_an_odd_address_is_refused():
    x = GlobalArray("x", np.zeros(130, np.uint8)[1:129].view(np.float32), (1 << 30) + 1)
    with pytest.raises(Fault) as caught:
        launch(copy.py_func, (1, 1, 1), (32, 1, 1), [x, GlobalArray("out", np.zeros(32, np.float32), 1 << 31)])
    assert (caught.value.kind, caught.value.array) == ("misaligned", "x")


@cuda.jit
def half_an_index(x, out):
    out[0] = x[cuda.grid(1) / 2]


def test_an_index_that_is_no_whole_number_is_refused_as_numba_does():
    with pytest.raises(Fault, match="float64, not a whole number"):
        half_an_index[1, 1](np.zeros(4), np.zeros(1))


@cuda.jit
def half_a_place(x):
    cuda.atomic.add(x, cuda.grid(1) / 2, 1)


def test_an_index_of_an_atomic_that_is_no_whole_number_is_refused_though_numba_cuts_it_off():
    with pytest.raises(Fault) as caught:
        half_a_place[1, 1](np.zeros(4))
    assert "float64, not a whole number. Numba's atomics cut it off" in one_line(caught.value)


@cuda.jit
def float_into_int(x, out):
    out[cuda.grid(1)] = x[cuda.grid(1)]


def test_a_store_converts_to_the_type_of_the_array():
    out = np.zeros(3, np.int32)
    float_into_int[1, 3](np.array([1.9, -1.9, 7.0]), out)
    assert out.tolist() == [1, -1, 7]


@cuda.jit
def checks(x):
    assert x[cuda.grid(1)] > 0, "it must be positive"


def test_an_assertion_in_a_kernel_names_the_thread():
    fault = fault_of(checks, (1, 4), np.array([1.0, 2.0, -1.0, 3.0]))
    assert "thread 2 of block 0 finds that this is not so: it must be positive" in one_line(fault)
