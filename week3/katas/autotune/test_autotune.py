"""The lesson again, as checks: shared keys, what is worth a trial, predictions, one tuning a bucket, digits."""

import itertools

import numpy as np
import pytest
import torch

from tools.check import CompileError, assert_matches, compiled, count, speed_ratio
from tools.check.inputs import vectors
from tools.check.tolerances import accumulated
from tools.gpu import device
from week3.katas.autotune import autotune as lesson

INF, NAN = float("inf"), float("nan")


def config(block_m=16, block_n=16, split=1, warps=4, stages=2):
    return {"BLOCK_M": block_m, "BLOCK_N": block_n, "SPLIT": split, "num_warps": warps, "num_stages": stages}


def weigh(weights, values, out=None, precision="ieee", **sizes):
    """lesson.weigh with one config: BLOCK_M and BLOCK_N are 16, SPLIT is 1, if nothing is said."""
    return lesson.weigh(weights, values, config(**sizes), precision, out=out)


def on_gpu(values):
    return torch.tensor(values, dtype=torch.float32, device=device)


def problem(rng, m, n, d):
    """Weights (m, n) and values (n, d)."""
    weights, = vectors(rng, m * n, count=1)
    values, = vectors(rng, n * d, count=1)
    return weights.reshape(m, n), values.reshape(n, d)


def product(weights, values, **sizes):
    return weights @ values


def sums(n):
    """The tolerance of float32 sums over n keys; n is small, so that a share of keys is a share of the digits."""
    return accumulated(np.float32, max(1, n))


# Task 1: a kernel for any config ------------------------------------------------------------------

@pytest.mark.task(1)
def test_each_tile_of_rows_has_split_programs(rng):
    counters = count(lesson.weigh, *problem(rng, 33, 64, 16), config(split=2))
    grids = [launch.grid[:2] for launch in counters.launches]
    why = (f"33 rows in tiles of 16, SPLIT = 2: weigh launches {grids}, wanted [(3, 2)]. How many tiles go along the "
           "grid's first axis, and how many programs of each along its second?")
    assert grids == [(3, 2)], why


def in_words(times):
    """The keys that a program weighs, of which `times` says how often: "0-15, 32-47"."""
    by_key = itertools.groupby(range(len(times)), key=lambda key: times[key] != 0)
    runs = [list(run) for weighed, run in by_key if weighed]
    return ", ".join(f"{run[0]}-{run[-1]}" + how_often({times[key] for key in run}) for run in runs) or "none"


def how_often(times):
    return "" if times == {1} else f" ({max(times)} times)" if len(times) == 1 else f" (up to {max(times)} times)"


