"""The lesson again, as checks: what crosses, what stays, one launch for six, the same lines twice, when it pays."""

import functools
import time

import numpy as np
import pytest

from tools.check import assert_matches, count, given, notes, speed_ratio, terms
from tools.check.inputs import awkward_lengths, matrices
from tools.check.tolerances import accumulated
from tools.gpu import cupy
from week1.day2 import cupy_intro as lesson

INF, NAN = float("inf"), float("nan")
SINGLE = np.float32


def on_gpu(*arrays):
    return [cupy.asarray(array) for array in arrays]


def chained(matrices):
    return functools.reduce(np.matmul, matrices)


# Task 1: there, and back ------------------------------------------------------------------------------------

def lesson_matrices():
    return np.array([[1, 2, 3], [4, 5, 6]], SINGLE), np.array([[7, 8], [9, 10], [11, 12]], SINGLE)


@pytest.mark.task(1)
def test_multiplies_the_matrices_of_the_lesson():
    assert_matches(lesson.matmul_on_gpu, *lesson_matrices(), oracle=np.matmul, exact=True)


@pytest.mark.task(1)
@pytest.mark.edge
@pytest.mark.parametrize("m, n, k", [(1, 1, 1), (1, 5, 3), (5, 1, 3), (2, 3, 0), (0, 3, 2), (31, 17, 67)])
def test_multiplies_any_shape_in_any_layout(m, n, k, rng):
    a, b = matrices(rng, (m, k), (k, n), dtype=SINGLE)
    assert_matches(lesson.matmul_on_gpu, a, b, oracle=np.matmul, tolerance=accumulated(SINGLE, k), layouts="any")


@pytest.mark.task(1)
@pytest.mark.tolerance
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_keeps_the_precision_of_its_inputs(dtype, rng):
    a, b = matrices(rng, (20, 100), (100, 30), dtype=dtype)
    assert_matches(lesson.matmul_on_gpu, a, b, oracle=np.matmul, tolerance=accumulated(dtype, 100))


@pytest.mark.task(1)
@pytest.mark.counters
def test_the_gpu_multiplies_and_nothing_crosses_twice():
    counters = count(lesson.matmul_on_gpu, *lesson_matrices())
    assert (counters.transfers.uploads, counters.transfers.bytes_uploaded) == (2, 24 + 24)
    assert (counters.transfers.downloads, counters.transfers.bytes_downloaded) == (1, 16)
    assert counters.library_operations == ["cupy.matmul"]


# Task 2: what is between stays there ------------------------------------------------------------------------

@pytest.mark.task(2)
def test_a_chain_of_single_numbers_is_their_product():
    assert_matches(lesson.chain_on_gpu, [np.array([[number]], SINGLE) for number in (2, 3, 5)], oracle=chained,
                   exact=True)


@pytest.mark.task(2)
def test_square_matrices_are_multiplied_from_left_to_right():
    """Shears along x, along y, and along x again: each order gives another matrix."""
    shears = [np.array(rows, SINGLE) for rows in ([[1, 2], [0, 1]], [[1, 0], [3, 1]], [[1, 5], [0, 1]])]
    assert_matches(lesson.chain_on_gpu, shears, oracle=chained, exact=True)


@pytest.mark.task(2)
def test_multiplies_a_chain_of_three(rng):
    chain = matrices(rng, (3, 5), (5, 2), (2, 4), dtype=SINGLE)
    assert_matches(lesson.chain_on_gpu, chain, oracle=chained, tolerance=accumulated(SINGLE, 10))


@pytest.mark.task(2)
@pytest.mark.edge
@pytest.mark.parametrize("sizes", [(4, 3), (1, 7, 1), (6, 5, 4, 3, 2, 1)])
def test_multiplies_chains_of_any_length(sizes, rng):
    chain = matrices(rng, *zip(sizes, sizes[1:]), dtype=SINGLE)
    assert_matches(lesson.chain_on_gpu, chain, oracle=chained, tolerance=accumulated(SINGLE, 60))


@pytest.mark.task(2)
@pytest.mark.counters
def test_intermediate_products_never_leave_the_gpu(rng):
    counters = count(lesson.chain_on_gpu, matrices(rng, (8, 16), (16, 32), (32, 4), (4, 2), dtype=SINGLE))
    assert (counters.transfers.uploads, counters.transfers.bytes_uploaded) == (4, 4 * (128 + 512 + 128 + 8))
    assert (counters.transfers.downloads, counters.transfers.bytes_downloaded) == (1, 4 * 16)
    assert counters.transfers.synchronizations == 1
    assert counters.library_operations == ["cupy.matmul"] * 3


