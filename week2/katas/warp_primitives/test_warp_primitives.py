"""The lesson again, as checks: sums that every lane has, running sums, places by votes, and no shared memory."""

import numpy as np
import pytest
import torch

from tools.check import Mismatch, assert_matches, compiled, count
from tools.check.inputs import vectors
from tools.check.tolerances import accumulated
from tools.gpu import device
from week2.katas.warp_primitives import warp_primitives as lesson

INF, NAN = float("inf"), float("nan")
LESSON = [5.0, 2.0, 8.0, 1.0, 4.0, 7.0, 3.0, 6.0]
SIGNED = [5.0, -2.0, 8.0, -1.0, 4.0, -7.0, 3.0, 6.0]
SHAPES = [(1, 1), (3, 31), (4, 32), (5, 33), (2, 64), (9, 67), (1, 100)]  # a block has a warp for each of four rows

pytestmark = pytest.mark.filterwarnings("ignore:Grid size")  # Numba's advice to start more blocks


def tensor(values):
    return torch.tensor(values, dtype=torch.float32, device=device)


def matrix(rng, rows, columns):
    x, = vectors(rng, rows * columns, count=1)
    return x.reshape(rows, columns)


def row_of(*values):
    return tensor([values])


def assert_matches_or(tell, function, *args, oracle, raced=""):
    """assert_matches; where another value came back, tell(value) may know why before that is shown.

    raced: what is said where a lane reads from memory what another one stored.
    """
    try:
        assert_matches(function, *args, oracle=oracle)
        return
    except Mismatch as found:
        mismatch = found
    nothing_read_back = not raced or "A read-after-write race" not in mismatch.text
    assert nothing_read_back, raced
    if any(words in mismatch.text for words in ("\n\nGot ", "Another value:")):
        tell(function(*args))
    raise mismatch


def shuffles_in(kernel):
    return sum(number for name, number in kernel.instructions.items() if name.startswith("shfl"))


def assert_all_come(kernel):
    masks = [name for name in kernel.instructions if name.startswith("activemask")]
    assert masks == [], "activemask tells which lanes happen to be here; ALL says which have to come"


def assert_one_vote_a_turn(kernel):
    votes, loads = (sum(number for name, number in kernel.instructions.items() if name.startswith(kind))
                    for kind in ("vote", "ld.global"))
    why = (f"Votes in the compiled text: {votes}; loads of x: {loads}.\n"
           "One vote a turn is enough: a variable keeps it. What is another for?")
    assert votes <= loads, why


def in_float64(kernel):
    return [name for name in kernel.instructions if "f64" in name]


def assert_warps_do_alike(first, second):
    """What two equal rows gave, of which one warp of a block took each."""
    why = (f"Two equal rows, for two warps of a block: row 0 gives {first},\nrow 1 gives {second}.\n"
           "What is threadIdx.x in the second warp, and what is laneid?")
    assert first == second, why


# Task 1: a butterfly ------------------------------------------------------------------------------

def sums_behind(*values):
    """The sums that the lanes of these values divide by: one lane, one value."""
    row = row_of(*values)
    return [round(float(each), 3) for each in (row / lesson.shares(row))[0]]


def the_same_sum(*values):
    return [float(sum(values))] * len(values)


def tell_of_a_butterfly(sums):
    why = ("Each lane has 72, twice 36: a step adds what is in the sum already.\n"
           "A shuffle that asks beyond lane 31 gives a lane its own value back.\n"
           "Which lane does lane 0 ask in each step, and is it a new one each time?")
    assert sums != [72] * 8, why
    why = (f"Lane 0 has the sum, 36, and lane 1 has {sums[1]}.\n"
           "In a butterfly two lanes swap. Whom does lane 1 ask at distance 1?")
    assert sums[0] != 36 or sums[1] == 36, why
    first_values = [value + sum(LESSON[lane ^ distance] for distance in (4, 2, 1)) for lane, value in enumerate(LESSON)]
    why = (f"Lane 0 has {sums[0]}: 5, and the first values of lanes 4, 2 and 1.\n"
           "A step adds what a lane has after the steps before. What is handed over?")
    assert sums != first_values, why


