"""The lesson again, as checks: the rule, one block, any length, any strides, what it costs."""

import numpy as np
import pytest
import torch

from tools.check import assert_matches, compiled, count, speed_ratio
from tools.check.inputs import awkward_lengths, vectors
from tools.check.terms import terms
from tools.gpu import device
from week1.day4 import vector_add as lesson

INF, NAN = float("inf"), float("nan")


def add(x, y, block):
    return torch.add(x, y)


def tables(rng, n_rows, n_cols):
    """Two row-major matrices."""
    return [vector.reshape(n_rows, n_cols) for vector in vectors(rng, n_rows * n_cols)]


def share(kernel, n):
    """Elements of a thread, where the programs of the kernel share n elements evenly."""
    return n / (kernel.grid[0] * kernel.num_warps * 32)


def widths(kernel):
    """Bytes that a thread moves with one instruction: for the two loads, and for the store."""
    return [access.width for access in kernel.accesses]


# Task 1: a matrix is a vector with a rule ---------------------------------------------------------

@pytest.mark.task(1)
def test_linear_index_counts_along_rows():
    def number_in_table(row, col, n_cols):
        return int(np.arange((row + 1) * n_cols).reshape(row + 1, n_cols)[row, col])

    for row, col in np.ndindex(3, 5):
        assert_matches(lesson.linear_index, row, col, 5, oracle=number_in_table)


@pytest.mark.task(1)
def test_coordinate_undoes_linear_index():
    for index in range(35):
        assert_matches(lesson.coordinate, index, 7, oracle=divmod)


# Task 2: one block, then any length ---------------------------------------------------------------

@pytest.mark.task(2)
def test_adds_one_full_block(rng):
    assert_matches(lesson.vector_add, *vectors(rng, 16), block=16, oracle=add, exact=True)


@pytest.mark.task(2)
def test_adds_the_ten_elements_of_the_lesson_in_three_blocks(rng):
    assert_matches(lesson.vector_add, *vectors(rng, 10), block=4, oracle=add, exact=True)


@pytest.mark.task(2)
@pytest.mark.counters
def test_one_launch_starts_all_programs_and_does_the_adding(rng):
    counters = count(lesson.vector_add, *vectors(rng, 5000), block=512)
    assert counters.library_operations == []
    assert [launch.kernel for launch in counters.launches] == ["add_kernel"]


@pytest.mark.task(2)
@pytest.mark.counters
@pytest.mark.parametrize("n", [5000, 5120])  # 9 full blocks and a part of one, 10 full blocks
def test_starts_a_program_for_each_block_that_has_an_element(n, rng):
    counters = count(lesson.vector_add, *vectors(rng, n), block=512)
    assert counters.programs == 10


@pytest.mark.task(2)
@pytest.mark.edge
@pytest.mark.parametrize("n", awkward_lengths(block=2048))  # 0, 1, 2047, 2048, 2049, 4099
def test_adds_any_length_and_touches_nothing_else(n, rng):
    assert_matches(lesson.vector_add, *vectors(rng, n), block=2048, oracle=add, exact=True)


@pytest.mark.task(2)
@pytest.mark.nonfinite
def test_passes_nan_and_infinity_through():
    x = torch.tensor([INF, -INF, NAN, INF, -0.0], device=device)
    y = torch.tensor([1.0, INF, 0.0, INF, -0.0], device=device)
    assert_matches(lesson.vector_add, x, y, oracle=torch.add, exact=True)


@pytest.mark.task(2)
@pytest.mark.counters
def test_moves_every_byte_once_in_whole_sectors(rng):
    """A sector is 32 bytes, the least that memory sends: neighbours should travel together."""
    n = 5000  # the last block is not full
    counters = count(lesson.vector_add, *vectors(rng, n))
    assert (counters.bytes_loaded, counters.bytes_stored) == (2 * 4 * n, 4 * n)
    assert counters.sectors == 3 * 4 * n / 32


@pytest.mark.task(2)
@pytest.mark.counters
def test_adds_float32_in_float32(rng):
    """Another type costs a conversion of each element, and float64 a slower addition as well."""
    counters = count(lesson.vector_add, *vectors(rng, 100))
    assert counters.float64 == 0
    assert counters.conversions == 0


@pytest.mark.task(2)
@pytest.mark.compiled
def test_a_thread_moves_sixteen_bytes_at_a_time(rng):
    """No load is wider. The compiler chose it because it can see that neighbours lie side by side."""
    kernel = compiled(lesson.vector_add, *vectors(rng, 4096), chip="h100").kernels["add_kernel"]
    elements_of_a_thread = share(kernel, 4096)
    assert elements_of_a_thread >= 4
    assert widths(kernel) == [16, 16, 16]


