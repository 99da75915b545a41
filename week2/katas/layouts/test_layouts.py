"""The lesson again, as checks: offsets, fewer modes, choice by a layout, tiles, threads and values, a swizzle."""

from contextlib import contextmanager, suppress
from itertools import pairwise, product
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


def checked(layout, call, question="Which stride has each number of its shape?"):
    """A layout that the lesson returned; a failure where it is none."""
    try:
        is_layout = all(type(number) is int for pair in pairs(layout) for number in pair)
    except (TypeError, ValueError):
        is_layout = False
    if not is_layout:
        if isinstance(layout, list):
            question = "It is a list: which function, given, makes one layout of modes?"
        raise AssertionError(f"{call} is {layout}, and no layout: shape and stride need one form, of ints. {question}")
    return layout


def written(mode):
    """As the lesson writes it: 2:3."""
    return "{}:{}".format(*mode).replace(" ", "")


@contextmanager
def asking(question):
    """A question below an error that the lesson raises in here."""
    try:
        yield
    except (TypeError, ValueError, ZeroDivisionError) as raised:
        raised.add_note(question)
        raise


# Task 1: the layout as a function -----------------------------------------------------------------

def what_makes_a_number(coordinate, layout):
    """The question to a coordinate that was not taken apart as far as it must be."""
    if isinstance(coordinate, int):
        return f"{coordinate} is an index here, of a layout with two modes: what makes a coordinate of it?"
    for part, mode in zip(coordinate, zip(*layout, strict=True), strict=True):
        if isinstance(mode[0], tuple):
            return (f"{part} is an index of the mode {written(mode)}: what makes a coordinate of it?"
                    if isinstance(part, int) else
                    f"The mode {written(mode)} is a layout itself: which function gives the offset of {part} in it?")
    return "Each number goes with a mode of its own: which function, given, lists the modes?"


def what_it_is(got, coordinate, layout):
    """What came back in place of the offset, and a question; "" where that is not known."""
    asked, (shape, strides) = what_makes_a_number(coordinate, layout), layout
    if isinstance(got, tuple):
        return f"An int times a tuple repeats the tuple. {asked}"
    if layout != ROWS:
        return ""
    if isinstance(coordinate, int):
        of_index = [(row, column) for column in range(shape[1]) for row in range(shape[0])]
        if got in offsets(layout):
            return (f"At {got} lies {of_index[offsets(layout).index(got)]}, and index {coordinate} is "
                    f"{of_index[coordinate]}. Which number of a coordinate runs fastest?")
        return f"That is {coordinate} * {strides[0]}. {asked}" if got == coordinate * strides[0] else ""
    row, column = coordinate
    if got == row + shape[0] * column:
        return f"{got} is its index, counted by the shape {shape}. Which strides has the layout?"
    if got == row * strides[1] + column * strides[0]:
        return f"{got} is {strides[1]} * {row} + {strides[0]} * {column}. Which stride belongs to which number?"
    return ""


def assert_offset(coordinate, layout, oracle):
    with asking(what_makes_a_number(coordinate, layout)):
        got = lesson.crd2idx(coordinate, layout)
    wanted = oracle(coordinate, layout)
    if got != wanted and (what := what_it_is(got, coordinate, layout)):
        raise AssertionError(f"crd2idx({coordinate}, {layout}) is {got}, wanted: {wanted}. {what}")
    assert_matches(lesson.crd2idx, coordinate, layout, oracle=oracle)


@pytest.mark.task(1)
@pytest.mark.parametrize("coordinate", [(0, 1), (1, 0), (1, 2)])
def test_each_number_of_a_coordinate_counts_as_often_as_its_stride_says(coordinate):
    assert_offset(coordinate, ROWS, oracle=lambda crd, layout: 3 * crd[0] + crd[1])


@pytest.mark.task(1)
def test_a_mode_alone_multiplies():
    assert_matches(lesson.crd2idx, 3, (5, 4), oracle=lambda crd, layout: 12)


@pytest.mark.task(1)
@pytest.mark.parametrize("index", [1, 2, 3, 5, 0])
def test_an_index_counts_coordinates_with_the_first_number_fastest(index):
    assert_offset(index, ROWS, oracle=lambda index, layout: offsets(layout)[index])


