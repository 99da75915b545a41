"""The lesson again, as checks: one product by a warp, whole matrices, edges, rows without conflicts, reuse."""

import re

import numpy as np
import pytest

from tools.check import Mismatch, assert_matches, compiled, count, speed_ratio
from tools.check.inputs import integers, matrices
from tools.check.tolerances import accumulated
from tools.gpu import cupy
from week2.katas.wmma import wmma as lesson

INF, NAN = float("inf"), float("nan")
HALF, SINGLE = np.float16, np.float32
MMA = 2 * 16 * 16 * 16  # flops of one mma_sync


def on_gpu(*arrays):
    return [cupy.asarray(np.asarray(array, HALF)) for array in arrays]


def operands(rng, m, n, k):
    return on_gpu(*matrices(rng, (m, k), (k, n)))


def whole_numbers(rng, m, n, k):
    """-3 to 3: their products and sums are exact in float32, and in float16 as long as k is small."""
    return on_gpu(integers(rng, (m, k), -3, 4), integers(rng, (k, n), -3, 4))


def at_the_top(rows, columns, first_column, first_row):
    """(rows, 32) and (32, columns), zero but for the first column of the one and the first row of the other."""
    a, b = np.zeros((rows, 32)), np.zeros((32, columns))
    a[:, 0], b[0] = first_column, first_row
    return on_gpu(a, b)


def product(a, b):
    """The digits of a half go into a float64 whole."""
    return a.astype(np.float64) @ b.astype(np.float64)


def close(k):
    """The factors are halves already: whoever rounds them to half, or to TF32, changes nothing."""
    return accumulated(SINGLE, k).blind_to("float16 round trip", "tf32 round trip")


def same(function, *args):
    assert_matches(function, *args, oracle=lambda a, b: product(a, b).astype(SINGLE) + SINGLE(0), exact=True)


def same_or(tell, function, *args):
    """same; where something else came back, or nothing, tell(text) may know why before that is shown."""
    try:
        same(function, *args)
        return
    except Mismatch as found:
        mismatch = found
    tell(mismatch.text)
    raise mismatch


def fails(function, *args):
    """What a comparison says, "" where all is well."""
    try:
        same(function, *args)
    except Mismatch as found:
        return found.text
    return ""


def machine_code(function, *args):
    """Of the one kernel that a call launches, by NVIDIA's compiler for an H100; and its tensor core instructions."""
    kernel, = compiled(function, *args, chip="h100").kernels
    return kernel, sum(number for name, number in kernel.sass.items() if name.startswith("HMMA"))


def shared_loads(counters):
    """Requests and wavefronts of all lines that load from shared memory."""
    lines = [line.counts for launch in counters.launches for line in launch.lines if line.kind == "shared load"]
    return sum(line.shared_requests for line in lines), sum(line.wavefronts for line in lines)


# Task 1: one product by one warp ------------------------------------------------------------------

TWICE, NUMBERS = 2 * np.eye(16), np.arange(256).reshape(16, 16)


def tell_of_orders(transposed, other, text):
    """Of two products with twice the identity: NUMBERS came back transposed as the one factor. And as the other?"""
    if "the wanted array transposed" not in text:
        return
    exchanged = on_gpu(*(NUMBERS if x == other else TWICE for x in "ab"))
    either_factor_comes_back_transposed = bool(fails(lesson.multiply_tile, *exchanged))
    why = (f"The numbers 0 to 255 come back transposed where {transposed} holds them, and\n"
           f"right where {other} holds them.\n"
           f"Does the fragment of {transposed} take it by rows, or by columns?")
    assert either_factor_comes_back_transposed, why
    why = "Transposed, whether a or b holds the numbers.\nIs out stored, and are a and b loaded, row by row?"
    row_by_row = False
    assert row_by_row, why


@pytest.mark.task(1)
def test_doubles_the_numbers_of_the_lesson():
    same_or(lambda text: tell_of_orders("b", "a", text), lesson.multiply_tile, *on_gpu(TWICE, NUMBERS))


@pytest.mark.task(1)
def test_left_and_right_are_what_they_were():
    same_or(lambda text: tell_of_orders("a", "b", text), lesson.multiply_tile, *on_gpu(NUMBERS, TWICE))


@pytest.mark.task(1)
def test_multiplies_whole_numbers(rng):
    same(lesson.multiply_tile, *whole_numbers(rng, 16, 16, 16))