@pytest.mark.task(2)
@pytest.mark.edge
def test_a_chain_is_left_as_it_was(rng):
    chain = matrices(rng, (3, 5), (5, 2), (2, 4), dtype=SINGLE)
    before = list(chain)
    result = lesson.chain_on_gpu(chain)
    assert [now is then for now, then in zip(chain, before)] == [True, True, True]
    assert np.allclose(result, chained(before), rtol=1e-3)


# Task 3: a loop that stays there ----------------------------------------------------------------------------

def iterated(a, x, steps):
    for _ in range(steps):
        x = a @ x
        x = x / np.abs(x).max()
    return x


def matrix_and_column(rng, n):
    """A symmetric matrix that stretches one direction by 3, one by -1, and the others less."""
    directions, _ = np.linalg.qr(rng.normal(size=(n, n)))
    stretches = np.array([3, -1, *rng.uniform(-0.5, 0.5, n)])[:n]
    a = directions * stretches @ directions.T
    return a.astype(SINGLE), (directions @ np.linspace(1, 2, n)[:, None]).astype(SINGLE)


@pytest.mark.task(1, 3)
def test_one_step_multiplies_and_then_divides():
    """(1, 1, 1, 1, 1) becomes (5, 4, 3, 2, 1), then (1, 0.8, 0.6, 0.4, 0.2)."""
    a, x = np.triu(np.ones((5, 5), SINGLE)), np.ones((5, 1), SINGLE)
    assert_matches(lesson.power_iteration, a, x, 1, oracle=iterated)


@pytest.mark.task(1, 3)
def test_two_steps_of_the_power_iteration():
    """(1, 1) becomes (3, 1), then (1, 1/3); and after that (7/3, 1/3), then (1, 1/7)."""
    a, x = np.array([[2, 1], [0, 1]], SINGLE), np.array([[1], [1]], SINGLE)
    assert_matches(lesson.power_iteration, a, x, 2, oracle=lambda a, x, steps: np.array([[1], [1 / 7]]))


@pytest.mark.task(1, 3)
def test_the_largest_magnitude_may_be_that_of_a_negative_number():
    """(-1, -1) becomes (-3, -1), then (-1, -1/3)."""
    a, x = np.array([[2, 1], [0, 1]], SINGLE), np.array([[-1], [-1]], SINGLE)
    assert_matches(lesson.power_iteration, a, x, 1, oracle=lambda a, x, steps: np.array([[-1], [-1 / 3]]))


@pytest.mark.task(1, 3)
@pytest.mark.edge
@pytest.mark.parametrize("n, steps", [(1, 1), (2, 1), (33, 3), (64, 10)])
def test_any_number_of_steps_gives_what_it_gave(n, steps, rng):
    assert_matches(lesson.power_iteration, *matrix_and_column(rng, n), steps, oracle=iterated,
                   tolerance=accumulated(SINGLE, 16 * n))


@pytest.mark.task(1, 3)
@pytest.mark.nonfinite
def test_a_hundred_steps_that_triple_overflow_nothing(rng):
    """3**100 is beyond float32: each step must divide."""
    assert_matches(lesson.power_iteration, *matrix_and_column(rng, 8), 100, oracle=iterated,
                   tolerance=accumulated(SINGLE, 100))


@pytest.mark.task(1, 3)
@pytest.mark.counters
def test_a_loop_uploads_before_it_begins_and_downloads_when_it_is_over(rng):
    counters = count(lesson.power_iteration, *matrix_and_column(rng, 32), 10)
    assert (counters.transfers.uploads, counters.transfers.bytes_uploaded) == (2, 4 * (32 * 32 + 32))
    assert (counters.transfers.downloads, counters.transfers.bytes_downloaded) == (1, 4 * 32)
    assert counters.library_operations == ["cupy.matmul"] * 10


@pytest.mark.task(1, 3)
@pytest.mark.counters
@pytest.mark.parametrize("steps", [1, 10])
def test_the_host_waits_once_however_many_steps_there_are(steps, rng):
    counters = count(lesson.power_iteration, *matrix_and_column(rng, 32), steps)
    assert counters.transfers.synchronizations == 1


# Task 4: one launch -----------------------------------------------------------------------------------------

def likeness(x, y, width):
    return cupy.exp(-0.5 * ((x - y) * (x - y)) / width**2)


def launches(counters):
    return [launch.kernel for launch in counters.launches]


