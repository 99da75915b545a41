"""The lesson again, as checks: offsets, fewer modes, choice by a layout, tiles, threads and values, a swizzle."""

from itertools import product
from time import perf_counter

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
    """The offset of each index: the first mode runs fastest."""
    found = [0]
    for extent, stride in pairs(layout):
        found = [offset + stride * i for i in range(extent) for offset in found]
    return found


def with_offsets(found):
    """The layout of the fewest modes that has these offsets."""
    kept = []
    while len(found) > 1:
        step = found[1] - found[0]
        extent = next((i for i in range(len(found)) if found[i] != found[0] + i * step), len(found))
        kept.append((extent, step))
        found = found[::extent]
    return tuple(zip(*kept)) if len(kept) > 1 else (kept or [(1, 0)])[0]


def extents(layout):
    """The sizes of the modes at the top."""
    return [len(offsets(mode)) for mode in ([layout] if isinstance(layout[0], int) else zip(*layout, strict=True))]


def checked(layout, call):
    """A layout that the lesson returned; a failure where it is none."""
    try:
        is_layout = all(type(number) is int for pair in pairs(layout) for number in pair)
    except (TypeError, ValueError):
        is_layout = False
    assert is_layout, f"{call} is {layout}, and no layout: shape and stride need one form, of ints."
    return layout


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
@pytest.mark.parametrize("layout, wanted", [((5, 1), 5), ((5, 4), 17)])
def test_the_last_of_five_elements_is_four_strides_from_the_first(layout, wanted):
    assert_matches(lesson.cosize, layout, oracle=lambda layout: wanted)


@pytest.mark.task(1)
@pytest.mark.parametrize("layout, wanted", [(ROWS, 6), (((2, 3), (8, 1)), 11), (NESTED, 50)])
def test_cosize_reaches_from_0_to_the_last_element(layout, wanted):
    assert_matches(lesson.cosize, layout, oracle=lambda layout: wanted)


@pytest.mark.task(1)
@pytest.mark.edge
@pytest.mark.parametrize("layout", [(1, 7), (6, 0), ((3, 4), (0, 0))])
def test_a_layout_of_one_offset_spans_one_element(layout):
    assert_matches(lesson.cosize, layout, oracle=lambda layout: 1)


@pytest.mark.task(1)
def test_one_coordinate_tells_the_cosize():
    """Of 40,000 elements, as quick as a few offsets are found."""
    layout = ((200, 200), (200, 1))
    offsets_found = seconds(lesson.cosize, layout) / seconds(lesson.crd2idx, 39_999, layout)
    assert offsets_found < 200, (
        f"cosize took as long as {offsets_found:,.0f} calls of crd2idx. "
        "No stride is negative: which offset is the largest?"
    )


def seconds(function, *args):
    """The shortest of five."""
    times = []
    for _ in range(5):
        start = perf_counter()
        function(*args)
        times.append(perf_counter() - start)
    return min(times)


# Task 2: the same function, with fewer modes ------------------------------------------------------

def assert_coalesced(layout, wanted):
    call = f"coalesce({layout})"
    got = checked(lesson.coalesce(layout), call)
    before, after = offsets(layout), offsets(got)
    assert len(after) == len(before), f"{call} is {got}, of {len(after)} indices. Wanted: {wanted}, of {len(before)}."
    moved = next((index for index in range(len(before)) if after[index] != before[index]), None)
    assert moved is None, (f"{call} is {got}, wanted: {wanted}. Index {moved} had offset {before[moved]}, and has "
                           f"{after[moved]} now. The order of modes is the order of indices.")
    assert got == wanted, (f"{call} is {got}: each index has its offset, and it has with {wanted} too. Which two modes "
                           "stand side by side when you compare, and what becomes of one index?")


@pytest.mark.task(2)
@pytest.mark.parametrize("layout, wanted", [(((2, 3), (1, 2)), (6, 1)), (((3, 2), (0, 0)), (6, 0))])
def test_a_mode_that_goes_on_where_the_last_one_ends_is_joined_to_it(layout, wanted):
    assert_coalesced(layout, wanted)


