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
ONE_EACH = ([0, 1, 2, 3], [2, 0, 1], [1.0, 1.0, 1.0])  # rows of one non-zero: x[2], x[0], x[1]
TWO_ROWS = ([0, 2, 3], [2, 0, 1], [3.0, 5.0, 7.0])
LESSON = ([0, 2, 2, 5, 6], [0, 2, 0, 1, 3, 2], [5.0, 2.0, 8.0, 1.0, 4.0, 7.0])
SKEWED = [3, 0, 0, 70, 1, 2, 0, 5, 31, 33, 32, 1, 0]  # lengths of rows: 178 non-zeros
LARGE = 2**20  # rows
STORED_ZERO = ("Row 3 has one place, whose value is 0.0, and x is inf there. The sum came to 0, and 0 * inf is NaN. "
               "Does the kernel ask for more than whether a place belongs to the row?")

OF_ONE_EACH = {  # sums of ONE_EACH with x = 10, 20, 30, wanted: 30, 10, 20
    (0, 0, 0): "no row has its one place. With which place does row 0 begin, and before which does it end?",
    (10, 20, 30): "as if x stood in the order of the places. Which array holds the column of a place?",
    (30, 0, 0): "rows 1 and 2 are empty, as if they ended before place 1. Is 1 their length, or their end?",
    (30, 40, 40): "row 1 has the place of row 0 too. Where does row 1 begin?",
    (30, 40, 60): "row 1 has the place of row 0 too. Where does row 1 begin?",
    (40, 40, 20): "rows 0 and 1 have the sum of their whole table. Which sums of a table does each row need?"}
OF_TWO_ROWS = {  # with x = 1, 10, 100, wanted: 305, 70
    (5, 0): "each row lacks its first place. With which place does a row begin?",
    (5, 70): "row 0 is the product of its last place alone. What does a turn do with the sum so far?",
    (53, 700): "as if x stood in the order of the places. Which array holds the column of a place?",
    (305, 0): "row 1 is empty, as if it ended before place 1. Is 1 its length, or its end?",
    (305, 375): "row 1 has the places of row 0 too. Where does row 1 begin?",
    (310, 70): "row 0 has place 1 twice. A turn takes a place for each lane: how far on does the next begin?",
    (375, 375): "each row has all three places. Of two places where a row could begin, which does the cut take?",
    (703, 50): "as if values stood in the order of the columns. Is a value found by its place, or by its column?"}
OF_ONE_AND_TEN = {  # rows of 1 and 10 places in turns of 4, x = 1, 2, 4, ..., wanted: 8, 1023
    (0, 768): "row 1 has the two places of the last turn alone. What does a turn do with the sums so far?",
    (8, 15): "row 1 has the four places of the first turn alone. How many turns does the longest row need?",
    (8, 255): "row 1 lacks its last two places. Is there a turn for places that do not fill it?",
    (24, 45): "each of three turns took the places of the first. What is different in the next turn?",
    (1031, 1031): "both are the sum of the whole table. Which sums of a table does each row need?"}

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


def sums_of(function, matrix, x, **sizes):
    """What the call returns, as numbers; of a row that it does not store, 1. In the simulator first too."""
    if card() is not None:
        count(function, *matrix, x, **sizes)
    return function(*matrix, x, **sizes, out=ones(len(matrix[0]) - 1)).tolist()


def assert_not_known(sums, known):
    """Sums that a certain mistake gives; known: what there is to say about it."""
    words = known.get(tuple(sums))
    no_known_mistake = words is None
    assert no_known_mistake, f"The sums are {', '.join(f'{each:g}' for each in sums)}: {words}"


# Task 1: a thread a row ---------------------------------------------------------------------------

@pytest.mark.task(1)
def test_a_thread_without_a_row_loads_nothing():
    """Three rows, four non-zeros, four columns: threads 0, 1 and 2 have a row."""
    try:
        count(lesson.spmv_rows, *csr([0, 1, 2, 4], [2, 0, 1, 3], [1.0] * 4), ones(4))
    except Exception as fault:
        if "thread 3 of block 0 loads" not in str(fault):
            raise
        what, _, _ = str(fault).partition("\n\n")
        raise AssertionError(f"{what}\nThread 3 has no row: there are three. indptr has one element more than rows, "
                             "values has one for each non-zero, x one for each column.\n"
                             "With which length does the guard compare the row?") from None