def two_vectors(rng, n):
    """x and y on the GPU, a few tenths apart."""
    x = rng.uniform(-1, 1, n)
    return on_gpu(x.astype(SINGLE), (x + rng.uniform(-1, 1, n)).astype(SINGLE))


@pytest.mark.task(4)
def test_likeness_of_four_pairs():
    """Apart by 0, 1, 2 and -2 widths."""
    x, y = on_gpu(np.array([1, 2, 5, 0], SINGLE), np.array([1, 1.5, 4, 1], SINGLE))
    assert_matches(lesson.similarity, x, y, 0.5, oracle=likeness)


@pytest.mark.task(4)
@pytest.mark.edge
@pytest.mark.parametrize("n", awkward_lengths(block=128))  # 0, 1, 127, 128, 129, 257
def test_likeness_of_any_length(n, rng):
    assert_matches(lesson.similarity, *two_vectors(rng, n), 0.7, oracle=likeness)


@pytest.mark.task(4)
@pytest.mark.nonfinite
def test_infinitely_far_apart_is_zero_and_nan_stays_nan():
    x, y = on_gpu(np.array([INF, INF, NAN, 0], SINGLE), np.array([0, INF, 1, -INF], SINGLE))
    assert_matches(lesson.similarity, x, y, 2.0, oracle=likeness)


@pytest.mark.task(4)
@pytest.mark.counters
def test_one_launch_moves_every_byte_once(rng):
    """The given version needs six launches, and moves 13 arrays instead of three."""
    x, y = two_vectors(rng, 4096)
    unfused, fused = count(lesson.similarity_unfused, x, y, 0.5), count(lesson.similarity, x, y, 0.5)
    assert (len(launches(unfused)), unfused.bytes) == (6, 13 * 4 * 4096)
    assert fused.library_operations == []
    assert len(launches(fused)) == 1
    assert (fused.bytes_loaded, fused.bytes_stored) == (2 * 4 * 4096, 4 * 4096)
    assert fused.transfers.bytes_copied == 0


@pytest.mark.task(4)
@pytest.mark.counters
def test_no_operation_of_the_kernel_is_in_float64(rng):
    """Nor is a number made a double on the way: each such step is a conversion."""
    fused = count(lesson.similarity, *two_vectors(rng, 1000), 0.5)
    assert fused.float64 == 0


@pytest.mark.task(4)
@pytest.mark.gpu
@pytest.mark.speed
def test_one_launch_is_at_least_three_times_as_fast_as_six(rng):
    """13 arrays against three: 4.3 times the bytes."""
    def apart(x, y, width):
        return cupy.exp(-((x - y) / width) ** 2 / 2)

    x, y = (cupy.tile(vector, 64) for vector in two_vectors(rng, 2**20))
    assert speed_ratio(lesson.similarity, apart, x, y, 0.5) >= 3


# Task 5: the same lines -------------------------------------------------------------------------------------

def smoothed(x, width):
    weights = np.array([[np.exp(-0.5 * ((i - j) / width) ** 2) for j in range(len(x))] for i in range(len(x))])
    return weights / weights.sum(axis=1)[:, None] @ x


def smoothed_on_gpu(x, width):
    return cupy.asarray(smoothed(cupy.asnumpy(x), width))


@pytest.mark.task(5)
def test_a_mean_of_equal_rows_is_that_row():
    assert_matches(lesson.smooth, np.ones((4, 3)), 1.0, oracle=smoothed)


@pytest.mark.task(5)
def test_a_bump_in_an_array_of_numpy_spreads_to_both_sides():
    assert_matches(lesson.smooth, np.array([[0.0], [0], [8], [0], [0]]), 1.0, oracle=smoothed)


@pytest.mark.task(5)
def test_a_bump_in_an_array_of_cupy_spreads_to_both_sides():
    assert_matches(lesson.smooth, cupy.asarray([[0.0], [0], [8], [0], [0]]), 1.0, oracle=smoothed_on_gpu)


@pytest.mark.task(5)
@pytest.mark.edge
@pytest.mark.parametrize("n, m", [(1, 1), (1, 4), (33, 1), (40, 30)])
def test_smooths_any_shape_in_the_precision_it_came_in(n, m, rng):
    x, = matrices(rng, (n, m), dtype=SINGLE)
    assert_matches(lesson.smooth, x, 2.5, oracle=smoothed, tolerance=accumulated(SINGLE, 40))
    assert_matches(lesson.smooth, *on_gpu(x), 2.5, oracle=smoothed_on_gpu, tolerance=accumulated(SINGLE, 40))


