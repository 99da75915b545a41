"""The lesson again, as checks: every value in its bin, a block's own bins, an atomic that was missing, no atomic."""

import re

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


THREE_STEPS = re.compile(
    r"line (\d+): .*(?:reads|writes) element \S+ of \w+, which thread \d+ of block \d+ (?:read|wrote) in line (\d+)")


def assert_one_step(function, *arguments, does="add", **options):
    """Counts a call. What a failure adds to a race of lines that load, add and store: no barrier puts them in order.

    And to an update of element -1, which no bin is: what bin_of means by -1.
    """
    __tracebackhide__ = True
    try:
        count(function, *arguments, **options)
    except Exception as fault:
        said = " ".join(str(fault).split())
        what, _, _ = str(fault).partition("\n\n")
        if re.search(r"updates element -1 of \w+; it has 256", said):
            raise AssertionError(f"{what}\nOf a value that has no bin, bin_of returns -1.\n"
                                 "What do you ask about a bin before you count in it?") from None
        race = THREE_STEPS.search(said)
        if not race or abs(int(race[1]) - int(race[2])) > 2:  # farther apart they may be parts that a barrier divides
            raise
        raise AssertionError(f"{what}\nTo load, {does} and store are three steps; another thread came between.\n"
                             "No barrier helps, for both do the same. Which operation is all in one?") from None


def fences(kernel):
    return [name for name in kernel.instructions if name.startswith(("membar", "fence"))]


NO_FENCE = ("A fence keeps a thread's own accesses in order, as other blocks see them.\n"
            "An atomic is one step without it. Which two accesses need an order here?")


def in_float64(names):
    return [name for name in names if "f64" in name]


# Task 1: atomics in global memory -----------------------------------------------------------------

def bin_of(value):
    """By a kernel that stores bin_of(value), and counts nothing."""
    return int(lesson.bins_of(floats([value])).get()[0])


BIN_OF = {  # a value: its bin, and why
    0.25: (64, "Bin b begins at b / 256, and 0.25 is 64 / 256"),
    1.9 / 256: (1, "Bin 1 ends where bin 2 begins, at 2 / 256"),
    1 / 256: (1, "Bin 1 begins at 1 / 256"),
    255 / 256: (255, "Bin 255 begins at 255 / 256"),
    0.0: (0, "Bin 0 begins at 0"),
    1.0: (255, "The last bin, 255, holds 1 too"),
    BELOW_1: (255, "The last bin is 255"),
    -0.001: (-1, "int cuts off towards 0, so the value has to be compared with the range before int"),
    1.001: (-1, "1.001 lies outside of [0, 1]"),
}


@pytest.mark.task(1)
@pytest.mark.edge
@pytest.mark.parametrize("value", BIN_OF)
def test_a_value_has_one_bin_or_none(value):
    wanted, why = BIN_OF[value]
    assert bin_of(value) == wanted, why


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
@pytest.mark.edge
def test_a_value_of_bin_0_is_counted_too():
    assert bins_filled(0.0, 0.25) == [(0, 1), (64, 1)], "0.0 has bin 0. Which number says that a value has no bin?"


@pytest.mark.task(1)
def test_values_of_one_bin_add_up_by_atomics():
    assert_one_step(lesson.histogram_global, floats([0.5, 0.25, 0.5]))
    assert_matches(bins_filled, 0.5, 0.25, 0.5, oracle=filled_by_numpy)


@pytest.mark.task(1)
@pytest.mark.edge
@pytest.mark.parametrize("value", [-0.001, -0.1, 1.001, 300.0, -300.0])
def test_values_outside_of_the_range_are_not_counted(value):
    assert_one_step(lesson.histogram_global, floats([value, 0.5]))
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
    x = uniform(rng, 1024)
    lanes = count(lesson.bins_of, x).active_lanes
    assert lanes >= 24, (f"In bin_of {lanes:.1f} of 32 lanes are at work: a warp goes on until its last value\n"
                         "has a bin. Which multiplication gives the bin of each value at once?")
    counters = count(lesson.histogram_global, x)
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
    assert counters.float64 == 0, "float32 times an int is float64 in Numba, and so is float32 plus 0.5"


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
    assert_one_step(lesson.histogram_private, floats(LESSON), blocks=1)
    assert_matches(bins_filled_by_blocks, 1, *LESSON, oracle=filled_whatever_blocks)