@pytest.mark.task(2)
def test_two_indices_with_stride_4_end_at_8_where_stride_8_goes_on():
    assert_coalesced(((2, 3), (4, 8)), (6, 4))


@pytest.mark.task(2)
@pytest.mark.parametrize("layout", [ROWS, ((2, 3), (4, 4)), ((2, 3), (1, 3)), (5, 4)])
def test_modes_that_do_not_go_on_stay_as_they_are(layout):
    assert_coalesced(layout, layout)


@pytest.mark.task(2)
@pytest.mark.parametrize("layout, wanted", [
    (((2, 1, 3), (1, 9, 2)), (6, 1)),
    (((1, 4), (9, 2)), (4, 2)),
    (((4, 1), (2, 9)), (4, 2))])
def test_a_mode_of_size_1_is_left_out_whatever_its_stride(layout, wanted):
    assert_coalesced(layout, wanted)


@pytest.mark.task(2)
@pytest.mark.parametrize("layout, wanted", [
    (((2, 3, 5), (1, 2, 6)), (30, 1)),
    (((2, 3, 5, 2), (1, 2, 7, 35)), ((6, 10), (1, 7))),
    (((2, (2, 3)), (1, (2, 20))), ((4, 3), (1, 20)))])
def test_what_was_joined_may_be_joined_again_and_nothing_stays_nested(layout, wanted):
    assert_coalesced(layout, wanted)


@pytest.mark.task(2)
@pytest.mark.edge
@pytest.mark.parametrize("layout", [(1, 0), (1, 7), ((1, 1), (3, 5)), (((1, 1), 1), ((2, 3), 4))])
def test_one_index_is_left_as_1_to_0(layout):
    assert_coalesced(layout, (1, 0))


@pytest.mark.task(2)
def test_coalescing_keeps_all_offsets_of_all_small_layouts():
    for shape, stride in product(product((1, 2, 3), repeat=2), product((0, 1, 2, 3, 6), repeat=2)):
        assert_coalesced((shape, stride), with_offsets(offsets((shape, stride))))


@pytest.mark.task(2)
def test_coalescing_keeps_all_offsets_of_layouts_with_many_modes(rng):
    for modes in 10 * [3, 4, 5]:
        layout = tuple(map(int, rng.integers(1, 5, modes))), tuple(map(int, rng.integers(0, 30, modes)))
        assert_coalesced(layout, with_offsets(offsets(layout)))


# Task 3: elements chosen by another layout --------------------------------------------------------

TWO = ((6, 2), (8, 2))  # its offsets are 0 8 16 24 32 40 2 10 18 26 34 42


def assert_chosen(a, b):
    """All a(b(i)), for b of one mode."""
    call = f"composition({a}, {b})"
    got = checked(lesson.composition(a, b), call)
    of_a, found = offsets(a), offsets(got)
    places = [of_a[index] for index in offsets(b)]
    wanted = with_offsets(places)
    told = f"{call} is {got}, wanted: {wanted}."
    assert found, f"{told} It has a mode of size 0. When all of {b[0]} are given, how many are left by division?"
    assert len(found) == len(places), (f"{told} Indices: {len(found)}, and b has {len(places)}. "
                                       "How many are left after each mode?")
    wrong = next((index for index in range(len(places)) if found[index] != places[index]), None)
    assert wrong is None, (f"{told} Index {wrong} is index {wrong * b[1]} of a, at offset {places[wrong]}, and not "
                           f"{found[wrong]}. Which step has each mode of a?")
    assert got == wanted, f"{told} Each index has its offset: what is left to do is to coalesce."


@pytest.mark.task(3)
@pytest.mark.parametrize("b", [(3, 1), (3, 4), (12, 1)])
def test_of_one_mode_every_so_many_th_element(b):
    assert_chosen((12, 5), b)


@pytest.mark.task(3)
def test_one_index_is_chosen_as_1_to_0():
    assert_chosen((12, 5), (1, 3))