@pytest.mark.task(1)
def test_each_of_eight_lanes_has_the_sum():
    assert_matches_or(tell_of_a_butterfly, sums_behind, *LESSON, oracle=the_same_sum)


@pytest.mark.task(1)
@pytest.mark.parametrize("lanes", [1, 2, 16, 17, 31, 32])
def test_each_of_so_many_lanes_has_the_sum(lanes):
    """1 + 2 + 4 + 1 + 2 + 4 + ..., so that no two neighbours hold the same."""
    assert_matches(sums_behind, *([1.0, 2.0, 4.0] * 11)[:lanes], oracle=the_same_sum)


@pytest.mark.task(1)
@pytest.mark.edge
@pytest.mark.parametrize("rows, columns", [(1, 1), (3, 31), (4, 32), (5, 8), (9, 32)])
def test_each_row_is_divided_by_its_sum(rows, columns, rng):
    x = matrix(rng, rows, columns).abs() + 0.1
    assert_matches(lesson.shares, x, oracle=lambda x: x / x.sum(1, keepdim=True), tolerance=accumulated(np.float32, 32))


@pytest.mark.task(1)
@pytest.mark.nonfinite
def test_one_nan_makes_every_share_of_its_row_nan():
    x = tensor([[1.0, NAN, 2.0], [1.0, 3.0, 4.0], [INF, 1.0, 2.0]])
    assert_matches(lesson.shares, x, oracle=lambda x: x / x.sum(1, keepdim=True))


@pytest.mark.task(1)
@pytest.mark.counters
def test_shares_stay_in_registers(rng):
    counters = count(lesson.shares, matrix(rng, 5, 32))
    assert counters.bytes_shared == 0
    assert counters.barriers == 0
    assert counters.bytes_loaded == 4 * 5 * 32
    assert counters.bytes_stored == 4 * 5 * 32


@pytest.mark.task(1)
@pytest.mark.counters
def test_five_steps_add_up_32_lanes(rng):
    """A sum that asks lane by lane takes 32 steps, and three times as many statements in all."""
    counters = count(lesson.shares, matrix(rng, 1, 32))
    statements_of_one_warp = counters.instructions
    why = (f"{statements_of_one_warp} statements of a warp, as with a shuffle for each lane.\n"
           "A step doubles how many values a lane has added. How many steps to 32?")
    assert statements_of_one_warp <= 50, why
    assert statements_of_one_warp <= 30, "Five shuffles leave the sum in each lane. What else does a warp do?"
    assert counters.float64 == 0


@pytest.mark.task(1)
@pytest.mark.compiled
def test_the_compiler_finds_at_most_five_shuffles_and_no_shared_memory(rng):
    kernel = compiled(lesson.shares, matrix(rng, 4, 32), chip="h100").kernels["shares_kernel"]
    shuffles = shuffles_in(kernel)
    assert shuffles >= 1
    assert shuffles <= 5
    kinds = [name for name in kernel.instructions if name.startswith("shfl")]
    why = (f"The shuffles are of {len(kinds)} kinds. After five that swap, each lane has the sum.\n"
           "What does another kind pass on?")
    assert len(kinds) == 1, why
    assert_all_come(kernel)
    assert kernel.shared_bytes == 0
    assert in_float64(kernel) == []


# Task 2: running sums -----------------------------------------------------------------------------

def running(*values):
    return lesson.scan_rows(row_of(*values))[0].tolist()


def running_by_python(*values):
    return [float(sum(values[: i + 1])) for i in range(len(values))]


def cumulated(x):
    return x.double().cumsum(1).float()


