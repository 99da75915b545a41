"""The lesson again, as checks: what a request costs, three copies to repair, a transpose at the speed of a copy."""

import numpy as np
import pytest
import torch

from tools.check import assert_matches, compiled, count, notes, speed_ratio, terms
from tools.check.inputs import awkward_lengths, matrices
from tools.gpu import device
from week2.day2 import coalescing as lesson

INF, NAN = float("inf"), float("nan")

pytestmark = pytest.mark.filterwarnings("ignore:Grid size")  # Numba's advice to start more blocks


def numbers(rng, *shape, dtype=torch.float32):
    """An array in this dtype, where lessons run."""
    return torch.from_numpy(matrices(rng, shape)[0]).to(device, dtype)


def wild(*shape):
    """NaN, both infinities, both zeros, and the smallest float32."""
    some = torch.tensor([NAN, INF, -INF, 0.0, -0.0, 2.0**-149, 1.0], device=device)
    return some.repeat(-(-int(np.prod(shape)) // 7))[: int(np.prod(shape))].reshape(shape)


def of_lines(counters, kind, what):
    """What the lines of one kind asked for, in the first launch."""
    assert counters.launches
    return sum(getattr(line.counts, what) for line in counters.launches[0].lines if line.kind == kind)


def wasteful(kernel):
    """The compiled loads and stores that use less than all of their sectors, in words."""
    return [f"the {access.kind} in line {access.line} uses {access.efficiency:.3g} of the bytes of its sectors"
            for access in kernel.accesses if access.efficiency < 1]


# Task 1: what a request costs ---------------------------------------------------------------------

def touched(offset, stride, itemsize):
    """Byte by byte: which sectors are the bytes of the 32 elements in?"""
    return len({byte // 32 for i in range(offset, offset + 32 * stride, stride)
                for byte in range(i * itemsize, (i + 1) * itemsize)})


def share(offset, stride, itemsize):
    return 32 * itemsize / (32 * touched(offset, stride, itemsize))


def asked(offset, stride, itemsize):
    return f"offset {offset}, stride {stride}, itemsize {itemsize}"


@pytest.mark.task(1)
def test_neighbours_touch_four_sectors():
    sectors = lesson.sectors_of_request(0, 1, 4)
    assert sectors == 4, f"{asked(0, 1, 4)}: 32 elements are 128 bytes. How many bytes does a sector hold?"
    assert_matches(lesson.sectors_of_request, 0, 1, 4, oracle=touched)


@pytest.mark.task(1)
def test_neighbours_that_begin_inside_a_sector_touch_one_more():
    for offset in (3, 1, 7):
        sectors = lesson.sectors_of_request(offset, 1, 4)
        why = f"{asked(offset, 1, 4)}: element {offset} begins at byte {4 * offset}. At which byte does your lane 0?"
        assert sectors == 5, why
        assert_matches(lesson.sectors_of_request, offset, 1, 4, oracle=touched)


@pytest.mark.task(1)
def test_an_offset_of_whole_sectors_costs_nothing():
    for offset, itemsize in [(8, 4), (16, 4), (16, 2), (4, 8)]:
        sectors, needed = lesson.sectors_of_request(offset, 1, itemsize), touched(offset, 1, itemsize)
        why = f"{asked(offset, 1, itemsize)}: the warp begins at byte {offset * itemsize}. Does your count begin there?"
        assert sectors == needed, why
        assert_matches(lesson.sectors_of_request, offset, 1, itemsize, oracle=touched)


@pytest.mark.task(1)
def test_elements_4_apart_are_two_in_a_sector():
    assert_matches(lesson.sectors_of_request, 0, 4, 4, oracle=touched)


@pytest.mark.task(1)
def test_elements_that_are_a_sector_apart_or_more_touch_one_each():
    for stride in (8, 9, 4096):
        sectors = lesson.sectors_of_request(0, stride, 4)
        why = "32 lanes touch a sector each at most. Which sectors does your line count that no lane touches?"
        assert sectors <= 32, f"{asked(0, stride, 4)}: {why}"
        assert_matches(lesson.sectors_of_request, 0, stride, 4, oracle=touched)


@pytest.mark.task(1)
def test_elements_of_2_and_of_8_bytes_take_half_and_twice_the_sectors():
    for itemsize in (2, 8):
        sectors, needed = lesson.sectors_of_request(0, 1, itemsize), touched(0, 1, itemsize)
        why = f"{asked(0, 1, itemsize)}: the warp asks for {32 * itemsize} bytes. Where does your line use itemsize?"
        assert sectors == needed, why
        assert_matches(lesson.sectors_of_request, 0, 1, itemsize, oracle=touched)


@pytest.mark.task(1)
@pytest.mark.edge
@pytest.mark.parametrize("itemsize", [1, 2, 4, 8])
def test_counts_the_sectors_of_any_offset_and_stride(itemsize):
    for offset in (0, 1, 5, 7, 31, 1000):
        for stride in (1, 2, 3, 7, 8, 9, 33, 4096):
            assert_matches(lesson.sectors_of_request, offset, stride, itemsize, oracle=touched)


@pytest.mark.task(1)
def test_of_the_lessons_requests_all_and_four_fifths_and_a_quarter_is_wanted():
    efficiency = lesson.sector_efficiency(0, 1, 4)
    assert efficiency <= 1, f"{asked(0, 1, 4)}: 128 bytes are sent, all wanted. In what is each of the two counted?"
    assert_matches(lesson.sector_efficiency, 0, 1, 4, oracle=share)
    efficiency = lesson.sector_efficiency(3, 1, 4)
    assert efficiency <= 1, f"{asked(3, 1, 4)}: a share of what was sent is 1 at most. What is divided by what?"
    assert efficiency < 1, f"{asked(3, 1, 4)}: 160 bytes are sent for 128. Where does your line use offset?"
    for offset, stride in [(3, 1), (0, 4)]:
        assert_matches(lesson.sector_efficiency, offset, stride, 4, oracle=share)


@pytest.mark.task(1)
@pytest.mark.edge
@pytest.mark.parametrize("itemsize", [1, 2, 4, 8])
def test_the_efficiency_of_any_offset_stride_and_width(itemsize):
    for offset, stride in [(0, 1), (2, 3), (7, 2), (9, 40)]:
        efficiency, sent = lesson.sector_efficiency(offset, stride, itemsize), 32 * touched(offset, stride, itemsize)
        asked_for, needed = round(efficiency * sent, 6), 32 * itemsize
        said = f"{asked(offset, stride, itemsize)}: you say {efficiency:g}, {asked_for:g} of {sent} bytes"
        assert asked_for == needed, f"{said}. How many bytes does the warp ask for?"
        assert_matches(lesson.sector_efficiency, offset, stride, itemsize, oracle=share)


@pytest.mark.task(1)
@pytest.mark.counters
@pytest.mark.parametrize("offset, stride, dtype", [(0, 1, torch.float32), (3, 1, torch.float32), (0, 4, torch.float32),
                                                   (1, 3, torch.float16), (5, 2, torch.float64)])
def test_predicts_the_sectors_of_the_load_that_is_counted(offset, stride, dtype, rng):
    predicted = lesson.sectors_of_request(offset, stride, dtype.itemsize)
    counters = count(lesson.take, numbers(rng, offset + 32 * stride, dtype=dtype), offset, stride)
    assert predicted == of_lines(counters, "load", "sectors")


# Task 2: a thread's neighbours --------------------------------------------------------------------

def same(x, **how):
    return x.clone()


@pytest.mark.task(2)
def test_copies_ten_numbers_by_512_threads(rng):
    assert_matches(lesson.copy_vector, numbers(rng, 10), blocks=2, oracle=same, exact=True)


@pytest.mark.task(2)
def test_512_threads_copy_2000_numbers(rng):
    assert_matches(lesson.copy_vector, numbers(rng, 2000), blocks=2, oracle=same, exact=True)


@pytest.mark.task(2)
@pytest.mark.edge
@pytest.mark.parametrize("n", awkward_lengths(block=512))
def test_any_grid_copies_any_length(n, rng):
    for blocks in (1, 2, 5):
        assert_matches(lesson.copy_vector, numbers(rng, n), blocks=blocks, oracle=same, exact=True)


@pytest.mark.task(2)
@pytest.mark.edge
@pytest.mark.parametrize("dtype", [torch.float16, torch.float64, torch.int32, torch.uint8])
def test_copies_elements_of_any_width(dtype, rng):
    x = (100 * numbers(rng, 700)).abs().to(dtype)
    assert_matches(lesson.copy_vector, x, blocks=2, oracle=same, exact=True)


@pytest.mark.task(2)
@pytest.mark.nonfinite
def test_copies_nan_and_infinity_and_zeros_with_a_sign():
    assert_matches(lesson.copy_vector, wild(600), blocks=2, oracle=same, exact=True)


@pytest.mark.task(2)
@pytest.mark.counters
def test_the_grid_is_the_one_that_was_asked_for_and_your_kernel_copies(rng):
    counters = count(lesson.copy_vector, numbers(rng, 2048), blocks=2)
    assert counters.library_operations == []
    assert counters.programs == 2


@pytest.mark.task(2)
@pytest.mark.counters
def test_every_element_is_loaded_once_and_stored_once(rng):
    counters = count(lesson.copy_vector, numbers(rng, 2048), blocks=2)
    needed = 4 * 2048
    assert counters.bytes_loaded == needed
    assert counters.bytes_stored == needed


@pytest.mark.task(2)
@pytest.mark.counters
def test_the_lanes_of_a_warp_copy_neighbours(rng):
    """512 threads for 4096 elements: whole sectors only, 4 in each request. Pieces of 8 elements would take 32."""
    counters = count(lesson.copy_vector, numbers(rng, 4096), blocks=2)
    assert counters.sectors_per_request == 4


@pytest.mark.task(2)
@pytest.mark.counters
def test_halves_take_two_sectors_a_request(rng):
    counters = count(lesson.copy_vector, numbers(rng, 4096, dtype=torch.float16), blocks=2)
    assert counters.sectors_per_request == 2
    assert counters.conversions == 0


@pytest.mark.task(2)
@pytest.mark.counters
def test_each_warp_begins_a_sector_in_a_grid_of_three_blocks_too(rng):
    """A piece for each block would begin with element 667, one for each warp with element 84: inside a sector."""
    asked_for, needed = count(lesson.copy_vector, numbers(rng, 2000), blocks=3).sectors, 2 * 4 * 2000 // 32
    why = (f"2000 elements, 3 blocks: {asked_for} sectors, {needed} would do. A warp that begins inside a sector asks "
           "for one more each time. With which elements do your warps begin?")
    assert asked_for == needed, why


# Task 3: where rows begin -------------------------------------------------------------------------

def found_by_trying(n, itemsize):
    return next(elements for elements in range(n, n + 32) if elements * itemsize % 32 == 0)


@pytest.mark.task(3)
def test_rows_of_33_float32_begin_every_40_elements():
    said = lesson.pitch(33, 4)
    seen = f"That is {4 * said / 32:g} sectors. A row has 132 bytes: how many whole sectors does it need?"
    if said == 160:
        seen = "So many bytes: how many elements of 4 bytes is that?"
    assert said == 40, f"pitch(33, 4): you say {said}. {seen}"
    assert_matches(lesson.pitch, 33, 4, oracle=found_by_trying)


@pytest.mark.task(3)
def test_rows_of_whole_sectors_need_nothing_more():
    for n, itemsize in [(32, 4), (8, 4), (16, 2), (4, 8)]:
        said, needed, sectors = lesson.pitch(n, itemsize), n, n * itemsize // 32
        have = f"{n} elements of {itemsize} bytes are {sectors} whole sector{'s' * (sectors > 1)}"
        why = f"pitch({n}, {itemsize}): you say {said}. {have}. What does your line add to them, and when?"
        assert said == needed, why
        assert_matches(lesson.pitch, n, itemsize, oracle=found_by_trying)


@pytest.mark.task(3)
@pytest.mark.edge
@pytest.mark.parametrize("itemsize", [1, 2, 4, 8])
def test_finds_the_least_pitch_for_elements_of_any_width(itemsize):
    for n in (1, 3, 4, 8, 16, 31, 32, 33, 1001):
        assert_matches(lesson.pitch, n, itemsize, oracle=found_by_trying)


@pytest.mark.task(3)
def test_copies_a_row_of_three(rng):
    assert_matches(lesson.copy_rows, numbers(rng, 2, 3), oracle=same, exact=True)


@pytest.mark.task(3)
@pytest.mark.parametrize("dtype, needed", [(torch.float32, 40), (torch.float16, 48), (torch.float64, 36)])
def test_rows_of_the_copy_begin_sectors_and_are_no_farther_apart_than_need_be(dtype, needed, rng):
    copy = assert_matches(lesson.copy_rows, numbers(rng, 50, 33, dtype=dtype), oracle=same, exact=True)
    apart, size = copy.stride(0), dtype.itemsize
    why = (f"rows of 33 elements of {size} bytes: row 1 of the copy begins at byte {size * apart}, the first sector "
           f"after row 0 at byte {size * needed}. Which line says how far apart rows are? What is pitch given there?")
    assert apart == needed, why
    first = size * copy.storage_offset() % 32
    assert first == 0, f"row 0 of the copy begins {first} bytes into a sector. Which part of what was allocated is it?"


@pytest.mark.task(3)
@pytest.mark.counters
def test_your_kernel_copies_the_rows_and_nothing_is_copied_or_filled_beside_it(rng):
    x = numbers(rng, 4, 33)
    counters = count(lesson.copy_rows, x)
    assert counters.library_operations == []
    assert counters.library_fills == []


@pytest.mark.task(3)
@pytest.mark.edge
@pytest.mark.parametrize("m, n", [(1, 1), (7, 31), (8, 32), (9, 33), (3, 257)])
def test_copies_rows_of_any_length_stored_in_any_way(m, n, rng):
    assert_matches(lesson.copy_rows, numbers(rng, m, n), oracle=same, exact=True, layouts="any")


@pytest.mark.task(3)
@pytest.mark.edge
@pytest.mark.parametrize("dtype", [torch.float16, torch.float64, torch.uint8])
def test_copies_rows_of_elements_of_any_width(dtype, rng):
    x = (100 * numbers(rng, 5, 33)).abs().to(dtype)
    assert_matches(lesson.copy_rows, x, oracle=same, exact=True)


@pytest.mark.task(3)
@pytest.mark.nonfinite
def test_copies_rows_with_nan_and_infinity():
    assert_matches(lesson.copy_rows, wild(5, 33), oracle=same, exact=True)


@pytest.mark.task(3)
@pytest.mark.counters
@pytest.mark.parametrize("n, dtype, sectors", [(57, torch.float32, 4), (53, torch.float16, 2), (31, torch.float64, 8)])
def test_every_row_of_the_copy_begins_a_sector(n, dtype, sectors, rng):
    """As each row of x does here: then no request touches more sectors than its bytes fill."""
    x = numbers(rng, 16, found_by_trying(n, dtype.itemsize), dtype=dtype)[:, :n]
    counters = count(lesson.copy_rows, x)
    assert counters.sectors_per_request == sectors


@pytest.mark.task(3)
@pytest.mark.counters
def test_rows_are_copied_once_and_as_they_are(rng):
    counters = count(lesson.copy_rows, numbers(rng, 16, 33, dtype=torch.float16))
    needed = 2 * 2 * 16 * 33
    assert counters.bytes == needed
    assert counters.conversions == 0


# Task 4: whole structs ----------------------------------------------------------------------------

def by_field(structs, **how):
    return structs.T.contiguous()


@pytest.mark.task(4)
@pytest.mark.counters
def test_all_fields_of_all_three_structs_are_loaded(rng):
    counters = count(lesson.split_fields, numbers(rng, 3, 4), block=4)
    assert counters.launches
    loaded = counters.bytes_loaded // 4
    assert loaded >= 12, "elements of 3 structs of 4 fields; n is 3. What does the mask compare with n?"


@pytest.mark.task(4)
def test_three_structs_of_four_fields():
    structs = torch.tensor([[1.0, 2, 3, 4], [11, 12, 13, 14], [21, 22, 23, 24]], device=device)
    assert_matches(lesson.split_fields, structs, block=4, oracle=by_field, exact=True)


@pytest.mark.task(4)
def test_two_programs_split_sixteen_structs_of_two_fields(rng):
    assert_matches(lesson.split_fields, numbers(rng, 16, 2), block=8, oracle=by_field, exact=True)


@pytest.mark.task(4)
@pytest.mark.edge
@pytest.mark.parametrize("n", awkward_lengths(block=64))
@pytest.mark.parametrize("fields", [1, 2, 8])
def test_splits_any_number_of_structs(n, fields, rng):
    assert_matches(lesson.split_fields, numbers(rng, n, fields), block=64, oracle=by_field, exact=True)


@pytest.mark.task(4)
@pytest.mark.edge
@pytest.mark.parametrize("dtype", [torch.float16, torch.float64, torch.int32])
def test_splits_fields_of_any_width(dtype, rng):
    structs = (100 * numbers(rng, 70, 4)).to(dtype)
    assert_matches(lesson.split_fields, structs, block=32, oracle=by_field, exact=True)


@pytest.mark.task(4)
@pytest.mark.nonfinite
def test_splits_nan_and_infinity():
    structs = wild(30, 4)
    nans, needed = int(lesson.split_fields(structs, block=16).isnan().sum()), int(structs.isnan().sum())
    why = "More NaN came out than went in. 0 * inf is NaN, and so is a sum with NaN: which line calculates with values?"
    assert nans <= needed, why
    assert_matches(lesson.split_fields, structs, block=16, oracle=by_field, exact=True)


@pytest.mark.task(4)
@pytest.mark.counters
def test_your_kernel_does_the_splitting_a_block_of_structs_for_each_program(rng):
    for n in (200, 256):
        counters = count(lesson.split_fields, numbers(rng, n, 4), block=64)
        assert counters.library_operations == []
        assert counters.programs == 4, f"{n} structs, 64 to a program, are 4 programs"
        needed = 2 * 4 * n * 4
        assert counters.bytes == needed


@pytest.mark.task(4)
@pytest.mark.counters
@pytest.mark.parametrize("fields", [2, 4, 8])
def test_every_sector_of_the_structs_is_asked_for_once(fields, rng):
    """Field by field, each load touches all sectors of the program's structs."""
    counters = count(lesson.split_fields, numbers(rng, 256, fields), block=64)
    needed = 2 * 256 * fields * 4 // 32
    assert counters.sectors == needed


@pytest.mark.task(4)
@pytest.mark.counters
def test_halves_are_split_as_halves(rng):
    counters = count(lesson.split_fields, numbers(rng, 256, 4, dtype=torch.float16), block=64)
    assert counters.conversions == 0


@pytest.mark.task(4)
@pytest.mark.compiled
def test_the_compiled_loads_of_structs_waste_nothing(rng):
    """Which lane loads what is the compiler's choice: it finds that a struct's fields are neighbours."""
    kernel = compiled(lesson.split_fields, numbers(rng, 1024, 4), chip="h100").kernels["split_kernel"]
    waste = wasteful(kernel)
    assert not waste, waste[0]
    assert len(kernel.loads) == 1
    assert kernel.spills == 0


# Task 5: a tile at a time -------------------------------------------------------------------------

def turned(x, **tiles):
    return x.T.contiguous()


@pytest.mark.task(5)
def test_transposes_one_tile_of_two_rows_and_four_columns():
    x = torch.tensor([[1.0, 2, 3, 4], [5, 6, 7, 8]], device=device)
    assert_matches(lesson.transpose, x, tile_m=2, tile_n=4, oracle=turned, exact=True)


@pytest.mark.task(5)
def test_one_program_moves_all_of_one_tile(rng):
    counters = count(lesson.transpose, numbers(rng, 2, 4), tile_m=2, tile_n=4)
    assert counters.launches
    loaded = counters.bytes_loaded // 4
    assert loaded == 8, "elements of the tile; all of its rows and columns exist: which does the mask let through?"


@pytest.mark.task(5)
def test_axis_0_of_the_grid_goes_down_the_matrix(rng):
    counters = count(lesson.transpose, numbers(rng, 12, 8), tile_m=4, tile_n=8)
    assert counters.launches
    assert counters.launches[0].grid[:2] == (3, 1), "12 rows in tiles of 4 are 3 tiles, 8 columns in tiles of 8 are 1"
    stored = counters.bytes_stored // 4
    why = "elements; program (0, 0) has 4 rows of x, (1, 0) the next. Which number of a program counts tiles downwards?"
    assert stored == 12 * 8, why


@pytest.mark.task(5)
def test_transposes_tile_after_tile_down_the_matrix(rng):
    assert_matches(lesson.transpose, numbers(rng, 12, 8), tile_m=4, tile_n=8, oracle=turned, exact=True)


@pytest.mark.task(5)
def test_transposes_tile_after_tile_across_the_matrix(rng):
    assert_matches(lesson.transpose, numbers(rng, 4, 24), tile_m=4, tile_n=8, oracle=turned, exact=True)


@pytest.mark.task(5)
@pytest.mark.edge
@pytest.mark.parametrize("m, n", [(15, 33), (16, 32), (17, 31), (1, 1), (1, 37), (37, 1), (0, 3), (3, 0)])
def test_transposes_any_shape(m, n, rng):
    assert_matches(lesson.transpose, numbers(rng, m, n), tile_m=16, tile_n=32, oracle=turned, exact=True)


@pytest.mark.task(5)
@pytest.mark.edge
@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64, torch.uint8])
def test_transposes_elements_of_any_width_in_tiles_of_the_default_size(dtype, rng):
    x = (100 * numbers(rng, 70, 130)).abs().to(dtype)
    assert_matches(lesson.transpose, x, oracle=turned, exact=True)