@pytest.mark.task(1)
def test_threads_take_x_at_the_column_of_each_place():
    matrix, x = csr(*ONE_EACH), tensor([10.0, 20.0, 30.0])
    sums = sums_of(lesson.spmv_rows, matrix, x)
    assert sums != [30.0, 10.0, 1.0], (
        "y[2] still holds what it held before the call: thread 2 has a row and stored nothing. "
        "Which threads does the guard let through?")
    assert_not_known(sums, OF_ONE_EACH)
    assert_multiplies(lesson.spmv_rows, matrix, x, exact=True)


@pytest.mark.task(1)
def test_two_threads_add_up_two_rows():
    """100 * 3 + 1 * 5, and 10 * 7."""
    matrix, x = csr(*TWO_ROWS), tensor([1.0, 10.0, 100.0])
    assert_not_known(sums_of(lesson.spmv_rows, matrix, x), OF_TWO_ROWS)
    assert_multiplies(lesson.spmv_rows, matrix, x, exact=True)


@pytest.mark.task(1)
@pytest.mark.edge
def test_the_sum_of_an_empty_row_is_0():
    matrix, x = csr([0, 0, 2], [0, 1], [3.0, 5.0]), ones(2)
    assert sums_of(lesson.spmv_rows, matrix, x) != [1.0, 8.0], (
        "Row 0 is empty: its sum is 0, and its loop takes no turn. y[0] still holds what it held before the call. "
        "Which store does a thread reach whose row is empty?")
    assert_multiplies(lesson.spmv_rows, matrix, x, exact=True)
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
    matrix, x = csr([0, 1, 3, 4, 5], [0, 1, 2, 3, 3], [2.0, 1.0, 1.0, 5.0, 0.0]), tensor([1.0, NAN, 1.0, INF])
    stored_zero_is_left_out = sums_of(lesson.spmv_rows, matrix, x)[3] == 0
    assert not stored_zero_is_left_out, STORED_ZERO
    assert_multiplies(lesson.spmv_rows, matrix, x, exact=True)


@pytest.mark.task(1)
@pytest.mark.counters
def test_threads_compute_nothing_in_float64(rng):
    counters = count(lesson.spmv_rows, *random_csr(rng, SKEWED, 80), vector(rng, 80))
    assert counters.float64 == 0
    assert counters.conversions == 0
    assert counters.library_operations == []


@pytest.mark.task(1)
@pytest.mark.counters
def test_threads_store_each_sum_once_after_the_loop_and_load_both_ends_of_a_row_once(rng):
    counters = count(lesson.spmv_rows, *random_csr(rng, SKEWED, 80), vector(rng, 80))
    assert counters.bytes_stored == 4 * len(SKEWED)
    assert counters.bytes_loaded == 4 * (3 * sum(SKEWED) + 2 * len(SKEWED))


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
    over_the_rows_that_are_not_empty = lesson.imbalance([0, 0, 0, 0, 6]) == 1
    assert not over_the_rows_that_are_not_empty, (
        "Rows of 0, 0, 0 and 6 places came to an imbalance of 1, as if 6 were also the mean. "
        "How many rows share the 6 places?")
    for indptr, wanted in [([0, 2, 4], 1.0), ([0, 1, 4], 1.5), ([0, 0, 0, 0, 6], 4.0), (LESSON[0], 2.0)]:
        assert_matches(lesson.imbalance, indptr, oracle=lambda indptr: wanted)


