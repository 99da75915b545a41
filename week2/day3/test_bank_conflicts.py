"""The lesson again, as checks: banks and requests, a broadcast, two transposes without conflicts, what they cost."""

import math

import numpy as np
import pytest
import torch

from tools.check import Mismatch, NoProfiler, assert_matches, compiled, count, notes, require, speed_ratio, terms
from tools.check.inputs import matrices
from tools.check.tolerances import accumulated
from tools.gpu import device
from week2.day3 import bank_conflicts as lesson

INF, NAN = float("inf"), float("nan")
LARGE = (8192, 8192)
TILE = 32
SHAPES = [(1, 1), (1, 40), (40, 1), (31, 33), (33, 31), (32, 33), (97, 70), (3, 0), (0, 3)]

pytestmark = pytest.mark.filterwarnings("ignore:Grid size")  # Numba's advice to start more blocks


def matrix(rng, *shape):
    """A matrix of float32, where lessons run."""
    return torch.from_numpy(matrices(rng, shape, dtype=np.float32)[0]).to(device)


def transposed(a):
    return a.T


def assert_told(function, value, oracle, why):
    """assert_matches; where another number came back, the failure ends with what why(number, value) says of it."""
    __tracebackhide__ = True
    try:
        assert_matches(function, value, oracle=oracle)
    except Mismatch as found:
        said = why(function(value), value) if "\n\nGot " in found.text else ""
        if said:
            raise found.retold(said) from None
        raise


def lines_of(counters, kind):
    """The lines of all launches that do this: "load", "store", "shared load" or "shared store"."""
    return [line for launch in counters.launches for line in launch.lines if line.kind == kind]


# What the transposes of tasks 3 and 4 have in common, each of them a function of the lesson

CORNERS = [[1.0, 2.0], [3.0, 4.0]]
TWO_ROWS_OF_THREE = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
NOT_FINITE = [[NAN, 1.0], [INF, -INF], [0.0, NAN]]


def assert_transposes(transpose, a, **options):
    """Nothing is computed, so nothing may differ. What a failure adds: bounds that may be mixed up, and places."""
    __tracebackhide__ = True
    a = torch.as_tensor(a, device=device)
    try:
        assert_matches(transpose, a, oracle=transposed, exact=True, **options)
    except Mismatch as found:
        added = (bounds_mixed_up(transpose, *a.shape) if "thread (" in found.text else
                 places_in_one_tile(transpose, *a.shape) if "elements differ" in found.text else "")
        if not added:
            raise
        raise AssertionError(f"{found.text}\n\n{added}") from None


def bounds_mixed_up(transpose, m, n):
    """A question about an access of an (m, n) matrix that was refused, where a square one is right."""
    if m == n or max(m, n) > TILE:
        return ""
    try:
        assert_matches(transpose, torch.ones(max(m, n), max(m, n), device=device), oracle=transposed, exact=True)
    except Mismatch:
        return ""
    return (f"a has {m} rows and {n} columns, out {n} and {m}. Of which of the two are row and col a place in that "
            "line, and which does its guard ask?")


def places_in_one_tile(transpose, m, n):
    """Which element of an (m, n) matrix came back in place of another, where it has one tile; else ""."""
    if max(m, n) > TILE:
        return ""
    numbers = np.arange(m * n).reshape(m, n)
    out = transpose(torch.tensor(numbers, dtype=torch.float32, device=device)).cpu().numpy()
    if not np.isin(out, numbers).all() or (out == numbers.T).all():
        return ""
    if np.array_equal(out, numbers):
        return ("The tile was turned round never, or twice. How often is it: where it is filled, where it is read, "
                "and where out is stored to?")
    row, col = np.argwhere(out != numbers.T)[0].tolist()
    seen = divmod(int(out[row, col]), n)
    return (f"out[{row}, {col}] holds a[{seen[0]}, {seen[1]}], wanted: a[{col}, {row}]. In which place of the tile is "
            f"a[{col}, {row}] stored, and in which is it looked for?")


def assert_one_block_for_each_tile(transpose, kernel, rng):
    """70 rows are three tiles down, 33 columns two across."""
    counters = count(transpose, matrix(rng, 70, 33))
    assert counters.library_operations == []
    assert [launch.kernel for launch in counters.launches] == [kernel]
    assert counters.programs == 3 * 2