@pytest.mark.task(1)
def test_sums_may_be_larger_than_any_half():
    """16 * 300 * 300. The largest number of float16 is 65504."""
    same(lesson.multiply_tile, *on_gpu(np.full((16, 16), 300), np.full((16, 16), 300)))


@pytest.mark.task(1)
@pytest.mark.nonfinite
def test_nan_and_infinity_stay_in_their_rows():
    a = np.ones((16, 16))
    a[1, 2], a[5, 0], a[9, 3], a[9, 4] = NAN, INF, INF, -INF
    same(lesson.multiply_tile, *on_gpu(a, np.ones((16, 16))))


@pytest.mark.task(1)
@pytest.mark.counters
def test_the_tensor_cores_make_one_product():
    counters = count(lesson.multiply_tile, *on_gpu(np.eye(16), np.eye(16)))
    products_of_tensor_cores = counters.flops // MMA
    assert products_of_tensor_cores == 1


@pytest.mark.task(1)
@pytest.mark.counters
def test_both_factors_are_loaded_once():
    counters = count(lesson.multiply_tile, *on_gpu(np.eye(16), np.eye(16)))
    assert counters.library_operations == []
    assert counters.bytes_loaded == 2 * 2 * 16 * 16
    assert counters.bytes_stored == 4 * 16 * 16


@pytest.mark.task(1)
@pytest.mark.compiled
def test_the_compiler_makes_two_tensor_core_instructions_of_it():
    """HMMA.16816: 16 x 8 outputs, 16 along k."""
    kernel, tensor_core_instructions = machine_code(lesson.multiply_tile, *on_gpu(np.eye(16), np.eye(16)))
    assert tensor_core_instructions == 2


# Task 2: a warp for each 16 x 16 outputs ----------------------------------------------------------

@pytest.mark.task(2)
def test_adds_two_products_along_k():
    same(lesson.matmul_warps, *on_gpu(np.ones((16, 32)), np.ones((32, 16))))


def two_halves(first, second):
    """A row of 32 numbers: sixteen times the one, sixteen times the other."""
    return np.repeat([first, second], 16)


@pytest.mark.task(2)
def test_the_second_step_takes_the_next_16_columns_of_a():
    a = np.ones((16, 32)) * two_halves(1, 2)
    same(lesson.matmul_warps, *on_gpu(a, np.ones((32, 16))))


@pytest.mark.task(2)
def test_the_second_step_takes_the_next_16_rows_of_b():
    b = np.ones((32, 16)) * two_halves(1, 2)[:, None]
    same(lesson.matmul_warps, *on_gpu(np.ones((16, 32)), b))


def compare_rows(matrix, a, b):
    """Of a product whose row i begins with i + 1, and which has one fragment of the matrix of that name."""
    def tell(text):
        if "elements differ" in text:
            first = lesson.matmul_warps(a, b)[:, 0].tolist()
            why = (f"Row 0 of the product is right; row 1 begins with {first[1]:g}, not 2.\n"
                   f"The fragment of {matrix} has both rows, and {matrix} has 32 columns.\n"
                   f"How many elements of {matrix} after row 0 does row 1 begin?")
            row_1_follows_row_0 = first[0] != 1 or first[1] == 2
            assert row_1_follows_row_0, why
    same_or(tell, lesson.matmul_warps, a, b)


@pytest.mark.task(2)
def test_the_rows_of_one_fragment_of_a_are_k_apart():
    """Row i of the product is i + 1. a has 32 columns, of which a fragment has 16."""
    compare_rows("a", *at_the_top(16, 16, np.arange(1, 17), 1))


@pytest.mark.task(2)
def test_the_second_block_along_x_has_the_next_16_columns():
    """Column j of the product is j + 1."""
    def tell(text):
        twice = re.search(r"element (\d+) of out,\s+which thread \d+ of block", text)
        if twice:
            row, column = divmod(int(twice[1]), 32)
            why = (f"Both blocks store row {row}, column {column} of out; block 1 has columns 16 to 31.\n"
                   "Where in out does it begin, and how far behind is its next row?")
            stored_once = False
            assert stored_once, why
    same_or(tell, lesson.matmul_warps, *at_the_top(16, 32, 1, np.arange(1, 33)))


@pytest.mark.task(2)
def test_the_rows_of_one_fragment_of_b_are_n_apart():
    """a is the identity; row i of b begins with 16 times i + 1. b has 32 columns, of which a fragment has 16."""
    compare_rows("b", *on_gpu(np.eye(16), np.arange(1, 17)[:, None] + 100 * (np.arange(32) >= 16)))


