"""The lesson again, as checks: a kernel for any type, a sum in registers, a transpose, 8 x 16 outputs a thread."""

import re

import numpy as np
import pytest

from tools.check import assert_matches, compiled, count, speed_ratio, terms
from tools.check.inputs import awkward_lengths, matrices, values
from tools.check.tolerances import accumulated, elementwise
from tools.gpu import cupy
from week2.katas.cuda_cpp import cuda_cpp as lesson

INF, NAN = float("inf"), float("nan")
SINGLE = np.float32
LENGTHS = sorted({*awkward_lengths(block=32), *awkward_lengths(block=256)})  # 0, 1, 31 to 33, 67, 255 to 257, 521
WARPS = 8  # of a block of 256 threads


def on_gpu(*arrays, dtype=SINGLE):
    return [cupy.asarray(np.asarray(array, dtype)) for array in arrays]


def vectors(rng, n, count, dtype=SINGLE):
    return on_gpu(*(values(rng, (n,), lean=0.5) for _ in range(count)), dtype=dtype)


def products_of(rng, m, n, k):
    return on_gpu(*matrices(rng, (m, k), (k, n)))


def scaled_and_added(a, x, y):
    return a * x + y


def summed(x, blocks=None):
    return x.sum().reshape(1)


def transposed(x):
    return x.T.copy()


def runs_of(numbers):
    """Whole numbers in words: 0 to 3 and 32 to 35."""
    runs = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    *rest, last = [f"{first} to {last}" if first < last else f"{first}" for first, last in runs]
    if len(rest) > 3:
        rest, last = rest[:3], "others"
    return f"{', '.join(rest)} and {last}" if rest else last


def result_of(function, *args):
    """What a function of these tests returns; where its kernel is refused, assert_matches says why."""
    try:
        return function(*args)
    except Exception:
        assert_matches(function, *args, oracle=lambda *_: None)
        raise


def machine_code(function, *args):
    """Of the one kernel that a call launches, by NVIDIA's compiler for an H100."""
    kernel, = compiled(function, *args, chip="h100").kernels
    return kernel


def assert_no_double(kernel):
    instructions_in_double = [name for name in kernel.instructions if "f64" in name]
    assert instructions_in_double == [], "Which number or variable is a double, as 2.0 is and 2.0f is not?"


# Task 1: a template, and its launch ---------------------------------------------------------------

@pytest.mark.task(1)
def test_three_elements_are_scaled_and_added():
    assert_matches(lesson.saxpy, 2.0, *on_gpu([1, 2, 3], [10, 20, 30]), oracle=scaled_and_added, exact=True)


@pytest.mark.task(1)
def test_the_factor_is_of_the_type_that_is_left_open():
    code = re.sub(r"//.*", "", lesson.saxpy_code())  # a comment may speak of saxpy(float ...)
    found = re.search(r"\bsaxpy\s*\(\s*(?:const\s+)?(float|double)\b", code)
    if found:
        wrong = "saxpy<float> would compute in double" if found[1] == "double" else "saxpy<double> would lose digits"
        raise AssertionError(f"saxpy takes a as {found[1]}, wanted: float in saxpy<float>, double in saxpy<double>.\n"
                             f"{wrong}. Which name stands for either type in a template?")


@pytest.mark.task(1)
def test_the_same_source_serves_double():
    x, y = on_gpu([1, 2, 3], [10, 20, 30], dtype=np.float64)
    assert_matches(lesson.saxpy, 2.0, x, y, oracle=scaled_and_added, exact=True)


@pytest.mark.task(1)
def test_the_factor_need_not_be_a_whole_number():
    assert_matches(lesson.saxpy, -1.5, *on_gpu([1, 2, 3], [10, 20, 30]), oracle=scaled_and_added, exact=True)


@pytest.mark.task(1)
@pytest.mark.edge
@pytest.mark.parametrize("n", LENGTHS)
def test_scales_and_adds_any_length(n, rng):
    assert_matches(lesson.saxpy, 0.7, *vectors(rng, n, 2), oracle=scaled_and_added, tolerance=elementwise(SINGLE))