@pytest.mark.task(3)
@pytest.mark.parametrize("b", [(3, 1), (2, 3), (3, 2), (6, 1)])
def test_what_is_left_is_divided_by_what_a_mode_gives(b):
    """The first mode gives all, and 1 is left for the second."""
    assert_chosen(TWO, b)


@pytest.mark.task(3)
def test_goes_on_in_the_next_mode():
    assert_chosen(TWO, (12, 1))


@pytest.mark.task(3)
@pytest.mark.parametrize("a, b", [
    pytest.param(TWO, (4, 3), id="example"), (TWO, (6, 2)), (((4, 6), (6, 1)), (6, 2))])
def test_a_mode_gives_size_by_step_and_then_the_step_is_1(a, b):
    assert_chosen(a, b)


@pytest.mark.task(3)
@pytest.mark.parametrize("a, b", [(TWO, (2, 6)), *((((2, 3, 2, 4), (50, 7, 300, 1)), b) for b in (
    (2, 12), (2, 6), (4, 6), (2, 24)))])
def test_a_mode_that_the_step_passes_divides_the_step(a, b):
    assert_chosen(a, b)


@pytest.mark.task(3)
@pytest.mark.parametrize("a", [((2, 3), (1, 2)), ((3, 2, 4), (2, 6, 1)), ((2, (3, 2)), (5, (10, 30)))])
def test_a_step_may_fit_the_coalesced_modes_only(a):
    assert_chosen(a, (2, 3))


@pytest.mark.task(3)
@pytest.mark.parametrize("a, b, wanted", [
    (TWO, ((4, 3), (3, 1)), (((2, 2), 3), ((24, 2), 8))),
    (TWO, ((2, 3), (0, 1)), ((2, 3), (0, 8))),
    ((20, 2), ((5, 4), (4, 1)), ((5, 4), (8, 2))),
    ((24, 1), ((2, (3, 4)), (12, (4, 1))), ((2, (3, 4)), (12, (4, 1))))])
def test_each_mode_of_b_stays_a_mode(a, b, wanted):
    assert_matches(lesson.composition, a, b, oracle=lambda a, b: wanted)


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

def assert_fills(layout, n, wanted):
    call = f"complement({layout}, {n})"
    got = checked(lesson.complement(layout, n), call)
    reached = [move + offset for move in offsets(got) for offset in offsets(layout)]
    wrong = min((place for place in {*reached, *range(n)} if reached.count(place) != (0 <= place < n)), default=None)
    told = f"{call} is {got}, wanted: {wanted}."
    assert reached, f"{told} It has a mode of size 0. Which stride is the smallest, and does it come first?"
    assert wrong is None, (f"{told} {reached.count(wrong)} copies reach offset {wrong}, where "
                           f"{int(0 <= wrong < n)} should. How many offsets are full after each mode?")
    assert got == wanted, f"{told} Each offset is reached once: what is left to do is to coalesce."


@pytest.mark.task(4)
@pytest.mark.parametrize("layout, n, wanted", [
    ((4, 1), 24, (6, 4)),
    ((6, 4), 24, (4, 1)),
    ((4, 2), 24, ((2, 3), (1, 8))),
    (((2, 4), (1, 6)), 24, (3, 2)),
    (((2, 2), (1, 6)), 24, ((3, 2), (2, 12)))])
def test_copies_of_the_layout_fill_the_gaps_and_then_the_rest(layout, n, wanted):
    assert_fills(layout, n, wanted)


@pytest.mark.task(4)
@pytest.mark.parametrize("layout, n, wanted", [(((4, 2), (6, 1)), 24, (3, 2)), (((2, 3), (12, 1)), 24, (4, 3))])
def test_the_smallest_stride_comes_first_wherever_it_stands(layout, n, wanted):
    assert_fills(layout, n, wanted)


@pytest.mark.task(4)
@pytest.mark.edge
@pytest.mark.parametrize("layout, n, wanted", [
    ((1, 0), 5, (5, 1)), ((1, 3), 6, (6, 1)), (((1, 2), (4, 1)), 6, (3, 2)), ((1, 0), 1, (1, 0))])