@pytest.mark.task(2)
def test_the_second_block_along_y_has_the_next_16_rows():
    """Row i of the product is i + 1. n is 32, too: whoever takes it for k is as far from row to row."""
    same(lesson.matmul_warps, *at_the_top(32, 32, np.arange(1, 33), 1))


@pytest.mark.task(2)
def test_rows_of_a_are_k_apart_however_few_columns_the_product_has():
    """Row i of the product is i + 1."""
    same(lesson.matmul_warps, *at_the_top(32, 16, np.arange(1, 33), 1))


@pytest.mark.task(2)
@pytest.mark.parametrize("m, n, k", [(16, 16, 16), (16, 16, 48), (32, 16, 16), (16, 48, 16), (48, 32, 80)])
def test_multiplies_matrices_of_whole_tiles(m, n, k, rng):
    same(lesson.matmul_warps, *whole_numbers(rng, m, n, k))


@pytest.mark.task(2)
@pytest.mark.tolerance
def test_a_long_sum_keeps_the_digits_of_float(rng):
    assert_matches(lesson.matmul_warps, *operands(rng, 16, 32, 256), oracle=product, tolerance=close(256))


@pytest.mark.task(2)
@pytest.mark.nonfinite
def test_nan_stays_in_its_column():
    b = np.ones((32, 32))
    b[20, 3], b[1, 17] = NAN, -INF
    same(lesson.matmul_warps, *on_gpu(np.ones((32, 32)), b))


@pytest.mark.task(2)
@pytest.mark.counters
def test_a_warp_loads_a_quarter_of_a_byte_for_each_product(rng):
    counters = count(lesson.matmul_warps, *operands(rng, 48, 32, 64))
    assert counters.flops == 2 * 48 * 32 * 64
    assert counters.bytes_loaded == 48 * 32 * 64 // 4


@pytest.mark.task(2)
@pytest.mark.counters
def test_each_output_is_stored_once(rng):
    counters = count(lesson.matmul_warps, *operands(rng, 48, 32, 64))
    assert counters.bytes_stored == 4 * 48 * 32
    assert counters.bytes_shared == 0


@pytest.mark.task(2)
@pytest.mark.counters
def test_a_warp_that_shares_nothing_waits_for_nobody(rng):
    counters = count(lesson.matmul_warps, *operands(rng, 48, 32, 64))
    assert counters.barriers == 0, "No thread reads what another one stored: which line needs the barrier?"


# Task 3: where matrices end -----------------------------------------------------------------------

def tell_of_tiles(text):
    """Did a fragment meet a place of a tile to which nothing was stored, and does it with 16 x 16 elements too?"""
    unset = re.search(r"element (\d+) of ([ab])_tile, to which nothing", text)
    if unset is None:
        return
    (row, column), x = divmod(int(unset[1]), 24), unset[2]
    seen = f"Nothing is stored to [{row}][{column}] of {x}_tile, and a fragment reads 16 x 16.\n"
    always_stored = "to which nothing" not in fails(lesson.matmul_edges, *on_gpu(np.eye(16), NUMBERS))
    assert always_stored, f"{seen}Nor if {x} has 16 x 16. Which of the 32 lanes stores that element?"
    always_stored = False
    assert always_stored, f"{seen}{x} has one element. What does load_tile store where it has none?"


@pytest.mark.task(3)
def test_one_product_and_fifteen_of_zeros():
    same_or(tell_of_tiles, lesson.matmul_edges, *on_gpu([[3]], [[7]]))


@pytest.mark.task(3)
def test_a_whole_tile_is_its_own_copy():
    same(lesson.matmul_edges, *on_gpu(np.eye(16), np.arange(256).reshape(16, 16)))


@pytest.mark.task(3)
@pytest.mark.edge
@pytest.mark.parametrize("m, n, k", [(2, 3, 4), (16, 16, 17), (17, 16, 16), (16, 17, 16), (15, 31, 7), (67, 35, 1),
                                     (5, 2, 67), (33, 1, 48), (1, 33, 16)])
def test_multiplies_any_shape(m, n, k, rng):
    same(lesson.matmul_edges, *whole_numbers(rng, m, n, k))


@pytest.mark.task(3)
@pytest.mark.edge
@pytest.mark.parametrize("m, n, k", [(3, 2, 0), (0, 5, 4), (5, 0, 4)])
def test_multiplies_matrices_of_nothing(m, n, k):
    same(lesson.matmul_edges, *on_gpu(np.ones((m, k)), np.ones((k, n))))


