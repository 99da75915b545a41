"""The lesson again, as checks: work and span, a tree in shared memory, sums of segments, a scan that looks back."""

import itertools

import numpy as np
import pytest
import torch

from tools.check import assert_matches, compiled, count, speed_ratio, terms
from tools.check.inputs import awkward_lengths, vectors
from tools.check.tolerances import accumulated
from tools.gpu import card, device
from week2.katas.scan import scan as lesson

INF, NAN = float("inf"), float("nan")
LESSON = [5.0, 2.0, 8.0, 1.0, 4.0, 7.0, 3.0, 6.0]
NOTHING, PART, WHOLE = 0, 1, 2
LARGE = 10**8  # float32

pytestmark = pytest.mark.filterwarnings("ignore:Grid size")  # Numba's advice to start more blocks


def tensor(values, dtype=torch.float32):
    return torch.tensor(values, dtype=dtype, device=device)


def vector(rng, n):
    x, = vectors(rng, n, count=1)
    return x


def sums_up_to(x, **sizes):
    return torch.cumsum(x, 0)


def stops(function, *args, saying, **sizes):
    """Whether the simulator stops this call and says these words; another fault is raised. A GPU is not asked."""
    try:
        count(function, *args, **sizes)
    except Exception as fault:
        if saying not in " ".join(str(fault).split()):
            raise
        return True
    return False


def sums_before(x):
    return torch.cumsum(torch.nn.functional.pad(x, (1, 0)), 0)[:-1]


# Task 1: predict, then count ----------------------------------------------------------------------

@pytest.mark.task(1)
def test_hillis_and_steele_add_at_every_place_that_has_a_partner():
    def cost(n):
        steps = [2**step for step in range(64) if 2**step < n]
        return terms(**{f"step_{step}": n - step for step in steps}), len(steps)

    work, _ = lesson.hillis_steele_cost(8)
    assert work != 8 * 3, "24 are 8 additions in each of 3 steps. Which places of a step have none before them to add?"
    for n in (2, 1, 8, 256, 4096):
        assert_matches(lesson.hillis_steele_cost, n, oracle=cost)


