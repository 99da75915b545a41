"""What is remembered of a launch: which program touches which element, and what one warp asks for at its costliest."""

import numpy as np
import pytest

from tools.draw.touched import places, sizes
from tools.sim import cuda
from tools.sim.trace import Memory
from tools.tests.draw.kernels import add, down_columns, one_bank, picture, pictures, product, shifted, zeros

pytestmark = pytest.mark.filterwarnings("ignore::tools.sim.cuda.host.errors.NumbaPerformanceWarning")
BASE = np.zeros((6, 8), np.float32)


@pytest.mark.parametrize("array", [
    BASE, BASE.T, BASE[::2], BASE[:, 1::3], BASE[::-1], BASE[::-1, ::-1].T, BASE[2], BASE[:, 3][::-1],
    BASE.reshape(2, 3, 8).transpose(2, 0, 1), BASE[1:2, :1], np.zeros((), np.float32),
], ids=["rows", "transposed", "every second row", "columns", "reversed", "reversed and transposed", "a row",
        "a column reversed", "three axes", "one element", "no axes"])  # fmt: skip
def test_an_address_leads_back_to_its_element(array):
    memory = Memory("x", "global", array.shape, array.strides, 4, 1000)
    addresses = [1000 + sum(i * step for i, step in zip(index, array.strides)) for index in np.ndindex(array.shape)]
    assert places(memory, np.array(addresses)).tolist() == list(range(array.size))
    assert sizes(memory)[0] * sizes(memory)[1] == array.size


def test_what_lies_between_the_elements_of_a_view_is_none_of_them():
    memory = Memory("x", "global", (3, 2), (16, 4), 4, 0)
    assert places(memory, np.arange(0, 48, 4)).tolist() == [0, 1, -1, -1, 2, 3, -1, -1, 4, 5, -1, -1]


def test_an_axis_that_repeats_an_element_has_one():
    memory = Memory("x", "global", (5, 4), (0, 4), 4, 0)
    assert sizes(memory) == (1, 4)
    assert places(memory, np.array([0, 4, 12])).tolist() == [0, 1, 3]


def test_arrays_that_are_touched_alike_share_a_map():
    drawn = picture(lambda: add[3, 4](zeros(10), zeros(10), zeros(10)))
    assert (drawn.kernel, drawn.unit, drawn.units, drawn.grid) == ("add", "block", 3, (3,))
    (only,) = drawn.maps
    assert only.ways == (("x", "loaded"), ("y", "loaded"), ("out", "stored"))
    assert list(zip(only.elements.tolist(), only.programs.tolist())) == [(i, i // 4) for i in range(10)]
    assert (only.by(), only.untouched()) == ((1, 1), 0)


def test_a_product_reads_rows_and_columns_of_several_blocks():
    drawn = picture(lambda: product[(3, 2), (4, 4)](zeros(8, 5), zeros(5, 12), zeros(8, 12)))
    a, b, out = drawn.maps
    assert (a.rows, a.cols, a.by()) == (8, 5, (3, 3))
    assert (b.rows, b.cols, b.by()) == (5, 12, (2, 2))
    number = {(row, col): 3 * (row // 4) + col // 4 for row in range(8) for col in range(12)}
    assert dict(zip(out.elements.tolist(), out.programs.tolist())) == {
        12 * row + col: block for (row, col), block in number.items()
    }


def test_one_block_is_told_apart_by_its_warps():
    drawn = picture(lambda: add[1, 96](zeros(80), zeros(80), zeros(80)))
    assert (drawn.unit, drawn.units) == ("warp", 3)
    assert drawn.maps[0].programs.tolist() == [i // 32 for i in range(80)]


def test_of_equal_launches_the_first_is_drawn_and_all_are_counted():
    def run():
        for n in (10, 12, 10):
            add[3, 4](zeros(n), zeros(n), zeros(n))
        add[4, 4](zeros(10), zeros(10), zeros(10))

    drawn = pictures(run)
    assert [(each.units, each.launches, each.maps[0].cols) for each in drawn] == [(3, 3, 10), (4, 1, 10)]


# Requests ----------------------------------------------------------------------------------------


def test_neighbours_ask_for_four_sectors_and_a_column_for_thirty_two():
    rows = picture(lambda: add[1, 32](zeros(32), zeros(32), zeros(32))).requests
    assert [(each.kind, each.array, each.cost, each.least) for each in rows] == [
        ("load", "x", 4, 4),
        ("load", "y", 4, 4),
        ("store", "out", 4, 4),
    ]
    column = picture(lambda: down_columns[1, (32, 2)](zeros(32, 16), zeros(32, 16))).requests[0]
    assert (column.cost, column.least, column.who) == (32, 4, "warp 0")
    assert column.pieces() == {2 * lane: [lane] for lane in range(32)}


def test_an_unaligned_request_takes_one_sector_more():
    request = next(each for each in picture(lambda: shifted[1, 32](zeros(33), zeros(32))).requests if each.array == "x")
    assert (request.cost, request.least) == (5, 4)
    assert [len(lanes) for lanes in request.pieces().values()] == [7, 8, 8, 8, 1]


def test_one_bank_serves_thirty_two_words_one_after_the_other():
    requests = picture(lambda: one_bank[1, 32](zeros(32))).requests
    store = next(each for each in requests if each.space == "shared" and each.kind == "store")
    assert (store.cost, store.least, store.unit) == (32, 1, "wavefront")
    assert store.words() == [32] + [0] * 31


@pytest.mark.parametrize("step, least", [(0, 32), (32, 1), (16, 1)])
def test_atomics_of_one_word_cost_no_more_than_they_must(step, least):
    @cuda.jit
    def updates(x, out):
        bins = cuda.shared.array(1024, np.int32)
        t = cuda.threadIdx.x
        for i in range(t, 1024, 32):
            bins[i] = 0
        cuda.syncthreads()
        cuda.atomic.max(bins, step * t, x[t])
        cuda.syncthreads()
        out[t] = bins[step * t]

    numbers = np.zeros(32, np.int32)
    requests = picture(lambda: updates[1, 32](numbers, numbers.copy())).requests
    (atomic,) = [each for each in requests if each.kind == "atomic"]
    assert (atomic.cost, atomic.least) == (16 if step == 16 else 32, least)


def test_the_costliest_warp_of_a_line_is_kept():
    requests = picture(lambda: down_columns[(1, 1), (4, 16)](zeros(4, 16), zeros(4, 16))).requests
    assert {(each.cost, each.who) for each in requests} == {(4, "warp 0")}  # 4 rows, 8 columns of a sector in each
