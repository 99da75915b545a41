"""The lesson again, as checks: every value in its bin, a block's own bins, an atomic that was missing, no atomic."""

import math

import numpy as np
import pytest

from tools.check import assert_matches, compiled, count, speed_ratio
from tools.check.inputs import awkward_lengths
from tools.gpu import cupy
from week2.katas.histogram import histogram as lesson

INF, NAN = float("inf"), float("nan")
LESSON = [0.5, 0.25, 0.5, 1.0, -0.1, 0.5, NAN, 0.0]
BELOW_1 = float(np.nextafter(np.float32(1), np.float32(0)))
LENGTHS = awkward_lengths(block=256)[1:]  # 1, 255, 256, 257, 521; none at all is a case of its own
LARGE = 2**28  # float32: 1 GiB

pytestmark = pytest.mark.filterwarnings("ignore:Grid size")  # Numba's advice to start more blocks


def floats(values):
    return cupy.asarray(np.array(values, np.float32))


def whole(values):
    return cupy.asarray(np.array(values, np.int32))


def uniform(rng, n):
    """n values between 0 and 1, in all bins alike."""
    return floats(rng.random(n))


def of_numpy(x, blocks=None, counts=None):
    """NumPy's histogram, which looks values up between edges."""
    before = 0 if counts is None else counts.get()
    return cupy.asarray(before + np.histogram(x.get().astype(np.float64), 256, (0, 1))[0])


def filled(counts):
    """Pairs of a bin and its count, of the bins that are not empty."""
    return [(b, int(number)) for b, number in enumerate(counts.get()) if number]


def filled_by_numpy(*values):
    return filled(of_numpy(floats(values)))


def in_float64(names):
    return [name for name in names if "f64" in name]


# Task 1: atomics in global memory -----------------------------------------------------------------

def bin_of(value):
    """By a kernel that stores bin_of(value), and counts nothing."""
    return int(lesson.bins_of(floats([value])).get()[0])


@pytest.mark.task(1)
@pytest.mark.edge
@pytest.mark.parametrize("value", [0.25, 0.0, 1.0, BELOW_1, 1 / 256, -0.001, 1.001])
def test_a_value_has_one_bin_or_none(value):
    wanted = -1 if not 0 <= value <= 1 else min(math.floor(256 * value), 255)
    assert bin_of(value) == wanted


@pytest.mark.task(1)
@pytest.mark.nonfinite
@pytest.mark.parametrize("value", [NAN, INF, -INF])
def test_nan_and_infinity_have_no_bin(value):
    assert bin_of(value) == -1, "Every comparison with NaN is false, < and > alike"


def bins_filled(*values):
    return filled(lesson.histogram_global(floats(values)))


@pytest.mark.task(1)
def test_one_value_is_counted_in_its_bin():
    assert_matches(bins_filled, 0.25, oracle=filled_by_numpy)


@pytest.mark.task(1)
def test_values_of_one_bin_add_up():
    assert_matches(bins_filled, 0.5, 0.25, 0.5, oracle=filled_by_numpy)


@pytest.mark.task(1)
@pytest.mark.edge
@pytest.mark.parametrize("value", [1.0, BELOW_1, 0.0, 255 / 256, 1 / 256, 1.9 / 256])
def test_the_last_bin_holds_1_and_the_others_end_before_the_next_begins(value):
    assert_matches(bins_filled, value, 0.5, oracle=filled_by_numpy)


@pytest.mark.task(1)
@pytest.mark.edge
@pytest.mark.parametrize("value", [-0.001, -0.1, 1.001, 300.0, -300.0])
def test_values_outside_of_the_range_are_not_counted(value):
    assert_matches(bins_filled, value, 0.5, oracle=filled_by_numpy)


@pytest.mark.task(1)
@pytest.mark.nonfinite
@pytest.mark.parametrize("value", [NAN, INF, -INF])
def test_nan_and_infinity_are_not_counted(value):
    assert_matches(bins_filled, value, 0.5, oracle=filled_by_numpy)


@pytest.mark.task(1)
def test_counts_the_eight_values_of_the_lesson():
    assert_matches(bins_filled, *LESSON, oracle=filled_by_numpy)


@pytest.mark.task(1)
@pytest.mark.edge
@pytest.mark.parametrize("n", LENGTHS)
def test_counts_any_number_of_values(n, rng):
    assert_matches(lesson.histogram_global, uniform(rng, n), oracle=of_numpy)