@pytest.mark.task(3)
@pytest.mark.tolerance
def test_sums_keep_the_digits_of_float(rng):
    assert_matches(lesson.matmul_edges, *operands(rng, 20, 9, 200), oracle=product, tolerance=close(200))


@pytest.mark.task(3)
@pytest.mark.nonfinite
def test_what_is_filled_up_meets_no_infinity(rng):
    """Zero times infinity is NaN: a zero beyond the edge may only meet zeros."""
    a, b = np.ones((3, 20)), np.ones((20, 5))
    a[1, 19], b[4, 2] = INF, NAN
    same(lesson.matmul_edges, *on_gpu(a, b))


@pytest.mark.task(3)
@pytest.mark.nonfinite
def test_what_is_filled_up_is_not_the_beginning_of_the_next_row():
    """Column 17 of a tile is zero in row 0, though a[1, 0] lies in memory where it would be."""
    a, b = np.ones((2, 17)), np.ones((17, 1))
    a[1, 0] = INF

    def tell(text):
        if "elements differ" in text:
            why = ("Row 0 of the product is nan, yet only row 1 of a has an infinity, a[1, 0].\n"
                   "Row 0 of a ends at column 16: a[1, 0] is the next element in memory, x[17].\n"
                   "Which comparison is missing before load_tile loads x[17] for row 0?")
            nan_in_row_0 = bool(np.isnan(float(lesson.matmul_edges(*on_gpu(a, b))[0, 0])))
            right_without_infinity = not fails(lesson.matmul_edges, *on_gpu(np.ones((2, 17)), b))
            row_0_ends_where_it_should = not (nan_in_row_0 and right_without_infinity)
            assert row_0_ends_where_it_should, why
    same_or(tell, lesson.matmul_edges, *on_gpu(a, b))


def in_global_memory(counters, kind):
    """Of all lines that load from global memory, or store to it: requests, sectors, bytes, and the first one's text."""
    lines = [line for launch in counters.launches for line in launch.lines if line.kind == kind]
    names = "requests", "sectors", {"load": "bytes_loaded", "store": "bytes_stored"}[kind]
    totals = (sum(getattr(line.counts, name) for line in lines) for name in names)
    return *totals, f"line {lines[0].line}: {lines[0].source[:64]}"


def assert_all_lanes(counters, kind, tiles, size):
    """256 elements of a tile, of so many bytes each: eight steps of 32 lanes."""
    requests, _, moved, line = in_global_memory(counters, kind)
    steps, lanes = requests / tiles, moved / size / requests
    why = (f"{line}\n16 x 24 elements take 12 steps of 32 lanes, 16 x 16 take 8.\n"
           "Which fragment reads columns 16 to 23 of the tile?" if steps == 12 else
           f"{line}\nThe warp {kind}s a tile in {steps:g} steps with {lanes:.3g} of 32 lanes in each; all need 8.\n"
           f"Which elements does lane 31 {kind}?")
    eight_steps = steps == 8
    assert eight_steps, why


@pytest.mark.task(3)
@pytest.mark.counters
def test_all_lanes_share_the_256_elements_of_a_tile(rng):
    """Six warps go four steps along k, with two tiles each, and store one."""
    counters = count(lesson.matmul_edges, *operands(rng, 48, 32, 64))
    assert_all_lanes(counters, "load", 6 * 4 * 2, 2)
    assert_all_lanes(counters, "store", 6, 4)


@pytest.mark.task(3)
@pytest.mark.counters
def test_only_what_exists_is_loaded_and_stored(rng):
    """17 rows take two warps, 5 columns one: a is loaded once, b twice."""
    counters = count(lesson.matmul_edges, *operands(rng, 17, 5, 33))
    assert counters.bytes_loaded == 2 * (17 * 33 + 2 * 33 * 5)
    assert counters.bytes_stored == 4 * 17 * 5


def assert_neighbours(counters, kind, needed):
    """32 lanes load, or store, two rows of 16 elements: so many sectors."""
    requests, sectors, _, line = in_global_memory(counters, kind)
    why = (f"{line}\nSectors for the lanes of a warp: {sectors / requests:g}. Two rows of the tile are {needed}.\n"
           "While lane 0 has element [0][0] of the tile, which one has lane 1?")
    as_few_as_two_rows = sectors == needed * requests
    assert as_few_as_two_rows, why