@pytest.mark.task(1)
@pytest.mark.parametrize("n, split", [(64, 1), (64, 2), (96, 3), (80, 4), (16, 2)])
def test_the_programs_of_a_tile_take_its_blocks_in_turn(n, split):
    """Blocks have 16 keys; program 0 has the first and the fifth of 5."""
    for program, times in enumerate(lesson.keys_of_each(n, config(split=split))):
        in_turn = [int(key // 16 % split == program) for key in range(n)]
        keys_weighed, keys_wanted = in_words(times), in_words(in_turn)
        asks = ("Which block of 16 is its first, and how far on is its next, if SPLIT programs take turns?"
                if times != [max(times) * once for once in in_turn] else "How often does it add its sum to out?")
        why = f"{n} keys, SPLIT = {split}: program {program} weighs keys {keys_weighed}; wanted: {keys_wanted}. {asks}"
        assert keys_weighed == keys_wanted, why


def lesson_numbers():
    """The four keys of the lesson, each the first of a block of 16: so block b of the kernel is key b there."""
    weights, values = np.zeros((1, 64)), np.zeros((64, 16))
    weights[0, ::16] = [0.237, 0.032, 0.087, 0.644]
    values[::16, :2] = [(1, 0), (0, 1), (1, 1), (2, 0)]
    return on_gpu(weights), on_gpu(values)


@pytest.mark.task(1)
@pytest.mark.parametrize("split", [1, 2])
def test_weighs_the_four_values_of_the_lesson(split):
    out = assert_matches(weigh, *lesson_numbers(), split=split, oracle=product, tolerance=sums(64))
    assert [round(number, 3) for number in out[0, :2].tolist()] == [1.612, 0.119]


@pytest.mark.task(1)
@pytest.mark.parametrize("n, split", [(1, 1), (17, 2), (63, 2), (80, 4), (5, 3)])
def test_each_key_is_weighed_once(n, split):
    """One row of weights and all values are 1."""
    weights, values = torch.ones((1, n), device=device), torch.ones((n, 16), device=device)
    keys_weighed = int(weigh(weights, values, split=split)[0, 0].item())
    assert keys_weighed == n


CASES = {  # m, n, d and the config
    "one_of_each": (1, 1, 16, {}),
    "no_key": (3, 0, 16, {"split": 2}),
    "no_row": (0, 5, 16, {"split": 2}),
    "whole_tiles": (32, 64, 16, {"split": 2}),
    "one_row_less": (31, 64, 16, {"split": 2}),
    "one_row_more": (33, 64, 16, {"split": 2}),
    "one_key_less": (16, 63, 16, {"split": 2}),
    "one_key_more": (16, 65, 16, {"split": 2}),
    "a_block_more_than_programs": (16, 80, 16, {"split": 4}),
    "more_programs_than_blocks": (1, 1, 16, {"split": 3}),
    "all_sizes_differ": (37, 211, 64, {"block_m": 32, "block_n": 16, "split": 5}),
    "wide_values": (5, 70, 128, {"block_n": 32, "split": 2, "warps": 8, "stages": 3}),
}


@pytest.mark.task(1)
@pytest.mark.edge
@pytest.mark.parametrize("m, n, d, sizes", CASES.values(), ids=CASES)
def test_weighs_any_number_of_rows_and_keys_with_any_config(m, n, d, sizes, rng):
    assert_matches(weigh, *problem(rng, m, n, d), **sizes, oracle=product, tolerance=sums(n))


@pytest.mark.task(1)
@pytest.mark.counters
@pytest.mark.parametrize("split", [1, 4])
def test_each_key_is_read_once_however_many_programs_share_them(split, rng):
    """By each of the 2 tiles of rows: all values, and its rows of the weights."""
    m, n, d = 32, 128, 64
    counters = count(lesson.weigh, *problem(rng, m, n, d), config(split=split))
    assert counters.library_operations == []
    assert counters.programs == 2 * split
    assert counters.bytes_loaded == 4 * (m * n + 2 * n * d)
    assert counters.float64 == 0
    assert counters.conversions == 0


@pytest.mark.task(1)
@pytest.mark.counters
@pytest.mark.parametrize("split", [1, 4])
def test_each_key_is_multiplied_by_one_program_of_a_tile(split, rng):
    m, n, d = 32, 128, 64
    counters = count(lesson.weigh, *problem(rng, m, n, d), config(split=split))
    assert counters.flops == 2 * m * n * d


@pytest.mark.task(1)
@pytest.mark.nonfinite
def test_rows_and_columns_of_nan_and_infinity_stay_where_they_belong(rng):
    """NaN among the weights is for its row, among the values for its column; nothing beyond the last key counts."""
    weights, values = problem(rng, 20, 35, 16)
    weights[3, 34], weights[18, 0], values[34, 5] = NAN, INF, -INF
    assert_matches(weigh, weights, values, split=2, oracle=product, tolerance=sums(35))


@pytest.mark.task(1)
@pytest.mark.tolerance
def test_multiplies_in_the_precision_that_is_asked_for():
    """1 + 2**-12, times 1. It has 13 binary digits; TF32 has 11."""
    weights, values = on_gpu([[1 + 2**-12]]), torch.ones((1, 16), device=device)
    product_in = {name: weigh(weights, values, precision=name)[0, 0].item() for name in ("ieee", "tf32x3", "tf32")}
    assert product_in == {"ieee": 1 + 2**-12, "tf32x3": 1 + 2**-12, "tf32": 1.0}


@pytest.mark.task(1)
@pytest.mark.counters
def test_each_program_adds_its_sums_once(rng):
    counters = count(lesson.weigh, *problem(rng, 32, 128, 64), config(split=4))
    bytes_added_to_out = counters.bytes_atomic
    why = (f"32 x 64 sums, SPLIT = 4: {bytes_added_to_out:,} bytes are added to out, wanted 32,768. How often does "
           "each of the 4 programs of a tile add?")
    assert bytes_added_to_out == 4 * 4 * 32 * 64, why


@pytest.mark.task(1)
@pytest.mark.counters
def test_a_program_that_has_its_tile_to_itself_stores_without_an_atomic(rng):
    counters = count(lesson.weigh, *problem(rng, 32, 128, 64), config(split=1))
    bytes_added_to_out = counters.bytes_atomic
    why = (f"32 x 64 sums, SPLIT = 1: {bytes_added_to_out:,} bytes are added to out, wanted 0. Nobody else has the "
           "tile: what will do in place of tl.atomic_add, and without zeros?")
    assert bytes_added_to_out == 0, why
    assert counters.bytes_stored == 4 * 32 * 64


@pytest.mark.task(1)
@pytest.mark.counters
def test_out_is_not_filled_with_zeros_where_nobody_adds(rng):
    """PyTorch counts how often its functions write to a tensor."""
    out = torch.empty((32, 16), device=device)
    before = out._version
    weigh(*problem(rng, 32, 64, 16), out=out)
    fills_of_out = out._version - before
    why = f"SPLIT = 1: writes to out beside the kernel's: {fills_of_out}, wanted 0. Who adds to out there?"
    assert fills_of_out == 0, why


@pytest.mark.task(1)
@pytest.mark.counters
def test_rows_are_read_in_whole_sectors(rng):
    counters = count(lesson.weigh, *problem(rng, 32, 128, 64), config(split=4))
    assert counters.sectors == counters.bytes / 32


@pytest.mark.task(1)
@pytest.mark.compiled
def test_the_compiler_gets_all_of_the_config(rng):
    kernel = compiled(lesson.weigh, *problem(rng, 16, 256, 64), config(block_n=64, split=2, warps=8, stages=4),
                      chip="h100").kernels["weigh_kernel"]
    warps_compiled_for, stages_compiled_for, bytes_spilled = kernel.num_warps, kernel.num_stages, kernel.spills
    assert warps_compiled_for == 8
    assert stages_compiled_for == 4
    assert bytes_spilled == 0


@pytest.mark.task(1)
@pytest.mark.compiled
def test_atomics_put_no_other_memory_in_order(rng):
    kernel = compiled(lesson.weigh, *problem(rng, 16, 256, 64), config(block_n=64, split=2), chip="h100").kernels[0]
    atomics = [name.split(".") for name in kernel.instructions if name.startswith(("atom.", "red."))]
    sem_of_the_atomics = sorted({part for parts in atomics for part in parts if part in ("relaxed", "acq_rel")})
    assert sem_of_the_atomics == ["relaxed"]


@pytest.mark.task(1)
@pytest.mark.hopper
@pytest.mark.speed
def test_programs_that_share_one_tile_are_far_faster_than_one():
    """16 rows: one program reads on one of 132 SMs, 128 programs on 128 of them."""
    weights, values = torch.randn(16, 2**17, device=device), torch.randn(2**17, 64, device=device)

    def alone(weights, values):
        return lesson.weigh(weights, values, config(block_n=64, stages=3))

    def shared(weights, values):
        return lesson.weigh(weights, values, config(block_n=64, split=128, stages=3))

    assert speed_ratio(shared, alone, weights, values) >= 10


# Task 2: what is worth a trial, and how long it should take ---------------------------------------

def as_arguments(sizes):
    return ", ".join(f"{name} = {value!r}" for name, value in sizes.items())


def fits_shared_memory(d, block_n, stages, block_m=16):
    return lesson.fits(4096, d, config(block_m, block_n, stages=stages))


def fits_registers(d, block_m, warps):
    return lesson.fits(4096, d, config(block_m, warps=warps))


def has_blocks_for_all_programs(n, block_n, split):
    return lesson.fits(n, 64, config(block_n=block_n, split=split))


REGISTERS = "How many sums has each thread, and how many threads are 32 * num_warps?"
TILES = "4 stages: how many bytes are the float32 of 64 x 128 weights and 128 x 64 values for each, and for all 4?"
BLOCKS = "How many blocks are the keys, and how many programs are to have one at least?"
FITS = {  # the rule, the sizes, whether a config of these is worth a trial (by the other rules it is), and a question
    "64_sums_a_thread": (fits_registers, {"d": 64, "block_m": 128, "warps": 4}, True, REGISTERS),
    "65_sums_a_thread": (fits_registers, {"d": 65, "block_m": 128, "warps": 4}, False, REGISTERS),
    "128_sums_a_thread": (fits_registers, {"d": 128, "block_m": 128, "warps": 4}, False, REGISTERS),
    "128_sums_in_twice_as_many_threads": (fits_registers, {"d": 128, "block_m": 128, "warps": 8}, True, REGISTERS),
    "192_kib_shared": (fits_shared_memory, {"d": 64, "block_m": 64, "block_n": 128, "stages": 3}, True, TILES),
    "256_kib_shared": (fits_shared_memory, {"d": 64, "block_m": 64, "block_n": 128, "stages": 4}, False, TILES),
    "232448_bytes_shared": (
        fits_shared_memory, {"d": 211, "block_n": 64, "stages": 4}, True,
        "Its tiles have 232448 bytes, as many as SHARED. Is that too many, and what do you count beside them?"),
    "233472_bytes_shared": (
        fits_shared_memory, {"d": 212, "block_n": 64, "stages": 4}, False,
        "Its tiles have 233472 bytes, and SHARED is 232448. Which of them are not counted?"),
    "as_many_programs_as_blocks": (has_blocks_for_all_programs, {"n": 64, "block_n": 32, "split": 2}, True, BLOCKS),
    "one_program_more_than_blocks": (has_blocks_for_all_programs, {"n": 64, "block_n": 32, "split": 3}, False, BLOCKS),
    "one_key": (has_blocks_for_all_programs, {"n": 1, "block_n": 16, "split": 1}, True,
                "1 key is a block that is not full. How many blocks does your rule count?"),
    "last_block_has_one_key": (has_blocks_for_all_programs, {"n": 65, "block_n": 32, "split": 3}, True,
                               "65 keys in blocks of 32: how many blocks, with the one that is not full?"),
}


@pytest.mark.task(2)
@pytest.mark.parametrize("rule, sizes, wanted, asks", FITS.values(), ids=FITS)
def test_tells_what_is_worth_a_trial(rule, sizes, wanted, asks):
    """The kernel takes no d of 65, 211 or 212; the rules do."""
    fits = rule(**sizes)
    why = f"{as_arguments(sizes)}: fits returned {fits}, wanted {wanted}. {asks}"
    assert fits == wanted, why
    assert_matches(rule, **sizes, oracle=lambda **_: wanted)


@pytest.mark.task(1, 2)
@pytest.mark.compiled
def test_the_compiler_agrees_about_shared_memory(rng):
    """Three steps with tiles of 64 x 128 and 128 x 64 fit, four do not. Of small tiles it keeps fewer than it may."""
    problem_of_some_size = problem(rng, 128, 256, 64)
    three, four = (config(block_m=64, block_n=128, stages=stages) for stages in (3, 4))
    small = config(block_m=16, block_n=64, stages=3)
    bytes_shared, bytes_shared_by_small_tiles = (
        compiled(lesson.weigh, *problem_of_some_size, sizes, precision, chip="h100").kernels[0].shared_bytes
        for sizes, precision in ((three, "tf32"), (small, "ieee")))
    three_stages_fit, four_stages_fit = lesson.fits(256, 64, three), lesson.fits(256, 64, four)
    assert bytes_shared <= 3 * 4 * 128 * (64 + 64)
    assert bytes_shared_by_small_tiles < 3 * 4 * 64 * (16 + 64)
    with pytest.raises(CompileError):
        compiled(lesson.weigh, *problem_of_some_size, four, "tf32", chip="h100")
    assert three_stages_fit
    assert not four_stages_fit


EXAMPLE = {"m": 16, "n": 65536, "d": 64, "precision": "ieee"}
SIZES = {"block_m": 16, "block_n": 64, "split": 128, "stages": 3}


def predicted(limit, m, n, d, precision, **sizes):
    """One of the limits, in whole nanoseconds."""
    return round(lesson.limits(m, n, d, precision, config(**sizes))[limit])


AS_IF = {  # the example by some mistakes, in whole nanoseconds
    0: "As if 128 programs were no round.",
    1024: "As if values were not loaded.",
    1034: "As if a product and its addition were one flop.",
    1166: "As if a number had one byte.",
    1200: "As if the last 2 of 8 steps asked for nothing.",
    1745: "As if 128 programs were a part of a round.",
    2005: "As if 128 programs were a part of a round.",
    4524: "As if 128 programs were a part of a round.",
    1600: "As if the last 2 of 8 steps got two thirds of an answer.",
    3755: "As if weights were not loaded.",
    4551: "As if sums were not moved.",
    4779: "As if sums were moved twice.",
    4800: "As if each step asked when the one before it had its answer.",
    5461: "As if sums were moved at each step.",
    74638: "As if it were 16 rounds.",
    205200: "As if one program took all 1024 blocks.",
    264729: "As if one program took all 1024 blocks.",
    582656: "As if one program took all 1024 blocks.",
}
ASKS = {
    "moving": "What does a program load in each of its 8 steps, and what does it add once?",
    "multiplying": "How many flops has each of the 8 steps of a program?",
    "waiting": "How many answers are 8 steps, if 3 of them ask at once?",
}


@pytest.mark.task(2)
def test_predicts_the_example_of_the_lesson():
    limits = lesson.limits(16, 65536, 64, "ieee", config(**SIZES))
    assert sorted(limits) == sorted(ASKS)
    for limit, wanted in {"moving": 4665, "multiplying": 2068, "waiting": 1800}.items():
        nanoseconds = round(limits[limit])
        seen = AS_IF.get(nanoseconds, "128 programs are 1 round.")
        asks = "How many rounds are 128 programs on 132 SMs?" if "a part of a round" in seen else ASKS[limit]
        why = f"The example: {limit} takes {nanoseconds} ns, wanted {wanted}. {seen} {asks}"
        assert nanoseconds == wanted, why


@pytest.mark.task(2)
@pytest.mark.parametrize("limit", ["moving", "multiplying", "waiting"])
def test_a_round_takes_as_long_with_one_program_as_with_132(limit):
    ns_with_1_program, ns_with_132_programs = (
        predicted(limit, 16 * tiles, 64, 64, "ieee", block_n=64) for tiles in (1, 132))
    why = (f"SPLIT = 1, tiles of 16 rows: {limit} takes {ns_with_1_program} ns with 16 rows, and "
           f"{ns_with_132_programs} with 132 * 16. How many programs is either, how many rounds, and how many rows has "
           "each program?")
    assert ns_with_1_program == ns_with_132_programs, why


@pytest.mark.task(2)
def test_a_tile_that_is_not_full_has_as_many_programs_as_others():
    moving = predicted("moving", **{**EXAMPLE, **SIZES, "m": 33, "split": 64})
    why = (f"33 rows in tiles of 16, SPLIT = 64: moving takes {moving} ns, wanted 18432. How many tiles are that, and "
           "in how many rounds do their programs run on 132 SMs?")
    assert moving == 18432, why


LIMITS = {  # what is different from the example, the limits then, in whole nanoseconds, and a question
    "one_key_more_is_a_step_more": (
        {"n": 65537}, (5234, 2327, 1800), "How many of the 1025 blocks has the program with the most of them?"),
    "one_row_is_a_whole_tile": (
        {"m": 1}, (4665, 2068, 1800), "How many rows has the tile, and for how many does a program work?"),
    "as_many_programs_as_sms": (
        {"m": 132 * 16, "n": 64, "split": 1}, (683, 259, 600), "How many rounds are 132 programs?"),
    "a_program_more_than_sms": (
        {"m": 132 * 16 + 1, "n": 64, "split": 1}, (1365, 517, 1200),
        "How many rounds are 133 programs, and which of the limits counts them?"),
    "two_tiles_two_rounds": (
        {"m": 32}, (9330, 4136, 3600), "How many rounds are 2 tiles of 128 programs, and does this limit count them?"),
    "two_tiles_half_as_many_programs_each": (
        {"m": 32, "split": 64}, (9216, 4136, 3600), "How many of 1024 blocks has each of 64 programs?"),
    "one_program_for_all_keys": (
        {"split": 1}, (582656, 264729, 205200), "How many steps has the program that takes all 1024 blocks?"),
    "two_rounds_of_large_tiles": (
        {"m": 2000, "split": 8, "block_m": 64}, (233927, 264729, 51600),
        "How many rounds are 32 tiles of 8 programs, and how many rows has a tile?"),
    "values_of_twice_the_width": (
        {"d": 128}, (8420, 4136, 1800), "What has d columns: weights, values, sums?"),
    "tf32": ({"precision": "tf32"}, (4665, 280, 1800), "Which of the three limits does the precision change?"),
    "tf32x3": ({"precision": "tf32x3"}, (4665, 840, 1800), "Which of the three limits does the precision change?"),
    "two_stages": ({"stages": 2}, (4665, 2068, 2400), "How many answers are 8 steps, if 2 of them ask at once?"),
    "more_stages_than_steps": (
        {"stages": 16}, (4665, 2068, 600), "How many answers are 8 steps, if up to 16 ask at once?"),
    "blocks_of_32_keys": (
        {"block_n": 32}, (4665, 2068, 3600), "How many steps have 128 programs with 2048 blocks of 32 keys?"),
    "no_key": ({"n": 0, "split": 1}, (114, 0, 0), "There is no step. What is still moved?"),
}


@pytest.mark.task(2)
@pytest.mark.parametrize("limit", ["moving", "multiplying", "waiting"])
@pytest.mark.parametrize("changes, wanted, asks", LIMITS.values(), ids=LIMITS)
def test_predicts_each_limit(limit, changes, wanted, asks):
    nanoseconds = predicted(limit, **{**EXAMPLE, **SIZES, **changes})
    nanoseconds_wanted = wanted[("moving", "multiplying", "waiting").index(limit)]
    why = (f"The example with {as_arguments(changes)}: {limit} takes {nanoseconds} ns, wanted {nanoseconds_wanted}. "
           f"{asks}")
    assert nanoseconds == nanoseconds_wanted, why


@pytest.mark.task(1, 2)
@pytest.mark.counters
def test_moves_and_multiplies_what_was_predicted(rng):
    """Tiles are whole and all programs have equally many steps, so one round of 8 programs is 8 times one of them."""
    m, n, d, sizes = 32, 256, 64, config(block_m=16, block_n=32, split=4)
    counters, limits = count(lesson.weigh, *problem(rng, m, n, d), sizes), lesson.limits(m, n, d, "ieee", sizes)
    bytes_predicted, flops_predicted = round(8 * 36 * limits["moving"]), round(8 * 507 * limits["multiplying"])
    assert bytes_predicted == counters.bytes
    assert flops_predicted == counters.flops


# Task 3: eight trials, once for each bucket -------------------------------------------------------

SPACE = [config(*sizes) for sizes in itertools.product(
    (16, 64, 128), (32, 64, 128), (1, 2, 4, 8, 16, 32, 64, 128), (4, 8), (2, 3, 4))]
SHAPES = [(1, 1, 16, "ieee"), (16, 65536, 64, "ieee"), (4096, 4096, 128, "tf32"), (100, 700, 32, "tf32x3")]


def all_that_fit(n, d):
    return [each for each in SPACE if lesson.fits(n, d, each)]


@pytest.mark.task(3)
@pytest.mark.counters
@pytest.mark.parametrize("m, n, d, precision", SHAPES)
def test_the_model_leaves_eight_of_the_configs_that_fit(m, n, d, precision):
    configs_timed, those_that_fit = len(lesson.timed(m, n, d, precision)), len(all_that_fit(n, d))
    asks = ("Which entry of prune_configs_by says how many are timed, and beside which one does it count?"
            if configs_timed > 8 else "Which configs does the tuner get to choose from?")
    why = f"Of {len(SPACE)} configs {those_that_fit} fit, and {configs_timed} are timed, wanted 8. {asks}"
    assert configs_timed == 8, why


@pytest.mark.task(3)
@pytest.mark.parametrize("m, n, d, precision", SHAPES)
def test_no_config_is_timed_that_does_not_fit(m, n, d, precision):
    timed_though_unfit = ["BLOCK_M={BLOCK_M} BLOCK_N={BLOCK_N} SPLIT={SPLIT}".format(**each)
                          for each in lesson.timed(m, n, d, precision) if not lesson.fits(n, d, each)]
    why = (f"m = {m}, n = {n}, d = {d}: {len(timed_though_unfit)} of the configs that are timed do not fit. Which "
           "entry of prune_configs_by leaves them out?")
    assert timed_though_unfit == [], why


@pytest.mark.task(3)
@pytest.mark.parametrize("m, n, d, precision", SHAPES)
def test_times_the_configs_with_the_smallest_predictions(m, n, d, precision):
    smallest = sorted(lesson.predict(m, n, d, precision, each) for each in all_that_fit(n, d))[:8]
    nanoseconds_predicted = [lesson.predict(m, n, d, precision, each) for each in lesson.timed(m, n, d, precision)]
    assert nanoseconds_predicted == smallest


@pytest.mark.task(3)
def test_for_16_rows_of_65536_weights_all_trials_keep_128_sms_at_work():
    splits_timed = {each["SPLIT"] for each in lesson.timed(16, 65536, 64)}
    assert splits_timed == {128}


CALL = {"m": (4,), "n": (20,), "d": (16,), "precision": ("ieee",)}
TUNINGS = {  # what changes from call to call, and how often weigh_tuned tunes
    "the_same_call_twice": ({"n": (20, 20)}, 1),
    "33_34_and_63_keys_are_one_bucket": ({"n": (33, 34, 63)}, 1),
    "32_and_33_keys_are_two_buckets": ({"n": (32, 33)}, 2),
    "3_and_4_rows_are_one_bucket": ({"m": (3, 4)}, 1),
    "4_and_5_rows_are_two_buckets": ({"m": (4, 5)}, 2),
    "9_to_16_rows_of_65_to_128_keys_are_one_bucket": ({"m": (9, 16), "n": (65, 128)}, 1),
    "16_and_32_columns_share_no_choice": ({"d": (16, 32)}, 2),
    "two_precisions_share_no_choice": ({"precision": ("ieee", "tf32")}, 2),
}


@pytest.mark.task(3)
@pytest.mark.counters
@pytest.mark.parametrize("changes, wanted", TUNINGS.values(), ids=TUNINGS)
def test_tunes_once_for_each_bucket_width_and_precision(changes, wanted):
    tuned_for = lesson.tunings(list(itertools.product(*{**CALL, **changes}.values())))
    tunings = len(tuned_for)
    values = {name: list(dict.fromkeys(each[name] for each in tuned_for)) for each in tuned_for for name in each}
    asks = ("Which of them has to stay the same here: what is it, and what does the launch hand over for it?"
            if tunings > wanted else "Which of them has to change here: is it there, and what is handed over for it?")
    why = (f"Calls with {as_arguments(changes)}: {tunings} tuning{'s' * (tunings != 1)}, wanted {wanted}. The key's "
           f"values were: {as_arguments(values)}. {asks}")
    assert tunings == wanted, why


@pytest.mark.task(3)
@pytest.mark.counters
@pytest.mark.parametrize("m, n", [(16, 512), (133 * 16, 32)])
def test_the_grid_is_made_for_the_config_that_is_launched(m, n, rng):
    """16 rows are timed with SPLIT = 4 first, and 133 tiles of 16 rows with BLOCK_M = 64, so that one round will do."""
    chosen = lesson.timed(m, n, 16)[0]
    grids = [launch.grid[:2] for launch in count(lesson.weigh_tuned, *problem(rng, m, n, 16)).launches]
    grid_wanted = -(-m // chosen["BLOCK_M"]), chosen["SPLIT"]
    why = (f"{m} rows, BLOCK_M = {chosen['BLOCK_M']}, SPLIT = {chosen['SPLIT']}: weigh_tuned launches {grids}, wanted "
           f"{[grid_wanted]}. Does the grid ask the config of the launch for both?")
    assert grids == [grid_wanted], why


def weigh_by_a_new_tuner(weights, values):
    """One call of weigh_tuned, for which nothing is tuned yet."""
    lesson.tunings([])
    return lesson.weigh_tuned(weights, values)


@pytest.mark.task(3)
def test_the_first_call_is_right_though_all_trials_wrote_to_the_same_out(rng):
    assert_matches(weigh_by_a_new_tuner, *problem(rng, 16, 300, 16), oracle=product, tolerance=sums(300))


@pytest.mark.task(3)
def test_later_calls_are_right_whatever_out_held(rng):
    """The first call tunes, and its trials leave zeros in out."""
    weights, values = problem(rng, 16, 290, 16)
    out = torch.full((16, 16), 7.0, device=device)
    lesson.tunings([])
    first = lesson.weigh_tuned(weights, values, out=out).clone()
    lesson.weigh_tuned(weights, values, out=out)
    why = ("The second call tunes nothing, so reset_to_zero did nothing: its sums were added to those of the first. "
           "Who puts zeros in out?")
    twice = torch.allclose(out, 2 * first, rtol=1e-3, atol=1e-2)
    assert not twice, why
    assert_matches(lesson.weigh_tuned, weights, values, oracle=product, tolerance=sums(290))


@pytest.mark.task(3)
@pytest.mark.edge
@pytest.mark.parametrize("m, n, d", [(1, 1, 16), (17, 65, 16)])
def test_tuned_it_weighs_any_number_of_rows_and_keys(m, n, d, rng):
    assert_matches(lesson.weigh_tuned, *problem(rng, m, n, d), oracle=product, tolerance=sums(n))


@pytest.mark.task(3)
@pytest.mark.tolerance
def test_tuned_it_multiplies_in_the_precision_that_is_asked_for():
    weights, values = on_gpu([[1 + 2**-12]]), torch.ones((1, 16), device=device)
    product_in = {name: lesson.weigh_tuned(weights, values, name)[0, 0].item() for name in ("ieee", "tf32")}
    assert product_in == {"ieee": 1 + 2**-12, "tf32": 1.0}


@pytest.mark.task(3)
@pytest.mark.counters
def test_a_call_is_one_launch_that_reads_each_key_once(rng):
    m, n, d = 16, 256, 32
    counters = count(lesson.weigh_tuned, *problem(rng, m, n, d))
    assert counters.library_operations == []
    assert [launch.kernel for launch in counters.launches] == ["weigh_kernel"]
    assert counters.bytes_loaded == 4 * (m * n + n * d)


@pytest.mark.task(3)
@pytest.mark.hopper
@pytest.mark.speed
@pytest.mark.parametrize("split", [8, 32, 128])
def test_no_number_of_programs_is_much_faster_than_the_tuned_one(split):
    weights, values = torch.randn(16, 2**18, device=device), torch.randn(2**18, 64, device=device)

    def by_hand(weights, values):
        return lesson.weigh(weights, values, config(block_n=64, split=split, stages=3), "tf32")

    def tuned(weights, values):
        return lesson.weigh_tuned(weights, values, "tf32")

    assert speed_ratio(tuned, by_hand, weights, values) >= 0.65  # to choose a config takes time too


@pytest.mark.task(3)
@pytest.mark.hopper
@pytest.mark.speed
def test_comes_near_to_the_library_where_one_tile_has_a_million_keys():
    weights, values = torch.randn(16, 2**20, device=device), torch.randn(2**20, 64, device=device)
    assert speed_ratio(lesson.weigh_tuned, torch.matmul, weights, values) >= 0.6


# Task 4: digits against nanoseconds ---------------------------------------------------------------

def worst(got, exact):
    return lesson.worst_error(torch.tensor(got), torch.tensor(exact, dtype=torch.float64))


@pytest.mark.task(4)
def test_the_worst_error_is_the_largest_over_the_largest_number():
    """The first number is off by 0.5, and the largest one is 4."""
    largest_error, largest_number, worst_error = 0.5, 4.0, worst([1.5, 4.0], [1.0, 4.0])
    why = (f"1.5 in place of 1.0, and 4.0 in place of 4.0: worst_error is {worst_error}, wanted 0.125. Which error "
           "is taken, and over which number?")
    assert worst_error == largest_error / largest_number, why


@pytest.mark.task(4)
def test_an_error_below_the_digits_of_float32_is_seen():
    """exact is float64: 2 - 2**-30 has no place in float32."""
    error, error_wanted = worst([1.0, 2.0, 4.0], [1.0, 2 - 2**-30, 4.0]), 2**-32
    why = (f"2 in place of 2 - 2**-30, which float32 cannot hold, and 4 in place of 4: worst_error is {error}, wanted "
           f"{error_wanted}. In which dtype do you subtract?")
    assert error == error_wanted, why


OVER = "Over which number is the error taken: of got or of exact, the largest with its sign or without?"
SIGN = "How large is an error that goes down?"
INFINITE = "What is the error then, what does a comparison with it say, and what comes of that?"
ERRORS = {  # got, exact, the error, and a question
    "none": ([1.0, 2.0], [1.0, 2.0], 0.0, SIGN),
    "half_of_the_largest": ([2.0, 4.0], [1.0, 2.0], 1.0, OVER),
    "of_more_digits_than_float32": (
        [1.0, 2.0], [1.0, 2 - 2**-30], 2**-30 / (2 - 2**-30), "In which dtype do you divide?"),
    "below": ([1.0, 1.0], [1.0, 2.0], 0.5, SIGN),
    "largest_is_negative": ([1.0, -3.0], [1.0, -4.0], 0.25, OVER),
    "of_a_zero": ([0.5, -2.0], [0.0, -2.0], 0.25, OVER),
    "of_one_in_four": ([1.0, 1.0, 1.0, 3.0], [1.0, 1.0, 1.0, 1.0], 2.0, OVER),
    "of_a_matrix": ([[1.0, 2.0], [3.0, 4.0]], [[1.0, 2.0], [3.0, 5.0]], 0.2, "Along which axes is the largest taken?"),
    "nan_at_the_end": ([1.0, NAN], [1.0, 2.0], INF, INFINITE),
    "nan_at_the_beginning": ([NAN, 2.0], [1.0, 2.0], INF, INFINITE),
    "infinity": ([1.0, -INF], [1.0, 2.0], INF, INFINITE),
}


@pytest.mark.task(4)
@pytest.mark.parametrize("got, exact, wanted, asks", ERRORS.values(), ids=ERRORS)
def test_the_worst_error_counts_against_the_largest_number(got, exact, wanted, asks):
    error = worst(got, exact)
    why = f"got = {got}, exact = {exact}: worst_error is {error}, wanted {wanted}. {asks}"
    assert error == pytest.approx(wanted, rel=1e-12, abs=0), why
    assert_matches(worst, got, exact, oracle=lambda *_: wanted)


EQUAL_IN_ONE = "Is one beaten that is as fast and less accurate, or as accurate and slower?"
FRONTS = {  # choices, those that none beats, and a question
    "one": ({"ieee": (66182, 1e-7)}, ["ieee"], "Which other one would beat it?"),
    "faster_or_more_accurate": ({"ieee": (66182, 1e-7), "tf32": (30948, 8e-4)}, ["ieee", "tf32"],
                                "Does one that is faster beat one that is more accurate, and in which order are they?"),
    "as_fast_and_less_accurate": ({"ieee": (66182, 1e-7), "tf32x3": (30948, 2e-7), "tf32": (30948, 8e-4)},
                                  ["ieee", "tf32x3"], EQUAL_IN_ONE),
    "slower_and_as_accurate": ({"tf32x3": (40000, 1e-7), "tf32": (20000, 8e-4), "ieee": (50000, 1e-7)},
                               ["tf32x3", "tf32"], EQUAL_IN_ONE),
    "memory_is_the_limit": ({"tf32": (4665, 8e-4), "tf32x3": (4665, 2e-7), "ieee": (4665, 1e-7)}, ["ieee"],
                            EQUAL_IN_ONE),
    "equal_in_both": ({"a": (3, 0.5), "b": tuple([3, 0.5]), "c": (4, 0.5)}, ["a", "b"],  # b is not the same object
                      "In which of the two is one of a and b better?"),
    "slower_and_less_accurate": ({"slow": (9, 0.9), "good": (3, 0.5)}, ["good"], "Is slow better in either?"),
    "beaten_by_two": ({"a": (1, 0.4), "b": (5, 0.5), "c": (4, 0.3)}, ["a", "c"],
                      "Is b looked at once more than it should be, or a or c beaten?"),
    "broken_and_fastest": ({"broken": (1, INF), "ieee": (9, 1e-7)}, ["broken", "ieee"],
                           "Is either of them better than the other in both?"),
    "none": ({}, [], "What is there to keep?"),
}


@pytest.mark.task(4)
@pytest.mark.parametrize("choices, wanted, asks", FRONTS.values(), ids=FRONTS)
def test_keeps_the_choices_that_no_other_one_beats(choices, wanted, asks):
    kept = lesson.front(dict(choices))
    why = f"choices = {choices}: front kept {kept}, wanted {wanted}. {asks}"
    assert kept == wanted, why
    assert_matches(lesson.front, choices, oracle=lambda choices: wanted)


LARGE = {"tf32": (30948, 8e-4), "ieee": (66182, 1e-7), "tf32x3": (30949, 2e-7)}  # 4096 x 4096 by 4096 x 128
SMALL_ENOUGH = "Which of them have an error of at most the bound, and which of those is the fastest?"
WITHIN = {  # choices, the bound, the fastest within it, and a question
    "all_are": (LARGE, 1e-3, "tf32", SMALL_ENOUGH),
    "not_the_fastest": (LARGE, 1e-6, "tf32x3", SMALL_ENOUGH),
    "just_the_slowest": (LARGE, 1.5e-7, "ieee", SMALL_ENOUGH),
    "an_error_as_large_as_the_bound": (LARGE, 8e-4, "tf32", "Is an error that is as large as the bound too large?"),
    "of_equally_fast_ones_the_most_accurate": ({"tf32": (4665, 8e-4), "ieee": (4665, 1e-7)}, 1e-2, "ieee",
                                               "They are equally fast: which of them is more accurate?"),
    "not_the_most_accurate": ({"ieee": (9, 1e-7), "tf32": (5, 8e-4)}, 1e-3, "tf32", SMALL_ENOUGH),
    "none_that_is_broken": ({"broken": (1, INF), "ieee": (9, 1e-7)}, 1e-3, "ieee", SMALL_ENOUGH),
}


@pytest.mark.task(4)
@pytest.mark.parametrize("choices, bound, wanted, asks", WITHIN.values(), ids=WITHIN)
def test_takes_the_fastest_whose_error_is_small_enough(choices, bound, wanted, asks):
    taken = lesson.fastest_within(dict(choices), bound)
    why = f"choices = {choices}, bound = {bound}: fastest_within took {taken!r}, wanted {wanted!r}. {asks}"
    assert taken == wanted, why
    assert_matches(lesson.fastest_within, choices, bound, oracle=lambda *_: wanted)


@pytest.mark.task(4)
@pytest.mark.edge
def test_raises_value_error_if_no_error_is_small_enough():
    with pytest.raises(ValueError):
        lesson.fastest_within(LARGE, 1e-8)


@pytest.mark.task(1, 2, 3, 4)
def test_where_memory_is_the_limit_digits_are_free(rng):
    """All three precisions are predicted to take the same time, so a more accurate one beats tf32."""
    choices = lesson.study(*problem(rng, 4, 20, 32))
    nanoseconds = {precision: predicted for precision, (predicted, _) in choices.items()}
    assert nanoseconds == dict.fromkeys(choices, nanoseconds["ieee"])
    error_of_ieee, error_of_tf32 = choices["ieee"][1], choices["tf32"][1]
    assert error_of_ieee < 1e-6
    assert 1e-5 < error_of_tf32 < 1e-2
    choices_none_beats = lesson.front(choices)
    assert "tf32" not in choices_none_beats
    assert lesson.fastest_within(choices, 1e-2) in choices_none_beats