@pytest.mark.task(2)
@pytest.mark.edge
def test_a_thread_whose_value_is_not_counted_adds_its_bin_all_the_same():
    """Thread 0 has -1.0, which is in no bin, and thread 1 has 0.0, which is in the bin that thread 0 adds."""
    counts = bins_filled_by_blocks(1, -1.0, 0.0, 0.25)
    assert counts == [(0, 1), (64, 1)], "Thread 0 has a value without a bin. Does it come to the last line?"


def halves_counted(n, blocks):
    """By `blocks` blocks, of n values of 0.5."""
    return int(lesson.histogram_private(floats([0.5] * n), blocks=blocks).get()[128])


@pytest.mark.task(2)
@pytest.mark.edge
@pytest.mark.parametrize("n", [257, 300, 1000])
def test_one_block_counts_more_values_than_it_has_threads(n):
    counted, threads = halves_counted(n, 1), 256
    assert counted != threads, f"256 of {n} values are counted, one for each thread. Who takes the others?"
    assert_matches(halves_counted, n, 1, oracle=lambda n, blocks: n)


@pytest.mark.task(2)
@pytest.mark.edge
@pytest.mark.parametrize("n, blocks", [(500, 2), (1000, 3)])
def test_blocks_share_the_values_and_add_up_by_atomics(n, blocks):
    assert_one_step(lesson.histogram_private, floats([0.5] * n), blocks=blocks)
    counted = halves_counted(n, blocks)
    assert counted <= n, "More than there are. Which values does a block take, and how far does a turn go?"
    assert counted == n, "Some are missing. Which block should have counted them, and did it add its bins to counts?"


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
def test_each_block_adds_each_bin_to_counts_once():
    """However many values it counts. Eight bytes an update: counts is int64."""
    middles = floats((np.arange(4096) % 256 + 0.5) / 256)  # 256 neighbours fill all bins
    counters, blocks = count(lesson.histogram_private, middles, blocks=2), 2
    assert counters.bytes_atomic == 8 * 256 * blocks, "A block adds each of its 256 bins to counts, once"


@pytest.mark.task(2)
@pytest.mark.counters
def test_few_full_bins_are_no_more_updates():
    """A bin of 0 may be added or left out."""
    counters, blocks = count(lesson.histogram_private, floats([0.5] * 600), blocks=2), 2
    assert counters.bytes_atomic <= 8 * 256 * blocks, "A block adds each of its 256 bins to counts, once at most"


@pytest.mark.task(2)
@pytest.mark.counters
def test_private_bins_are_whole_numbers(rng):
    """A thread converts each value to its bin. A bin that is a float would be one more conversion for each thread."""
    counters = count(lesson.histogram_private, uniform(rng, 1024), blocks=2)
    conversions = counters.conversions
    assert conversions < 2 * 1024, "Each of 1024 values has one bin. How often is bin_of called for a value?"
    assert counters.conversions <= 1024, "Which dtype have the private bins?"


@pytest.mark.task(2)
@pytest.mark.counters
def test_each_block_loads_its_share_once_four_sectors_at_a_time(rng):
    """Threads side by side take values side by side, in each turn of the loop."""
    counters = count(lesson.histogram_private, uniform(rng, 4096), blocks=2)
    assert counters.bytes_loaded == 4 * 4096
    assert counters.sectors_per_request <= 6, "In each turn neighbouring threads load neighbours: 4 sectors a request"
    assert counters.float64 == 0


@pytest.mark.task(2)
@pytest.mark.counters
def test_each_warp_waits_twice(rng):
    """Once for bins that are cleared, once for bins that are counted. A block has eight warps."""
    counters, warps = count(lesson.histogram_private, uniform(rng, 4096), blocks=2), 2 * 8
    assert counters.barriers == 2 * warps


