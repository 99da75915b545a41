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


def in_words(each):
    return "BLOCK_M={BLOCK_M} BLOCK_N={BLOCK_N} SPLIT={SPLIT}".format(**each)


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
@pytest.mark.parametrize("n, split, shares", [
    (64, 1, [64]), (64, 2, [32, 32]), (96, 3, [32, 32, 32]), (80, 4, [32, 16, 16, 16]), (16, 2, [16, 0])])
def test_the_programs_of_a_tile_take_its_blocks_in_turn(n, split, shares):
    """Blocks have 16 keys; program 0 has the first and the fifth of 5."""
    keys_of_programs = lesson.keys_of_each(n, config(split=split))
    assert keys_of_programs == shares


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
@pytest.mark.counters
def test_each_program_adds_its_sums_once(rng):
    counters = count(lesson.weigh, *problem(rng, 32, 128, 64), config(split=4))
    bytes_added_to_out = counters.bytes_atomic
    assert bytes_added_to_out == 4 * 4 * 32 * 64


@pytest.mark.task(1)
@pytest.mark.counters
def test_a_program_that_has_its_tile_to_itself_stores_without_an_atomic(rng):
    counters = count(lesson.weigh, *problem(rng, 32, 128, 64), config(split=1))
    bytes_added_to_out = counters.bytes_atomic
    assert bytes_added_to_out == 0
    assert counters.bytes_stored == 4 * 32 * 64


@pytest.mark.task(1)
@pytest.mark.counters
def test_out_is_not_filled_with_zeros_where_nobody_adds(rng):
    """PyTorch counts how often its functions write to a tensor."""
    out = torch.empty((32, 16), device=device)
    before = out._version
    weigh(*problem(rng, 32, 64, 16), out=out)
    fills_of_out = out._version - before
    assert fills_of_out == 0


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

def fits_shared_memory(d, block_n, stages, block_m=16):
    return lesson.fits(4096, d, config(block_m, block_n, stages=stages))


def fits_registers(d, block_m, warps):
    return lesson.fits(4096, d, config(block_m, warps=warps))


def has_blocks_for_all_programs(n, block_n, split):
    return lesson.fits(n, 64, config(block_n=block_n, split=split))


FITS = {  # the rule, the sizes, and whether a config of these is worth a trial; by the other rules it is
    "one_key": (has_blocks_for_all_programs, {"n": 1, "block_n": 16, "split": 1}, True),
    "as_many_programs_as_blocks": (has_blocks_for_all_programs, {"n": 64, "block_n": 32, "split": 2}, True),
    "one_program_more_than_blocks": (has_blocks_for_all_programs, {"n": 64, "block_n": 32, "split": 3}, False),
    "last_block_has_one_key": (has_blocks_for_all_programs, {"n": 65, "block_n": 32, "split": 3}, True),
    "64_sums_a_thread": (fits_registers, {"d": 64, "block_m": 128, "warps": 4}, True),
    "65_sums_a_thread": (fits_registers, {"d": 65, "block_m": 128, "warps": 4}, False),
    "128_sums_a_thread": (fits_registers, {"d": 128, "block_m": 128, "warps": 4}, False),
    "128_sums_in_twice_as_many_threads": (fits_registers, {"d": 128, "block_m": 128, "warps": 8}, True),
    "192_kib_shared": (fits_shared_memory, {"d": 64, "block_m": 64, "block_n": 128, "stages": 3}, True),
    "256_kib_shared": (fits_shared_memory, {"d": 64, "block_m": 64, "block_n": 128, "stages": 4}, False),
    "232448_bytes_shared": (fits_shared_memory, {"d": 211, "block_n": 64, "stages": 4}, True),
    "233472_bytes_shared": (fits_shared_memory, {"d": 212, "block_n": 64, "stages": 4}, False),
}


