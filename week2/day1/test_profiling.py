"""The lesson again, as checks: what was done, what could be done, what has room, what holds a kernel back."""

import ctypes
import json
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
    "seconds": 0.002, "dram_bytes_read": 3_000_000_000, "dram_bytes_written": 1_000_000_000,
    "fp32_add": 2_000_000_000, "fp32_multiply": 1_000_000_000, "fp32_multiply_add": 5_000_000_000,
    "grid": [132, 8, 10], "block": 256, "registers": 32, "shared_bytes": 0, "theoretical_occupancy_percent": 100,
    "lanes_per_instruction": 32, "load_requests": 1000, "load_sectors": 4000, "store_requests": 500,
    "store_sectors": 2000, "shared_instructions_load": 300, "shared_instructions_store": 100,
    "shared_wavefronts_load": 300, "shared_wavefronts_store": 100,
    "percent_of_peak": {"SM": 20.0, "L1": 30.0, "L2": 50.0, "DRAM": 80.0},
    "stalls": {"barrier": 0.5, "long_scoreboard": 12.0, "not_selected": 0.5, "wait": 1.5},
}
WEIGHTS = {"fp32_add": 1, "fp32_multiply": 1, "fp32_multiply_add": 2}  # flops
QUIET = HEALTHY | {"percent_of_peak": {"SM": 20.0, "L1": 30.0, "L2": 50.0, "DRAM": 40.0}}  # no unit is busy


def numbers(rng, *shape):
    return torch.from_numpy(matrices(rng, shape)[0]).to(device, torch.float32)


# Task 1: what was done ----------------------------------------------------------------------------

def pieces_of_512(shapes, itemsize):
    """Give each array one piece after the other, until its bytes have room."""
    total = 0
    for shape in shapes:
        left = int(np.prod(shape)) * itemsize
        while left > 0:
            total, left = total + 512, left - 512
    return total


@pytest.mark.task(1)
def test_arrays_of_whole_pieces_take_their_bytes():
    assert_matches(lesson.memory_footprint, [(128,)], 4, oracle=pieces_of_512)
    assert_matches(lesson.memory_footprint, [(64, 32), (32, 16), (64, 16)], 4, oracle=pieces_of_512)


@pytest.mark.task(1)
@pytest.mark.edge
@pytest.mark.parametrize("shapes", [[(3,)], [(129,)], [(127,)], [(3,), (3,)], [()], [(0, 7)], [], [(5, 7, 11)]],
                         ids=str)
@pytest.mark.parametrize("itemsize", [4, 2])
def test_each_array_begins_a_piece_of_its_own(shapes, itemsize):
    assert_matches(lesson.memory_footprint, shapes, itemsize, oracle=pieces_of_512)


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
    """3 + 1 GB in 2 ms."""
    assert_matches(lesson.achieved_bandwidth, HEALTHY, oracle=lambda report: 2000.0)


@pytest.mark.task(1)
def test_a_multiply_add_is_two_flops():
    """2e9 additions, 1e9 multiplications and 5e9 multiply-adds are 13e9 flops, in 2 ms."""
    assert_matches(lesson.achieved_tflops, HEALTHY, oracle=lambda report: 6.5)


@pytest.mark.task(1)
@pytest.mark.parametrize("name", list(KERNELS))
def test_real_reports_have_rates(name):
    report = KERNELS[name]
    gigabytes = sum(report[key] for key in report if key.startswith("dram_bytes")) / 1e9
    flops = sum(report[key] * weight for key, weight in WEIGHTS.items())
    assert_matches(lesson.achieved_bandwidth, report, oracle=lambda report: gigabytes / report["seconds"])
    assert_matches(lesson.achieved_tflops, report, oracle=lambda report: flops / 1e12 / report["seconds"])


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


@pytest.mark.task(2)
def test_below_the_ridge_memory_feeds_so_many_tflops():
    """Half a flop for each of 2000e9 bytes a second: 1 TFLOPS of 50."""
    assert_matches(lesson.roofline_bound, 0.5, 2000.0, 50.0, oracle=lambda *peaks: ("memory", 1.0))