def assert_computes_and_converts_nothing(transpose, rng):
    counters = count(transpose, matrix(rng, 32, 32))
    wide = [line for line in lines_of(counters, "shared store")
            if line.counts.bytes_shared > 4 * line.counts.lanes]
    require(not wide, "An element of a has 4 bytes, and one of the tile more. Which dtype has an array in shared "
                      "memory that holds elements of a, and which does yours have?")
    assert counters.float64 == 0
    assert counters.conversions == 0


def assert_whole_sectors_once(transpose, rng):
    """A warp's 32 neighbours are four sectors, in a and in out."""
    counters = count(transpose, matrix(rng, 64, 96))
    assert counters.bytes_loaded == counters.bytes_stored == 4 * 64 * 96
    for kind, name, cols in [("load", "a", 96), ("store", "out", 64)]:
        for line in lines_of(counters, kind):
            require(line.counts.sectors_per_request != 32, walked_down(line, name, cols, counters))
    assert counters.sectors_per_request == 4


def walked_down(line, name, cols, counters):
    """What a warp does that asks for 32 sectors at a time."""
    does = "loads" if name == "a" else "stores"
    seen = (f"Line {line.line} {does} 32 elements of {name} a warp, {cols} elements apart, down a column: 32 sectors, "
            "needed 4. Threads next to each other differ in x alone.")
    if not lines_of(counters, "shared load"):
        return f"{seen} Through which memory can a thread store what another has loaded?"
    if name == "a":
        return f"{seen} In which index of a does x belong?"
    return (f"{seen} In which index of out does x belong? Where in out does the tile begin then, and which of its "
            "elements does thread x store?")


def assert_no_conflicts(transpose, ask, rng):
    """ask: what is asked where all threads of a warp go to one bank."""
    __tracebackhide__ = True
    counters = count(transpose, matrix(rng, 64, 96))
    lines = lines_of(counters, "shared load") + lines_of(counters, "shared store")
    if 31 * 192 in [line.counts.conflicts for line in lines]:
        assert counters.conflicts == 0, ask
    assert counters.conflicts == 0


def assert_profiler_finds_no_conflict(transpose, rng):
    measured = profiled(transpose, matrix(rng, 256, 256))
    assert measured.conflicts == 0
    assert measured.wavefronts == 2 * 256 * 256 // 32


def pass_by_pass(elements):
    """In each pass every bank that is still wanted serves one element."""
    waiting, passes = set(elements), 0
    while waiting:
        served = {element % 32: element for element in waiting}
        waiting, passes = waiting - set(served.values()), passes + 1
    return passes


def at_stride(stride):
    return pass_by_pass([stride * lane for lane in range(32)])


def told_of_wavefronts(got, elements):
    """What the banks are asked for, and a question about a number of wavefronts that is wrong."""
    if not elements:
        return ""
    lanes = {bank: [each for each in elements if each % 32 == bank] for bank in {each % 32 for each in elements}}
    different = {bank: len(set(wanted)) for bank, wanted in lanes.items()}
    busiest = max(different, key=different.get)
    most, several = different[busiest], f"Bank {busiest} is asked for {different[busiest]}"
    if most < len(lanes[busiest]) and got == max(map(len, lanes.values())):
        again = next(each for each in lanes[busiest] if lanes[busiest].count(each) > 1)
        return f"Element {again} is wanted by {elements.count(again)} lanes. How often does its bank serve it?"
    if len(different) > 1 and most > 1 and got == math.ceil(sum(different.values()) / len(different)):
        return (f"{several} different elements, and {len(different)} banks for {sum(different.values())}: {got} is "
                "their mean, rounded up. Does the warp wait for the mean of its banks?")
    if got == most - 1:
        return f"{several} different: one of them is served at once, {got} wait. Is the first wavefront counted?"
    if len(different) > 1 and got > most:
        return (f"{several} different, and no other bank for more; {len(different)} banks are asked. What do the "
                "others do while one serves an element?")
    return f"{several} different. How many of them does it serve in one wavefront?"