@pytest.mark.task(2)
@pytest.mark.counters
def test_a_warp_clears_and_adds_32_bins_at_once():
    """Of a block that counts nothing: its eight warps ask once to clear, to load and to add. A 0 may be left out."""
    counters = count(lesson.histogram_private, floats([]), blocks=1)
    assert counters.requests <= 8, "Each thread adds one bin to counts, that of its own number: 8 requests of 8 warps"
    assert counters.shared_requests == 8 + 8, "Each thread clears one bin and loads one, that of its own number"


def compiled_private(rng):
    return compiled(lesson.histogram_private, uniform(rng, 1024), blocks=2, chip="h100").kernels["private_kernel"]


@pytest.mark.task(2)
@pytest.mark.compiled
def test_the_compiler_finds_no_bins_of_a_thread_and_no_fence(rng):
    kernel = compiled_private(rng)
    local = [name for name in kernel.instructions if ".local" in name]
    assert local == [], ("These are of an array of a thread's own, which lies in global memory.\n"
                         "All threads of a block share 256 bins: in which memory are they?")
    assert fences(kernel) == [], NO_FENCE


@pytest.mark.task(2)
@pytest.mark.counters
def test_each_value_asks_shared_memory_once(rng):
    """A warp asks once for 32 elements: 128 times for the values, 16 times to clear 512 bins, 16 times to load them."""
    counters = count(lesson.histogram_private, uniform(rng, 4096), blocks=2)
    assert counters.shared_requests <= 128 + 16 + 16, (
        "A value is one atomic of shared memory: a request for a warp.\n"
        "Is anything else stored there for a value, and which other thread reads it?")
    assert counters.shared_requests == 128 + 16 + 16, "A value is one atomic of shared memory: a request for a warp"
    width = counters.bytes_shared / (4096 + 512 + 512)
    why = f"A private bin has {width:g} bytes, wanted: 4, for private bins are int32.\nWhich dtype has your array?"
    assert width == 4, why


@pytest.mark.task(2)
@pytest.mark.compiled
def test_the_compiler_finds_256_bins_of_int32_in_shared_memory(rng):
    kernel = compiled_private(rng)
    assert kernel.shared_bytes == 4 * 256, "How many private bins are there, and of which dtype?"
    assert in_float64(kernel.instructions) == []


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


def wavefronts_of(function, bins):
    """What 32 values add to the wavefronts of one block that counts nothing."""
    return (count(function, floats([(b + 0.5) / 256 for b in bins]), blocks=1).wavefronts
            - count(function, floats([]), blocks=1).wavefronts)


@pytest.mark.task(2)
@pytest.mark.counters
@pytest.mark.parametrize("bins, wavefronts", WARPS.values(), ids=WARPS)
def test_a_value_is_one_atomic_of_shared_memory(bins, wavefronts):
    counted = wavefronts_of(lesson.histogram_private, bins)
    assert counted == wavefronts, "Each of the 32 values should be one atomic on one private bin, an int32"


@pytest.mark.task(2)
@pytest.mark.counters
def test_equal_values_wait_most_and_half_as_long_where_a_warp_has_two_copies(rng):
    """32 lanes of a warp in one bank: 31 wait. In two copies, 16 in each of two banks: 15 turns of waiting.

    So it is for any number that is added; the constant 1 has an instruction that adds up equal lanes first.
    """
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
def test_bins_7_and_39_lie_in_one_bank():
    apart, equal = lesson.predict_wavefronts(ALL_DIFFERENT), lesson.predict_wavefronts([7] * 32)
    assert apart == 1, "32 bins in 32 banks, and a bank makes one addition at once. Who waits?"
    assert equal == 32, "A load serves all lanes that want bin 7. How many additions do 32 lanes make?"
    wavefronts = lesson.predict_wavefronts([7, 39] * 16)
    assert wavefronts == 32, "Bins 7 and 39 both lie in bank 7, so all 32 additions take turns"


