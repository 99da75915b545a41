"""The lesson again, as checks: one program for each result, what that moves, what a profiler saw, what a load costs."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from tools.check import assert_matches, compiled, count, notes, speed_ratio
from tools.check.inputs import matrices
from tools.check.tolerances import accumulated
from tools.gpu import device
from week1.day5 import naive_matmul as lesson

INF, NAN = float("inf"), float("nan")
RECORDED = Path(__file__).with_name("report_h200.json")
SKETCH = {  # a report with numbers for mental arithmetic
    "m": 100, "n": 300, "k": 50, "seconds": 0.001, "peak_gflops": 40.0, "dram_bytes_read": 400_000,
    "load_requests": 100_000, "load_sectors": 3_000_000,
    "percent_of_peak": {"SM": 31.0, "L1": 59.9, "L2": 44.0, "DRAM": 12.5},
    "stalls": {"barrier": 1.5, "long_scoreboard": 9.0, "wait": 2.0},
}


def product(a, b, block_k):
    return torch.matmul(a, b)


def floats(rng, *shapes):
    """Two matrices of float32, where lessons run."""
    return [torch.from_numpy(values).to(device, torch.float32) for values in matrices(rng, *shapes)]


def ring(rng, length, apart=1):
    """Links that lead through all of `length` places in random order and back to 0, `apart` elements apart."""
    order = apart * np.concatenate([[0], 1 + rng.permutation(length - 1)])
    links = np.zeros(apart * length, np.int32)
    links[order] = np.roll(order, -1)
    return torch.from_numpy(links).to(device)


def follow(links, steps):
    at = 0
    for _ in range(steps):
        at = int(links[at])
    return torch.tensor([at], dtype=torch.int32, device=links.device)


def read_at_once(links, steps):
    """Loads of every link, none of which waits for another."""
    return links.sum()


def recorded():
    """The report of the H200; nothing may be missing from it."""
    report = json.loads(RECORDED.read_text(encoding="utf-8"))
    missing = [name for name, value in report.items() if value in (None, {}, "")]
    assert not missing, f"{RECORDED.name} was never recorded: week1/day5/record_report.py does that, on an H200"
    return report


# Task 1: one program for each result --------------------------------------------------------------

@pytest.mark.task(1)
def test_multiplies_the_matrices_of_the_lesson():
    a = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], device=device)
    b = torch.tensor([[7.0, 8.0], [9.0, 10.0], [11.0, 12.0]], device=device)
    assert_matches(lesson.matmul, a, b, block_k=4, oracle=product, exact=True)


@pytest.mark.task(1)
def test_adds_up_block_after_block_of_k():
    """The first block of four adds up to 4, the second to 40, the third to 400."""
    a = torch.ones(2, 12, device=device) * torch.tensor([[1.0], [2.0]], device=device)
    b = torch.tensor([1.0, 10.0, 100.0], device=device).repeat_interleave(4).reshape(12, 1)
    assert_matches(lesson.matmul, a, b, block_k=4, oracle=product, exact=True)


@pytest.mark.task(1)
@pytest.mark.edge
@pytest.mark.parametrize("m, n, k", [(1, 1, 1), (1, 5, 7), (5, 1, 8), (4, 3, 9), (3, 2, 0), (0, 3, 2), (3, 0, 2)])
def test_takes_any_shape_stored_in_any_way(m, n, k, rng):
    a, b = floats(rng, (m, k), (k, n))
    assert_matches(lesson.matmul, a, b, block_k=8, oracle=product, tolerance=accumulated(np.float32, k), layouts="any")


@pytest.mark.task(1)
@pytest.mark.edge
def test_fills_an_out_that_is_stored_column_by_column(rng):
    def matmul_by_column(a, b):
        out = torch.full((b.shape[1], a.shape[0]), NAN, device=device).T
        return lesson.matmul(a, b, block_k=4, out=out)

    a, b = floats(rng, (2, 5), (5, 3))
    assert_matches(matmul_by_column, a, b, oracle=torch.matmul, tolerance=accumulated(np.float32, 5))


@pytest.mark.task(1)
@pytest.mark.nonfinite
def test_lets_nan_and_infinity_spread_along_their_row_and_column():
    a = torch.tensor([[1.0, NAN], [2.0, 3.0], [INF, 1.0]], device=device)
    b = torch.tensor([[1.0, 0.0], [-INF, 2.0]], device=device)
    assert_matches(lesson.matmul, a, b, block_k=4, oracle=product, exact=True)


@pytest.mark.task(1)
@pytest.mark.tolerance
def test_keeps_the_precision_of_float32(rng):
    a, b = floats(rng, (8, 300), (300, 9))
    assert_matches(lesson.matmul, a, b, oracle=torch.matmul, tolerance=accumulated(np.float32, 300))


@pytest.mark.task(1)
@pytest.mark.counters
def test_your_kernel_does_the_multiplying_one_program_for_each_result(rng):
    a, b = floats(rng, (40, 9), (40, 7))
    counters = count(lesson.matmul, a.T, b)
    assert counters.library_operations == []
    assert counters.programs == 9 * 7


@pytest.mark.task(1)
@pytest.mark.counters
def test_multiplies_and_adds_in_float32_alone(rng):
    """A graphics card does 2 operations in float64 while it does 128 in float32."""
    counters = count(lesson.matmul, *floats(rng, (2, 5), (5, 3)), block_k=4)
    assert counters.float64 == 0


@pytest.mark.task(1)
@pytest.mark.counters
def test_a_row_travels_in_whole_sectors_and_a_column_does_not(rng):
    """256 elements of a row lie in 32 sectors of 32 bytes; those of a column in 256, and 28 bytes of each are lost."""
    counters = count(lesson.matmul, *floats(rng, (2, 256), (256, 8)))
    assert counters.sectors == 2 * 8 * (32 + 256 + 1)


@pytest.mark.task(1)
@pytest.mark.counters
def test_blocks_of_four_ask_for_each_sector_of_a_row_twice(rng):
    """16 elements lie in two sectors. In blocks of four they are asked for in four loads, half a sector each."""
    counters = count(lesson.matmul, *floats(rng, (2, 16), (16, 8)), block_k=4)
    assert counters.sectors == 2 * 8 * (4 + 16 + 1)


@pytest.mark.task(1)
@pytest.mark.compiled
def test_a_warp_asks_for_four_sectors_of_a_row_and_thirty_two_of_a_column(rng):
    """The same from the compiler's side: 32 threads, 4 bytes each. A profiler counts these sectors too."""
    kernel = compiled(lesson.matmul, *floats(rng, (128, 128), (128, 128)), chip="h100").kernels["matmul_kernel"]
    assert [load.sectors_per_request for load in kernel.loads] == [4, 32]
    assert kernel.spills == 0