@pytest.mark.task(2)
@pytest.mark.gpu
@pytest.mark.speed
def test_runs_at_the_speed_of_memory(rng):
    """Two reads and a write for each element: memory is the limit, for PyTorch's own kernel too."""
    x, y = (vector.repeat(64) for vector in vectors(rng, 2**20))
    assert speed_ratio(lesson.vector_add, torch.add, x, y) >= 0.87


# Task 3: any strides ------------------------------------------------------------------------------

@pytest.mark.task(3)
@pytest.mark.parametrize("n_rows, n_cols", [(5, 3), (3, 5)])
def test_adds_a_table_in_blocks_that_cross_its_rows(n_rows, n_cols, rng):
    assert_matches(lesson.add_2d, *tables(rng, n_rows, n_cols), block=4, oracle=add, exact=True)


@pytest.mark.task(3)
@pytest.mark.edge
@pytest.mark.parametrize("n_rows, n_cols", [(1, 1), (1, 2049), (2049, 1), (0, 3), (3, 0), (31, 67)])
def test_adds_tables_of_any_shape_stored_in_any_way(n_rows, n_cols, rng):
    x, y = tables(rng, n_rows, n_cols)
    assert_matches(lesson.add_2d, x, y, block=2048, oracle=add, exact=True, layouts="any")


@pytest.mark.task(3)
@pytest.mark.edge
def test_adds_views_of_different_strides(rng):
    """A transpose and every second column; then one row that stands for all, and a column that does."""
    x, y = tables(rng, 5, 3)[0].T, tables(rng, 3, 10)[1][:, ::2]
    assert_matches(lesson.add_2d, x, y, block=4, oracle=add, exact=True)
    row, column = (vector.reshape(-1, 1) for vector in vectors(rng, 5))
    assert_matches(lesson.add_2d, row.T.expand(5, 5), column.expand(5, 5), block=4, oracle=add, exact=True)


@pytest.mark.task(3)
@pytest.mark.edge
def test_fills_an_out_that_is_stored_column_by_column(rng):
    def add_2d_by_column(x, y):
        out = torch.full((x.shape[1], x.shape[0]), NAN, device=device).T
        return lesson.add_2d(x, y, block=4, out=out)

    assert_matches(add_2d_by_column, *tables(rng, 3, 5), oracle=torch.add, exact=True)


@pytest.mark.task(3)
@pytest.mark.counters
def test_reads_a_column_major_table_where_it_lies(rng):
    x, y = tables(rng, 50, 40)
    counters = count(lesson.add_2d, x.T, y.T, block=512)
    assert counters.library_operations == []
    assert counters.bytes == 3 * 4 * 2000


@pytest.mark.task(3)
@pytest.mark.counters
@pytest.mark.parametrize("n_rows, blocks", [(50, 4), (64, 5)])  # the last block is a part of one; all are full
def test_starts_a_program_for_each_block_of_a_table_counted_row_by_row(n_rows, blocks, rng):
    counters = count(lesson.add_2d, *tables(rng, n_rows, 40), block=512)
    assert counters.programs == blocks


@pytest.mark.task(3)
@pytest.mark.counters
def test_moves_a_row_major_table_in_whole_sectors_and_in_float32(rng):
    """Counted row by row: so neighbours of a block are neighbours in memory too."""
    counters = count(lesson.add_2d, *tables(rng, 64, 64), block=64)
    assert counters.sectors == 3 * 4 * 4096 / 32
    assert counters.float64 == 0


@pytest.mark.task(2, 3)
@pytest.mark.compiled
def test_a_thread_moves_sixteen_bytes_along_a_row_and_four_down_a_column(rng):
    """One kernel, one table, stored in two ways: only row by row are a thread's elements neighbours."""
    x, y = tables(rng, 64, 64)
    along = compiled(lesson.add_2d, x, y, chip="h100").kernels["add_2d_kernel"]
    elements_of_a_thread = share(along, 4096)
    assert elements_of_a_thread >= 4
    assert widths(along) == [16, 16, 16]
    down = compiled(lesson.add_2d, x.T, y.T, chip="h100").kernels["add_2d_kernel"]
    assert widths(down) == [4, 4, 16]


# Task 4: predict ----------------------------------------------------------------------------------

def traffic(n):
    """What task 2 counts: x and y are loaded, out is stored."""
    return terms(loads=2 * 4 * n, stores=4 * n)


@pytest.mark.task(4)
def test_predicts_the_bytes_of_full_blocks():
    assert_matches(lesson.predict_traffic, 1024, oracle=traffic)


@pytest.mark.task(4)
@pytest.mark.parametrize("n", [4999, 10])
def test_predicts_no_bytes_that_the_mask_keeps_out_and_does_not_round_to_sectors(n):
    assert_matches(lesson.predict_traffic, n, oracle=traffic)