def told_of_degree(got, stride):
    wanted = {stride * lane for lane in range(32)}
    asked = len({element % 32 for element in wanted})
    return (f"Lanes 0, 1, 2, ... want elements 0, {stride}, {2 * stride}, ...: the number of different ones is "
            f"{len(wanted)}, and that of the banks they lie in {asked}. How many of them lie in one bank?")


def told_of_padding(got, cols):
    if got == cols + fewest(cols):
        return f"{got} is the length of a row with its padding. How many columns of it are added?"
    apart = cols + got if isinstance(got, int) and got >= 0 else cols
    degree = math.gcd(apart, 32)
    if fewest(cols) == 0:
        return f"Elements of a column are {cols} apart, and that alone is no conflict. What would more columns be for?"
    if degree == 1:
        return "With that padding there is no conflict. With how few columns is there none?"
    return (f"With that padding elements of a column are {apart} apart. Which number divides {apart} and 32, and how "
            "many wavefronts does the column take?")


def profiled(function, *args):
    """Counters as Nsight Compute measures them; where it cannot, the test is skipped with its reason."""
    try:
        return count(function, *args, profiler=True)
    except NoProfiler as missing:
        pytest.skip(str(missing))


# Task 1: what the banks make of a request ---------------------------------------------------------

@pytest.mark.task(1)
@pytest.mark.parametrize("elements", [[7], [0, 1, 2], [0, 8, 16]],
                         ids=["one_lane", "neighbours", "eight_apart"])
def test_a_bank_that_is_asked_for_one_element_takes_one_wavefront(elements):
    assert_told(lesson.wavefronts, elements, pass_by_pass, told_of_wavefronts)


@pytest.mark.task(1)
@pytest.mark.parametrize("elements", [[0, 32], [1, 2, 33, 65]], ids=["two_of_bank_0", "three_of_bank_1"])
def test_different_elements_of_one_bank_take_a_wavefront_each(elements):
    assert_told(lesson.wavefronts, elements, pass_by_pass, told_of_wavefronts)


@pytest.mark.task(1)
@pytest.mark.parametrize("elements", [[5, 5], [3, 3, 35, 35, 35]], ids=["one_element", "two_of_bank_3"])
def test_lanes_that_want_the_same_element_are_served_together(elements):
    assert_told(lesson.wavefronts, elements, pass_by_pass, told_of_wavefronts)


@pytest.mark.task(1)
@pytest.mark.parametrize("elements", [[0, 32, 1, 33], [0, 32, 64, 1, 33, 2]], ids=["two_banks", "three_banks"])
def test_banks_work_side_by_side_and_the_busiest_decides(elements):
    assert_told(lesson.wavefronts, elements, pass_by_pass, told_of_wavefronts)


@pytest.mark.task(1)
def test_counts_the_four_columns_of_the_lesson():
    lanes = range(32)
    for elements in ([32 * x + 1 for x in lanes], [33 * x + 1 for x in lanes], [32 * x + (1 ^ x) for x in lanes],
                     [32 * 5 + 1 for _ in lanes]):
        assert_told(lesson.wavefronts, elements, pass_by_pass, told_of_wavefronts)


@pytest.mark.task(1)
@pytest.mark.edge
def test_no_lane_that_wants_anything_takes_no_wavefront():
    assert_matches(lesson.wavefronts, [], oracle=pass_by_pass)


@pytest.mark.task(1)
@pytest.mark.edge
def test_counts_wavefronts_of_lanes_that_read_anywhere(rng):
    for highest in (40, 100, 1000):
        wanted = rng.integers(0, highest, 32).tolist()
        assert_matches(lesson.wavefronts, wanted, oracle=pass_by_pass)


@pytest.mark.task(1)
def test_stride_1_has_no_conflict_and_stride_32_the_worst():
    for stride in (1, 32):
        assert_told(lesson.conflict_degree, stride, at_stride, told_of_degree)


@pytest.mark.task(1)
def test_a_stride_that_shares_factors_with_32_shares_banks():
    for stride in (2, 8, 6, 12, 20, 48):
        assert_told(lesson.conflict_degree, stride, at_stride, told_of_degree)


@pytest.mark.task(1)
def test_an_odd_stride_has_no_conflict():
    for stride in (3, 5, 31, 33, 4097):
        assert_told(lesson.conflict_degree, stride, at_stride, told_of_degree)


