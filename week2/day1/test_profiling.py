"""The lesson again, as checks: what was done, what could be done, what has room, what holds a kernel back."""

import copy
import ctypes
import json
import math
from pathlib import Path

import numpy as np
import pytest
import torch

from tools.check import NoProfiler, assert_matches, compiled, count
from tools.check.inputs import awkward_lengths, matrices
from tools.gpu import device
from week2.day1 import profiling as lesson

INF, NAN = float("inf"), float("nan")
HERE = Path(__file__).parent
RECORDED = json.loads((HERE / "reports_h200.json").read_text(encoding="utf-8"))
KERNELS, TIMELINES = RECORDED["kernels"], RECORDED["timelines"]
ROOM = json.loads((HERE / "occupancy_h200.json").read_text(encoding="utf-8"))["cases"]

pytestmark = pytest.mark.filterwarnings("ignore:Grid size")  # Numba's advice to start more blocks

HEALTHY = {  # invented, with numbers for mental arithmetic: no rule fits but that of memory
    "kernel": "healthy_kernel", "seconds": 0.002, "dram_bytes_read": 3_000_000_000, "dram_bytes_written": 1_000_000_000,
    "fp32_add": 2_000_000_000, "fp32_multiply": 1_000_000_000, "fp32_multiply_add": 5_000_000_000,
    "grid": [132, 8, 10], "block": 256, "registers": 32, "shared_bytes": 0, "waves": 10.0,
    "theoretical_occupancy_percent": 100, "achieved_occupancy_percent": 45, "instructions": 100_000,
    "l1_hit_percent": 0, "l2_hit_percent": 50,
    "lanes_per_instruction": 32, "load_requests": 1000, "load_sectors": 4000, "store_requests": 500,
    "store_sectors": 2000, "shared_instructions_load": 300, "shared_instructions_store": 100,
    "shared_wavefronts_load": 300, "shared_wavefronts_store": 100,
    "shared_conflicts_load": 0, "shared_conflicts_store": 0,
    "percent_of_peak": {"SM": 20.0, "L1": 30.0, "L2": 50.0, "DRAM": 80.0},
    "stalls": {"barrier": 0.5, "long_scoreboard": 12.0, "not_selected": 0.5, "wait": 1.5},
}
WEIGHTS = {"fp32_add": 1, "fp32_multiply": 1, "fp32_multiply_add": 2}  # flops
QUIET = HEALTHY | {"percent_of_peak": {"SM": 20.0, "L1": 30.0, "L2": 50.0, "DRAM": 40.0}}  # no unit is busy


def numbers(rng, *shape):
    return torch.from_numpy(matrices(rng, shape)[0]).to(device, torch.float32)


def answer(function, argument):
    """What a function says of a report or of spans, which it must leave as they are."""
    given = copy.deepcopy(argument)
    said = function(given)
    assert given == argument, f"{function.__name__} changes what it is given, which others still read"
    return said


def assert_figure(function, report, wanted, why):
    said = answer(function, report)
    if said != pytest.approx(wanted, rel=1e-12):  # raised: an assert would print the two numbers once more
        raise AssertionError(
            f"You say {said}. It is {wanted:.6g}: {why}.\nWhich of these does your formula lack, or use otherwise?")


# Task 1: what was done ----------------------------------------------------------------------------

def pieces_of_512(shape, itemsize):
    """Give an array one piece after the other, until its bytes have room."""
    return 512 * len(range(0, int(np.prod(shape)) * itemsize, 512))


def assert_footprint(shapes, itemsize):
    each = [pieces_of_512(shape, itemsize) for shape in shapes]
    said = lesson.memory_footprint(shapes, itemsize)
    if said != sum(each):  # raised: by which factor the two differ is chance, and asserts would say it
        raise AssertionError(
            f"memory_footprint({shapes}, {itemsize}): you say {said}. It is {sum(each)}: the arrays take "
            f"{', '.join(map(str, each)) or 'nothing'}.\nHow many bytes does each array take for itself?")
    assert not isinstance(said, float), f"You say {said}. Bytes are a whole number, an int."


@pytest.mark.task(1)
@pytest.mark.parametrize("shapes", [[(128,)], [(64, 32), (32, 16), (64, 16)]], ids=str)
def test_arrays_of_whole_pieces_take_their_bytes(shapes):
    assert_footprint(shapes, 4)


@pytest.mark.task(1)
@pytest.mark.edge
@pytest.mark.parametrize("shapes", [[(3,)], [(129,)], [(127,)], [(3,), (3,)], [()], [(0, 7)], [], [(5, 7, 11)]],
                         ids=str)
@pytest.mark.parametrize("itemsize", [4, 2])
def test_each_array_begins_a_piece_of_its_own(shapes, itemsize):
    assert_footprint(shapes, itemsize)


@pytest.mark.task(1)
@pytest.mark.gpu
def test_pytorch_gives_out_as_much(rng):
    shapes = [(3,), (129,), (64, 32)]
    before = torch.cuda.memory_allocated()
    kept = [numbers(rng, *shape) for shape in shapes]
    assert lesson.memory_footprint(shapes, 4) == torch.cuda.memory_allocated() - before
    assert len(kept) == 3