@pytest.mark.task(5)
@pytest.mark.counters
def test_an_array_is_smoothed_where_it_lies(rng):
    """Of CuPy: by the GPU, in float32 throughout. Of NumPy: without the GPU."""
    x, = matrices(rng, (64, 8), dtype=SINGLE)
    there, here = count(lesson.smooth, *on_gpu(x), 2.5), count(lesson.smooth, x, 2.5)
    assert (there.transfers.uploads, there.transfers.downloads, there.transfers.synchronizations) == (0, 0, 0)
    assert there.library_operations == ["cupy.matmul"]
    assert max(launch.counts.bytes_stored for launch in there.launches) <= 4 * 64 * 64  # a table of float32
    assert (here.library_operations, here.launches, here.transfers.uploads) == ([], (), 0)


@pytest.mark.task(5)
@pytest.mark.gpu
@pytest.mark.hopper
@pytest.mark.speed
def test_the_same_lines_run_fifty_times_as_fast_on_the_gpu(rng):
    """4096 rows and columns, which never cross: 137 billion flops, and a few passes over the weights."""
    x, = matrices(rng, (4096, 4096), dtype=SINGLE)

    def by_numpy(x_gpu, width):
        rows = np.arange(4096, dtype=SINGLE)
        weights = np.exp(-((rows[:, None] - rows) / SINGLE(width)) ** 2 / 2)
        return weights @ x / weights.sum(axis=1, keepdims=True)

    assert speed_ratio(lesson.smooth, by_numpy, *on_gpu(x), 100.0) >= 50


# Task 6: the ruler waits ------------------------------------------------------------------------------------

@pytest.mark.task(6)
def test_times_a_call_until_the_gpu_is_done():
    """A quarter of a second to ask, and four until it is done."""
    clock = given.fake_clock([0.25, 4.0])
    assert_matches(lesson.seconds_per_call, clock.work, warmup=0, repeats=1, clock=clock, wait=clock.work,
                   oracle=lambda *args, **how: 4.25)


@pytest.mark.task(6)
def test_takes_the_median_of_calls_that_follow_a_slow_first_one():
    """9 + 90 s for the first call. Then 1/4 s to ask and 4, 1 or 2 s until it is done: the median is 2.25."""
    clock = given.fake_clock([9.0, 90.0, 0.25, 4.0, 0.25, 1.0, 0.25, 2.0])
    assert_matches(lesson.seconds_per_call, clock.work, 7, warmup=1, repeats=3, clock=clock, wait=clock.work,
                   oracle=lambda *args, **how: 2.25)


