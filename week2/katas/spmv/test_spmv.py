"""The lesson again, as checks: a thread a row, what skewed rows cost, a table of rows and lanes, equal shares."""

import numpy as np
import pytest
import torch

from tools.check import assert_matches, compiled, count, speed_ratio, terms
from tools.check.inputs import awkward_lengths, values, vectors
from tools.check.tolerances import accumulated
from tools.gpu import card, device
from week2.katas.spmv import spmv as lesson

INF, NAN = float("inf"), float("nan")
TWO_ROWS = ([0, 2, 3], [2, 0, 1], [3.0, 5.0, 7.0])
LESSON = ([0, 2, 2, 5, 6], [0, 2, 0, 1, 3, 2], [5.0, 2.0, 8.0, 1.0, 4.0, 7.0])
SKEWED = [3, 0, 0, 70, 1, 2, 0, 5, 31, 33, 32, 1, 0]  # lengths of rows: 178 non-zeros
LARGE = 2**20  # rows

pytestmark = pytest.mark.filterwarnings("ignore:Grid size")  # Numba's advice to start more blocks


def csr(indptr, indices, numbers):
    whole = [torch.tensor(each, dtype=torch.int32, device=device) for each in (indptr, indices)]
    return *whole, torch.tensor(numbers, dtype=torch.float32, device=device)


def tensor(numbers):
    return torch.tensor(numbers, dtype=torch.float32, device=device)


def random_csr(rng, lengths, cols, *, first=0):
    """Rows of these lengths; columns at random from `first` on, each at most once a row."""
    indptr = np.concatenate([[0], np.cumsum(lengths, dtype=int)])
    indices = [first + col for length in lengths for col in np.sort(rng.permutation(cols - first)[:length])]
    return csr(indptr, indices, values(rng, (int(indptr[-1]),), lean=0.5))


def side_by_side(rows, length):
    """Each row has the columns 0, 1, 2, ...: neighbours in memory."""
    return csr(range(0, rows * length + 1, length), list(range(length)) * rows, [1.0] * (rows * length))


def vector(rng, n):
    x, = vectors(rng, n, count=1)
    return x


def product(indptr, indices, values, x, **sizes):
    """Row by row, from the definition."""
    terms_of = values * x[indices.long()]
    return torch.stack([terms_of[start:end].sum() for start, end in zip(indptr.tolist(), indptr.tolist()[1:])])


def ones(n):
    return torch.ones(n, device=device)


def powers(n):
    """1, 2, 4, ...: each sum shows which terms are in it, exactly up to 2**23."""
    return 2.0 ** torch.arange(n, device=device)


def assert_multiplies(function, matrix, x, *, exact=False, **sizes):
    """In the simulator first: it names a loop that never ends, where a GPU would hang."""
    if card() is not None:
        count(function, *matrix, x, **sizes)
    longest = int((matrix[0][1:] - matrix[0][:-1]).max())
    assert_matches(function, *matrix, x, **sizes, oracle=product, exact=exact,
                   tolerance=None if exact else accumulated(np.float32, max(1, longest)))


# Task 1: a thread a row ---------------------------------------------------------------------------

@pytest.mark.task(1)
def test_two_threads_add_up_two_rows():
    """100 * 3 + 1 * 5, and 10 * 7."""
    assert_multiplies(lesson.spmv_rows, csr(*TWO_ROWS), tensor([1.0, 10.0, 100.0]), exact=True)


@pytest.mark.task(1)
@pytest.mark.edge
def test_the_sum_of_an_empty_row_is_0():
    assert_multiplies(lesson.spmv_rows, csr([0, 0, 2], [0, 1], [3.0, 5.0]), ones(2), exact=True)
    assert_multiplies(lesson.spmv_rows, csr([0, 0, 0, 0], [], []), ones(2), exact=True)


@pytest.mark.task(1)
def test_threads_multiply_the_matrix_of_the_lesson():
    assert_multiplies(lesson.spmv_rows, csr(*LESSON), powers(4), exact=True)


@pytest.mark.task(1)
@pytest.mark.edge
@pytest.mark.parametrize("rows", awkward_lengths(block=256)[1:])
def test_threads_take_any_number_of_rows(rows, rng):
    assert_multiplies(lesson.spmv_rows, random_csr(rng, rng.integers(0, 5, rows), 9), vector(rng, 9))