@pytest.mark.task(1)
def test_stride_0_is_a_broadcast():
    assert_told(lesson.conflict_degree, 0, at_stride, told_of_degree)


@pytest.mark.task(1)
@pytest.mark.edge
def test_knows_the_degree_of_every_stride_up_to_four_rows_of_banks():
    for stride in range(4 * 32 + 1):
        assert_told(lesson.conflict_degree, stride, at_stride, told_of_degree)


def fewest(cols):
    return next(more for more in range(32) if at_stride(cols + more) == 1)


@pytest.mark.task(1)
def test_rows_of_32_need_one_column_more():
    assert_told(lesson.padding_for, 32, fewest, told_of_padding)


@pytest.mark.task(1)
def test_rows_whose_columns_have_no_conflict_need_no_padding():
    for cols in (33, 1, 31):
        assert_told(lesson.padding_for, cols, fewest, told_of_padding)


@pytest.mark.task(1)
def test_rows_whose_columns_have_any_conflict_need_one_column_more():
    for cols in (2, 48, 64, 4096):
        assert_told(lesson.padding_for, cols, fewest, told_of_padding)


# Task 2: a broadcast ------------------------------------------------------------------------------

def by_powers(x, coefficients):
    return sum(coefficient * x ** (15 - p) for p, coefficient in enumerate(coefficients))


def told_of_copies(counters):
    """Of 2 blocks of 256 threads that load or keep each of 16 coefficients more than once; else ""."""
    loaded, kept = (counters.bytes_loaded - 4 * 512) / (2 * 4 * 16), sum(
        line.counts.bytes_shared for line in lines_of(counters, "shared store")) / (2 * 4 * 16)
    if loaded == 256 and kept == 0:
        return ("Each of 2 blocks loads each coefficient 256 times, once for each of its threads. Which memory do the "
                "threads of a block share, and how often does a block need to load a coefficient for it?")
    if kept > 1 and loaded in (1, kept):  # so that nothing else is loaded again
        mended = "Each" if counters.conflicts else "The lanes of a warp no longer conflict, and yet each"
        times = "once" if loaded == 1 else f"{loaded:g} times"
        return (f"{mended} of 2 blocks loads each coefficient {times} and stores {kept:g} copies of it in shared "
                "memory. All lanes of a warp want the same coefficient at the same time. How many copies do they need?")
    return ""


def terms_and_points(rng, n):
    """n numbers from -1 to 1, and the coefficients of a polynomial of 16 terms."""
    x = rng.uniform(-1, 1, n).astype(np.float32)
    return torch.from_numpy(x).to(device), matrix(rng, 16)


@pytest.mark.task(2)
def test_two_x_plus_one_at_three_points():
    x = torch.tensor([0.0, 1.0, -3.0], device=device)
    coefficients = torch.tensor([0.0] * 14 + [2.0, 1.0], device=device)
    assert_matches(lesson.polynomial, x, coefficients, oracle=by_powers, exact=True)


@pytest.mark.task(2)
def test_the_first_coefficient_belongs_to_the_highest_power():
    x = torch.tensor([1.0, 2.0, -1.0], device=device)
    coefficients = torch.tensor([1.0] + [0.0] * 15, device=device)
    assert_matches(lesson.polynomial, x, coefficients, oracle=by_powers, exact=True)


@pytest.mark.task(2)
@pytest.mark.edge
@pytest.mark.parametrize("n", [0, 1, 255, 256, 257, 521])
def test_polynomial_takes_any_number_of_points(n, rng):
    x, coefficients = terms_and_points(rng, n)
    assert_matches(lesson.polynomial, x, coefficients, oracle=by_powers, tolerance=accumulated("float32", 16))


@pytest.mark.task(2)
@pytest.mark.nonfinite
def test_a_nan_among_the_points_stays_at_its_point():
    x = torch.tensor([1.0, NAN, 2.0, -1.0], device=device)
    assert_matches(lesson.polynomial, x, torch.ones(16, device=device), oracle=by_powers, exact=True)


@pytest.mark.task(2)
@pytest.mark.counters
def test_polynomial_is_your_kernel(rng):
    counters = count(lesson.polynomial, *terms_and_points(rng, 512))
    assert counters.library_operations == []
    assert counters.programs == 2


