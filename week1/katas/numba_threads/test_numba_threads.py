"""The lesson again, as checks: a plan on paper, compiled loops with private tables, the same in C."""

import math

import numpy as np
import pytest

from tools.check import assert_matches, speed_ratio, terms
from week1.katas.numba_threads import numba_threads as lesson

PIXELS = np.array([3, 3, 7, 3, 7, 7, 3, 0, 3, 7, 3, 3], np.uint8)  # of the lesson


def bincount(pixels, *parts, **threads):
    return np.bincount(pixels, minlength=256)


def photograph(rng, height=48, width=64):
    """Grey levels of a picture with a bright half, dark waves and noise, row after row."""
    row, col = np.mgrid[:height, :width]
    image = 90 + 80 * (col > width // 2) + 50 * np.sin(row / 4) + rng.normal(0, 10, (height, width))
    return image.clip(0, 255).astype(np.uint8).ravel()


# Task 1: the plan ---------------------------------------------------------------------------------

@pytest.mark.task(1)
def test_three_equal_parts_of_twelve_pixels():
    assert_matches(lesson.chunk_bounds, 12, 3, oracle=lambda n, parts: (0, 4, 8, 12))


@pytest.mark.task(1)
@pytest.mark.edge
@pytest.mark.parametrize("n, parts", [(10, 4), (11, 4), (3, 5), (0, 2), (7, 1), (1000, 7), (6, 4)])
def test_parts_cover_everything_once_and_are_equally_long_but_for_one(n, parts):
    bounds = lesson.chunk_bounds(n, parts)
    lengths = [stop - start for start, stop in zip(bounds, bounds[1:])]
    first, last, number_of_parts = bounds[0], bounds[-1], len(lengths)
    assert first == 0
    assert last == n
    assert number_of_parts == parts
    shortest_part, longest_part = min(lengths), max(lengths)
    assert shortest_part == n // parts
    assert longest_part == -(-n // parts)


def speedup(serial, workers):
    time = serial + (1 - serial) / workers
    return 1 / time


@pytest.mark.task(1)
def test_four_workers_are_four_times_as_fast_where_nothing_is_serial():
    assert_matches(lesson.amdahl, 0.0, 4, oracle=speedup)


@pytest.mark.task(1)
def test_four_workers_are_no_faster_where_all_is_serial():
    assert_matches(lesson.amdahl, 1.0, 4, oracle=speedup)


@pytest.mark.task(1)
@pytest.mark.parametrize("workers, times", [(4, 1 / 0.325), (10**9, 10 / (1 + 9e-9))])
def test_a_serial_tenth_leaves_four_workers_three_times_as_fast_and_any_number_ten_times(workers, times):
    assert speedup(0.1, workers) == pytest.approx(times, rel=1e-12)
    assert_matches(lesson.amdahl, 0.1, workers, oracle=speedup)


def steps(n, parts):
    return terms(longest_part=math.ceil(n / parts), first_table=256, further_tables=256 * (parts - 1))


@pytest.mark.task(1)
@pytest.mark.parametrize("n, parts", [(12, 3), (13, 3), (1_000_000, 1), (1_000_000, 4)])
def test_steps_are_the_longest_part_and_all_tables(n, parts):
    assert_matches(lesson.predict_steps, n, parts, oracle=steps)


def fewest_steps(n, workers):
    return min((steps(n, parts).total, parts) for parts in range(1, workers + 1))[1]


@pytest.mark.task(1)
@pytest.mark.parametrize("n, workers, parts", [(5000, 4, 4), (100_000, 8, 8)])
def test_all_workers_work_where_there_is_enough_to_do(n, workers, parts):
    assert fewest_steps(n, workers) == parts
    assert_matches(lesson.best_parts, n, workers, oracle=fewest_steps)


@pytest.mark.task(1)
@pytest.mark.parametrize("n, workers, parts", [(12, 4, 1), (512, 4, 1)])
def test_one_works_where_a_table_costs_more_than_a_worker_saves(n, workers, parts):
    """Of 512 pixels a second part would save 256 steps, and cost as many."""
    assert fewest_steps(n, workers) == parts
    assert_matches(lesson.best_parts, n, workers, oracle=fewest_steps)


@pytest.mark.task(1)
@pytest.mark.parametrize("n, workers, parts", [(514, 4, 2), (10_000, 64, 6)])
def test_in_between_some_of_the_workers_work(n, workers, parts):
    assert fewest_steps(n, workers) == parts
    assert_matches(lesson.best_parts, n, workers, oracle=fewest_steps)


# Task 2: compiled, private, added up --------------------------------------------------------------

@pytest.mark.task(2)
def test_the_first_kernel_counts_into_the_table_that_it_is_given():
    def after_count_kernel(pixels, counts):
        counts = counts.copy()
        lesson.count_kernel(pixels, counts)
        return counts

    counts = np.zeros(256, np.int64)
    counts[7] = 100
    assert_matches(after_count_kernel, PIXELS, counts, oracle=lambda pixels, counts: counts + bincount(pixels))


@pytest.mark.task(2)
def test_the_second_kernel_counts_the_parts_that_it_is_given_and_no_further():
    """Two parts of three, and the table behind theirs stays as it was."""
    bounds, tables = np.array([0, 4, 8, 12]), np.zeros((3, 256), np.int64)
    lesson.parts_kernel(PIXELS, bounds[:3], tables[:2])
    pixels_in_each_table = tables.sum(axis=1).tolist()
    assert pixels_in_each_table == [4, 4, 0]


@pytest.mark.task(1, 2)
def test_each_part_has_a_table_of_its_own():
    """The columns of brightness 0, 3 and 7: a row for each part, as in the lesson."""
    def levels_0_3_and_7(pixels, parts):
        return lesson.private_histograms(pixels, parts)[:, [0, 3, 7]]

    wanted = np.array([[0, 3, 1], [1, 1, 2], [0, 3, 1]])
    assert_matches(levels_0_3_and_7, PIXELS, 3, oracle=lambda pixels, parts: wanted)


@pytest.mark.task(2)
def test_the_histogram_is_the_sum_of_the_tables():
    assert_matches(lesson.histogram, PIXELS, 3, oracle=bincount)


@pytest.mark.task(2)
@pytest.mark.edge
@pytest.mark.parametrize("parts", [1, 2, 5, 7])
def test_an_image_gives_one_histogram_however_many_parts_count_it(parts, rng):
    assert_matches(lesson.histogram, photograph(rng), parts, oracle=bincount)
    assert_matches(lesson.histogram, np.full(1000, 255, np.uint8), parts, oracle=bincount)
    assert_matches(lesson.histogram, np.zeros(0, np.uint8), parts, oracle=bincount)


@pytest.mark.task(1, 2)
@pytest.mark.counters
@pytest.mark.parametrize("n, parts", [(12, 3), (3000, 4), (3001, 4), (3, 5)])
def test_counts_as_many_steps_as_were_predicted(n, parts, rng):
    """What the longest part counted, and every number of every table."""
    tables = lesson.private_histograms(photograph(rng)[:n], parts)
    predicted, counted = lesson.predict_steps(n, parts), int(tables.sum(axis=1).max()) + tables.size
    assert predicted == counted


@pytest.mark.task(2)
@pytest.mark.compiled
@pytest.mark.numba
def test_numba_deals_the_parts_out_to_threads():
    lesson.histogram(PIXELS, 3)
    loops_dealt_out = lesson.parallel_loops()
    assert loops_dealt_out >= 1


@pytest.mark.task(2)
@pytest.mark.speed
@pytest.mark.numba
def test_compiled_the_loop_is_at_least_ten_times_as_fast(rng):
    """500 times is usual. np.bincount takes five times as long as yours: it first widens each pixel."""
    def in_python(pixels, counts):
        for pixel in pixels:
            counts[pixel] += 1

    assert speed_ratio(lesson.count_kernel, in_python, photograph(rng), np.zeros(256, np.int64)) >= 10


# Task 3: the same in C ----------------------------------------------------------------------------

@pytest.mark.task(3)
@pytest.mark.openmp
def test_no_update_is_lost_where_threads_come_in_between():
    """Each thread rests for 20 ms between reading a number and writing it back: a race cannot hide."""
    bright = np.full(8, 255, np.uint8)
    assert_matches(lesson.histogram_openmp, bright, threads=4, pause=20_000,
                   oracle=lambda pixels, threads, pause: (bincount(pixels), threads))


@pytest.mark.task(3)
@pytest.mark.openmp
@pytest.mark.edge
@pytest.mark.parametrize("n, threads", [(3072, 2), (3071, 3), (1, 2), (3072, 1)])
def test_threads_count_an_image_of_any_length(n, threads, rng):
    assert_matches(lesson.histogram_openmp, photograph(rng)[:n], threads=threads,
                   oracle=lambda pixels, threads: (bincount(pixels), threads))