def tell_of_one_lane(sums):
    first = sums[0]
    assert first != 0, "The running sum of a 5 alone is 0. Is the element of a lane in its own sum?"
    assert first == 5, "Lane 0 has no lower lane: shfl_up_sync gives it its own value back, and it must not add that"


@pytest.mark.task(2)
def test_lane_0_adds_nothing():
    raced = ("A lane reads what another has just stored: nothing puts the two in order.\n"
             "That lane has it in a register. Which call hands it to all, without memory?")
    assert_matches_or(tell_of_one_lane, running, 5.0, oracle=running_by_python, raced=raced)


def tell_of_two_lanes(sums):
    why = ("Lane 1 did not add the 5 of lane 0, which is 1 lower.\n"
           "From which lane on do lanes add at distance 1, and whom do they ask?")
    assert sums != [5, 2], why


@pytest.mark.task(2)
def test_two_lanes_have_one_sum_of_one_and_one_of_two():
    assert_matches_or(tell_of_two_lanes, running, 5.0, 2.0, oracle=running_by_python)


def tell_of_eight_lanes(sums):
    first_values = [value + sum(LESSON[lane - distance] for distance in (1, 2, 4) if lane >= distance)
                    for lane, value in enumerate(LESSON)]
    why = (f"Lane 3 has {first_values[3]}: its 1, and the first values of lanes 2 and 1.\n"
           "Lane 1 has the sum of two by then. What is handed over at distance 2?")
    assert sums != first_values, why


@pytest.mark.task(2)
def test_running_sums_of_the_eight_numbers_of_the_lesson():
    assert_matches_or(tell_of_eight_lanes, running, *LESSON, oracle=running_by_python)


def ones_counted(n):
    """The running sums of n ones."""
    return running(*[1.0] * n)


def up_to(n):
    return [float(i + 1) for i in range(n)]


@pytest.mark.task(2)
def test_32_ones_are_counted():
    assert_matches(ones_counted, 32, oracle=up_to)
    ones = lesson.scan_rows(torch.ones(2, 32, device=device))
    assert_warps_do_alike(*(row[:4].tolist() for row in ones))


def tell_of_turns(sums):
    """The running sums of more than 32 ones."""
    why = (f"Of ones, elements 32 and 33 are {sums[32]} and {sums[33]}; wanted are 33 and 34.\n"
           f"A lane of the second turn adds to its scan {{}}.\n{{}}")
    assert sums[32:34] != [1, 2], why.format("nothing", "What does it need of the first turn?")
    assert sums[32:34] != [2, 4], why.format("what it had itself", "Which lane knows the sum of the turn?")
    assert sums[32:34] != [2, 3], why.format("1, which lane 0 had", "Which lane is asked? The last of a warp is 31.")
    if len(sums) > 64:
        why = f"Of ones, element 64 is {sums[64]}, not 65.\nThe sum of the first turn is in it {{}}.\n{{}}"
        assert sums[64] != 97, why.format("twice", "What is in the value of lane 31 already?")
        assert sums[64] != 33, why.format("not at all", "Does lane 31 pass on the sum of its turn, or of all?")


@pytest.mark.task(2)
@pytest.mark.edge
@pytest.mark.parametrize("n", [34, 70])
def test_the_next_32_elements_begin_with_all_that_came_before(n):
    """The last lane of the first turn has 32, to which the second one adds; and so on."""
    assert_matches_or(tell_of_turns, ones_counted, n, oracle=up_to)


@pytest.mark.task(2)
@pytest.mark.edge
@pytest.mark.parametrize("rows, columns", SHAPES)
def test_scans_any_shape(rows, columns, rng):
    assert_matches(lesson.scan_rows, matrix(rng, rows, columns), oracle=cumulated,
                   tolerance=accumulated(np.float32, columns))


@pytest.mark.task(2)
@pytest.mark.nonfinite
def test_running_sums_are_nan_from_the_first_nan_on():
    assert_matches(running, *[1.0] * 33, NAN, *[2.0] * 40, oracle=running_by_python)
    assert_matches(running, 1.0, INF, 2.0, -INF, 3.0, oracle=running_by_python)