@pytest.mark.task(2)
@pytest.mark.counters
def test_polynomial_stays_in_float32(rng):
    counters = count(lesson.polynomial, *terms_and_points(rng, 512))
    assert counters.float64 == 0
    assert counters.conversions == 0


@pytest.mark.task(2)
@pytest.mark.counters
def test_a_block_loads_each_coefficient_once_and_each_thread_moves_its_point_once(rng):
    counters = count(lesson.polynomial, *terms_and_points(rng, 512))
    coefficients, x = 2 * 4 * 16, 4 * 512
    said = told_of_copies(counters)
    require(said == "", said)
    assert counters.bytes_loaded == coefficients + x
    assert counters.bytes_stored == 4 * 512


@pytest.mark.task(2)
@pytest.mark.counters
def test_polynomial_has_no_bank_conflicts(rng):
    counters = count(lesson.polynomial, *terms_and_points(rng, 512))
    assert counters.conflicts == 0


@pytest.mark.task(2)
@pytest.mark.counters
def test_a_coefficient_takes_each_warp_one_wavefront(rng):
    """2 blocks store 16 coefficients by one request each; 16 warps load each of the 16."""
    counters = count(lesson.polynomial, *terms_and_points(rng, 512))
    assert counters.wavefronts == 2 + 16 * 16


@pytest.mark.task(2)
@pytest.mark.counters
def test_each_of_16_warps_of_polynomial_waits_once(rng):
    counters = count(lesson.polynomial, *terms_and_points(rng, 512))
    assert counters.barriers == 16


@pytest.mark.task(2)
@pytest.mark.compiled
def test_the_coefficients_take_64_bytes_of_a_block(rng):
    kernel = compiled(lesson.polynomial, *terms_and_points(rng, 512), chip="h100").kernels["polynomial_kernel"]
    bytes_of_a_block = kernel.shared_bytes
    assert bytes_of_a_block == 4 * 16
    assert [name for name in kernel.instructions if "f64" in name] == []


# Task 3: one more column -------------------------------------------------------------------------

@pytest.mark.task(3)
def test_padded_swaps_two_corners_of_two_by_two():
    assert_transposes(lesson.transpose_padded, CORNERS)


@pytest.mark.task(3)
def test_padded_turns_two_rows_of_three_into_three_of_two():
    assert_transposes(lesson.transpose_padded, TWO_ROWS_OF_THREE)


@pytest.mark.task(3)
def test_padded_transposes_one_whole_tile(rng):
    assert_transposes(lesson.transpose_padded, matrix(rng, 32, 32))


@pytest.mark.task(3)
def test_padded_moves_each_tile_to_its_new_place(rng):
    """Two tiles down and three across become three down and two across."""
    assert_transposes(lesson.transpose_padded, matrix(rng, 64, 96))


@pytest.mark.task(3)
@pytest.mark.edge
@pytest.mark.parametrize("m, n", SHAPES)
def test_padded_takes_any_shape_stored_in_any_way(m, n, rng):
    assert_transposes(lesson.transpose_padded, matrix(rng, m, n), layouts="any")


@pytest.mark.task(3)
@pytest.mark.nonfinite
def test_padded_moves_nan_and_infinity_like_any_number():
    assert_transposes(lesson.transpose_padded, NOT_FINITE)


@pytest.mark.task(3)
@pytest.mark.counters
def test_padded_is_your_kernel_one_block_for_each_tile(rng):
    assert_one_block_for_each_tile(lesson.transpose_padded, "padded_kernel", rng)


@pytest.mark.task(3)
@pytest.mark.counters
def test_padded_computes_nothing_and_converts_nothing(rng):
    assert_computes_and_converts_nothing(lesson.transpose_padded, rng)


@pytest.mark.task(3)
@pytest.mark.counters
def test_padded_loads_and_stores_whole_sectors_once(rng):
    assert_whole_sectors_once(lesson.transpose_padded, rng)


@pytest.mark.task(3)
@pytest.mark.counters
def test_padded_has_no_bank_conflicts(rng):
    counters = count(lesson.transpose_padded, matrix(rng, 64, 96))
    assert counters.conflicts == 0