@pytest.mark.task(1)
@pytest.mark.counters
def test_each_value_is_loaded_once_and_is_one_update(rng):
    """Eight bytes an update: counts is int64."""
    counters = count(lesson.histogram_global, uniform(rng, 1024))
    assert counters.active_lanes >= 24
    assert counters.bytes_loaded == 4 * 1024
    assert counters.bytes_atomic == 8 * 1024


@pytest.mark.task(1)
@pytest.mark.counters
def test_values_that_are_not_counted_update_nothing():
    counters = count(lesson.histogram_global, floats([-0.1, NAN] * 128 + [0.5] * 64))
    assert counters.bytes_atomic == 8 * 64


@pytest.mark.task(1)
@pytest.mark.counters
def test_bins_are_computed_in_float32(rng):
    counters = count(lesson.histogram_global, uniform(rng, 300))
    assert counters.float64 == 0


# Task 2: a block's own bins -----------------------------------------------------------------------

def bins_filled_by_blocks(blocks, *values):
    return filled(lesson.histogram_private(floats(values), blocks=blocks))


def filled_whatever_blocks(blocks, *values):
    return filled_by_numpy(*values)


@pytest.mark.task(2)
def test_one_block_counts_two_values():
    assert_matches(bins_filled_by_blocks, 1, 0.0, 0.25, oracle=filled_whatever_blocks)


@pytest.mark.task(2)
def test_private_bins_give_the_counts_of_the_lesson():
    assert_matches(bins_filled_by_blocks, 1, *LESSON, oracle=filled_whatever_blocks)


def halves_counted(n, blocks):
    """By `blocks` blocks, of n values of 0.5."""
    return filled(lesson.histogram_private(floats([0.5] * n), blocks=blocks))


@pytest.mark.task(2)
@pytest.mark.edge
@pytest.mark.parametrize("n, blocks", [(300, 1), (500, 2), (1000, 3)])
def test_one_block_counts_more_values_than_it_has_threads_and_blocks_add_up(n, blocks):
    assert_matches(halves_counted, n, blocks, oracle=lambda n, blocks: [(128, n)])


@pytest.mark.task(2)
@pytest.mark.edge
@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize("blocks", [1, 3])
def test_any_number_of_blocks_counts_any_number_of_values(n, blocks, rng):
    assert_matches(lesson.histogram_private, uniform(rng, n), blocks=blocks, oracle=of_numpy)


@pytest.mark.task(2)
@pytest.mark.edge
def test_values_outside_are_not_counted_in_private_bins_either():
    values = [-0.001, 1.001, NAN, INF, -INF, 1.0, 0.0]
    assert_matches(bins_filled_by_blocks, 2, *values, oracle=filled_whatever_blocks)


def counted_on(function, before, n):
    """Bin 128, which held `before`, after n values of 0.5."""
    return int(function(floats([0.5] * n), counts=cupy.full(256, before, np.int64)).get()[128])


@pytest.mark.task(1, 2)
@pytest.mark.edge
def test_counts_go_on_beyond_the_largest_int32():
    for function in (lesson.histogram_global, lesson.histogram_private):
        for before, n in [(5, 20), (5, 0), (2**31 - 1, 20)]:
            assert_matches(counted_on, function, before, n, oracle=lambda function, before, n: before + n)


@pytest.mark.task(2)
@pytest.mark.counters
def test_each_block_adds_each_bin_to_counts_once(rng):
    """However many values it counts, and in however few bins. Eight bytes an update."""
    for x in (floats([0.5] * 600), uniform(rng, 4096)):
        counters, blocks = count(lesson.histogram_private, x, blocks=2), 2
        updates_of_a_block = counters.bytes_atomic / 8 / blocks
        assert updates_of_a_block == 256, "Each thread of a block adds one bin to counts, a bin of 0 too"


@pytest.mark.task(2)
@pytest.mark.counters
def test_private_bins_are_whole_numbers(rng):
    """A thread converts each value to its bin. A bin that is a float would be one more conversion for each thread."""
    counters = count(lesson.histogram_private, uniform(rng, 1024), blocks=2)
    conversions_of_a_value = counters.conversions // 1024
    assert conversions_of_a_value <= 1, "How often is bin_of called for a value?"
    assert counters.conversions <= 1024


@pytest.mark.task(2)
@pytest.mark.counters
def test_each_block_loads_its_share_once_four_sectors_at_a_time(rng):
    """Threads side by side take values side by side, in each turn of the loop."""
    counters = count(lesson.histogram_private, uniform(rng, 4096), blocks=2)
    assert counters.bytes_loaded == 4 * 4096
    assert counters.sectors_per_request <= 6
    assert counters.float64 == 0