@pytest.mark.task(1)
@pytest.mark.edge
def test_threads_take_rows_of_very_different_lengths(rng):
    assert_multiplies(lesson.spmv_rows, random_csr(rng, SKEWED, 80), vector(rng, 80))


@pytest.mark.task(1)
@pytest.mark.nonfinite
def test_threads_keep_nan_in_the_rows_that_use_it():
    """x[1] is NaN and x[3] infinite. A stored zero times infinity is NaN; a zero that is not stored is not asked."""
    matrix = csr([0, 1, 3, 4, 5], [0, 1, 2, 3, 3], [2.0, 1.0, 1.0, 5.0, 0.0])
    assert_multiplies(lesson.spmv_rows, matrix, tensor([1.0, NAN, 1.0, INF]), exact=True)


@pytest.mark.task(1)
@pytest.mark.counters
def test_threads_compute_nothing_in_float64(rng):
    counters = count(lesson.spmv_rows, *random_csr(rng, SKEWED, 80), vector(rng, 80))
    assert counters.float64 == 0
    assert counters.conversions == 0
    assert counters.library_operations == []


@pytest.mark.task(1)
@pytest.mark.compiled
def test_the_compiler_multiplies_and_adds_in_float32(rng):
    matrix, x = random_csr(rng, SKEWED, 80), vector(rng, 80)
    kernel = compiled(lesson.spmv_rows, *matrix, x, chip="h100").kernels["row_kernel"]
    assert [name for name in kernel.instructions if name.startswith(("fma", "mul")) and "f32" in name] != []
    assert [name for name in kernel.instructions if "f64" in name] == []


# Task 2: predict, then count ----------------------------------------------------------------------

@pytest.mark.task(2)
def test_imbalance_is_the_longest_row_over_the_mean():
    for indptr, wanted in [([0, 2, 4], 1.0), ([0, 1, 4], 1.5), ([0, 0, 0, 0, 6], 4.0), (LESSON[0], 2.0)]:
        assert_matches(lesson.imbalance, indptr, oracle=lambda indptr: wanted)