@pytest.mark.task(3)
@pytest.mark.counters
def test_padded_passes_through_its_tile_once_each_way(rng):
    """Each of 192 warps stores a row of a tile and loads a column, in one wavefront each."""
    counters = count(lesson.transpose_padded, matrix(rng, 64, 96))
    assert counters.wavefronts == 2 * 192


@pytest.mark.task(3)
@pytest.mark.counters
def test_each_of_192_warps_of_padded_waits_once(rng):
    counters = count(lesson.transpose_padded, matrix(rng, 64, 96))
    assert counters.barriers == 192


@pytest.mark.task(3)
@pytest.mark.compiled
def test_the_padding_is_one_column_of_float32(rng):
    kernel = compiled(lesson.transpose_padded, matrix(rng, 64, 96), chip="h100").kernels["padded_kernel"]
    bytes_of_a_block = kernel.shared_bytes
    assert bytes_of_a_block == 4 * 32 * 33
    assert [name for name in kernel.instructions if "f64" in name] == []


@pytest.mark.task(3)
@pytest.mark.gpu
def test_the_profiler_finds_no_conflict_in_padded_either(rng):
    assert_profiler_finds_no_conflict(lesson.transpose_padded, rng)


@pytest.mark.task(3)
@pytest.mark.hopper
@pytest.mark.speed
def test_padded_is_faster_than_the_kernel_with_conflicts(rng):
    ratio = speed_ratio(lesson.transpose_padded, lesson.transpose, matrix(rng, *LARGE))
    notes.taken.append(f"{2 * 4 * LARGE[0] * LARGE[1] / ratio.seconds / 1e9:.0f} GB/s")
    assert ratio >= 1.1


# Task 4: the same bytes in another order ---------------------------------------------------------

@pytest.mark.task(4)
def test_swizzled_swaps_two_corners_of_two_by_two():
    assert_transposes(lesson.transpose_swizzled, CORNERS)


@pytest.mark.task(4)
def test_swizzled_turns_two_rows_of_three_into_three_of_two():
    assert_transposes(lesson.transpose_swizzled, TWO_ROWS_OF_THREE)


@pytest.mark.task(4)
def test_swizzled_transposes_one_whole_tile(rng):
    assert_transposes(lesson.transpose_swizzled, matrix(rng, 32, 32))


@pytest.mark.task(4)
def test_swizzled_moves_each_tile_to_its_new_place(rng):
    """Two tiles down and three across become three down and two across."""
    assert_transposes(lesson.transpose_swizzled, matrix(rng, 64, 96))


@pytest.mark.task(4)
@pytest.mark.edge
@pytest.mark.parametrize("m, n", SHAPES)
def test_swizzled_takes_any_shape_stored_in_any_way(m, n, rng):
    assert_transposes(lesson.transpose_swizzled, matrix(rng, m, n), layouts="any")


@pytest.mark.task(4)
@pytest.mark.nonfinite
def test_swizzled_moves_nan_and_infinity_like_any_number():
    assert_transposes(lesson.transpose_swizzled, NOT_FINITE)


@pytest.mark.task(4)
@pytest.mark.counters
def test_swizzled_is_your_kernel_one_block_for_each_tile(rng):
    assert_one_block_for_each_tile(lesson.transpose_swizzled, "swizzled_kernel", rng)


@pytest.mark.task(4)
@pytest.mark.counters
def test_swizzled_computes_nothing_and_converts_nothing(rng):
    assert_computes_and_converts_nothing(lesson.transpose_swizzled, rng)


@pytest.mark.task(4)
@pytest.mark.counters
def test_swizzled_loads_and_stores_whole_sectors_once(rng):
    assert_whole_sectors_once(lesson.transpose_swizzled, rng)


@pytest.mark.task(4)
@pytest.mark.compiled
def test_the_swizzle_takes_no_byte_more_than_the_tile(rng):
    """Before the conflicts, which a tile that is padded and swizzled has too."""
    kernel = compiled(lesson.transpose_swizzled, matrix(rng, 64, 96), chip="h100").kernels["swizzled_kernel"]
    columns = kernel.shared_bytes / (4 * 32)
    why = (f"32 rows of float32 take {kernel.shared_bytes:,} bytes of a block: {columns:g} columns each; wanted: 32. "
           f"{'Which of the two needs a column more, padding or the swizzle?' if columns == 33 else ''}")
    assert columns == 32, why.rstrip()
    assert [name for name in kernel.instructions if "f64" in name] == []