@pytest.mark.task(2)
@pytest.mark.parametrize("rule, sizes, worth_a_trial", FITS.values(), ids=FITS)
def test_tells_what_is_worth_a_trial(rule, sizes, worth_a_trial):
    """The kernel takes no d of 65, 211 or 212; the rules do."""
    assert_matches(rule, **sizes, oracle=lambda **_: worth_a_trial)


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


@pytest.mark.task(2)
@pytest.mark.parametrize("limit", ["moving", "multiplying", "waiting"])
def test_a_round_takes_as_long_with_one_program_as_with_132(limit):
    ns_with_1_program, ns_with_132_programs = (
        predicted(limit, 16 * tiles, 64, 64, "ieee", block_n=64) for tiles in (1, 132))
    assert ns_with_1_program == ns_with_132_programs


@pytest.mark.task(2)
def test_a_tile_that_is_not_full_has_as_many_programs_as_others():
    moving = predicted("moving", **{**EXAMPLE, **SIZES, "m": 33, "split": 64})
    why = (f"33 rows in tiles of 16, SPLIT = 64: moving takes {moving} ns, wanted 18432. How many tiles are that, and "
           "in how many rounds do their programs run on 132 SMs?")
    assert moving == 18432, why


@pytest.mark.task(2)
def test_predicts_the_example_of_the_lesson():
    limits = lesson.limits(16, 65536, 64, "ieee", config(**SIZES))
    in_whole_nanoseconds = {limit: round(nanoseconds) for limit, nanoseconds in limits.items()}
    assert in_whole_nanoseconds == {"moving": 4665, "multiplying": 2068, "waiting": 1800}


LIMITS = {  # what is different from the example, and the limits then, in whole nanoseconds
    "one_key_more_is_a_step_more": ({"n": 65537}, (5234, 2327, 1800)),
    "one_row_is_a_whole_tile": ({"m": 1}, (4665, 2068, 1800)),
    "as_many_programs_as_sms": ({"m": 132 * 16, "n": 64, "split": 1}, (683, 259, 600)),
    "a_program_more_than_sms": ({"m": 132 * 16 + 1, "n": 64, "split": 1}, (1365, 517, 1200)),
    "two_tiles_two_rounds": ({"m": 32}, (9330, 4136, 3600)),
    "two_tiles_half_as_many_programs_each": ({"m": 32, "split": 64}, (9216, 4136, 3600)),
    "one_program_for_all_keys": ({"split": 1}, (582656, 264729, 205200)),
    "two_rounds_of_large_tiles": ({"m": 2000, "split": 8, "block_m": 64}, (233927, 264729, 51600)),
    "values_of_twice_the_width": ({"d": 128}, (8420, 4136, 1800)),
    "tf32": ({"precision": "tf32"}, (4665, 280, 1800)),
    "tf32x3": ({"precision": "tf32x3"}, (4665, 840, 1800)),
    "two_stages": ({"stages": 2}, (4665, 2068, 2400)),
    "more_stages_than_steps": ({"stages": 16}, (4665, 2068, 600)),
    "blocks_of_32_keys": ({"block_n": 32}, (4665, 2068, 3600)),
    "no_key": ({"n": 0, "split": 1}, (114, 0, 0)),
}


@pytest.mark.task(2)
@pytest.mark.parametrize("limit", ["moving", "multiplying", "waiting"])
@pytest.mark.parametrize("changes, wanted", LIMITS.values(), ids=LIMITS)
def test_predicts_each_limit(limit, changes, wanted):
    nanoseconds = wanted[("moving", "multiplying", "waiting").index(limit)]
    assert_matches(predicted, limit, **{**EXAMPLE, **SIZES, **changes}, oracle=lambda *_, **__: nanoseconds)


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


@pytest.mark.task(3)
@pytest.mark.counters
@pytest.mark.parametrize("m, n, d, precision", SHAPES)
def test_the_model_leaves_eight_of_the_configs_that_fit(m, n, d, precision):
    configs_timed = len(lesson.timed(m, n, d, precision))
    assert configs_timed == 8