@pytest.mark.task(2)
@pytest.mark.parametrize("bins, wavefronts", WARPS.values(), ids=WARPS)
def test_lanes_wait_for_those_that_want_their_bank(bins, wavefronts):
    def predicted(*bins):
        return int(lesson.predict_wavefronts(list(bins)))

    assert_matches(predicted, *bins, oracle=lambda *bins: wavefronts)


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
    if held == 1:
        assert larger_of([1.0, 2e9]) == 1, (
            "2.5 is not stored, and 2e9 is: both were compared with the number 1065353216.\n"
            "The place holds it for 1.0. Which function gives the float of these bits?")
        assert count(lesson.largest, floats([2.5]), whole([0]), 1, start=1.0).bytes_atomic == 0, (
            "A cas was made, and nothing was stored.\n"
            "Which argument does cas compare with the place, and which does it store?")
    assert held != 1, "Nothing was stored, and no cas was made. Is 2.5 compared with a float?"
    assert held == 2.5, "cas stores whole numbers. Which one has the bits of 2.5?"


@pytest.mark.task(3)
@pytest.mark.parametrize("start, value", [(2.5, 1.0), (0.5, -2.0), (-1.0, -2.5)])
def test_floats_are_compared_and_not_their_bits(start, value):
    held, larger = larger_of([start, value]), max(start, value)
    assert held == larger, "Compare floats: the bits of negative ones, as whole numbers, are in the opposite order"


@pytest.mark.task(3)
def test_the_next_try_takes_what_cas_found_as_old():
    """All threads of a warp read the number that the place holds first; then one after the other comes to cas.

    One test for all: a loop that does not end is noticed after a second.
    """
    assert_one_step(lesson.largest, floats([2.0, 3.0]), whole([0, 0]), 1, start=1.0, does="compare")
    for values in [(1.0, 2.0, 3.0), (1.0, 3.0, 2.0), (1.0, 2.0, 3.0, 4.0), (0.0, 1.0, 3.0), (0.0, 3.0, 1.0),
                   (-9.0, -3.0, -1.0, -2.0)]:
        held = larger_of(values)
        assert held == max(values), "All have read the first number. What does a thread do if cas has found another?"


@pytest.mark.task(3)
@pytest.mark.parametrize("values", [
    (1.0, 2.5), (2.5, 1.0), (-1.0, -2.5), (-2.5, -1.0), (-2.0, 0.5), (2.0, 2.0)], ids=str)
def test_the_larger_of_two_floats_is_kept(values):
    assert_matches(larger_of, list(values), oracle=max)


@pytest.mark.task(3)
@pytest.mark.nonfinite
@pytest.mark.parametrize("values", [(1.0, NAN), (0.0, NAN, 1.0)], ids=str)
def test_nan_changes_nothing(values):
    held = larger_of(list(values))
    assert held == 1, "One value is NaN, and no comparison with NaN is true. What does your condition make of it?"


@pytest.mark.task(3)
@pytest.mark.nonfinite
@pytest.mark.parametrize("values", [(INF, 1.0), (-INF, -1024.0), (-1024.0, -INF), (1.0, 2.0, INF)], ids=str)
def test_infinity_is_larger_than_all(values):
    assert_matches(larger_of, list(values), oracle=max)


def largest_of_each(values, keys, number, start):
    out = np.full(number, start, np.float32)
    for value, key in zip(values.get(), keys.get()):
        out[key] = max(out[key], value)
    return cupy.asarray(out)


@pytest.mark.task(3)
def test_each_key_gets_the_largest_of_its_values(rng):
    """Some keys get none."""
    for n in (33, 1000):
        values, keys = floats(rng.normal(size=n) - 2), whole(rng.integers(0, 20, n) * 2)
        assert_matches(lesson.largest, values, keys, 40, start=-9999.0, oracle=largest_of_each)


@pytest.mark.task(3)
def test_many_threads_that_want_one_place_leave_the_largest(rng):
    values = floats(rng.permutation(1000) - 5000)
    assert_matches(lesson.largest, values, whole([3] * 1000), 5, start=-9999.0, oracle=largest_of_each)


