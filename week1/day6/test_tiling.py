"""The lesson again, as checks: whose tile it is, the product of tiles, what tiles save, a kernel to repair."""

import numpy as np
import pytest
import torch

from tools.check import assert_matches, compiled, count, speed_ratio
from tools.check.inputs import matrices
from tools.check.tolerances import accumulated
from tools.gpu import device
from week1.day6 import tiling as lesson

INF, NAN = float("inf"), float("nan")


def product(a, b, **tiles):
    return torch.matmul(a, b)


def statistics(x, tile):
    """Mean and variance of each tile, cut out by slices."""
    out = x.new_empty(2, -(-x.shape[0] // tile), -(-x.shape[1] // tile))
    for i, band in enumerate(x.split(tile)):
        for j, part in enumerate(band.split(tile, dim=1)):
            out[0, i, j], out[1, i, j] = part.mean(), part.var(correction=0)
    return out


def floats(rng, *shapes):
    """Matrices of float32, where lessons run."""
    return [torch.from_numpy(values).to(device, torch.float32) for values in matrices(rng, *shapes)]


def tile_in_table(program, m, n, tile_m, tile_n):
    """Where the program's number stands in a table that shows whose each element is."""
    numbers = np.arange(-(-m // tile_m) * -(-n // tile_n)).reshape(-1, -(-n // tile_n))
    rows, cols = np.nonzero(numbers.repeat(tile_m, 0).repeat(tile_n, 1)[:m, :n] == program)
    return int(rows[0]), int(cols[0]), len(set(rows)), len(set(cols))


def serves(m, n, k, tile_m, tile_n, tile_k):
    """Uses over loads, of one step along k: each product uses an element of a and one of b."""
    rows = [min(tile_m, m - row) for row in range(0, m, tile_m)]
    cols = [min(tile_n, n - col) for col in range(0, n, tile_n)]
    return 2 * m * n / sum(down + across for down in rows for across in cols)


# Task 1: whose tile is it? ------------------------------------------------------------------------

@pytest.mark.task(1)
def test_program_5_of_the_lesson_has_eight_rows_and_eight_columns():
    for program in (0, 1, 2, 5):
        assert_matches(lesson.tile_coordinates, program, 40, 24, 16, 16, oracle=tile_in_table)


@pytest.mark.task(1)
@pytest.mark.edge
@pytest.mark.parametrize("m, n, tile_m, tile_n", [(1, 1, 16, 16), (32, 48, 16, 16), (33, 47, 16, 32), (50, 15, 32, 16)])
def test_tiles_cover_any_shape_once(m, n, tile_m, tile_n):
    for program in range(-(-m // tile_m) * -(-n // tile_n)):
        assert_matches(lesson.tile_coordinates, program, m, n, tile_m, tile_n, oracle=tile_in_table)


# Task 2: a kernel that is right, and loads too much -----------------------------------------------

@pytest.mark.task(2)
def test_statistics_of_a_tile_that_is_cut_off():
    """100 of its 256 places exist. Half of them hold 2 and half 4: the mean is 3, the variance 1."""
    x = torch.tensor([2.0, 4.0], device=device).repeat(10, 5)
    assert_matches(lesson.tile_statistics, x, tile=16, oracle=statistics, exact=True)


@pytest.mark.task(2)
def test_statistics_of_the_six_tiles_of_the_lesson(rng):
    x = floats(rng, (40, 24))[0]
    assert_matches(lesson.tile_statistics, x, tile=16, oracle=statistics, tolerance=accumulated(np.float32, 256))


@pytest.mark.task(2)
@pytest.mark.edge
@pytest.mark.parametrize("m, n", [(1, 1), (16, 16), (15, 33), (33, 5)])
def test_statistics_leave_out_what_does_not_exist(m, n, rng):
    x = floats(rng, (m, n))[0]
    assert_matches(lesson.tile_statistics, x, tile=16, oracle=statistics, tolerance=accumulated(np.float32, 256))


@pytest.mark.task(2)
@pytest.mark.tolerance
def test_variance_of_large_numbers_that_differ_a_little():
    """4095 and 4097: float32 holds them exactly, but not all of their squares. The variance is 1."""
    x = torch.tensor([4095.0, 4097.0], device=device).repeat(16, 8)
    assert_matches(lesson.tile_statistics, x, tile=16, oracle=statistics, exact=True)


@pytest.mark.task(2)
@pytest.mark.counters
def test_statistics_load_every_tile_once(rng):
    counters = count(lesson.tile_statistics, *floats(rng, (40, 24)), tile=16)
    assert counters.library_operations == []
    assert counters.programs == 6
    assert counters.bytes_loaded == 4 * 40 * 24
    assert counters.bytes_stored == 2 * 4 * 6


@pytest.mark.task(2)
@pytest.mark.compiled
def test_the_compiler_finds_one_load_in_statistics(rng):
    """It may not merge two loads with a store between them: for all it knows, x and out share memory."""
    kernel = compiled(lesson.tile_statistics, *floats(rng, (64, 64)), chip="h100").kernels["statistics_kernel"]
    assert len(kernel.loads) == 1


# Task 3: the product of tiles ---------------------------------------------------------------------

@pytest.mark.task(3)
def test_multiplies_one_whole_tile(rng):
    a, b = floats(rng, (16, 16), (16, 16))
    assert_matches(lesson.matmul, a, b, tile_m=16, tile_n=16, tile_k=16, oracle=product,
                   tolerance=accumulated(np.float32, 16))


@pytest.mark.task(3)
def test_adds_up_tile_after_tile_of_k():
    """In column 0 the first tile of k adds up to 16, the second to 1600, the third to 160,000; in others in turn."""
    a, sums = torch.ones(16, 48, device=device), torch.tensor([1.0, 100.0, 10_000.0], device=device)
    b = torch.stack([sums.roll(col).repeat_interleave(16) for col in range(16)], dim=1)
    assert_matches(lesson.matmul, a, b, tile_m=16, tile_n=16, tile_k=16, oracle=product, exact=True)


@pytest.mark.task(3)
def test_rows_columns_and_steps_of_k_have_tile_sizes_of_their_own(rng):
    a, b = floats(rng, (16, 96), (96, 64))
    assert_matches(lesson.matmul, a, b, tile_m=16, tile_n=64, tile_k=32, oracle=product,
                   tolerance=accumulated(np.float32, 96))


@pytest.mark.task(3)
@pytest.mark.edge
def test_multiplies_the_matrices_of_the_lesson_in_six_programs(rng):
    a, b = floats(rng, (40, 50), (50, 24))
    assert_matches(lesson.matmul, a, b, tile_m=16, tile_n=16, tile_k=16, oracle=product,
                   tolerance=accumulated(np.float32, 50))


@pytest.mark.task(3)
@pytest.mark.edge
@pytest.mark.parametrize("m, n, k", [(1, 1, 1), (15, 31, 17), (16, 32, 16), (17, 33, 15), (3, 2, 0), (0, 3, 2),
                                     (3, 0, 2)])
def test_takes_any_shape_stored_in_any_way(m, n, k, rng):
    a, b = floats(rng, (m, k), (k, n))
    assert_matches(lesson.matmul, a, b, tile_m=16, tile_n=32, tile_k=16, oracle=product,
                   tolerance=accumulated(np.float32, k), layouts="any")


@pytest.mark.task(3)
@pytest.mark.edge
def test_fills_an_out_that_is_stored_column_by_column(rng):
    def matmul_by_column(a, b):
        out = torch.full((b.shape[1], a.shape[0]), NAN, device=device).T
        return lesson.matmul(a, b, out=out)

    a, b = floats(rng, (20, 5), (5, 40))
    assert_matches(matmul_by_column, a, b, oracle=torch.matmul, tolerance=accumulated(np.float32, 5))


@pytest.mark.task(3)
@pytest.mark.nonfinite
def test_lets_nan_and_infinity_spread_along_their_row_and_column():
    a = torch.tensor([[1.0, NAN], [2.0, 3.0], [INF, 1.0]], device=device)
    b = torch.tensor([[1.0, 0.0], [-INF, 2.0]], device=device)
    assert_matches(lesson.matmul, a, b, tile_m=16, tile_n=16, tile_k=16, oracle=product, exact=True)


@pytest.mark.task(3)
@pytest.mark.tolerance
def test_keeps_the_precision_of_float32(rng):
    a, b = floats(rng, (32, 300), (300, 32))
    assert_matches(lesson.matmul, a, b, oracle=torch.matmul, tolerance=accumulated(np.float32, 300))


@pytest.mark.task(3)
@pytest.mark.counters
def test_your_kernel_does_the_multiplying_one_program_for_each_tile(rng):
    a, b = floats(rng, (50, 40), (50, 24))
    counters = count(lesson.matmul, a.T, b, tile_m=16, tile_n=16, tile_k=16)
    assert counters.library_operations == []
    assert counters.programs == 6


@pytest.mark.task(3)
@pytest.mark.counters
def test_the_grid_has_one_axis(rng):
    """Tiles are counted row by row: one number says which, as in tile_coordinates."""
    counters = count(lesson.matmul, *floats(rng, (40, 50), (50, 24)), tile_m=16, tile_n=16, tile_k=16)
    assert counters.launches[0].grid == (6,)


@pytest.mark.task(3)
@pytest.mark.counters
@pytest.mark.parametrize("tile", [16, 32, 64])
def test_loads_as_much_less_than_day_5_as_a_tile_is_wide(tile, rng):
    """A program for each result loads 64 + 64 elements for it: 2 * 4 * 64**3 bytes in all."""
    counters = count(lesson.matmul, *floats(rng, (64, 64), (64, 64)), tile_m=tile, tile_n=tile, tile_k=16)
    assert counters.bytes_loaded == 2 * 4 * 64**3 / tile
    assert counters.bytes_stored == 4 * 64**2


@pytest.mark.task(3)
@pytest.mark.counters
@pytest.mark.parametrize("tile_k, padded", [(16, 48), (32, 64), (64, 64)])
def test_takes_steps_of_tile_k(tile_k, padded, rng):
    """Of the last step the 40 elements of k fill a part; it costs as much as a whole one."""
    counters = count(lesson.matmul, *floats(rng, (16, 40), (40, 16)), tile_m=16, tile_n=16, tile_k=tile_k)
    assert counters.flops == 2 * 16 * 16 * padded


@pytest.mark.task(3)
@pytest.mark.compiled
def test_keeps_tiles_in_shared_memory_and_sums_in_registers(rng):
    """One tile of a and one of b are 8 KiB; the compiler loads the next ones ahead of time, and takes more."""
    kernel = compiled(lesson.matmul, *floats(rng, (128, 128), (128, 128)), chip="h100").kernels["matmul_kernel"]
    assert kernel.shared_bytes >= 8192
    assert kernel.spills == 0


@pytest.mark.task(3)
@pytest.mark.hopper
@pytest.mark.speed
def test_comes_nearer_to_the_library_than_day_5(rng):
    """On an H200 day 5 needs 150 times as long as the library, for matrices of half this side."""
    a, b = floats(rng, (4096, 4096), (4096, 4096))
    assert speed_ratio(lesson.matmul, torch.matmul, a, b) >= 0.4  # the reference: 0.57 on an H200


# Task 4: predict, then measure --------------------------------------------------------------------

@pytest.mark.task(3, 4)
@pytest.mark.counters
@pytest.mark.parametrize("m, n, k, tile_m, tile_n, tile_k", [
    (40, 100, 50, 16, 32, 64), (32, 48, 64, 16, 16, 16), (40, 24, 50, 32, 16, 64), (33, 70, 20, 16, 32, 16),
    (5, 3, 7, 16, 16, 16)])
def test_predicts_the_bytes_that_are_counted(m, n, k, tile_m, tile_n, tile_k, rng):
    predicted = lesson.predict_traffic(m, n, k, tile_m, tile_n, tile_k)
    counters = count(lesson.matmul, *floats(rng, (m, k), (k, n)), tile_m=tile_m, tile_n=tile_n, tile_k=tile_k)
    assert predicted == counters.bytes


@pytest.mark.task(4)
def test_reuse_is_the_size_of_a_tile_where_all_are_whole():
    for tile_m, tile_n, tile_k in [(16, 16, 16), (16, 64, 32), (64, 64, 32), (1, 1, 16), (1, 256, 16)]:
        assert_matches(lesson.reuse, 64, 256, 512, tile_m, tile_n, tile_k, oracle=serves)


@pytest.mark.task(4)
@pytest.mark.edge
def test_reuse_is_less_where_tiles_are_cut_off():
    for m, n, tile_m, tile_n in [(40, 24, 16, 16), (17, 33, 16, 32), (5, 3, 16, 16)]:
        assert_matches(lesson.reuse, m, n, 50, tile_m, tile_n, 16, oracle=serves)