@pytest.mark.task(3)
@pytest.mark.parametrize("m, n, d, precision", SHAPES)
def test_no_config_is_timed_that_does_not_fit(m, n, d, precision):
    timed_though_unfit = [in_words(each) for each in lesson.timed(m, n, d, precision) if not lesson.fits(n, d, each)]
    assert timed_though_unfit == []


@pytest.mark.task(3)
@pytest.mark.parametrize("m, n, d, precision", SHAPES)
def test_times_the_configs_with_the_smallest_predictions(m, n, d, precision):
    all_that_fit = [each for each in SPACE if lesson.fits(n, d, each)]
    smallest = sorted(lesson.predict(m, n, d, precision, each) for each in all_that_fit)[:8]
    nanoseconds_predicted = [lesson.predict(m, n, d, precision, each) for each in lesson.timed(m, n, d, precision)]
    assert nanoseconds_predicted == smallest


@pytest.mark.task(3)
def test_for_16_rows_of_65536_weights_all_trials_keep_128_sms_at_work():
    splits_timed = {each["SPLIT"] for each in lesson.timed(16, 65536, 64)}
    assert splits_timed == {128}


def tunings_for(m=(4,), n=(20,), d=(16,), precision=("ieee",)):
    """For one call of weigh_tuned with each of these."""
    return lesson.tunings(list(itertools.product(m, n, d, precision)))


TUNINGS = {  # what changes from call to call, and how often weigh_tuned tunes
    "the_same_call_twice": ({"n": (20, 20)}, 1),
    "33_34_and_63_keys_are_one_bucket": ({"n": (33, 34, 63)}, 1),
    "32_and_33_keys_are_two_buckets": ({"n": (32, 33)}, 2),
    "3_and_4_rows_are_one_bucket": ({"m": (3, 4)}, 1),
    "4_and_5_rows_are_two_buckets": ({"m": (4, 5)}, 2),
    "16_and_32_columns_share_no_choice": ({"d": (16, 32)}, 2),
    "two_precisions_share_no_choice": ({"precision": ("ieee", "tf32")}, 2),
}


@pytest.mark.task(3)
@pytest.mark.counters
@pytest.mark.parametrize("changes, wanted", TUNINGS.values(), ids=TUNINGS)
def test_tunes_once_for_each_bucket_width_and_precision(changes, wanted):
    assert_matches(tunings_for, **changes, oracle=lambda **_: wanted)


def weigh_by_a_new_tuner(weights, values):
    """One call of weigh_tuned, for which nothing is tuned yet."""
    lesson.tunings([])
    return lesson.weigh_tuned(weights, values)


@pytest.mark.task(3)
def test_the_first_call_is_right_though_all_trials_wrote_to_the_same_out(rng):
    assert_matches(weigh_by_a_new_tuner, *problem(rng, 16, 300, 16), oracle=product, tolerance=sums(300))


@pytest.mark.task(3)
def test_later_calls_are_right_whatever_out_held(rng):
    weights, values = problem(rng, 16, 290, 16)
    out = torch.full((16, 16), 7.0, device=device)
    for _ in range(2):
        lesson.weigh_tuned(weights, values, out=out)
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
    assert worst_error == largest_error / largest_number


ERRORS = {  # got, exact, and the error
    "none": ([1.0, 2.0], [1.0, 2.0], 0.0),
    "half_of_the_largest": ([2.0, 4.0], [1.0, 2.0], 1.0),
    "below": ([1.0, 1.0], [1.0, 2.0], 0.5),
    "of_a_zero": ([0.5, -2.0], [0.0, -2.0], 0.25),
    "largest_is_negative": ([1.0, -3.0], [1.0, -4.0], 0.25),
    "of_one_in_four": ([1.0, 1.0, 1.0, 3.0], [1.0, 1.0, 1.0, 1.0], 2.0),
    "of_a_matrix": ([[1.0, 2.0], [3.0, 4.0]], [[1.0, 2.0], [3.0, 5.0]], 0.2),
    "nan_at_the_end": ([1.0, NAN], [1.0, 2.0], INF),
    "nan_at_the_beginning": ([NAN, 2.0], [1.0, 2.0], INF),
    "infinity": ([1.0, -INF], [1.0, 2.0], INF),
}