@pytest.mark.task(1)
def test_bandwidth_is_what_was_read_and_written_in_GB_a_second():
    assert_figure(lesson.achieved_bandwidth, HEALTHY, 2000.0, "3e9 bytes read and 1e9 written in 0.002 seconds")


@pytest.mark.task(1)
@pytest.mark.parametrize("kind, wanted", [("fp32_add", 1.0), ("fp32_multiply", 0.5), ("fp32_multiply_add", 5.0)])
def test_additions_and_multiplications_are_a_flop_and_multiply_adds_two(kind, wanted):
    report = HEALTHY | dict.fromkeys(WEIGHTS, 0) | {kind: HEALTHY[kind]}
    why = f"{HEALTHY[kind]:.0e} {kind} in 0.002 seconds, {WEIGHTS[kind]} flop{'s' * (WEIGHTS[kind] > 1)} each"
    assert_figure(lesson.achieved_tflops, report, wanted, why)


@pytest.mark.task(1)
def test_all_three_kinds_of_flops_count():
    why = "2e9 additions, 1e9 multiplications and 5e9 multiply-adds are 13e9 flops, in 0.002 seconds"
    assert_figure(lesson.achieved_tflops, HEALTHY, 6.5, why)


@pytest.mark.task(1)
@pytest.mark.parametrize("name", list(KERNELS))
def test_real_reports_have_rates(name):
    report = KERNELS[name]
    moved = sum(report[key] for key in report if key.startswith("dram_bytes"))
    flops = sum(report[key] * weight for key, weight in WEIGHTS.items())
    seconds = report["seconds"]
    assert_figure(lesson.achieved_bandwidth, report, moved / 1e9 / seconds, f"{moved} bytes in {seconds} seconds")
    assert_figure(lesson.achieved_tflops, report, flops / 1e12 / seconds, f"{flops} flops in {seconds} seconds")


# Task 2: what could be done -----------------------------------------------------------------------

@pytest.mark.task(2)
@pytest.mark.parametrize("card, bus_bits, memory_mhz, gbs", [
    ("Tesla T4", 256, 5001, 320), ("V100", 4096, 877, 898), ("A100 40GB", 5120, 1215, 1555),
    ("H100", 5120, 2619, 3352)])
def test_peak_bandwidth_is_that_of_the_data_sheet(card, bus_bits, memory_mhz, gbs):
    said = lesson.peak_bandwidth(bus_bits, memory_mhz)
    why = (
        f"{card}: {said:.6g} GB/s, its data sheet says {gbs}. A clock sends 2 bits on each wire, 8 bits are a byte, "
        "1 MHz is 1e6 clocks a second, 1 GB 1e9 bytes.")
    assert said == pytest.approx(gbs, rel=1e-3), why


@pytest.mark.task(2)
@pytest.mark.parametrize("card, sms, multiply_adds, mhz, tflops", [
    ("Tesla T4", 40, 64, 1590, 8.14), ("A100", 108, 64, 1410, 19.5), ("H100", 132, 128, 1980, 66.9),
    ("H100, tensor cores, bf16", 132, 2048, 1830, 989.4)])
def test_peak_tflops_are_those_of_the_data_sheet(card, sms, multiply_adds, mhz, tflops):
    said = lesson.peak_tflops(sms, multiply_adds, mhz)
    why = (
        f"{card}: {said:.6g} TFLOPS, its data sheet says {tflops}. A multiply-add is 2 flops, 1 MHz is 1e6 clocks a "
        "second, 1 TFLOPS 1e12 flops a second.")
    assert said == pytest.approx(tflops, rel=2e-3), why


def assert_roof(intensity, wanted):
    said = lesson.roofline_bound(intensity, 2000.0, 50.0)
    why = (
        f"You say {said}. It is {wanted}: {intensity:g} flops a byte * 2000 GB/s = {intensity * 2000:g} GFLOPS, "
        f"which is {intensity * 2:g} TFLOPS; arithmetic does 50 TFLOPS.")
    assert isinstance(said, tuple) and len(said) == 2, why
    assert said[0] == wanted[0], why
    assert said[1] == pytest.approx(wanted[1], rel=1e-12), why


@pytest.mark.task(2)
def test_below_the_ridge_memory_feeds_so_many_tflops():
    assert_roof(0.5, ("memory", 1.0))


@pytest.mark.task(2)
@pytest.mark.edge
@pytest.mark.parametrize("intensity, wanted", [
    (0.0, ("memory", 0.0)), (24.5, ("memory", 49.0)), (25.0, ("compute", 50.0)), (25.5, ("compute", 50.0)),
    (1e6, ("compute", 50.0)), (INF, ("compute", 50.0))])
def test_from_the_ridge_on_the_peak_is_the_roof(intensity, wanted):
    """2000 GB/s and 50 TFLOPS: the ridge is at 25 flops a byte."""
    assert_roof(intensity, wanted)


# Task 3: what has room ----------------------------------------------------------------------------