@pytest.mark.task(3)
@pytest.mark.counters
def test_neighbouring_lanes_load_neighbouring_elements(rng):
    """32 lanes load two rows of 16 halves, of 32 bytes each: two sectors."""
    assert_neighbours(count(lesson.matmul_edges, *operands(rng, 48, 32, 64)), "load", 2)


@pytest.mark.task(3)
@pytest.mark.counters
def test_neighbouring_lanes_store_neighbouring_elements(rng):
    """32 lanes store two rows of 16 floats, of 64 bytes each: four sectors."""
    assert_neighbours(count(lesson.matmul_edges, *operands(rng, 48, 32, 64)), "store", 4)


# Task 4: rows without conflicts -------------------------------------------------------------------

def by_banks(stride):
    """Of each part, the most words that lie in one of 32 banks of 4 bytes; four parts."""
    words = [row * stride // 2 + word for row in range(8) for word in range(4)]
    return 4 * max(sum(word % 32 == bank for word in words) for bank in range(32))


def compare_wavefronts(stride):
    said, wanted = lesson.wavefronts(stride), by_banks(stride)
    groups = ", ".join(str(2 * row * stride % 128 // 16) for row in range(8))
    why = f"rows 0 to 7 lie in groups {groups}, so that each of four parts takes {wanted // 4}"
    assert said == wanted, f"wavefronts({stride}): you say {said!r}. It is {wanted}: {why}."


@pytest.mark.task(4)
def test_rows_of_16_bytes_lie_in_eight_groups():
    compare_wavefronts(8)


@pytest.mark.task(4)
def test_rows_of_128_bytes_all_lie_in_group_0():
    compare_wavefronts(64)


@pytest.mark.task(4)
@pytest.mark.parametrize("stride", [16, 24, 32, 40, 48, 56, 72, 128, 256, 264])
def test_rows_in_one_group_wait_for_each_other(stride):
    compare_wavefronts(stride)


@pytest.mark.task(4)
@pytest.mark.counters
@pytest.mark.parametrize("stride", [16, 32, 40, 48, 64, 72])
def test_predicts_the_wavefronts_that_are_counted(stride):
    counted = shared_loads(count(lesson.load_once, stride))[1]
    predicted = lesson.wavefronts(stride)
    assert predicted == counted


def least_stride(columns):
    return next(stride for stride in range(columns, columns + 64, 8) if by_banks(stride) == 4)


def compare_padded(columns):
    """The lesson's stride beside the least; in words where it is a multiple of 8."""
    said, wanted = lesson.padded(columns), least_stride(columns)
    if isinstance(said, int) and said % 8 == 0:
        it_is_the_least = said == wanted
        why = (
            "a stride leads over a whole row.\nIs what you return the stride, or what is added to it?"
            if said < columns
            else f"rows of {columns} take four wavefronts.\nWhat has to be added to them?"
            if wanted == columns
            else f"with {said}, a load takes {by_banks(said)} wavefronts.\nWhen does the search end?"
            if by_banks(said) > 4
            else "both take four wavefronts.\nWhich strides does the search pass by?"
        )
        assert it_is_the_least, f"padded({columns}): you say {said}. It is {wanted}: {why}"
    assert_matches(lesson.padded, columns, oracle=least_stride)


@pytest.mark.task(4)
@pytest.mark.parametrize("columns", [32, 256, 16, 64, 48])
def test_rows_are_made_longer_by_one_group(columns):
    compare_padded(columns)


@pytest.mark.task(4)
@pytest.mark.edge
@pytest.mark.parametrize("columns", [8, 24, 40, 264])
def test_rows_that_have_no_conflicts_stay_as_long_as_they_are(columns):
    compare_padded(columns)


# Task 5: eight fragments, sixteen products --------------------------------------------------------

def tell_of_addresses(text):
    """Did a fragment meet a place where nothing was stored, because it begins outside of the tiles of MATMUL?"""
    begins = re.search(r"to which nothing was\s+stored.\s+Its fragment begins at element (\d+);", text)
    if begins is None:
        return
    first, of_a = int(begins[1]), 3 * 128 * least_stride(32)
    if first < of_a:
        name, rows, columns, asks = "a", 128, 32, "left[i] has rows 16 * i to 16 * i + 15."
    else:  # the three tiles of b come behind those of a
        name, rows, columns, asks = "b", 32, 256, "right[j] has columns 16 * j to 16 * j + 15."
    row, column = divmod(first - of_a * (name == "b"), least_stride(columns))
    why = (f"A fragment begins in row {row}, column {column} of the tile of {name}: {rows} x {columns}.\n"
           f"{asks}\nHow many elements after {name} is the first of them?")
    begins_in_the_tile = row < rows and column < columns
    assert begins_in_the_tile, why


@pytest.mark.task(4, 5)
def test_each_row_goes_to_its_place():
    """Row i of the product is i + 1."""
    same_or(tell_of_addresses, lesson.matmul, *at_the_top(128, 256, np.arange(1, 129), 1))


@pytest.mark.task(4, 5)
def test_each_column_goes_to_its_place():
    """Column j of the product is j + 1."""
    same(lesson.matmul, *at_the_top(128, 256, 1, np.arange(1, 257)))


@pytest.mark.task(4, 5)
def test_all_steps_along_k_are_added():
    same(lesson.matmul, *on_gpu(np.ones((128, 32)), np.ones((32, 256))))


@pytest.mark.task(4, 5)
@pytest.mark.edge
@pytest.mark.parametrize("m, n, k", [(128, 256, 64), (256, 256, 96), (128, 512, 160)])
def test_multiplies_several_blocks(m, n, k, rng):
    assert_matches(lesson.matmul, *operands(rng, m, n, k), oracle=product, tolerance=close(k))


@pytest.mark.task(4, 5)
@pytest.mark.counters
def test_each_product_is_made_once(rng):
    counters = count(lesson.matmul, *operands(rng, 128, 256, 64))
    assert counters.flops == 2 * 128 * 256 * 64


@pytest.mark.task(4, 5)
@pytest.mark.counters
def test_a_warp_loads_eight_fragments_for_sixteen_products(rng):
    counters = count(lesson.matmul, *operands(rng, 128, 256, 64))
    fragments_loaded, _ = shared_loads(counters)
    products = counters.flops // MMA
    each = [f"line {line.line} loads {16 * line.counts.shared_requests / products:g}: {line.source[:48]}"
            for launch in counters.launches for line in launch.lines if line.kind == "shared load"]
    why = (f"multiply loads {16 * fragments_loaded / products:g} fragments for 16 products; 8 are all of a and b.\n"
           + "\n".join(each[:3]) + "\nWhich load stands in a loop on which its address does not depend?")
    as_many_as_there_are = fragments_loaded == products // 2
    assert as_many_as_there_are, why


@pytest.mark.task(4, 5)
@pytest.mark.counters
def test_the_eight_warps_wait_once_for_each_pair_of_tiles(rng):
    """k is 64, in two steps of 32. The barrier is given."""
    counters = count(lesson.matmul, *operands(rng, 128, 256, 64))
    assert counters.barriers == 8 * 2


@pytest.mark.task(4, 5)
@pytest.mark.counters
def test_a_fragment_takes_four_wavefronts(rng):
    requests, wavefronts = shared_loads(count(lesson.matmul, *operands(rng, 128, 256, 64)))
    assert wavefronts == 4 * requests


@pytest.mark.task(4, 5)
@pytest.mark.compiled
def test_the_compiler_keeps_all_fragments_in_registers(rng):
    kernel, tensor_core_instructions = machine_code(lesson.matmul, *operands(rng, 128, 256, 64))
    additions = kernel.sass.get("FADD", 0) * 32 // max(tensor_core_instructions, 1)
    only_tensor_cores_add = additions == 0
    why = (f"Beside mma_sync, each lane adds {additions} numbers in a call of multiply (FADD).\n"
           "What does the last argument of mma_sync do?")
    assert only_tensor_cores_add, why
    bytes_spilled = kernel.spills
    assert bytes_spilled == 0, "More numbers are kept at once than 255 registers hold: which fragment is not needed?"
    of_one_call_of_multiply = 2 * 16
    assert tensor_core_instructions >= of_one_call_of_multiply


@pytest.mark.task(4, 5)
@pytest.mark.hopper
@pytest.mark.speed
def test_multiplies_at_a_fifth_of_the_speed_of_cublas(rng):
    """The bar for the reference is 0.30 on an H200. cuBLAS uses wgmma, which wmma does not reach."""
    a, b = (cupy.asarray(rng.standard_normal((4096, 4096), dtype=SINGLE).astype(HALF)) for _ in "ab")
    assert speed_ratio(lesson.matmul, cupy.matmul, a, b) >= 0.2