@pytest.mark.task(5)
@pytest.mark.nonfinite
def test_transposes_nan_and_infinity():
    assert_matches(lesson.transpose, wild(5, 9), tile_m=4, tile_n=8, oracle=turned, exact=True)


@pytest.mark.task(5)
@pytest.mark.counters
def test_your_kernel_transposes_one_program_for_each_tile(rng):
    counters = count(lesson.transpose, numbers(rng, 100, 70), tile_m=16, tile_n=32)
    assert counters.library_operations == []
    assert counters.launches
    assert counters.launches[0].grid[:2] == (7, 3)
    needed = 2 * 4 * 100 * 70
    assert counters.bytes == needed


@pytest.mark.task(5)
@pytest.mark.counters
@pytest.mark.parametrize("dtype, tiles", [(torch.float32, (5, 2)), (torch.float16, (3, 1))])
def test_without_a_size_a_tile_has_256_bytes_each_way(dtype, tiles, rng):
    counters = count(lesson.transpose, numbers(rng, 300, 128, dtype=dtype))
    side = 256 // dtype.itemsize
    assert counters.launches
    assert counters.launches[0].grid[:2] == tiles, f"tiles of {side} x {side} elements cover x"


@pytest.mark.task(5)
@pytest.mark.counters
def test_no_sector_is_asked_for_twice_in_tiles_of_whole_sectors(rng):
    counters = count(lesson.transpose, numbers(rng, 64, 96), tile_m=8, tile_n=16)
    needed = 2 * 4 * 64 * 96 // 32
    assert counters.sectors == needed


