"""The lesson again, as checks: what a box moves, what a descriptor may be, a copy and a product by boxes, edges."""

import contextvars
import itertools
import math

import numpy as np
import pytest
import torch

from tools.check import assert_matches, compiled, count, require, speed_ratio, terms
from tools.check.inputs import integers, matrices
from tools.check.tolerances import accumulated
from tools.gpu import device
from week2.day5 import tma as lesson

INF, NAN = float("inf"), float("nan")
MATRIX = {"address": 1024, "shape": (20, 40), "strides": (40, 1), "box": (16, 32), "itemsize": 4}  # the lesson's


def in_rows_of_16_bytes(values, dtype):
    """A tensor of these values. Its rows are far enough apart to begin at multiples of 16 bytes."""
    rows, cols = values.shape
    step = 16 // torch.empty(0, dtype=dtype).element_size()
    wide = torch.full((rows, -(-cols // step) * step), 77, dtype=dtype, device=device)
    wide[:, :cols] = torch.as_tensor(values).to(dtype)
    return wide[:, :cols]


def numbers(rng, *shapes, dtype=torch.float32):
    return [in_rows_of_16_bytes(values, dtype) for values in matrices(rng, *shapes)]


def small_integers(rng, *shapes, dtype=torch.float16):
    """Whole numbers from -2 to 2: float16 holds their products' sums exactly, up to 512 terms."""
    return [in_rows_of_16_bytes(integers(rng, shape, -2, 3), dtype) for shape in shapes]


def require_programs_for_all(counters, x, sides, boxes):
    """What lies in boxes that are cut off was not stored: they got no program, or the kernel does not count them."""
    (m, n), (rows, cols), launched = x.shape, sides, counters.programs
    down, across = -(-m // rows), -(-n // cols)
    stored, in_whole = counters.bytes_stored // x.element_size(), n // cols * cols
    require(stored >= m * n or not 0 < launched < down * across,
            f"{launched} of {down} x {across} {boxes} of {rows} x {cols} got a program:\n"
            f"{m} rows take {down} of them, and {n} columns {across}.\n"
            "Which line counts them, and does it count one that is cut off?")
    require(in_whole == n or launched != down * across or not 0 < stored == m * in_whole,
            f"All {down} x {across} {boxes} of {rows} x {cols} got a program, and no column from {in_whole} on\n"
            f"was stored: {n} columns take {across} of them.\n"
            "How many in a row do the lines count that find row and col?")


def same(x, **box):
    return x.clone()


def product(a, b, **tiles):
    return torch.matmul(a, b)


def exact_product(a, b, **tiles):
    return torch.matmul(a.double(), b.double()).to(a.dtype)


def place_by_place(shape, offset, box, itemsize):
    """Ask each place of the box whether the tensor has it."""
    exist = sum(all(0 <= start + place < length for start, place, length in zip(offset, places, shape))
                for places in itertools.product(*map(range, box)))
    return terms(shared_memory=itemsize * np.prod(box, dtype=int).item()), terms(global_memory=itemsize * exist)


def bulk_copies(kernel):
    """How many instructions of the copy engine stand in the code: loads, stores."""
    names = [name for name, times in kernel.instructions.items() for _ in range(times)]
    bulk = [name for name in names if name.startswith("cp.async.bulk.tensor")]
    loads = [name for name in bulk if ".shared::cta.global" in name or ".shared::cluster.global" in name]
    return len(loads), len(bulk) - len(loads)


def of_global_memory(kernel):
    """Instructions by which threads themselves load from and store to global memory."""
    return [name for name in kernel.instructions if name.startswith(("ld.global", "st.global"))]


# Task 1: what a box takes, and what it moves ------------------------------------------------------

@pytest.mark.task(1)
def test_box_0_of_the_lesson_is_whole_and_box_3_is_cut_off_on_both_sides():
    for offset in [(0, 0), (0, 32), (16, 0), (16, 32)]:
        assert_matches(lesson.box_bytes, (20, 40), offset, (16, 32), 4, oracle=place_by_place)


@pytest.mark.task(1)
@pytest.mark.edge
@pytest.mark.parametrize("offset", [(4, 8), (5, 12), (19, 36), (20, 0), (0, 40), (30, 0), (100, 100)])
def test_a_box_may_begin_anywhere_and_lie_outside(offset):
    axes = zip(("rows", "columns"), (20, 40), offset, (16, 32))
    sides = [(min(start + side, length) - start, f"{length} - {start} of its {name}")
             for name, length, start, side in axes]
    outside, counted = [text for exist, text in sides if exist < 0], 4 * math.prod(exist for exist, _ in sides)
    _, moved = lesson.box_bytes((20, 40), offset, (16, 32), 4)
    require(not outside or moved not in (counted, abs(counted)),
            f"Box {offset} lies outside of x, and {moved} bytes of it were counted: "
            f"{' times '.join(outside)}.\nHow few of them can there be?")
    assert_matches(lesson.box_bytes, (20, 40), offset, (16, 32), 4, oracle=place_by_place)


@pytest.mark.task(1)
@pytest.mark.edge
@pytest.mark.parametrize("offset", [(-1, 0), (0, -8), (-15, -28), (-16, 0), (-3, 16)])
def test_a_box_may_begin_before_the_first_row_or_column(offset):
    """Neighbours above and to the left, as a filter for pictures wants them: zeros at the border."""
    _, moved = lesson.box_bytes((20, 40), offset, (16, 32), 4)
    if_all_were_there = 4 * 16 * min(32, 40 - offset[1])
    require(moved != if_all_were_there,
            f"Box {offset} moves {moved} bytes: as if no place of it lay before x.\n"
            "Which of its rows lie above row 0, which of its columns before column 0?")
    assert_matches(lesson.box_bytes, (20, 40), offset, (16, 32), 4, oracle=place_by_place)


@pytest.mark.task(1)
@pytest.mark.edge
def test_a_box_larger_than_the_tensor_has_two_edges_on_one_axis():
    assert_matches(lesson.box_bytes, (3, 5), (-4, -8), (16, 32), 2, oracle=place_by_place)


@pytest.mark.task(1)
@pytest.mark.parametrize("itemsize", [1, 2, 8])
def test_counts_bytes_of_any_element_along_any_number_of_axes(itemsize):
    assert_matches(lesson.box_bytes, (30,), (16,), (32,), itemsize, oracle=place_by_place)
    assert_matches(lesson.box_bytes, (2, 5, 20), (1, 4, 16), (2, 4, 16), itemsize, oracle=place_by_place)


# Task 2: what a descriptor may be -----------------------------------------------------------------

MISJUDGED = {  # in which case, and what came back: what it comes from
    ("one axis", "stride"): "strides is (1,), and the only stride is the last, which rule 5 judges. "
                            "Which strides does rule 6 leave out?",
    ("16 bytes", "stride"): "The stride is 40, in elements, and an element has 4 bytes. "
                            "How many bytes is that, and is it a multiple of 16?",
    ("16 bytes", "box row"): "A row of the box is 4 elements, and an element has 4 bytes. "
                             "How many bytes is that, and is it a multiple of 16?",
    ("the lesson's", "box side"): "The sides of the box are 16 and 32: both are from 1 to 256. "
                                  "Of what was more than 256 counted?",
    ("complex numbers of 16 bytes", ""): "An element has 16 bytes here. Which four sizes does rule 2 allow?",
    ("begins 4 bytes later", ""): "The address is 1028, in bytes: a multiple of 4, and not of 16. "
                                  "By what was it divided, or multiplied before?",
    ("begins 16 bytes later", "address"): "The address is 1040 = 65 * 16. Which multiple does rule 3 ask for?",
    ("column by column", "stride"): "strides is (1, 20), which breaks rules 5 and 6. Which of them comes first?",
    ("matrices 3224 bytes apart", ""): "strides is (806, 40, 1), and 806 * 4 = 3224 is no multiple of 16. "
                                       "How many of the strides does rule 6 judge?",
    ("5 columns in rows of 32 bytes", "stride"): "A row has 5 columns, 20 bytes; the next row begins 32 bytes later. "
                                                 "Which of the two is the stride?",
    ("5 columns in rows of 32 bytes", "box side"): "The box has 32 columns, x only 5: 27 of its columns do not exist. "
                                                   "Which rule would forbid that?",
    ("rows of 176 bytes", "stride"): "Rows of 160 bytes begin 176 bytes apart, a multiple of 16. "
                                     "Which rule forbids what lies between them?",
    ("boxes of 256 rows", "box side"): "The longest side is 256 elements. Up to which number does rule 7 go, "
                                       "and of elements or of bytes?",
    ("boxes of 8 bytes a row", ""): "A box of 16 x 2: the last side is 2 elements, 8 bytes. "
                                    "Which side did the last rule judge?",
    ("boxes of 24 bytes a row", ""): "A row of the box has 6 * 4 = 24 bytes: more than 16, and no multiple. "
                                     "What does rule 8 ask for?",
    ("element and address", "address"): "An element has 3 bytes here. Which four sizes does rule 2 allow?",
}


def assert_judged(case, change, rule):
    """The lesson's matrix with one thing changed."""
    said = lesson.broken_rule(**MATRIX | change)
    known = isinstance(said, str) and MISJUDGED.get((case, said))
    require(not known, f"broken_rule says {said!r}, wanted {rule!r}.\n{known}")
    assert_matches(lesson.broken_rule, **MATRIX | change, oracle=lambda **descriptor: rule)


@pytest.mark.task(2)
def test_the_last_stride_is_1_and_no_multiple_of_16_bytes():
    """40 float32 in a row: of one axis the only stride is the last."""
    assert_judged("one axis", {"shape": (40,), "strides": (1,), "box": (32,)}, "")


@pytest.mark.task(2)
def test_a_stride_of_40_elements_of_4_bytes_is_a_multiple_of_16_bytes():
    assert_judged("16 bytes", {"box": (1, 4)}, "")


@pytest.mark.task(2)
def test_the_matrix_of_the_lesson_is_legal():
    assert_judged("the lesson's", {}, "")


BROKEN = {
    "six axes": ("rank", {
        "shape": (1, 1, 1, 1, 20, 40), "strides": (800, 800, 800, 800, 40, 1), "box": (1, 1, 1, 1, 16, 32)}),
    "no axis": ("rank", {"shape": (), "strides": (), "box": ()}),
    "complex numbers of 16 bytes": ("element", {"itemsize": 16, "box": (16, 16)}),
    "begins 4 bytes later": ("address", {"address": 1028}),
    "begins 8 bytes later": ("address", {"address": 1032}),
    "no rows": ("shape", {"shape": (0, 40)}),
    "no columns": ("shape", {"shape": (20, 0)}),
    "every second column": ("last stride", {"strides": (40, 2)}),
    "column by column": ("last stride", {"strides": (1, 20)}),
    "rows of 24 bytes": ("stride", {"shape": (20, 6), "strides": (6, 1)}),
    "matrices 3224 bytes apart": ("stride", {"shape": (2, 20, 40), "strides": (806, 40, 1), "box": (1, 16, 32)}),
    "boxes of 512 rows": ("box side", {"box": (512, 32)}),
    "boxes of 257 rows": ("box side", {"box": (257, 32)}),
    "boxes of 512 columns": ("box side", {"box": (16, 512)}),
    "boxes without rows": ("box side", {"box": (0, 32)}),
    "boxes of 8 bytes a row": ("box row", {"box": (16, 2)}),
    "boxes of 24 bytes a row": ("box row", {"box": (16, 6)}),
}
LEGAL = {
    "begins 16 bytes later": {"address": 1040},
    "5 columns in rows of 32 bytes": {"shape": (20, 5), "strides": (8, 1)},
    "rows of 176 bytes": {"strides": (44, 1)},
    "one element": {"shape": (1, 1)},
    "boxes of 256 rows": {"box": (256, 32)},
    "boxes of 256 columns": {"box": (16, 256)},
    "boxes of 16 bytes": {"box": (1, 4)},
    "bytes": {"itemsize": 1, "strides": (48, 1), "box": (16, 16)},
    "elements of 2 bytes": {"itemsize": 2, "box": (16, 8)},
    "elements of 8 bytes": {"itemsize": 8, "box": (16, 2)},
    "one axis": {"shape": (40,), "strides": (1,), "box": (32,)},
    "five axes": {"shape": (1, 1, 1, 20, 40), "strides": (800, 800, 800, 40, 1), "box": (1, 1, 1, 16, 32)},
}
BROKEN_TWICE = {
    "rank and shape": ("rank", {
        "shape": (1, 1, 1, 1, 20, 0), "strides": (800, 800, 800, 800, 40, 1), "box": (1, 1, 1, 1, 16, 32)}),
    "element and address": ("element", {"itemsize": 3, "address": 1028}),
    "address and shape": ("address", {"address": 1028, "shape": (0, 40)}),
    "shape and last stride": ("shape", {"shape": (20, 0), "strides": (40, 2)}),
    "last stride and stride": ("last stride", {"strides": (6, 2)}),
    "stride and box side": ("stride", {"strides": (41, 1), "box": (16, 512)}),
    "box side and box row": ("box side", {"box": (512, 2)}),
}


@pytest.mark.task(2)
@pytest.mark.parametrize("case", BROKEN)
def test_names_the_one_rule_that_is_broken(case):
    rule, change = BROKEN[case]
    assert_judged(case, change, rule)


@pytest.mark.task(2)
@pytest.mark.edge
@pytest.mark.parametrize("case", LEGAL)
def test_a_descriptor_that_only_just_keeps_the_rules_is_legal(case):
    assert_judged(case, LEGAL[case], "")


@pytest.mark.task(2)
@pytest.mark.edge
@pytest.mark.parametrize("case", BROKEN_TWICE)
def test_of_two_broken_rules_it_names_the_first(case):
    rule, change = BROKEN_TWICE[case]
    assert_judged(case, change, rule)


VIEWS = {
    "x": (True, lambda x: x),
    "x[:, 4:]": (True, lambda x: x[:, 4:]),
    "x[:, :5]": (True, lambda x: x[:, :5]),
    "x[::2]": (True, lambda x: x[::2]),
    "x.T": (False, lambda x: x.T),
    "x[:, 1:]": (False, lambda x: x[:, 1:]),
    "x[:, ::2]": (False, lambda x: x[:, ::2]),
    "x.view(80, 10)": (False, lambda x: x.view(80, 10)),
}


@pytest.mark.task(2)
@pytest.mark.parametrize("legal, view", VIEWS.values(), ids=VIEWS)
def test_tensors_of_pytorch_are_judged_by_your_rules(legal, view):
    """x is the lesson's matrix."""
    x = view(torch.zeros(20, 40, device=device))
    assert lesson.descriptor_is_legal(x, (16, 32)) == legal


# Task 3: a box in, the same box out ---------------------------------------------------------------

def why_contiguous(names):
    return (f"{names} came with rows that begin 64 elements apart: a legal stride.\n"
            "contiguous() copies all of it beforehand. Which rule asks for that?")


WHY_COPIED = ("torch.Tensor.copy_ moved all elements, and so did your kernel.\n"
              "Where should the kernel load from, and store to, so that one of them is enough?")


@pytest.mark.task(3)
def test_copies_one_whole_box(rng):
    assert_matches(lesson.copy, *numbers(rng, (16, 32)), box=(16, 32), oracle=same, exact=True)


@pytest.mark.task(3)
def test_copies_boxes_that_lie_below_each_other(rng):
    assert_matches(lesson.copy, *numbers(rng, (48, 32)), box=(16, 32), oracle=same, exact=True)


@pytest.mark.task(3)
def test_copies_the_four_boxes_of_the_lesson(rng):
    x, = numbers(rng, (20, 40))
    require_programs_for_all(count(lesson.copy, x, box=(16, 32)), x, (16, 32), "boxes")
    assert_matches(lesson.copy, x, box=(16, 32), oracle=same, exact=True)


@pytest.mark.task(3)
@pytest.mark.edge
@pytest.mark.parametrize("m, n", [(1, 4), (15, 28), (17, 36), (47, 32), (16, 100)])
def test_copies_what_exists_of_boxes_that_are_cut_off(m, n, rng):
    assert_matches(lesson.copy, *numbers(rng, (m, n)), box=(16, 32), oracle=same, exact=True)


@pytest.mark.task(3)
@pytest.mark.edge
@pytest.mark.parametrize("m, n", [(0, 8), (3, 0)])
def test_copies_nothing_of_a_matrix_without_elements(m, n):
    x = torch.zeros(m, 8, device=device)[:, :n]
    assert_matches(lesson.copy, x, box=(16, 32), oracle=same, exact=True)


@pytest.mark.task(3)
@pytest.mark.counters
def test_copies_legal_rows_from_where_they_are(rng):
    """x has 40 of 64 columns, the lesson's legal rows. Nothing moves them before the launch, or after it."""
    wide, = numbers(rng, (20, 64))
    counters = count(lesson.copy, wide[:, :40], box=(16, 32))
    programs, operations = counters.programs, counters.library_operations
    assert "torch.Tensor.contiguous" not in operations, why_contiguous("x")
    assert "torch.Tensor.copy_" not in operations or programs == 0, WHY_COPIED
    assert counters.library_operations == []


@pytest.mark.task(3)
@pytest.mark.edge
@pytest.mark.parametrize("m, n", [(1, 1), (5, 31), (37, 33)])
def test_copies_any_number_of_columns_if_rows_begin_at_16_bytes(m, n, rng):
    """The result's rows begin there too; what lies between them is not touched."""
    def copy_padded(x):
        return lesson.copy(x, box=(16, 32))

    assert_matches(copy_padded, *numbers(rng, (m, n)), oracle=same, exact=True)


@pytest.mark.task(3)
@pytest.mark.edge
@pytest.mark.parametrize("dtype, n", [(torch.uint8, 80), (torch.bfloat16, 40), (torch.float64, 34)])
def test_copies_elements_of_any_size(dtype, n, rng):
    x, = small_integers(rng, (20, n), dtype=dtype)
    assert_matches(lesson.copy, x.abs() if dtype == torch.uint8 else x, box=(16, 16), oracle=same, exact=True)


@pytest.mark.task(3)
@pytest.mark.nonfinite
def test_copies_nan_and_infinity():
    x = torch.tensor([[NAN, 1.0, INF, -INF], [0.0, -0.0, 2.0, NAN]], device=device)
    assert_matches(lesson.copy, x, box=(16, 32), oracle=same, exact=True)


@pytest.mark.task(3)
@pytest.mark.counters
def test_copy_is_your_kernel_one_program_for_each_box(rng):
    counters = count(lesson.copy, *numbers(rng, (20, 100)), box=(16, 32))
    assert counters.library_operations == []
    assert counters.programs == 2 * 4
    assert counters.launches[0].grid == (8,)

    launched = count(lesson.copy, *numbers(rng, (32, 128)), box=(16, 32)).programs
    why = (f"32 x 128 are 2 x 4 boxes of 16 x 32, and {launched} programs were launched.\n"
           "Which of them have a box that lies outside altogether? Which line counts it?")
    assert launched == 8, why


@pytest.mark.task(1, 3)
@pytest.mark.counters
@pytest.mark.parametrize("m, n", [(16, 32), (20, 40), (37, 100)])
def test_predicts_the_bytes_that_boxes_move(m, n, rng):
    offsets = itertools.product(range(0, m, 16), range(0, n, 32))
    predicted = sum(lesson.box_bytes((m, n), offset, (16, 32), 4)[1] for offset in offsets)
    counters = count(lesson.copy, *numbers(rng, (m, n)), box=(16, 32))
    assert predicted == counters.bytes_loaded
    assert predicted == counters.bytes_stored


@pytest.mark.task(3)
@pytest.mark.compiled
def test_the_copy_engine_moves_the_boxes_on_hopper_and_threads_do_before(rng):
    """cp.async.bulk.tensor is its instruction in PTX: to shared memory, and from there. An A100 has none."""
    kernels = compiled(lesson.copy, *numbers(rng, (64, 128)), box=(64, 32), chip=("h100", "a100"))
    hopper, ampere = (kernels[chip].kernels["copy_kernel"] for chip in ("h100", "a100"))
    loads_and_stores_by_engine, by_threads = bulk_copies(hopper), of_global_memory(hopper)
    assert loads_and_stores_by_engine == (1, 1)
    assert by_threads == []
    assert bulk_copies(ampere) == (0, 0)
    assert of_global_memory(ampere) != []


@pytest.mark.task(3)
@pytest.mark.compiled
def test_no_thread_of_the_copy_holds_elements_or_addresses(rng):
    """64 x 64 elements over 128 threads would be 32 registers each, and their addresses more."""
    kernel = compiled(lesson.copy, *numbers(rng, (128, 128)), box=(64, 64), chip="h100").kernels["copy_kernel"]
    registers, spills = kernel.registers, kernel.spills
    assert registers < 32
    assert spills == 0


@pytest.mark.task(3)
@pytest.mark.compiled
def test_the_host_has_made_the_descriptors_of_the_copy(rng):
    """A program that makes one writes it field by field: tensormap.replace."""
    kernels = compiled(lesson.copy, *numbers(rng, (64, 64)), box=(16, 32), chip="h100").kernels
    fields_written = [name for kernel in kernels for name in kernel.instructions if name.startswith("tensormap")]
    assert fields_written == []


@pytest.mark.task(1, 3)
@pytest.mark.compiled
@pytest.mark.parametrize("box", [(16, 32), (64, 32)])
def test_predicts_the_shared_memory_that_a_box_takes(box, rng):
    """Beside the box only a barrier of a few bytes has a place there, by which the engine says that it is done."""
    predicted, _ = lesson.box_bytes((100, 40), (0, 0), box, 4)
    shared_bytes = compiled(lesson.copy, *numbers(rng, (100, 40)), box=box,
                            chip="h100").kernels["copy_kernel"].shared_bytes
    assert predicted <= shared_bytes <= predicted + 128


@pytest.mark.task(3)
@pytest.mark.hopper
@pytest.mark.speed
def test_copy_reaches_most_of_the_bandwidth_of_a_plain_copy():
    x = torch.arange(2**28, dtype=torch.float32, device=device).view(2**14, 2**14)
    assert speed_ratio(lesson.copy, torch.clone, x) >= 0.8  # the reference on an H200: 0.91


# Task 4: the product of boxes ---------------------------------------------------------------------

SMALL = {"tile_m": 16, "tile_n": 64, "tile_k": 32}


def assert_multiplies(rng, *, m, n, k):
    """A tile of the result is 16 x 64, a step along k is 32."""
    a, b = small_integers(rng, (m, k), (k, n))
    assert_matches(lesson.matmul, a, b, **SMALL, oracle=exact_product, exact=True)


def assert_loads_what_exists(rng, *, m, n, asks):
    """Each tile of the result needs 32 of k from its rows of a, and from its columns of b: all of them exist."""
    counters = count(lesson.matmul, *small_integers(rng, (m, 32), (32, n)), **SMALL)
    tiles, loaded, stored = m // 16 * n // 64, counters.bytes_loaded // 2, counters.bytes_stored // 2
    needed = tiles * (16 + 64) * 32
    why = (f"{tiles} tiles need {needed} elements of a and b, and {loaded} were loaded: of what\n"
           f"lies outside there are zeros. a is {m} x 32, b is 32 x {n}.\n{asks}")
    assert loaded >= needed or stored < m * n, why


def matmul_padded(a, b):
    return lesson.matmul(a, b, **SMALL)


@pytest.mark.task(4)
def test_multiplies_one_whole_tile(rng):
    assert_multiplies(rng, m=16, n=64, k=32)


@pytest.mark.task(4)
def test_multiplies_tiles_that_lie_beside_each_other(rng):
    assert_loads_what_exists(rng, m=16, n=128, asks="At which row and column of b does the box of program 1 begin?")
    assert_multiplies(rng, m=16, n=128, k=32)


@pytest.mark.task(4)
def test_multiplies_tiles_that_lie_below_each_other(rng):
    assert_loads_what_exists(rng, m=48, n=64, asks="At which row and column of a does the box of program 1 begin?")
    assert_multiplies(rng, m=48, n=64, k=32)


@pytest.mark.task(4)
def test_adds_up_box_after_box_of_k(rng):
    assert_multiplies(rng, m=16, n=64, k=96)


@pytest.mark.task(4)
def test_multiplies_many_tiles_in_many_steps(rng):
    assert_multiplies(rng, m=48, n=128, k=96)


@pytest.mark.task(4)
@pytest.mark.edge
@pytest.mark.parametrize("m, n, k", [(1, 8, 40), (15, 56, 24), (17, 72, 40), (37, 136, 104), (0, 8, 8), (8, 0, 8)])
def test_takes_any_shape_without_a_mask(m, n, k, rng):
    """Beyond the last column of a and the last row of b there are zeros, which add nothing."""
    a, b = small_integers(rng, (m, k), (k, n))
    require_programs_for_all(count(lesson.matmul, a, b, **SMALL), torch.empty(m, n, dtype=a.dtype), (16, 64), "tiles")
    assert_multiplies(rng, m=m, n=n, k=k)


@pytest.mark.task(4)
@pytest.mark.counters
def test_multiplies_legal_rows_from_where_they_are(rng):
    """a and b have 40 of 64 columns."""
    a, b = small_integers(rng, (16, 64), (40, 64))
    counters = count(lesson.matmul, a[:, :40], b[:, :40], **SMALL)
    programs, operations = counters.programs, counters.library_operations
    assert "torch.Tensor.contiguous" not in operations, why_contiguous("a and b")
    assert "torch.Tensor.copy_" not in operations or programs == 0, WHY_COPIED
    assert counters.library_operations == []


@pytest.mark.task(4)
@pytest.mark.edge
@pytest.mark.parametrize("m, n, k", [(5, 31, 33), (1, 1, 1), (33, 67, 41)])
def test_takes_any_number_of_columns_if_rows_begin_at_16_bytes(m, n, k, rng):
    assert_matches(matmul_padded, *small_integers(rng, (m, k), (k, n)), oracle=exact_product, exact=True)


@pytest.mark.task(4)
@pytest.mark.edge
def test_takes_the_tiles_of_the_lesson_if_none_are_given(rng):
    a, b = small_integers(rng, (136, 72), (72, 264))
    assert_matches(lesson.matmul, a, b, oracle=exact_product, exact=True)


@pytest.mark.task(4)
@pytest.mark.nonfinite
def test_nan_and_infinity_spread_along_their_row_and_column():
    a, b = torch.ones(3, 40), torch.ones(40, 2)
    a[:, :2] = torch.tensor([[1.0, NAN], [2.0, 3.0], [INF, 1.0]])
    b[:2] = torch.tensor([[1.0, 0.0], [-INF, 2.0]])

    a, b = (in_rows_of_16_bytes(values, torch.float16) for values in (a, b))
    assert_matches(matmul_padded, a, b, oracle=exact_product, exact=True)


@pytest.mark.task(4)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_rounds_the_sum_and_no_part_of_it(dtype):
    """The first step of k adds 2048 and 0 to 63, the second takes the 2048 away. Neither type can hold 2049."""
    a, b = torch.zeros(16, 32), torch.zeros(32, 64)
    a[:, 0], a[:, 1], a[:, 16] = 1.0, 1.0, -1.0
    b[0], b[1], b[16] = 2048.0, torch.arange(64.0), 2048.0
    a, b = (in_rows_of_16_bytes(values, dtype) for values in (a, b))
    tiles = {"tile_m": 16, "tile_n": 64, "tile_k": 16}
    rounded_after_the_first_step = (2048 + torch.arange(64.0)).to(dtype) - 2048
    require(not torch.equal(lesson.matmul(a, b, **tiles)[0].cpu(), rounded_after_the_first_step),
            f"The sum was rounded to {dtype} after the first step of k: 2048 + 1 became 2048.\n"
            "In which type should acc add up, and when is it rounded?")
    assert_matches(lesson.matmul, a, b, **tiles, oracle=exact_product, exact=True)


@pytest.mark.task(4)
@pytest.mark.parametrize("dtype, other, factor", [
    (torch.bfloat16, torch.float16, 64.0), (torch.float16, torch.bfloat16, 1.0625)])
def test_the_sum_becomes_an_element_of_out_and_of_no_other_type(dtype, other, factor):
    """32 products each: 131072 is more than float16 can hold, 36.125 has a digit more than bfloat16."""
    a, b = (in_rows_of_16_bytes(torch.full(shape, factor), dtype) for shape in ((16, 32), (32, 64)))
    wanted, found = 32 * factor**2, lesson.matmul(a, b, **SMALL)[0, 0].item()
    through_the_other = torch.tensor(wanted).to(other).item()
    require(found != through_the_other,
            f"{factor:g} * {factor:g}, 32 times, is {wanted:.6g}: {dtype} holds it, and {other} does not.\n"
            f"{found:g} came back. Which type has out, and through which type does acc go on its way?")
    assert_matches(lesson.matmul, a, b, **SMALL, oracle=exact_product, exact=True)


@pytest.mark.task(4)
@pytest.mark.tolerance
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_sums_in_float32_and_rounds_once(dtype, rng):
    a, b = numbers(rng, (32, 1024), (1024, 64), dtype=dtype)
    assert_matches(lesson.matmul, a, b, tile_m=32, tile_n=64, tile_k=16, oracle=product,
                   tolerance=accumulated(dtype, 1024))


@pytest.mark.task(4)
@pytest.mark.counters
def test_matmul_is_your_kernel_one_program_for_each_tile(rng):
    counters = count(lesson.matmul, *small_integers(rng, (40, 32), (32, 200)), **SMALL)
    assert counters.library_operations == []
    assert counters.programs == 3 * 4
    assert counters.launches[0].grid == (12,)

    launched = count(lesson.matmul, *small_integers(rng, (32, 32), (32, 128)), **SMALL).programs
    why = (f"32 x 128 are 2 x 2 tiles of 16 x 64, and {launched} programs were launched.\n"
           "Which of them have a tile that lies outside altogether? Which line counts it?")
    assert launched == 4, why


@pytest.mark.task(4)
@pytest.mark.counters
@pytest.mark.parametrize("k", [96, 104])
def test_loads_each_box_once_and_stores_the_result_once(k, rng):
    """One program. 96 is three steps along k, 104 three and the rest."""
    counters = count(lesson.matmul, *small_integers(rng, (16, k), (k, 64)), **SMALL)
    assert counters.bytes_loaded == 2 * (16 * k + k * 64)
    assert counters.bytes_stored == 2 * 16 * 64


@pytest.mark.task(4)
@pytest.mark.counters
@pytest.mark.parametrize("tile_k, padded", [(16, 48), (32, 64), (64, 64)])
def test_takes_steps_of_tile_k(tile_k, padded, rng):
    """Of the last step the 40 elements of k fill a part; it costs as much arithmetic as a whole one."""
    for k, whole in (64, 64), (40, padded):
        counters = count(lesson.matmul, *small_integers(rng, (16, k), (k, 32)), tile_m=16, tile_n=32, tile_k=tile_k)
        steps, wanted = counters.flops // (2 * 16 * 32 * tile_k), whole // tile_k
        require(steps != wanted + 1,
                f"k is {k} and TILE_K is {tile_k}: steps multiplied: {steps}, wanted {wanted}. The last one lies\n"
                "beyond the end of k, zeros by zeros. At which k should the loop end?")
        assert counters.flops == 2 * 16 * 32 * whole


@pytest.mark.task(4)
@pytest.mark.counters
def test_converts_nothing_but_the_result(rng):
    """tl.dot takes float16 and bfloat16 as they are."""
    counters = count(lesson.matmul, *small_integers(rng, (16, 32), (32, 64)), **SMALL)
    assert counters.conversions == 16 * 64
    assert counters.float64 == 0


@pytest.mark.task(4)
@pytest.mark.compiled
def test_eight_warps_multiply_while_three_stages_arrive(rng):
    """A box of a is 128 x 64, one of b 64 x 256, both of two bytes an element: 48 KiB a stage."""
    a, b = numbers(rng, (256, 256), (256, 512), dtype=torch.bfloat16)
    kernel = compiled(lesson.matmul, a, b, chip="h100").kernels["matmul_kernel"]
    warps, stages, shared_bytes = kernel.num_warps, kernel.num_stages, kernel.shared_bytes
    of_warps = f"The launch of matmul_kernel names {warps} warps (num_warps), or none, which is 4."
    of_stages = f"The launch of matmul_kernel names {stages} as num_stages."
    assert warps == 8, of_warps
    assert stages == 3, of_stages
    needed = 3 * 2 * (128 * 64 + 64 * 256)
    require(shared_bytes >= needed,
            f"num_stages is 3, and the kernel has {shared_bytes} bytes of shared memory: three boxes each of a and b "
            f"take {needed}.\n"
            "Only a `for ... in range(...)` without a num_stages of its own gets them. Which loop is yours?")


@pytest.mark.task(4)
@pytest.mark.compiled
def test_the_copy_engine_feeds_the_tensor_cores(rng):
    """wgmma is their instruction on Hopper: it takes both factors from shared memory."""
    a, b = numbers(rng, (256, 256), (256, 512), dtype=torch.bfloat16)
    kernel = compiled(lesson.matmul, a, b, chip="h100").kernels["matmul_kernel"]
    loads_by_engine, stores_by_engine = bulk_copies(kernel)
    by_threads, spills = of_global_memory(kernel), kernel.spills
    products = [name for name in kernel.instructions if name.startswith("wgmma.mma_async")]
    assert loads_by_engine >= 2
    assert stores_by_engine >= 1
    assert by_threads == []
    assert products != []
    assert spills == 0


@pytest.mark.task(4)
@pytest.mark.hopper
@pytest.mark.speed
def test_matmul_comes_within_sight_of_the_library():
    a, b = (torch.randn(4096, 4096, device=device).to(torch.bfloat16) for _ in range(2))
    assert speed_ratio(lesson.matmul, torch.matmul, a, b) >= 0.8  # 0.96 on an H200 with programs in another order


# Task 5: a descriptor for each sequence -----------------------------------------------------------

def padded_one_by_one(x, starts, longest):
    out = x.new_zeros(len(starts) - 1, longest, x.shape[1])
    for number, (first, end) in enumerate(itertools.pairwise(starts.tolist())):
        out[number, :end - first] = x[first:end]
    return out


def beginnings(*lengths):
    return torch.tensor([0, *itertools.accumulate(lengths)], dtype=torch.int32, device=device)


def assert_takes_its_rows(x, lengths, longest):
    """Each sequence has as many rows of x as it is long, or a number that no known mistake gives."""
    starts = [0, *itertools.accumulate(lengths)]
    result = lesson.pad_sequences(x, beginnings(*lengths), longest)
    taken = [sum(torch.equal(row, x[start + i]) for i, row in enumerate(rows))
             for start, rows in zip(starts, result)]
    mistaken = {
        tuple(min(end, longest) for end in starts[1:]): "the row at which each ends",
        tuple(length - 1 for length in lengths): "one less than there are",
        tuple(min(start, longest) for start in starts[:-1]): "the row at which each begins",
    }
    told = mistaken.get(tuple(taken)) if taken != [*lengths] else None
    require(not told, f"Sequences of {lengths} rows got {taken}: {told}.\n"
                      f"starts is {starts}. Which two of its numbers make a length?")
    width = x.shape[1]
    cut = lengths[0] < width and result[0, 0].tolist() == [*x[0, :lengths[0]].tolist(), *[0.0] * (width - lengths[0])]
    require(not cut, f"[0, 0] of the result holds {lengths[0]} of the {width} numbers of its row, and zeros.\n"
                     "Which number of x_desc's shape counts rows, and which columns?")


@pytest.mark.task(5)
def test_a_sequence_ends_where_the_next_one_begins():
    """Sequences of 2 and 4 rows, each in 4 rows of the result: two rows of zeros in the first. x has rows to spare."""
    x, starts = torch.arange(1.0, 97.0, device=device).view(24, 4), beginnings(2, 4)
    counters = count(lesson.pad_sequences, x, starts, 4)
    programs, stored, fills = counters.programs, counters.bytes_stored // 16, counters.library_fills
    require(stored == 8 or programs == 0 or not fills,
            f"{', '.join(fills)} wrote zeros to all 2 x 4 rows, and the kernel stored {stored} of them again.\n"
            "The box of x brings zeros along. How many rows must out_desc have to take them?")
    why = (f"The result has 2 x 4 rows, and {stored} were stored: a store drops what\n"
           "out_desc does not have. How many rows should it have for a sequence of 2?")
    assert stored == 8 or programs == 0, why

    assert_takes_its_rows(x, (2, 4), 4)
    below = lesson.pad_sequences(x, starts, 4)[0, 2].tolist()
    why = (f"[0, 2] of the result holds {below[0]:g} and so on: row 2 of x, which is the first of\n"
           "sequence 1. Sequence 0 has rows 0 and 1. How many rows has x for its descriptor?")
    assert below != x[2].tolist(), why
    assert_matches(lesson.pad_sequences, x, starts, 4, oracle=padded_one_by_one, exact=True)


@pytest.mark.task(5)
def test_the_last_sequence_ends_too():
    x = torch.arange(1.0, 97.0, device=device).view(24, 4)
    assert_takes_its_rows(x, (3, 2, 1), 4)
    assert_matches(lesson.pad_sequences, x, beginnings(3, 2, 1), 4, oracle=padded_one_by_one, exact=True)


@pytest.mark.task(5)
@pytest.mark.counters
def test_rows_of_the_next_sequence_are_not_loaded(rng):
    """Sequences of 2 and 4 rows. A row of x is 128 bytes, all numbers of starts are fewer."""
    x, = numbers(rng, (24, 32))
    assert_matches(lesson.pad_sequences, x, beginnings(2, 4), 4, oracle=padded_one_by_one, exact=True)
    counters = count(lesson.pad_sequences, x, beginnings(2, 4), 4)
    programs, rows = counters.programs, counters.bytes_loaded // 128
    require(rows == 6 or programs == 0,
            f"Sequences of 2 and 4 rows are 6 rows of x, and {rows} were loaded.\n"
            "The engine believes x_desc: a mask or tl.where after the load is too late.\n"
            "How many rows does x_desc say that there are, for the sequence of 2?")


@pytest.mark.task(5)
@pytest.mark.edge
@pytest.mark.parametrize("lengths, longest, n", [
    ((1,), 1, 4), ((16,), 16, 32), ((1, 1, 1), 20, 36), ((17, 15, 33, 2), 33, 68), ((5, 40), 64, 8)])
def test_pads_sequences_of_any_length(lengths, longest, n, rng):
    x, = numbers(rng, (sum(lengths), n))
    assert_matches(lesson.pad_sequences, x, beginnings(*lengths), longest, oracle=padded_one_by_one, exact=True)


@pytest.mark.task(5)
@pytest.mark.edge
def test_the_launch_gets_its_memory_from_an_allocator_of_its_own(rng):
    """An allocator is set for a context of Python's. A new one has none, whatever ran before."""
    def pad_in_a_new_context(x, starts, longest):
        return contextvars.Context().run(lesson.pad_sequences, x, starts, longest)

    x, = numbers(rng, (9, 8))
    assert_matches(pad_in_a_new_context, x, beginnings(4, 5), 5, oracle=padded_one_by_one, exact=True)


@pytest.mark.task(5)
@pytest.mark.nonfinite
def test_the_next_sequence_is_not_multiplied_by_zero_but_never_read():
    x = torch.tensor([[1.0] * 4, [NAN] * 4, [INF] * 4], device=device)
    assert_matches(lesson.pad_sequences, x, beginnings(1, 2), 2, oracle=padded_one_by_one, exact=True)


@pytest.mark.task(5)
@pytest.mark.counters
def test_padding_loads_each_row_once_and_no_row_for_zeros(rng):
    """The two numbers that say where a sequence begins and ends are 8 bytes for each program."""
    x, = numbers(rng, (50, 40))
    counters = count(lesson.pad_sequences, x, beginnings(3, 17, 30), 33)
    assert counters.library_operations == []
    assert counters.programs == 3 * 3 * 2
    fills = counters.library_fills
    assert counters.bytes_loaded == 4 * 50 * 40 + 8 * counters.programs
    assert counters.bytes_stored == 4 * 3 * 33 * 40
    require(fills == [], f"{', '.join(fills)} wrote the result before the kernel, which stores each element.\n"
                         "Whose zeros lie in the rows below a sequence?")


@pytest.mark.task(5)
@pytest.mark.compiled
def test_each_program_makes_its_descriptors_itself(rng):
    x, = numbers(rng, (50, 40))
    kernel = compiled(lesson.pad_sequences, x, beginnings(3, 17, 30), 33, chip="h100").kernels["pad_kernel"]
    loads_and_stores_by_engine = bulk_copies(kernel)
    fields_written = [name for name in kernel.instructions if name.startswith("tensormap.replace")]
    assert loads_and_stores_by_engine == (1, 1)
    assert fields_written != []


# Task 6: predict, then measure --------------------------------------------------------------------

def bytes_tile_by_tile(m, n, k, tile_m, tile_n, itemsize, cluster=1):
    """Each row of tiles is cut into clusters, which load their rows of a once; each tile loads its columns of b."""
    rows, cols = ([min(tile, length - start) for start in range(0, length, tile)]
                  for length, tile in ((m, tile_m), (n, tile_n)))
    clusters = [cols[first:first + cluster] for first in range(0, len(cols), cluster)]
    return terms(a=itemsize * k * sum(rows) * len(clusters), b=itemsize * k * sum(cols) * len(rows),
                 out=itemsize * m * n)


def times_loaded(m, n, cluster=1):
    """How often an element of a is counted, and one of b, by what 40 more of k add. Tiles of 16 x 64.

    None if no whole numbers make it.
    """
    less, more = (lesson.predict_traffic(m, n, k, 16, 64, 4, cluster) for k in (40, 80))
    times = itertools.product(range(5), repeat=2)
    return next(((a, b) for a, b in times if 160 * (a * m + b * n) == more - less), None)


def why_loaded(tiles, found, wanted, asks):
    return (f"{tiles}. Loads counted of each element of a: {found[0]}, wanted {wanted[0]};\n"
            f"of b: {found[1]}, wanted {wanted[1]}. {asks}")


@pytest.mark.task(6)
def test_every_tile_loads_its_rows_and_its_columns():
    for m, n, tiles in [(48, 64, "3 tiles below each other"), (16, 128, "2 tiles beside each other")]:
        wanted = n // 64, m // 16
        found = times_loaded(m, n) or wanted
        whose = "b" if found[0] == wanted[0] else "a"
        assert found == wanted, why_loaded(tiles, found, wanted, f"Which programs load one box of {whose}?")
    for m, n, k, tile_m, tile_n in [(16, 64, 48, 16, 64), (48, 64, 40, 16, 64), (16, 128, 40, 16, 64),
                                    (48, 256, 56, 16, 32)]:
        assert_matches(lesson.predict_traffic, m, n, k, tile_m, tile_n, 4, oracle=bytes_tile_by_tile)


@pytest.mark.task(6)
def test_the_result_too_has_elements_of_itemsize_bytes():
    for itemsize in (2, 1, 8):
        found, of_loads = lesson.predict_traffic(16, 64, 48, 16, 64, itemsize), itemsize * 48 * (16 + 64)
        require(found != of_loads + 4 * 16 * 64,
                f"{found} bytes for itemsize {itemsize}: as if the result had 4 bytes for each element.\n"
                "In which type does matmul store it?")
        assert_matches(lesson.predict_traffic, 16, 64, 48, 16, 64, itemsize, oracle=bytes_tile_by_tile)


@pytest.mark.task(6)
@pytest.mark.edge
def test_places_of_a_box_that_do_not_exist_cost_no_traffic():
    for m, n, k in [(5, 64, 48), (16, 40, 48), (16, 64, 1), (40, 200, 70)]:
        down, across = -(-m // 16), -(-n // 64)
        found = lesson.predict_traffic(m, n, k, 16, 64, 2)
        right, *whole = [2 * (across * k * rows + down * k * cols + stored) for rows, cols, stored in itertools.product(
            (m, 16 * down), (n, 64 * across), (m * n, 16 * down * 64 * across))]
        require(found == right or found not in whole,
                f"{found} bytes for m, n, k = {m}, {n}, {k}, in tiles of 16 x 64: wanted {right}.\n"
                "As if each place of the boxes were moved. Which places does the engine fill itself?")
        assert_matches(lesson.predict_traffic, m, n, k, 16, 64, 2, oracle=bytes_tile_by_tile)


@pytest.mark.task(4, 6)
@pytest.mark.counters
@pytest.mark.parametrize("m, n, k", [(16, 64, 32), (48, 128, 96), (40, 200, 72), (5, 8, 104)])
def test_predicts_the_bytes_that_are_counted(m, n, k, rng):
    predicted = lesson.predict_traffic(m, n, k, 16, 64, 2)
    counters = count(lesson.matmul, *small_integers(rng, (m, k), (k, n)), **SMALL)
    assert predicted == counters.bytes


@pytest.mark.task(6)
@pytest.mark.parametrize("m, n", [(48, 64), (16, 64)])
def test_tiles_below_each_other_share_no_box(m, n):
    """Three rows of one tile, then one tile. A cluster lies in one row of tiles, and b is never shared."""
    alone, in_clusters_of_two = (lesson.predict_traffic(m, n, 56, 16, 64, 2, cluster) for cluster in (1, 2))
    half_of_a = m * 56  # of 2 bytes each
    require(alone - in_clusters_of_two != half_of_a,
            f"A row of 1 tile is 1 cluster, whose one program loads its box of a all the same: "
            f"wanted {alone} bytes with clusters of 2 as without, got {in_clusters_of_two}.\n"
            "How many clusters of 2 are there in a row of 3 tiles?")
    why = ("A row of tiles has one tile here, so clusters change nothing.\n"
           "Which box would two programs of a cluster share: of a, or of b?")
    assert in_clusters_of_two == alone, why


@pytest.mark.task(6)
def test_a_cluster_of_two_loads_a_once_and_b_as_before():
    """First two tiles beside each other, then such tiles in three rows."""
    for m, n in [(16, 128), (48, 256)]:
        assert_matches(lesson.predict_traffic, m, n, 56, 16, 64, 2, 2, oracle=bytes_tile_by_tile)


@pytest.mark.task(6)
@pytest.mark.edge
def test_of_three_tiles_two_share_a_and_one_loads_it_alone():
    found = times_loaded(16, 192, 2) or (2, 1)
    assert found == (2, 1), why_loaded("3 tiles beside each other", found, (2, 1), "How many clusters of 2 are they?")
    assert_matches(lesson.predict_traffic, 16, 192, 32, 16, 64, 2, 2, oracle=bytes_tile_by_tile)


@pytest.mark.task(6)
@pytest.mark.edge
@pytest.mark.parametrize("cluster", [2, 3, 4, 8])
def test_the_last_cluster_of_a_row_may_have_fewer_programs(cluster):
    """200 columns are four tiles of 64, 300 are five."""
    for n, tiles in (200, 4), (300, 5):
        clusters = -(-tiles // cluster)
        found = times_loaded(16, 64 * tiles, cluster) or (clusters, 1)
        require(found == (clusters, 1),
                why_loaded(f"{tiles} tiles beside each other, in clusters of {cluster}", found, (clusters, 1),
                           "How many clusters are they?"))
        assert_matches(lesson.predict_traffic, 40, n, 70, 16, 64, 4, cluster, oracle=bytes_tile_by_tile)
