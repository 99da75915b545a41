"""The lesson again, as checks: offsets, fewer modes, choice by a layout, tiles, threads and values, a swizzle."""

from itertools import product

import pytest

from tools.check import assert_matches
from week2.katas.layouts import layouts as lesson

ROWS = ((2, 3), (3, 1))  # the matrix of the lesson
NESTED = ((2, (2, 3)), (6, (3, 20)))


# What a layout is, once more: all its offsets in a list, by no function of the lesson ---------------

def pairs(layout):
    shape, stride = layout
    if isinstance(shape, int):
        return [(shape, stride)]
    return [pair for mode in zip(shape, stride, strict=True) for pair in pairs(mode)]


def offsets(layout):
    """The offset of each index: the first mode runs fastest. Whatever is no layout stays what it is."""
    try:
        modes = pairs(layout)
    except (TypeError, ValueError):
        return layout
    found = [0]
    for extent, stride in modes:
        found = [offset + stride * i for i in range(extent) for offset in found]
    return found


def extents(layout):
    """The sizes of the modes at the top. Whatever is no layout stays what it is."""
    try:
        modes = [(layout[0], layout[1])] if isinstance(layout[0], int) else list(zip(*layout, strict=True))
        return [len(offsets(mode)) for mode in modes]
    except (TypeError, ValueError):
        return layout


def random_layout(rng, modes):
    sizes = [int(rng.integers(1, 5)) for _ in range(modes)]
    return tuple(sizes), tuple(int(rng.integers(0, 30)) for _ in sizes)


# Task 1: the layout as a function -----------------------------------------------------------------

@pytest.mark.task(1)
@pytest.mark.parametrize("coordinate", [(0, 1), (1, 0), (1, 2)])
def test_each_number_of_a_coordinate_counts_as_often_as_its_stride_says(coordinate):
    assert_matches(lesson.crd2idx, coordinate, ROWS, oracle=lambda crd, layout: 3 * crd[0] + crd[1])


@pytest.mark.task(1)
def test_a_mode_alone_multiplies():
    assert_matches(lesson.crd2idx, 3, (5, 4), oracle=lambda crd, layout: 12)


@pytest.mark.task(1)
@pytest.mark.parametrize("index", [1, 2, 3, 5, 0])
def test_an_index_counts_coordinates_with_the_first_number_fastest(index):
    assert_matches(lesson.crd2idx, index, ROWS, oracle=lambda index, layout: offsets(layout)[index])


@pytest.mark.task(1)
@pytest.mark.parametrize("coordinate", [(1, (0, 0)), (0, (1, 0)), (0, (1, 2)), (1, (1, 2))])
def test_a_mode_may_be_a_layout_of_its_own(coordinate):
    def by_hand(crd, layout):
        return 6 * crd[0] + 3 * crd[1][0] + 20 * crd[1][1]

    assert_matches(lesson.crd2idx, coordinate, NESTED, oracle=by_hand)