@pytest.mark.task(2)
@pytest.mark.edge
@pytest.mark.parametrize("intensity, wanted", [
    (0.0, ("memory", 0.0)), (24.5, ("memory", 49.0)), (25.0, ("compute", 50.0)), (25.5, ("compute", 50.0)),
    (1e6, ("compute", 50.0)), (INF, ("compute", 50.0))])
def test_from_the_ridge_on_the_peak_is_the_roof(intensity, wanted):
    """2000 GB/s and 50 TFLOPS: the ridge is at 25 flops a byte."""
    assert_matches(lesson.roofline_bound, intensity, 2000.0, 50.0, oracle=lambda *peaks: wanted)


# Task 3: what has room ----------------------------------------------------------------------------

def one_block_more(threads, registers, shared):
    """Fill an SM block by block; what is in the way of the next one, the first in the lesson's order."""
    warps = len(range(0, threads, 32))
    piece, room = len(range(0, registers * 32, 256)) * 256, len(range(0, shared + 1024, 128)) * 128
    fit_in_quarter = len(range(piece, 16384 + 1, piece))
    blocks = 0
    while True:
        need = blocks + 1
        for name, fits in [("warps", need * warps <= 64), ("blocks", need <= 32),
                           ("registers", need * warps <= 4 * fit_in_quarter), ("shared memory", need * room <= 233472)]:
            if not fits:
                return blocks, name
        blocks = need


@pytest.mark.task(3)
@pytest.mark.parametrize("threads, registers, shared, wanted", [
    (256, 16, 0, (8, "warps")), (32, 16, 0, (32, "blocks")), (256, 64, 0, (4, "registers")),
    (64, 16, 44000, (5, "shared memory"))], ids=["warps", "blocks", "registers", "shared_memory"])
def test_four_things_run_out(threads, registers, shared, wanted):
    assert_matches(lesson.occupancy, threads, registers, shared, oracle=lambda *block: wanted)


@pytest.mark.task(3)
@pytest.mark.edge
@pytest.mark.parametrize("threads", [1, 31, 32, 33, 64, 65, 100, 1000, 1024])
def test_a_part_of_a_warp_takes_a_whole_one(threads):
    assert_matches(lesson.occupancy, threads, 32, 0, oracle=one_block_more)


@pytest.mark.task(3)
@pytest.mark.parametrize("registers", [1, 8, 9, 33, 40, 41, 57, 255])
def test_a_warp_takes_registers_in_pieces_of_256_from_one_quarter(registers):
    """40 registers: a warp takes 1280 of the 16384 of its quarter, so 12 have room there, and 48 in all four."""
    assert_matches(lesson.occupancy, 64, registers, 0, oracle=one_block_more)


@pytest.mark.task(3)
def test_the_system_reserves_shared_memory_for_each_block():
    """22 blocks of 9649 bytes would have room but for the 1024 bytes of each."""
    for shared in (6272, 7168, 9649, 115712, 115713, 232448):
        assert_matches(lesson.occupancy, 32, 16, shared, oracle=one_block_more)


@pytest.mark.task(3)
def test_shared_memory_comes_in_pieces_of_128_bytes():
    """7026 and 1024 bytes take 8064. Unrounded, 29 blocks would have room."""
    assert_matches(lesson.occupancy, 32, 16, 7026, oracle=one_block_more)


@pytest.mark.task(3)
def test_of_two_that_run_out_together_the_first_is_named():
    for threads, registers, shared in [(64, 16, 0), (256, 32, 0), (64, 16, 6272), (1024, 32, 100_000), (32, 64, 6272)]:
        assert_matches(lesson.occupancy, threads, registers, shared, oracle=one_block_more)


@pytest.mark.task(3)
@pytest.mark.edge
def test_a_block_that_needs_more_registers_than_an_SM_has_never_starts():
    assert_matches(lesson.occupancy, 1024, 128, 0, oracle=lambda *block: (0, "registers"))


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
    assert 100 * blocks * warps / 64 == pytest.approx(report["theoretical_occupancy_percent"], abs=0.01)


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

