"""The lesson again, as checks: Little's law, room for warps, chains side by side, loads under way, a launch chosen."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from tools.check import assert_matches, compiled, count, speed_ratio
from tools.check.inputs import values
from tools.check.tolerances import accumulated
from tools.gpu import cupy
from week2.katas.occupancy_tuning import occupancy_tuning as lesson

INF, NAN = float("inf"), float("nan")
SINGLE = np.float32
DRIVER = Path(__file__).parents[2] / "day1" / "occupancy_h200.json"
LENGTHS = [(0, 1), (1, 1), (31, 1), (32, 1), (33, 1), (67, 1), (1, 4), (127, 4), (128, 4), (129, 4), (257, 4), (521, 8)]


def on_gpu(*elements):
    return cupy.asarray(np.array(elements, SINGLE))


def vector(rng, n):
    return cupy.asarray(values(rng, (n,), lean=0.5).astype(SINGLE))


def up(value, unit):
    return -(-value // unit) * unit


def machine_code(function, *args, **kwargs):
    """Of the one kernel that a call launches, by NVIDIA's compiler for an H100."""
    kernel, = compiled(function, *args, chip="h100", **kwargs).kernels
    return kernel


def rows_of(kernel, name, *others):
    """Rows of machine instructions of one name, with none of the others between: the register that each one fills."""
    rows = [[]]
    for found, register in re.findall(r"\s([A-Z][A-Z0-9]*)(?:\.\w+)* (\S+)", kernel.text("sass")):
        if found == name:
            rows[-1].append(register)
        elif found in others and rows[-1]:
            rows.append([])
    return rows


def launched(launch, *faults, asking):
    """What a launch returns; where the simulator stops it with one of these faults, its finding and a question."""
    try:
        return launch()
    except Exception as fault:
        said = str(fault)
        if not any(each in said for each in faults):
            raise
        what, _, _ = said.partition("\n\n")
        raise AssertionError(f"{what}\n\n{asking}") from None


ABOVE_THE_LIMIT = "The call allows 32 registers, and the kernel takes more. Does its head set a limit of its own?"


# Task 1: Little's law -----------------------------------------------------------------------------

@pytest.mark.task(1)
@pytest.mark.parametrize("under_way, share", [(1, 0.25), (2, 0.5), (4, 1.0)])
def test_one_lane_reaches_a_quarter_of_its_peak_for_each_chain(under_way, share):
    """The picture of the lesson: one multiply-add a clock, a result after 4 clocks."""
    assert_matches(lesson.share_of_peak, under_way, 1, 4, oracle=lambda *_: share)


@pytest.mark.task(1)
@pytest.mark.edge
@pytest.mark.parametrize("under_way", [8, 64])
def test_more_under_way_than_is_needed_gives_no_more_than_the_peak(under_way):
    assert_matches(lesson.share_of_peak, under_way, 1, 4, oracle=lambda *_: 1.0)


@pytest.mark.task(1)
@pytest.mark.parametrize("floats, share", [(480, 0.1), (2048, 2048 / 4800), (4800, 1.0)])
def test_the_law_is_the_same_for_floats_from_memory(floats, share):
    """8 floats a nanosecond, an answer after 600 nanoseconds."""
    assert_matches(lesson.share_of_peak, floats, 8, 600, oracle=lambda *_: share)


@pytest.mark.task(1)
@pytest.mark.parametrize("threads, each", [(1, 4), (2, 2), (4, 1)])
def test_threads_of_one_lane_share_its_four_chains(threads, each):
    needed = lesson.each_needed(threads, 1, 4)
    assert needed != each + 1, f"4 / {threads} is {each}, and nothing is left over that has to be rounded up"
    assert_matches(lesson.each_needed, threads, 1, 4, oracle=lambda *_: each)