@pytest.mark.task(1)
@pytest.mark.parametrize("coordinate", [(0, 1), (1, 2), (0, 5)])
def test_a_nested_mode_takes_an_index_too(coordinate):
    def by_hand(crd, layout):
        return 6 * crd[0] + 3 * (crd[1] % 2) + 20 * (crd[1] // 2)

    assert_matches(lesson.crd2idx, coordinate, NESTED, oracle=by_hand)


@pytest.mark.task(1)
@pytest.mark.parametrize("layout, wanted", [
    ((5, 1), 5), ((5, 4), 17), (ROWS, 6), (((2, 3), (8, 1)), 11), (NESTED, 50)])
def test_cosize_reaches_from_0_to_the_last_element(layout, wanted):
    """The last of five elements that lie 4 apart is 16: they span 17."""
    assert_matches(lesson.cosize, layout, oracle=lambda layout: wanted)


@pytest.mark.task(1)
@pytest.mark.edge
@pytest.mark.parametrize("layout", [(1, 7), (6, 0), ((3, 4), (0, 0))])
def test_a_layout_of_one_offset_spans_one_element(layout):
    assert_matches(lesson.cosize, layout, oracle=lambda layout: 1)


# Task 2: the same function, with fewer modes ------------------------------------------------------

@pytest.mark.task(2)
@pytest.mark.parametrize("layout, wanted", [
    (((2, 3), (1, 2)), (6, 1)),
    (((2, 3), (4, 8)), (6, 4)),
    (((3, 2), (0, 0)), (6, 0))])
def test_a_mode_that_goes_on_where_the_last_one_ends_is_joined_to_it(layout, wanted):
    assert_matches(lesson.coalesce, layout, oracle=lambda layout: wanted)


@pytest.mark.task(2)
@pytest.mark.parametrize("layout", [ROWS, ((2, 3), (4, 4)), ((2, 3), (1, 3)), (5, 4)])
def test_modes_that_do_not_go_on_stay_as_they_are(layout):
    assert_matches(lesson.coalesce, layout, oracle=lambda layout: layout)


@pytest.mark.task(2)
@pytest.mark.parametrize("layout, wanted", [
    (((2, 1, 3), (1, 9, 2)), (6, 1)),
    (((1, 4), (9, 2)), (4, 2)),
    (((4, 1), (2, 9)), (4, 2))])
def test_a_mode_of_size_1_is_left_out_whatever_its_stride(layout, wanted):
    assert_matches(lesson.coalesce, layout, oracle=lambda layout: wanted)


@pytest.mark.task(2)
@pytest.mark.parametrize("layout, wanted", [
    (((2, 3, 5), (1, 2, 6)), (30, 1)),
    (((2, 3, 5, 2), (1, 2, 7, 35)), ((6, 10), (1, 7))),
    (((2, (2, 3)), (1, (2, 20))), ((4, 3), (1, 20)))])
def test_what_was_joined_may_be_joined_again_and_nothing_stays_nested(layout, wanted):
    assert_matches(lesson.coalesce, layout, oracle=lambda layout: wanted)


@pytest.mark.task(2)
@pytest.mark.edge
@pytest.mark.parametrize("layout", [(1, 0), (1, 7), ((1, 1), (3, 5)), (((1, 1), 1), ((2, 3), 4))])
def test_one_index_is_left_as_1_to_0(layout):
    assert_matches(lesson.coalesce, layout, oracle=lambda layout: (1, 0))


def coalesced_offsets(layout):
    return offsets(lesson.coalesce(layout))


@pytest.mark.task(2)
def test_coalescing_keeps_all_offsets_of_all_small_layouts():
    for shape, stride in product(product((1, 2, 3), repeat=2), product((0, 1, 2, 3, 6), repeat=2)):
        assert_matches(coalesced_offsets, (shape, stride), oracle=offsets)


@pytest.mark.task(2)
def test_coalescing_keeps_all_offsets_of_layouts_with_many_modes(rng):
    for modes in (3, 4, 5):
        for _ in range(10):
            assert_matches(coalesced_offsets, random_layout(rng, modes), oracle=offsets)


# Task 3: elements chosen by another layout --------------------------------------------------------

def chosen(a, b):
    """All offsets of a o b."""
    return offsets(lesson.composition(a, b))


def assert_chosen(a, b):
    assert_matches(chosen, a, b, oracle=lambda a, b: [offsets(a)[i] for i in offsets(b)])


@pytest.mark.task(3)
@pytest.mark.parametrize("b", [(3, 1), (3, 4), (12, 1)])
def test_of_one_mode_every_so_many_th_element(b):
    assert_matches(lesson.composition, (12, 5), b, oracle=lambda a, b: (b[0], 5 * b[1]))


@pytest.mark.task(3)
@pytest.mark.parametrize("b", [(2, 1), (6, 1), (12, 1), (3, 2), (2, 3), (4, 3), (2, 6)])
def test_goes_on_in_the_next_mode(b):
    """All of them choose from (6,2):(8,2), whose offsets are 0 8 16 24 32 40 2 10 18 26 34 42."""
    assert_chosen(((6, 2), (8, 2)), b)


@pytest.mark.task(3)
@pytest.mark.parametrize("b, wanted", [
    ((4, 3), ((2, 2), (24, 2))), ((3, 1), (3, 8)), ((2, 6), (2, 2)), ((1, 3), (1, 0))])
def test_what_one_mode_becomes_is_coalesced(b, wanted):
    assert_matches(lesson.composition, ((6, 2), (8, 2)), b, oracle=lambda a, b: wanted)


@pytest.mark.task(3)
@pytest.mark.parametrize("b", [(2, 12), (2, 6), (4, 6), (2, 24)])
def test_a_step_may_pass_several_modes(b):
    assert_chosen(((2, 3, 2, 4), (50, 7, 300, 1)), b)


@pytest.mark.task(3)
@pytest.mark.parametrize("a", [((2, 3), (1, 2)), ((3, 2, 4), (2, 6, 1)), ((2, (3, 2)), (5, (10, 30)))])
def test_a_step_may_fit_the_coalesced_modes_only(a):
    assert_chosen(a, (2, 3))


@pytest.mark.task(3)
@pytest.mark.parametrize("a, b, wanted", [
    (((6, 2), (8, 2)), ((4, 3), (3, 1)), (((2, 2), 3), ((24, 2), 8))),
    ((20, 2), ((5, 4), (4, 1)), ((5, 4), (8, 2))),
    ((24, 1), ((2, (3, 4)), (12, (4, 1))), ((2, (3, 4)), (12, (4, 1))))])
def test_each_mode_of_b_stays_a_mode(a, b, wanted):
    assert_matches(lesson.composition, a, b, oracle=lambda a, b: wanted)


@pytest.mark.task(3)
@pytest.mark.edge
@pytest.mark.parametrize("b, wanted", [((4, 0), (4, 0)), (((2, 3), (0, 1)), ((2, 3), (0, 8))), ((1, 0), (1, 0))])
def test_stride_0_chooses_one_element_again_and_again(b, wanted):
    assert_matches(lesson.composition, ((6, 2), (8, 2)), b, oracle=lambda a, b: wanted)


@pytest.mark.task(3)
def test_index_by_index_it_is_a_of_b(rng):
    """Modes of 2, 4 and 8, so that every division is exact."""
    for modes in (1, 2, 3, 4):
        for _ in range(12):
            sizes = [2 ** int(rng.integers(0, 4)) for _ in range(modes)]
            total = 2 ** sum(extent.bit_length() - 1 for extent in sizes)
            step = 2 ** int(rng.integers(0, total.bit_length()))
            a = tuple(sizes), tuple(int(rng.integers(0, 50)) for _ in sizes)
            assert_chosen(a, (max(1, total // step), step))


# Task 4: tiles, and the way from tile to tile -----------------------------------------------------

@pytest.mark.task(4)
@pytest.mark.parametrize("layout, n, wanted", [
    ((4, 1), 24, (6, 4)),
    ((6, 4), 24, (4, 1)),
    ((4, 2), 24, ((2, 3), (1, 8))),
    (((2, 4), (1, 6)), 24, (3, 2)),
    (((2, 2), (1, 6)), 24, ((3, 2), (2, 12)))])
def test_copies_of_the_layout_fill_the_gaps_and_then_the_rest(layout, n, wanted):
    assert_matches(lesson.complement, layout, n, oracle=lambda layout, n: wanted)


@pytest.mark.task(4)
@pytest.mark.parametrize("layout, n, wanted", [(((4, 2), (6, 1)), 24, (3, 2)), (((2, 3), (12, 1)), 24, (4, 3))])
def test_the_smallest_stride_comes_first_wherever_it_stands(layout, n, wanted):
    assert_matches(lesson.complement, layout, n, oracle=lambda layout, n: wanted)


@pytest.mark.task(4)
@pytest.mark.edge
@pytest.mark.parametrize("layout, n, wanted", [
    (((4, 6), (1, 4)), 24, (1, 0)), ((1, 0), 5, (5, 1)), ((1, 3), 6, (6, 1)), (((1, 2), (4, 1)), 6, (3, 2)),
    ((1, 0), 1, (1, 0))])
def test_nothing_is_left_of_a_full_layout_and_all_of_a_single_index(layout, n, wanted):
    assert_matches(lesson.complement, layout, n, oracle=lambda layout, n: wanted)


def covered(layout, n):
    """Each offset below n that the layout and its complement reach together, in order."""
    moves = offsets(lesson.complement(layout, n))
    return sorted(move + offset for move in moves for offset in offsets(layout)) if isinstance(moves, list) else moves


@pytest.mark.task(4)
def test_layout_and_complement_reach_each_offset_once(rng):
    for modes in (1, 2, 3):
        for _ in range(8):
            kept, stride = [], 1
            for _ in range(modes):
                stride *= int(rng.integers(1, 4))
                extent = int(rng.integers(2, 5))
                kept.append((extent, stride))
                stride *= extent
            kept = [kept[i] for i in rng.permutation(modes)]
            layout = tuple(extent for extent, _ in kept), tuple(stride for _, stride in kept)
            assert_matches(covered, layout, 2 * stride, oracle=lambda layout, n: list(range(n)))


@pytest.mark.task(3, 4)
@pytest.mark.parametrize("a, tiler, wanted", [
    ((12, 5), (4, 1), ((4, 3), (5, 20))),
    ((12, 5), (4, 3), ((4, 3), (15, 5))),
    (((4, 2, 3), (2, 1, 8)), (4, 2), (((2, 2), (2, 3)), ((4, 1), (2, 8)))),
    ((8, 12), (8, 1), ((8, 1), (12, 0)))])
def test_one_mode_is_the_tile_and_one_the_way_to_the_next(a, tiler, wanted):
    assert_matches(lesson.logical_divide, a, tiler, oracle=lambda a, tiler: wanted)


# Task 5: all of it in use -------------------------------------------------------------------------

def tile_by_hand(matrix, rows, columns, block):
    """The offsets of a tile, column by column."""
    (row_stride, column_stride), (down, across) = matrix[1], block
    return [row_stride * (rows * down + row) + column_stride * (columns * across + column)
            for column in range(columns) for row in range(rows)]


def tile_offsets(matrix, rows, columns, block):
    tile, first = lesson.block_tile(matrix, rows, columns, block)
    return [first + offset for offset in offsets(tile)]


def first_element(matrix, rows, columns, block):
    return lesson.block_tile(matrix, rows, columns, block)[1]


@pytest.mark.task(1, 3, 4, 5)
@pytest.mark.parametrize("block", [(0, 0), (1, 0), (0, 1), (1, 1)])
def test_the_tile_of_a_block_begins_where_its_rows_and_columns_begin(block):
    """Tiles of 4 x 6 of a matrix of 8 x 12, stored row by row."""
    assert_matches(first_element, ((8, 12), (12, 1)), 4, 6, block, oracle=lambda *args: 48 * block[0] + 6 * block[1])


@pytest.mark.task(1, 3, 4, 5)
@pytest.mark.parametrize("stride", [(12, 1), (1, 8), (40, 1), (24, 2)])
def test_a_tile_goes_by_the_strides_of_its_matrix(stride):
    assert_matches(tile_offsets, ((8, 12), stride), 4, 6, (1, 1), oracle=tile_by_hand)


@pytest.mark.task(1, 3, 4, 5)
@pytest.mark.edge
@pytest.mark.parametrize("rows, columns, block", [(8, 12, (0, 0)), (8, 3, (0, 3)), (1, 1, (7, 11)), (2, 12, (3, 0))])
def test_a_tile_may_be_as_large_as_the_matrix_or_as_small_as_an_element(rows, columns, block):
    assert_matches(tile_offsets, ((8, 12), (12, 1)), rows, columns, block, oracle=tile_by_hand)


def held(lane):
    """The (row, column) of the four values of a lane, by your layout of 16 x 8 sums."""
    places = offsets(lesson.fragment())
    return [(places[lane + 32 * value] % 16, places[lane + 32 * value] // 16) for value in range(4)]


@pytest.mark.task(5)
@pytest.mark.parametrize("lane", [0, 1, 4, 31])
def test_a_lane_holds_two_neighbours_of_a_row_and_two_of_eight_rows_below(lane):
    def by_hand(lane):
        row, column = lane // 4, 2 * (lane % 4)
        return [(row, column), (row, column + 1), (row + 8, column), (row + 8, column + 1)]

    assert_matches(held, lane, oracle=by_hand)


@pytest.mark.task(5)
def test_the_fragment_has_lanes_in_its_first_mode_and_values_in_its_second():
    shape, _ = lesson.fragment()
    assert shape == ((4, 8), (2, 2))


def request(layout, value):
    """The offsets that the 32 lanes have as their value of this number."""
    return offsets(layout)[32 * value: 32 * (value + 1)]


def pieces(tile, turn):
    """The four offsets of each lane in one request."""
    layout = lesson.warp_copy(tile)
    return list(zip(*(request(layout, 4 * turn + i) for i in range(4)), strict=True))


def copied(tile):
    return sorted(offsets(lesson.warp_copy(tile)))


@pytest.mark.task(5)
@pytest.mark.parametrize("rows", [1, 3])
def test_a_warp_copies_each_element_of_the_tile_once(rows):
    assert_matches(copied, ((rows, 128), (128, 1)), oracle=lambda tile: sorted(offsets(tile)))


@pytest.mark.task(5)
@pytest.mark.counters
@pytest.mark.parametrize("rows", [1, 3])
def test_each_lane_asks_for_sixteen_bytes_in_one_piece(rows):
    for turn in range(rows):
        torn = [piece for piece in pieces(((rows, 128), (128, 1)), turn)
                if [offset - piece[0] for offset in piece] != [0, 1, 2, 3] or piece[0] % 4]
        assert torn == []


@pytest.mark.task(5)
@pytest.mark.counters
@pytest.mark.parametrize("rows", [1, 3])
def test_each_request_of_512_bytes_takes_16_sectors(rows):
    for turn in range(rows):
        wanted = [offset for piece in pieces(((rows, 128), (128, 1)), turn) for offset in piece]
        sectors_of_the_request = lesson.sectors(wanted)
        assert sectors_of_the_request == 16


@pytest.mark.task(5)
@pytest.mark.parametrize("pitch", [200, 128 * 3])
def test_rows_of_the_tile_may_lie_further_apart_than_they_are_long(pitch):
    assert_matches(copied, ((3, 128), (pitch, 1)), oracle=lambda tile: sorted(offsets(tile)))


@pytest.mark.task(5)
@pytest.mark.parametrize("rows, pitch", [(1, 128), (3, 200)])
def test_the_copy_has_a_mode_of_32_lanes_and_one_of_their_values(rows, pitch):
    def modes_of_the_copy(tile):
        return extents(lesson.warp_copy(tile))

    assert_matches(modes_of_the_copy, ((rows, 128), (pitch, 1)), oracle=lambda tile: [32, 4 * rows])


def flipped(offset, bits, base, shift):
    """Bit by bit."""
    for place in range(base, base + bits):
        if offset // 2 ** (place + shift) % 2:
            offset = offset - 2**place if offset // 2**place % 2 else offset + 2**place
    return offset


@pytest.mark.task(5)
@pytest.mark.parametrize("offset", [0, 3, 4, 6, 9, 15, 16, 23])
def test_two_bits_flip_the_two_below_them(offset):
    assert_matches(lesson.swizzle, offset, 2, 0, 2, oracle=flipped)


@pytest.mark.task(5)
@pytest.mark.parametrize("bits, base, shift", [(1, 0, 1), (5, 0, 5), (3, 2, 3), (3, 3, 3), (2, 1, 4)])
def test_bits_flip_those_that_lie_shift_places_below(bits, base, shift, rng):
    for offset in [*range(16), *map(int, rng.integers(0, 4096, 12))]:
        assert_matches(lesson.swizzle, offset, bits, base, shift, oracle=flipped)


@pytest.mark.task(5)
@pytest.mark.counters
def test_columns_of_a_swizzled_tile_have_no_bank_conflicts():
    """A tile of 32 x 32, each column read by 32 lanes."""
    for column in range(32):
        wavefronts_of_a_column = lesson.wavefronts([lesson.swizzle(32 * row + column, 5, 0, 5) for row in range(32)])
        assert wavefronts_of_a_column == 1


@pytest.mark.task(5)
@pytest.mark.counters
def test_eight_rows_of_pieces_lie_in_all_32_banks():
    """A tile of 8 x 32: each lane reads four neighbours, and these stay neighbours."""
    for column in range(0, 32, 4):
        places = [lesson.swizzle(32 * row + column + i, 3, 2, 3) for row in range(8) for i in range(4)]
        wavefronts_of_eight_pieces = lesson.wavefronts(places)
        assert wavefronts_of_eight_pieces == 1