@pytest.mark.task(2)
@pytest.mark.counters
def test_scans_stay_in_registers_and_load_once(rng):
    counters = count(lesson.scan_rows, matrix(rng, 5, 96))
    assert counters.bytes_shared == 0
    assert counters.barriers == 0
    why = ("x was loaded once, and of out the last element of each turn, for the next.\n"
           "Lane 31 has it in a register. Which call hands it to all, without memory?")
    assert counters.bytes_loaded not in [4 * 5 * (96 + 2 * lanes) for lanes in (1, 32)], why
    assert counters.bytes_loaded == 4 * 5 * 96
    assert counters.bytes_stored == 4 * 5 * 96


@pytest.mark.task(2)
@pytest.mark.counters
def test_a_warp_takes_neighbours_together(rng):
    """32 float32 side by side are four sectors."""
    counters = count(lesson.scan_rows, matrix(rng, 12, 128))
    assert counters.sectors_per_request <= 4


@pytest.mark.task(2)
@pytest.mark.counters
def test_a_scan_takes_five_steps_of_32_lanes(rng):
    counters = count(lesson.scan_rows, matrix(rng, 1, 32))
    statements_of_one_warp = counters.instructions
    assert statements_of_one_warp <= 50
    assert counters.float64 == 0
    assert counters.conversions == 0


@pytest.mark.task(2)
@pytest.mark.compiled
def test_the_compiler_finds_shuffles_of_32_bits(rng):
    kernel = compiled(lesson.scan_rows, matrix(rng, 4, 64), chip="h100").kernels["scan_kernel"]
    shuffles = shuffles_in(kernel)
    assert shuffles >= 1
    why = f"{shuffles} shuffles: five for the scan, one for the carry.\nWhat has lane 31 after its scan already?"
    assert shuffles <= 6, why
    assert_all_come(kernel)
    assert kernel.shared_bytes == 0
    assert in_float64(kernel) == []


# Task 3: packed together --------------------------------------------------------------------------

def positive(*values):
    """The row that comes out, zeros and all, and its count."""
    out, counts = lesson.compact_rows(row_of(*values))
    return out[0].tolist(), int(counts[0])


def positive_by_python(*values):
    kept = [value for value in values if value > 0]
    return kept + [0.0] * (len(values) - len(kept)), len(kept)


def packed(x):
    out, counts = torch.zeros_like(x), (x > 0).sum(1).to(torch.int32)
    for row, kept in enumerate(x):
        out[row, : int(counts[row])] = kept[kept > 0]
    return out, counts


def tell_of_packing(values, came):
    (row, kept), (packed_row, wanted) = came, positive_by_python(*values)
    why = (f"{kept} elements > 0 are counted in a row of {len(values)}.\n"
           "What do lanes without an element vote, and what is added to the count?")
    assert kept <= len(values), why
    votes = sum(1 << lane for lane, value in enumerate(values) if value > 0)
    why = (f"The row is right, and the count is {kept}, not {wanted}.\n"
           f"{votes:#b} are the votes: {votes}, read as a number. What is added to the count?")
    assert row != packed_row or kept == wanted or kept != votes, why
    why = (f"The row is right, and the count is {kept}, not {wanted}. One lane stores what it added.\n"
           "Does each lane add all the votes, also one that keeps nothing?")
    assert row != packed_row or kept >= wanted, why


@pytest.mark.task(3)
@pytest.mark.parametrize("values", [(3.0, -1.0, -2.0), (-1.0, 3.0), (2.0, 3.0), (3.0, -1.0, 2.0), (3.0,)], ids=str)
def test_few_elements_are_packed_together(values):
    assert_matches_or(lambda came: tell_of_packing(values, came), positive, *values, oracle=positive_by_python)


