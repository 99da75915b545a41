"""The lesson again, as checks: instructions, fragments, one kernel for all formats, FP8 and its scales, errors."""

import linecache
import sys

import pytest
import torch

from tools.check import assert_matches, compiled, count, memory, require, speed_ratio
from tools.check.inputs import integers, matrices
from tools.check.tolerances import accumulated
from tools.gpu import device
from week2.day6 import tensor_cores as lesson

INF, NAN = float("inf"), float("nan")
FP8 = torch.float8_e4m3fn, torch.float8_e5m2
NARROW = (torch.float16, torch.bfloat16, *FP8)
SMALL = (16, 32)
PER_ROW = {torch.float16: 64, torch.bfloat16: 64, torch.float32: 32, FP8[0]: 128, FP8[1]: 128}  # elements in a step


def in_id(value):
    """A type in the name of a test: float16, not dtype0."""
    return str(value).removeprefix("torch.") if isinstance(value, torch.dtype) else None


def numbers(rng, *shapes, dtype=torch.float32):
    return [torch.from_numpy(values).to(device, dtype) for values in matrices(rng, *shapes)]


def small_integers(rng, *shapes, dtype=torch.float32):
    """Whole numbers from -2 to 2, which each of the formats holds."""
    return [torch.from_numpy(integers(rng, shape, -2, 3)).to(device, dtype) for shape in shapes]


def assert_none_of(value, mistakes, gave=""):
    """The value is none that a known mistake gives. mistakes: value -> what to say; gave: before it."""
    __tracebackhide__ = True
    require(value not in [*mistakes], gave + next((words for each, words in mistakes.items() if each == value), ""))


def exact(a, b, **kwargs):
    """In float32, of what float64 makes of the factors as they are."""
    return (a.double() @ b.double()).float()


def products(kernel):
    """The tensor core instructions of a kernel and how many of each stand in its code, by their first word."""
    names = {name: times for name, times in kernel.instructions.items()
             if name.startswith(("mma.", "wgmma.mma_async", "tcgen05.mma"))}
    return sorted({name.partition(".")[0] for name in names}), sum(names.values()), " ".join(names)


def kernel_for(rng, chip, dtype, precision="tf32", tile=(64, 128), by_column=False, shape=(64, 128, 256)):
    m, n, k = shape
    a, b = small_integers(rng, (m, k), (k, n), dtype=dtype)
    b = b.T.contiguous().T if by_column else b
    return compiled(lesson.matmul, a, b, precision=precision, tile=tile, chip=chip).kernels["dot_kernel"]


# Task 1: which instruction, and how many ----------------------------------------------------------

SHAPES = {  # from the tables of the PTX ISA
    (80, torch.float16): (16, 8, 16), (80, torch.float32): (16, 8, 8), (80, torch.int8): (16, 8, 32),
    (86, torch.bfloat16): (16, 8, 16), (89, FP8[0]): (16, 8, 32), (89, FP8[1]): (16, 8, 32), (80, FP8[0]): None,
    (86, FP8[1]): None, (90, torch.float16): (64, 128, 16), (90, torch.float32): (64, 128, 8),
    (90, FP8[0]): (64, 128, 32), (90, torch.int8): (64, 128, 32), (100, torch.bfloat16): (128, 128, 16),
    (103, torch.float32): (128, 128, 8), (100, FP8[1]): (128, 128, 32), (120, torch.float16): (16, 8, 16),
    (121, FP8[0]): (16, 8, 32), (88, FP8[0]): None,
}
NAMES = {16: "mma", 64: "wgmma", 128: "tcgen05"}  # by m


def wrong_in_shape(capability, dtype, got, want):
    """Which part of a shape is wrong, and what to ask; None if it is right, or no shape at all."""
    gave = f"mma_shape({capability}, {dtype}, 128) gave {got}, wanted {want}.\n"
    if got is None and want is not None:
        return gave + "Only the two FP8 types begin at 89, and 89 has them. What does the condition ask?"
    if not isinstance(got, tuple) or len(got) != 3 or got == want:
        return None
    if want is None:
        return gave + "FP8 begins at 89. What has to be asked before the table is read?"
    if got[0] != want[0]:
        return gave + (f"As if it were {NAMES.get(got[0], 'another instruction')}; {capability} has {NAMES[want[0]]}."
                       " Where does each line of the table begin and end?")
    if got[2] != want[2]:
        return gave + f"k is 32 bytes, and one of {dtype} takes {dtype.itemsize}. How many are that?"
    return gave + f"The tile has 128 columns. How many of them does one {NAMES[want[0]]} take?"


@pytest.mark.task(1)
@pytest.mark.parametrize("capability, dtype", SHAPES, ids=[f"{capability} {dtype}" for capability, dtype in SHAPES])
def test_each_generation_has_its_shape_and_k_is_32_bytes(capability, dtype):
    want, got = SHAPES[capability, dtype], lesson.mma_shape(capability, dtype, 128)
    why = wrong_in_shape(capability, dtype, got, want)
    require(why is None, why)
    assert_matches(lesson.mma_shape, capability, dtype, 128, oracle=lambda *call: want)


@pytest.mark.task(1)
@pytest.mark.edge
@pytest.mark.parametrize("tile_n, n", [(16, 16), (256, 256), (512, 256)])
def test_hopper_and_blackwell_take_the_columns_of_the_tile_to_256(tile_n, n):
    for capability, want in (90, (64, n, 16)), (100, (128, n, 16)), (80, (16, 8, 16)):
        shape = lesson.mma_shape(capability, torch.float16, tile_n)
        require(shape == want, f"mma_shape({capability}, torch.float16, {tile_n}) gave {shape}, wanted {want}.\n"
                               "From 90 to 119 n is tile_n, or 256 if less. Which of the two is less here?")