@pytest.mark.task(1)
@pytest.mark.parametrize("coordinate", [(1, (0, 0)), (0, (1, 0)), (0, (1, 2)), (1, (1, 2))])
def test_a_mode_may_be_a_layout_of_its_own(coordinate):
    def by_hand(crd, layout):
        return 6 * crd[0] + 3 * crd[1][0] + 20 * crd[1][1]

    assert_offset(coordinate, NESTED, oracle=by_hand)


@pytest.mark.task(1)
@pytest.mark.parametrize("coordinate", [(0, 1), (1, 2), (0, 5)])
def test_a_nested_mode_takes_an_index_too(coordinate):
    def by_hand(crd, layout):
        return 6 * crd[0] + 3 * (crd[1] % 2) + 20 * (crd[1] // 2)

    assert_offset(coordinate, NESTED, oracle=by_hand)


def assert_cosize(layout, wanted):
    got, count, last = lesson.cosize(layout), len(offsets(layout)), offsets(layout)[-1]
    behind = sum(extent * stride for extent, stride in pairs(layout))
    why = {behind: f"At {behind} would lie index {count}. Which index has the last of {count} elements?",
           behind + 1: f"At {behind} would lie index {count}. Which index has the last of {count} elements?",
           count: f"{count} is the size. At which offset does the last of {count} elements lie?",
           last: f"{last} is the last offset. They begin at 0: how many offsets are there up to it?"}
    if got != wanted and got in why:
        raise AssertionError(f"cosize({layout}) is {got}, wanted: {wanted}. {why[got]}")
    assert_matches(lesson.cosize, layout, oracle=lambda layout: wanted)


@pytest.mark.task(1)
@pytest.mark.parametrize("layout, wanted", [((5, 1), 5), ((5, 4), 17)])
def test_the_last_of_five_elements_is_four_strides_from_the_first(layout, wanted):
    assert_cosize(layout, wanted)


@pytest.mark.task(1)
@pytest.mark.parametrize("layout, wanted", [(ROWS, 6), (((2, 3), (8, 1)), 11), (NESTED, 50)])
def test_cosize_reaches_from_0_to_the_last_element(layout, wanted):
    assert_cosize(layout, wanted)


@pytest.mark.task(1)
@pytest.mark.edge
@pytest.mark.parametrize("layout", [(1, 7), (6, 0), ((3, 4), (0, 0))])
def test_a_layout_of_one_offset_spans_one_element(layout):
    assert_cosize(layout, 1)


@pytest.mark.task(1)
def test_one_coordinate_tells_the_cosize():
    """Of 40,000 elements, as quick as a few offsets are found."""
    layout = ((200, 200), (200, 1))
    offsets_found = seconds(lesson.cosize, layout) / seconds(lesson.crd2idx, 39_999, layout)
    if offsets_found >= 200:
        raise AssertionError(f"cosize took as long as {offsets_found:,.0f} calls of crd2idx. "
                             "No stride is negative: which offset is the largest?")


def seconds(function, *args):
    """The shortest of five."""
    times = []
    for _ in range(5):
        start = perf_counter()
        function(*args)
        times.append(perf_counter() - start)
    return min(times)


# Task 2: the same function, with fewer modes ------------------------------------------------------

def why_moved(layout, got, wanted, moved):
    """The question to a layout whose index `moved` is the first with another offset."""
    if sorted(offsets(got)) == sorted(offsets(layout)):
        return "The order of modes is the order of indices: what changes it?"
    if moved == 1:
        return "The step from index 0 to index 1 is the stride of the first mode: which stride have two joined modes?"
    size = 1
    for (extent, stride), after in pairwise(pairs(wanted)):
        size *= extent
        if size == moved:
            return (f"{extent}:{stride} ends at {extent} * {stride} = {extent * stride}, and {written(after)} goes on "
                    f"at {after[1]}: which modes are joined?")
    return "Which modes are joined, and which stride has the one that they become?"


def why_too_many(layout, got):
    """The question to a layout that has each offset, with a mode too many or in another form."""
    alone = [pair for pair in pairs(got) if pair[0] == 1]
    if len(offsets(got)) == 1:
        return "It has one index. Which layout is that, whatever the stride was?"
    if alone:
        return f"Mode {written(alone[0])} has one index: which modes are left out?"
    for one, after in pairwise(pairs(got)):
        if one[0] * one[1] == after[1] and all(isinstance(part, int) for part in got[0]):
            goes_on = f"{written(one)} ends at {one[0]} * {one[1]} = {after[1]}, and {written(after)} goes on there. "
            small = next((pair for pair in pairs(layout) if pair[0] == 1), None)
            if small:
                return f"{goes_on}Is {written(small)} left out before you compare?"
            if one not in pairs(layout):
                return f"{goes_on}{written(one)} is joined itself: with which mode do you compare the next one?"
            return f"{goes_on}With what do you compare its stride?"
    return "It is nested. Which function, given, lists all modes of two ints, and which joins them?"


def assert_coalesced(layout, wanted):
    call = f"coalesce({layout})"
    got = checked(lesson.coalesce(layout), call)
    before, after = offsets(layout), offsets(got)
    if len(after) != len(before):
        raise AssertionError(f"{call} is {got}, of {len(after)} indices. Wanted: {wanted}, of {len(before)}. "
                             "Which size have two modes that are joined, and which mode is lost?")
    moved = next((index for index in range(len(before)) if after[index] != before[index]), None)
    if moved is not None:
        raise AssertionError(f"{call} is {got}, wanted: {wanted}. Index {moved} had offset {before[moved]}, and has "
                             f"{after[moved]} now. {why_moved(layout, got, wanted, moved)}")
    if got != wanted:
        raise AssertionError(f"{call} is {got}: each index has its offset, and it has with {wanted} too. "
                             f"{why_too_many(layout, got)}")


@pytest.mark.task(2)
@pytest.mark.parametrize("layout, wanted", [(((2, 3), (1, 2)), (6, 1)), (((3, 4), (1, 3)), (12, 1))])
def test_a_mode_that_goes_on_where_the_last_one_ends_is_joined_to_it(layout, wanted):
    assert_coalesced(layout, wanted)


@pytest.mark.task(2)
def test_two_indices_with_stride_4_end_at_8_where_stride_8_goes_on():
    assert_coalesced(((2, 3), (4, 8)), (6, 4))


@pytest.mark.task(2)
def test_modes_of_stride_0_end_at_0_and_go_on_there():
    assert_coalesced(((3, 2), (0, 0)), (6, 0))


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


def shares(a, b):
    """For each mode of a, coalesced: the mode, how many of b's indices it tells apart, their step, those before it."""
    found, below, before = [], 1, 1
    for mode in pairs(with_offsets(offsets(a))):
        places = [b[1] * index // below % mode[0] for index in range(b[0])]
        count = len({*places})
        found.append((mode, count, places[before] if count > 1 else 0, before))
        below, before = below * mode[0], before * count
    return found


def sizes_reached(layout):
    """How many indices its first modes have together: 1, then 2, then 6."""
    reached = [1]
    for extent, _ in pairs(layout):
        reached.append(reached[-1] * extent)
    return reached


def why_not_as_many(a, b, got):
    """The question to a choice that has another number of indices than b."""
    given, reached = shares(a, b), sizes_reached(got)
    mode, count, _, before = next((each for each in given if each[1] * each[3] not in reached), given[-1])
    told = f"Indices: {reached[-1]}, and b has {b[0]}. "
    if before > 1:
        told += (f"The modes of a before {written(mode)} give {before}, so left is {b[0]} // {before} = "
                 f"{b[0] // before}, of which mode {written(mode)} gives {count}. ")
    else:
        told += f"Mode {written(mode)} of a gives {count} of them. "
    if reached[-1] > b[0]:
        return told + ("What is left after each mode?" if before > 1 else "Does a mode give more than are left?")
    return f"{told}Does the loop come to it, and which step has it there?"


def why_elsewhere(a, b, got, wrong):
    """The question to a choice whose index `wrong` is the first with another offset."""
    given, coalesced = shares(a, b), with_offsets(offsets(a))
    if a != coalesced and offsets(lesson.composition(coalesced, b)) == [offsets(a)[i] for i in offsets(b)]:
        return f"With a = {coalesced}, which is the same coalesced, it is right. What is done to a first?"
    place = max(i for i, (_, count, _, before) in enumerate(given) if before <= wrong and count > 1)
    mode, _, step, before = given[place]
    if before in sizes_reached(got):
        return (f"In mode {written(mode)} of a b's indices lie {step} apart: which step has it there, and at which "
                "stride does it give them?")
    mode, _, step, _ = next(each for each in given if each[3] * each[1] == before)
    if step == 1:
        return (f"Mode {written(mode)} of a comes before it, and has no more than {mode[0]} indices: "
                "in which mode does the loop go on?")
    return f"Mode {written(mode)} of a comes before it: how many of its {mode[0]} indices are {step} apart?"


def assert_chosen(a, b):
    """All a(b(i)), for b of one mode."""
    call = f"composition({a}, {b})"
    with asking("A step is 1 or more, and so is what is left: what makes one of them 0?"):
        got = checked(lesson.composition(a, b), call)
    of_a, found = offsets(a), offsets(got)
    places = [of_a[index] for index in offsets(b)]
    wanted = with_offsets(places)
    told = f"{call} is {got}, wanted: {wanted}."
    if not found and b[0] in sizes_reached(got):
        raise AssertionError(f"{told} It has a mode of size 0. When all of {b[0]} are given, how many are left by "
                             "division?")
    if not found:
        raise AssertionError(f"{told} It has a mode of size 0. How many indices does a mode give, at this step?")
    if len(found) != len(places):
        raise AssertionError(f"{told}\n{why_not_as_many(a, b, got)}")
    wrong = next((index for index in range(len(places)) if found[index] != places[index]), None)
    if wrong is not None:
        raise AssertionError(f"{told}\nIndex {wrong} is index {wrong * b[1]} of a, at offset {places[wrong]}, and not "
                             f"{found[wrong]}. {why_elsewhere(a, b, got, wrong)}")
    if got != wanted:
        raise AssertionError(f"{told} Each index has its offset: what is left to do is to coalesce.")


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

def why_not_full(layout, n, got, wanted, wrong):
    """The question to moves by which not each offset below n is reached once; `wrong` is the lowest of those."""
    reached = sorted(move + offset for move in offsets(got) for offset in offsets(layout))
    if len(reached) < n and reached == [*range(len(reached))]:
        return f"The offsets below {len(reached)} are full, and n is {n}: what fills the others?"
    differ = next((both for both in zip(pairs(got), pairs(wanted)) if both[0] != both[1]), None)
    if differ and differ[0][1] == differ[1][1]:
        count, apart = differ[0]
        return (f"{count} copies, {apart} apart, take {count * apart} offsets. How many are there to fill, in the "
                "gap or up to n?")
    if wrong < offsets(layout)[-1] and wrong not in reached:
        return f"Offset {wrong} is in a gap of the layout: how many copies fill it, and how far apart?"
    return how_many_are_full(layout, got)


def how_many_are_full(layout, got):
    """The question to moves, by the first of them that is not as long as the offsets that are full before it."""
    full = {1, *(extent * stride for extent, stride in pairs(layout))}
    strange = next((apart for _, apart in pairs(got) if apart not in full), None)
    if strange is None:
        return "How many offsets are full after each mode?"
    last = f"mode {written(layout)}" if isinstance(layout[0], int) else "each mode"
    return f"Its copies are {strange} apart, as if {strange} offsets were full. How many are full after {last}?"


def assert_fills(layout, n, wanted):
    call = f"complement({layout}, {n})"
    small = next((written(mode) for mode in pairs(layout) if mode[0] == 1), None)
    with asking(f"{small} has one index and leaves no gap: which modes are left out?" if small else
                "At first 1 offset is full, and then more: what makes it 0?"):
        got = checked(lesson.complement(layout, n), call)
    reached = [move + offset for move in offsets(got) for offset in offsets(layout)]
    wrong = min((place for place in {*reached, *range(n)} if reached.count(place) != (0 <= place < n)), default=None)
    told = f"{call} is {got}, wanted: {wanted}."
    copies = "1 copy reaches" if reached.count(wrong) == 1 else f"{reached.count(wrong)} copies reach"
    if not reached:
        raise AssertionError(f"{told} It has a mode of size 0. Which stride is the smallest, and does it come first?")
    if wrong is not None:
        raise AssertionError(f"{told}\n{copies} offset {wrong}, where "
                             f"{int(0 <= wrong < n)} should. {why_not_full(layout, n, got, wanted, wrong)}")
    if got != wanted:
        raise AssertionError(f"{told} Each offset is reached once: what is left to do is to coalesce.")


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
            if wrong is not None:
                raise AssertionError(f"complement({layout}, {n}) is {moves}: {reached.count(wrong)} copies reach "
                                     f"offset {wrong}. {how_many_are_full(layout, moves)}")


def what_is_divided(got, wanted, tiler):
    """What the two modes are instead, and a question; "" where that is not known."""
    found, needed = extents(got), extents(wanted)
    if found != needed and offsets(got) == offsets(wanted):
        return (f"Each index has its offset, but the modes have {found} indices, wanted: {needed}, the tile and the "
                "moves. Which call makes other modes of these two?")
    if found[1:] != needed[1:] and len(found) == 2 and offsets(got)[: found[0]] == offsets(wanted)[: needed[0]]:
        return (f"The tile is right. Its moves are {found[1]}, wanted: {needed[1]}. Of which layout do you take the "
                "complement, and in which n?")
    if found != needed and found == [*tiler]:
        return (f"Its modes have {found[0]} and {found[1]} indices, as if {tiler} were a shape. A layout is a pair "
                "too: what makes one layout of two?")
    if found != needed and found == needed[::-1]:
        return f"Its first mode has {found[0]} indices, and a tile has {needed[0]}. Which of the two comes first?"
    if found != needed:
        return (f"Its modes have {found} indices, wanted: {needed}. Which layout chooses, and how many moves does the "
                "tiler need?")
    if offsets(got)[: needed[0]] == offsets(tiler):
        return f"Its tile is {written(tiler)}, the tiler: these are indices of a. What takes each to its offset in a?"
    return ""


def assert_divided(a, tiler, wanted):
    call = f"logical_divide({a}, {tiler})"
    try:
        got = checked(lesson.logical_divide(a, tiler), call)
    except ZeroDivisionError:  # most likely in composition, which is right: what it was given is not
        raise AssertionError(f"{call} raises ZeroDivisionError. A mode of size 0 in b makes composition do so, and "
                             "complement gives one if more offsets are full than n. Of which layout do you take the "
                             "complement, and in which n?") from None
    if got != wanted and (what := what_is_divided(got, wanted, tiler)):
        raise AssertionError(f"{call} is {got}, wanted: {wanted}. {what}")
    assert_matches(lesson.logical_divide, a, tiler, oracle=lambda a, tiler: wanted)


@pytest.mark.task(3, 4)
@pytest.mark.parametrize("a, tiler, wanted", [
    ((12, 5), (4, 1), ((4, 3), (5, 20))),
    ((12, 1), (4, 3), ((4, 3), (3, 1))),
    (((4, 2, 3), (2, 1, 8)), (4, 2), (((2, 2), (2, 3)), ((4, 1), (2, 8)))),
    ((8, 12), (8, 1), ((8, 1), (12, 0)))])
def test_one_mode_is_the_tile_and_one_the_way_to_the_next(a, tiler, wanted):
    assert_divided(a, tiler, wanted)


@pytest.mark.task(3, 4)
@pytest.mark.parametrize("stride", [2, 5])
def test_tiles_share_out_the_size_of_a_and_not_its_cosize(stride):
    """12 indices, however far apart they lie."""
    call, wanted = f"logical_divide((12, {stride}), (4, 3))", ((4, 3), (3 * stride, stride))
    got = checked(lesson.logical_divide((12, stride), (4, 3)), call)
    if got != wanted and offsets(got) == offsets(wanted):
        raise AssertionError(f"{call} is {got}, wanted: {wanted}. It is right, with a mode too many. n is for 12 "
                             "indices: size(a[0]), the shape's. Which n has yours?")
    assert_divided((12, stride), (4, 3), wanted)


# Task 5: all of it in use -------------------------------------------------------------------------

TILERS = ("A tiler chooses indices of the rows, or of the columns: which stride has it for neighbours, whatever theirs "
          "is in memory?")


def tile_and_first(matrix, rows, columns, block):
    """What block_tile gives, if it is a layout and an int."""
    call = f"block_tile({matrix}, {rows}, {columns}, {block})"
    nested = next((mode for mode in zip(*matrix, strict=True) if isinstance(mode[0], tuple)), None)
    divides = (f"The mode {written(nested)} of the matrix is nested and has no stride of its own. Which function, "
               "given, divides such modes?" if nested else "Which stride has each number of its shape?")
    with asking(divides if nested else
                f"Tilers are layouts, and {rows} is a number: which layout has the first rows as its indices?"):
        tile, first = lesson.block_tile(matrix, rows, columns, block)
    if isinstance(first, tuple):
        raise AssertionError(f"{call} ends with {first}, wanted: an int. What does it return beside the tile?")
    return checked(tile, f"The tile of {call}", divides), first


def assert_tile(matrix, rows, columns, block):
    """Element by element, down the columns."""
    call = f"block_tile({matrix}, {rows}, {columns}, {block})"
    tile, first = tile_and_first(matrix, rows, columns, block)
    got = [first + offset for offset in offsets(tile)]
    if len(got) != rows * columns:
        raise AssertionError(f"The tile of {call} has {len(got)} elements, wanted: {rows * columns}. {TILERS}")
    height, of_matrix = extents(matrix)[0], offsets(matrix)
    for index, (column, row) in enumerate(product(range(columns), range(rows))):
        wanted = of_matrix[rows * block[0] + row + height * (columns * block[1] + column)]
        if got[index] != wanted:
            raise AssertionError(f"{call}: row {row}, column {column} is at {got[index]}, wanted: {wanted}. "
                                 "Which strides has the matrix?")


@pytest.mark.task(1, 3, 4, 5)
@pytest.mark.parametrize("block", [(0, 0), (1, 0), (0, 1), (1, 1)])
def test_the_tile_of_a_block_begins_where_its_rows_and_columns_begin(block):
    """Tiles of 4 x 6 of a matrix of 8 x 12, stored row by row."""
    call, wanted = f"block_tile(((8, 12), (12, 1)), 4, 6, {block})", 48 * block[0] + 6 * block[1]
    tile, first = tile_and_first(((8, 12), (12, 1)), 4, 6, block)
    found = extents(tile)
    if found != [4, 6]:
        many = "So many tiles there are, down and across. "
        asks = (f"{many}Which of the two modes is the tile, and which leads from tile to tile?"
                if tile == ((2, 2), (48, 6)) else f"{many}Has a tiler as many indices as a tile?"
                if found == [2, 2] else "Which tiler is for rows?" if found == [6, 4] else TILERS)
        rows, columns = (f"{n} {what}{'s' * (n != 1)}" for n, what in zip(found, ("row", "column")))
        raise AssertionError(f"The tile of {call} has {rows} and {columns}, wanted: 4 and 6. {asks}")
    why = {12 * block[0] + block[1]: f"There lies element {block} of the matrix. block counts tiles, of 4 rows and 6 "
                                     "columns: which mode of the divided matrix leads from tile to tile?",
           4 * block[0] + 6 * block[1]: "That is a number of rows or columns: which offset has it in the matrix?",
           48 * block[1] + 6 * block[0]: f"There begins block {block[::-1]}. Which of block's two numbers counts down?"}
    if first != wanted:
        raise AssertionError(f"{call} begins at {first}, wanted: {wanted}. "
                             f"{why.get(first, 'How far is it from one tile to the next, down and across?')}")


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
    if got == ((4, 8), (2, 2)):
        raise AssertionError("fragment() is the shape alone. A layout is a pair: shape, stride. Which strides has it?")
    if got[0] != ((4, 8), (2, 2)):
        raise AssertionError(f"fragment() has the shape {got[0]}, wanted: ((4, 8), (2, 2)). Which part is t?")


@pytest.mark.task(5)
@pytest.mark.parametrize("lane", [0, 1, 4, 31])
def test_a_lane_holds_two_neighbours_of_a_row_and_two_of_eight_rows_below(lane):
    found = offsets(checked(lesson.fragment(), "fragment()"))
    indices = found[lane::32]
    places = [(index % 16, index // 16) for index in indices]  # index 17 is row 1, column 1
    row, column = lane // 4, 2 * (lane % 4)
    wanted = [(row, column), (row, column + 1), (row + 8, column), (row + 8, column + 1)]
    if places != wanted:
        raise AssertionError(f"Lane {lane} holds indices {indices}: (row, column) {places}, wanted: {wanted}. "
                             f"{which_step(found)}")


def which_step(found):
    """The question to the first of four steps by which the index of a fragment does not grow as it should."""
    for what, where, rows, columns in (("t goes from 0 to 1", 1, 0, 2), ("t goes from 0 to 4", 4, 1, 0),
                                       ("v goes from 0 to 1", 32, 0, 1), ("v goes from 0 to 2", 64, 8, 0)):
        if found[where] != rows + 16 * columns:
            moved = f"by {rows} in row" if rows else f"by {columns} in column"
            like = ", as in column + 8 * row" if found[where] == columns + 8 * rows else ""
            return (f"When {what}, the element moves {moved}, and your index by {found[where]}{like}. "
                    "By how much does row + 16 * column grow?")
    return "Which of the four steps is right?"


WHATEVER_THE_STRIDES = "Which operation takes an index of the tile to its offset, whatever the strides are?"


def as_with_more_rows(tile, rows, layout):
    """The question to a copy of as many rows as the tile has columns, or elements; "" if it is none."""
    for more in (128, 128 * rows):
        with suppress(ZeroDivisionError):
            if layout == lesson.composition(tile, ((32, (4, more)), (4 * more, (more, 1)))):
                return f"That comes of {more} for `rows`, and this tile has {rows}. What has yours counted?"
    return ""


def requests(tile):
    """What the 32 lanes ask for in each request: a list for each, of four offsets for each lane."""
    rows, call = extents(tile)[0], f"warp_copy({tile})"
    nested = tile[0][0] if isinstance(tile[0][0], tuple) else None
    with asking(f"tile[0][0] is {nested}, a nested shape and no number. Which function, given, counts it?"
                if nested else "composition takes two layouts: what are the shape and the stride of the second?"):
        layout = lesson.warp_copy(tile)
    layout = checked(layout, call, next((
        f"The mode {written(mode)} of the tile has no stride of its own. {WHATEVER_THE_STRIDES}"
        for mode in zip(*tile, strict=True) if isinstance(mode[0], tuple)), "Which stride has each of its modes?"))
    if extents(layout) != [32, 4 * rows]:
        raise AssertionError(f"{call} has modes of {extents(layout)}, wanted: [32, {4 * rows}]. " + (
            f"32 lanes cannot be shared out among {rows} rows. Must a request take from more rows than one?"
            if rows == 3 else as_with_more_rows(tile, rows, layout)
            or "Which mode is for lanes, and how many values has each?"))
    found = offsets(layout)
    return [[found[lane + 128 * turn: 128 * (turn + 1): 32] for lane in range(32)] for turn in range(rows)]


def assert_copied_once(tile):
    copied = [offset for request in requests(tile) for piece in request for offset in piece]
    left_out, outside = sorted({*offsets(tile)} - {*copied}), sorted({*copied} - {*offsets(tile)})
    if outside:
        raise AssertionError(f"warp_copy({tile}) loads offset {outside[0]}, which is not of the tile. "
                             f"{WHATEVER_THE_STRIDES}")
    if left_out:
        raise AssertionError(f"warp_copy({tile}) leaves {len(left_out)} elements out, the first at {left_out[0]}. "
                             f"{WHATEVER_THE_STRIDES}")


@pytest.mark.task(3, 5)
@pytest.mark.parametrize("rows", [1, 4])
def test_the_copy_has_a_mode_of_32_lanes_and_one_of_their_values(rows):
    requests(((rows, 128), (128, 1)))


def assert_pieces_of_sixteen_bytes(rows):
    for request in requests(((rows, 128), (128, 1))):
        for lane, piece in enumerate(request):
            if piece != [piece[0] // 4 * 4 + i for i in range(4)]:
                raise AssertionError(f"Lane {lane} asks for {piece}, wanted: 4 neighbours, from 4 * n on. "
                                     f"{why_no_piece(piece, request)}")


def why_no_piece(piece, request):
    """The question to a lane's four elements that are no 16 bytes."""
    if piece == [*range(piece[0], piece[0] + 4)]:
        return "Its piece begins in that of another lane. How far apart are the indices at which two lanes begin?"
    if piece[1] - piece[0] == 128:
        return ("Each is of another row: indices of a tile run down its rows, and of a lane's values the four of a "
                "request come first. How far is the index of the next column?")
    other = next((lane for lane, asked in enumerate(request) if piece[0] + 1 in asked), None)
    if other is not None and piece[0] + 1 not in piece:
        return (f"Offset {piece[0] + 1}, the neighbour of {piece[0]}, is in lane {other}, and should be this lane's "
                "next value. How far apart are the indices of one lane's values?")
    return "How far apart are the indices of two columns, and those at which two lanes begin?"


def assert_whole_sectors(rows):
    for request in requests(((rows, 128), (128, 1))):
        taken = lesson.sectors([offset for piece in request for offset in piece])
        if taken != 16:
            raise AssertionError(
                f"A request takes {taken} sectors, wanted: 16. Lanes 0 and 1 ask for offsets from {request[0][0]} and "
                f"from {request[1][0]} on, 4 each. Which lanes' pieces should be neighbours?")


@pytest.mark.task(3, 5)
@pytest.mark.counters
@pytest.mark.parametrize("rows", [1, 4])
def test_each_lane_asks_for_sixteen_bytes_in_one_piece(rows):
    assert_pieces_of_sixteen_bytes(rows)


@pytest.mark.task(3, 5)
@pytest.mark.counters
@pytest.mark.parametrize("rows", [1, 4])
def test_each_request_of_512_bytes_takes_16_sectors(rows):
    assert_whole_sectors(rows)


@pytest.mark.task(3, 5)
@pytest.mark.counters
@pytest.mark.parametrize("rows", [3, 5])
def test_rows_that_do_not_divide_32_are_loaded_in_whole_sectors_too(rows):
    assert_pieces_of_sixteen_bytes(rows)
    assert_whole_sectors(rows)


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
    if type(got) is not int:
        raise AssertionError(f"{call} is {got!r}, and no int. Which operators take ints and give one?")
    if got == wanted:
        return
    raise AssertionError(f"{call} is 0b{got:05b}, wanted: 0b{wanted:05b}. "
                         f"{why_flipped(got, wanted, offset, bits, base, shift)}")


def why_flipped(got, wanted, offset, bits, base, shift):
    """The question to a swizzled offset, by the lowest bit that differs."""
    place, flips, lowest = ((got ^ wanted) & -(got ^ wanted)).bit_length() - 1, offset ^ wanted, 1 << base
    too_far = {flips >> base, offset >> base + shift & (2**bits - 1) << base} if base and flips else {}
    if got == offset + flips:
        return "That is a sum, and a sum carries from bit to bit. Which operator flips a bit and no other?"
    if got == offset | flips and got != offset ^ flips:
        return f"Bit {place} is 1 already, and is flipped to 0. Which operator does so?"
    if got ^ offset in too_far:
        return f"As if each bit flipped the one {base + shift} places lower. By how many places do you shift?"
    if lesson.swizzle(lowest, bits, base, shift) == lowest | lowest << shift:
        return f"Alone, bit {base} flips bit {base + shift}. Which of the two should flip the other?"
    masks = (f"A mask of the bits that flip others has {bits} ones from {base + shift} on, one of those that are "
             f"flipped has {bits} from {base} on. Which is yours, and has it these ones?")
    if place not in range(base, base + bits):
        return f"Bit {place} is none of {base} to {base + bits - 1}, and stays. {masks}"
    if offset >> place + shift & 1:
        return f"Bit {place + shift} is 1, so bit {place} is flipped. {masks}"
    return f"Bit {place + shift} is 0, so bit {place} stays. From where do the bits come that flip?"


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
