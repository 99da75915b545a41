"""The lesson again, as checks: the order of access, its misses, the tile that fits, three ways to all distances."""

import re
import subprocess

import numpy as np
import pytest

from tools.check import assert_matches, given, speed_ratio
from tools.check.inputs import matrices
from tools.check.tolerances import accumulated
from week1.katas.locality import locality as lesson

SMALL = {"capacity": 64, "line": 32, "ways": 2}  # the lesson's cache: two lines of four float64


def walk(shape, strides, itemsize, capacity=32768, line=64, ways=8):
    """The misses of a row-by-row walk: of each set, remember the lines in it, the one used last at the end."""
    sets, held, misses = capacity // (line * ways), {}, 0
    for row, col in np.ndindex(shape):
        number = (row * strides[0] + col * strides[1]) * itemsize // line
        lines = held.setdefault(number % sets, [])
        if number in lines:
            lines.remove(number)
        else:
            misses += 1
        lines.append(number)
        del lines[:-ways]
    return misses


def walk_down(n_rows, n_cols, row_bytes, itemsize, **cache):
    """The misses of a walk down the columns."""
    return walk((n_cols, n_rows), (1, row_bytes // itemsize), itemsize, **cache)


def all_distances(x, y, tile=None):
    return np.array([[np.sum((p - q) ** 2) for q in y] for p in x]).reshape(len(x), len(y))


# Task 1: what an order of access costs ------------------------------------------------------------

@pytest.mark.task(1)
def test_addresses_of_the_lesson_by_rows_and_by_columns():
    numbers = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23]
    assert_matches(lesson.addresses, (3, 8), (8, 1), 8, oracle=lambda *_: 8 * np.array(numbers))
    numbers = [0, 8, 16, 1, 9, 17, 2, 10, 18, 3, 11, 19, 4, 12, 20, 5, 13, 21, 6, 14, 22, 7, 15, 23]
    assert_matches(lesson.addresses, (8, 3), (1, 8), 8, oracle=lambda *_: 8 * np.array(numbers))


@pytest.mark.task(1)
@pytest.mark.edge
@pytest.mark.parametrize("shape, strides, itemsize", [
    ((1, 1), (1, 1), 8), ((5, 1), (3, 1), 2), ((0, 4), (4, 1), 8), ((4, 0), (1, 1), 8), ((3, 4), (0, 1), 4),
    ((2, 3), (7, 2), 4),
])
def test_addresses_of_padded_rows_of_every_second_column_and_of_nothing(shape, strides, itemsize):
    def one_by_one(shape, strides, itemsize):
        places = [(row * strides[0] + col * strides[1]) * itemsize for row, col in np.ndindex(shape)]
        return np.array(places, np.int64)

    assert_matches(lesson.addresses, shape, strides, itemsize, oracle=one_by_one)


@pytest.mark.task(1)
@pytest.mark.counters
def test_columns_miss_four_times_as_often_in_the_cache_of_the_lesson():
    assert_matches(lesson.count_misses, (3, 8), (8, 1), 8, **SMALL, oracle=lambda *_, **cache: 6)
    assert_matches(lesson.count_misses, (8, 3), (1, 8), 8, **SMALL, oracle=lambda *_, **cache: 24)


@pytest.mark.task(1)
@pytest.mark.counters
@pytest.mark.parametrize("capacity, line, ways", [(64, 32, 2), (256, 32, 4), (256, 64, 1), (1024, 64, 2)])
def test_counts_what_a_walk_by_hand_counts(capacity, line, ways, rng):
    for _ in range(3):
        (rows, cols), pad = rng.integers(1, 24, 2).tolist(), int(rng.integers(0, 5))
        shape, strides = ((rows, cols), (cols + pad, 1)) if rng.random() < 0.5 else ((cols, rows), (1, cols + pad))
        assert_matches(lesson.count_misses, shape, strides, 8, capacity=capacity, line=line, ways=ways, oracle=walk)


@pytest.mark.task(1)
def test_predicts_both_kinds_of_row_before_it_walks():
    """Three rows fit into a cache of four lines, not into one of two; four bytes halve what a row needs."""
    for n_cols, itemsize, capacity, ways in [(8, 8, 64, 2), (8, 8, 128, 4), (8, 4, 128, 4), (7, 8, 128, 4)]:
        assert_matches(lesson.predict_misses, 3, n_cols, 64, itemsize, capacity=capacity, line=32, ways=ways,
                       oracle=walk_down)


@pytest.mark.task(1)
@pytest.mark.edge
def test_predicts_rows_that_crowd_into_some_sets_and_not_into_others():
    """Eight sets of two lines. Rows 256 bytes apart all want the same set, rows 32 bytes apart one after the other."""
    for n_rows, row_bytes in [(3, 256), (2, 256), (16, 32), (17, 32), (18, 64), (8, 64), (9, 64), (5, 128), (10, 128)]:
        assert_matches(lesson.predict_misses, n_rows, row_bytes // 8, row_bytes, 8, capacity=512, line=32, ways=2,
                       oracle=walk_down)


@pytest.mark.task(1)
@pytest.mark.edge
def test_predicts_columns_that_nobody_lives_to_walk():
    """Three rows of 2**57 float64, 2**60 bytes apart: every line of 64 bytes is fetched once."""
    assert_matches(lesson.predict_misses, 3, 2**57, 2**60, 8, oracle=lambda *_: 3 * 2**54)


@pytest.mark.task(1)
@pytest.mark.counters
def test_one_line_of_padding_saves_seven_of_eight_misses():
    """64 rows of 512 float64: 64 lines would fit into 32 KiB many times, but all belong to one set of 8."""
    for row_bytes, misses in [(4096, 64 * 512), (4096 + 64, 64 * 64)]:
        assert_matches(lesson.predict_misses, 64, 512, row_bytes, 8, oracle=lambda *_: misses)
        assert_matches(lesson.count_misses, (512, 64), (1, row_bytes // 8), 8, oracle=lambda *_: misses)


COLUMNS = """
#include <stdlib.h>
__attribute__((noinline)) double by_columns(const double *a, long rows, long cols, long stride) {
    double total = 0;
    for (long j = 0; j < cols; j++)
        for (long i = 0; i < rows; i++) total += a[i * stride + j];
    return total;
}
int main(int count, char **words) {
    long rows = atol(words[1]), cols = atol(words[2]), stride = atol(words[3]);
    return by_columns(aligned_alloc(64, rows * stride * 8), rows, cols, stride) == 1;
}
"""


@pytest.mark.task(1)
@pytest.mark.counters
@pytest.mark.c_compiler
@pytest.mark.valgrind
def test_cachegrind_counts_the_same_in_a_compiled_loop(tmp_path):
    """valgrind runs the loop in a cache of its own, of the same size and sets; the stack may cost a line."""
    source, program, counts = tmp_path / "columns.c", tmp_path / "columns", tmp_path / "counts"
    source.write_text(COLUMNS)
    subprocess.run(["cc", "-O1", "-o", program, source], check=True)
    subprocess.run(["valgrind", "--tool=cachegrind", "--cache-sim=yes", "--D1=32768,8,64",
                    f"--cachegrind-out-file={counts}", program, "64", "512", "512"], check=False, capture_output=True)
    reads, misses, _ = re.search(r"fn=by_columns\n\d+ \d+ \d+ \d+ (\d+) (\d+) (\d+)", counts.read_text()).groups()
    assert abs(lesson.predict_misses(64, 512, 4096, 8) - int(misses)) <= 4
    assert abs(lesson.count_misses((512, 64), (1, 512), 8) - int(misses)) <= 4


# Task 2: tile by tile -----------------------------------------------------------------------------

def bytes_of_work(tile, d, itemsize):
    """Two tiles of points, their differences, their distances."""
    shapes = [(tile, d), (tile, d), (tile, tile, d), (tile, tile)]
    return sum(np.empty(shape, f"V{itemsize}").nbytes for shape in shapes)


@pytest.mark.task(2)
@pytest.mark.parametrize("capacity, d, itemsize", [
    (160, 2, 8), (159, 2, 8), (159, 2, 4), (32768, 3, 8), (32768, 64, 8), (2**18, 64, 8), (2**18, 64, 4),
])
def test_the_work_of_the_largest_tile_fits_and_that_of_the_next_does_not(capacity, d, itemsize):
    tile = lesson.tile_for(capacity, d, itemsize)
    work, work_of_the_next = bytes_of_work(tile, d, itemsize), bytes_of_work(tile + 1, d, itemsize)
    assert work <= capacity
    assert work_of_the_next > capacity


@pytest.mark.task(2)
@pytest.mark.edge
def test_a_tile_is_never_smaller_than_one_pair():
    assert_matches(lesson.tile_for, 1024, 1000, oracle=lambda *_: 1)


@pytest.mark.task(2)
def test_blocked_distances_of_two_points_to_three():
    x, y = np.array([[0.0, 0.0], [3.0, 4.0]]), np.array([[0.0, 0.0], [0.0, 4.0], [6.0, 8.0]])
    assert_matches(lesson.distances_blocked, x, y, tile=2, oracle=all_distances, exact=True)


@pytest.mark.task(2)
@pytest.mark.edge
@pytest.mark.parametrize("m, n, d", [(8, 12, 3), (9, 5, 7), (1, 1, 1), (3, 13, 2), (0, 5, 3), (5, 0, 3)])
def test_blocked_takes_any_number_of_points_in_any_layout(m, n, d, rng):
    x, y = matrices(rng, (m, d), (n, d))
    assert_matches(lesson.distances_blocked, x, y, tile=4, oracle=all_distances,
                   tolerance=accumulated(np.float64, d), layouts="any")


@pytest.mark.task(2)
@pytest.mark.tolerance
def test_blocked_keeps_float32(rng):
    x, y = matrices(rng, (10, 40), (9, 40), dtype=np.float32)
    assert_matches(lesson.distances_blocked, x, y, tile=4, oracle=all_distances, tolerance=accumulated(np.float32, 40))


@pytest.mark.task(2)
@pytest.mark.counters
def test_no_operation_makes_more_than_a_tile_of_differences(rng):
    """What comes out of each operation on x is written down: 4 x 4 pairs of 3 numbers at the most."""
    x, y = matrices(rng, (10, 3), (7, 3))
    seen = given.watched(x)
    lesson.distances_blocked(seen, y, tile=4)
    most_numbers_at_once, numbers_of_a_tile = max(seen.notes.sizes, default=0), 4 * 4 * 3
    assert 0 < most_numbers_at_once <= numbers_of_a_tile


@pytest.mark.task(2)
@pytest.mark.speed
def test_tiles_that_stay_in_the_cache_are_faster_than_all_differences_at_once(rng):
    """The same operations, on 256 KiB at a time and not on 82 MB. What does each of them wait for?"""
    x, y = matrices(rng, (400, 64), (400, 64))
    assert speed_ratio(lesson.distances_blocked, lesson.distances_naive, x, y) >= 1.1


# Task 3: let the library block --------------------------------------------------------------------

@pytest.mark.task(3)
def test_blas_distances_of_two_points_to_three():
    x, y = np.array([[0.0, 0.0], [3.0, 4.0]]), np.array([[0.0, 0.0], [0.0, 4.0], [6.0, 8.0]])
    assert_matches(lesson.distances_blas, x, y, oracle=all_distances, tolerance=accumulated(np.float64, 6))


@pytest.mark.task(3)
@pytest.mark.edge
@pytest.mark.parametrize("m, n, d", [(8, 12, 3), (9, 5, 70), (1, 1, 1), (30, 1, 2), (0, 5, 3)])
def test_blas_takes_any_number_of_points_in_any_layout(m, n, d, rng):
    x, y = matrices(rng, (m, d), (n, d))
    assert_matches(lesson.distances_blas, x, y, oracle=all_distances, tolerance=accumulated(np.float64, 3 * d + 9),
                   layouts="any")


@pytest.mark.task(3)
@pytest.mark.tolerance
def test_stops_of_a_town_keep_their_digits_far_from_the_equator(rng):
    """In metres east and north, as maps count them: a few kilometres of town, 5400 km north of the equator."""
    x, y = (3000 * stops + [500e3, 5400e3] for stops in matrices(rng, (40, 2), (30, 2)))
    assert_matches(lesson.distances_blas, x, y, oracle=all_distances, tolerance=accumulated(np.float64, 100))


@pytest.mark.task(3)
@pytest.mark.edge
def test_no_distance_of_a_point_to_itself_is_negative(rng):
    points = matrices(rng, (200, 16))[0]
    found = lesson.distances_blas(points, points)
    nearest, farthest_from_itself = float(found.min()), float(found.diagonal().max())
    assert nearest >= 0
    assert farthest_from_itself < 1e-12


@pytest.mark.task(3)
@pytest.mark.counters
def test_a_few_operations_on_x_serve_all_pairs(rng):
    """However many points there are, x is looked at a few times as a whole, and nothing has three axes."""
    x, y = matrices(rng, (40, 5), (30, 5))
    seen = given.watched(x)
    lesson.distances_blas(seen, y)
    operations_on_x, most_numbers_at_once, pairs = len(seen.notes.sizes), max(seen.notes.sizes, default=0), 40 * 30
    assert 0 < most_numbers_at_once <= pairs
    assert operations_on_x <= 10


# What it is for: patches of an image that look alike ------------------------------------------------

def photograph(rng):
    """A grey image of 64 x 64: waves, an edge and noise, with one patch of 8 x 8 that was copied elsewhere."""
    row, col = np.mgrid[:64, :64]
    image = 128 + 40 * np.sin(row / 5) * np.cos(col / 3) + 50 * (row > 30) + rng.normal(0, 4, (64, 64))
    image[40:48, 8:16] = image[16:24, 48:56]
    return image


@pytest.mark.task(2, 3)
def test_both_find_the_patch_of_an_image_that_was_copied(rng):
    image = photograph(rng)
    patches = image.reshape(8, 8, 8, 8).swapaxes(1, 2).reshape(64, 64)  # row 8 * i + j: the patch at 8i, 8j
    for distances in (lambda x, y: lesson.distances_blocked(x, y, tile=10), lesson.distances_blas):
        found = distances(patches, patches)
        found[np.diag_indices(64)] = np.inf
        assert divmod(int(found.argmin()), 64) == (8 * 2 + 6, 8 * 5 + 1)