@pytest.mark.task(1)
@pytest.mark.tolerance
def test_no_step_of_double_passes_through_float():
    """1 + 2**-40 is a double, and 1.0 as a float; so in each of a, x and y, and in what the formula makes of them."""
    fine, zero, one = 1 + 2.0**-40, *on_gpu([0.0], [1.0], dtype=np.float64)
    small, = on_gpu([fine], dtype=np.float64)
    kept = {
        "a": float(lesson.saxpy(fine, one, zero).get()[0]),
        "x": float(lesson.saxpy(1.0, small, zero).get()[0]),
        "y": float(lesson.saxpy(1.0, zero, small).get()[0]),
    }
    lost = [name for name, value in kept.items() if value == 1.0]
    assert lost == [], "They come back with the digits of a float. Which variable of the template is a float still?"


@pytest.mark.task(1)
@pytest.mark.tolerance
def test_double_keeps_its_digits(rng):
    """0.1 has other digits in float than in double."""
    assert_matches(lesson.saxpy, 0.1, *vectors(rng, 1000, 2, np.float64), oracle=scaled_and_added,
                   tolerance=elementwise(np.float64))


@pytest.mark.task(1)
@pytest.mark.nonfinite
def test_nan_and_infinity_pass_through():
    x, y = on_gpu([INF, NAN, 1.0, -INF, 0.0], [1.0, 1.0, NAN, INF, -INF])
    assert_matches(lesson.saxpy, 2.0, x, y, oracle=scaled_and_added, exact=True)


@pytest.mark.task(1)
@pytest.mark.counters
@pytest.mark.parametrize("n, blocks", [(1024, 4), (1025, 5)])
def test_one_launch_has_as_many_blocks_as_the_elements_need(n, blocks, rng):
    counters = count(lesson.saxpy, 2.0, *vectors(rng, n, 2))
    assert len(counters.launches) == 1, "Each operation of CuPy is a launch of its own"
    grid, block = counters.launches[0].grid, counters.launches[0].block
    if (grid[0], block[0]) == (lesson.THREADS, blocks):
        raise AssertionError(f"saxpy<float> ran in {grid[0]} blocks of {block[0]} threads, wanted: {block[0]} blocks "
                             f"of {grid[0]}.\nWhich of grid and block comes first in a launch?")
    assert [launch.counts.programs for launch in counters.launches] == [blocks]


@pytest.mark.task(1)
@pytest.mark.counters
def test_reads_both_and_writes_the_result_once(rng):
    counters = count(lesson.saxpy, 2.0, *vectors(rng, 1024, 2))
    moved = counters.transfers
    if moved.copies:
        raise AssertionError(f"saxpy copies {moved.bytes_copied:,} bytes within the GPU's memory, wanted: "
                             "none.\nWhich array could the kernel use, or store in, at once?")
    if moved.synchronizations:
        raise AssertionError("The host waits for the GPU in saxpy, but nobody asked for the result yet.\n"
                             "Which call makes it wait, and who needs that?")
    assert counters.bytes_loaded == 2 * 4 * 1024
    assert counters.bytes_stored == 4 * 1024
    assert counters.barriers == 0, "No thread needs what another one did"


@pytest.mark.task(1)
@pytest.mark.counters
def test_neighbouring_threads_take_neighbouring_elements(rng):
    counters = count(lesson.saxpy, 2.0, *vectors(rng, 1024, 2))
    assert counters.sectors_per_request == 4


@pytest.mark.task(1)
@pytest.mark.compiled
def test_the_compiler_finds_no_double_where_all_is_float(rng):
    assert_no_double(machine_code(lesson.saxpy, 2.0, *vectors(rng, 64, 2)))


# Task 2: a sum in registers -----------------------------------------------------------------------

def times_in_the_total(n, blocks):
    """How often each of n elements enters the total: the sum of a 1 there, and of zeros elsewhere."""
    return [float(lesson.total(*on_gpu(row), blocks=blocks).get()[0]) for row in np.eye(n)]


def entered(times, often):
    """Elements 256 to 259 enter the total 2 times, wanted: once. times: of each element; often: of which ones."""
    which = [i for i, each in enumerate(times) if each == often]
    who = f"Element {which[0]}" if len(which) == 1 else f"Elements {runs_of(which)}"
    s = "s" if len(which) == 1 else ""
    does = f"enter{s} the total {often:g} times" if often else f"do{'es' if s else ''} not enter the total"
    return f"{who} {does}, wanted: once."