@pytest.mark.task(4)
@pytest.mark.counters
def test_swizzled_has_no_bank_conflicts(rng):
    assert_no_conflicts(lesson.transpose_swizzled, "The last index of tile chooses the bank. Is it the same for all "
                        "threads of a warp there, and which index does ^ change?", rng)


@pytest.mark.task(4)
@pytest.mark.counters
def test_swizzled_passes_through_its_tile_once_each_way(rng):
    """Each of 192 warps stores a row of a tile and loads a column, in one wavefront each."""
    counters = count(lesson.transpose_swizzled, matrix(rng, 64, 96))
    assert counters.wavefronts == 2 * 192


@pytest.mark.task(4)
@pytest.mark.counters
def test_each_of_192_warps_of_swizzled_waits_once(rng):
    counters = count(lesson.transpose_swizzled, matrix(rng, 64, 96))
    assert counters.barriers == 192


@pytest.mark.task(4)
@pytest.mark.gpu
def test_the_profiler_finds_no_conflict_in_swizzled_either(rng):
    assert_profiler_finds_no_conflict(lesson.transpose_swizzled, rng)


@pytest.mark.task(4)
@pytest.mark.hopper
@pytest.mark.speed
def test_swizzled_is_faster_than_the_kernel_with_conflicts(rng):
    ratio = speed_ratio(lesson.transpose_swizzled, lesson.transpose, matrix(rng, *LARGE))
    notes.taken.append(f"{2 * 4 * LARGE[0] * LARGE[1] / ratio.seconds / 1e9:.0f} GB/s")
    assert ratio >= 1.1


# Task 5: what each of them costs ------------------------------------------------------------------