@pytest.mark.task(2)
@pytest.mark.counters
def test_each_warp_waits_twice(rng):
    """Once for bins that are cleared, once for bins that are counted. A block has eight warps."""
    counters, warps = count(lesson.histogram_private, uniform(rng, 4096), blocks=2), 2 * 8
    assert counters.barriers == 2 * warps


@pytest.mark.task(2)
@pytest.mark.counters
def test_each_value_asks_shared_memory_once(rng):
    """Beside it each thread clears one bin and loads one, of four bytes each. A block has eight warps."""
    counters, blocks = count(lesson.histogram_private, uniform(rng, 4096), blocks=2), 2
    assert counters.shared_requests == 4096 // 32 + 2 * 8 * blocks, "Which bin is loaded or stored more than once?"
    bytes_of_a_bin = counters.bytes_shared / (4096 + 2 * 256 * blocks)
    assert bytes_of_a_bin == 4


@pytest.mark.task(2)
@pytest.mark.compiled
def test_the_compiler_finds_256_bins_of_int32_in_shared_memory(rng):
    kernel = compiled(lesson.histogram_private, uniform(rng, 1024), blocks=2, chip="h100").kernels["private_kernel"]
    bytes_of_a_bin = kernel.shared_bytes / 256
    assert bytes_of_a_bin == 4
    assert in_float64(kernel.instructions) == []


def updates(n, blocks):
    return n, sum(256 for _ in range(blocks))


@pytest.mark.task(2)
def test_values_update_counts_one_by_one_or_blocks_do_bin_by_bin():
    for n, blocks in [(1000, 2), (7, 3), (2**28, 1056)]:
        assert_matches(lesson.predict_updates, n, blocks, oracle=updates)