@pytest.mark.task(2)
def test_the_lane_that_adds_is_one_that_holds_the_sum_of_all():
    of_lanes = times_in_the_total(32, 1)
    of_zeros = float(lesson.total(*on_gpu(np.zeros(32)), blocks=1).get()[0])
    if of_zeros != 0:
        raise AssertionError(f"The total of 32 zeros is {of_zeros}, wanted: 0. What is in a sum before the loop?")
    if of_lanes == [0] * 31 + [1]:
        raise AssertionError("Element 31 alone enters the total: lane 0 has a value of lane 31 and no other.\n"
                             "What becomes of the sum that a lane has already when a shuffle brings one?")
    if of_lanes[0] == 0 and of_lanes[31] > 0:
        raise AssertionError("Lane 0 is left out. Which lane holds the sum of all 32 after the shuffles?")
    if of_lanes[0] == 2:
        of_second_turn = float(lesson.total(*on_gpu(np.eye(512)[256]), blocks=1).get()[0])
        ask = "To how high a lane does the first shuffle reach: is there one?"
        if of_second_turn == 1:
            ask = "Element 256, which its thread takes in a second turn, counts once.\nWith what does a sum begin?"
        raise AssertionError(f"Element 0 counts twice.\n{ask}")


@pytest.mark.task(2)
def test_each_lane_of_one_warp_counts_once():
    times = times_in_the_total(32, 1)
    wrong = [each for each in times if each != 1]
    if times == list(range(1, 33)):
        raise AssertionError("Element 31 enters the total 32 times, wanted: once. Threads 0 to 31 each add it.\n"
                             "By how many elements does the loop of a thread step on?")
    if wrong and 0 in wrong:
        raise AssertionError(f"{entered(times, 0)}\n"
                             "Which distances do the shuffles have, from the first to the last?")
    if wrong:
        raise AssertionError(f"{entered(times, wrong[0])}\n"
                             "Which lanes add their sum to out, and which of them holds that of all 32?")


def warps_that_add():
    """1 for each of a block's warps if the element of its first lane enters the total, else 0."""
    return [int(lesson.total(*on_gpu(row), blocks=1).get()[0]) for row in np.eye(256)[::32]]


@pytest.mark.task(2)
def test_the_sum_of_each_warp_enters_the_total():
    added = warps_that_add()
    left_out = [warp for warp in range(WARPS) if added[warp] == 0]
    if left_out:
        raise AssertionError(f"Of eight warps the sums of warps {runs_of(left_out)} are not in the total.\n"
                             "Which thread of a warp adds its sum to out?")
    assert added == [1] * WARPS, "How often does each of eight warps add its sum to out?"


@pytest.mark.task(2)
@pytest.mark.counters
def test_one_lane_of_each_warp_adds_to_the_result(rng):
    counters, warps = count(lesson.total, *vectors(rng, 4096, 1), blocks=2), 2 * WARPS
    additions = counters.bytes_atomic // 4
    turns = 4096 // (32 * warps)
    ask = {
        32 * warps: "That is once in each thread. How could one lane have the sum of all 32 first?",
        turns * warps: f"That is once in each of {turns} turns of its loop. What does belong behind the loop?",
        4096: "That is once for each element.\nWhere does a thread keep its sum while the loop lasts?",
    }
    if additions in ask:
        raise AssertionError(f"{additions:,} atomic additions in {warps} warps, wanted: one in each warp.\n"
                             f"{ask[additions]}")
    assert counters.bytes_atomic == 4 * warps


@pytest.mark.task(2)
def test_a_turn_of_the_loop_that_finds_zeros_adds_nothing():
    """256 ones are a turn of one block, and 256 zeros behind them a second one."""
    ones = np.ones(256, SINGLE)
    first_turn, both_turns = (float(lesson.total(*on_gpu(row), blocks=1).get()[0])
                              for row in (ones, np.append(ones, 0 * ones)))
    assert both_turns == first_turn, "A sum is passed on again in each turn. Which loop does the shuffle belong behind?"


@pytest.mark.task(2)
def test_half_a_number_is_not_cut_off():
    total = float(lesson.total(*on_gpu([0.5, 0.25]), blocks=1).get()[0])
    assert total == 0.75, "Of which type is the variable that holds a thread's sum?"


@pytest.mark.task(2)
def test_every_warp_adds_its_sum():
    """1 + 2 + ... + 256, exact in float32."""
    assert_matches(lesson.total, *on_gpu(np.arange(1, 257)), blocks=1, oracle=summed, exact=True)