@pytest.mark.task(4)
@pytest.mark.parametrize("got, exact, error", ERRORS.values(), ids=ERRORS)
def test_the_worst_error_counts_against_the_largest_number(got, exact, error):
    assert_matches(worst, got, exact, oracle=lambda *_: error)


@pytest.mark.task(4)
def test_an_error_below_the_digits_of_float32_is_seen():
    """exact is float64: 2 + 2**-30 has no place in float32."""
    assert_matches(worst, [1.0, 2.0], [1.0, 2 + 2**-30], oracle=lambda *_: 2**-30 / (2 + 2**-30))


FRONTS = {  # choices, and those that none beats
    "one": ({"ieee": (66182, 1e-7)}, ["ieee"]),
    "faster_or_more_accurate": ({"ieee": (66182, 1e-7), "tf32": (30948, 8e-4)}, ["ieee", "tf32"]),
    "as_fast_and_less_accurate": ({"ieee": (66182, 1e-7), "tf32x3": (30948, 2e-7), "tf32": (30948, 8e-4)},
                                  ["ieee", "tf32x3"]),
    "slower_and_as_accurate": ({"tf32x3": (40000, 1e-7), "tf32": (20000, 8e-4), "ieee": (50000, 1e-7)},
                               ["tf32x3", "tf32"]),
    "memory_is_the_limit": ({"tf32": (4665, 8e-4), "tf32x3": (4665, 2e-7), "ieee": (4665, 1e-7)}, ["ieee"]),
    "equal_in_both": ({"a": (3, 0.5), "b": (3, 0.5), "c": (4, 0.5)}, ["a", "b"]),
    "slower_and_less_accurate": ({"slow": (9, 0.9), "good": (3, 0.5)}, ["good"]),
    "beaten_by_two": ({"a": (1, 0.4), "b": (5, 0.5), "c": (4, 0.3)}, ["a", "c"]),
    "broken_and_fastest": ({"broken": (1, INF), "ieee": (9, 1e-7)}, ["broken", "ieee"]),
    "none": ({}, []),
}


@pytest.mark.task(4)
@pytest.mark.parametrize("choices, wanted", FRONTS.values(), ids=FRONTS)
def test_keeps_the_choices_that_no_other_one_beats(choices, wanted):
    assert_matches(lesson.front, choices, oracle=lambda choices: wanted)


LARGE = {"tf32": (30948, 8e-4), "ieee": (66182, 1e-7), "tf32x3": (30949, 2e-7)}  # 4096 x 4096 by 4096 x 128
WITHIN = {  # choices, the bound, and the fastest within it
    "all_are": (LARGE, 1e-3, "tf32"),
    "not_the_fastest": (LARGE, 1e-6, "tf32x3"),
    "just_the_slowest": (LARGE, 1.5e-7, "ieee"),
    "an_error_as_large_as_the_bound": (LARGE, 8e-4, "tf32"),
    "of_equally_fast_ones_the_most_accurate": ({"tf32": (4665, 8e-4), "ieee": (4665, 1e-7)}, 1e-2, "ieee"),
    "not_the_most_accurate": ({"ieee": (9, 1e-7), "tf32": (5, 8e-4)}, 1e-3, "tf32"),
    "none_that_is_broken": ({"broken": (1, INF), "ieee": (9, 1e-7)}, 1e-3, "ieee"),
}


@pytest.mark.task(4)
@pytest.mark.parametrize("choices, bound, wanted", WITHIN.values(), ids=WITHIN)
def test_takes_the_fastest_whose_error_is_small_enough(choices, bound, wanted):
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