@pytest.mark.task(6)
@pytest.mark.edge
@pytest.mark.parametrize("warmup, repeats", [(1, 5), (0, 1), (3, 2)])
def test_calls_and_waits_as_often_as_asked(warmup, repeats):
    times = [0.5, 1.0, 0.5, 3.0] * (repeats // 2) + [0.5, 2.0] * (repeats % 2)  # the median of two lies between them
    clock = given.fake_clock([9.0, 9.0] * warmup + times)
    assert_matches(lesson.seconds_per_call, clock.work, warmup=warmup, repeats=repeats, clock=clock,
                   wait=clock.work, oracle=lambda *args, **how: 2.5)
    assert clock.calls == 2 * (warmup + repeats)


@pytest.mark.task(6)
@pytest.mark.counters
def test_waits_for_the_gpu_unless_told_for_what():
    clock = given.fake_clock([1.0])
    counters = count(lesson.seconds_per_call, clock.work, 7, warmup=1, repeats=3, clock=clock)
    assert counters.transfers.synchronizations == 4


@pytest.mark.task(5, 6)
def test_times_work_on_both_machines(rng):
    x, = matrices(rng, (50, 20), dtype=SINGLE)
    here = lesson.seconds_per_call(lesson.smooth, x, 2.0)
    there = lesson.seconds_per_call(lesson.smooth, *on_gpu(x), 2.0)
    assert isinstance(here, float) and here > 0
    assert isinstance(there, float) and there > 0


# Task 7: predict, then measure ------------------------------------------------------------------------------

@pytest.mark.task(1, 7)
@pytest.mark.counters
@pytest.mark.parametrize("n", [1, 2, 100])
def test_predicts_the_bytes_that_cross(n, rng):
    def counted(n):
        transfers = count(lesson.matmul_on_gpu, *matrices(rng, (n, n), (n, n), dtype=SINGLE)).transfers
        return terms(uploads=transfers.bytes_uploaded, downloads=transfers.bytes_downloaded)

    assert_matches(lesson.predict_bytes, n, oracle=counted)


@pytest.mark.task(7)
def test_a_call_crosses_and_multiplies_and_costs_something_each_time():
    """12 MB at 4 GB/s: 3 ms. 2 Gflop at 500 GFLOPS: 4 ms. And 1 ms for asking."""
    def in_turn(n, gflops, gb_per_s, overhead):
        return terms(copies=12e-9 * n**2 / gb_per_s, flops=2e-9 * n**3 / gflops, overhead=overhead)

    assert in_turn(1000, 500.0, 4.0, 1e-3).total == pytest.approx(8e-3)
    assert_matches(lesson.predict_seconds, 1000, 500.0, 4.0, 1e-3, oracle=in_turn)


def first_ahead(cpu_gflops, gpu_gflops, gb_per_s, overhead, largest=65536):
    """In nanoseconds: what the faster product saves, and what the copies and the overhead cost."""
    n = np.arange(1.0, largest + 1)
    ahead = 2 * n**3 / cpu_gflops - 2 * n**3 / gpu_gflops > 12 * n**2 / gb_per_s + 1e9 * overhead
    return int(np.argmax(ahead)) + 1 if ahead.any() else None


@pytest.mark.task(7)
@pytest.mark.parametrize("cpu, gpu, link, overhead, size", [
    (1.0, 2.0, 24.0, 0.0, 1),          # 2 flops here in 2 ns; there in 1 ns, and half a one to cross
    (1.0, 2.0, 12.0, 0.0, 2),          # saved: n**3 ns, crossing: n**2 ns; at 1 they are equal
    (1.0, 2.0, 12.0, 1e-10, 2),        # the same, and a little to pay
    (100.0, 200.0, 12.0, 1e-10, 101),  # a hundred times the rates: each byte weighs a hundred times as much
    (1.0, 2.0, 12.0, 170e-9, 6),       # 6**3 - 6**2 is 180, and 5**3 - 5**2 only 100
    (50.0, 5e4, 10.0, 1e-4, 147),
])
def test_finds_the_least_size_at_which_the_gpu_is_ahead(cpu, gpu, link, overhead, size):
    assert first_ahead(cpu, gpu, link, overhead) == size
    assert_matches(lesson.break_even_size, cpu, gpu, link, overhead, oracle=first_ahead)


@pytest.mark.task(7)
@pytest.mark.edge
def test_a_gpu_that_is_never_ahead_has_no_such_size():
    assert first_ahead(500.0, 400.0, 10.0, 1e-5) is None
    assert_matches(lesson.break_even_size, 500.0, 400.0, 10.0, 1e-5, oracle=first_ahead)


@pytest.mark.task(7)
@pytest.mark.edge
@pytest.mark.parametrize("largest, size", [(1, None), (2, 2)])
def test_the_largest_size_is_tried_too(largest, size):
    assert first_ahead(1.0, 2.0, 12.0, 1e-10, largest) == size
    assert_matches(lesson.break_even_size, 1.0, 2.0, 12.0, 1e-10, largest=largest, oracle=first_ahead)


@pytest.mark.task(1, 7)
@pytest.mark.gpu
@pytest.mark.speed
def test_the_gpu_pays_at_four_times_the_foretold_size_and_not_at_a_quarter(rng):
    def seconds(work, *arrays):
        taken = []
        for _ in range(6):
            start = time.perf_counter()
            work(*arrays)
            cupy.cuda.Device().synchronize()
            taken.append(time.perf_counter() - start)
        return sorted(taken[1:])[2]

    large, tiny = (matrices(rng, (n, n), (n, n), dtype=SINGLE) for n in (2048, 8))
    gflops = [2 * 2048**3 / seconds(np.matmul, *pair) / 1e9 for pair in (large, on_gpu(*large))]
    gb_per_s = 2 * large[0].nbytes / seconds(on_gpu, *large) / 1e9
    overhead = seconds(lambda a, b: cupy.asnumpy(cupy.asarray(a) @ cupy.asarray(b)), *tiny)
    size = lesson.break_even_size(*gflops, gb_per_s, overhead)
    notes.taken.append(f"foretold: {size}")
    for n, pays in [(4 * size, True), (size // 4, False)]:
        pair = matrices(rng, (n, n), (n, n), dtype=SINGLE)
        assert (speed_ratio(lesson.matmul_on_gpu, np.matmul, *pair) >= 1) == pays