@pytest.mark.task(2)
def test_each_element_belongs_to_one_of_two_blocks():
    times = times_in_the_total(260, 2)
    wrong = [each for each in times if each != 1]
    ask = "With which element does each thread begin, and by how many does it step on?"
    if times[:256] == [1] * 256:
        ask = "By how many elements does a thread step on, if two blocks share them?"
    if wrong:
        raise AssertionError(f"{entered(times, wrong[0])}\n{ask}")


@pytest.mark.task(2)
def test_one_block_takes_more_elements_than_it_has_threads():
    assert_matches(lesson.total, *on_gpu(np.arange(1, 1001)), blocks=1, oracle=summed, exact=True)


@pytest.mark.task(2)
@pytest.mark.edge
@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize("blocks", [1, 3])
def test_sums_any_length_in_any_number_of_blocks(n, blocks, rng):
    assert_matches(lesson.total, *vectors(rng, n, 1), blocks=blocks, oracle=summed, tolerance=accumulated(SINGLE, n))


@pytest.mark.task(2)
@pytest.mark.nonfinite
def test_the_total_of_nan_is_nan():
    for row in ([1.0, NAN, 2.0], [INF, 1.0, 2.0], [1.0, INF, -INF], [3.0] * 300 + [-INF]):
        assert_matches(lesson.total, *on_gpu(row), blocks=1, oracle=summed, exact=True)


@pytest.mark.task(2)
@pytest.mark.counters
def test_each_element_is_loaded_once_and_beside_its_neighbours(rng):
    counters = count(lesson.total, *vectors(rng, 4096, 1), blocks=2)
    assert counters.bytes_loaded == 4 * 4096
    assert counters.sectors_per_request <= 4
    loads = [line.counts for line in counters.launches[-1].lines if line.kind == "load"]
    sectors_per_load = sum(line.sectors for line in loads) / sum(line.requests for line in loads)
    assert sectors_per_load == 4


@pytest.mark.task(2)
@pytest.mark.counters
def test_sums_pass_from_register_to_register(rng):
    counters = count(lesson.total, *vectors(rng, 4096, 1), blocks=2)
    if counters.bytes_shared:
        raise AssertionError(f"{counters.bytes_shared:,} bytes are stored in shared memory or loaded, wanted: none.\n"
                             "What gives a lane the value of another lane of its warp without it?")
    assert counters.barriers == 0, "Which other warp's work does a thread wait for there, and does it need it?"


@pytest.mark.task(2)
@pytest.mark.compiled
def test_the_compiler_finds_shuffles_and_no_double(rng):
    kernel = machine_code(lesson.total, *vectors(rng, 1024, 1))
    shuffles = sum(number for name, number in kernel.instructions.items() if name.startswith("shfl"))
    assert shuffles > 0
    assert_no_double(kernel)


# Task 3: rows become columns ----------------------------------------------------------------------

def numbered(rows, columns):
    """1, 2, 3, ... row by row."""
    return on_gpu(np.arange(1, rows * columns + 1).reshape(rows, columns))


@pytest.mark.task(3)
@pytest.mark.counters
def test_elements_pass_through_the_shared_tile():
    """Each is stored in it and taken from it: twice four bytes."""
    bytes_of_an_element = count(lesson.transpose, *numbered(32, 32)).bytes_shared / 32**2
    assert bytes_of_an_element == 8


@pytest.mark.task(3)
def test_transposes_one_full_tile():
    assert_matches(lesson.transpose, *numbered(32, 32), oracle=transposed, exact=True)


@pytest.mark.task(3)
def test_threads_without_an_element_of_x_come_to_the_store():
    """A return may stand before the barrier where it ends no thread that has an element of the result."""
    before, barrier, _ = lesson.transpose_code().partition("__syncthreads")
    if barrier and "return" in before:
        for rows, columns in [(1, 2), (2, 1)]:
            out = cupy.full((columns, rows), NAN, np.float32)
            lesson.transpose(*numbered(rows, columns), out=out)
            if np.isnan(out.get()).any():
                raise AssertionError("A return before the barrier ends threads. With x of "
                                     f"{rows} x {columns} not all of out is stored.\n"
                                     "Which elements of out would those threads have stored?")


def tile_of(code):
    """Its name and both lengths, as they are written, in the code of transpose; None where it is no float NAME[][]."""
    found = re.search(r"__shared__\s+float\s+(\w+)\s*\[([^]]+)\]\s*\[([^]]+)\]", code)
    return found and [each.strip() for each in found.groups()]