def warp_by_warp(m, n, padding):
    """Each of 32 warps for each tile stores a row of it, and loads a column of it."""
    warps = 32 * (m // 32) * (n // 32)
    return terms(stores=warps, loads=warps * at_stride(32 + padding))


LONG = "How long is a row with its padding, and how far apart are two elements of a column?"
FIRST = "A conflict is a wavefront beyond the first. Which number is asked for?"
ASKED = {  # by padding and by the wavefronts that were predicted for one tile of 32 x 32
    (0, 64): LONG, (1, 1056): LONG, (1, 1088): LONG, (1, 2048): LONG,
    (0, 1024): "How many of them are the stores?", (1, 32): "How many of them are the stores?",
    (0, 2048): "Does a store go down a column of the tile as well?",
    (0, 992): FIRST, (1, 0): FIRST,
}


def assert_predicted_for_one_tile(padding, stores, loads):
    """Of 32 x 32 elements, by 32 warps."""
    __tracebackhide__ = True
    predicted_for_32_by_32 = lesson.predict_wavefronts(32, 32, padding)
    ask = ASKED.get((padding, predicted_for_32_by_32), "How many warps has a tile, and what does each ask for?")
    why = f"32 warps store in {stores:,} wavefronts and load in {loads:,}, with padding {padding}. {ask}"
    assert predicted_for_32_by_32 == stores + loads, why


@pytest.mark.task(5)
def test_one_padded_tile_takes_32_stores_of_1_wavefront_and_32_loads_of_1():
    assert_predicted_for_one_tile(padding=1, stores=32 * 1, loads=32 * 1)


@pytest.mark.task(5)
def test_one_tile_takes_32_stores_of_1_wavefront_and_32_loads_of_32():
    assert_predicted_for_one_tile(padding=0, stores=32 * 1, loads=32 * 32)


@pytest.mark.task(5)
def test_predicts_wavefronts_for_any_number_of_tiles_and_any_padding():
    for m, n, padding in [(32, 32, 1), (64, 96, 1), (64, 96, 2), (32, 96, 4), (4096, 64, 8), (0, 32, 1)]:
        assert_matches(lesson.predict_wavefronts, m, n, padding, oracle=warp_by_warp)


@pytest.mark.task(5)
@pytest.mark.counters
def test_predicts_the_wavefronts_that_are_counted_with_conflicts(rng):
    predicted = lesson.predict_wavefronts(64, 96, 0)
    counters = count(lesson.transpose, matrix(rng, 64, 96))
    assert predicted == counters.wavefronts


@pytest.mark.task(3, 5)
@pytest.mark.counters
def test_predicts_the_wavefronts_that_are_counted_with_padding(rng):
    predicted = lesson.predict_wavefronts(64, 96, 1)
    counters = count(lesson.transpose_padded, matrix(rng, 64, 96))
    assert predicted == counters.wavefronts


@pytest.mark.task(5)
@pytest.mark.gpu
def test_predicts_the_wavefronts_that_the_profiler_measures(rng):
    predicted = lesson.predict_wavefronts(256, 256, 0)
    measured = profiled(lesson.transpose, matrix(rng, 256, 256))
    assert predicted == measured.wavefronts


def row_by_row(rows, cols, padding):
    return terms(the_tile=4 * sum(cols for _ in range(rows)), its_padding=4 * sum(padding for _ in range(rows)))


@pytest.mark.task(5)
def test_every_row_of_a_tile_has_its_padding():
    for rows, cols, padding in [(32, 32, 0), (32, 32, 1), (64, 16, 2), (8, 128, 4), (1, 1, 0)]:
        assert_matches(lesson.tile_bytes, rows, cols, padding, oracle=row_by_row)


@pytest.mark.task(5)
@pytest.mark.compiled
def test_predicts_the_bytes_that_the_compiler_gives_a_block(rng):
    predicted = lesson.tile_bytes(32, 32, 0)
    kernel = compiled(lesson.transpose, matrix(rng, 64, 96), chip="h100").kernels["transpose_kernel"]
    assert predicted == kernel.shared_bytes


def one_after_the_other(block_bytes, sm_bytes, reserved):
    blocks = 0
    while sm_bytes >= block_bytes + reserved:
        blocks, sm_bytes = blocks + 1, sm_bytes - block_bytes - reserved
    return blocks


def bytes_of_blocks(blocks, wanted, block_bytes, sm_bytes, reserved):
    """What so many blocks take, or as many as fit where these are more, and a question."""
    most = max(blocks, wanted)
    take = (f"blocks_on_sm({block_bytes}, {sm_bytes}, {reserved}): {most:g} blocks of {block_bytes:,} bytes, and "
            f"{reserved:,} reserved for each, take {most * (block_bytes + reserved):,.0f}")
    if blocks < wanted:
        return f"{take} of {sm_bytes:,}: they fit. What else is taken away, and is it a number of bytes?"
    ask = "For how many of them is it reserved?" if reserved else "May a part of a block be there?"
    return f"{take}; the SM has {sm_bytes:,}. {ask}"


def assert_fit(block_bytes, sm_bytes, reserved):
    """A number that is wrong is told with the bytes that so many blocks take."""
    __tracebackhide__ = True
    blocks = lesson.blocks_on_sm(block_bytes, sm_bytes, reserved)
    wanted = one_after_the_other(block_bytes, sm_bytes, reserved)
    if isinstance(blocks, (int, float)):
        assert blocks == wanted, bytes_of_blocks(blocks, wanted, block_bytes, sm_bytes, reserved)
    assert_matches(lesson.blocks_on_sm, block_bytes, sm_bytes, reserved, oracle=one_after_the_other)


@pytest.mark.task(5)
def test_as_many_blocks_fit_as_have_their_bytes_and_what_the_system_takes_for_each():
    for block_bytes, sm_bytes, reserved in [(100, 1000, 0), (100, 1099, 0), (100, 1000, 10), (100, 1010, 10)]:
        assert_fit(block_bytes, sm_bytes, reserved)


@pytest.mark.task(5)
def test_a_tile_fits_four_times_where_a_padded_one_fits_three_times():
    """64 x 64 on a T4, 128 x 112 on an H100: the last byte is used."""
    for rows, cols, sm_bytes, reserved in [(64, 64, 65536, 0), (128, 112, 233472, 1024)]:
        for padding in (0, 1):
            assert_fit(4 * rows * (cols + padding), sm_bytes, reserved)