@pytest.mark.task(5)
@pytest.mark.counters
def test_halves_stay_halves(rng):
    counters = count(lesson.transpose, numbers(rng, 64, 96, dtype=torch.float16), tile_m=16, tile_n=32)
    needed = 2 * 2 * 64 * 96
    assert counters.bytes == needed
    assert counters.conversions == 0


@pytest.mark.task(5)
@pytest.mark.compiled
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_compiled_loads_and_stores_are_16_bytes_wide_and_waste_nothing(dtype, rng):
    """Rows are loaded and columns are stored by other threads: what lies between goes through shared memory."""
    kernel = compiled(lesson.transpose, numbers(rng, 256, 256, dtype=dtype), chip="h100").kernels["transpose_kernel"]
    waste = wasteful(kernel)
    assert not waste, waste[0]
    widths = [access.width for access in kernel.accesses]
    assert widths == [16, 16], "bytes that a thread loads at once, and stores at once"
    assert kernel.shared_bytes > 0
    assert kernel.spills == 0


def pieces(m, n, itemsize, tile_m, tile_n):
    """A row of x is loaded in n // tile_n pieces, a row of out is stored in m // tile_m; how many sectors has each?"""
    loaded, stored = (len({byte // 32 for byte in range(side * itemsize)}) for side in (tile_n, tile_m))
    return terms(loads=m * (n // tile_n) * loaded, stores=n * (m // tile_m) * stored)


@pytest.mark.task(5)
def test_16_float32_in_a_row_are_loaded_from_2_sectors_and_stored_into_16():
    assert_matches(lesson.predict_sectors, 1, 16, 4, 1, 16, oracle=pieces)


@pytest.mark.task(5)
def test_16_float32_in_a_column_are_loaded_from_16_sectors_and_stored_into_2():
    assert_matches(lesson.predict_sectors, 16, 1, 4, 16, 1, oracle=pieces)


@pytest.mark.task(5)
def test_two_tiles_ask_for_twice_the_sectors_of_one():
    one = lesson.predict_sectors(8, 16, 4, 8, 16)
    for m, n in [(8, 32), (16, 16)]:
        two = lesson.predict_sectors(m, n, 4, 8, 16)
        why = f"tiles of 8 x 16: you say {one} for an x of 8 x 16, {two} for {m} x {n}. How many tiles has each?"
        assert two == 2 * one, why


@pytest.mark.task(5)
def test_a_tile_of_one_row_stores_a_sector_for_each_element():
    assert_matches(lesson.predict_sectors, 256, 128, 4, 1, 32, oracle=pieces)


@pytest.mark.task(5)
def test_tiles_smaller_than_a_sector_pay_for_all_of_it():
    for m, n, itemsize, tile_m, tile_n in [(16, 64, 4, 4, 8), (16, 64, 4, 8, 2), (32, 64, 2, 8, 16), (16, 32, 8, 2, 4)]:
        assert_matches(lesson.predict_sectors, m, n, itemsize, tile_m, tile_n, oracle=pieces)


@pytest.mark.task(5)
@pytest.mark.edge
@pytest.mark.parametrize("itemsize", [1, 2, 4, 8])
def test_predicts_the_sectors_of_tiles_of_any_sides_and_elements_of_any_width(itemsize):
    for tile_m, tile_n in [(64, 32), (32, 64), (1, 128), (128, 2)]:
        assert_matches(lesson.predict_sectors, 128, 256, itemsize, tile_m, tile_n, oracle=pieces)


@pytest.mark.task(5)
@pytest.mark.counters
@pytest.mark.parametrize("dtype", [torch.float16, torch.float32])
@pytest.mark.parametrize("tile_m, tile_n", [(1, 32), (4, 16), (2, 8), (16, 32)])
def test_predicts_the_sectors_that_transpose_asks_for(tile_m, tile_n, dtype, rng):
    predicted = lesson.predict_sectors(32, 96, dtype.itemsize, tile_m, tile_n)
    counters = count(lesson.transpose, numbers(rng, 32, 96, dtype=dtype), tile_m=tile_m, tile_n=tile_n)
    assert predicted == counters.sectors


@pytest.mark.task(5)
@pytest.mark.hopper
@pytest.mark.speed
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_transposes_at_four_fifths_of_the_speed_of_a_copy(dtype, rng):
    x = torch.from_numpy(rng.random((8192, 8192), np.float32)).to(device, dtype)
    ratio = speed_ratio(lesson.transpose, torch.clone, x)
    notes.taken.append(f"{2 * x.numel() * x.element_size() / ratio.seconds / 1e9:.0f} GB/s")
    assert ratio >= 0.8