def empty_element_taken(rows, columns):
    """Of x of rows x columns: a thread that takes an element of the tile to which nothing was stored, and the element.

    None where there is none. x and out are larger, so that a thread with a wrong row or column goes on. A GPU would
    give it any number; the simulator refuses.
    """
    kernel = cupy.RawKernel(lesson.transpose_code(), "transpose")
    x, out = on_gpu(np.ones((32, 32)), np.zeros((32, 32)))
    try:
        kernel((1, 1), (32, 8), (x, out, np.int32(rows), np.int32(columns)))
    except Exception as fault:
        if getattr(fault, "kind", None) != "uninitialised":
            return None  # assert_matches says what it is
        name, _, length = tile_of(lesson.transpose_code()) or (fault.array, "", "")
        if name != fault.array or not re.fullmatch(r"[\d\s+]*\d", length):
            return fault.thread[:2], f"element {fault.index} of {fault.array}"
        row, column = divmod(fault.index, sum(map(int, length.split("+"))))
        return fault.thread[:2], f"{name}[{row}][{column}]"
    return None


@pytest.mark.task(3)
def test_transposes_one_row_of_two():
    taken = empty_element_taken(1, 2)
    if taken and not empty_element_taken(2, 2):  # so it is not the barrier that is missing
        (lane, y), element = taken
        seen = f"Thread ({lane}, {y}) takes {element}, to which nothing was stored"
        if lane == 0 and y == 1:
            raise AssertionError(f"{seen}.\nx has that element, which the first loop did not load.\n"
                                 "Which row and which column of x does the if of that loop look at?")
        raise AssertionError(f"{seen}: x has one row.\nWhat should keep the thread from storing?\n"
                             f"Which row and which column of x is {element}?")
    assert_matches(lesson.transpose, *numbered(1, 2), oracle=transposed, exact=True)


@pytest.mark.task(3)
def test_a_row_of_the_result_is_as_long_as_x_has_rows():
    """out is larger than it has to be here, so that what is stored too far on is seen."""
    out = cupy.zeros((64, 64), np.float32)
    lesson.transpose(*numbered(2, 3), out=out)
    stored = out.get().ravel()[:8].tolist()
    assert stored == [1, 4, 2, 5, 3, 6, 0, 0], "Element (column, row) of the result is number column * rows + row"


@pytest.mark.task(3)
def test_transposes_two_rows_of_three():
    assert_matches(lesson.transpose, *numbered(2, 3), oracle=transposed, exact=True)


@pytest.mark.task(3)
@pytest.mark.parametrize("rows, columns", [(64, 32), (32, 96), (64, 96)])
def test_transposes_several_tiles(rows, columns):
    assert_matches(lesson.transpose, *numbered(rows, columns), oracle=transposed, exact=True)


@pytest.mark.task(3)
@pytest.mark.edge
@pytest.mark.parametrize("rows, columns", [(1, 1), (1, 67), (67, 1), (31, 33), (33, 31), (5, 0), (0, 5), (65, 97)])
def test_transposes_any_shape(rows, columns):
    assert_matches(lesson.transpose, *numbered(rows, columns), oracle=transposed, exact=True)


@pytest.mark.task(3)
@pytest.mark.nonfinite
def test_nan_and_infinity_keep_their_place():
    assert_matches(lesson.transpose, *on_gpu([[NAN, 1, INF], [2, -INF, NAN]]), oracle=transposed, exact=True)


@pytest.mark.task(3)
@pytest.mark.counters
def test_reads_and_writes_each_element_once_in_whole_sectors():
    counters = count(lesson.transpose, *numbered(64, 96))
    assert counters.bytes_loaded == 4 * 64 * 96
    assert counters.bytes_stored == 4 * 64 * 96
    assert counters.sectors_per_request == 4