@pytest.mark.task(3)
@pytest.mark.counters
def test_a_value_that_is_not_larger_is_compared_and_no_more():
    """The place holds 1. Four bytes a cas."""
    counters = count(lesson.largest, floats([0.5] * 150 + [1.0] * 150), whole([0] * 300), 1, start=1.0)
    updates = counters.bytes_atomic // 4
    assert updates != 150, "150 values equal what is there. Each made a cas: what would it change?"
    assert counters.bytes_atomic == 0, "No value is larger than what is there. Compare first: none of them needs a cas"


@pytest.mark.task(3)
@pytest.mark.counters
def test_one_thread_with_a_larger_value_needs_one_cas():
    """The place holds 1. Four bytes a cas."""
    counters = count(lesson.largest, floats([2.5]), whole([0]), 1, start=1.0)
    assert counters.bytes_atomic == 4, "Nobody else came, so the first cas has done it. By what does the thread know?"
    assert counters.float64 == 0
    assert counters.conversions == 0, "cas takes the bits of a float, and no float that is made an int"


@pytest.mark.task(3)
@pytest.mark.counters
def test_what_the_place_holds_is_loaded_once():
    """However often a thread has to try."""
    counters, threads = count(lesson.largest, floats(range(64)), whole([0] * 64), 1), 64
    assert counters.bytes_loaded == 4 * 3 * threads, "Value, key, and once the place: cas returns what it finds"


@pytest.mark.task(3)
@pytest.mark.compiled
def test_the_compiler_finds_a_compare_and_swap_and_no_conversion(rng):
    arguments = floats(rng.normal(size=100)), whole(rng.integers(0, 5, 100)), 5
    kernel = compiled(lesson.largest, *arguments, chip="h100").kernels["max_kernel"]
    names = kernel.instructions
    swaps = [name for name in names if "cas" in name.lower()]
    conversions = [name for name in names if name.startswith("cvt") and "f" in name]
    assert swaps != []
    assert conversions == []
    assert fences(kernel) == [], NO_FENCE


# Task 4: degrees of a graph -----------------------------------------------------------------------

def degrees(*edges):
    return lesson.degrees_of(whole(np.array(edges).reshape(-1, 2).T.copy()), 6).get().tolist()


def ends_of(*edges):
    return [sum(edge.count(node) for edge in edges) for node in range(6)]


@pytest.mark.task(4)
@pytest.mark.parametrize("edges", [((0, 1),), ((4, 2), (2, 5)), ((1, 0), (1, 0)), ()], ids=str)
def test_each_end_of_an_edge_counts_at_its_node(edges):
    assert_one_step(lesson.degrees_of, whole(np.array(edges).reshape(-1, 2).T.copy()), 6)
    assert_matches(degrees, *edges, oracle=ends_of)


@pytest.mark.task(4)
@pytest.mark.edge
def test_an_edge_from_a_node_to_itself_has_both_ends_there():
    assert degrees((3, 3)) == [0, 0, 0, 2, 0, 0], "The edge from 3 to 3 has two ends, both at node 3"


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
def test_a_count_is_stored_for_each_key_and_not_for_each_place():
    """One key, six counts."""
    counts = counts_of([3])
    assert counts[3] != 1 or counts[0] == 0, (
        f"counts[3] is right, and counts[0] is {counts[0]}: a 0 is a count too.\n"
        "What does a thread store whose key is not there?")
    assert counts[4:] != [1, 1], "One key is less than 4. Between which two places lie the keys that are 4?"
    assert counts[0] == counts[5] == 0, "Six counts are wanted of one key. For which v does a thread store a count?"
    assert counts == [0, 0, 0, 1, 0, 0], "Key 3 is there once: between the first place of 3 and the first of 4"


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
def test_two_places_are_looked_up_for_a_count(rng):
    """Of 4096 keys first_from loads 13 at most. Four bytes a key, two places for each of 20 counts."""
    counters = count(lesson.count_sorted, whole(np.sort(rng.integers(0, 20, 4096))), 20)
    loads = counters.bytes_loaded // (4 * 20)  # for a count
    assert loads < 100, "first_from finds a begin and an end. Who goes from key to key?"
    why = (f"A search of 4096 keys loads 12 or 13 of them, and a count took {loads} loads.\n"
           "A count is one place less another. How often is first_from called for it?")
    assert loads <= 26, why