def busy(indptr):
    lanes = np.zeros(-(-(len(indptr) - 1) // 32) * 32)
    lanes[: len(indptr) - 1] = np.diff(indptr)
    return float(lanes.sum() / (32 * lanes.reshape(-1, 32).max(1).sum()))


ONE_LONG_ROW = [0, *range(9, 41)]  # a warp: a row of 9, and 31 rows of 1


@pytest.mark.task(2)
def test_a_warp_that_takes_more_turns_has_more_lanes_to_count():
    """Warp 0 has 40 non-zeros in 9 turns, warp 1 has 32 rows of 1."""
    share, mean_of_both_shares = lesson.busy_lanes([*ONE_LONG_ROW, *range(41, 73)]), (40 / 288 + 32 / 32) / 2
    assert share != pytest.approx(mean_of_both_shares), (
        f"Warp 0 has 40 busy lanes of 288, in 9 turns; warp 1 has 32 of 32, in one. {share:.3f} is the mean of both "
        "shares. How many lanes are there in all 10 turns?")


@pytest.mark.task(2)
def test_a_warp_takes_as_many_turns_as_its_longest_row():
    for indptr in ([*range(0, 65, 2)], ONE_LONG_ROW, [*ONE_LONG_ROW, *range(41, 73)]):
        assert_matches(lesson.busy_lanes, indptr, oracle=busy)


@pytest.mark.task(2)
def test_a_turn_counts_32_lanes_where_the_last_warp_has_fewer_rows():
    for indptr in ([0, 1], [*range(34)], [*range(33), 37, 39]):
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


def traffic(rows, nonzeros):
    return terms(values=4 * nonzeros, columns=4 * nonzeros, elements_of_x=4 * nonzeros, where_rows_begin=4 * rows,
                 where_rows_end=4 * rows, y=4 * rows)


@pytest.mark.task(2)
def test_each_row_loads_where_it_begins_and_where_it_ends():
    """Empty rows. The thread of the next row loads the same element of indptr, and that load counts too."""
    predicted = lesson.predict_traffic(7, 0)
    assert predicted != 4 * 8 + 4 * 7, (
        "60 bytes are the 8 elements of indptr, once each, and 7 of y. But threads 0 and 1 both load indptr[1]. "
        "How many loads of indptr do 7 threads make?")
    for rows in (1, 7):
        assert_matches(lesson.predict_traffic, rows, 0, oracle=traffic)


@pytest.mark.task(2)
def test_each_non_zero_adds_its_value_its_column_and_an_element_of_x():
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
@pytest.mark.nonfinite
@pytest.mark.parametrize("numbers, x, words", [
    ([2.0, NAN, 3.0], [5.0, 7.0, 9.0], "values has NaN at place 1, which belongs to row 1."),
    ([2.0, 4.0, 3.0], [NAN, 7.0, 9.0], "x[0] is NaN, and no row has column 0.")], ids=["values", "x"])
def test_a_lane_beyond_its_row_takes_no_value_and_no_x(numbers, x, words):
    """Two lanes: row 0 has place 0 alone, with x[1], and its second lane has nothing."""
    try:
        sums = sums_of(lesson.spmv_lanes, csr([0, 1, 3], [1, 1, 2], numbers), tensor(x), rows_each=1, lanes=2)
    except Exception as fault:
        if "have shape ['constexpr[2]'] but got ['constexpr[1]']" not in str(fault):
            raise
        raise AssertionError("ROWS is 1 and LANES is 2. lanes_kernel stores one sum, and row_sums gave two.\n"
                             "Along which axis of the table does tl.sum add up?") from None
    sum_is_nan = bool(np.isnan(sums[0]))
    assert not sum_is_nan, f"The sum of row 0 is NaN. {words} Which load takes it for row 0?"


@pytest.mark.task(3)
def test_the_last_row_has_an_end_too():
    """Three rows of one place, two to a program; indptr has four elements."""
    matrix, x = csr(*ONE_EACH), tensor([10.0, 20.0, 30.0])
    try:
        sums = sums_of(lesson.spmv_lanes, matrix, x, rows_each=2, lanes=2)
    except Exception as fault:
        if "past the end of indptr" not in str(fault):
            raise
        what = next(part for part in str(fault).split("\n\n") if "past the end of indptr" in part)
        raise AssertionError(f"{what}\nRows 0, 1 and 2 end at indptr[1], indptr[2] and indptr[3]. There is no row 3.\n"
                             "Which elements does the load of ends ask for?") from None
    assert sums != [30.0, 10.0, 0.0], (
        "Only the last row differs: row 2 came to 0, as if it were empty. Its end is indptr[3], and that exists. "
        "Which rows does the mask of ends leave out?")
    assert sums != [30.0, 10.0, 1.0], (
        "y[2] still holds what it held before the call: the last row has a sum that nobody stored. "
        "Which rows does the mask of the store leave out?")
    assert_not_known(sums, OF_ONE_EACH)
    assert_multiplies(lesson.spmv_lanes, matrix, x, rows_each=2, lanes=2, exact=True)


@pytest.mark.task(3)
def test_lanes_take_x_at_the_column_of_each_place():
    matrix, x = csr(*ONE_EACH), tensor([10.0, 20.0, 30.0])
    assert sums_of(lesson.spmv_lanes, matrix, x, rows_each=1, lanes=2) != [30.0, 0.0, 20.0], (
        "Only row 1 differs: it has column 0 and came to 0, where x[0] is 10. "
        "Which lanes have no non-zero: those with column 0, or those whose place is beyond their row?")
    assert_multiplies(lesson.spmv_lanes, matrix, x, rows_each=1, lanes=2, exact=True)


@pytest.mark.task(3)
def test_two_programs_of_four_lanes_add_up_two_rows():
    """100 * 3 + 1 * 5, and 10 * 7."""
    matrix, x = csr(*TWO_ROWS), tensor([1.0, 10.0, 100.0])
    assert_not_known(sums_of(lesson.spmv_lanes, matrix, x, rows_each=1, lanes=4), OF_TWO_ROWS)
    assert_multiplies(lesson.spmv_lanes, matrix, x, rows_each=1, lanes=4, exact=True)


@pytest.mark.task(3)
def test_the_lanes_of_a_row_all_end_where_that_row_ends():
    """Rows of 2, 1, 4 and 1, four lanes: in a table as wide as it is high, a row of ends passes for a column."""
    matrix, x = csr([0, 2, 3, 7, 8], range(8), [1.0] * 8), powers(8)
    sums = sums_of(lesson.spmv_lanes, matrix, x, rows_each=4, lanes=4)
    assert sums != [1 + 2 + 4 + 8, 16 + 32, 32 + 64, 0], (
        f"{sums} are the sums if lane j of every row ends where row j does. Lane j of row i ends where row i does. "
        "Is ends a row or a column beside the table of places?")
    assert_multiplies(lesson.spmv_lanes, matrix, x, rows_each=4, lanes=4, exact=True)


@pytest.mark.task(3)
def test_one_program_of_four_lanes_goes_on_until_the_longer_of_two_rows_is_done():
    """Rows of 1 and 10: three turns."""
    matrix, x = csr([0, 1, 11], [3, *range(10)], [1.0] * 11), powers(10)
    assert_not_known(sums_of(lesson.spmv_lanes, matrix, x, rows_each=2, lanes=4), OF_ONE_AND_TEN)
    assert_multiplies(lesson.spmv_lanes, matrix, x, rows_each=2, lanes=4, exact=True)


@pytest.mark.task(3)
@pytest.mark.edge
def test_the_sums_of_empty_rows_are_0():
    matrix, x = csr([0, 0, 4], [0, 1, 4, 5], [3.0, 5.0, 7.0, 9.0]), ones(6)
    assert sums_of(lesson.spmv_lanes, matrix, x) != [1.0, 24.0], (
        "Row 0 is empty: its sum is 0. y[0] still holds what it held before the call, and nobody else stores it. "
        "Which rows does the mask of the store leave out?")
    assert_multiplies(lesson.spmv_lanes, matrix, x, exact=True)
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
@pytest.mark.counters
def test_lanes_load_nothing_for_places_that_do_not_exist(rng):
    counters = count(lesson.spmv_lanes, *random_csr(rng, SKEWED, 80), vector(rng, 80))
    assert counters.bytes_loaded == 4 * (3 * sum(SKEWED) + 2 * len(SKEWED))
    assert counters.bytes_stored == 4 * len(SKEWED)
    assert counters.library_operations == []
    assert counters.float64 == 0


@pytest.mark.task(3)
@pytest.mark.counters
@pytest.mark.parametrize("lengths, lanes, needed", [([1] * 8, 1, 1), ([2, 7, 2, 5], 2, 4), ([0, 3, 1, 6], 8, 1)])
def test_the_loop_takes_as_many_turns_as_the_longest_row_needs(lengths, lanes, needed, rng):
    """Values are float16 here, so each turn converts a whole table of them to multiply them by float32."""
    indptr, indices, numbers = random_csr(rng, lengths, 9)
    rows = len(lengths)
    counters = count(lesson.spmv_lanes, indptr, indices, numbers.half(), vector(rng, 9), rows_each=rows, lanes=lanes)
    turns_of_the_loop, all_rows = counters.conversions / (rows * lanes), -(-sum(lengths) // lanes)
    words = (f"A program has rows of {lengths} places, and a turn takes {lanes} of each. Turns that the longest row "
             f"needs: {needed}. Turns of the loop: {turns_of_the_loop:g}")
    assert turns_of_the_loop != all_rows, f"{words}, enough for all rows in a line. What does the loop count up to?"
    assert turns_of_the_loop == needed, words


@pytest.mark.task(3)
@pytest.mark.nonfinite
def test_lanes_keep_nan_in_the_rows_that_use_it():
    """Nobody uses column 0, whose x is NaN: a lane without a non-zero must not meet it either."""
    matrix = csr([0, 1, 3, 4, 5, 5], [4, 1, 2, 3, 3], [2.0, 1.0, 1.0, 5.0, 0.0])
    x, sizes = tensor([NAN, NAN, 1.0, INF, 1.0]), {"rows_each": 2, "lanes": 4}
    stored_zero_is_left_out = sums_of(lesson.spmv_lanes, matrix, x, **sizes)[3] == 0
    assert not stored_zero_is_left_out, STORED_ZERO
    assert_multiplies(lesson.spmv_lanes, matrix, x, **sizes, exact=True)


@pytest.mark.task(1, 3)
@pytest.mark.counters
def test_lanes_side_by_side_use_whole_sectors():
    """Rows of 64: eight to a sector of values, columns and x. A thread a row asks for a sector for each."""
    matrix, x = side_by_side(64, 64), ones(64)
    nonzeros, rows = 64 * 64, 64
    threads, counters = count(lesson.spmv_rows, *matrix, x), count(lesson.spmv_lanes, *matrix, x)
    enough_sectors = counters.sectors <= 3 * nonzeros // 8 + rows
    assert enough_sectors, (
        f"lanes_kernel moves {counters.accesses:,} elements in {counters.sectors:,} sectors, "
        f"{counters.accesses / counters.sectors:.1f} in each; 8 would fit, if they were side by side. "
        "Lane 0 of a row takes its place 0 in the first turn. Which place does lane 1 take?")
    assert threads.sectors > 2 * nonzeros


@pytest.mark.task(3)
def test_each_lane_adds_up_its_own_places_until_all_turns_are_done():
    """Two lanes, two turns: one has 2**24 and -2**24, the other 1 and 0. 2**24 + 1 is 2**24 in float32."""
    row, x = csr([0, 4], range(4), [2.0**24, 1.0, -(2.0**24), 0.0]), ones(4)
    assert sums_of(lesson.spmv_lanes, row, x, rows_each=1, lanes=2) != [0.0], (
        "Lane 0 has 2**24 and then -2**24, lane 1 has 1 and then 0: together 1. It came to 0, as if each turn added "
        "up its lanes, since 2**24 + 1 is 2**24 in float32. When does row_sums add up the lanes of a row?")
    assert_matches(lesson.spmv_lanes, *row, x, rows_each=1, lanes=2, exact=True,
                   oracle=lambda indptr, indices, values, x, **sizes: values[0::2].sum() + values[1::2].sum(0, True))


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


def row_of_each_place(indptr):
    lengths = indptr[1:] - indptr[:-1]
    return torch.arange(len(lengths), dtype=indptr.dtype, device=indptr.device).repeat_interleave(lengths)


def rows_found(indptr):
    """What row_of finds for each place, as numbers."""
    indptr, _, _ = csr(indptr, [], [])
    if card() is not None:
        count(lesson.rows_of, indptr)  # in the simulator first: a search without an end would hang a GPU
    return lesson.rows_of(indptr).tolist()


def assert_finds_rows(indptr):
    found, (starts, _, _) = rows_found(indptr), csr(indptr, [], [])
    for place, (row, wanted) in enumerate(zip(found, row_of_each_place(starts).tolist())):
        too_far, not_far_enough = wanted < row < len(indptr), 0 <= row < wanted
        assert not too_far, (
            f"For place {place} the search found row {row}, but indptr[{row}] is {indptr[row]}, after the place. "
            "When may a row become low, and which of low and high is returned?")
        assert not not_far_enough, (
            f"For place {place} the search found row {row}, but row {row + 1} begins at place {indptr[row + 1]}: "
            "not after it. Which row became high?")
    assert_matches(lesson.rows_of, starts, oracle=row_of_each_place)


@pytest.mark.task(4)
def test_the_search_ends_when_no_row_lies_between_low_and_high():
    """One row: low is 0 and high is 1 from the start."""
    try:
        assert_finds_rows([0, 2])
    except Exception as fault:
        if "for ever" not in str(fault):
            raise
        what, _, _ = str(fault).partition("\n")
        raise AssertionError(f"{what}\nThere is one row: low is 0 and high is 1, and no row lies between them. The "
                             "middle is 0 again, in each turn.\nWhen should the loop end?") from None


@pytest.mark.task(4)
def test_the_search_finds_the_row_of_each_place():
    assert_finds_rows([0, 2, 4])
    assert_finds_rows([0, 1, 3, 6, 10, 15])


@pytest.mark.task(4)
@pytest.mark.edge
def test_the_search_finds_the_last_of_the_rows_that_begin_at_a_place():
    """Empty rows before, between and after the others: the rows before the last are empty."""
    row = rows_found([0, 4, 4, 4, 9])[4]
    an_empty_row = row in (1, 2)
    assert not an_empty_row, (
        f"indptr is 0, 4, 4, 4, 9: rows 1, 2 and 3 begin at place 4, and rows 1 and 2 are empty. The search found row "
        f"{row} for place 4. What does it do with a row that begins at the place itself?")
    for indptr in ([0, 4, 4, 4, 9], [0, 0, 0, 1], [0, 3, 3, 3], [0, 5]):
        assert_finds_rows(indptr)


@pytest.mark.task(4)
@pytest.mark.edge
@pytest.mark.parametrize("rows", [2, 3, 4, 7, 8, 9, 17])
def test_the_search_takes_any_number_of_rows(rows, rng):
    assert_finds_rows(np.concatenate([[0], np.cumsum(rng.integers(0, 3, rows - 1)), [2 * rows]]).tolist())


@pytest.mark.task(4)
@pytest.mark.counters
def test_the_search_loads_ten_elements_of_a_thousand():
    """Each step halves what is left; one place more may be looked at."""
    indptr, _, _ = csr([0] * 1000 + [8], [], [])
    counters = count(lesson.rows_of, indptr)
    loads_of_a_search = counters.bytes_loaded / 4 / 8
    assert loads_of_a_search <= 11, (
        f"The search loads {loads_of_a_search:g} elements of indptr for a place in the last of 1,000 rows. If each "
        "turn leaves half of the rows between low and high, ten turns do. How many rows does a turn of yours rule out?")


@pytest.mark.task(3, 4)
def test_one_share_holds_both_rows():
    """100 * 3 + 1 * 5, and 10 * 7."""
    matrix, x, sizes = csr(*TWO_ROWS), tensor([1.0, 10.0, 100.0]), {"share": 4, "rows_each": 2, "lanes": 4}
    sums = sums_of(lesson.spmv_shares, matrix, x, **sizes)
    assert sums != [305.0, 0.0], (
        "Row 1 came to 0. It has place 2, and the share has all places before 3. "
        "What does the cut leave of row 1, and what does the mask ask of it?")
    assert_not_known(sums, OF_TWO_ROWS)
    assert_multiplies(lesson.spmv_shares, matrix, x, **sizes, exact=True)


@pytest.mark.task(3, 4)
def test_one_share_goes_on_with_the_rows_after_its_first_ones():
    """Five rows, two at a time: the third time there is one row, and a second that does not exist."""
    matrix = csr(range(0, 11, 2), [0, 1, 2, 3, 4, 7, 8, 9, 10, 11], [1.0] * 10)
    try:
        assert_multiplies(lesson.spmv_shares, matrix, powers(12), share=16, rows_each=2, lanes=4, exact=True)
    except Exception as fault:
        if "past the end of y" not in str(fault):
            raise
        what = next(part for part in str(fault).split("\n\n") if "past the end of y" in part)
        raise AssertionError(f"{what}\nRow 5 does not exist. Like an empty row it begins and ends at place 10.\n"
                             "What does the mask ask of it?") from None


@pytest.mark.task(3, 4)
def test_a_share_adds_nothing_for_places_before_it_and_after_it():
    """The matrix of the lesson, its row 2 in both shares: places 2 and 3 are the first's, place 4 is the second's."""
    matrix, x, sizes = csr(*LESSON), powers(4), {"share": 4, "rows_each": 2, "lanes": 4}
    row = sums_of(lesson.spmv_shares, matrix, x, **sizes)[2]
    known = {
        10: "10 is what share 0 has of it, and place 4 of share 1 is missing. Which share adds place 4?",
        32: "32 is what share 1 has of it, and places 2 and 3 of share 0 are missing. Which share adds these?",
        84: "84 is twice 42: both shares added the whole row. What cuts off the places of the other share?",
        52: "52 is 42 and once more 10, which share 0 has of it. What cuts off places 2 and 3 for share 1?",
        74: "74 is 42 and once more 32, which share 1 has of it. What cuts off place 4 for share 0?"}
    known_mistake = row in known
    assert not known_mistake, (
        f"Row 2 has places 2 and 3 in share 0, which come to 10, and place 4 in share 1, which comes to 32: 42 in all. "
        f"{known[row]}")
    assert_multiplies(lesson.spmv_shares, matrix, x, **sizes, exact=True)


@pytest.mark.task(3, 4)
def test_each_share_begins_with_the_row_of_its_first_place():
    """Five rows of four, shares of two: two programs for each row."""
    assert_multiplies(lesson.spmv_shares, csr(range(0, 21, 4), range(20), [1.0] * 20), powers(20), share=2,
                      rows_each=1, lanes=4, exact=True)


@pytest.mark.task(3, 4)
@pytest.mark.edge
def test_empty_rows_at_the_border_of_two_shares_get_nothing():
    assert_multiplies(lesson.spmv_shares, csr([0, 0, 2, 2, 2, 4, 4], range(4), [1.0] * 4), powers(4), share=2,
                      rows_each=1, lanes=2, exact=True)
    assert_multiplies(lesson.spmv_shares, csr([0, 0, 0, 0], [], []), ones(2), exact=True)


@pytest.mark.task(3, 4)
@pytest.mark.edge
@pytest.mark.parametrize("share", [63, 64, 65, 67, 178, 1000])
def test_shares_may_end_anywhere(share, rng):
    assert_multiplies(lesson.spmv_shares, random_csr(rng, SKEWED, 80), vector(rng, 80), share=share)


@pytest.mark.task(3, 4)
@pytest.mark.edge
def test_a_share_may_be_a_single_non_zero(rng):
    lengths = [2, 0, 0, 5, 1, 0]
    assert_multiplies(lesson.spmv_shares, random_csr(rng, lengths, 9), vector(rng, 9), share=1, rows_each=2, lanes=2)


@pytest.mark.task(3, 4)
@pytest.mark.edge
@pytest.mark.parametrize("rows", awkward_lengths(block=8)[1:])
def test_shares_take_any_number_of_rows(rows, rng):
    assert_multiplies(lesson.spmv_shares, random_csr(rng, rng.integers(0, 40, rows), 50), vector(rng, 50), share=32)


@pytest.mark.task(3, 4)
@pytest.mark.edge
def test_one_row_may_hold_nearly_all_non_zeros(rng):
    assert_multiplies(lesson.spmv_shares, random_csr(rng, [1, 500, 0, 2], 500), vector(rng, 500), share=64)


@pytest.mark.task(3, 4)
@pytest.mark.nonfinite
def test_shares_keep_nan_in_the_rows_that_use_it():
    matrix = csr([0, 1, 3, 4, 5, 5], [4, 1, 2, 3, 3], [2.0, 1.0, 1.0, 5.0, 0.0])
    assert_multiplies(lesson.spmv_shares, matrix, tensor([NAN, NAN, 1.0, INF, 1.0]), share=2, rows_each=2, lanes=4,
                      exact=True)


@pytest.mark.task(3, 4)
@pytest.mark.counters
def test_a_row_without_a_place_in_a_share_is_not_added_by_it():
    """Two rows of two places, shares of two: row 0 is all of share 0, and row 1 of share 1. Program 0 looks at both."""
    counters = count(lesson.spmv_shares, *side_by_side(2, 2), ones(2), share=2, rows_each=2, lanes=2)
    sums_added = counters.bytes_atomic // 4
    assert sums_added <= 2, (
        f"Row 0 lies in share 0 alone, row 1 in share 1 alone. {sums_added} sums were added to y, and two are needed. "
        "What is left of row 1 after the cut by share 0, and what does the mask ask?")


@pytest.mark.task(3, 4)
@pytest.mark.counters
@pytest.mark.parametrize("lengths, share", [(SKEWED, 64), ([100, 1, 1, 1], 10)])
def test_a_row_is_added_to_y_once_for_each_share_that_has_a_part_of_it(lengths, share, rng):
    matrix = random_csr(rng, lengths, 100)
    counters = count(lesson.spmv_shares, *matrix, vector(rng, 100), share=share)
    added = parts(matrix[0].tolist(), share)
    assert counters.bytes_atomic == 4 * added
    assert counters.programs == len(range(0, sum(lengths), share))


@pytest.mark.task(3, 4)
@pytest.mark.counters
def test_each_share_loads_its_own_non_zeros_alone(rng):
    """Rows of three, shares of 30: ten rows a program, so all is in one piece, and six steps of a search."""
    nonzeros, programs = 180, 6
    counters = count(lesson.spmv_shares, *random_csr(rng, [3] * 60, 80), vector(rng, 80), share=30, rows_each=2)
    enough = 4 * (3 * nonzeros + 2 * 60 + 7 * programs)
    assert counters.bytes_loaded <= enough
    assert counters.float64 == 0


@pytest.mark.task(3, 4)
@pytest.mark.compiled
def test_the_compiler_adds_parts_of_rows_by_atomics_and_spills_nothing(rng):
    matrix, x = random_csr(rng, SKEWED, 80), vector(rng, 80)
    kernel = compiled(lesson.spmv_shares, *matrix, x, chip="h100").kernels["share_kernel"]
    atomics = [name for name in kernel.instructions if name.startswith(("atom", "red."))]
    assert kernel.spills == 0
    assert len(atomics) > 0
    atomics_that_order_other_memory = [name for name in atomics if "relaxed" not in name]
    assert atomics_that_order_other_memory == []


@pytest.mark.task(3, 4)
@pytest.mark.hopper
@pytest.mark.speed
def test_shares_are_fast_where_rows_are_skewed(rng):
    sizes = (rng.random(LARGE) + 1e-5) ** -0.7
    matrix, x, by_cusparse = large(rng, (sizes * 32 * LARGE / sizes.sum()).astype(np.int64))
    assert speed_ratio(lesson.spmv_shares, by_cusparse, *matrix, x) >= 0.6  # the bar is 0.75; 0.81 on an H200