@pytest.mark.task(3)
@pytest.mark.counters
def test_the_tile_has_no_bank_conflicts():
    counters = count(lesson.transpose, *numbered(64, 96))
    name, first, second = tile_of(lesson.transpose_code()) or ("", "", "")
    if counters.conflicts == 31 * (64 * 96 // 32) and first != second:
        raise AssertionError(f"Elements 0, 1, 2, ... of a column of {name}[{first}][{second}] are all in one bank.\n"
                             "Which of the two lengths is that of a row?")
    assert counters.conflicts == 0
    assert counters.bytes_shared == 2 * 4 * 64 * 96


@pytest.mark.task(3)
@pytest.mark.counters
def test_each_warp_waits_once():
    counters, blocks = count(lesson.transpose, *numbered(64, 96)), 2 * 3
    if counters.barriers == 4 * WARPS * blocks:
        raise AssertionError("Each warp waits 4 times, wanted: once. A thread's loop has 4 turns.\n"
                             "After which of them does a thread need what others stored?")
    assert counters.barriers == WARPS * blocks


@pytest.mark.task(3)
@pytest.mark.compiled
def test_a_block_holds_one_tile():
    kernel = machine_code(lesson.transpose, *numbered(64, 96))
    assert kernel.shared_bytes <= 4 * 32 * 33


# Task 4: 8 x 16 outputs a thread ------------------------------------------------------------------

def from_global_memory(tile, each):
    return lesson.predict_bytes(tile, each)[0]


def from_shared_memory(tile, each):
    return lesson.predict_bytes(tile, each)[1]


@pytest.mark.task(4)
def test_bytes_are_those_of_one_product():
    """2 x 4 outputs, of a block and of a thread, take 2 + 4 floats a step and make 8 products of them."""
    for bytes_of_one in (from_global_memory((2, 4), (1, 2)), from_shared_memory((4, 8), (2, 4))):
        if bytes_of_one == 4 * (2 + 4):
            raise AssertionError("24 bytes are all of a step's with 2 x 4 outputs. For how many products are they?")
        if bytes_of_one == 8 / (2 * 4):
            raise AssertionError("1 byte would be two floats for eight products.\n"
                                 "2 x 4 outputs take more than two floats a step. How many of a, and of b?")


@pytest.mark.task(4)
def test_a_block_of_two_by_four_outputs_with_two_a_thread():
    """It loads 2 + 4 floats for 8 products, three bytes for each; a thread takes 1 + 2 floats for two."""
    def by_hand(tile, each):
        return 3.0, 6.0

    found = of_block, of_thread = tuple(lesson.predict_bytes((2, 4), (1, 2)))
    call = f"predict_bytes(tile=(2, 4), each=(1, 2)) is ({of_block}, {of_thread}), wanted: (3.0, 6.0)."
    if found == (6, 3):
        raise AssertionError(f"{call}\nWhich is from global memory, and which of the two comes first?")
    if found in [(4, 8), (2, 4)]:
        side = "columns" if found == (4, 8) else "rows"
        raise AssertionError(f"{call}\nThat is right with as many columns as rows.\n"
                             f"How many floats are loaded for the {side}?")
    if of_block == 4 * (2 + 4) / 2:
        raise AssertionError(f"{call}\nThe bytes of a block are divided by the two products of a thread.\n"
                             "How many products does a block make of what it loads in a step?")
    if of_thread == 4 * (1 + 2) / 8:
        raise AssertionError(f"{call}\nThe bytes of a thread are divided by the eight products of a block.\n"
                             "How many products does a thread make of what it takes in a step?")
    assert_matches(lesson.predict_bytes, (2, 4), (1, 2), oracle=by_hand)


# Rows and columns of the outputs of a block, and of a thread
SIZES = [((32, 32), (1, 1)), ((128, 256), (8, 16)), ((128, 64), (4, 8)), ((16, 32), (2, 1))]


@pytest.mark.task(4)
@pytest.mark.parametrize("tile, each", SIZES)
def test_a_block_uses_what_it_loads_for_all_of_its_outputs(tile, each):
    def loaded(tile, each):
        """One step along k: a float of a for each row, one of b for each column, a product for each output."""
        rows, columns = tile
        return terms(a=4 * rows / (rows * columns), b=4 * columns / (rows * columns))

    assert_matches(from_global_memory, tile, each, oracle=loaded)


@pytest.mark.task(4)
@pytest.mark.parametrize("tile, each", SIZES)
def test_a_thread_uses_what_it_takes_for_all_of_its_outputs(tile, each):
    def taken(tile, each):
        """The same with the thread's rows and columns."""
        rows, columns = each
        return terms(a=4 * rows / (rows * columns), b=4 * columns / (rows * columns))

    assert_matches(from_shared_memory, tile, each, oracle=taken)


def loads_counted(function, rng, m, n, k):
    """Bytes of global and of shared memory. Each float that comes from global memory is stored in a tile once."""
    counters = count(function, *products_of(rng, m, n, k))
    return counters.bytes_loaded, counters.bytes_shared - counters.bytes_loaded


@pytest.mark.task(4)
@pytest.mark.counters
def test_predicts_the_loads_of_one_output_a_thread(rng):
    predicted = tuple(64 * 32 * 96 * loaded for loaded in lesson.predict_bytes((32, 32), (1, 1)))
    assert predicted == loads_counted(lesson.matmul_tiled, rng, 64, 32, 96)


TAKE = """
extern "C" __global__ void taken(const float* a, const float* b, float* left, float* right, int row, int column) {
    take(a, b, row, column, left, right);
}
"""


def taken(row, column):
    """What take stores in left and in right, where a holds 0, 1, 2, ... and b holds 200, 201, 202, ..."""
    a, b, left, right = on_gpu(np.arange(128), np.arange(200, 456), np.full(8, -1), np.full(16, -1))
    kernel = cupy.RawKernel(lesson.HEAD + lesson.products_code() + TAKE, "taken")
    kernel((1,), (1,), (a, b, left, right, np.int32(row), np.int32(column)))
    return left.get().astype(int).tolist(), right.get().astype(int).tolist()


def held(values):
    """Four floats in words: rows 4 to 7 of a."""
    if min(values) < 0:
        return "nothing" if max(values) < 0 else "less than four floats"
    if max(values) < 128:
        return f"rows {runs_of(values)} of a"
    return f"columns {runs_of(value - 200 for value in values)} of b" if min(values) >= 200 else "floats of a and b"


@pytest.mark.task(4)
@pytest.mark.parametrize("row, column", [(0, 0), (8, 4), (64, 192)])
def test_take_stores_eight_rows_and_sixteen_columns(row, column):
    left, right = result_of(taken, row, column)
    fours = [("left", 4 * i, left[4 * i:][:4], row + 32 * i) for i in range(2)]
    fours += [("right", 4 * i, right[4 * i:][:4], 200 + column + 16 * i) for i in range(4)]
    for name, place, four, first in fours:
        wanted = [first + i for i in range(4)]
        if four != wanted:
            raise AssertionError(f"With row = {row} and column = {column} take stores\n"
                                 f"{held(four)} in {name}[{place}] to {name}[{place + 3}],\n"
                                 f"wanted: {held(wanted)}. With which element does that four begin?")


ADDED = """
extern "C" __global__ void added(const float* left, const float* right, float* sums) {
    add_products(left, right, (float(*)[16])sums);
}
"""
OTHERS = 10000  # what lies in memory behind left, and behind right


def added(left, right):
    """What add_products adds to sums that begin at 0, of which the last eight rows are not its own."""
    sums = cupy.zeros((16, 16), np.float32)
    kernel = cupy.RawKernel(lesson.HEAD + lesson.products_code() + ADDED, "added")
    kernel((1,), (1,), (*on_gpu([*left, *[OTHERS] * 8], [*right, OTHERS]), sums))
    return sums.get().astype(int).tolist()


@pytest.mark.task(4)
def test_eight_rows_and_sixteen_columns_are_multiplied():
    left, right = list(range(1, 9)), list(range(10, 26))
    sums = result_of(added, left, right)
    if any(each >= OTHERS for row in sums for each in row):
        raise AssertionError("A float behind the 8 of left, or behind the 16 of right, is multiplied.\n"
                             "How far does the index of each go?")
    if any(map(any, sums[8:])):
        raise AssertionError("Something is added behind the 8 rows of sums.\n"
                             "Which of i and j counts the rows of sums, and how far does it go?")
    for i, row in enumerate(sums[:8]):
        for j, each in enumerate(row):
            if each != left[i] * right[j]:
                ask = "What is added to it, and how often?" if each else "Which turns of both loops reach it?"
                raise AssertionError(f"left[{i}] = {left[i]}, right[{j}] = {right[j]}, and sums[{i}][{j}] began at 0.\n"
                                     f"It is {each}, wanted: {left[i] * right[j]}. {ask}")


def small_product(left, right):
    """(128, 16) and (16, 256) with these numbers at the top of the first column and row, and zeros elsewhere."""
    a, b = np.zeros((128, 16), SINGLE), np.zeros((16, 256), SINGLE)
    a[:len(left), 0], b[0, :len(right)] = left, right
    return a, b


@pytest.mark.task(4)
def test_all_steps_along_k_are_added():
    for k in (16, 32, 48, 64):  # one tile to four, in three stages
        a, b = np.ones((128, k), SINGLE), np.ones((k, 256), SINGLE)
        assert_matches(lesson.matmul, *on_gpu(a, b), oracle=np.matmul, exact=True)


@pytest.mark.task(4)
def test_multiplies_the_numbers_of_the_lesson():
    assert_matches(lesson.matmul, *on_gpu(*small_product([1, 2], [3, 5])), oracle=np.matmul, exact=True)


@pytest.mark.task(4)
def test_each_row_goes_to_its_place():
    """Row i of the product is i + 1."""
    assert_matches(lesson.matmul, *on_gpu(*small_product(range(1, 129), [1] * 256)), oracle=np.matmul, exact=True)


@pytest.mark.task(4)
def test_each_column_goes_to_its_place():
    """Column j of the product is j + 1."""
    assert_matches(lesson.matmul, *on_gpu(*small_product([1] * 128, range(1, 257))), oracle=np.matmul, exact=True)


@pytest.mark.task(4)
@pytest.mark.edge
@pytest.mark.parametrize("m, n, k", [(128, 256, 16), (256, 512, 32), (128, 768, 80)])
def test_multiplies_several_blocks(m, n, k, rng):
    assert_matches(lesson.matmul, *products_of(rng, m, n, k), oracle=np.matmul, tolerance=accumulated(SINGLE, k))


@pytest.mark.task(4)
@pytest.mark.edge
@pytest.mark.parametrize("m, n, k", [(192, 256, 16), (256, 128, 16), (128, 256, 24), (128, 256, 0)])
def test_lengths_that_leave_a_tile_unfilled_raise_value_error(m, n, k, rng):
    with pytest.raises(ValueError, match="m must be a multiple of 128, n of 256 and k of 16"):
        lesson.matmul(*products_of(rng, m, n, k))


@pytest.mark.task(4)
@pytest.mark.nonfinite
def test_nan_and_infinity_stay_in_their_rows():
    a, b = small_product([NAN, INF, 1], [1, 2])
    b[0] = 1
    assert_matches(lesson.matmul, *on_gpu(a, b), oracle=np.matmul, exact=True)


@pytest.mark.task(4)
@pytest.mark.counters
def test_predicts_the_loads_of_128_outputs_a_thread(rng):
    predicted = tuple(384 * 256 * 48 * loaded for loaded in lesson.predict_bytes((128, 256), (8, 16)))
    assert predicted == loads_counted(lesson.matmul, rng, 384, 256, 48)


@pytest.mark.task(4)
@pytest.mark.counters
def test_a_thread_takes_its_24_floats_by_six_requests(rng):
    """Of each step along k, in each of eight warps. Filling the tiles takes 12 requests of a warp for 16 steps."""
    counters = count(lesson.matmul, *products_of(rng, 128, 256, 64))
    taken = counters.shared_requests - WARPS * 12 * (64 // 16)
    assert taken == WARPS * 6 * 64, "Each request of take can bring four neighbours. Which function asks for four?"
    barriers_of_a_warp = counters.barriers / WARPS
    assert barriers_of_a_warp == 1 + 64 // 16, "KERNEL waits before the first tile and after each, and that is enough"


@pytest.mark.task(4)
@pytest.mark.compiled
def test_the_compiler_keeps_the_sums_in_registers(rng):
    """128 products a step and 16 steps: all stand in the code, one fused multiply-add (FFMA) each."""
    kernel = machine_code(lesson.matmul, *products_of(rng, 128, 256, 32))
    assert_no_double(kernel)
    fused_multiply_adds, bytes_of_sums = kernel.sass.get("FFMA", 0), 4 * 128
    assert fused_multiply_adds == 128 * 16, "One for each product of a step, and 16 steps. Which loop is not unrolled?"
    other_arithmetic = {name: kernel.sass[name] for name in ("FMUL", "FADD") if name in kernel.sass}
    assert other_arithmetic == {}
    assert kernel.spills < bytes_of_sums


@pytest.mark.task(4)
@pytest.mark.hopper
@pytest.mark.speed
def test_multiplies_at_three_fifths_of_the_speed_of_cublas(rng):
    """The bar for the reference is 0.90 on an H200; a kernel with one output a thread reached 0.18 there."""
    a, b = (cupy.asarray(rng.standard_normal((4096, 4096), dtype=SINGLE)) for _ in "ab")
    assert speed_ratio(lesson.matmul, cupy.matmul, a, b) >= 0.6