@pytest.mark.task(3)
def test_packs_the_eight_numbers_of_the_lesson_in_their_order():
    assert_matches(positive, *SIGNED, oracle=positive_by_python)


@pytest.mark.task(3)
@pytest.mark.edge
def test_all_32_lanes_may_vote_yes():
    """Then the votes are -1 as an int32, whose bits are all 1."""
    ones, counts = lesson.compact_rows(torch.ones(2, 32, device=device))
    assert_warps_do_alike(*([int(kept), *row[:3].tolist()] for kept, row in zip(counts, ones)))
    assert_matches(positive, *up_to(32), oracle=positive_by_python)


def every_second_kept(n):
    """Of the elements 1, -2, 3, -4, ..., n of them."""
    row, kept = positive(*[element if element % 2 else -element for element in up_to(n)])
    return row[:kept]


def tell_of_places(n):
    """Of 1, -2, 3, -4, ...: the second turn begins with 33, which comes behind the 16 of the first turn."""
    row = positive(*[element if element % 2 else -element for element in up_to(n)])[0]
    at = row.index(33.0) if 33.0 in row else 16
    why = f"Of 1, -2, 3, -4, ...: 33 begins the second turn, and lies at {at}, not 16.\n"
    first_turn_is_there = at == 16 or row[:16] == up_to(32)[::2]
    assert first_turn_is_there, f"{why}It is stored over what the first turn kept. How many are those?"
    behind = at == 16
    assert behind, f"{why}The first turn kept 16 of its 32. From where on does the second one store?"


@pytest.mark.task(3)
@pytest.mark.edge
@pytest.mark.parametrize("n", [35, 70])
def test_the_next_32_elements_come_behind_those_kept_before(n):
    assert_matches_or(lambda _: tell_of_places(n), every_second_kept, n, oracle=lambda n: up_to(n)[::2])


@pytest.mark.task(3)
@pytest.mark.edge
@pytest.mark.parametrize("rows, columns", SHAPES)
def test_packs_any_shape(rows, columns, rng):
    x = matrix(rng, rows, columns)
    x[0, 0] = 1.5
    assert_matches(lesson.compact_rows, x, oracle=packed, exact=True)


@pytest.mark.task(3)
@pytest.mark.nonfinite
def test_nan_is_not_positive_and_infinity_is():
    assert_matches(positive, NAN, INF, -INF, 1.0, 0.0, -0.0, NAN, 2.0, oracle=positive_by_python)


@pytest.mark.task(3)
@pytest.mark.counters
def test_packing_loads_once_and_needs_neither_atomics_nor_shared_memory(rng):
    x = matrix(rng, 5, 96)
    counters, kept = count(lesson.compact_rows, x), int((x > 0).sum())
    assert counters.bytes_atomic == 0
    assert counters.bytes_shared == 0
    assert counters.barriers == 0
    assert counters.bytes_loaded == 4 * 5 * 96
    why = "The count of a row is stored in each of its three turns. When is it known?"
    assert counters.bytes_stored != 4 * kept + 4 * 5 * 3, why
    assert counters.bytes_stored == 4 * kept + 4 * 5


@pytest.mark.task(3)
@pytest.mark.counters
def test_a_vote_counts_in_one_step(rng):
    counters = count(lesson.compact_rows, matrix(rng, 1, 32))
    statements_of_one_warp = counters.instructions
    why = (f"{statements_of_one_warp} statements of a warp for 32 elements.\n"
           "A scan of ones takes five steps. Which call tells all lanes in one?")
    assert statements_of_one_warp <= 30, why


@pytest.mark.task(3)
@pytest.mark.compiled
def test_the_compiler_finds_votes_and_no_shuffle(rng):
    kernel = compiled(lesson.compact_rows, matrix(rng, 4, 64), chip="h100").kernels["compact_kernel"]
    votes = [name for name in kernel.instructions if name.startswith("vote")]
    shuffles = shuffles_in(kernel)
    assert votes != []
    assert shuffles == 0, "Each lane has all votes. What is left for shuffles to bring?"
    assert_all_come(kernel)
    assert_one_vote_a_turn(kernel)