COUNTS = {  # worked out by hand
    "one instruction": ((16, 16, 16), 80, torch.float16, "tf32", 2),
    "along m": ((64, 16, 16), 80, torch.float16, "tf32", 8),
    "along k": ((16, 16, 64), 80, torch.float16, "tf32", 8),
    "the tile of the lesson": ((128, 256, 64), 90, torch.bfloat16, "tf32", 8),
    "twice as wide as an instruction": ((64, 512, 32), 90, torch.float16, "tf32", 4),
    "three products": ((64, 128, 32), 90, torch.float32, "tf32x3", 12),
    "all digits": ((64, 128, 32), 90, torch.float32, "ieee", 0),
    "a word that means nothing for float16": ((64, 128, 32), 90, torch.float16, "ieee", 2),
    "a word that means nothing for FP8": ((128, 128, 64), 100, FP8[0], "tf32x3", 2),
    "no such instruction": ((16, 16, 32), 80, FP8[0], "tf32", 0),
}
WRONG_COUNTS = {  # what they come from
    ("along m", 2): "As if the tile had 16 rows. How many times does m go into 64?",
    ("along k", 2): "As if the tile went 16 along k. How often does k go into 64?",
    ("along k", 4): "As if k were 32 elements. It is 32 bytes: how many of float16?",
    ("the tile of the lesson", 16): "Twice too many: as if n ended at 128, or sides were crossed. m divides tile_m; "
                                    "what does n divide, and which n does mma_shape give?",
    ("the tile of the lesson", 32): "As if n were tile_k, 64. Which side of the tile does mma_shape need?",
    ("three products", 4): "As if tf32x3 were one product, as tf32 is. How many does it add?",
    ("three products", 16): "As if tf32x3 were four products. How many does it add?",
    ("all digits", 4): "ieee keeps all digits of float32. Which instructions does it leave alone?",
    ("a word that means nothing for float16", 0): "Factors of float16 are multiplied as they are. For which type "
                                                  "alone does the word ieee count?",
    ("a word that means nothing for FP8", 6): "As if FP8 were split into three. For which type alone does the word "
                                              "tf32x3 count?",
}


@pytest.mark.task(1)
@pytest.mark.parametrize("name", COUNTS)
def test_counts_the_instructions_of_a_tile(name):
    *call, want = COUNTS[name]
    tile, capability, dtype, precision = call
    of_name = {wrong: text for (case, wrong), text in WRONG_COUNTS.items() if case == name}
    got = lesson.count_mma(*call) if of_name else want  # without words a call that raises is told better below
    gave = f"count_mma({tile}, {capability}, {dtype}, '{precision}') gave {got}, wanted {want}.\n"
    assert_none_of(got, of_name, gave)
    assert_matches(lesson.count_mma, tile, capability, dtype, precision, oracle=lambda *call: want)


# Task 2: who holds what ---------------------------------------------------------------------------

def place(lane, number):
    """Row and column of an element of a fragment of a: the formula of the PTX ISA, which goes the other way."""
    below, right = number // 2 % 2, number // 4
    return lane // 4 + 8 * below, lane % 4 * 2 + number % 2 + 8 * right