@pytest.mark.task(2)
def test_a_warp_takes_as_many_turns_as_its_longest_row():
    def busy(indptr):
        lanes = np.zeros(-(-(len(indptr) - 1) // 32) * 32)
        lanes[: len(indptr) - 1] = np.diff(indptr)
        return float(lanes.sum() / (32 * lanes.reshape(-1, 32).max(1).sum()))

    one_long_row = [0, *range(9, 40)]  # of 9, and 31 rows of 1
    for indptr in ([*range(0, 65, 2)], one_long_row, [0, 1], [*one_long_row, *range(43, 43 + 31)], [*range(71)]):
        assert_matches(lesson.busy_lanes, indptr, oracle=busy)


@pytest.mark.task(1, 2)
@pytest.mark.counters
@pytest.mark.parametrize("lengths", [SKEWED, [4] * 40, [1, 2, 3, 4] * 20])
def test_predicts_the_busy_lanes_that_are_counted(lengths, rng):
    matrix = random_csr(rng, lengths, 80)
    launch, = count(lesson.spmv_rows, *matrix, vector(rng, 80)).launches
    line = next(line for line in launch.lines if "values" in line.source and line.kind == "load")
    busy_lanes = line.counts.accesses / (32 * line.counts.requests)
    assert lesson.busy_lanes(matrix[0].tolist()) == pytest.approx(busy_lanes)


@pytest.mark.task(2)
def test_a_non_zero_moves_twelve_bytes_and_a_row_twelve():
    def traffic(rows, nonzeros):
        return terms(values=4 * nonzeros, columns=4 * nonzeros, elements_of_x=4 * nonzeros,
                     begin_and_end_of_rows=8 * rows, y=4 * rows)

    for rows, nonzeros in [(7, 50), (1, 100), (100, 1)]:
        assert_matches(lesson.predict_traffic, rows, nonzeros, oracle=traffic)


@pytest.mark.task(1, 2)
@pytest.mark.counters
def test_predicts_the_traffic_of_a_thread_a_row(rng):
    predicted = lesson.predict_traffic(len(SKEWED), sum(SKEWED))
    counters = count(lesson.spmv_rows, *random_csr(rng, SKEWED, 80), vector(rng, 80))
    assert counters.bytes == predicted


# Task 3: a table of rows and lanes ----------------------------------------------------------------

@pytest.mark.task(3)
def test_two_programs_of_four_lanes_add_up_two_rows():
    """100 * 3 + 1 * 5, and 10 * 7."""
    assert_multiplies(lesson.spmv_lanes, csr(*TWO_ROWS), tensor([1.0, 10.0, 100.0]), rows_each=1, lanes=4, exact=True)


@pytest.mark.task(3)
def test_one_program_of_four_lanes_goes_on_until_the_longer_of_two_rows_is_done():
    """Rows of 1 and 10: three turns."""
    assert_multiplies(lesson.spmv_lanes, csr([0, 1, 11], [3, *range(10)], [1.0] * 11), powers(10),
                      rows_each=2, lanes=4, exact=True)


@pytest.mark.task(3)
@pytest.mark.edge
def test_the_sums_of_empty_rows_are_0():
    assert_multiplies(lesson.spmv_lanes, csr([0, 0, 4], [0, 1, 4, 5], [3.0, 5.0, 7.0, 9.0]), ones(6), exact=True)
    assert_multiplies(lesson.spmv_lanes, csr([0, 0, 0, 0], [], []), ones(2), exact=True)


@pytest.mark.task(3)
def test_lanes_multiply_the_matrix_of_the_lesson():
    assert_multiplies(lesson.spmv_lanes, csr(*LESSON), powers(4), rows_each=2, lanes=4, exact=True)


@pytest.mark.task(3)
@pytest.mark.edge
@pytest.mark.parametrize("rows", awkward_lengths(block=8)[1:])
@pytest.mark.parametrize("lanes", [2, 32])
def test_lanes_take_any_number_of_rows(rows, lanes, rng):
    assert_multiplies(lesson.spmv_lanes, random_csr(rng, rng.integers(0, 40, rows), 50), vector(rng, 50), lanes=lanes)


@pytest.mark.task(3)
@pytest.mark.edge
def test_lanes_take_rows_of_very_different_lengths(rng):
    assert_multiplies(lesson.spmv_lanes, random_csr(rng, SKEWED, 80), vector(rng, 80), rows_each=4, lanes=16)


@pytest.mark.task(3)
@pytest.mark.nonfinite
def test_lanes_keep_nan_in_the_rows_that_use_it():
    """Nobody uses column 0, whose x is NaN: a lane without a non-zero must not meet it either."""
    matrix = csr([0, 1, 3, 4, 5, 5], [4, 1, 2, 3, 3], [2.0, 1.0, 1.0, 5.0, 0.0])
    assert_multiplies(lesson.spmv_lanes, matrix, tensor([NAN, NAN, 1.0, INF, 1.0]), rows_each=2, lanes=4, exact=True)


@pytest.mark.task(3)
@pytest.mark.counters
def test_lanes_move_no_more_than_threads_do(rng):
    counters = count(lesson.spmv_lanes, *random_csr(rng, SKEWED, 80), vector(rng, 80))
    assert counters.bytes == 12 * sum(SKEWED) + 12 * len(SKEWED)
    assert counters.library_operations == []
    assert counters.float64 == 0


@pytest.mark.task(1, 3)
@pytest.mark.counters
def test_lanes_side_by_side_use_whole_sectors():
    """Rows of 64: eight to a sector of values, columns and x. A thread a row asks for a sector for each."""
    matrix, x = side_by_side(64, 64), ones(64)
    nonzeros, rows = 64 * 64, 64
    threads, counters = count(lesson.spmv_rows, *matrix, x), count(lesson.spmv_lanes, *matrix, x)
    assert counters.sectors <= 3 * nonzeros // 8 + rows
    assert threads.sectors > 2 * nonzeros


@pytest.mark.task(3)
@pytest.mark.compiled
def test_the_compiler_keeps_the_table_in_registers(rng):
    matrix, x = random_csr(rng, SKEWED, 80), vector(rng, 80)
    kernel = compiled(lesson.spmv_lanes, *matrix, x, chip="h100").kernels["lanes_kernel"]
    assert [name for name in kernel.instructions if name.startswith(("fma", "mul")) and "f32" in name] != []
    assert kernel.spills == 0
    assert [name for name in kernel.instructions if "f64" in name] == []


@pytest.mark.task(3)
@pytest.mark.hopper
@pytest.mark.speed
def test_lanes_are_nearly_as_fast_as_cusparse_on_equal_rows(rng):
    matrix, x, by_cusparse = large(rng, np.full(LARGE, 32))
    assert_multiplies(lesson.spmv_lanes, random_csr(rng, SKEWED, 80), vector(rng, 80))
    assert speed_ratio(lesson.spmv_lanes, by_cusparse, *matrix, x) >= 0.8  # the bar is 1.0; 1.02 on an H200


@pytest.mark.task(3)
@pytest.mark.gpu
def test_lanes_give_the_same_bits_every_time(rng):
    """Each row is one program's own, in an order that the code decides."""
    matrix, x = random_csr(rng, SKEWED * 50, 80), vector(rng, 80)
    first = lesson.spmv_lanes(*matrix, x)
    assert all(torch.equal(lesson.spmv_lanes(*matrix, x), first) for _ in range(20))


# Task 4: equal shares -----------------------------------------------------------------------------

def parts(indptr, share):
    """How many rows have a place in each share, added up."""
    row_of = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    return sum(len(np.unique(row_of[begin : begin + share])) for begin in range(0, len(row_of), share))


def large(rng, lengths):
    """A matrix in CSR with rows of these lengths, a vector, and cuSPARSE with the matrix in its own form."""
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    indices = torch.from_numpy(rng.integers(0, len(lengths), indptr[-1])).to(device, torch.int32)
    matrix = torch.from_numpy(indptr).to(device, torch.int32), indices, torch.rand(len(indices), device=device)
    sparse = torch.sparse_csr_tensor(*matrix, (len(lengths), len(lengths)))
    return matrix, torch.rand(len(lengths), device=device), lambda indptr, indices, values, x: sparse @ x


@pytest.mark.task(4)
def test_one_share_holds_both_rows():
    """100 * 3 + 1 * 5, and 10 * 7."""
    assert_multiplies(lesson.spmv_shares, csr(*TWO_ROWS), tensor([1.0, 10.0, 100.0]), share=4, rows_each=2, lanes=4,
                      exact=True)


@pytest.mark.task(4)
def test_one_share_goes_on_with_the_rows_after_its_first_ones():
    """Five rows, two at a time."""
    matrix = csr(range(0, 11, 2), [0, 1, 2, 3, 4, 7, 8, 9, 10, 11], [1.0] * 10)
    assert_multiplies(lesson.spmv_shares, matrix, powers(12), share=16, rows_each=2, lanes=4, exact=True)


@pytest.mark.task(4)
def test_each_share_begins_with_the_row_of_its_first_place():
    """Five rows of four, shares of two: each row is two shares."""
    assert_multiplies(lesson.spmv_shares, csr(range(0, 21, 4), range(20), [1.0] * 20), powers(20), share=2,
                      rows_each=1, lanes=4, exact=True)


@pytest.mark.task(4)
def test_a_row_in_two_shares_is_added_up_from_its_parts():
    """The matrix of the lesson, its row 2 in both shares."""
    assert_multiplies(lesson.spmv_shares, csr(*LESSON), powers(4), share=4, rows_each=2, lanes=4, exact=True)


@pytest.mark.task(4)
@pytest.mark.edge
def test_empty_rows_at_the_border_of_two_shares_get_nothing():
    assert_multiplies(lesson.spmv_shares, csr([0, 0, 2, 2, 2, 4, 4], range(4), [1.0] * 4), powers(4), share=2,
                      rows_each=1, lanes=2, exact=True)
    assert_multiplies(lesson.spmv_shares, csr([0, 0, 0, 0], [], []), ones(2), exact=True)


@pytest.mark.task(4)
@pytest.mark.edge
@pytest.mark.parametrize("share", [1, 63, 64, 65, 67, 178, 1000])
def test_shares_may_end_anywhere(share, rng):
    assert_multiplies(lesson.spmv_shares, random_csr(rng, SKEWED, 80), vector(rng, 80), share=share)


@pytest.mark.task(4)
@pytest.mark.edge
@pytest.mark.parametrize("rows", awkward_lengths(block=8)[1:])
def test_shares_take_any_number_of_rows(rows, rng):
    assert_multiplies(lesson.spmv_shares, random_csr(rng, rng.integers(0, 40, rows), 50), vector(rng, 50), share=32)


@pytest.mark.task(4)
@pytest.mark.edge
def test_one_row_may_hold_nearly_all_non_zeros(rng):
    assert_multiplies(lesson.spmv_shares, random_csr(rng, [1, 5000, 0, 2], 5000), vector(rng, 5000), share=512)


@pytest.mark.task(4)
@pytest.mark.nonfinite
def test_shares_keep_nan_in_the_rows_that_use_it():
    matrix = csr([0, 1, 3, 4, 5, 5], [4, 1, 2, 3, 3], [2.0, 1.0, 1.0, 5.0, 0.0])
    assert_multiplies(lesson.spmv_shares, matrix, tensor([NAN, NAN, 1.0, INF, 1.0]), share=2, rows_each=2, lanes=4,
                      exact=True)


@pytest.mark.task(4)
@pytest.mark.counters
@pytest.mark.parametrize("lengths, share", [(SKEWED, 64), ([1000, 1, 1, 1], 100)])
def test_a_row_is_added_to_y_once_for_each_share_that_has_a_part_of_it(lengths, share, rng):
    matrix = random_csr(rng, lengths, 1000)
    counters = count(lesson.spmv_shares, *matrix, vector(rng, 1000), share=share)
    added = parts(matrix[0].tolist(), share)
    assert counters.bytes_atomic == 4 * added
    assert counters.programs == len(range(0, sum(lengths), share))


@pytest.mark.task(4)
@pytest.mark.counters
def test_each_non_zero_is_loaded_once(rng):
    """The rest is indptr: two elements for each row that a program looks at, and two searches of ten steps at most."""
    matrix, nonzeros, programs = random_csr(rng, [3] * 1000, 80), 3000, 6
    counters = count(lesson.spmv_shares, *matrix, vector(rng, 80), share=512)
    loads_of_indptr = counters.bytes_loaded / 4 - 3 * nonzeros
    assert loads_of_indptr <= 2 * (1000 + 5 * programs) + 2 * 11 * programs
    assert counters.float64 == 0


@pytest.mark.task(4)
@pytest.mark.counters
def test_the_search_finds_the_last_of_the_rows_that_begin_at_a_place():
    """A thousand empty rows before one of 8. A program that began with the first would look at all of them."""
    matrix, nonzeros = csr([0] * 1001 + [8], range(8), [1.0] * 8), 8
    counters = count(lesson.spmv_shares, *matrix, ones(8), rows_each=4)
    loads_of_indptr = counters.bytes_loaded / 4 - 3 * nonzeros
    assert loads_of_indptr <= 2 * 4 + 2 * 11


@pytest.mark.task(4)
@pytest.mark.compiled
def test_the_compiler_adds_parts_of_rows_by_atomics_and_spills_nothing(rng):
    matrix, x = random_csr(rng, SKEWED, 80), vector(rng, 80)
    kernel = compiled(lesson.spmv_shares, *matrix, x, chip="h100").kernels["share_kernel"]
    atomics = [name for name in kernel.instructions if name.startswith(("atom", "red."))]
    assert kernel.spills == 0
    assert len(atomics) > 0
    atomics_that_order_other_memory = [name for name in atomics if "relaxed" not in name]
    assert atomics_that_order_other_memory == []


@pytest.mark.task(4)
@pytest.mark.hopper
@pytest.mark.speed
def test_shares_are_fast_where_rows_are_skewed(rng):
    sizes = (rng.random(LARGE) + 1e-5) ** -0.7
    matrix, x, by_cusparse = large(rng, (sizes * 32 * LARGE / sizes.sum()).astype(np.int64))
    assert speed_ratio(lesson.spmv_shares, by_cusparse, *matrix, x) >= 0.6  # the bar is 0.75; 0.81 on an H200