# Task 4: leaving early, and a product -------------------------------------------------------------

def place(*values):
    return int(lesson.first_negative(row_of(*values))[0])


def place_by_python(*values):
    return next((i for i, value in enumerate(values) if value < 0), -1)


def places(x):
    return torch.tensor([place_by_python(*row) for row in x.tolist()], dtype=torch.int32, device=device)


@pytest.mark.task(4)
def test_a_lane_that_found_nothing_is_told():
    found = place(3.0, -1.0)
    assert found != 2, "Lane 1 finds it, and its place is 1, not 2. From which number does cuda.ffs count?"
    assert found == 1, "Lane 1 finds it and lane 0 does not. Who stores the place, and how does that lane know it?"


def tell_of_a_place(values, found):
    negative = [i for i, value in enumerate(values) if value < 0]
    why = (f"Place {found} lies outside of a row of {len(values)}, and nothing is negative.\n"
           "What do lanes without an element vote?")
    assert found < len(values) or negative, why
    why = (f"Place {found} is that of the last negative element, not of the first.\n"
           "The first one has the lowest bit. From which end are the votes counted?")
    assert len(negative) < 2 or found != negative[-1], why


@pytest.mark.task(4)
@pytest.mark.parametrize("values", [(3.0,), (-3.0,), (3.0, -1.0), (1.0, -2.0, -3.0)], ids=str)
def test_finds_the_first_negative_of_a_few(values):
    assert_matches_or(lambda found: tell_of_a_place(values, found), place, *values, oracle=place_by_python)


def place_behind(ones, *others):
    """In a row of so many ones, and these others."""
    return place(*[1.0] * ones, *others)


@pytest.mark.task(4)
@pytest.mark.edge
def test_finds_what_only_the_last_lane_sees():
    """Its bit is the sign of the votes."""
    why = ("Only lane 31 voted yes, and its place was not stored.\n"
           "Lane 31 has the sign bit: are these votes above 0, or below?")
    assert place_behind(31, -1.0) != -1, why
    assert_matches(place_behind, 31, -1.0, oracle=lambda ones, *others: ones)


@pytest.mark.task(4)
@pytest.mark.edge
@pytest.mark.parametrize("ones", [5, 32, 40, 63, 64, 99])
def test_finds_it_in_each_turn(ones):
    assert_matches(place_behind, ones, -1.0, 2.0, -3.0, oracle=lambda ones, *others: ones)


@pytest.mark.task(4)
@pytest.mark.edge
def test_each_warp_of_a_block_finds_the_first_of_its_row():
    x = torch.ones(2, 32, device=device)
    x[:, 5] = -1
    assert_warps_do_alike(*(int(found) for found in lesson.first_negative(x)))


@pytest.mark.task(4)
@pytest.mark.edge
@pytest.mark.parametrize("rows, columns", SHAPES)
def test_finds_the_first_of_each_row(rows, columns, rng):
    x = matrix(rng, rows, columns) + 1.5
    x[0, columns - 1] = -2
    assert_matches(lesson.first_negative, x, oracle=places)


@pytest.mark.task(4)
@pytest.mark.nonfinite
def test_nan_is_not_negative_and_minus_infinity_is():
    assert_matches(place, NAN, INF, -0.0, -INF, -1.0, oracle=place_by_python)


@pytest.mark.task(4)
@pytest.mark.counters
@pytest.mark.parametrize("at, turns", [(3, 1), (40, 2), (70, 3)])
def test_a_row_is_read_no_further_than_it_must_be(at, turns):
    """320 elements. A turn reads 32 of four bytes."""
    x = torch.ones(1, 320, device=device)
    x[0, at] = -1
    counters = count(lesson.first_negative, x)
    assert counters.bytes_loaded == 4 * 32 * turns
    assert counters.bytes_shared == 0
    assert counters.barriers == 0