@pytest.mark.task(4)
@pytest.mark.parametrize("blocks, wanted", [(1056, 1.0), (1055, 1055 / 1056), (1057, 1057 / 2112), (1, 1 / 1056),
                                            (2112, 1.0)])
def test_a_started_wave_has_all_of_its_places(blocks, wanted):
    """8 blocks of 256 threads on each of 132 SMs: 1056 places."""
    report = HEALTHY | {"grid": [blocks, 1, 1]}
    assert_matches(lesson.filled_share, report, oracle=lambda report: wanted)


@pytest.mark.task(4)
def test_the_grid_has_three_axes_and_places_depend_on_the_block():
    for grid, block, shared, wanted in [([3, 100, 7], 256, 0, 2100 / 2112), ([133, 1, 1], 256, 200_000, 133 / 264)]:
        report = HEALTHY | {"grid": grid, "block": block, "shared_bytes": shared}
        assert_matches(lesson.filled_share, report, oracle=lambda report, wanted=wanted: wanted)


@pytest.mark.task(4)
@pytest.mark.parametrize("name, stall", [
    ("copy", "long_scoreboard"), ("turned", "mio_throttle"), ("horner", "math_pipe_throttle"), ("serial", "barrier"),
    ("transpose", "short_scoreboard"), ("mandelbrot", "wait")])
def test_the_top_stall_is_what_most_warps_wait_for(name, stall):
    assert KERNELS[name]["stalls"][stall] > 1
    why = (
        f"In {name} most warps wait for {stall}: {KERNELS[name]['stalls'][stall]}. A warp that was not_selected waits "
        "for nothing.")
    assert lesson.top_stall(KERNELS[name]) == stall, why


RULES = {  # invented: one figure is bad, all others are good
    "grid": ({"grid": [1057, 1, 1]}, "half of the places of two waves are empty"),
    "sectors": ({"load_sectors": 20000}, "a load takes 20 sectors"),
    "conflicts": ({"shared_wavefronts_load": 9600}, "a load from shared memory takes 32 wavefronts"),
    "divergence": ({"lanes_per_instruction": 4}, "28 of 32 lanes do nothing"),
    "compute": ({"percent_of_peak": {"SM": 90.0, "L1": 30.0, "L2": 50.0, "DRAM": 40.0}}, "the SM is at 90 %"),
    "memory": ({}, "DRAM is at 80 %"),
    "occupancy": (QUIET | {"theoretical_occupancy_percent": 25}, "no unit is busy, and few warps have room"),
    "latency": (QUIET, "no unit is busy, with room for all warps"),
}


def judged(report, wanted, why):
    said = lesson.diagnose(report)
    assert isinstance(said, tuple) and len(said) == 2, "diagnose returns a name and a stall"
    text = f"You say {said[0]}. It is {wanted}: {why}."
    assert said[0] == wanted, text
    assert said[1] == "long_scoreboard"


@pytest.mark.task(4)
@pytest.mark.parametrize("name", list(RULES))
def test_each_rule_fits_where_one_figure_is_bad(name):
    change, why = RULES[name]
    judged(HEALTHY | change, name, why)