def taken(threads, registers, shared):
    """Warps of a block, registers of a warp, warps for which a quarter has registers, shared memory of a block."""
    piece, room = len(range(0, registers * 32, 256)) * 256, len(range(0, shared + 1024, 128)) * 128
    return len(range(0, threads, 32)), piece, len(range(piece, 16384 + 1, piece)), room


def one_block_more(threads, registers, shared):
    """Fill an SM block by block; what is in the way of the next one, the first in the lesson's order."""
    warps, _, fit_in_quarter, room = taken(threads, registers, shared)
    blocks = 0
    while True:
        need = blocks + 1
        for name, fits in [("warps", need * warps <= 64), ("blocks", need <= 32),
                           ("registers", need * warps <= 4 * fit_in_quarter), ("shared memory", need * room <= 233472)]:
            if not fits:
                return blocks, name
        blocks = need


def assert_room(threads, registers, shared, wanted):
    """wanted: blocks and limiter. A failure has the numbers behind it, and behind another limiter that was named."""
    said = lesson.occupancy(threads, registers, shared)
    asked = f"{threads} threads, {registers} registers, {shared} bytes"
    assert isinstance(said, tuple) and len(said) == 2, f"{asked}: you say {said}. It is {wanted}."
    warps, piece, fit_in_quarter, room = taken(threads, registers, shared)
    of_block = f"a block is {warps} warp{'s' * (warps > 1)}"
    numbers_behind = {
        "warps": f"{of_block}, an SM holds 64.",
        "blocks": "an SM holds 32.",
        "registers": f"a warp takes {registers} * 32, rounded up to {piece}. One quarter has room for {fit_in_quarter} "
                     f"whole warps, four have for {4 * fit_in_quarter}; {of_block}.",
        "shared memory": f"a block takes {shared} + 1024, rounded up to {room}, of 233472.",
    }
    if said != wanted:
        named = [f"{name}: {text}" for name, text in numbers_behind.items() if name in (said[1], wanted[1])]
        raise AssertionError("\n".join([
            f"{asked}: you say {said}. It is {wanted}.", *named,
            "Which of these numbers does your arithmetic not have, or what runs out first?"]))
    assert not isinstance(said[0], float), f"You say {said[0]} blocks; they come whole. Which division left a float?"


@pytest.mark.task(3)
@pytest.mark.parametrize("threads, registers, shared, wanted", [
    (256, 16, 0, (8, "warps")), (32, 16, 0, (32, "blocks")), (256, 64, 0, (4, "registers")),
    (64, 16, 44000, (5, "shared memory"))], ids=["warps", "blocks", "registers", "shared_memory"])
def test_four_things_run_out(threads, registers, shared, wanted):
    assert_room(threads, registers, shared, wanted)


@pytest.mark.task(3)
@pytest.mark.parametrize("threads, wanted", [(96, 10), (288, 3), (800, 1)])
def test_the_warps_of_one_block_may_lie_in_several_quarters(threads, wanted):
    """64 registers: 8 warps have room in each quarter, 32 in all four."""
    said = lesson.occupancy(threads, 64, 0)
    why = (
        f"{threads} threads, 64 registers: you say {said}. It is {(wanted, 'registers')}: four quarters have room for "
        f"32 warps, a block has {threads // 32}, and its warps may lie in several quarters.")
    assert said == (wanted, "registers"), why


@pytest.mark.task(3)
@pytest.mark.parametrize("threads, registers, shared, wanted, together", [
    (64, 16, 0, (32, "warps"), "warps and blocks"), (256, 32, 0, (8, "warps"), "warps and registers"),
    (32, 64, 0, (32, "blocks"), "blocks and registers"), (32, 16, 6272, (32, "blocks"), "blocks and shared memory"),
    (128, 64, 28160, (8, "registers"), "registers and shared memory"),
    (1024, 32, 100_000, (2, "warps"), "warps, registers and shared memory")],
    ids=["warps_blocks", "warps_registers", "blocks_registers", "blocks_shared", "registers_shared", "three"])
def test_of_those_that_run_out_together_the_first_is_named(threads, registers, shared, wanted, together):
    said = lesson.occupancy(threads, registers, shared)
    why = (
        f"{threads} threads, {registers} registers, {shared} bytes: you say {said}, it is {wanted}. {together} run "
        f"out together at {wanted[0]}; the lesson's order: warps, blocks, registers, shared memory.")
    assert said == wanted, why


@pytest.mark.task(3)
@pytest.mark.edge
@pytest.mark.parametrize("threads", [1, 31, 32, 65, 96, 100, 1000, 1024])
def test_a_part_of_a_warp_takes_a_whole_one(threads):
    assert_room(threads, 16, 0, one_block_more(threads, 16, 0))


@pytest.mark.task(3)
@pytest.mark.parametrize("registers", [1, 8, 9, 33, 40, 41, 57, 255])
def test_a_warp_takes_registers_in_pieces_of_256_from_one_quarter(registers):
    """40 registers: a warp takes 1280 of the 16384 of its quarter, so 12 have room there, and 48 in all four."""
    assert_room(64, registers, 0, one_block_more(64, registers, 0))


@pytest.mark.task(3)
def test_the_system_reserves_shared_memory_for_each_block():
    """22 blocks of 9649 bytes would have room but for the 1024 bytes of each."""
    for shared in (7168, 9649, 115712, 115713, 232448):
        assert_room(32, 16, shared, one_block_more(32, 16, shared))