@pytest.mark.task(1, 2)
@pytest.mark.counters
def test_predicts_the_updates_that_are_counted(rng):
    x, predicted = uniform(rng, 1000), lesson.predict_updates(1000, 3)
    counted = count(lesson.histogram_global, x), count(lesson.histogram_private, x, blocks=3)
    assert predicted == tuple(counters.bytes_atomic // 8 for counters in counted)


ALL_DIFFERENT = list(range(100, 132))
WARPS = {
    "32 neighbours": (ALL_DIFFERENT, 1),
    "one bin": ([7] * 32, 32),
    "two bins in two banks": ([7, 8] * 16, 16),
    "two bins of one bank": ([7, 39] * 16, 32),
    "eight bins of one bank": (list(range(5, 256, 32)) * 4, 32),
    "every second bin": (list(range(0, 64, 2)), 2),
    "one pair": ([100, *ALL_DIFFERENT[:-1]], 2),
}


@pytest.mark.task(2)
def test_bins_7_and_39_lie_in_one_bank():
    wavefronts = lesson.predict_wavefronts([7, 39] * 16)
    assert wavefronts == 32, "Bins 7 and 39 both lie in bank 7, so all 32 lanes take turns"


@pytest.mark.task(2)
@pytest.mark.parametrize("bins, wavefronts", WARPS.values(), ids=WARPS)
def test_lanes_wait_for_those_that_want_their_bank(bins, wavefronts):
    def predicted(*bins):
        return int(lesson.predict_wavefronts(list(bins)))

    assert_matches(predicted, *bins, oracle=lambda *bins: wavefronts)


def wavefronts_of(function, bins):
    """What 32 values add to the wavefronts of one block that counts nothing."""
    return (count(function, floats([(b + 0.5) / 256 for b in bins]), blocks=1).wavefronts
            - count(function, floats([]), blocks=1).wavefronts)


@pytest.mark.task(2)
@pytest.mark.counters
@pytest.mark.parametrize("bins", [bins for bins, _ in WARPS.values()], ids=WARPS)
def test_predicts_the_wavefronts_that_are_counted(bins):
    counted = wavefronts_of(lesson.histogram_private, bins)
    predicted = lesson.predict_wavefronts(bins)
    assert counted == predicted


@pytest.mark.task(2)
@pytest.mark.counters
def test_equal_values_wait_most_and_half_as_long_where_a_warp_has_two_copies(rng):
    """32 lanes of a warp in one bank: 31 wait. In two copies, 16 in each of two banks: 15 turns of waiting."""
    x, warps = floats([0.3] * 4096), 4096 // 32
    private, copies = count(lesson.histogram_private, x, blocks=2), count(lesson.histogram_copies, x, blocks=2)
    spread = count(lesson.histogram_private, uniform(rng, 4096), blocks=2)
    assert private.conflicts == 31 * warps
    assert copies.conflicts == 15 * warps
    assert spread.conflicts < 5 * warps


@pytest.mark.task(2)
@pytest.mark.edge
@pytest.mark.parametrize("n", [1, 3, 4, 5, 1027])
def test_copies_count_what_private_bins_count(n, rng):
    x = floats([0.5, *rng.uniform(-0.2, 1.2, n - 1)])
    assert_matches(lesson.histogram_copies, x, blocks=2, oracle=lambda x, blocks: lesson.histogram_private(x, blocks=2))


@pytest.mark.task(2)
@pytest.mark.hopper
@pytest.mark.speed
def test_private_bins_count_at_half_the_speed_of_a_copy(rng):
    """A copy of half as many values moves as many bytes: half of them are read, half written. Its bar is 0.58."""
    x = cupy.tile(uniform(rng, 2**20), LARGE // 2**20)
    assert speed_ratio(lesson.histogram_private, lambda x: x[: LARGE // 2].copy(), x) >= 0.5


# Task 3: an atomic that was missing ---------------------------------------------------------------

def larger_of(values):
    """What one place holds in the end, which held the first: each of the others comes from a thread of its own."""
    start, *others = values
    return float(lesson.largest(floats(others), whole([0] * len(others)), 1, start=start).get()[0])


@pytest.mark.task(3)
def test_one_thread_stores_its_larger_value():
    held = larger_of([1.0, 2.5])
    assert held != 1, "Nothing was stored. Is 2.5 compared with a float? With what does cas compare the place?"
    assert held == 2.5, "cas stores whole numbers. Which one has the bits of 2.5?"


@pytest.mark.task(3)
@pytest.mark.parametrize("start, value", [(2.5, 1.0), (0.5, -2.0), (-1.0, -2.5)])
def test_floats_are_compared_and_not_their_bits(start, value):
    held, larger = larger_of([start, value]), max(start, value)
    assert held == larger, "Compare floats: the bits of negative ones, as whole numbers, are in the opposite order"


@pytest.mark.task(3)
@pytest.mark.parametrize("values", [(2.0, 3.0), (3.0, 2.0), (2.0, 3.0, 4.0)], ids=str)
def test_a_thread_that_came_second_tries_again(values):
    """All threads of a warp read the 1.0 that the place holds; then one after the other comes to cas."""
    held = larger_of([1.0, *values])
    assert held == max(values), "All have read 1.0. What does a thread do if cas has found another number?"


@pytest.mark.task(3)
@pytest.mark.parametrize("values", [
    (1.0, 2.5), (2.5, 1.0), (-1.0, -2.5), (-2.5, -1.0), (-2.0, 0.5), (0.0, 1.0, 3.0), (0.0, 3.0, 1.0), (2.0, 2.0),
    (-9.0, -3.0, -1.0, -2.0)], ids=str)
def test_the_larger_of_two_floats_is_kept(values):
    assert_matches(larger_of, list(values), oracle=max)


@pytest.mark.task(3)
@pytest.mark.nonfinite
@pytest.mark.parametrize(
    "values", [(1.0, NAN), (0.0, NAN, 1.0), (INF, 1.0), (-INF, -1024.0), (-1024.0, -INF), (1.0, INF)], ids=str)
def test_nan_is_never_the_largest_and_infinity_is(values):
    assert_matches(larger_of, list(values), oracle=lambda values: max(value for value in values if value == value))


def largest_of_each(values, keys, number, start):
    out = np.full(number, start, np.float32)
    for value, key in zip(values.get(), keys.get()):
        out[key] = max(out[key], value)
    return cupy.asarray(out)


@pytest.mark.task(3)
@pytest.mark.parametrize("n", [33, 1000])
def test_each_key_gets_the_largest_of_its_values(n, rng):
    """Some keys get none."""
    values, keys = floats(rng.normal(size=n) - 2), whole(rng.integers(0, 20, n) * 2)
    assert_matches(lesson.largest, values, keys, 40, start=-9999.0, oracle=largest_of_each)


@pytest.mark.task(3)
def test_many_threads_that_want_one_place_leave_the_largest(rng):
    values = floats(rng.permutation(1000) - 5000)
    assert_matches(lesson.largest, values, whole([3] * 1000), 5, start=-9999.0, oracle=largest_of_each)


@pytest.mark.task(3)
@pytest.mark.counters
def test_a_value_that_is_not_larger_is_compared_and_no_more(rng):
    """One thread has 2.5, the others 0.5 or 1, and the place holds 1."""
    counters = count(lesson.largest, floats([2.5] + [0.5] * 149 + [1.0] * 150), whole([0] * 300), 1, start=1.0)
    attempts = counters.bytes_atomic // 4
    assert attempts == 1
    assert counters.float64 == 0
    assert counters.conversions == 0


@pytest.mark.task(3)
@pytest.mark.counters
def test_what_the_place_holds_is_loaded_once(rng):
    """However often a thread has to try."""
    counters, threads = count(lesson.largest, floats(rng.permutation(64)), whole([0] * 64), 1), 64
    loads_of_a_thread = counters.bytes_loaded / 4 / threads
    assert loads_of_a_thread == 3, "Value, key, and once the place: cas returns what it finds, so load nothing again"


@pytest.mark.task(3)
@pytest.mark.compiled
def test_the_compiler_finds_a_compare_and_swap_and_no_conversion(rng):
    arguments = floats(rng.normal(size=100)), whole(rng.integers(0, 5, 100)), 5
    names = compiled(lesson.largest, *arguments, chip="h100").kernels["max_kernel"].instructions
    swaps = [name for name in names if "cas" in name.lower()]
    conversions = [name for name in names if name.startswith("cvt") and "f" in name]
    assert swaps != []
    assert conversions == []


# Task 4: degrees of a graph -----------------------------------------------------------------------

def degrees(*edges):
    return lesson.degrees_of(whole(np.array(edges).reshape(-1, 2).T.copy()), 6).get().tolist()


def ends_of(*edges):
    return [sum(edge.count(node) for edge in edges) for node in range(6)]


@pytest.mark.task(4)
@pytest.mark.parametrize("edges", [((0, 1),), ((4, 2), (2, 5)), ((3, 3),), ((1, 0), (1, 0)), ()], ids=str)
def test_each_end_of_an_edge_counts_at_its_node(edges):
    assert_matches(degrees, *edges, oracle=ends_of)


@pytest.mark.task(4)
@pytest.mark.edge
@pytest.mark.parametrize("m", LENGTHS)
def test_counts_the_ends_of_any_number_of_edges(m, rng):
    edges = whole(rng.integers(0, 50, (2, m)))
    assert_matches(lesson.degrees_of, edges, 60, oracle=lambda edges, nodes: cupy.asarray(
        np.bincount(edges.get().ravel(), minlength=nodes).astype(np.int32)))


@pytest.mark.task(4)
@pytest.mark.counters
def test_an_edge_is_two_updates(rng):
    counters = count(lesson.degrees_of, whole(rng.integers(0, 50, (2, 1000))), 50)
    assert counters.active_lanes >= 24
    assert counters.bytes_loaded == 2 * 4 * 1000
    assert counters.bytes_atomic == 2 * 4 * 1000
    assert counters.sectors_per_request <= 18


def counts_of(keys):
    """Of keys 0 to 5."""
    return lesson.count_sorted(whole(keys), 6).get().tolist()


@pytest.mark.task(4)
@pytest.mark.edge
@pytest.mark.parametrize(
    "keys", [[3], [0], [5], [], [2, 2, 2], [0, 1, 2, 3, 4, 5], [0, 0, 1, 4, 4, 4, 5], [1, 1, 3, 3]], ids=str)
def test_counts_keys_that_are_sorted(keys):
    assert_matches(counts_of, keys, oracle=lambda keys: [keys.count(v) for v in range(6)])


@pytest.mark.task(4)
@pytest.mark.edge
@pytest.mark.parametrize("n", [*LENGTHS, 5000])
@pytest.mark.parametrize("number", [1, 300])
def test_counts_any_number_of_sorted_keys(n, number, rng):
    keys = whole(np.sort(rng.integers(0, number, n)))
    assert_matches(lesson.count_sorted, keys, number, oracle=lambda keys, number: cupy.asarray(
        np.bincount(keys.get(), minlength=number).astype(np.int32)))


@pytest.mark.task(4)
@pytest.mark.counters
def test_sorted_keys_need_no_atomic(rng):
    """Each thread stores one count of four bytes."""
    counters = count(lesson.count_sorted, whole(np.sort(rng.integers(0, 256, 4096))), 256)
    assert counters.active_lanes >= 24
    assert counters.bytes_atomic == 0
    assert counters.bytes_stored == 4 * 256


@pytest.mark.task(4)
@pytest.mark.counters
def test_a_place_is_found_by_halving(rng):
    """4096 keys: after 13 loads no place is left to doubt. Two places for each of 20 counts."""
    counters = count(lesson.count_sorted, whole(np.sort(rng.integers(0, 20, 4096))), 20)
    loads_of_a_place = counters.bytes_loaded / 4 / (2 * 20)
    assert loads_of_a_place <= 13
    assert counters.float64 == 0, "/ is float64 even for two whole numbers"