@pytest.mark.task(1)
@pytest.mark.edge
@pytest.mark.parametrize("threads, rate, latency, each", [
    (3, 1, 4, 2), (8, 1, 4, 1), (2048, 8, 600, 3), (512, 8, 600, 10), (256, 8, 600, 19), (128, 128, 4, 4),
])
def test_a_part_of_an_operation_is_a_whole_one(threads, rate, latency, each):
    needed = lesson.each_needed(threads, rate, latency)
    too_few = needed == each - 1
    assert not too_few, (
        f"{threads} threads with {needed} each have {threads * needed} under way, of {rate} * {latency} that are "
        f"needed: {rate * latency / threads:.3g} each. Which whole number is enough for that?")
    assert_matches(lesson.each_needed, threads, rate, latency, oracle=lambda *_: each)


# Task 2: what there is room for -------------------------------------------------------------------

def registers_tried(warps):
    """All numbers of registers, tried: how many warps live in a quarter, each in whole pieces of 256?"""
    return max(each for each in range(1, 256) if 16384 // up(32 * each, 256) * 4 >= warps)


def check_registers(warps):
    registers = lesson.registers_allowed(warps)
    in_quarter, of_a_warp = up(warps, 4) // 4, up(32 * registers, 256)
    registers_taken = in_quarter * of_a_warp
    said = f"{in_quarter} of {warps} warps are in a quarter. Each needs 32 * {registers} registers, takes {of_a_warp}"
    assert registers_taken <= 16384, said
    assert_matches(lesson.registers_allowed, warps, oracle=registers_tried)


@pytest.mark.task(2)
@pytest.mark.parametrize("warps", [64, 32, 16])
def test_half_as_many_warps_have_twice_as_many_registers(warps):
    check_registers(warps)


@pytest.mark.task(2)
@pytest.mark.edge
@pytest.mark.parametrize("warps", [8, 4, 1])
def test_no_thread_has_more_than_255(warps):
    check_registers(warps)


@pytest.mark.task(2)
@pytest.mark.edge
@pytest.mark.parametrize("warps", [60, 48, 44, 36, 28, 24, 20, 12, 61, 33, 13, 9, 5])
def test_each_warp_of_the_fullest_quarter_takes_its_registers_in_pieces_of_256(warps):
    check_registers(warps)


@pytest.mark.task(2)
def test_the_driver_of_an_h200_lets_warps_live_by_the_same_registers():
    """As many blocks fit as the registers allow, and not one more; where nothing else keeps it out."""
    wrong = []
    for threads, registers, shared, blocks in json.loads(DRIVER.read_text(encoding="utf-8"))["cases"]:
        warps = up(threads, 32) // 32
        more = warps * (blocks + 1)
        if blocks and registers > lesson.registers_allowed(blocks * warps):
            wrong.append((blocks * warps, registers, "fit"))
        if shared == 0 and blocks < 32 and more <= 64 and registers <= lesson.registers_allowed(more):
            wrong.append((more, registers, "do not fit"))
    assert wrong == [], f"{wrong[0][0]} warps with {wrong[0][1]} registers a thread {wrong[0][2]}, says the driver."


# Task 3: chains side by side ----------------------------------------------------------------------

def balances_by_numpy(x, months, factor, deposit, **launch):
    for _ in range(months):
        x = x * factor + deposit
    return x


def balances_of(accounts, months, factor, deposit):
    """The same of a list of numbers, an account a thread."""
    return lesson.balances(on_gpu(*accounts), months, factor, deposit, each=1, threads=32).get().tolist()


def by_python(accounts, months, factor, deposit):
    return balances_by_numpy(np.array(accounts), months, factor, deposit).tolist()


FIRST = {
    "no_month_changes_nothing": ([100.0], 0, 2.0, 1.0),
    "a_month_multiplies_by_the_factor": ([100.0], 1, 2.0, 0.0),
    "the_deposit_comes_after_the_factor": ([0.0], 1, 2.0, 10.0),
    "two_months": ([1.0, 10.0, 200.0], 2, 2.0, 1.0),
    "five_months": ([1.0, 10.0, 200.0], 5, 2.0, 1.0),
}


@pytest.mark.task(3)
@pytest.mark.parametrize("accounts, months, factor, deposit", FIRST.values(), ids=FIRST)
def test_accounts_change_month_by_month(accounts, months, factor, deposit):
    assert_matches(balances_of, accounts, months=months, factor=factor, deposit=deposit, oracle=by_python)


@pytest.mark.task(3)
@pytest.mark.edge
def test_a_factor_of_one_adds_the_deposits_alone():
    after_three_months, = balances_of([100.0], 3, 1.0, 5.0)
    why = "At factor 1 three months add three deposits. NaN is 0 / 0: what is divided by factor - 1?"
    is_nan = bool(np.isnan(after_three_months))
    assert not is_nan, why
    assert after_three_months == 115


def accounts_stored(n, each, threads):
    """Which of n accounts are stored in blocks of so many threads: all but -1 is, twice an account's number plus 1."""
    nothing = cupy.full(n, -1, dtype=SINGLE)
    x = cupy.arange(n, dtype=SINGLE)
    out = lesson.balances(x, 1, 2.0, 1.0, each=each, threads=threads, out=nothing)
    return np.flatnonzero(out.get() != -1).tolist()


@pytest.mark.task(3)
@pytest.mark.parametrize("threads", [32, 64])
def test_the_second_account_of_a_thread_is_stored_one_block_of_threads_behind_the_first(threads):
    stored = accounts_stored(2 * threads, each=2, threads=threads)
    why = f"blockDim.x is {threads}: account {threads} is thread 0's second. Where does yours lie, and is it stored?"
    assert threads in stored, why


@pytest.mark.task(3)
@pytest.mark.edge
def test_a_thread_whose_second_account_is_beyond_the_end_stores_its_first():
    """Of 33 accounts, two a thread, thread 0 has numbers 0 and 32, and each other thread has one."""
    of_another = ("Account 33 would be thread 1's second; its first is account 1. The condition is not about the "
                  "account that is loaded or stored.\nWhich number has to be less than n, for each j of the loop?")
    beyond = "thread 1 of block 0 loads element 33 of x", "thread 1 of block 0 stores element 33 of out"
    number_stored = len(launched(lambda: accounts_stored(33, each=2, threads=32), *beyond, asking=of_another))
    why = "Threads 1 to 31 have one account each; their second is beyond the end. Do they come to the loop that stores?"
    assert number_stored == 33, why


@pytest.mark.task(3)
@pytest.mark.parametrize("each", [1, 2, 4])
def test_each_thread_of_a_block_has_its_accounts(each):
    x = cupy.arange(32 * each, dtype=SINGLE)
    assert_matches(lesson.balances, x, 1, 2.0, 1.0, each=each, threads=32, oracle=balances_by_numpy, exact=True)


@pytest.mark.task(3)
@pytest.mark.parametrize("each, blocks", [(1, 3), (2, 3), (4, 2)])
def test_a_block_begins_behind_all_accounts_of_the_one_before(each, blocks):
    x = cupy.arange(32 * each * blocks, dtype=SINGLE)
    assert_matches(lesson.balances, x, 1, 2.0, 1.0, each=each, threads=32, oracle=balances_by_numpy, exact=True)


@pytest.mark.task(3)
@pytest.mark.edge
@pytest.mark.parametrize("n, each", LENGTHS)
def test_any_number_of_accounts(n, each, rng):
    assert_matches(lesson.balances, vector(rng, n), 3, 0.75, -2.5, each=each, threads=32, oracle=balances_by_numpy,
                   tolerance=accumulated(SINGLE, 4))


@pytest.mark.task(3)
@pytest.mark.nonfinite
def test_nan_and_infinity_stay_in_their_accounts():
    x = on_gpu(1.0, NAN, 2.0, INF, -INF, 3.0)
    assert_matches(lesson.balances, x, 2, 0.5, 1.0, each=2, threads=32, oracle=balances_by_numpy, exact=True)


@pytest.mark.task(3)
@pytest.mark.counters
def test_accounts_are_read_once_and_stored_once_whatever_the_months(rng):
    counters = count(lesson.balances, vector(rng, 1024), 5, 1.5, 2.0, each=4, threads=64)
    assert counters.library_operations == []
    assert counters.bytes_loaded == 4 * 1024
    assert counters.bytes_stored == 4 * 1024
    assert counters.bytes_shared == 0, "No other thread needs a balance. Which memory does a thread have for itself?"
    assert counters.float64 == 0


@pytest.mark.task(3)
@pytest.mark.counters
def test_threads_side_by_side_have_accounts_side_by_side(rng):
    """32 float32 in a row are four sectors."""
    counters = count(lesson.balances, vector(rng, 1024), 1, 1.5, 2.0, each=4, threads=64)
    assert counters.sectors_per_request == 4


@pytest.mark.task(3)
@pytest.mark.compiled
def test_balances_are_in_registers_and_in_float(rng):
    kernel = machine_code(lesson.balances, vector(rng, 64), 3, 1.5, 2.0, each=8)
    instructions_in_double = [name for name in kernel.instructions if "f64" in name]
    assert instructions_in_double == []
    assert kernel.spills == 0
    assert 8 < kernel.registers <= lesson.registers_allowed(16)


@pytest.mark.task(3)
@pytest.mark.compiled
@pytest.mark.parametrize("each", [4, 8])
def test_each_month_begins_all_chains_before_it_continues_one(each, rng):
    """A row of multiply-adds fills as many registers as there are chains: none of them waits for its neighbour."""
    kernel = machine_code(lesson.balances, vector(rng, 64), 3, 1.5, 2.0, each=each)
    chains_side_by_side = max(len(set(row)) for row in rows_of(kernel, "FFMA", "BRA"))
    beside = "More multiply-adds in a row than chains. What is calculated there besides a month of each?"
    assert chains_side_by_side <= each, beside
    assert chains_side_by_side >= each, "Of the loops over months and over chains: which one has to be inside?"


@pytest.mark.task(3)
@pytest.mark.compiled
def test_a_limit_that_lets_all_warps_live_makes_32_chains_spill(rng):
    """Occupancy bought too dearly: 32 registers a thread for 32 balances and the rest."""
    free, limited = (machine_code(lesson.balances, vector(rng, 64), 3, 1.5, 2.0, each=32, registers=registers)
                     for registers in (255, lesson.registers_allowed(64)))
    registers_taken = limited.registers
    assert registers_taken <= 32, ABOVE_THE_LIMIT
    assert free.spills == 0
    assert free.registers > 32
    assert limited.spills > 0


def growing(each, room):
    """months -> 8 waves of accounts on all SMs, at so many blocks of 128 threads an SM."""
    def grow(x, months):
        return lesson.balances(x, months, 0.999, 1.0, each=each, room=room)

    return grow


@pytest.mark.task(3)
@pytest.mark.hopper
@pytest.mark.speed
def test_eight_chains_in_a_sixteenth_of_the_threads_hold_the_speed_of_full_occupancy():
    """128 threads an SM against 2048. Little's law says 1.0: both have more than 512 multiply-adds under way."""
    x = cupy.ones(8 * 132 * 2048, SINGLE)
    assert speed_ratio(growing(8, 1), growing(1, 16), x, 4000) >= 0.8


@pytest.mark.task(3)
@pytest.mark.hopper
@pytest.mark.speed
def test_one_chain_in_a_sixteenth_of_the_threads_does_not():
    """Little's law says 4.0 for four times as many under way, of which all are needed."""
    x = cupy.ones(8 * 132 * 2048, SINGLE)
    assert speed_ratio(growing(4, 1), growing(1, 1), x, 4000) >= 2.5


# Task 4: loads under way --------------------------------------------------------------------------

def total_of(x, each, threads=32, blocks=1):
    return float(lesson.total(on_gpu(*x), each=each, threads=threads, blocks=blocks).get()[0])


def times_counted(n, each, blocks):
    """How often each of n elements enters the total: that of a 1 there, and of zeros elsewhere."""
    return [int(total_of(row, each, blocks=blocks)) for row in np.eye(n)]


def summed(x, **launch):
    return x.sum(dtype=np.float64).astype(x.dtype).reshape(1)


@pytest.mark.task(4)
def test_all_lanes_of_a_warp_come_to_add_by_warp_together():
    """8 elements and 32 threads: 24 have nothing to load, and lane 0 asks for the sum of lane 16 all the same."""
    lacking = "add_by_warp asks all 32 lanes, those with a sum of 0 too. Which return, if or loop keeps lanes from it?"
    total = launched(lambda: total_of([1] * 8, each=1), "Lane 0 of its warp asks lane 16", asking=lacking)
    none_added = total == 0
    assert not none_added, "Of 8 ones, a lane each, out[0] is 0. Which lines add a sum to out[0]?"


@pytest.mark.task(4)
@pytest.mark.parametrize("n, each, blocks", [(8, 1, 1), (32, 1, 1), (40, 1, 2)])
def test_each_element_counts_once(n, each, blocks):
    assert_matches(times_counted, n, each, blocks, oracle=lambda n, *_: [1] * n)


@pytest.mark.task(4)
def test_the_second_element_of_a_thread_lies_all_threads_behind_the_first():
    """Of one block of 32 threads with two elements each, number 32 is the second one of thread 0."""
    times_added = total_of(np.eye(40)[32], each=2)
    why = "The grid has 32 threads: element 32 is thread 0's second. Where does yours lie, and is it in the total?"
    assert times_added > 0, why


@pytest.mark.task(4)
def test_a_turn_begins_behind_all_elements_of_the_one_before():
    """Of 40 elements, 32 threads with two each load all in one turn; number 32 is the second one of thread 0."""
    times_added = total_of(np.eye(40)[32], each=2)
    assert times_added < 2, "Element 32 is in the first turn of EACH * threads elements, and came again in the next"


@pytest.mark.task(4)
@pytest.mark.parametrize("n, each, blocks", [(40, 2, 1), (70, 2, 1), (40, 4, 1)])
def test_each_of_a_threads_elements_counts_once(n, each, blocks):
    assert_matches(times_counted, n, each, blocks, oracle=lambda n, *_: [1] * n)


@pytest.mark.task(4)
@pytest.mark.parametrize("each, blocks", [(1, 3), (2, 2), (4, 3)])
def test_ones_are_counted_over_several_turns(each, blocks):
    x = cupy.ones(3 * 32 * each * blocks + 5, SINGLE)
    assert_matches(lesson.total, x, each=each, threads=32, blocks=blocks, oracle=summed, exact=True)


@pytest.mark.task(4)
@pytest.mark.parametrize("warps", [2, 3])
def test_all_warps_of_a_block_add(warps):
    """A block of so many warps, one of which has a 1: is it in the total?"""
    added = [total_of(row, each=1, threads=32 * warps) for row in np.eye(32 * warps)[::32]]
    assert added == [1.0] * warps, "The sum of each warp has to be added to out. Which of them call add_by_warp?"


@pytest.mark.task(4)
@pytest.mark.edge
@pytest.mark.parametrize("n, each", LENGTHS)
def test_adds_any_length(n, each, rng):
    assert_matches(lesson.total, vector(rng, n), each=each, threads=32, blocks=2, oracle=summed,
                   tolerance=accumulated(SINGLE, max(1, n)))


@pytest.mark.task(4)
def test_the_sums_of_a_thread_are_apart_until_the_end():
    """Of each turn, thread 0 loads two elements: first 2**24 once and zeros, second ten ones."""
    x = np.zeros(10 * 64)
    x[32::64] = 1
    of_ones = total_of(x, each=2)
    x[0] = 2**24
    of_all = total_of(x, each=2)
    assert of_ones == 10
    assert of_all != 2**24, "2**24 + 1 is 2**24 in float32. All ones met it one by one, so they were in one sum with it"
    assert of_all == 2**24 + 10


@pytest.mark.task(4)
@pytest.mark.nonfinite
def test_a_total_is_nan_or_infinite_where_an_element_is():
    for x in ([1.0, NAN, 2.0], [1.0, INF, 2.0], [INF, 1.0, -INF]):
        assert_matches(lesson.total, on_gpu(*x), each=2, threads=32, blocks=1, oracle=summed, exact=True)


ADDITIONS = {  # to out[0], of 4 warps with 4 sums a thread
    16: "Each of 4 warps adds 4 times. total<4> has 4 sums: what becomes of them before add_by_warp?",
    128: "Each of 128 threads adds. Which sums does add_by_warp put together before one lane adds?",
}


@pytest.mark.task(4)
@pytest.mark.counters
def test_a_warp_adds_to_the_total_once_and_waits_for_no_other(rng):
    counters = count(lesson.total, vector(rng, 2048), each=4, threads=64, blocks=2)
    additions_to_out = counters.bytes_atomic // 4
    why = ADDITIONS.get(additions_to_out, "Each of 4 warps has one sum. How often does it add that to out[0]?")
    assert additions_to_out == 4, why
    assert counters.barriers == 0
    assert counters.bytes_shared == 0, "No other thread needs a sum. Which memory does a thread have for itself?"
    assert counters.float64 == 0


@pytest.mark.task(4)
@pytest.mark.counters
def test_each_element_is_loaded_once_four_sectors_at_a_time(rng):
    counters = count(lesson.total, vector(rng, 2048), each=4, threads=64, blocks=2)
    assert counters.bytes_loaded == 4 * 2048
    assert counters.sectors_per_request <= 4


JOINED = "The compiler put several turns together. Does #pragma unroll 1 stand above the loop over turns?"


@pytest.mark.task(4)
@pytest.mark.compiled
@pytest.mark.parametrize("each", [1, 4, 16])
def test_as_many_loads_are_under_way_as_a_thread_has_sums(each, rng):
    """Loads (LDG) without an addition (FADD) or a branch (BRA) between them."""
    kernel = machine_code(lesson.total, vector(rng, 64), each=each)
    rows = rows_of(kernel, "LDG", "FADD", "DADD", "BRA")
    loads_asked_for_together, loads_in_the_code = max(map(len, rows)), sum(map(len, rows))
    assert loads_asked_for_together <= each, JOINED
    assert loads_asked_for_together >= each, "Between two loads stands a branch, or an addition that waits."
    assert loads_in_the_code == each


@pytest.mark.task(4)
@pytest.mark.compiled
def test_sums_are_in_registers_and_in_float(rng):
    kernel = machine_code(lesson.total, vector(rng, 64), each=16)
    instructions_in_double = [name for name in kernel.instructions if "f64" in name]
    assert instructions_in_double == []
    assert kernel.spills == 0


@pytest.mark.task(4)
@pytest.mark.compiled
def test_a_limit_of_32_registers_lets_fewer_of_16_loads_be_under_way(rng):
    """Nothing spills: the compiler adds the first loads before it asks for the last, since registers are short."""
    limited = machine_code(lesson.total, vector(rng, 64), each=16, registers=32)
    registers_taken, bytes_spilled = limited.registers, limited.spills
    together = max(map(len, rows_of(limited, "LDG", "FADD")))
    assert registers_taken <= 32, ABOVE_THE_LIMIT
    assert bytes_spilled == 0, "A thread with 32 registers needs more for its total<16>. How wide are its indices?"
    assert together < 16, "16 loads and 16 sums do not fit 32 registers. Has each of the 16 loads a sum of its own?"


@pytest.mark.task(4)
@pytest.mark.hopper
@pytest.mark.speed
def test_32_loads_in_a_quarter_of_the_threads_hold_the_bandwidth_of_full_occupancy():
    """Two blocks of 256 threads an SM against eight with 4 loads a thread: by Little's law both reach all of it."""
    def full(x):
        return lesson.total(x, each=4, blocks=8 * lesson.SMS)

    assert speed_ratio(lesson.total, full, cupy.ones(2**28, SINGLE)) >= 0.8


@pytest.mark.task(4)
@pytest.mark.hopper
@pytest.mark.speed
def test_one_load_in_a_quarter_of_the_threads_does_not():
    """512 loads an SM against 16384, where some 5000 are needed."""
    def lonely(x):
        return lesson.total(x, each=1)

    assert speed_ratio(lesson.total, lonely, cupy.ones(2**28, SINGLE)) >= 2


# Task 5: from the compiler's figures to a launch --------------------------------------------------

def candidate(each, threads, blocks, local=0):
    return {"each": each, "threads": threads, "registers": 32, "local": local, "blocks": blocks}


def predicted(each, threads, blocks, rate, latency):
    return lesson.predict(candidate(each, threads, blocks), rate, latency)


def share(each, threads, blocks, rate, latency):
    return min(1.0, each * threads * blocks / (rate * latency))


PREDICTIONS = {
    "of_one_sm": (1, 32, 1), "of_its_rate_in_floats": (1, 96, 1), "of_all_blocks_that_fit": (1, 240, 8),
    "of_all_loads_of_a_thread": (3, 256, 1), "of_all_of_these": (3, 256, 2),
}


@pytest.mark.task(5)
@pytest.mark.parametrize("each, threads, blocks", PREDICTIONS.values(), ids=PREDICTIONS)
def test_predicts_the_share(each, threads, blocks):
    """At 8 floats a nanosecond and an answer after 600 nanoseconds: 4800 floats."""
    predicted_share = predicted(each, threads, blocks, 8, 600)
    why = f"{threads * blocks} of 2048 threads is the occupancy. They have {each * threads * blocks} floats under way: "
    assert predicted_share != threads * blocks / 2048, why + "which share of 8 * 600 is that?"
    assert_matches(predicted, each=each, threads=threads, blocks=blocks, rate=8, latency=600, oracle=share)


@pytest.mark.task(5)
@pytest.mark.edge
def test_no_prediction_is_above_the_peak():
    predicted_share = lesson.predict(candidate(4, 256, 8), 8, 600)
    assert predicted_share <= 1, "8192 floats are under way where 4800 would do, and memory sends no faster for it"
    assert predicted_share == 1


@pytest.mark.task(5)
def test_a_candidate_is_returned_as_it_is():
    candidates = [candidate(1, 256, 8)]
    assert_matches(lesson.choose, candidates, 8, 600, oracle=lambda candidates, *_: candidates[0])


@pytest.mark.task(5)
def test_the_list_of_candidates_stays_as_it_is():
    """Of four candidates the third is chosen, and the second spills."""
    candidates = [candidate(1, 256, 2), candidate(1, 256, 1, local=8), candidate(1, 256, 8), candidate(1, 256, 4)]
    lesson.choose(candidates, 8, 600)
    blocks_in_the_list = [each["blocks"] for each in candidates]
    why = "choose changed its caller's list. Which line sorts it or takes something out, and which makes a new one?"
    assert blocks_in_the_list == [2, 1, 8, 4], why


def in_words(candidate, rate, latency):
    """What choose has to look at."""
    each, threads, blocks = candidate["each"], candidate["threads"], candidate["blocks"]
    reached = share(each, threads, blocks, rate, latency)
    return f"each {each}: share {reached:.2f}, {threads * blocks} threads on an SM, {candidate['local']} bytes local"


def chosen(each, threads, blocks, local, rate, latency):
    """The choice among candidates; each list has a figure of all of them."""
    return in_words(lesson.choose(list(map(candidate, each, threads, blocks, local)), rate, latency), rate, latency)


CHOICES = {  # (each, threads, blocks, local) of candidates, and the place of the best
    "more_under_way": ([(1, 256, 8, 0), (2, 256, 8, 0)], 1),
    "more_under_way_in_more_threads": ([(1, 256, 4, 0), (1, 256, 8, 0)], 1),
    "more_under_way_in_fewer_threads": ([(1, 256, 8, 0), (8, 128, 4, 0), (2, 128, 8, 0)], 1),
    "of_equals_fewest_threads": ([(4, 256, 8, 0), (16, 256, 2, 0), (8, 256, 4, 0)], 1),
    "of_equals_fewest_threads_in_small_blocks": ([(8, 256, 4, 0), (16, 64, 8, 0)], 1),
    "threads_of_all_blocks": ([(10, 64, 32, 0), (20, 256, 1, 0), (8, 128, 8, 0)], 1),
    "beyond_the_peak_all_are_equal": ([(64, 256, 8, 0), (20, 256, 1, 0), (4, 256, 7, 0)], 1),
    "none_that_spills": ([(32, 256, 8, 80), (2, 256, 6, 0), (1, 256, 8, 0)], 1),
}


@pytest.mark.task(5)
@pytest.mark.parametrize("candidates, wanted", CHOICES.values(), ids=CHOICES)
def test_chooses_the_best_prediction_then_the_fewest_threads(candidates, wanted):
    each, threads, blocks, local = map(list, zip(*candidates))
    best = in_words(candidate(*candidates[wanted]), 8, 600)
    assert_matches(chosen, each, threads, blocks, local, rate=8, latency=600, oracle=lambda *_, **__: best)


@pytest.mark.task(4, 5)
@pytest.mark.compiled
def test_chooses_among_kernels_of_the_compiler(rng):
    """More sums a thread: more registers, fewer blocks; the last candidate fits eight times, and spills."""
    machine_code(lesson.total, vector(rng, 64), each=1)  # without NVIDIA's compiler this test ends here
    candidates = [lesson.describe(each, 256) for each in (1, 4, 16, 32)] + [lesson.describe(32, 256, 32)]
    assert [each["local"] > 0 for each in candidates] == [False, False, False, False, True]
    assert candidates[0]["blocks"] == 8 > candidates[3]["blocks"]
    predicted = [each["blocks"] * each["threads"] * each["each"] for each in candidates]
    best = max(predicted[:4])
    chosen = lesson.choose(candidates, 8, 10000)  # so long a latency that nothing reaches the peak
    assert chosen["local"] == 0
    assert chosen["blocks"] * chosen["threads"] * chosen["each"] == best


@pytest.mark.task(5)
@pytest.mark.hopper
@pytest.mark.speed
def test_the_launch_that_is_chosen_holds_the_bandwidth_of_full_occupancy():
    """4800 GB/s are 9 floats a nanosecond for each SM; 1000 ns is more than an answer takes."""
    chosen = lesson.choose([lesson.describe(each, 256) for each in (1, 2, 4, 8, 16, 32)], 9, 1000)

    def by_choice(x):
        return lesson.total(x, each=chosen["each"], threads=256, blocks=chosen["blocks"] * lesson.SMS)

    def full(x):
        return lesson.total(x, each=4, blocks=8 * lesson.SMS)

    assert speed_ratio(by_choice, full, cupy.ones(2**28, SINGLE)) >= 0.8