@pytest.mark.task(1)
@pytest.mark.gpu
@pytest.mark.speed
def test_the_library_is_many_times_as_fast(rng):
    """Not a goal to reach: how far it is to day 7. What does the library not do again and again?"""
    a, b = floats(rng, (1024, 1024), (1024, 1024))
    assert speed_ratio(torch.matmul, lesson.matmul, a, b) >= 2


# Task 2: predict, then measure --------------------------------------------------------------------

@pytest.mark.task(1, 2)
@pytest.mark.counters
@pytest.mark.parametrize("m, n, k", [(5, 7, 11), (2, 2, 3), (1, 9, 130), (3, 1, 256)])
def test_predicts_the_bytes_that_are_counted(m, n, k, rng):
    predicted = lesson.predict_traffic(m, n, k)
    counters = count(lesson.matmul, *floats(rng, (m, k), (k, n)))
    assert predicted == counters.bytes


@pytest.mark.task(2)
def test_intensity_stays_at_a_quarter_of_a_flop_for_each_byte():
    def intensity(m, n, k):
        return (2 * k) / (4 * k + 4 * k + 4)  # of one program: all are alike

    for m, n, k in [(2, 2, 3), (64, 64, 64), (1024, 2048, 4096)]:
        assert_matches(lesson.arithmetic_intensity, m, n, k, oracle=intensity)


@pytest.mark.task(2)
def test_asks_for_a_thousand_times_the_least_when_matrices_are_large():
    def times(m, n, k):
        touched = sum(np.empty(shape, np.float32).nbytes for shape in [(m, k), (k, n), (m, n)])
        return m * n * (2 * k + 1) * 4 / touched

    for m, n, k in [(2, 2, 3), (100, 1, 10), (1500, 1500, 1500)]:
        assert_matches(lesson.times_the_least, m, n, k, oracle=times)


# Task 3: a profiler's report ----------------------------------------------------------------------

@pytest.mark.task(3)
def test_share_of_peak_is_work_over_time_over_peak():
    """3 million flops in a millisecond are 3 GFLOPS, of 40."""
    assert_matches(lesson.share_of_peak, SKETCH, oracle=lambda report: 3 / 40)


@pytest.mark.task(3)
def test_useful_share_compares_what_was_asked_for_with_what_came():
    """For 1.5 million products programs asked for 12 million bytes; 3 million sectors are 96 million."""
    assert_matches(lesson.useful_share, SKETCH, oracle=lambda report: 12 / 96)