@pytest.mark.task(4)
@pytest.mark.counters
def test_one_lane_stores_the_place(rng):
    counters = count(lesson.first_negative, matrix(rng, 6, 64))
    assert counters.bytes_stored == 4 * 6
    assert counters.bytes_atomic == 0


@pytest.mark.task(4)
@pytest.mark.compiled
def test_the_compiler_finds_one_kind_of_vote(rng):
    kernel = compiled(lesson.first_negative, matrix(rng, 4, 64), chip="h100").kernels["first_kernel"]
    kinds_of_votes = [name for name in kernel.instructions if name.startswith("vote")]
    assert kinds_of_votes, "By a vote, all lanes learn in one step what each of them saw"
    assert len(kinds_of_votes) == 1, "The ballot says whether any lane voted yes, and which: one vote a turn is enough"
    assert_all_come(kernel)
    assert_one_vote_a_turn(kernel)


def times(x, w):
    return (x.double() @ w.double()).float()


@pytest.mark.task(4)
def test_the_element_of_one_lane_reaches_all():
    x = torch.zeros(1, 32, device=device)
    x[0, 3] = 1
    lanes_with_2 = int((lesson.product(x, torch.full((32, 32), 2.0, device=device)) == 2).sum())
    assert lanes_with_2 == 32, "The row has a 1 in lane 3 and zeros, and w is all 2. How do the other lanes get the 1?"


@pytest.mark.task(4)
def test_an_element_picks_its_row_of_the_matrix(rng):
    """One 1 in x at lane 3, and zeros: the product is row 3 of w."""
    x = torch.zeros(1, 32, device=device)
    x[0, 3] = 1
    w = matrix(rng, 32, 32)
    row, rows = lesson.product(x, w)[0].tolist(), w.tolist()
    came = rows.index(row) if row in rows else 3
    why = (f"The only 1 of x is in lane 3, and row {came} of w came back.\n"
           "In step k, which lane is asked, and which row of w is taken?")
    assert came == 3, why
    assert_matches(lesson.product, x, w, oracle=times)


@pytest.mark.task(4)
@pytest.mark.edge
@pytest.mark.parametrize("rows", [1, 4, 5, 11])
def test_multiplies_any_number_of_rows(rows, rng):
    assert_matches(lesson.product, matrix(rng, rows, 32), matrix(rng, 32, 32), oracle=times,
                   tolerance=accumulated(np.float32, 32))


@pytest.mark.task(4)
@pytest.mark.counters
def test_a_product_loads_x_once_and_w_once_a_row_from_neighbours(rng):
    counters, rows = count(lesson.product, matrix(rng, 4, 32), matrix(rng, 32, 32)), 4
    statements_of_one_warp = counters.instructions // rows
    why = (f"{statements_of_one_warp} statements of a warp, as with a butterfly in each of 32 steps.\n"
           "Each lane adds up its own column. Which call gives it x[row, k] in one?")
    assert statements_of_one_warp <= 200, why
    assert counters.bytes_loaded == rows * 4 * (32 + 32 * 32)
    assert counters.sectors_per_request <= 4
    assert counters.bytes_shared == 0
    assert counters.barriers == 0
    assert counters.float64 == 0


@pytest.mark.task(4)
@pytest.mark.compiled
def test_the_compiler_finds_the_row_passed_by_shuffles(rng):
    kernel = compiled(lesson.product, matrix(rng, 4, 32), matrix(rng, 32, 32), chip="h100").kernels["product_kernel"]
    shuffles = shuffles_in(kernel)  # 32 where the compiler unrolls the loop
    assert 1 <= shuffles <= 32, "One shuffle a step: w[k, lane] is loaded by the lane that needs it"
    assert_all_come(kernel)
    assert kernel.shared_bytes == 0
    assert in_float64(kernel) == []