@pytest.mark.task(3)
def test_shared_memory_comes_in_pieces_of_128_bytes():
    """7026 and 1024 bytes take 8064. Unrounded, 29 blocks would have room."""
    assert_room(32, 16, 7026, one_block_more(32, 16, 7026))


@pytest.mark.task(3)
@pytest.mark.edge
def test_a_block_that_needs_more_registers_than_an_SM_has_never_starts():
    assert_room(1024, 128, 0, (0, "registers"))


@pytest.mark.task(3)
@pytest.mark.counters
def test_as_many_blocks_as_the_driver_of_an_H200_said():
    """Recorded with cuOccupancyMaxActiveBlocksPerMultiprocessor, 943 cases."""
    for threads, registers, shared, blocks in ROOM:
        said, _ = lesson.occupancy(threads, registers, shared)
        why = (
            f"{threads} threads, {registers} registers each, {shared} bytes of shared memory: you say {said} blocks, "
            f"the driver said {blocks}")
        assert said == blocks, why


@pytest.mark.task(3)
@pytest.mark.counters
@pytest.mark.parametrize("name", list(KERNELS))
def test_as_many_warps_as_the_profiler_said(name):
    report = KERNELS[name]
    blocks, _ = lesson.occupancy(report["block"], report["registers"], report["shared_bytes"])
    warps = -(-report["block"] // 32)
    share, profiled = 100 * blocks * warps / 64, report["theoretical_occupancy_percent"]
    why = f"{name}: your {blocks} blocks of {warps} warps are {share} % of 64 warps, the profiler said {profiled} %"
    assert share == pytest.approx(profiled, abs=0.01), why


@pytest.mark.task(3)
@pytest.mark.hopper
def test_as_many_blocks_as_this_driver_says():
    cupy = pytest.importorskip("cupy")
    kernel = cupy.RawKernel('extern "C" __global__ void twice(float *p) { p[threadIdx.x] *= 2.0f; }', "twice")
    kernel.max_dynamic_shared_size_bytes = 232448
    for threads, shared in [(32, 0), (100, 7026), (256, 30000), (640, 50001), (1024, 232448)]:
        blocks = ctypes.c_int()
        failed = ctypes.CDLL("libcuda.so.1").cuOccupancyMaxActiveBlocksPerMultiprocessor(
            ctypes.byref(blocks), ctypes.c_void_p(kernel.kernel.ptr), threads, ctypes.c_size_t(shared))
        assert not failed
        assert lesson.occupancy(threads, kernel.num_regs, shared)[0] == blocks.value


# Task 4: what holds it back -----------------------------------------------------------------------

def launched(per_sm, *grid, **others):
    """A healthy report with another grid; per_sm: blocks that fit on an SM."""
    return HEALTHY | {"grid": [*grid], "waves": round(math.prod(grid) / (132 * per_sm), 2)} | others


@pytest.mark.task(4)
@pytest.mark.parametrize("blocks, wanted", [(1056, 1.0), (1055, 1055 / 1056), (1057, 1057 / 2112), (1, 1 / 1056),
                                            (2112, 1.0)])
def test_a_started_wave_has_all_of_its_places(blocks, wanted):
    """8 blocks of 256 threads on each of 132 SMs: 1056 places."""
    why = f"{blocks} blocks for {round(blocks / wanted)} places, 1056 in each wave"
    assert_figure(lesson.filled_share, launched(8, blocks, 1, 1), wanted, why)


@pytest.mark.task(4)
def test_the_grid_has_three_axes():
    why = "3 * 100 * 7 = 2100 blocks for 2112 places, 1056 in each wave"
    assert_figure(lesson.filled_share, launched(8, 3, 100, 7), 2100 / 2112, why)


@pytest.mark.task(4)
@pytest.mark.parametrize("what, value, per_sm", [("shared_bytes", 200_000, 1), ("registers", 64, 4), ("block", 512, 4)])
def test_places_depend_on_what_a_block_takes(what, value, per_sm):
    wave = 132 * per_sm
    report = launched(per_sm, wave, 1, 1, **{what: value})
    why = f"{what} {value}: {per_sm} on each SM, so {wave} places in each wave, for {wave} blocks"
    assert_figure(lesson.filled_share, report, 1.0, why)


@pytest.mark.task(4)
@pytest.mark.parametrize("name, stall", [
    ("copy", "long_scoreboard"), ("turned", "mio_throttle"), ("horner", "math_pipe_throttle"), ("serial", "barrier"),
    ("transpose", "short_scoreboard"), ("mandelbrot", "wait")])
def test_the_top_stall_is_what_most_warps_wait_for(name, stall):
    assert KERNELS[name]["stalls"][stall] > 1
    why = (
        f"In {name} most warps wait for {stall}: {KERNELS[name]['stalls'][stall]}. A warp that was not_selected waits "
        "for nothing.")
    assert answer(lesson.top_stall, KERNELS[name]) == stall, why


RULES = {  # invented: one figure is bad, all others are good
    "grid": ({"grid": [1057, 1, 1], "waves": 1.0}, "half of the places of two waves are empty"),
    "sectors": ({"load_sectors": 20000}, "a load takes 20 sectors"),
    "conflicts": ({"shared_wavefronts_load": 9600, "shared_conflicts_load": 9300},
                  "a load from shared memory takes 32 wavefronts"),
    "divergence": ({"lanes_per_instruction": 4}, "28 of 32 lanes do nothing"),
    "compute": ({"percent_of_peak": {"SM": 90.0, "L1": 30.0, "L2": 50.0, "DRAM": 40.0}}, "the SM is at 90 %"),
    "memory": ({}, "DRAM is at 80 %"),
    "occupancy": (QUIET | {"theoretical_occupancy_percent": 25}, "no unit is busy, and few warps have room: 25 %, "
                                                                    "below 50 %"),
    "latency": (QUIET, "no unit is busy, with room for all warps: the theoretical occupancy is 100 %, whatever the "
                       "achieved"),
}


def judged(report, wanted, why):
    said = answer(lesson.diagnose, report)
    assert isinstance(said, tuple) and len(said) == 2, "diagnose returns a name and a stall"
    if said[0] != wanted:
        raise AssertionError(
            f"You say {said[0]}. It is {wanted}: {why}.\n"
            "Which rule asks otherwise than the lesson's, or in another place?")
    assert_stall(said, report)


def assert_stall(said, report):
    stalls = {reason: value for reason, value in report["stalls"].items() if reason != "not_selected"}
    top = max(stalls, key=stalls.get)
    why = (
        f"{said[0]} is right. The top stall is {top}, at {stalls[top]}; you say {said[1]}. What does top_stall say of "
        "this report?")
    assert said[1] == top, why


@pytest.mark.task(4)
@pytest.mark.parametrize("name", list(RULES))
def test_each_rule_fits_where_one_figure_is_bad(name):
    change, why = RULES[name]
    judged(HEALTHY | change, name, why)


EXACTLY = {  # invented: just at the limit, where the rule does not fit yet, or does
    "60_percent_of_the_places": ({"grid": [792, 1, 1], "waves": 1.2, "shared_bytes": 44000}, "memory",
                                 "792 of 1320 are not below 60 %"),
    "791_places": ({"grid": [791, 1, 1], "waves": 1.2, "shared_bytes": 44000}, "grid",
                   "791 of 1320 places are below 60 %"),
    "8_sectors": ({"load_sectors": 10000}, "memory",
                  "loads take 10000 sectors for 1000 requests, stores 2000 for 500: together 12000 for 1500, 8 each, "
                  "which is not more than 8"),
    "a_sector_more": ({"load_sectors": 10001}, "sectors", "12001 sectors of 1500 requests are more than 8 each"),
    "store_sectors": ({"store_sectors": 16000}, "sectors", "stores take 32 sectors a request, all together 13.3"),
    "2_wavefronts": ({"shared_wavefronts_load": 700, "shared_conflicts_load": 400}, "memory",
                     "loads take 700 wavefronts for 300 instructions, stores 100 for 100: together 800 for 400, 2 "
                     "each, which is not more than 2"),
    "a_wavefront_more": ({"shared_wavefronts_load": 701, "shared_conflicts_load": 401}, "conflicts",
                        "801 wavefronts are more than 2 for each of 400"),
    "store_wavefronts": ({"shared_wavefronts_store": 3200, "shared_conflicts_store": 3100}, "conflicts",
                         "a store takes 32 wavefronts"),
    "16_lanes": ({"lanes_per_instruction": 16}, "memory", "16 lanes are not less than 16"),
    "less_than_16_lanes": ({"lanes_per_instruction": 15.9}, "divergence", "15.9 lanes are less than 16"),
    "below_50_percent": (QUIET | {"theoretical_occupancy_percent": 49.9}, "occupancy", "49.9 % are below 50 %"),
    "50_percent": (QUIET | {"theoretical_occupancy_percent": 50}, "latency", "50 % are not below 50 %"),
    "busy_with_few_warps": ({"theoretical_occupancy_percent": 25}, "memory", "DRAM is busy, whatever the occupancy"),
    "below_60_percent_of_peak": ({"percent_of_peak": {"SM": 59.9, "L1": 1.0, "L2": 1.0, "DRAM": 1.0}}, "latency",
                                 "59.9 % are below 60 %"),
    "60_percent_of_peak": ({"percent_of_peak": {"SM": 60.0, "L1": 1.0, "L2": 1.0, "DRAM": 1.0}}, "compute",
                           "the SM is at 60 %, which counts"),
    "L1": ({"percent_of_peak": {"SM": 70.0, "L1": 75.0, "L2": 1.0, "DRAM": 1.0}}, "memory",
           "L1 is nearest to its peak, at 75 %; the SM is at 70 %"),
    "no_requests": ({"load_requests": 0, "load_sectors": 0, "store_requests": 0, "store_sectors": 0}, "memory",
                    "no request has too many sectors"),
    "no_shared": ({"shared_instructions_load": 0, "shared_instructions_store": 0, "shared_wavefronts_load": 0,
                   "shared_wavefronts_store": 0}, "memory", "nobody uses shared memory"),
}


@pytest.mark.task(4)
@pytest.mark.edge
@pytest.mark.parametrize("name", list(EXACTLY))
def test_limits_are_those_of_the_lesson(name):
    change, wanted, why = EXACTLY[name]
    judged(HEALTHY | change, wanted, why)


@pytest.mark.task(4)
def test_the_first_rule_that_fits_counts():
    bad = HEALTHY
    for name in ("compute", "divergence", "conflicts", "sectors", "grid"):
        bad = bad | RULES[name][0]
        judged(bad, name, RULES[name][1] + ", and of the rules that fit this is the first")


REAL = {
    "copy": "memory", "strided": "sectors", "turned": "conflicts", "roomy": "occupancy", "tail": "grid",
    "chase": "latency", "horner": "compute",
    # not in the lesson; scratch is left out: 62.5 % of its warps have room, and nothing says whether that is too few
    "serial": "divergence", "mandelbrot": "compute", "again": "compute", "column": "sectors", "field": "sectors",
    "transpose": "conflicts", "last_blocks": "grid", "long_horner": "compute", "one_block": "grid",
}


@pytest.mark.task(4)
@pytest.mark.parametrize("name", list(REAL))
def test_real_reports_are_diagnosed(name):
    """What each kernel does: week2/day1/reported_kernels.py."""
    report = KERNELS[name]
    said = answer(lesson.diagnose, report)
    why = f"{name}: you say {said[0]}, it is {REAL[name]}. Which rule does the lesson's order ask first?"
    assert said[0] == REAL[name], why
    assert_stall(said, report)


# Task 5: what ran at the same time ----------------------------------------------------------------

def spans_of(*rows):
    return [{"what": what, "stream": stream, "start_us": start, "end_us": end} for what, stream, start, end in rows]


IN_TURN = spans_of(("upload", 0, 0, 40), ("kernel", 0, 40, 70), ("download", 0, 80, 100))
TOGETHER = spans_of(("upload", 0, 0, 40), ("kernel", 0, 40, 70), ("upload", 1, 40, 80), ("download", 0, 70, 90),
                    ("kernel", 1, 80, 110), ("download", 1, 110, 130))
THREE = spans_of(("upload", 0, 0, 50), ("kernel", 1, 10, 60), ("download", 2, 20, 70), ("kernel", 2, 30, 40))
COPIES = spans_of(("upload", 0, 5, 50), ("download", 1, 20, 60), ("kernel", 0, 90, 95))
LONG = spans_of(("kernel", 0, 0, 100), ("upload", 1, 0, 30), ("download", 1, 60, 90), ("kernel", 2, 20, 80))
UNDER = spans_of(("upload", 0, 0, 100), ("kernel", 1, 10, 20), ("kernel", 1, 50, 60))
SPANS = {"in_turn": IN_TURN, "together": TOGETHER, "three": THREE, "copies": COPIES, "long": LONG, "under": UNDER,
         "none": [], "one": spans_of(("kernel", 0, 7, 9))} | TIMELINES


def ticks(spans, *kinds):
    """For each of the nanoseconds of a timeline: does anything of these kinds run?"""
    end = max((round(1000 * span["end_us"]) for span in spans), default=0)
    busy = np.zeros(end, dtype=bool)
    for span in spans:
        if span["what"] in kinds:
            busy[round(1000 * span["start_us"]):round(1000 * span["end_us"])] = True
    return busy[min((round(1000 * span["start_us"]) for span in spans), default=0):]


def drawn(spans):
    """The spans in words, those of the invented timelines all."""
    rows = [f"{span['what']} {span['start_us']:g}-{span['end_us']:g}" for span in spans[:8]]
    return ", ".join(rows) + (f", ... ({len(spans)} spans)" if len(spans) > 8 else "") or "no spans"


def parts(spans, busy):
    """From when to when the ticks are true, in words."""
    first = min((span["start_us"] for span in spans), default=0)
    edges = np.flatnonzero(np.diff(np.concatenate(([0], busy, [0])))) / 1000 + first
    pairs = [f"{start:g}-{end:g}" for start, end in edges.reshape(-1, 2)]
    return " and ".join(pairs[:4]) + (" and ..." if len(pairs) > 4 else "") or "never"


def assert_time(spans, said, what, busy):
    """A time in words, beside the true one, and the question whose answer is the difference."""
    wanted = np.sum(busy) / 1000
    if said != pytest.approx(wanted, abs=1e-6):
        is_time = isinstance(said, (int, float))
        raise AssertionError(
            f"{drawn(spans)}: you say {f'{said:g}' if is_time else said} us, {what} for {wanted:g}: "
            f"{parts(spans, busy)}.\n"
            f"{'Which of it do you leave out?' if is_time and said < wanted else 'What runs in the rest of yours?'}")


@pytest.mark.task(5)
@pytest.mark.parametrize("name", list(SPANS))
def test_overlap_is_where_a_kernel_and_a_copy_run_together(name):
    spans = SPANS[name]
    busy = ticks(spans, "kernel") & ticks(spans, "upload", "download")
    assert_time(spans, answer(lesson.overlap_us, spans), "a kernel and a copy run together", busy)


@pytest.mark.task(5)
@pytest.mark.parametrize("name", list(SPANS))
def test_idle_is_where_nothing_runs(name):
    spans = SPANS[name]
    busy = ticks(spans, "kernel", "upload", "download")
    assert_time(spans, answer(lesson.idle_us, spans), "nothing runs", ~busy)


def assert_bound(spans, wanted, why):
    said = answer(lesson.timeline_bound, spans)
    if said != wanted:
        copies, kernels = ticks(spans, "upload", "download"), ticks(spans, "kernel")
        idle, copying, computing = (np.sum(busy) / 1000 for busy in (~(copies | kernels), copies, kernels))
        raise AssertionError(
            f"{drawn(spans)}: you say {said}. It is {wanted}: {why}.\n"
            f"Of {len(copies) / 1000:g} us nothing runs for {idle:g}, copies for {copying:g}, kernels for "
            f"{computing:g}.\nWhich of these do you count otherwise, or compare with what?")


@pytest.mark.task(5)
@pytest.mark.parametrize("name, wanted, why", [
    ("in_turn", "transfers", "copies run for 60 us, kernels for 30"), ("long", "kernels", "kernels run for 100 us"),
    ("copies", "transfers", "of 90 us nothing runs in 30"), ("none", "kernels", "nothing takes any time"),
    ("three", "transfers", "copies run for 70 us, kernels for 50, however many at a time"),
    ("one_stream", "transfers", "a real one: uploads and downloads"), ("five_chunks", "transfers", "a real one"),
    ("small_launches", "idle", "a real one: kernels of 1 us, launched 11 us apart"),
    ("three_streams", "transfers", "a real one: copies in both directions at a time, and short kernels between them"),
    ("busy_kernels", "transfers", "a real one: kernels, 833 us in all, run while copies do, 1637 us")])
def test_what_takes_longest_binds(name, wanted, why):
    assert_bound(SPANS[name], wanted, why)


@pytest.mark.task(5)
@pytest.mark.edge
@pytest.mark.parametrize("begin", [0, 1000])
@pytest.mark.parametrize("gap, wanted", [(20, "kernels"), (21, "idle")])
def test_half_of_the_time_is_not_more_than_half(gap, wanted, begin):
    """A kernel of 10 us, then nothing, then a kernel until 10 us later."""
    spans = spans_of(("kernel", 0, begin, begin + 10), ("kernel", 0, begin + 10 + gap, begin + 20 + gap))
    assert_bound(spans, wanted, f"nothing runs for {gap} us of the {20 + gap} from the first start to the last end")


@pytest.mark.task(5)
@pytest.mark.edge
def test_the_time_runs_from_the_first_start_however_many_run_at_once():
    spans = spans_of(("upload", 0, 0, 10), ("download", 1, 0, 10), ("kernel", 0, 27, 32))
    assert_bound(spans, "idle", "nothing runs for 17 us of the 32 from the first start to the last end")


@pytest.mark.task(5)
@pytest.mark.edge
def test_the_time_runs_to_the_last_end_whichever_span_has_it():
    spans = spans_of(("kernel", 0, 0, 10), ("kernel", 0, 30, 60), ("upload", 1, 31, 32))
    assert_bound(spans, "kernels", "nothing runs for 20 us of the 60 from the first start to the last end")


@pytest.mark.task(5)
@pytest.mark.edge
def test_two_copies_at_a_time_count_once():
    spans = spans_of(("upload", 0, 0, 30), ("download", 1, 0, 30), ("kernel", 0, 30, 65))
    assert_bound(spans, "kernels", "copies run for 30 us, two at a time, and a kernel for 35")


@pytest.mark.task(5)
@pytest.mark.edge
def test_two_kernels_at_a_time_count_once():
    spans = spans_of(("kernel", 0, 0, 30), ("kernel", 1, 0, 30), ("upload", 0, 30, 65))
    assert_bound(spans, "transfers", "kernels run for 30 us, two at a time, and a copy for 35")


@pytest.mark.task(5)
@pytest.mark.edge
def test_a_draw_goes_to_the_kernels():
    spans = spans_of(("upload", 0, 0, 30), ("kernel", 0, 30, 60))
    assert_bound(spans, "kernels", "copies and kernels run for 30 us each")


# Task 6: a report that says "sectors" -------------------------------------------------------------

def plus(x, bias):
    return x + bias


@pytest.mark.task(6)
def test_adds_a_bias_to_each_column():
    x, bias = torch.arange(6.0, device=device).reshape(2, 3), torch.tensor([10.0, 20.0, 30.0], device=device)
    assert_matches(lesson.add_bias, x, bias, oracle=plus, exact=True)


@pytest.mark.task(6)
@pytest.mark.edge
@pytest.mark.parametrize("m, n", [(0, 5), (5, 0), (1, 1), (3, 171), (257, 3), (1, 1031), (1031, 1)])
def test_adds_to_any_shape(m, n, rng):
    assert_matches(lesson.add_bias, numbers(rng, m, n), numbers(rng, n), oracle=plus, exact=True)


@pytest.mark.task(6)
@pytest.mark.edge
@pytest.mark.parametrize("n", awkward_lengths(256))
def test_adds_around_the_size_of_a_block(n, rng):
    assert_matches(lesson.add_bias, numbers(rng, 1, n), numbers(rng, n), oracle=plus, exact=True)


@pytest.mark.task(6)
@pytest.mark.nonfinite
def test_keeps_nan_and_infinity():
    x = torch.tensor([[NAN, INF, -INF, 1.0], [0.0, 2.0, INF, NAN]], device=device)
    assert_matches(lesson.add_bias, x, torch.tensor([1.0, -INF, -1.0, INF], device=device), oracle=plus, exact=True)


@pytest.mark.task(6)
@pytest.mark.counters
def test_your_kernel_does_all_of_the_work(rng):
    counters = count(lesson.add_bias, numbers(rng, 24, 64), numbers(rng, 64))
    assert counters.library_operations == []


def sectors_of(counters, kind):
    """Sectors a request, on average over the lines that load, or store."""
    lines = [line.counts for launch in counters.launches for line in launch.lines if line.kind == kind]
    return sum(line.sectors for line in lines) / sum(line.requests for line in lines)


@pytest.mark.task(6)
@pytest.mark.counters
def test_neighbours_of_a_warp_are_neighbours_in_memory(rng):
    counters = count(lesson.add_bias, numbers(rng, 24, 64), numbers(rng, 64))
    why = (
        f"A store to out takes {sectors_of(counters, 'store'):.3g} sectors, a load {sectors_of(counters, 'load'):.3g}, "
        "the mean of those of x and of bias; 32 neighbouring floats lie in 4")
    assert counters.sectors_per_request <= 4, why


def assert_launch(grid, block, elements):
    blocks, threads = math.prod(grid), math.prod(block)
    if not 0 <= blocks * threads - elements < threads:
        raise AssertionError(
            f"Grid {grid}, block {block}: {blocks} times {threads} threads, {blocks * threads} in all, for {elements} "
            "elements.\nHow many elements does a block have, and how many blocks does that take?")
    if threads <= 32:
        raise AssertionError(
            f"Grid {grid}, block {block}: a block is one warp. An SM has room for 64 warps, but for 32 blocks only.\n"
            "How many warps does a block need to fill it?")


@pytest.mark.task(6)
@pytest.mark.counters
def test_one_launch_has_a_thread_for_each_element_in_blocks_that_can_fill_an_SM(rng):
    """Whole tiles of 256: a launch in two dimensions does as well."""
    m, n = 32, 64
    launches = count(lesson.add_bias, numbers(rng, m, n), numbers(rng, n)).launches
    times = len(launches)
    assert times == 1, f"{times} launches, where one has threads for all rows. How often does that line run?"
    assert_launch(launches[0].grid, launches[0].block, m * n)


@pytest.mark.task(6)
@pytest.mark.counters
def test_each_thread_moves_three_floats(rng):
    m, n = 24, 64
    counters = count(lesson.add_bias, numbers(rng, m, n), numbers(rng, n))
    each = f"{m * n} elements load 4 bytes of x and 4 of bias each, and nothing of out"
    assert counters.bytes_loaded == 2 * 4 * m * n, each
    once = f"{m * n} elements are 4 bytes each, stored once. How many stores does a thread do?"
    assert counters.bytes_stored == 4 * m * n, once
    why = (
        f"Full warps make {m * n // 32} requests each of x, of bias and of out. How many of the 32 threads of your "
        "warps have an element at a time?")
    assert counters.requests == 3 * m * n // 32, why
    assert counters.float64 == counters.conversions == 0, "float32 from the load to the store"


@pytest.mark.task(6)
@pytest.mark.counters
def test_nothing_is_written_beside_your_kernel(rng):
    x, bias = numbers(rng, 24, 64), numbers(rng, 64)
    fills = count(lesson.add_bias, x, bias).library_fills
    why = f"{', '.join(fills)} wrote {4 * x.numel()} bytes beside your kernel, which stores each element anyway"
    assert fills == [], why


@pytest.mark.task(6)
@pytest.mark.compiled
def test_compiled_it_needs_no_shared_memory_no_spills_and_no_barriers(rng):
    kernel = compiled(lesson.add_bias, numbers(rng, 24, 64), numbers(rng, 64), chip="h100").kernels["bias_kernel"]
    why = (
        f"A block takes {kernel.shared_bytes} bytes of shared memory. Which thread needs what another one loaded or "
        "computed?")
    assert kernel.shared_bytes == 0, why
    assert kernel.spills == 0, f"{kernel.spills} registers spill. What does a thread keep beside an index and a sum?"
    assert not [name for name in kernel.instructions if name.startswith("bar")], "nobody waits for anybody here"


@pytest.mark.task(6)
@pytest.mark.gpu
def test_the_profiler_counts_four_sectors_a_request_of_your_kernel_at_most(rng):
    try:
        measured = count(lesson.add_bias, numbers(rng, 1024, 512), numbers(rng, 512), profiler=True)
    except NoProfiler as missing:
        pytest.skip(str(missing))
    assert measured.sectors_per_request <= 4