@pytest.mark.task(3)
def test_times_read_is_about_the_inputs_and_device_memory():
    """a has 5000 elements and b has 15,000: 80,000 bytes. Device memory sent 400,000."""
    assert_matches(lesson.times_read, SKETCH, oracle=lambda report: 400 / 80)


@pytest.mark.task(3)
def test_diagnoses_the_busiest_unit():
    busy = SKETCH | {"percent_of_peak": {"SM": 61.0, "L1": 88.2, "L2": 64.0, "DRAM": 12.5}}
    assert_matches(lesson.diagnose, busy, oracle=lambda report: "L1")


@pytest.mark.task(3)
def test_a_unit_that_just_reaches_busy_is_busy():
    just = SKETCH | {"percent_of_peak": {"SM": 31.0, "L1": 44.0, "L2": 60.0, "DRAM": 12.5}}
    assert_matches(lesson.diagnose, just, oracle=lambda report: "L2")


@pytest.mark.task(3)
def test_diagnoses_what_warps_wait_for_where_no_unit_is_busy():
    assert_matches(lesson.diagnose, SKETCH, oracle=lambda report: "long_scoreboard")


@pytest.mark.task(3)
def test_reads_the_report_of_an_h200():
    report = recorded()
    m, n, k = report["m"], report["n"], report["k"]
    assert_matches(lesson.share_of_peak, report,
                   oracle=lambda report: m * n * k / 5e8 / report["seconds"] / report["peak_gflops"])
    assert_matches(lesson.useful_share, report, oracle=lambda report: m * n * k / 4 / report["load_sectors"])
    assert_matches(lesson.times_read, report, oracle=lambda report: report["dram_bytes_read"] / (m * k + k * n) / 4)
    assert_matches(lesson.diagnose, report, oracle=found)


def found(report):
    busiest, waits = (max((value, name) for name, value in report[key].items())
                      for key in ("percent_of_peak", "stalls"))
    return busiest[1] if busiest[0] >= 60 else waits[1]


# Task 4: loads that wait for each other -----------------------------------------------------------

@pytest.mark.task(4)
def test_follows_the_links_from_element_0():
    links = torch.tensor([2, 0, 3, 1], dtype=torch.int32, device=device)  # 0 -> 2 -> 3 -> 1 -> 0
    for steps in (3, 1, 2, 4):
        assert_matches(lesson.chase, links, steps, oracle=follow, exact=True)


@pytest.mark.task(4)
@pytest.mark.edge
@pytest.mark.parametrize("length, steps", [(1, 1), (1, 3), (5, 0), (97, 96), (97, 98)])
def test_follows_rings_of_any_length_any_number_of_steps(length, steps, rng):
    assert_matches(lesson.chase, ring(rng, length), steps, oracle=follow, exact=True)


@pytest.mark.task(4)
@pytest.mark.counters
def test_a_chase_is_one_program_and_one_load_for_each_step(rng):
    """Four bytes a step, each in a sector of its own: 28 of 32 bytes come for nothing."""
    counters = count(lesson.chase, ring(rng, 64), 50)
    assert counters.library_operations == []
    assert counters.programs == 1
    assert (counters.bytes_loaded, counters.bytes_stored) == (4 * 50, 4)
    assert counters.sectors == 50 + 1


@pytest.mark.task(4)
def test_latency_leaves_out_what_every_launch_costs():
    """10 microseconds for the launch, and 600 nanoseconds a step."""
    def step(few, few_seconds, many, many_seconds):
        return 600.0

    assert_matches(lesson.latency_ns, 100, 70e-6, 1100, 670e-6, oracle=step)


@pytest.mark.task(4)
@pytest.mark.gpu
@pytest.mark.speed
def test_a_load_from_memory_takes_longer_than_one_from_a_cache(rng):
    """Latency, shown: of 1 KiB read again and again, and of 128 MiB, which no L2 cache holds. Loads of all links at
    once stand beside each chase: the same memory, and nothing to wait for."""
    near, far = latency(ring(rng, 256)), latency(ring(rng, 2**20, apart=32))
    notes.taken.append(f"a load takes {near:.0f} ns from a cache, {far:.0f} ns from memory")
    assert far > 2 * near


def latency(links):
    few, many = 1000, 2**20
    times = [speed_ratio(read_at_once, lesson.chase, links, steps).baseline_seconds for steps in (few, many)]
    return lesson.latency_ns(few, times[0], many, times[1])
