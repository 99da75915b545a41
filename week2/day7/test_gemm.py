"""The lesson again, as checks: an order, rounds, a product that stays on its SM, what follows it, and the last case."""

import re

import numpy as np
import pytest
import torch

from tools.check import assert_matches, compiled, count, speed_ratio, terms
from tools.check.inputs import integers, matrices
from tools.check.tolerances import accumulated, elementwise
from tools.gpu import device
from week2.day7 import gemm as lesson

INF, NAN = float("inf"), float("nan")
TILE_M, TILE_N, TILE_K = 128, 256, 64  # of the first config, which is used without a GPU, for elements of two bytes

pytestmark = pytest.mark.filterwarnings("ignore:Grid size")  # Numba's advice to start more blocks


def in_rows_of_16_bytes(values, dtype):
    """A tensor of these values. Its rows are far enough apart to begin at multiples of 16 bytes."""
    rows, cols = values.shape
    step = 16 // torch.empty(0, dtype=dtype).element_size()
    wide = torch.full((rows, -(-cols // step) * step), 77.0, device=device).to(dtype)
    wide[:, :cols] = torch.as_tensor(values).to(device).to(dtype)
    return wide[:, :cols]


def small_integers(rng, *shapes, dtype=torch.float16):
    """Whole numbers from -2 to 2: every sum of their products here is exact in float16."""
    return [in_rows_of_16_bytes(integers(rng, shape, -2, 3), dtype) for shape in shapes]


def numbers(rng, *shapes, dtype=torch.bfloat16):
    return [in_rows_of_16_bytes(values, dtype) for values in matrices(rng, *shapes)]


def multiply(a, b, bias=None, **named):
    """The lesson's, with a result of its own that is full of NaN: what is not stored shows."""
    return lesson.multiply(a, b, out=result_of(a, b), bias=bias, **named)


def result_of(a, b):
    dtype = torch.bfloat16 if a.element_size() == 1 else a.dtype
    return in_rows_of_16_bytes(torch.full((a.shape[0], b.shape[1]), NAN), dtype)


def product(a, b, bias=None, activation="none", programs=None):
    """In float64, rounded once."""
    out = torch.matmul(a.double(), b.double())
    out = out if bias is None else out + bias.double()
    out = {"none": lambda x: x, "relu": torch.relu, "silu": torch.nn.functional.silu}[activation](out)
    return out.to(torch.bfloat16 if a.element_size() == 1 else a.dtype)


# Task 1: from a number to a tile ------------------------------------------------------------------

def numbers_of_groups(tiles_down, tiles_across, group):
    """Write down group after group, column after column, row after row."""
    return [(row, col) for first in range(0, tiles_down, group) for col in range(tiles_across)
            for row in range(first, min(first + group, tiles_down))]


@pytest.mark.task(1)
def test_one_group_is_walked_down_its_columns():
    tiles, by_rows = lesson.order(2, 3, 2), [(row, col) for row in range(2) for col in range(3)]
    why = ("The tiles came row by row: number 1 is (0, 1), to the right of number 0.\n"
           "Both rows are in one group, and a group is walked down its columns.\n"
           "Which changes from one number to the next, the row or the column?")
    assert tiles != by_rows, why
    turned = [(col, row) for row, col in numbers_of_groups(2, 3, 2)]
    why = ("The tiles came in their order, each as (column, row): number 4 is (2, 0).\n"
           "In what order does tile_of return the two?")
    assert tiles != turned, why
    assert_matches(lesson.order, 2, 3, 2, oracle=numbers_of_groups)


@pytest.mark.task(1)
def test_the_second_group_begins_below_the_first():
    assert_matches(lesson.order, 4, 3, 2, oracle=numbers_of_groups)


@pytest.mark.task(1)
def test_numbers_the_tiles_of_the_lesson_whose_last_group_has_one_row():
    outside = [tile for tile in lesson.order(5, 3, 2) if tile[0] >= 5 or tile[1] >= 3]
    why = f"Of 5 x 3 tiles in groups of 2 rows the last group has one row. Tiles {outside} lie outside."
    assert outside == [], why
    assert_matches(lesson.order, 5, 3, 2, oracle=numbers_of_groups)


@pytest.mark.task(1)
@pytest.mark.edge
@pytest.mark.parametrize("tiles_down, tiles_across, group", [
    (1, 1, 1), (1, 5, 8), (3, 1, 2), (7, 4, 8), (8, 5, 8), (9, 2, 8), (13, 3, 4), (4, 3, 1)])
def test_numbers_every_tile_once_in_groups_of_any_size(tiles_down, tiles_across, group):
    assert_matches(lesson.order, tiles_down, tiles_across, group, oracle=numbers_of_groups)


# Task 2: what rounds and the order cost ---------------------------------------------------------

def share_by_hand(tiles, sms):
    """Give every SM a tile, round after round."""
    rounds = 0
    while rounds * sms < tiles:
        rounds += 1
    return tiles / (rounds * sms)


@pytest.mark.task(2)
def test_as_many_tiles_as_sms_take_one_round():
    share = lesson.busy_share(4, 4)
    why = ("4 tiles on 4 SMs take 1 round, and 0.5 is the share of 2 rounds.\n"
           "How many rounds do you count where no tile is left over?")
    assert share != 0.5, why
    assert_matches(lesson.busy_share, 4, 4, oracle=share_by_hand, tolerance=elementwise(np.float64))


@pytest.mark.task(2)
@pytest.mark.parametrize("tiles, sms", [(2, 4), (5, 4), (9, 4), (133, 132)])
def test_sms_without_a_tile_wait_for_the_last_round(tiles, sms):
    assert_matches(lesson.busy_share, tiles, sms, oracle=share_by_hand, tolerance=elementwise(np.float64))


@pytest.mark.task(2)
@pytest.mark.edge
@pytest.mark.parametrize("tiles, sms", [(1, 1), (1, 132), (132, 132), (7, 1), (2048, 132)])
def test_a_share_is_never_above_1(tiles, sms):
    assert_matches(lesson.busy_share, tiles, sms, oracle=share_by_hand, tolerance=elementwise(np.float64))


def bytes_by_hand(tiles, tile_m, tile_n, k, itemsize):
    """Mark what is loaded, box row by box row of a and of b, and count the marks."""
    a = np.zeros(100, bool)
    b = np.zeros(100, bool)
    for row, col in tiles:
        a[row] = b[col] = True
    return terms(a=int(a.sum()) * tile_m * k * itemsize, b=int(b.sum()) * tile_n * k * itemsize)


@pytest.mark.task(2)
def test_one_tile_needs_its_rows_of_a_and_its_columns_of_b():
    assert_matches(lesson.wave_bytes, [(0, 0)], 16, 64, 40, 2, oracle=bytes_by_hand)


@pytest.mark.task(2)
@pytest.mark.parametrize("second, shared, adds, added", [
    ((0, 1), "rows of a", 64, "tile_n = 64 columns of b"), ((1, 0), "columns of b", 16, "tile_m = 16 rows of a")])
def test_a_second_tile_adds_what_it_does_not_share(second, shared, adds, added):
    first = (0, 0)
    one, two = (lesson.wave_bytes(tiles, 16, 64, 40, 2) for tiles in ([first], [first, second]))
    why = (f"wave_bytes({[first, second]}, tile_m=16, tile_n=64, k=40, itemsize=2) is {two}, {two - one} more than for "
           f"{first} alone.\nBoth tiles need the same {shared}, which L2 serves once. The second adds {added}, "
           f"40 numbers of 2 bytes each: {adds * 40 * 2} bytes.")
    assert two - one == adds * 40 * 2, why


@pytest.mark.task(2)
@pytest.mark.parametrize("tiles", [
    [(0, 0), (0, 1)], [(0, 0), (1, 0)], [(0, 0), (1, 0), (0, 1), (1, 1)], [(0, 0), (0, 1), (0, 2), (1, 0)]])
def test_what_two_tiles_load_alike_counts_once(tiles):
    """Of the lesson's first four: in its order, and row by row."""
    assert_matches(lesson.wave_bytes, tiles, 16, 64, 40, 2, oracle=bytes_by_hand)


@pytest.mark.task(2)
@pytest.mark.edge
@pytest.mark.parametrize("itemsize", [1, 4])
def test_a_wave_may_begin_anywhere_or_be_empty(itemsize):
    for tiles in ([(7, 3), (8, 3), (2, 9)], []):
        assert_matches(lesson.wave_bytes, tiles, 32, 16, 24, itemsize, oracle=bytes_by_hand)


@pytest.mark.task(1, 2)
def test_a_wave_in_groups_of_8_needs_less_than_one_row_by_row():
    """24 programs and 16 x 12 tiles: 8 rows and 3 columns, or 2 rows and 12 columns."""
    grouped, by_rows = (lesson.wave_bytes(lesson.order(16, 12, group)[:24], 128, 256, 8192, 2) for group in (8, 1))
    assert grouped == 2 * 8192 * (8 * 128 + 3 * 256)
    assert by_rows == 2 * 8192 * (2 * 128 + 12 * 256)


# Task 3: a product that stays on its SM -----------------------------------------------------------

@pytest.mark.task(3)
def test_multiplies_one_whole_tile(rng):
    assert_matches(multiply, *small_integers(rng, (128, 64), (64, 256)), programs=1, oracle=product, exact=True)


@pytest.mark.task(3)
def test_of_ones_the_sum_is_the_number_of_steps_along_k():
    a, b = (in_rows_of_16_bytes(torch.ones(shape), torch.float16) for shape in ((16, 192), (192, 24)))
    multiplied = int(multiply(a, b, programs=1)[0, 0])
    why = (f"All numbers are 1, and {multiplied} came back: so many numbers along k were multiplied, of 192.\n"
           "A box is STEP = 128 bytes wide along k, and a number has ITEMSIZE = 2.\n"
           "By how many numbers does the loop over k step?")
    assert multiplied == 192, why


@pytest.mark.task(3)
@pytest.mark.counters
def test_no_more_boxes_are_multiplied_than_k_holds(rng):
    """192 numbers along k are three boxes. What lies beyond k is 0, and costs as much as the rest."""
    a, b = small_integers(rng, (16, 192), (192, 24))
    flops = count(lesson.multiply, a, b, out=result_of(a, b), programs=1).flops
    products = flops / (2 * TILE_M * TILE_N * TILE_K)
    why = f"k = 192 are 3 boxes of 64 numbers, and the tile took {products:g} products of boxes. Where does k end?"
    assert products == 3, why


@pytest.mark.task(3)
def test_adds_up_box_after_box_of_k(rng):
    assert_matches(multiply, *small_integers(rng, (16, 192), (192, 24)), programs=1, oracle=product, exact=True)


@pytest.mark.task(3)
@pytest.mark.parametrize("m, n", [(128, 512), (256, 256), (256, 512)])
def test_multiplies_several_tiles_one_program_each(m, n, rng):
    a, b = small_integers(rng, (m, 64), (64, n))
    assert_matches(multiply, a, b, programs=m * n // (128 * 256), oracle=product, exact=True)


@pytest.mark.task(3)
def test_no_tile_is_left_out(rng):
    """The result is full of NaN before."""
    out = multiply(*small_integers(rng, (300, 64), (64, 264)), programs=2)
    left_out = [(row, col) for row in range(3) for col in range(2) if torch.isnan(out[row * TILE_M, col * TILE_N])]
    why = (f"300 x 264 are 3 rows of 2 tiles: the last row of tiles has 44 rows, the last column 8 columns.\n"
           f"2 programs have six tiles to store. These were not stored: {left_out}.")
    assert left_out == [], why


@pytest.mark.task(3)
def test_a_program_takes_every_tile_that_is_programs_further(rng):
    """Of three programs the first runs alone. Seven tiles lie below each other, so number and row are the same."""
    out = multiply(*small_integers(rng, (7 * TILE_M, 16), (16, 16)), programs=3, launched=1)
    taken = [number for number in range(7) if not torch.isnan(out[number * TILE_M, 0])]
    why = (f"Of 7 tiles on 3 programs, program 0 stored the tiles {taken}, wanted: [0, 3, 6].\n"
           "Then programs 0, 1 and 2 begin with tiles 0, 1 and 2, which are neighbours,\n"
           "and none has two tiles more than another.")
    assert taken == [0, 3, 6], why


@pytest.mark.task(3)
def test_each_tile_begins_a_sum_of_its_own():
    """One program, two tiles, 64 steps of ones each."""
    a, b = (in_rows_of_16_bytes(torch.ones(shape), torch.float16) for shape in ((128, 64), (64, 512)))
    second = int(multiply(a, b, programs=1)[0, TILE_N])
    why = ("All numbers are 1 and k is 64, so each sum is 64. Program 0 has 2 tiles.\n"
           "The second, from column 256 on, holds 128: its own 64 and the 64 before it.\n"
           "Where does acc become 0?")
    assert second != 128, why
    assert_matches(multiply, a, b, programs=1, oracle=product, exact=True)


@pytest.mark.task(3)
@pytest.mark.parametrize("programs", [1, 4, 9])
def test_any_number_of_programs_shares_the_six_tiles(programs, rng):
    """One has all of them; of four, two have two; of nine, three have nothing to do."""
    a, b = small_integers(rng, (300, 64), (64, 264))
    assert_matches(multiply, a, b, programs=programs, oracle=product, exact=True)


@pytest.mark.task(3)
@pytest.mark.edge
def test_the_last_box_along_k_need_not_be_full(rng):
    """72 are a box of 64 and 8 numbers of a second one. What it holds beyond k is 0."""
    assert_matches(multiply, *small_integers(rng, (16, 72), (72, 24)), programs=1, oracle=product, exact=True)


@pytest.mark.task(3)
@pytest.mark.parametrize("m, n, k, turned", [(16, 24, 72, "a"), (16, 24, 72, "b"), (130, 264, 72, "a and b")])
def test_takes_matrices_that_lie_column_by_column(m, n, k, turned, rng):
    a, b = small_integers(rng, (m, k), (k, n))
    a, b = (in_rows_of_16_bytes(x.T, torch.float16).T if name in turned.split() else x for name, x in zip("ab", (a, b)))
    assert_matches(multiply, a, b, programs=2, oracle=product, exact=True)


@pytest.mark.task(3)
@pytest.mark.edge
@pytest.mark.parametrize("m, n, k", [(1, 1, 1), (127, 255, 63), (129, 257, 65), (31, 521, 139)])
def test_takes_any_shape_on_one_program_for_each_sm(m, n, k, rng):
    assert_matches(multiply, *small_integers(rng, (m, k), (k, n)), oracle=product, exact=True)


@pytest.mark.task(3)
@pytest.mark.edge
def test_takes_float8_in_boxes_of_128_and_gives_bfloat16(rng):
    a, b = small_integers(rng, (130, 160), (160, 40), dtype=torch.float8_e4m3fn)
    b = in_rows_of_16_bytes(b.float().T, torch.float8_e4m3fn).T
    assert_matches(multiply, a, b, programs=1, oracle=product, exact=True)


@pytest.mark.task(3)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_rounds_the_sum_and_no_part_of_it(dtype):
    """The first step of k adds 2048 and 0 to 63, the second takes the 2048 away. Neither type can hold 2049."""
    a, b = torch.zeros(16, 128), torch.zeros(128, 64)
    a[:, 0], a[:, 1], a[:, 64] = 1.0, 1.0, -1.0
    b[0], b[1], b[64] = 2048.0, torch.arange(64.0), 2048.0
    a, b = (in_rows_of_16_bytes(values, dtype) for values in (a, b))
    assert_matches(multiply, a, b, programs=1, oracle=product, exact=True)


@pytest.mark.task(3)
@pytest.mark.tolerance
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_sums_in_float32_and_rounds_once(dtype, rng):
    a, b = numbers(rng, (128, 700), (700, 256), dtype=dtype)
    assert_matches(multiply, a, b, oracle=product, tolerance=accumulated(dtype, 700))


@pytest.mark.task(3)
@pytest.mark.counters
@pytest.mark.parametrize("programs", [1, 3])
def test_the_product_is_your_kernel_in_as_many_programs_as_asked_for(programs, rng):
    a, b = small_integers(rng, (16, 64), (64, 24))
    counters = count(lesson.multiply, a, b, out=result_of(a, b), programs=programs)
    assert counters.library_operations == []
    assert counters.programs == programs


@pytest.mark.task(3)
@pytest.mark.counters
def test_there_is_one_program_for_each_sm_if_no_number_is_given(rng):
    a, b = small_integers(rng, (16, 64), (64, 24))
    counters = count(lesson.multiply, a, b, out=result_of(a, b))
    assert counters.programs in (lesson.multiprocessors(), 132)  # of this GPU, or of the simulated one


@pytest.mark.task(3)
@pytest.mark.counters
@pytest.mark.parametrize("m, n, k", [(128, 256, 64), (130, 264, 72)])
def test_loads_each_box_once_for_each_tile_and_stores_the_result_once(m, n, k, rng):
    a, b = small_integers(rng, (m, k), (k, n))
    counters = count(lesson.multiply, a, b, out=result_of(a, b), programs=2)
    assert counters.bytes_loaded == 2 * k * (-(-n // TILE_N) * m + -(-m // TILE_M) * n)
    assert counters.bytes_stored == 2 * m * n


@pytest.mark.task(3)
@pytest.mark.counters
def test_converts_nothing_but_the_result(rng):
    a, b = small_integers(rng, (128, 64), (64, 256))
    counters = count(lesson.multiply, a, b, out=result_of(a, b), programs=1)
    assert counters.conversions == 128 * 256
    assert counters.float64 == 0


@pytest.mark.task(3)
@pytest.mark.compiled
def test_the_tensor_cores_are_fed_by_the_copy_engine_and_nothing_spills(rng):
    a, b = numbers(rng, (256, 256), (256, 512))
    kernel = compiled(lesson.multiply, a, b, out=result_of(a, b), chip="h100").kernels["matmul_kernel"]
    products, boxes = (sum(times for name, times in kernel.instructions.items() if name.startswith(start))
                       for start in ("wgmma.mma_async", "cp.async.bulk.tensor"))
    by_threads = [name for name in kernel.instructions if name.startswith(("ld.global", "st.global"))]
    shared_bytes = kernel.shared_bytes
    assert kernel.configs == 4
    assert shared_bytes >= 3 * 2 * TILE_K * (TILE_M + TILE_N)  # three stages of two boxes
    assert kernel.spills == 0
    assert products > 0
    assert boxes >= 3
    assert by_threads == []


def compiled_text(rng, stage):
    a, b = numbers(rng, (256, 256), (256, 512))
    return compiled(lesson.multiply, a, b, out=result_of(a, b), chip="h100").kernels["matmul_kernel"].text(stage)


@pytest.mark.task(3)
@pytest.mark.compiled
def test_one_loop_goes_through_all_boxes_of_all_tiles(rng):
    """In what the compiler makes of the kernel, "scf.for" begins a loop, and what is inside is indented."""
    around = []
    for line in compiled_text(rng, "ttgir").splitlines():
        depth = len(line) - len(line.lstrip())
        around = [loop for loop in around if loop < depth]
        if "warp_group_dot " in line:
            break
        if re.match(r" *(%\S+ = )?scf\.(for|while)\b", line):
            around.append(depth)
    else:
        pytest.fail("no product of tensor cores was found")
    why = (f"{len(around)} loops stand around the product, one inside the other: after each tile the inner one begins "
           "with empty stages.\nWhich argument of tl.range makes one loop of both?")
    assert len(around) < 2, why


@pytest.mark.task(1, 3)
def test_the_loop_finds_its_tiles_in_groups(rng):
    """2 x 3 tiles, and of two programs the first runs alone: in one group it takes every tile of row 0."""
    out = multiply(*small_integers(rng, (2 * TILE_M, 16), (16, 3 * TILE_N)), programs=2, launched=1)
    by_rows = not torch.isnan(out[2 * TILE_M - 64, TILE_N])
    why = ("2 x 3 tiles are one group, walked down its columns: its row 0 has tiles\n"
           "0, 2 and 4, those of program 0 of 2. It stored (1, 1), which is number 4\n"
           "if they are counted row by row. Who tells the loop where a number is?")
    assert not by_rows, why


@pytest.mark.task(3)
@pytest.mark.compiled
def test_tiles_are_taken_in_groups_of_8(rng):
    """Nothing but GROUP is an 8 in the kernel of the first config."""
    text = compiled_text(rng, "ttir")
    assert "scf.for" in text, "The compiled kernel has no loop over tiles."
    knows_8 = re.search(r"arith\.constant 8 : i32", text) is not None
    why = ("The compiled kernel holds no number 8: does the loop find its tiles by "
           "tile_of(number, tiles_down, tiles_across, GROUP)?")
    assert knows_8, why


# Task 4: what comes after the sum -----------------------------------------------------------------

@pytest.mark.task(4)
def test_adds_one_number_of_the_bias_to_each_column(rng):
    a, b, bias = small_integers(rng, (16, 64), (64, 24), (1, 24))
    assert_matches(multiply, a, b, bias[0], programs=1, oracle=product, exact=True)


@pytest.mark.task(4)
def test_each_tile_has_its_own_part_of_the_bias(rng):
    """a @ b is 0 and bias[i] is i: each number of the result says which one of bias it got."""
    a, b = (in_rows_of_16_bytes(torch.zeros(shape), torch.float16) for shape in ((16, 16), (16, 600)))
    out = multiply(a, b, torch.arange(600.0, device=device), programs=2)
    first = [round(x) for x in out[0, ::TILE_N].tolist()]
    why = (f"Tiles begin at columns 0, 256 and 512, and these got bias[i] for i = {first}.\n"
           "col is the first column of a tile, counted in columns, where matmul_kernel calls\n"
           "epilogue and where epilogue loads from bias_ptr.")
    assert first == [0, 256, 512], why
    assert out.tolist() == [list(range(600))] * 16


@pytest.mark.task(4)
def test_relu_keeps_what_is_above_zero(rng):
    a, b = small_integers(rng, (16, 64), (64, 24))
    assert_matches(multiply, a, b, activation="relu", programs=1, oracle=product, exact=True)


@pytest.mark.task(4)
@pytest.mark.tolerance
def test_silu_multiplies_by_the_sigmoid(rng):
    a, b = numbers(rng, (128, 200), (200, 256))
    assert_matches(multiply, a, b, activation="silu", programs=1, oracle=product,
                   tolerance=accumulated(torch.bfloat16, 200))


@pytest.mark.task(4)
@pytest.mark.parametrize("activation", ["relu", "silu"])
def test_the_bias_comes_before_the_activation(activation, rng):
    a, b, bias = numbers(rng, (128, 200), (200, 256), (1, 256), dtype=torch.float16)
    out, after = multiply(a, b, bias[0], activation=activation, programs=1), product(a, b, None, activation) + bias[0]
    why = f"What came back is {activation}(a @ b) + bias. Wanted: {activation}(a @ b + bias)."
    assert not torch.allclose(out, after, rtol=0.01, atol=0.01), why
    assert_matches(multiply, a, b, bias[0], activation=activation, programs=1, oracle=product,
                   tolerance=accumulated(torch.float16, 200))


@pytest.mark.task(4)
def test_the_bias_is_added_before_the_sum_is_rounded():
    """2048 + 1 - 2040 is 9. Rounded to float16 on the way it is 8, for 2049 lies between two of its numbers."""
    a, b = torch.zeros(16, 64), torch.zeros(64, 24)
    a[:, :2], b[0], b[1] = 1.0, 2048.0, 1.0
    a, b = (in_rows_of_16_bytes(x, torch.float16) for x in (a, b))
    bias = torch.full((24,), -2040.0, dtype=torch.float16, device=device)
    assert_matches(multiply, a, b, bias, programs=1, oracle=product, exact=True)


@pytest.mark.task(4)
def test_a_bias_of_float32_is_not_rounded_to_the_dtype_of_a():
    """1 + i / 2048 less 1: bfloat16 has 7 bits behind the point, and the bias has 11."""
    a, b = torch.ones(16, 16), torch.zeros(16, 16)
    b[0] = -1.0
    a, b = (in_rows_of_16_bytes(x, torch.bfloat16) for x in (a, b))
    bias = 1.0 + 37 * torch.arange(16.0, device=device) / 2048
    assert_matches(multiply, a, b, bias, programs=1, oracle=product, exact=True)


@pytest.mark.task(4)
@pytest.mark.nonfinite
def test_relu_of_nan_is_nan():
    nan, one = (in_rows_of_16_bytes(torch.full((16, 16), value), torch.float16) for value in (NAN, 1.0))
    became = multiply(nan, one, activation="relu", programs=1)[0, 0].item()
    is_nan = became != became
    why = (f"relu of NaN is {became:g}, wanted: nan. tl.maximum(NaN, 0.0) is 0.0 unless\n"
           "propagate_nan says otherwise. A comparison with NaN is False: tl.where takes\n"
           "its last argument. What does your relu do with an acc that is NaN?")
    assert is_nan, why


@pytest.mark.task(4)
@pytest.mark.nonfinite
@pytest.mark.parametrize("activation", ["none", "relu", "silu"])
def test_nan_and_infinity_go_through(activation):
    a, b = torch.ones(3, 8), torch.ones(8, 2)
    a[:, 0], b[0] = torch.tensor([NAN, INF, -1.0]), torch.tensor([1.0, 2.0])
    a, b = (in_rows_of_16_bytes(x, torch.float16) for x in (a, b))
    assert_matches(multiply, a, b, activation=activation, programs=1, oracle=product,
                   tolerance=accumulated(torch.float16, 8))


@pytest.mark.task(4)
@pytest.mark.counters
def test_bias_and_activation_cost_no_traffic_but_the_bias(rng):
    """130 rows are two tiles down: each loads the whole bias, two bytes a number."""
    a, b = small_integers(rng, (130, 72), (72, 264))
    bias, = small_integers(rng, (1, 264))
    out = result_of(a, b)
    plain = count(lesson.multiply, a, b, out=out, programs=2)
    fused = count(lesson.multiply, a, b, out=out, bias=bias[0], activation="relu", programs=2)
    added = fused.bytes - plain.bytes
    assert added == 1056, f"{added} bytes more. Each of two rows of tiles needs 264 numbers of 2 bytes, once: 1056."
    assert fused.library_operations == []
    assert fused.float64 == 0


# Task 5: any strides, mistakes by name ------------------------------------------------------------

WAYS = {
    "x": (True, lambda x: x),
    "x.T": (True, lambda x: x.T),
    "x[:, 8:40]": (True, lambda x: x[:, 8:40]),
    "x[:, 1:]": (False, lambda x: x[:, 1:]),
    "x[:, ::2]": (False, lambda x: x[:, ::2]),
    "x[:, :1].expand(20, 40)": (False, lambda x: x[:, :1].expand(20, 40)),
    "x.view(80, 12)": (False, lambda x: x.reshape(80, 12)),
}


@pytest.mark.task(5)
@pytest.mark.parametrize("as_it_is, view", WAYS.values(), ids=WAYS)
def test_copies_only_what_the_copy_engine_cannot_take(as_it_is, view):
    """x has 20 rows and 48 columns of float16."""
    x = view(torch.arange(960.0, device=device).to(torch.float16).view(20, 48))

    def in_rows_elsewhere(x):
        return lesson.in_rows(x).clone()

    assert_matches(in_rows_elsewhere, x, oracle=torch.clone, exact=True)
    became = "copied" if count(lesson.in_rows, x).library_operations else "used as it is"
    why = f"legal(x) is {lesson.legal(x)}, legal(x.T) is {lesson.legal(x.T)}, and x was {became}."
    if x.is_contiguous():
        why += "\nIt is contiguous, so x.contiguous() is x itself."
    wanted = "used as it is" if as_it_is else "copied"
    assert became == wanted, why


DTYPES = torch.bfloat16, torch.float16, torch.float8_e4m3fn


def empty(*shape, dtype=torch.bfloat16):
    return torch.empty(shape, dtype=dtype, device=device)


def shown(a, b, bias, activation):
    """a: bfloat16 (3, 5), b: bfloat16 (5, 7), bias: None, activation: 'none'"""
    return ", ".join(
        f"{name}: {str(x.dtype).removeprefix('torch.')} {tuple(x.shape)}" if torch.is_tensor(x) else f"{name}: {x!r}"
        for name, x in {"a": a, "b": b, "bias": bias, "activation": activation}.items())


RIGHT = {
    "no bias": (empty(3, 5), empty(5, 7), None, "none"),
    "bias": (empty(3, 5), empty(5, 7), empty(7), "relu"),
    "a bias of float32": (empty(3, 5), empty(5, 7), empty(7, dtype=torch.float32), "silu"),
    "no rows": (empty(0, 5), empty(5, 7), None, "none"),
    "float8": (empty(3, 5, dtype=torch.float8_e4m3fn), empty(5, 7, dtype=torch.float8_e4m3fn), None, "none"),
}
MISTAKES = {
    "a vector": ((empty(5), empty(5, 7), None, "none"), ("a", "(5,)")),
    "a batch": ((empty(3, 5), empty(2, 5, 7), None, "none"), ("b", "(2, 5, 7)")),
    "b turned": ((empty(3, 5), empty(7, 5), None, "none"), ("a", "b", "5", "7")),
    "no k": ((empty(3, 0), empty(0, 7), None, "none"), ("0",)),
    "two dtypes": ((empty(3, 5), empty(5, 7, dtype=torch.float16), None, "none"), ("bfloat16", "torch.float16")),
    "float32": ((empty(3, 5, dtype=torch.float32), empty(5, 7, dtype=torch.float32), None, "none"), ("float32",)),
    "a bias for rows": ((empty(3, 5), empty(5, 7), empty(3), "none"), ("bias", "(3,)", "7")),
    "a bias of two axes": ((empty(3, 5), empty(5, 7), empty(1, 7), "none"), ("bias", "(1, 7)")),
    "gelu": ((empty(3, 5), empty(5, 7), None, "gelu"), ("activation", "gelu")),
    "shapes before dtypes": ((empty(3, 5), empty(7, 5, dtype=torch.float32), None, "gelu"), ("5", "7")),
    "dtypes before bias": ((empty(3, 5), empty(5, 7, dtype=torch.float64), empty(3), "none"), ("bfloat16", "float64")),
    "dtypes before activation": ((empty(3, 5), empty(5, 7, dtype=torch.float64), None, "gelu"), ("float64",)),
    "bias before activation": ((empty(3, 5), empty(5, 7), empty(3), "gelu"), ("bias", "(3,)")),
}


@pytest.mark.task(5)
@pytest.mark.parametrize("arguments", RIGHT.values(), ids=RIGHT)
def test_right_arguments_have_no_problem(arguments):
    sentence = lesson.problem(*arguments)
    assert sentence == "", f"problem({shown(*arguments)}) is {sentence!r}."


@pytest.mark.task(5)
@pytest.mark.parametrize("arguments, words", MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_named_with_what_was_given(arguments, words):
    sentence = lesson.problem(*arguments)
    said = str(sentence).replace(str(DTYPES), "")  # to list the right ones does not name those that were given
    missing = [word for word in words if word not in said]
    why = f"problem({shown(*arguments)}) is {sentence!r}.\nThe first mistake is named with: {', '.join(words)}."
    assert not missing, f"{why}\nMissing: {', '.join(missing)}."


@pytest.mark.task(5)
@pytest.mark.parametrize("arguments", [arguments for arguments, _ in MISTAKES.values()], ids=MISTAKES)
def test_a_product_with_a_problem_raises_value_error_with_its_sentence(arguments):
    a, b, bias, activation = arguments
    with pytest.raises(ValueError) as raised:
        lesson.matmul(a, b, bias, activation=activation)
    assert str(raised.value) == lesson.problem(*arguments) != ""


@pytest.mark.task(5)
@pytest.mark.edge
@pytest.mark.parametrize("m, n, k", [(1, 1, 1), (20, 40, 33), (0, 3, 2), (3, 0, 2)])
def test_takes_any_shape_stored_in_any_way(m, n, k, rng):
    a, b = (torch.as_tensor(integers(rng, shape, -2, 3)).to(device, torch.float16) for shape in ((m, k), (k, n)))
    assert_matches(lesson.matmul, a, b, oracle=product, exact=True, layouts="any")


@pytest.mark.task(5)
@pytest.mark.parametrize("activation", ["none", "relu"])
def test_matmul_hands_bias_and_activation_on(activation, rng):
    a, b, bias = small_integers(rng, (16, 64), (64, 24), (1, 24))
    assert_matches(lesson.matmul, a, b, bias[0], activation=activation, oracle=product, exact=True)


@pytest.mark.task(5)
@pytest.mark.edge
def test_takes_a_bias_that_is_every_second_number_of_another():
    """a @ b is 0, so the result is the bias: 0, 2, 4 and so on."""
    a, b = (in_rows_of_16_bytes(torch.zeros(shape), torch.float16) for shape in ((16, 64), (64, 24)))
    bias = torch.arange(48.0, device=device)[::2]
    added = lesson.matmul(a, b, bias)[0].tolist()
    why = ("bias is every second one of 0, 1, 2 ... 47, and its stride is 2. The kernel added\n"
           "0, 1, 2 ... 23, as if the stride were 1. What does multiply ask of bias?")
    assert added != list(range(24)), why
    assert added == bias.tolist()


@pytest.mark.task(5)
@pytest.mark.parametrize("dtype", [torch.float8_e4m3fn, torch.bfloat16])
def test_a_bias_of_float32_is_added_as_it_is(dtype):
    """Its numbers have 11 bits behind the point, and 1 of the product is taken away: what a dtype rounds off shows."""
    a, b = torch.ones(16, 16), torch.zeros(16, 16)
    b[0] = -1.0
    a, b = (in_rows_of_16_bytes(x, dtype) for x in (a, b))
    bias = 1.0 + 37 * torch.arange(16.0, device=device) / 2048
    assert_matches(lesson.matmul, a, b, bias, oracle=product, exact=True)


@pytest.mark.task(5)
def test_the_product_of_float8_is_bfloat16(rng):
    a, b = small_integers(rng, (20, 40), (40, 24), dtype=torch.float8_e4m3fn)
    assert_matches(lesson.matmul, a, b, oracle=product, exact=True)


@pytest.mark.task(5)
@pytest.mark.counters
@pytest.mark.parametrize("a_lies", ["by rows", "by columns"])
@pytest.mark.parametrize("b_lies", ["by rows", "by columns"])
def test_matrices_that_are_legal_are_not_copied(a_lies, b_lies, rng):
    a, b = (x if lies == "by rows" else in_rows_of_16_bytes(x.T, torch.float16).T
            for x, lies in zip(small_integers(rng, (16, 64), (64, 24)), (a_lies, b_lies)))
    copies = count(lesson.matmul, a, b).library_operations
    assert copies == [], f"a lies {a_lies}, b {b_lies}: multiply takes both as they are. matmul called {copies}."


@pytest.mark.task(5)
@pytest.mark.hopper
@pytest.mark.speed
@pytest.mark.parametrize("n", [4096, 8192])
def test_matmul_holds_its_own_against_the_library(n):
    a, b = (torch.randn(n, n, device=device).to(torch.bfloat16) for _ in range(2))
    assert speed_ratio(lesson.matmul, torch.matmul, a, b) >= 0.85


# Task 6: the last case ----------------------------------------------------------------------------

def masked_sum(grad, product):
    return torch.where(product > 0, grad.double(), 0.0).sum(0).to(grad.dtype)


def gradients(rng, m, n):
    return [torch.as_tensor(values).to(device, torch.float32) for values in matrices(rng, (m, n), (m, n))]


@pytest.mark.task(6)
@pytest.mark.edge
@pytest.mark.parametrize("m, n", [(32, 32), (1, 1), (31, 33), (33, 31), (70, 37), (0, 5)])
def test_the_gradient_of_the_bias_stays_right(m, n, rng):
    assert_matches(lesson.bias_gradient, *gradients(rng, m, n), oracle=masked_sum,
                   tolerance=accumulated(np.float32, max(m, 1)))


@pytest.mark.task(6)
@pytest.mark.edge
@pytest.mark.parametrize("below", [0.0, -0.0, -1.0, NAN])
def test_a_product_that_is_not_above_0_adds_nothing(below):
    """Of three rows the middle one counts."""
    grad = torch.tensor([[-1.0, 2.0], [4.0, -8.0], [16.0, -32.0]], device=device)
    product = torch.tensor([[below] * 2, [0.5] * 2, [-1.0] * 2], device=device)
    assert_matches(lesson.bias_gradient, grad, product, oracle=masked_sum, exact=True)


@pytest.mark.task(6)
@pytest.mark.nonfinite
@pytest.mark.parametrize("value", [INF, NAN])
def test_a_gradient_counts_only_where_the_product_is_above_0(value):
    grad = torch.tensor([[value, 1.0], [2.0, value]], device=device)
    product = torch.tensor([[-1.0, 1.0], [1.0, 1.0]], device=device)
    first = lesson.bias_gradient(grad, product)[0].item()
    why = (f"In column 0 grad is {value} where product is -1, and 2 where it is 1. Their sum is {first}, wanted: 2.\n"
           f"{value} * 0 is NaN: where product is not above 0, grad must be left out, not multiplied by 0.")
    assert first == 2.0, why
    assert_matches(lesson.bias_gradient, grad, product, oracle=masked_sum, exact=True)


@pytest.mark.task(6)
@pytest.mark.counters
def test_your_kernel_loads_each_number_once():
    """64 x 64 of grad and of product, all above 0."""
    ones = torch.ones(64, 64, device=device)
    counters = count(lesson.bias_gradient, ones, ones)
    assert counters.library_operations == []
    assert counters.bytes_loaded == 2 * 4 * 64 * 64
    assert counters.bytes_stored == 4 * 64


@pytest.mark.task(6)
@pytest.mark.counters
def test_grad_is_loaded_only_where_the_product_is_above_0(rng):
    grad, product = gradients(rng, 64, 64)
    wanted = int((product > 0).sum())
    loaded = count(lesson.bias_gradient, grad, product).bytes_loaded // 4 - 64 * 64
    why = (f"Beside the 4096 numbers of product, {loaded} numbers were loaded.\n"
           f"product is above 0 at {wanted} places: so many numbers of grad are wanted.\n"
           "Does grad[row, col] stand before the if?")
    assert loaded == wanted, why


@pytest.mark.task(6)
@pytest.mark.counters
def test_one_warp_of_a_block_stores_its_32_sums():
    """64 x 64, all above 0. A request is what the 32 threads of a warp ask for at once."""
    ones = torch.ones(64, 64, device=device)
    requests = count(lesson.bias_gradient, ones, ones).requests
    why = (f"Warps made {requests} requests of global memory, wanted: 128 for product, 128 for grad, 2 for out.\n"
           "If one lane of each of 32 warps adds up and stores, out alone takes 64.")
    assert requests == 128 + 128 + 2, why


@pytest.mark.task(6)
@pytest.mark.counters
def test_a_warp_asks_for_four_sectors(rng):
    """128 bytes that lie together. 32 sectors are a warp that looks down a column."""
    grad, _ = gradients(rng, 64, 64)
    counters = count(lesson.bias_gradient, grad, grad.abs())
    assert counters.sectors_per_request == 4


@pytest.mark.task(6)
@pytest.mark.counters
def test_no_bank_serves_two_lanes_of_a_request(rng):
    """64 warps store their parts; 2 warps load 32 of them each."""
    counters = count(lesson.bias_gradient, *gradients(rng, 64, 64))
    assert counters.wavefronts == 2 * 32 + 2 * 32


@pytest.mark.task(6)
@pytest.mark.counters
def test_the_gradient_is_summed_in_float32(rng):
    counters = count(lesson.bias_gradient, *gradients(rng, 64, 64))
    assert counters.float64 == 0