def wrong_holders(row, col, lane, number):
    """What of the right lane and number somebody else's answer mistakes, and what to ask."""
    first, below, right = col % 2, row // 8, col // 8
    found = {
        (number, lane): "These are both numbers, the other way round. Which of them is the lane?",
        (lane, first + 4 * below + 2 * right): "The lane is right. Numbers 2 and 3 lie 8 rows below, 4 to 7 lie 8 "
                                               "columns to the right: which of the two counts 2?",
        (lane, 2 * first + below + 4 * right): "The lane is right. Number 1 lies beside number 0, number 2 lies 8 rows "
                                               "below: which of the two counts 1?",
        (lane, first + 2 * below): "The lane is right, and the number that of the element 8 columns before. Where do "
                                   "4 to 7 lie?",
        (lane, first + 4 * right): "The lane is right, and the number that of the element 8 rows above. Where do 2 "
                                   "and 3 lie?",
        (row * 2 + right, col % 8): "Eight neighbours of a row were given to one lane. How many of them has lane 0 "
                                    "in the picture?",
        (row * 4 + col % 8 // 2, number): "Row 8 has the lanes of row 0 again, 0 to 3. What of the row decides?",
        (row % 8 * 4 + col // 2, number): "Column 8 has the lanes of column 0 again. What of the column decides?",
        ((row * 16 + col) % 32, number): "In the picture two columns side by side have one lane. Where is that here?",
        (row % 8 + col % 8 // 2 * 8, number): "Lanes were counted down a column. Which lanes has row 0 of the picture?",
    }
    return {held: words for held, words in found.items() if held != (lane, number)}


@pytest.mark.task(2)
@pytest.mark.parametrize("lane, number", [(0, 0), (0, 1), (1, 0), (4, 0), (0, 2), (0, 4), (31, 7)])
def test_finds_the_lanes_of_the_lessons_picture(lane, number):
    row, col = place(lane, number)
    got = lesson.holder(row, col)
    assert_none_of(got, wrong_holders(row, col, lane, number),
                   f"holder({row}, {col}) gave {got}, wanted {(lane, number)}.\n")
    assert_matches(lesson.holder, *place(lane, number), oracle=lambda row, col: (lane, number))


@pytest.mark.task(2)
def test_each_of_the_256_elements_has_one_lane_and_one_number():
    held = {place(lane, number): (lane, number) for lane in range(32) for number in range(8)}
    for row, col in sorted(held):
        assert_matches(lesson.holder, row, col, oracle=lambda *at: held[at])


# Task 3: one kernel, four sizes of numbers --------------------------------------------------------

@pytest.mark.task(3)
def test_multiplies_two_square_matrices_in_one_tile(rng):
    a, b = small_integers(rng, (32, 32), (32, 32))
    assert_matches(lesson.matmul, a, b, tile=(32, 32), oracle=exact, exact=True)


@pytest.mark.task(3)
@pytest.mark.counters
def test_the_kernel_has_a_program_for_each_tile(rng):
    """Two tiles down, three across."""
    counters = count(lesson.matmul, *small_integers(rng, (32, 32), (32, 96)), tile=SMALL)
    assert len(counters.launches) == 1
    assert counters.launches[0].grid == (2, 3)
    assert counters.library_operations == []


@pytest.mark.task(3)
@pytest.mark.parametrize("m, n, k", [(16, 32, 32), (48, 32, 32), (16, 96, 32), (16, 32, 96), (48, 96, 160)],
                         ids=["one tile", "tiles below", "tiles beside", "steps along k", "all of it"])
def test_multiplies_tiles_of_float32(m, n, k, rng):
    a, b = small_integers(rng, (m, k), (k, n))
    assert_matches(lesson.matmul, a, b, tile=SMALL, oracle=exact, exact=True)


@pytest.mark.task(3)
@pytest.mark.edge
@pytest.mark.parametrize("dtype", [torch.float32, *NARROW], ids=in_id)
@pytest.mark.parametrize("m, n, k", [(1, 1, 1), (15, 33, 31), (17, 31, 129), (5, 7, 0)])
def test_multiplies_any_format_and_shape(m, n, k, dtype, rng):
    a, b = small_integers(rng, (m, k), (k, n), dtype=dtype)
    assert_matches(lesson.matmul, a, b, tile=SMALL, oracle=exact, exact=True)


@pytest.mark.task(3)
@pytest.mark.edge
def test_takes_the_tile_of_the_lesson_if_none_is_given(rng):
    a, b = small_integers(rng, (130, 70), (70, 260), dtype=torch.bfloat16)
    assert_matches(lesson.matmul, a, b, oracle=exact, exact=True)


@pytest.mark.task(3)
@pytest.mark.edge
def test_takes_factors_that_are_stored_column_by_column(rng):
    a, b = small_integers(rng, (70, 20), (40, 70), dtype=torch.float16)
    a, b = a.T, b.T
    assert_matches(lesson.matmul, a, b, tile=SMALL, oracle=exact, exact=True)


@pytest.mark.task(3)
@pytest.mark.counters
def test_a_factor_stored_column_by_column_is_read_as_it_lies(rng):
    """Neither is copied to another order first."""
    a, b = small_integers(rng, (70, 20), (40, 70), dtype=torch.float16)
    counters = count(lesson.matmul, a.T, b.T, tile=SMALL)
    assert counters.library_operations == []


@pytest.mark.task(3)
@pytest.mark.nonfinite
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=in_id)
def test_nan_and_infinity_spread_along_their_row_and_column(dtype):
    a, b = torch.ones(3, 40, device=device), torch.ones(40, 2, device=device)
    a[0, 1], a[2, 0], b[0, 1] = NAN, INF, 0.0
    assert_matches(lesson.matmul, a.to(dtype), b.to(dtype), tile=SMALL, oracle=exact, exact=True)


@pytest.mark.task(3)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=in_id)
def test_a_sum_keeps_the_ones_that_its_factors_type_would_lose(dtype):
    """The first step adds 2048 and 1, the second 1 and 1. Neither 2049 nor 2051 is a number of float16 or bfloat16."""
    a, b = torch.zeros(16, 128, dtype=dtype, device=device), torch.ones(128, 32, dtype=dtype, device=device)
    a[:, 0], a[:, 1], a[:, 64:66] = 2048.0, 1.0, 1.0
    total = lesson.matmul(a, b, tile=SMALL)[0, 0].item()
    why = {2052.0: "2052: 2051 as float16 would round it, once, at the end. What is rounded before it is stored?",
           2050.0: "2050: as if 2049 were rounded to float16 after the first step. Of which type is the sum there?",
           2.0: "2: that of the last step alone. To what should tl.dot add its product?"}
    assert_none_of(total, why)
    assert_matches(lesson.matmul, a, b, tile=SMALL, oracle=exact, exact=True)


@pytest.mark.task(3)
@pytest.mark.parametrize("precision, want", [("tf32", 4096.0), ("tf32x3", 4097.0), ("ieee", 4097.0)])
def test_precision_says_how_many_digits_of_float32_count(precision, want):
    """1 + 1 / 4096 has 13 binary digits, times 4096 it is 4097. TF32 reads 11 of them, and sees 1."""
    a = torch.full((16, 1), 1 + 2.0**-12, device=device)
    b = torch.full((1, 32), 4096.0, device=device)
    seen = lesson.matmul(a, b, precision=precision, tile=SMALL)[0, 0].item()
    all_digits = f"{seen}: all digits count, and 'tf32' was asked for. Which word of tl.dot decides?"
    few_digits = (f"{seen}: 11 digits count, and '{precision}' was asked for. Do both factors arrive at tl.dot as they "
                  "were loaded, and does the word?")
    require(not (want == 4096 and seen == 4097), all_digits)
    require(not (want == 4097 and seen == 4096), few_digits)
    assert_matches(lesson.matmul, a, b, precision=precision, tile=SMALL,
                   oracle=lambda a, b, **kwargs: torch.full((16, 32), want, device=device), exact=True)


@pytest.mark.task(3)
@pytest.mark.tolerance
@pytest.mark.parametrize("dtype, precision", [(torch.float16, "tf32"), (torch.bfloat16, "tf32"),
                                              (torch.float32, "ieee"), (torch.float32, "tf32x3")], ids=in_id)
def test_the_error_of_a_long_sum_is_that_of_float32(dtype, precision, rng):
    """A sum in float16 would be off by a share that grows with the square root of k."""
    a, b = numbers(rng, (32, 1024), (1024, 64), dtype=dtype)
    blind = ("tf32 round trip",) if dtype != torch.float32 else ()
    assert_matches(lesson.matmul, a, b, precision=precision, tile=SMALL, oracle=exact,
                   tolerance=accumulated(torch.float32, 1024).blind_to(*blind))


@pytest.mark.task(3)
def test_divides_by_the_number_that_scale_holds(rng):
    a, b = small_integers(rng, (20, 40), (40, 50))
    scale = torch.tensor([2.0], device=device)

    def matmul_scaled_by_2(a, b):
        return lesson.matmul(a, b, scale=scale, tile=SMALL)

    times = (matmul_scaled_by_2(a, b).norm() / exact(a, b).norm()).item()
    why = {1: "The product came back undivided. Does the kernel get scale?",
           2: "The product came back times 2. scale is that of the factors: what takes it out of a product?"}
    assert_none_of(round(times, 3), why)
    assert_matches(matmul_scaled_by_2, a, b, oracle=lambda a, b: exact(a, b) / 2, exact=True)


@pytest.mark.task(3)
@pytest.mark.counters
@pytest.mark.parametrize("dtype", [torch.float32, *NARROW], ids=in_id)
def test_moves_each_elements_own_bytes_and_nothing_more(dtype, rng):
    """Two tiles down, three across: a is loaded three times, b twice, and the result stored once, in float32."""
    m, n, k = 20, 70, 130
    counters = count(lesson.matmul, *small_integers(rng, (m, k), (k, n), dtype=dtype), tile=SMALL)
    assert counters.library_operations == []
    assert counters.bytes_loaded == dtype.itemsize * (3 * m * k + 2 * k * n)
    assert counters.bytes_stored == 4 * m * n


@pytest.mark.task(3)
@pytest.mark.counters
@pytest.mark.parametrize("dtype", [torch.float32, *NARROW], ids=in_id)
def test_a_step_along_k_is_128_bytes_of_a_row(dtype, rng):
    """One element of k costs the arithmetic of a whole step."""
    counters = count(lesson.matmul, *small_integers(rng, (16, 1), (1, 32), dtype=dtype), tile=SMALL)
    elements, want = counters.flops // (2 * 16 * 32), PER_ROW[dtype]
    products_in_a_step = [line for launch in counters.launches for line in launch.lines if line.kind == "dot"]
    require(elements == want or len(products_in_a_step) < 2, "\n".join(
        [*[f"line {line.line}: {line.source}" for line in products_in_a_step],
         "Each of these lines multiplies all of a step. Which of them does the result need?"]))
    require(elements == want,
            f"k is 1, and its step had the arithmetic of {elements} elements, wanted {want}.\n"
            f"TILE_K counts elements, and STEP is 128 bytes. How many elements of {in_id(dtype)} are that, "
            f"of {dtype.itemsize} byte{'s' * (dtype.itemsize > 1)} each?")


def why_warps(rows, found):
    return (f"A tile of {rows} rows has {rows} / 16 warps: wanted num_warps={rows // 16}, and it is {found}.\n"
            "A launch that does not say gets 4. Which side of the tile decides here?")


@pytest.mark.task(1, 3)
@pytest.mark.compiled
@pytest.mark.parametrize("chip, capability, dtype, precision, word, warps_together", [
    ("a100", 80, torch.float16, "tf32", "mma", 1), ("a100", 80, torch.float32, "tf32", "mma", 1),
    ("a100", 80, torch.float32, "tf32x3", "mma", 1), ("h100", 90, torch.bfloat16, "tf32", "wgmma", 4),
    ("h100", 90, FP8[0], "tf32", "wgmma", 4), ("h100", 90, torch.float32, "tf32x3", "wgmma", 4)],
    ids=["a100 float16", "a100 tf32", "a100 tf32x3", "h100 bfloat16", "h100 e4m3", "h100 tf32x3"])
def test_predicts_the_instructions_in_the_compiled_loop(chip, capability, dtype, precision, word, warps_together, rng):
    """4 warps share a tile of 64 x 128. The code is that of one: of mma it has a fourth, of wgmma all."""
    kernel = kernel_for(rng, chip, dtype, precision)
    predicted = lesson.count_mma((64, 128, PER_ROW[dtype]), capability, dtype, precision)
    words, counted, names = products(kernel)
    shape = "m{}n{}k{}".format(*lesson.mma_shape(capability, dtype, 128))
    in_words = f"Tensor core instructions of this kernel: {names or 'none'}. Which cast or word is in the way?"
    of_shape = f"mma_shape says {shape}, the code has {names}. The types at its end are those that tl.dot got."
    given = {torch.float16: "f16", torch.bfloat16: "bf16", torch.float32: "tf32", FP8[0]: "e4m3"}[dtype]
    of_type = (f"a and b came as {given}, and tl.dot got other types: {names}.\n"
               "Which cast stands between the load and tl.dot?")
    assert words == [word], in_words
    assert all(f".{given}.{given}" in name for name in names.split()), of_type
    assert shape in names, of_shape
    require(kernel.num_warps == 4, why_warps(64, kernel.num_warps))
    assert predicted * warps_together // 4 == counted


@pytest.mark.task(3)
@pytest.mark.compiled
def test_one_kernel_becomes_another_instruction_on_each_generation(rng):
    words = {chip: products(kernel_for(rng, chip, torch.float16))[0] for chip in ("a100", "h100", "b200")}
    assert words == {"a100": ["mma"], "h100": ["wgmma"], "b200": ["tcgen05"]}


@pytest.mark.task(3)
@pytest.mark.compiled
@pytest.mark.parametrize("chip", ["a100", "h100"])
def test_ieee_uses_no_tensor_core(chip, rng):
    words, _, _ = products(kernel_for(rng, chip, torch.float32, "ieee", tile=(16, 16), shape=(16, 16, 64)))
    assert words == []


@pytest.mark.task(3)
@pytest.mark.compiled
def test_factors_go_to_the_tensor_cores_as_they_were_loaded(rng):
    """Three stages of both tiles, 128 bytes along k: in float32 they would take twice the shared memory."""
    kernel = kernel_for(rng, "h100", torch.float16)
    stages, shared_bytes = kernel.num_stages, kernel.shared_bytes
    widened = [name for name in kernel.instructions if name.startswith("cvt.f32")]
    of_stages = "Which word of the launch says how many steps along k are under way at once?"
    assert widened == []
    assert stages == 3, of_stages
    assert shared_bytes == 3 * 128 * (64 + 128)


@pytest.mark.task(3)
@pytest.mark.compiled
@pytest.mark.parametrize("rows, warps", [(16, 1), (32, 2), (256, 16)])
def test_each_16_rows_of_a_tile_have_a_warp(rows, warps, rng):
    kernel = kernel_for(rng, "a100", torch.float16, tile=(rows, 16), shape=(rows, 16, 64))
    require(kernel.num_warps == warps, why_warps(rows, kernel.num_warps))


@pytest.mark.task(3)
@pytest.mark.hopper
@pytest.mark.speed
def test_float16_is_twice_as_fast_as_all_digits_of_float32():
    """Not measured with this kernel yet: the bar is what 43.9 and 600 TFLOPS of like kernels leave room for."""
    a, b = (torch.randn(4096, 4096, device=device) for _ in range(2))
    a16, b16 = a.half(), b.half()

    def in_float16(a, b):
        return lesson.matmul(a16, b16)

    def in_float32(a, b):
        return lesson.matmul(a, b, precision="ieee", tile=(64, 64))

    assert speed_ratio(in_float16, in_float32, a, b) >= 2


# Task 4: FP8 and its scales -----------------------------------------------------------------------

def scaled(x, dtype=FP8[0]):
    largest = {FP8[0]: 448.0, FP8[1]: 57344.0}[dtype]
    scale = largest / x.abs().max().item()
    return (x.cpu() * scale).to(dtype).float(), torch.tensor(scale)


def fp8_as_numbers(x, dtype=FP8[0]):
    """On the CPU. The scale may have any shape of one element, and is given the shape ()."""
    codes, scale = lesson.to_fp8(x, dtype)
    of_host = f"The scale is a {type(scale).__name__} of Python's, on the host. What keeps it a tensor, where x is?"
    assert codes.dtype == dtype, f"to_fp8 gave {codes.dtype}, for dtype={dtype}."
    assert isinstance(scale, torch.Tensor), of_host
    many = f"The scale has {scale.numel()} elements, and x has one scale. Of what was the largest taken?"
    assert scale.numel() == 1, many
    return codes.float().cpu(), scale.cpu().reshape(())


@pytest.mark.task(4)
@pytest.mark.parametrize("dtype", FP8, ids=in_id)
def test_the_largest_becomes_the_last_number_of_the_format(dtype):
    x = torch.tensor([[0.5, -7.0], [3.5, 1.0]], device=device)
    codes, scale = (each.abs().max().item() for each in fp8_as_numbers(x, dtype))
    last = 448 if dtype == FP8[0] else 57344
    why = {
        (448, 64): "The largest became 448, the last number of E4M3. Where does E5M2 end?",
        (last, last / 3.5): f"The scale is {last} / 3.5, as if -7 were less. What is the largest of |x|?",
        (last, 7 / last): f"x was multiplied by {last} / 7, and {7 / last} given back. Which of them is the scale?",
    }
    if codes != last:
        why[codes, 7 / last] = f"The scale is 7 / {last}. What is 7 times it, and what should it be?"
    told = {pair: words for pair, words in why.items() if pair != (last, last / 7)}
    assert_none_of((codes, scale), told)
    assert_matches(fp8_as_numbers, x, dtype, oracle=scaled, exact=True)


@pytest.mark.task(4)
@pytest.mark.edge
def test_zeros_have_a_scale_of_1():
    scale = fp8_as_numbers(torch.zeros(2, 3, device=device))[1].item()
    in_words = f"All of x is 0, and the scale is {scale}, wanted 1. What is chosen where the largest |x| is 0?"
    require(scale == 1 or not 0 <= scale < INF, in_words)
    assert_matches(fp8_as_numbers, torch.zeros(2, 3, device=device),
                   oracle=lambda x: (torch.zeros(2, 3), torch.tensor(1.0)), exact=True)


@pytest.mark.task(4)
@pytest.mark.parametrize("dtype", FP8, ids=in_id)
@pytest.mark.parametrize("size", [2.0**-39, 1.0, 2.0**39])
def test_small_and_large_numbers_multiply_as_well(size, dtype, rng):
    """Powers of two times a power of two: they are exact in FP8, if the range is where it should be."""
    a = size * 2.0 ** torch.from_numpy(integers(rng, (20, 40), -3, 1)).to(device, torch.float32)
    b = 2.0 ** torch.from_numpy(integers(rng, (40, 50), -3, 1)).to(device, torch.float32)

    def product(a, b):
        return lesson.matmul_fp8(a, b, dtype=dtype, tile=SMALL)

    of_a, of_b = (torch.finfo(dtype).max / x.max().item() for x in (a, b))
    times = (product(a, b).double().norm() / exact(a, b).double().norm()).item()
    why = [(0, "All is 0. Is the scale of the larger factor used for the smaller one too?"),
           (of_b, "It is too large by the scale of b. By which two numbers is the sum to be divided?"),
           (of_a, "It is too large by the scale of a. By which two numbers is the sum to be divided?"),
           (of_a * of_b, "It is too large by both scales, as if never divided. What does matmul divide by?"),
           (of_b**2, "It is too large by the scale of b, twice. Is a_scale / b_scale what a product has too much?"),
           ((of_a * of_b)**2, "It is too large by both scales, twice. Which of scale and 1 / scale divides?")]
    told = [words for too_large, words in why if size != 1 and times == pytest.approx(too_large, rel=1e-3)]
    require(not told, f"The product is {times:.3g} times what a @ b is. {told[0] if told else ''}")
    assert_matches(product, a, b, oracle=exact, tolerance=accumulated(torch.float32, 40).blind_to(
        "tf32 round trip", "float16 round trip", "bfloat16 round trip", "float16 accumulation"))


@pytest.mark.task(4)
@pytest.mark.parametrize("dtype", FP8, ids=in_id)
def test_both_factors_have_the_type_that_is_asked_for(dtype):
    """9 / 14 of the largest is 1.125 times a power of two in FP8: E4M3 holds it, and E5M2 makes 1 of it, 8 / 14."""
    a = torch.tensor([[1.0, 0.0], [9 / 14, 0.0]], device=device)
    fourteenths = (14 * lesson.matmul_fp8(a, a.T.contiguous(), dtype=dtype, tile=SMALL)).cpu()
    of_a, of_b = round(fourteenths[1, 0].item(), 3), round(fourteenths[0, 1].item(), 3)
    want = 9 if dtype == FP8[0] else 8
    in_words = (f"For {dtype} 9 / 14 becomes {want} / 14. Of a it became {of_a:g} / 14, of b {of_b:g} / 14.\n"
                "E4M3 keeps 9, E5M2 makes 8 of it. Which of the factors does not get dtype?")
    require((of_a, of_b) == (want, want), in_words)


@pytest.mark.task(4)
@pytest.mark.parametrize("way", ["item", "__float__", "__bool__", "tolist", "cpu"])
def test_no_number_goes_to_the_host(way, monkeypatch):
    """The largest and both scales stay tensors."""
    asked, as_before = [], getattr(torch.Tensor, way)

    def noted(tensor, *args, **kwargs):
        caller = sys._getframe(1)
        source = linecache.getline(caller.f_code.co_filename, caller.f_lineno).strip()
        asked.append(f"line {caller.f_lineno}: {source}")
        return as_before(tensor, *args, **kwargs)

    x = torch.tensor([[0.5, -7.0], [3.5, 1.0]], device=device)
    with monkeypatch.context() as patch:
        patch.setattr(torch.Tensor, way, noted)
        lesson.to_fp8(x)
    require(asked == [], f"{asked[0] if asked else ''}\n"
                         "A number goes from the GPU to the host here, and Python waits. What chooses on the GPU?")


@pytest.mark.task(4)
@pytest.mark.counters
def test_fp8_takes_a_byte_for_each_element(rng):
    """Two tiles down and two across, and each of four programs loads the product of the scales."""
    a, b = numbers(rng, (20, 40), (40, 50))
    counters = count(lesson.matmul_fp8, a, b, tile=SMALL)
    without_scale = 2 * 20 * 40 + 2 * 40 * 50
    unscaled = f"{without_scale} bytes of factors and no scale were loaded. Who divides, and what is read again for it?"
    assert counters.programs == 2 * 2
    assert counters.bytes_loaded != without_scale, unscaled
    assert counters.bytes_loaded == 2 * 20 * 40 + 2 * 40 * 50 + 4 * (2 * 2)


@pytest.mark.task(4)
@pytest.mark.counters
def test_b_is_turned_when_it_has_a_byte_for_each_element(rng):
    """What is alive at the peak, where b lies row by row, beyond what is alive where there is nothing to turn."""
    a, b = numbers(rng, (20, 40), (40, 50))
    wide, not_for_turning = (
        [held for held in memory(lesson.matmul_fp8, a, given, tile=SMALL).at_peak
         if held.shape == (50, 40) and held.bytes > 50 * 40 and held.operation in ("clone", "empty")]
        for given in (b, b.T.contiguous().T))
    turned = wide if len(wide) > len(not_for_turning) else []
    in_words = [f"line {held.line}: {held.source}\n"
                f"b is turned as {held.dtype}, {held.bytes // (50 * 40)} bytes read and written for each element. "
                "When has an element one byte?" for held in turned]
    require(turned == [], "\n".join(in_words[:1]))


@pytest.mark.task(4)
@pytest.mark.counters
def test_both_factors_of_the_kernel_are_bytes_with_neighbours_along_k(rng):
    """With b row by row, each step's tile of b is turned byte by byte: st.shared.b8."""
    kernel = compiled(lesson.matmul_fp8, *numbers(rng, (64, 256), (256, 128)), tile=(64, 128),
                      chip="h100").kernels["dot_kernel"]
    types = kernel.signature["a_ptr"], kernel.signature["b_ptr"]
    of_types = f"The kernel got {types[0]} and {types[1]}, wanted *fp8e4nv twice, E4M3. Which line makes others?"
    along_k = {"a": kernel.constants.get("a_col_stride"), "b": kernel.constants.get("b_row_stride")}
    to_turn = [name for name, stride in along_k.items() if stride != "1"]
    in_words = (f"Along k the stride of {' and '.join(to_turn)} is not 1: "
                "threads turn each of its tiles, byte by byte.\n"
                "Which order does the lesson want of FP8, and of which factor?")
    byte_by_byte = [name for name in kernel.instructions if name.startswith("st.shared.b8")]
    require(types == ("*fp8e4nv", "*fp8e4nv"), of_types)
    require(to_turn == [], in_words)
    assert byte_by_byte == []


@pytest.mark.task(4)
@pytest.mark.hopper
@pytest.mark.speed
def test_fp8_is_faster_than_bfloat16():
    """Not measured yet: the bar is a placeholder below what the library's two products show."""
    a, b = (torch.randn(4096, 4096, device=device) for _ in range(2))
    a16, b16 = a.bfloat16(), b.bfloat16()
    a8, b8 = a.to(FP8[0]), b.T.contiguous().to(FP8[0]).T

    def in_fp8(a, b):
        return lesson.matmul(a8, b8)

    def in_bfloat16(a, b):
        return lesson.matmul(a16, b16)

    assert speed_ratio(in_fp8, in_bfloat16, a, b) >= 1.2


# Task 5: what is lost -----------------------------------------------------------------------------

def share_that_is_off(got, a, b):
    want = a.cpu().double() @ b.cpu().double()
    apart = got.cpu().double() - want
    return ((apart * apart).sum() / (want * want).sum()).sqrt().item()


def rounded_error(a, b, dtype):
    """Of factors that are rounded to dtype, with the scale of FP8, and multiplied in float64."""
    parts = []
    for x in (a.cpu(), b.cpu()):
        codes, scale = scaled(x, dtype) if dtype in FP8 else (x.to(dtype), 1.0)
        parts.append(codes.double() / scale)
    return share_that_is_off(parts[0] @ parts[1], a, b)


@pytest.mark.task(5)
def test_an_error_of_one_per_cent_is_0_01(rng):
    a, b = numbers(rng, (5, 7), (7, 3))

    def relative_error_of_a_product_times_1_01(a, b):
        return lesson.relative_error(1.01 * (a.double() @ b.double()), a, b)

    found = float(relative_error_of_a_product_times_1_01(a, b))
    why = {0.0001: "0.0001 is 0.01 squared. What has a norm besides the sum of squares?",
           1.0: "1 is one per cent, in per cent. What is it as a part of 1?",
           round(0.01 / 1.01, 7): "0.0099 is 0.01 / 1.01, a share of got. Of which of the two should it be a share?"}
    digits = f"{found:.10f}: as if exact had the digits of float32. When do a and b become float64?"
    absolute = f"{found:.3g} is a norm, not a share. By the norm of what is it divided?"
    size = torch.linalg.norm(a.double() @ b.double()).item()
    assert_none_of(round(found, 7), why)
    require(found != pytest.approx(0.01 * size, rel=1e-4), absolute)
    require(not 1e-10 < abs(found - 0.01) < 1e-5, digits)
    assert_matches(relative_error_of_a_product_times_1_01, a, b, oracle=lambda a, b: 0.01)


@pytest.mark.task(5)
def test_errors_count_as_much_as_they_are_large(rng):
    """One element is off. float32 does not hold what the product is, so float64 has to."""
    a, b = numbers(rng, (5, 7), (7, 3))
    got = exact(a, b)
    got[1, 2] += 3.0
    found, want = lesson.relative_error(got, a, b), share_that_is_off(got, a, b)
    apart, size = (each.abs().double() for each in (got - exact(a, b), exact(a, b)))
    why = [
        (apart.max() / size.max(),
         "It is the largest difference by the largest element. Over how many elements does a norm go?"),
        (apart.mean() / size.mean(),
         "It is a mean of differences by a mean of elements. What does a norm do with each before it adds them up?"),
        ((apart / size).max(), "It is the largest share of one element. Two norms are divided: of what is each?"),
        ((apart / size).mean(), "It is a mean of shares. Two norms are divided: of what is each?"),
    ]
    told = [words for mistaken, words in why if found == pytest.approx(mistaken.item(), rel=1e-4)]
    require(not told or found == pytest.approx(want, rel=1e-4),
            f"One of 15 elements is off by 3: {found:.5f}, wanted {want:.5f}.\n{''.join(told[:1])}")
    assert_matches(lesson.relative_error, got, a, b, oracle=share_that_is_off)
    got = lesson.relative_error(exact(a, b), a, b)
    assert got == pytest.approx(share_that_is_off(exact(a, b), a, b), rel=1e-4)


@pytest.mark.task(5)
def test_the_study_has_seven_formats(rng):
    errors = lesson.study(*numbers(rng, (20, 40), (40, 50)))
    names = {"bfloat16", "e4m3", "e5m2", "float16", "ieee", "tf32", "tf32x3"}
    missing, more = sorted(names - {*errors}), sorted({*errors} - names)
    require((missing, more) == ([], []), f"Missing: {missing}, not asked for: {more}. Which of the seven is no key?")


@pytest.mark.task(5)
@pytest.mark.counters
def test_the_study_hands_rounded_factors_to_the_kernel_as_they_are(rng):
    """Any tile covers 16 x 16, so that each launch loads each element once."""
    counters = count(lesson.study, *numbers(rng, (16, 40), (40, 16)))
    bytes_of_one = [launch.counts.bytes_loaded // (2 * 16 * 40) for launch in counters.launches]
    two = bytes_of_one.count(2)
    in_words = f"{two} of the products had factors of 2 bytes, needed 2. What was made of them after they were rounded?"
    require(two == 2, in_words)


@pytest.mark.task(5)
@pytest.mark.tolerance
@pytest.mark.parametrize("k", [64, 1024])
def test_what_is_lost_is_lost_in_the_factors_however_long_k_is(k, rng):
    """Measured by the study, and worked out in float64 from rounded factors. FP8 without a scale ends at 448."""
    a, b = numbers(rng, (32, k), (k, 48))
    a *= 1000
    errors = lesson.study(a, b)
    names = {"float16": torch.float16, "bfloat16": torch.bfloat16, "e4m3": FP8[0], "e5m2": FP8[1]}
    for name, dtype in names.items():
        of_rounding = rounded_error(a, b, dtype)
        off = f"{name}, k = {k}: {errors[name]:.2e} in the study; rounded factors alone make {of_rounding:.2e}."
        of_result = share_that_is_off(exact(a, b).to(dtype), a, b)
        asks = [
            (errors[name] < 1e-5, "The study sees only the error of the sum. Against which a and b was it measured, "
                                  "those before or after rounding?"),
            (errors[name] == pytest.approx(of_result, rel=0.02),
             "It is that of a rounded product. What is to be rounded?"),
            (name == "e5m2" and errors[name] == errors["e4m3"], "It is that of e4m3. Which dtype did matmul_fp8 get?"),
            (dtype in FP8 and not errors[name] < 0.3, "As if there were no scale: numbers end at 448 or 57344. Which "
                                                      "function gives FP8 its scales?"),
        ]
        off = " ".join([off, *[ask for fits, ask in asks if fits][:1]])
        require(errors[name] == pytest.approx(of_rounding, rel=0.1), off)
    same = f"ieee has the error of tf32, {errors['tf32']:.1e}. Which precision did matmul get for it?"
    require(errors["ieee"] != errors["tf32"], same)
    assert 0 < errors["ieee"] < 1e-6
    assert 0 < errors["tf32x3"] < 2e-6
    assert 1e-4 < errors["tf32"] < 1.5e-3


# Task 6: what a format can gain -------------------------------------------------------------------

def slower_of_two(m, n, k, itemsize, rate):
    arithmetic, memory = 2 * m * n * k / rate, (itemsize * m * k + itemsize * k * n + 4 * m * n) / 4.8e12
    return arithmetic if arithmetic > memory else memory


def wrong_seconds(m, n, k, itemsize, rate):
    """What of the right seconds somebody else's answer mistakes, and what to ask."""
    arithmetic, memory = 2 * m * n * k / rate, (itemsize * m * k + itemsize * k * n + 4 * m * n) / 4.8e12
    return [(arithmetic + memory, "It is the sum of both times, and the two go on at once. Which of them decides?"),
            (min(arithmetic, memory), "It is the faster of the two. Which of them has to be waited for?"),
            (max(arithmetic / 2, memory), "As if a multiply-add were one flop. How many are a product and a sum?")]


def found_in(mistakes, got, want):
    """The words of the mistake that gives what was got, for `assert ... not in`."""
    close = [words for value, words in mistakes if got == pytest.approx(value, rel=1e-9)]
    return close[0] if close and got != pytest.approx(want, rel=1e-9) else None


@pytest.mark.task(6)
@pytest.mark.parametrize("itemsize, rate", [(2, 989.4e12), (1, 1978.9e12), (4, 494.7e12), (4, 66.9e12)])
def test_a_large_product_waits_for_arithmetic(itemsize, rate):
    call = 4096, 2048, 8192, itemsize, rate
    got, want = lesson.least_seconds(*call), slower_of_two(*call)
    why = found_in(wrong_seconds(*call), got, want)
    require(why is None, f"least_seconds{call} gave {got:.4g}, wanted {want:.4g}.\n{why}")
    assert_matches(lesson.least_seconds, 4096, 2048, 8192, itemsize, rate, oracle=slower_of_two)


@pytest.mark.task(6)
@pytest.mark.parametrize("itemsize", [4, 2, 1])
def test_factors_move_in_their_own_type_and_the_result_in_float32(itemsize):
    """In bytes: of arithmetic that takes no time, memory's share is left."""
    a, b, result = itemsize * 30 * 70, itemsize * 70 * 50, 4 * 30 * 50
    bytes_moved = round(4.8e12 * lesson.least_seconds(30, 50, 70, itemsize, rate=INF))
    why = {
        a + b + itemsize * 30 * 50: f"As if the result had {itemsize} bytes for each element. In which type is it "
                                    "stored?",
        a + b: "As much as a and b alone. What is stored at the end?",
        a + b + 2 * result: "The result was counted twice. Is it loaded too?",
        a + result: "As if b were not loaded. How many elements has it?",
        b + result: "As if a were not loaded. How many elements has it?",
        4 * (30 * 70 + 70 * 50) + result: "As if a and b had 4 bytes for each element. How many has one of theirs?",
        30 * 70 + 70 * 50 + result: "As if a and b had 1 byte for each element. How many has one of theirs?",
        30 * 70 + 70 * 50 + 30 * 50: "These are the elements of all three. How many bytes has each?",
        8 * (a + b + result): "8 times as much: these are bits. What does BANDWIDTH count?",
        itemsize * 2 * 30 * 50 * 70 + result: "A row and a column for each element of the result. How often is each "
                                              "element of a loaded at least?",
    }
    told = why.get(bytes_moved, "Which of the three is missing, or has another size?")
    require(bytes_moved == a + b + result,
            f"m, n, k = 30, 50, 70, itemsize {itemsize}: {bytes_moved} bytes, wanted {a + b + result}.\n"
            f"a has {a}, b {b}, the result in float32 {result}. {told}")


@pytest.mark.task(6)
@pytest.mark.parametrize("itemsize, rate", [(2, 989.4e12), (1, 1978.9e12), (4, 494.7e12)])
@pytest.mark.parametrize("m, n, k", [(16, 8192, 4096), (8192, 16, 4096), (8192, 4096, 16)])
def test_a_product_with_one_short_side_waits_for_memory(m, n, k, itemsize, rate):
    call = m, n, k, itemsize, rate
    got, want = lesson.least_seconds(*call), slower_of_two(*call)
    why = found_in(wrong_seconds(*call), got, want)
    require(why is None, f"least_seconds{call} gave {got:.4g}, wanted {want:.4g}.\n{why}")
    assert_matches(lesson.least_seconds, m, n, k, itemsize, rate, oracle=slower_of_two)