def test_a_mode_of_size_1_leaves_no_gap(layout, n, wanted):
    assert_fills(layout, n, wanted)


@pytest.mark.task(4)
@pytest.mark.edge
def test_nothing_is_left_of_a_full_layout():
    assert_fills(((4, 6), (1, 4)), 24, (1, 0))


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
            n = 2 * stride
            moves = checked(lesson.complement(layout, n), f"complement({layout}, {n})")
            reached = [move + offset for move in offsets(moves) for offset in offsets(layout)]
            wrong = min((x for x in {*reached, *range(n)} if reached.count(x) != (0 <= x < n)), default=None)
            told = f"complement({layout}, {n}) is {moves}: {reached.count(wrong)} copies reach offset {wrong}."
            assert wrong is None, told


@pytest.mark.task(3, 4)
@pytest.mark.parametrize("a, tiler, wanted", [
    ((12, 5), (4, 1), ((4, 3), (5, 20))),
    ((12, 1), (4, 3), ((4, 3), (3, 1))),
    (((4, 2, 3), (2, 1, 8)), (4, 2), (((2, 2), (2, 3)), ((4, 1), (2, 8)))),
    ((8, 12), (8, 1), ((8, 1), (12, 0)))])
def test_one_mode_is_the_tile_and_one_the_way_to_the_next(a, tiler, wanted):
    assert_matches(lesson.logical_divide, a, tiler, oracle=lambda a, tiler: wanted)


@pytest.mark.task(3, 4)
@pytest.mark.parametrize("stride", [2, 5])
def test_tiles_share_out_the_size_of_a_and_not_its_cosize(stride):
    """12 indices, however far apart they lie."""
    call = f"logical_divide((12, {stride}), (4, 3))"
    got, wanted = checked(lesson.logical_divide((12, stride), (4, 3)), call), ((4, 3), (3 * stride, stride))
    more = ": right, with a mode too many. n is for 12 indices: size(a[0]), the shape's" if (
        offsets(got) == offsets(wanted)) else ""
    assert got == wanted, f"{call} is {got}{more}. Wanted: {wanted}."


# Task 5: all of it in use -------------------------------------------------------------------------

def assert_tile(matrix, rows, columns, block):
    """Element by element, down the columns."""
    call = f"block_tile({matrix}, {rows}, {columns}, {block})"
    tile, first = lesson.block_tile(matrix, rows, columns, block)
    got = [first + offset for offset in offsets(checked(tile, f"The tile of {call}"))]
    assert len(got) == rows * columns, f"The tile of {call} has {len(got)} elements, wanted: {rows * columns}."
    height, of_matrix = extents(matrix)[0], offsets(matrix)
    for index, (column, row) in enumerate(product(range(columns), range(rows))):
        wanted = of_matrix[rows * block[0] + row + height * (columns * block[1] + column)]
        assert got[index] == wanted, f"{call}: row {row}, column {column} is at {got[index]}, wanted: {wanted}."


@pytest.mark.task(1, 3, 4, 5)
@pytest.mark.parametrize("block", [(0, 0), (1, 0), (0, 1), (1, 1)])
def test_the_tile_of_a_block_begins_where_its_rows_and_columns_begin(block):
    """Tiles of 4 x 6 of a matrix of 8 x 12, stored row by row."""
    _, first = lesson.block_tile(((8, 12), (12, 1)), 4, 6, block)
    begins = {(down, across): 48 * down + 6 * across for down in (0, 1) for across in (0, 1)}
    other = next((other for other, place in begins.items() if place == first), None)
    why = f" There begins block {other}: block is (down, across)." if other == block[::-1] else ""
    wanted = begins[block]
    assert first == wanted, f"block_tile(((8, 12), (12, 1)), 4, 6, {block}) begins at {first}, wanted: {wanted}.{why}"


@pytest.mark.task(1, 3, 4, 5)
@pytest.mark.parametrize("stride", [(12, 1), (1, 8), (40, 1), (24, 2)])
def test_a_tile_goes_by_the_strides_of_its_matrix(stride):
    assert_tile(((8, 12), stride), 4, 6, (1, 1))