@pytest.mark.task(1)
def test_blelloch_goes_up_and_down_one_tree():
    def cost(n):
        steps = [2**step for step in range(64) if 2**step < n]
        pairs = sum(n // (2 * step) for step in steps)
        return terms(up=pairs, down=pairs), 2 * len(steps)

    _, span = lesson.blelloch_cost(8)
    assert span != 3, "3 is the span of the way up over 8 elements alone. How many steps has the way down?"
    assert span != 8 * 3, "24 are 8 times 3. Span is steps, not additions: how many steps go up, how many down?"
    for n in (2, 1, 8, 256, 4096):
        assert_matches(lesson.blelloch_cost, n, oracle=cost)


@pytest.mark.task(1)
@pytest.mark.counters
def test_predicts_what_hillis_and_steele_ask_of_shared_memory(rng):
    """256 elements are stored and loaded once, and each addition loads two and stores one. Two barriers a step."""
    work, span = lesson.hillis_steele_cost(256)
    counters, warps = count(lesson.scan_hillis_steele, vector(rng, 256)), 8
    assert 4 * (2 * 256 + 3 * work) == counters.bytes_shared
    assert 2 * span * warps == counters.barriers


PASSES = "x is loaded; out is stored, loaded and stored again. "
TOTALS = "blelloch_kernel stores totals, their scan loads them and stores the sums before, add_kernel loads those. "


def off_by(predicted, n, blocks):
    """What a prediction of exclusive_scan leaves out or counts too often, with a question; "" where that is unknown."""
    off = predicted - 4 * (4 * n + 4 * blocks + 1)
    short, more = f"It is {-off:,} bytes short: ", f"It is {off:,} bytes too much: "
    a_block, all_threads = f"for each of {blocks} blocks", 256 * blocks
    return {
        -4 * n: f"{short}{n:,} numbers. {PASSES}Which is missing?",
        4 * n: f"{more}{n:,} numbers. {PASSES}What more do you count?",
        -4 * blocks: f"{short}one number {a_block}. {TOTALS}Which is missing?",
        -8 * blocks: f"{short}two numbers {a_block}. {TOTALS}Which two are missing?",
        4 * blocks: f"{more}one number {a_block}. {TOTALS}What more do you count?",
        -4 * (blocks + 1): (
            f"{short}a number {a_block}, and one. {TOTALS}Which is missing, and how many blocks scan them?"),
        4 * (blocks - 1): (
            f"{more}the scan of {blocks} totals stores a total too, of its one block. For what are {blocks}?"),
        4 * (n - blocks): f"{more}{n:,} numbers in place of {blocks}. How many does before_ptr + pid load for a block?",
        8 * (256 - blocks): f"{more}256 totals loaded, 256 stored. How many of the 256 threads have one to load?",
        16 * (all_threads - n): f"{more}as of {all_threads:,} elements. Have all threads of the last block an element?",
        0: "",
    }.get(off, "")


@pytest.mark.task(1)
def test_the_traffic_of_three_passes_includes_all_totals():
    for n, blocks in [(512, 2), (1000, 4)]:
        predicted, second = lesson.predict_traffic(n)
        elements, totals = 4 * 4 * n, 4 * 4 * blocks
        loaded = (elements + totals) // 2
        assert (predicted, second) not in [(loaded, loaded + 4), (loaded, loaded)], (
            "Is this what exclusive_scan loads, and what it stores? Wanted: their sum, then that of inclusive_scan.")
        assert predicted != elements, f"{elements} bytes are x and out alone. Which launches load or store totals?"
        assert predicted != elements + totals, "One number is missing. What does the launch that scans totals store?"
        why = off_by(predicted, n, blocks)
        known_mistake = why != ""
        assert not known_mistake, f"predict_traffic({n}) begins with {predicted:,}. {why}"


@pytest.mark.task(1)
def test_three_passes_move_twice_what_one_pass_moves():
    def traffic(n):
        blocks = len(range(0, n, 256))
        return (terms(x_loaded=4 * n, out_stored_twice=8 * n, out_loaded=4 * n, totals_stored=4 * blocks,
                      scan_of_the_totals=8 * blocks + 4, sums_before_each_block=4 * blocks),
                terms(x=4 * n, out=4 * n))

    for n in (512, 1000, 65536):
        assert_matches(lesson.predict_traffic, n, oracle=traffic)


# Task 2: a tree in shared memory ------------------------------------------------------------------

DOWN = {  # what comes of the eight numbers by a way down that is not that of the lesson
    (0, 0, 0, 0, 0, 0, 0, 0): "All 8 results are 0. What did right - step hold before it took what right held?",
    (5, 0, 8, 7, 4, 16, 3, 27): (
        "5 0 8 7 4 16 3 27 is the picture before its last row. Which step does your way down not make?"),
    (36, 41, 43, 51, 52, 56, 63, 66): (
        "Each result is 36 too large: the 0 of the last place came to none of them. Which step down is the first?"),
    (7, 24, 16, 54, 11, 39, 36, 36): "This comes of a way down whose steps grow: 1, 2, 4, ... Which is its first step?",
    (208, 5, 15, 8, 31, 4, 14, 3): "right - step took the sum, right what it held before. Which of them takes the sum?",
}


@pytest.mark.task(2)
def test_the_way_down_ends_with_the_last_row_of_the_picture():
    sums = tuple(lesson.exclusive_scan(tensor(LESSON), out=torch.full((8,), NAN, device=device)).tolist())
    mistaken = sums in DOWN
    assert not mistaken, DOWN[sums]


@pytest.mark.task(2)
def test_scans_the_eight_numbers_of_the_lesson():
    assert_matches(lesson.exclusive_scan, tensor(LESSON), oracle=sums_before, exact=True)


@pytest.mark.task(2)
def test_each_element_counts_in_all_results_after_it():
    """1, 2, 4, ... 2**23, exact in float32: each sum shows which elements are in it."""
    assert_matches(lesson.exclusive_scan, 2.0 ** torch.arange(24, device=device), oracle=sums_before, exact=True)


@pytest.mark.task(2)
def test_scans_all_that_one_block_holds():
    x = torch.arange(1.0, 257.0, device=device)
    assert not stops(lesson.exclusive_scan, x, saying="reads element 32 of sums, to which nothing was stored"), (
        "Element 32 of sums is read, but nothing was stored there. In which place lies element 32 of the block?")
    assert_matches(lesson.exclusive_scan, x, oracle=sums_before, exact=True)


@pytest.mark.task(2)
def test_the_total_of_a_block_goes_to_the_blocks_after_it():
    assert_matches(lesson.exclusive_scan, torch.arange(1.0, 701.0, device=device), oracle=sums_before, exact=True)


@pytest.mark.task(2)
@pytest.mark.edge
@pytest.mark.parametrize("n", awkward_lengths(block=256))
def test_scans_any_length(n, rng):
    assert_matches(lesson.exclusive_scan, vector(rng, n), oracle=sums_before, tolerance=accumulated(np.float32, n))


@pytest.mark.task(2)
@pytest.mark.nonfinite
def test_nan_and_infinity_spread_to_the_right_alone():
    """Who subtracts an element from an inclusive sum gets inf - inf."""
    for values in ([1.0, NAN, 2.0], [INF, 1.0, 2.0], [1.0, INF, -INF, 1.0], [3.0] * 300 + [-INF, 3.0]):
        assert_matches(lesson.exclusive_scan, tensor(values), oracle=sums_before, exact=True)


@pytest.mark.task(2)
@pytest.mark.counters
def test_the_tree_asks_shared_memory_no_more_than_three_times_a_pair_up_and_five_times_down(rng):
    """255 pairs. Besides, 256 elements are stored and loaded, and the last place is read and cleared."""
    counters = count(lesson.exclusive_scan, vector(rng, 256))
    assert counters.bytes_shared <= 4 * (2 * 256 + 2 + 3 * 255 + 5 * 255), "The tree has 255 pairs in all."


@pytest.mark.task(2)
@pytest.mark.counters
def test_neighbouring_lanes_work_on_neighbouring_pairs(rng):
    """A step of p pairs is at work in p / 32 warps, or in one: 4, 2, 1, 1, 1, 1, 1 and 1. 8 warps load and store."""
    counters, busy_warps = count(lesson.exclusive_scan, vector(rng, 256)), 12
    assert counters.shared_requests <= 2 * 8 + 2 + 3 * busy_warps + 5 * busy_warps, (
        "A request serves 32 lanes: the 255 pairs of a way fit in 12 requests. Which threads take them?")


@pytest.mark.task(2)
@pytest.mark.counters
def test_the_tree_has_no_bank_conflicts(rng):
    counters = count(lesson.exclusive_scan, vector(rng, 256))
    assert counters.conflicts == 0


@pytest.mark.task(2)
@pytest.mark.counters
def test_a_warp_stores_32_neighbours_at_a_time(rng):
    """256 elements of x and of out are 32 sectors of 32 bytes each, and the total is one."""
    counters = count(lesson.exclusive_scan, vector(rng, 256))
    assert counters.sectors <= 32 + 32 + 1


@pytest.mark.task(2)
@pytest.mark.counters
def test_the_tree_waits_once_for_each_step_and_once_at_the_end(rng):
    """8 steps up, 8 steps down, the store. Eight warps come to each barrier."""
    counters, warps = count(lesson.exclusive_scan, vector(rng, 256)), 8
    if counters.barriers > 17 * warps:
        steps, line = max((line.counts.barriers // warps, line.line) for line in counters.launches[0].lines
                          if line.kind == "barrier")
        assert steps <= 8, f"The loop at line {line} has {steps} steps. From 128 to 1 there are 8: which is too many?"
    assert counters.barriers <= 17 * warps, "8 steps up, 8 steps down and the store make 17 barriers for each warp."


@pytest.mark.task(2)
@pytest.mark.counters
def test_the_tree_computes_nothing_in_float64(rng):
    counters = count(lesson.exclusive_scan, vector(rng, 300))
    assert counters.float64 == 0
    assert counters.conversions == 0


@pytest.mark.task(2)
@pytest.mark.counters
def test_two_blocks_move_x_once_out_three_times_and_totals(rng):
    counters = count(lesson.exclusive_scan, vector(rng, 512))
    assert counters.bytes == 4 * 4 * 512 + 4 * 4 * 2 + 4


@pytest.mark.task(1, 2)
@pytest.mark.counters
@pytest.mark.parametrize("n", [512, 1000])
def test_predicts_the_traffic_of_three_passes(n, rng):
    predicted, _ = lesson.predict_traffic(n)
    counters = count(lesson.exclusive_scan, vector(rng, n))
    assert predicted == counters.bytes


@pytest.mark.task(2)
@pytest.mark.compiled
def test_the_compiler_finds_a_tree_of_float32(rng):
    kernel = compiled(lesson.exclusive_scan, vector(rng, 256), chip="h100").kernels["blelloch_kernel"]
    assert [name for name in kernel.instructions if "f64" in name] == []
    assert kernel.spills == 0
    atomics = [name for name in kernel.instructions if name.startswith(("atom", "red."))]
    assert atomics == [], "No other thread changes a place of a pair in the same step. What is the atomic for?"


@pytest.mark.task(2)
@pytest.mark.gpu
def test_three_passes_give_the_same_bits_every_time(rng):
    x = vector(rng, 2**20)
    first = lesson.exclusive_scan(x)
    assert all(torch.equal(lesson.exclusive_scan(x), first) for _ in range(20))
    assert_matches(lesson.exclusive_scan, x, oracle=sums_before, tolerance=accumulated(np.float32, 2**20))


# Task 3: segments ---------------------------------------------------------------------------------

def pair_of(*pairs):
    """Plain Python: the flag says if a segment begins in these pairs, the value is the sum of the last segment."""
    begins = max([at for at, (flag, _) in enumerate(pairs) if flag], default=0)
    return max(flag for flag, _ in pairs), sum(value for _, value in pairs[begins:])


def grouped_to_the_left(a, b, c):
    return lesson.combined(lesson.combined(a, b), c)


def grouped_to_the_right(a, b, c):
    return lesson.combined(a, lesson.combined(b, c))


def sums_of_segments(ids, x, segments, block=None):
    return torch.zeros(segments, dtype=x.dtype, device=x.device).index_add(0, ids.long(), x)


def lengths(*sizes):
    """ids of segments with so many elements each."""
    return tensor([at for at, size in enumerate(sizes) for _ in range(size)], torch.int32)


@pytest.mark.task(3)
@pytest.mark.parametrize("flags", list(itertools.product([0, 1], repeat=2)))
def test_two_pairs_add_up_unless_a_segment_begins_with_the_second(flags):
    a, b = (flags[0], 5.0), (flags[1], 2.0)
    flag, value = lesson.combined(a, b)
    assert flag in (0, 1), f"The flag of {a} and {b} together is {flag}, not 0 or 1. What came back in its place?"
    assert flag >= max(flags), f"The flag of {a} and {b} together is {flag}. A segment begins in one, so it is 1."
    begins = "A segment begins" if flags[1] else "No segment begins"
    assert value == pair_of(a, b)[1], (
        f"The value of {a} and {b} together is {value}. {begins} with the second. Whose values belong to its segment?")
    assert_matches(lesson.combined, a, b, oracle=pair_of)


@pytest.mark.task(3)
@pytest.mark.parametrize("flags", list(itertools.product([0, 1], repeat=3)))
@pytest.mark.parametrize("grouped", [grouped_to_the_left, grouped_to_the_right])
def test_three_pairs_give_the_same_however_they_are_grouped(grouped, flags):
    """Associative: a scan on a GPU needs it, and one that goes from left to right would not notice."""
    assert_matches(grouped, (flags[0], 5.0), (flags[1], 2.0), (flags[2], 8.0), oracle=pair_of)


@pytest.mark.task(3)
@pytest.mark.nonfinite
@pytest.mark.parametrize("value", [NAN, INF])
def test_nothing_of_a_segment_gets_into_the_next_one(value):
    """Not even NaN, as 0 * NaN would."""
    _, sum_of_the_second = lesson.combined((0, value), (1, 2.0))
    assert sum_of_the_second == 2.0, (
        f"A segment begins with (1, 2.0), yet {value} before it made its value {sum_of_the_second}. "
        f"What is 0 * {value}?")
    assert_matches(lesson.combined, (0, value), (1, 2.0), oracle=lambda a, b: (1, 2.0))


SEGMENTS = {  # sums of the segments 5 2 8 and 1 4 that are not theirs
    (27, 6): "27 is 5 + 7 + 15: each running sum of segment 0 was added. Which of them is its sum?",
    (8, 4): "8 is the last element of segment 0 alone: its sum began anew there. At which element is a flag 1?",
    (5, 1): "5 is the first element of segment 0 alone. At which of its elements does the scan have its sum?",
    (7, 1): "7 is segment 0 without its last element. At which of its elements does the scan have its sum?",
    (15, 20): "Segment 2 got 20, its own 5 and the 15 of segment 0. What makes a sum begin anew?",
}


@pytest.mark.task(3)
def test_adds_up_the_segments_of_the_lesson():
    """ids 0 0 0 2 2 5: segments 1, 3, 4 and 6 are empty."""
    arguments = lengths(3, 0, 2, 0, 0, 1), tensor(LESSON[:6]), 7
    assert not stops(lesson.segment_sums, *arguments, block=8, saying="before the start of out"), (
        "The 2 lanes behind element 5 have the id -1, and out[-1] is updated. What keeps such lanes out?")
    of_first, _, of_third = lesson.segment_sums(*arguments, block=8)[:3].tolist()
    mistaken = (of_first, of_third) in SEGMENTS
    assert not mistaken, SEGMENTS[of_first, of_third]
    assert_matches(lesson.segment_sums, lengths(3, 0, 2, 0, 0, 1), tensor(LESSON[:6]), 7, block=8,
                   oracle=sums_of_segments, exact=True)


@pytest.mark.task(3)
def test_each_block_adds_its_part_of_a_segment():
    """Blocks of 8: segment 1 lies in all three."""
    x = torch.arange(1.0, 25.0, device=device)
    got = lesson.segment_sums(lengths(5, 14, 5), x, 3, block=8)[1].item()
    parts = 6 + 7 + 8, sum(range(9, 17)), 17 + 18 + 19
    assert got != parts[2], f"{got} is the part of the last block alone. Which element of a block before adds its part?"
    assert got == sum(parts), f"Three blocks hold parts of segment 1. Their sums: {parts}."


@pytest.mark.task(3)
def test_a_segment_goes_on_in_the_next_block():
    """Blocks of 8: segment 1 lies in all three. In the second call there is one segment, whose id is 0."""
    for sizes in [(5, 14, 5), (12,)]:
        x = torch.arange(1.0, 1.0 + sum(sizes), device=device)
        assert_matches(lesson.segment_sums, lengths(*sizes), x, len(sizes), block=8,
                       oracle=sums_of_segments, exact=True)


@pytest.mark.task(3)
@pytest.mark.edge
@pytest.mark.parametrize("n", awkward_lengths(block=64)[1:])
def test_adds_up_segments_of_any_number_of_elements(n, rng):
    for length in (n, 0):
        ids = tensor(np.sort(rng.integers(0, 1 + n // 5, length)), torch.int32)
        assert_matches(lesson.segment_sums, ids, vector(rng, length), 2 + n // 5, block=64, oracle=sums_of_segments,
                       tolerance=accumulated(np.float32, 64))


@pytest.mark.task(3)
@pytest.mark.edge
@pytest.mark.parametrize("sizes", [(200,), (1,) * 70, (64, 64), (63, 1, 65), (0, 0, 3), (1, 126, 1)])
def test_segments_may_end_where_blocks_do(sizes):
    x = torch.arange(1.0, 1.0 + sum(sizes), device=device)
    assert_matches(lesson.segment_sums, lengths(*sizes), x, len(sizes), block=64, oracle=sums_of_segments, exact=True)


@pytest.mark.task(3)
@pytest.mark.nonfinite
def test_nan_and_infinity_stay_in_their_segments():
    x = tensor([1.0, NAN, 2.0, INF, 3.0, -INF, INF, 4.0, 5.0])
    assert_matches(lesson.segment_sums, lengths(2, 1, 2, 2, 2), x, 5, block=8, oracle=sums_of_segments, exact=True)


@pytest.mark.task(3)
@pytest.mark.counters
def test_each_block_adds_one_number_for_each_segment_in_it(rng):
    """Segments of 100, 28 and 172 in blocks of 64: 1, 2, 1, 1 and 1."""
    counters, parts = count(lesson.segment_sums, lengths(100, 28, 172), vector(rng, 300), 3, block=64), 6
    assert counters.bytes_atomic == 4 * parts
    assert counters.programs == 5


@pytest.mark.task(3)
@pytest.mark.counters
def test_x_is_loaded_once_and_ids_three_times_at_most(rng):
    counters = count(lesson.segment_sums, lengths(100, 28, 172), vector(rng, 300), 3, block=64)
    assert 2 * 4 * 300 <= counters.bytes_loaded <= 4 * 4 * 300
    assert counters.float64 == 0


@pytest.mark.task(3)
@pytest.mark.compiled
def test_the_compiler_adds_sums_of_segments_without_putting_other_memory_in_order(rng):
    """atom.global.gpu.relaxed.add.f32 in PTX."""
    ids, x = lengths(900, 600), vector(rng, 1500)
    kernel = compiled(lesson.segment_sums, ids, x, 2, chip="h100").kernels["segment_kernel"]
    atomics = [name for name in kernel.instructions if name.startswith(("atom", "red."))]
    assert len(atomics) > 0
    atomics_that_order_other_memory = [name for name in atomics if "relaxed" not in name]
    assert atomics_that_order_other_memory == [], "Which sem= has the tl.atomic_add of segment_kernel?"
    atomics_that_one_block_alone_sees = [name for name in atomics if "cta" in name]
    assert atomics_that_one_block_alone_sees == []


# Task 4: look back --------------------------------------------------------------------------------

def sum_of_all(statuses, values, window=4):
    """As far as the nearest WHOLE."""
    return float(sum(values[nearest_whole(statuses):]))


def nearest_whole(statuses):
    return max([at for at, status in enumerate(statuses) if status == WHOLE], default=0)


def tiles_of(amount):
    """The tiles whose values 4, 8, 16, ... add up to this, as words; "" where none do."""
    if not 0 < amount < INF or amount % 4:
        return [], ""
    tiles = [at for at in range(64) if int(amount) >> (at + 2) & 1]
    return tiles, f"tile{'s' if len(tiles) > 1 else ''} {', '.join(map(str, tiles))}"


def what_went_wrong(got, statuses, values, window=4):
    """A question about the tiles that are in this sum and should not be, or should be and are not; "" if none is."""
    first, wanted = nearest_whole(statuses), sum_of_all(statuses, values)
    if got == sum(statuses[first:]) != wanted:
        return f"{got} is a sum of statuses. Which of the two that load_window returns is added?"
    (more, named_more), (fewer, named_fewer) = tiles_of(got - wanted), tiles_of(wanted - got)
    if more:
        if max(more) < first:
            return f"In the sum is {named_more}, but tile {first} is WHOLE. What does its value count already?"
        if min(more) >= first:
            return f"{got - wanted} too much: twice {named_more}. Which tile is the first of the next window?"
    if fewer == [first] and len(statuses) - first <= window:
        return f"Not in the sum: {named_fewer}, the nearest WHOLE. Is what it published no part of the sum?"
    if fewer and max(fewer) < len(statuses) - window:
        return f"Not in the sum: {named_fewer}, beyond the first window. When does the loop go on to the next?"
    return f"Not in the sum: {named_fewer}. Which tiles from the nearest WHOLE on count?" if fewer else ""


def assert_scans(x, **sizes):
    """In the simulator first, which names a deadlock where a GPU would hang."""
    if card() is not None:
        count(lesson.inclusive_scan, x, **sizes)
    exact = bool((x == x.round()).all())
    assert_matches(lesson.inclusive_scan, x, **sizes, oracle=sums_up_to, exact=exact,
                   tolerance=None if exact else accumulated(np.float32, x.numel()))


@pytest.mark.task(4)
def test_the_first_tile_has_none_to_ask():
    asks = stops(lesson.sum_before, [], [], saying="of words")
    assert not asks, "No tile lies before tile 0, yet it asks for a word: its own. Which tile is `last` at first?"


@pytest.mark.task(4)
def test_waits_for_no_tile_that_has_published_something():
    waits = stops(lesson.sum_before, [WHOLE], [1.0], saying="waits")
    assert not waits, "Tile 0 is WHOLE, yet the loop goes on. What ends it?"
    waits = stops(lesson.sum_before, [WHOLE, PART], [1.0, 2.0], saying="waits")
    assert not waits, "Tile 1 has published PART, yet the loop goes on. Does it wait for a WHOLE? A PART can be added."


@pytest.mark.task(4)
@pytest.mark.parametrize("statuses", [
    [], [WHOLE, PART], [WHOLE, WHOLE], [WHOLE], [WHOLE, PART, PART, PART],  # the window of 4 reaches tile 0
    [WHOLE, PART, WHOLE, PART, PART], [WHOLE, PART, PART, PART, PART], [WHOLE, WHOLE, PART, PART, PART, WHOLE],
    [PART, PART], [WHOLE] + 9 * [PART], [WHOLE] + 5 * [PART, PART, WHOLE], 4 * [WHOLE] + 8 * [PART],
], ids=lambda statuses: "".join(" PW"[status] for status in statuses) or "none")
def test_finds_the_sum_of_all_tiles_before(statuses):
    """P for PART, W for WHOLE, the nearest tile last. The values show which are in the sum: 4, 8, 16, ..."""
    values = [4.0 * 2**at for at in range(len(statuses))]
    why = what_went_wrong(lesson.sum_before(statuses, values), statuses, values)
    mistaken = why != ""
    assert not mistaken, f"sum_before(statuses={statuses}, values={values}). {why}"
    assert_matches(lesson.sum_before, statuses, values, oracle=sum_of_all)


@pytest.mark.task(4)
@pytest.mark.parametrize("statuses", [[WHOLE, NOTHING, PART], [WHOLE, NOTHING, PART, PART, PART, PART]])
def test_waits_for_a_tile_that_has_published_nothing(statuses):
    """In the first window of 4 or in the second. Nobody publishes it here, so the look-back has to wait for ever."""
    waits = stops(lesson.sum_before, statuses, [2.0**at for at in range(len(statuses))], saying="waits")
    assert waits, f"Tile 1 of statuses={statuses} has published NOTHING, and look_back did not look again."


@pytest.mark.task(4)
@pytest.mark.nonfinite
def test_what_lies_before_a_whole_sum_does_not_count_even_if_it_is_nan():
    got = lesson.sum_before([PART, WHOLE, PART], [NAN, 1.0, 2.0])
    assert got == got, "Tile 1 is WHOLE and tile 0 holds nan, which does not count. The sum is nan: what is 0 * nan?"
    assert_matches(lesson.sum_before, [PART, WHOLE, PART], [NAN, 1.0, 2.0], oracle=lambda *args: 3.0)
    assert_matches(lesson.sum_before, [WHOLE, PART, PART], [INF, 1.0, 2.0], oracle=lambda *args: INF)


@pytest.mark.task(4)
def test_does_not_wait_for_what_lies_before_a_whole_sum_in_a_later_window():
    """Tile 0 is not ready, and nobody needs it."""
    statuses, values = [NOTHING, WHOLE, PART, PART, PART, PART], [0.0, 3.0, 1.0, 1.0, 1.0, 1.0]
    waits = stops(lesson.sum_before, statuses, values, window=1, saying="waits")
    assert not waits, "Tile 1 is WHOLE, so tile 0 is not needed, yet the loop waits for it. What ends the loop?"
    assert_matches(lesson.sum_before, statuses, values, window=1, oracle=lambda *args, **window: 7.0)


@pytest.mark.task(4)
@pytest.mark.counters
def test_looks_at_a_whole_window_by_one_load():
    """Words of 40 tiles lie in 10 sectors of 32 bytes, or 11. Asked for one by one they would take 40."""
    counters = count(lesson.sum_before, [WHOLE] + 39 * [PART], 40 * [1.0], window=32)
    assert counters.bytes_atomic == 0
    words = counters.bytes_loaded // 8
    assert words <= 40, f"{words} words of 40 tiles are loaded, some again and again. By how much does last go back?"
    assert counters.sectors <= 10 + 2 + 1, "A sector holds 4 words. How many words does one load ask for?"
    assert counters.bytes_loaded == 8 * 40


@pytest.mark.task(4)
@pytest.mark.counters
def test_asks_no_further_than_the_window_of_the_nearest_whole_sum():
    counters = count(lesson.sum_before, [WHOLE] + 31 * [PART] + [WHOLE, PART], 34 * [1.0], window=8)
    words = counters.bytes_loaded // 8
    assert words <= 8, f"Tile 32 is WHOLE, in the first window of 8, yet {words} words are loaded. What ends the loop?"
    assert counters.bytes_loaded == 8 * 8


@pytest.mark.task(4)
@pytest.mark.compiled
def test_the_compiler_asks_memory_again_in_each_turn(rng):
    """ld.volatile in PTX. And the tile of 4096 elements stays in registers."""
    kernel = compiled(lesson.inclusive_scan, vector(rng, 3 * 4096), chip="h100").kernels["scan_kernel"]
    volatile_loads = [name for name in kernel.instructions if name.startswith("ld.volatile")]
    assert volatile_loads != [], "look_back may load an old word for ever. Which argument makes a load ask again?"
    assert kernel.spills == 0


@pytest.mark.task(4)
def test_scans_the_eight_numbers_in_four_tiles_that_wait_for_each_other():
    assert_scans(tensor(LESSON), tile=2, window=2)


@pytest.mark.task(4)
def test_scans_many_tiles_that_wait_for_each_other():
    assert_scans(torch.ones(1000, device=device), tile=16, window=4)


@pytest.mark.task(4)
@pytest.mark.edge
@pytest.mark.parametrize("n", awkward_lengths(block=64))
def test_looks_back_over_any_length(n, rng):
    assert_scans(vector(rng, n), tile=64, window=32)


@pytest.mark.task(4)
@pytest.mark.edge
def test_scans_tiles_of_the_usual_size(rng):
    assert_scans(tensor(rng.integers(-9, 10, 10 * 4096 + 3)))


@pytest.mark.task(4)
@pytest.mark.nonfinite
def test_nan_and_infinity_go_on_from_tile_to_tile():
    for values in ([1.0, NAN, 2.0, 3.0], [INF, 1.0, 2.0], [1.0, INF, 2.0, -INF, 1.0]):
        assert_matches(lesson.inclusive_scan, tensor(values), tile=1, window=2, oracle=sums_up_to, exact=True)


@pytest.mark.task(4)
@pytest.mark.counters
def test_one_tile_loads_and_stores_each_element_once(rng):
    """With nothing before it there is nothing to look at."""
    counters = count(lesson.inclusive_scan, vector(rng, 2000), tile=2048)
    assert counters.bytes_loaded + counters.bytes_stored == 2 * 4 * 2000


@pytest.mark.task(1, 4)
@pytest.mark.counters
def test_predicts_that_one_pass_loads_and_stores_each_element_once(rng):
    _, predicted = lesson.predict_traffic(2000)
    counters = count(lesson.inclusive_scan, vector(rng, 2000), tile=2048)
    assert predicted == counters.bytes_loaded + counters.bytes_stored


@pytest.mark.task(4)
@pytest.mark.hopper
@pytest.mark.speed
def test_scans_at_more_than_half_the_speed_of_a_copy(rng):
    """A copy moves as many bytes. A scan like this one reached 0.91 of its speed on an H200; the bar is 0.8."""
    x = vector(rng, 10**6).repeat(LARGE // 10**6)
    assert_scans(vector(rng, 1000), tile=16, window=4)
    assert speed_ratio(lesson.inclusive_scan, torch.clone, x) >= 0.6