EXACTLY = {  # invented: just at the limit, where the rule does not fit yet, or does
    "60_percent_of_the_places": ({"grid": [1056, 6, 1], "block": 256}, "memory", "all places are filled"),
    "8_sectors": ({"load_sectors": 10000}, "memory", "8 sectors a request are not more than 8"),
    "store_sectors": ({"store_sectors": 16000}, "sectors", "stores take 32 sectors a request, all together 13.3"),
    "2_wavefronts": ({"shared_wavefronts_load": 700}, "memory", "2 wavefronts each are not more than 2"),
    "store_wavefronts": ({"shared_wavefronts_store": 3200}, "conflicts", "a store takes 32 wavefronts"),
    "16_lanes": ({"lanes_per_instruction": 16}, "memory", "16 lanes are not less than 16"),
    "50_percent": (QUIET | {"theoretical_occupancy_percent": 50}, "latency", "50 % are not below 50 %"),
    "busy_with_few_warps": ({"theoretical_occupancy_percent": 25}, "memory", "DRAM is busy, whatever the occupancy"),
    "60_percent_of_peak": ({"percent_of_peak": {"SM": 60.0, "L1": 1.0, "L2": 1.0, "DRAM": 1.0}}, "compute",
                           "the SM is at 60 %, which counts"),
    "L1": ({"percent_of_peak": {"SM": 70.0, "L1": 75.0, "L2": 1.0, "DRAM": 1.0}}, "memory",
           "L1 is nearest to its peak"),
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
    # not in the lesson; scratch is left out: half of its warps have room, and nothing says whether that is too few
    "serial": "divergence", "mandelbrot": "compute", "again": "compute", "column": "sectors", "field": "sectors",
    "transpose": "conflicts", "last_blocks": "grid", "long_horner": "compute", "one_block": "grid",
}


@pytest.mark.task(4)
@pytest.mark.parametrize("name", list(REAL))
def test_real_reports_are_diagnosed(name):
    """What each kernel does: week2/day1/reported_kernels.py."""
    report = KERNELS[name]
    stalls = sorted((value, reason) for reason, value in report["stalls"].items() if reason != "not_selected")
    said = lesson.diagnose(report)
    wanted = REAL[name], stalls[-1][1]
    why = f"{name}: you say {said}, it is {wanted}. Which rule does the lesson's order ask first?"
    assert said == wanted, why


# Task 5: what ran at the same time ----------------------------------------------------------------

def spans_of(*rows):
    return [{"what": what, "stream": stream, "start_us": start, "end_us": end} for what, stream, start, end in rows]


IN_TURN = spans_of(("upload", 0, 0, 40), ("kernel", 0, 40, 70), ("download", 0, 80, 100))
TOGETHER = spans_of(("upload", 0, 0, 40), ("kernel", 0, 40, 70), ("upload", 1, 40, 80), ("download", 0, 70, 90),
                    ("kernel", 1, 80, 110), ("download", 1, 110, 130))
THREE = spans_of(("upload", 0, 0, 50), ("kernel", 1, 10, 60), ("download", 2, 20, 70), ("kernel", 2, 30, 40))
COPIES = spans_of(("upload", 0, 5, 50), ("download", 1, 20, 60), ("kernel", 0, 90, 95))
LONG = spans_of(("kernel", 0, 0, 100), ("upload", 1, 0, 30), ("download", 1, 60, 90), ("kernel", 2, 20, 80))
SPANS = {"in_turn": IN_TURN, "together": TOGETHER, "three": THREE, "copies": COPIES, "long": LONG, "none": [],
         "one": spans_of(("kernel", 0, 7, 9))} | TIMELINES


def ticks(spans, *kinds):
    """For each of the nanoseconds of a timeline: does anything of these kinds run?"""
    end = max((round(1000 * span["end_us"]) for span in spans), default=0)
    busy = np.zeros(end, dtype=bool)
    for span in spans:
        if span["what"] in kinds:
            busy[round(1000 * span["start_us"]):round(1000 * span["end_us"])] = True
    return busy[min((round(1000 * span["start_us"]) for span in spans), default=0):]


@pytest.mark.task(5)
@pytest.mark.parametrize("name", list(SPANS))
def test_overlap_is_where_a_kernel_and_a_copy_run_together(name):
    spans = SPANS[name]
    wanted = np.sum(ticks(spans, "kernel") & ticks(spans, "upload", "download")) / 1000
    said = lesson.overlap_us(spans)
    why = f"{name}: you say {said} us, a kernel and a copy run together for {wanted}"
    assert said == pytest.approx(wanted, abs=1e-6), why


@pytest.mark.task(5)
@pytest.mark.parametrize("name", list(SPANS))
def test_idle_is_where_nothing_runs(name):
    spans = SPANS[name]
    wanted = np.sum(~ticks(spans, "kernel", "upload", "download")) / 1000
    said = lesson.idle_us(spans)
    why = f"{name}: you say {said} us, nothing runs for {wanted}"
    assert said == pytest.approx(wanted, abs=1e-6), why