@pytest.mark.task(1, 3, 4, 5)
@pytest.mark.parametrize("block", [(0, 0), (1, 0), (1, 1)])
def test_a_tile_of_nested_rows_goes_by_all_their_strides(block):
    """Rows in pairs, 12 apart; a row of the matrix is 1 from the other of its pair."""
    assert_tile((((2, 4), 6), ((1, 12), 2)), 4, 3, block)


@pytest.mark.task(1, 3, 4, 5)
@pytest.mark.edge
@pytest.mark.parametrize("rows, columns, block", [(8, 12, (0, 0)), (8, 3, (0, 3)), (1, 1, (7, 11)), (2, 12, (3, 0))])
def test_a_tile_may_be_as_large_as_the_matrix_or_as_small_as_an_element(rows, columns, block):
    assert_tile(((8, 12), (12, 1)), rows, columns, block)


@pytest.mark.task(5)
def test_the_fragment_has_lanes_in_its_first_mode_and_values_in_its_second():
    got = checked(lesson.fragment(), "fragment()")
    assert got != ((4, 8), (2, 2)), "fragment() is the shape alone. A layout is a pair: shape, stride."
    assert got[0] == ((4, 8), (2, 2))


@pytest.mark.task(5)
@pytest.mark.parametrize("lane", [0, 1, 4, 31])
def test_a_lane_holds_two_neighbours_of_a_row_and_two_of_eight_rows_below(lane):
    indices = offsets(checked(lesson.fragment(), "fragment()"))[lane::32]
    places = [(index % 16, index // 16) for index in indices]  # index 17 is row 1, column 1
    row, column = lane // 4, 2 * (lane % 4)
    wanted = [(row, column), (row, column + 1), (row + 8, column), (row + 8, column + 1)]
    assert places == wanted, f"Lane {lane} holds indices {indices}: (row, column) {places}, wanted: {wanted}."


def requests(tile):
    """What the 32 lanes ask for in each request: a list for each, of four offsets for each lane."""
    rows, call = extents(tile)[0], f"warp_copy({tile})"
    layout = checked(lesson.warp_copy(tile), call)
    assert extents(layout) == [32, 4 * rows], f"{call} has modes of {extents(layout)}, wanted: [32, {4 * rows}]."
    found = offsets(layout)
    return [[found[lane + 128 * turn: 128 * (turn + 1): 32] for lane in range(32)] for turn in range(rows)]


def assert_copied_once(tile):
    copied = [offset for request in requests(tile) for piece in request for offset in piece]
    left_out, outside = sorted({*offsets(tile)} - {*copied}), sorted({*copied} - {*offsets(tile)})
    assert not outside, f"warp_copy({tile}) loads offset {outside[0]}, which is not of the tile."
    assert not left_out, f"warp_copy({tile}) leaves {len(left_out)} elements out, the first at {left_out[0]}."


@pytest.mark.task(3, 5)
@pytest.mark.parametrize("rows", [1, 4])
def test_the_copy_has_a_mode_of_32_lanes_and_one_of_their_values(rows):
    requests(((rows, 128), (128, 1)))


@pytest.mark.task(3, 5)
@pytest.mark.counters
@pytest.mark.parametrize("rows", [1, 4, 3])
def test_each_lane_asks_for_sixteen_bytes_in_one_piece(rows):
    for request in requests(((rows, 128), (128, 1))):
        for lane, piece in enumerate(request):
            one_piece = [piece[0] // 4 * 4 + i for i in range(4)]
            why = (" Each is of another row: indices of a tile run down its rows, and of a lane's values the four of a "
                   "request come first.") if piece[1] - piece[0] == 128 else ""
            assert piece == one_piece, f"Lane {lane} asks for {piece}, wanted: 4 neighbours, from 4 * n on.{why}"


@pytest.mark.task(3, 5)
@pytest.mark.counters
@pytest.mark.parametrize("rows", [1, 4, 3])
def test_each_request_of_512_bytes_takes_16_sectors(rows):
    for request in requests(((rows, 128), (128, 1))):
        sectors_of_the_request = lesson.sectors([offset for piece in request for offset in piece])
        assert sectors_of_the_request == 16, (
            f"Lanes 0 and 1 ask for offsets from {request[0][0]} and from {request[1][0]} on, 4 each. "
            "Which lanes' pieces should be neighbours?")


@pytest.mark.task(3, 5)
@pytest.mark.parametrize("rows", [1, 4, 3])
def test_a_warp_copies_each_element_of_the_tile_once(rows):
    assert_copied_once(((rows, 128), (128, 1)))


@pytest.mark.task(3, 5)
@pytest.mark.parametrize("pitch", [200, 128 * 3])
def test_rows_of_the_tile_may_lie_further_apart_than_they_are_long(pitch):
    assert_copied_once(((3, 128), (pitch, 1)))


@pytest.mark.task(3, 5)
@pytest.mark.parametrize("rows", [((2, 2), (128, 1024)), ((3, 4), (1024, 128))])
def test_rows_of_the_tile_may_be_nested(rows):
    assert_copied_once(((rows[0], 128), (rows[1], 1)))


@pytest.mark.task(3, 5)
@pytest.mark.parametrize("rows, columns", [(3, ((32, 4), (1, 96))), (4, ((64, 2), (1, 256)))])
def test_columns_of_the_tile_may_lie_in_panels(rows, columns):
    """Panels of 32 or 64 columns, one behind the other; in a panel the rows follow each other."""
    width = columns[0][0]
    assert_copied_once(((rows, columns[0]), (width, columns[1])))


def flipped(offset, bits, base, shift):
    """Bit by bit."""
    for place in range(base, base + bits):
        if offset // 2 ** (place + shift) % 2:
            offset = offset - 2**place if offset // 2**place % 2 else offset + 2**place
    return offset


def assert_flipped(offset, bits, base, shift):
    call = f"swizzle(0b{offset:05b}, bits={bits}, base={base}, shift={shift})"
    got, wanted = lesson.swizzle(offset, bits, base, shift), flipped(offset, bits, base, shift)
    assert type(got) is int, f"{call} is {got!r}, and no int."
    if got == wanted:
        return
    place = ((got ^ wanted) & -(got ^ wanted)).bit_length() - 1  # the lowest bit that differs
    if got == offset + (wanted ^ offset):
        why = "That is a sum, and a sum carries from bit to bit. Which operator flips a bit and no other?"
    elif place not in range(base, base + bits):
        last = base + bits - 1
        why = f"Bit {place} is none of {base} to {last}, and stays. Does your mask have {bits} ones, from {base} on?"
    elif offset >> place + shift & 1:
        why = f"Bit {place + shift} is 1, so bit {place} is flipped. Does your mask have {bits} ones?"
    else:
        why = f"Bit {place + shift} is 0, so bit {place} stays. From where do the bits come that flip?"
    raise AssertionError(f"{call} is 0b{got:05b}, wanted: 0b{wanted:05b}. {why}")


@pytest.mark.task(5)
@pytest.mark.parametrize("offset", [0b0100, 0b1000])
def test_each_of_the_two_upper_bits_flips_the_one_two_places_lower(offset):
    assert_flipped(offset, 2, 0, 2)


@pytest.mark.task(5)
@pytest.mark.parametrize("offset", [0, 3, 6, 9, 15, 16, 23])
def test_two_bits_flip_the_two_below_them(offset):
    assert_flipped(offset, 2, 0, 2)


@pytest.mark.task(5)
@pytest.mark.parametrize("bits, base, shift", [(1, 0, 1), (5, 0, 5), (3, 2, 3), (3, 3, 3), (2, 1, 4)])
def test_bits_flip_those_that_lie_shift_places_below(bits, base, shift, rng):
    for offset in [*range(16), *map(int, rng.integers(0, 4096, 12))]:
        assert_flipped(offset, bits, base, shift)


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