@pytest.mark.task(5)
@pytest.mark.parametrize("name, wanted, why", [
    ("in_turn", "transfers", "copies run for 60 us, kernels for 30"), ("long", "kernels", "kernels run for 100 us"),
    ("copies", "transfers", "of 90 us nothing runs in 30"), ("none", "kernels", "nothing takes any time"),
    ("three", "transfers", "copies run for 70 us, kernels for 50, however many at a time"),
    ("one_stream", "transfers", "a real one: uploads and downloads"), ("five_chunks", "transfers", "a real one"),
    ("small_launches", "idle", "a real one: kernels of 1 us, launched 11 us apart")])
def test_what_takes_longest_binds(name, wanted, why):
    said = lesson.timeline_bound(SPANS[name])
    text = f"{name}: you say {said}. It is {wanted}: {why}."
    assert said == wanted, text


@pytest.mark.task(5)
@pytest.mark.edge
@pytest.mark.parametrize("start, wanted", [(20, "kernels"), (21, "idle")])
def test_half_of_the_time_is_not_more_than_half(start, wanted):
    """A kernel of 10 us, then nothing, then a kernel until 10 us later."""
    spans = spans_of(("kernel", 0, 0, 10), ("kernel", 0, 10 + start, 20 + start))
    assert_matches(lesson.timeline_bound, spans, oracle=lambda spans: wanted)


@pytest.mark.task(5)
@pytest.mark.edge
def test_two_copies_at_a_time_count_once_and_a_draw_goes_to_the_kernels():
    spans = spans_of(("upload", 0, 0, 30), ("download", 1, 0, 30), ("kernel", 0, 30, 60))
    assert_matches(lesson.timeline_bound, spans, oracle=lambda spans: "kernels")
    spans = spans_of(("kernel", 0, 0, 30), ("kernel", 1, 0, 30), ("upload", 0, 30, 65))
    assert_matches(lesson.timeline_bound, spans, oracle=lambda spans: "transfers")


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
def test_it_is_your_kernel_a_thread_for_each_element(rng):
    counters = count(lesson.add_bias, numbers(rng, 24, 64), numbers(rng, 64))
    assert counters.library_operations == []
    assert counters.programs == 24 * 64 // 256


@pytest.mark.task(6)
@pytest.mark.counters
def test_neighbours_of_a_warp_are_neighbours_in_memory(rng):
    counters = count(lesson.add_bias, numbers(rng, 24, 64), numbers(rng, 64))
    why = f"{counters.sectors_per_request:.3g} sectors a request; 32 neighbouring floats lie in 4"
    assert counters.sectors_per_request == 4, why


@pytest.mark.task(6)
@pytest.mark.counters
def test_each_thread_moves_three_floats(rng):
    m, n = 24, 64
    counters = count(lesson.add_bias, numbers(rng, m, n), numbers(rng, n))
    assert counters.bytes_loaded == 2 * 4 * m * n, "x and a bias for each element"
    assert counters.bytes_stored == 4 * m * n
    assert counters.requests == 3 * m * n // 32
    assert counters.float64 == counters.conversions == 0, "float32 from the load to the store"


@pytest.mark.task(6)
@pytest.mark.compiled
def test_compiled_it_is_two_loads_an_addition_and_a_store(rng):
    kernel = compiled(lesson.add_bias, numbers(rng, 24, 64), numbers(rng, 64), chip="h100").kernels["bias_kernel"]
    assert kernel.shared_bytes == 0
    assert kernel.spills == 0
    assert not [name for name in kernel.instructions if name.startswith("bar")], "nobody waits for anybody here"


@pytest.mark.task(6)
@pytest.mark.gpu
def test_the_profiler_counts_four_sectors_a_request_of_your_kernel(rng):
    try:
        measured = count(lesson.add_bias, numbers(rng, 1024, 512), numbers(rng, 512), profiler=True)
    except NoProfiler as missing:
        pytest.skip(str(missing))
    assert measured.sectors_per_request == 4
