"""The lesson again, as checks: what a warp asks for, a block that shares, what limits it, and the same in Triton."""

import numpy as np
import pytest
import torch

from tools.check import assert_matches, compiled, count, notes, speed_ratio, terms
from tools.check.inputs import matrices
from tools.check.tolerances import accumulated
from tools.gpu import device
from week1.day7 import fast_matmul as lesson

INF, NAN = float("inf"), float("nan")
LARGE = (4096, 4096), (4096, 4096)

pytestmark = pytest.mark.filterwarnings("ignore:Grid size")  # Numba's advice to start more blocks


def product(a, b):
    return torch.matmul(a, b)


def floats(rng, *shapes):
    """Two matrices of float32, where lessons run."""
    return [torch.from_numpy(values).to(device, torch.float32) for values in matrices(rng, *shapes)]


def sectors(stride):
    return len({4 * stride * x // 32 for x in range(32)})


def gflops(ratio):
    """From the time of one product of LARGE matrices."""
    reached = 2 * 4096**3 / ratio.seconds / 1e9
    notes.taken.append(f"{reached:.0f} GFLOPS")
    return reached


# Task 1: what a warp asks for ---------------------------------------------------------------------

@pytest.mark.task(1)
def test_a_row_is_four_sectors_a_column_thirty_two_and_one_element_one():
    for stride in (1, 64, 0):
        assert_matches(lesson.sectors_of_request, stride, oracle=sectors)


@pytest.mark.task(1)
@pytest.mark.edge
def test_counts_the_sectors_of_any_stride():
    for stride in (2, 3, 5, 7, 8, 9, 31, 4096):
        assert_matches(lesson.sectors_of_request, stride, oracle=sectors)


# Task 2: one thread for each result, and warps along rows -----------------------------------------

@pytest.mark.task(2)
def test_simple_multiplies_the_matrices_of_day_5():
    a = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], device=device)
    b = torch.tensor([[7.0, 8.0], [9.0, 10.0], [11.0, 12.0]], device=device)
    assert_matches(lesson.matmul_simple, a, b, oracle=product, exact=True)


@pytest.mark.task(2)
@pytest.mark.edge
@pytest.mark.parametrize("m, n, k", [(1, 1, 1), (3, 40, 5), (40, 3, 5), (33, 40, 7), (3, 2, 0)])
def test_simple_takes_any_shape_stored_in_any_way(m, n, k, rng):
    a, b = floats(rng, (m, k), (k, n))
    assert_matches(lesson.matmul_simple, a, b, oracle=product, tolerance=accumulated(np.float32, k), layouts="any")


@pytest.mark.task(2)
@pytest.mark.counters
def test_simple_asks_for_few_sectors_at_a_time(rng):
    """Five for each pair of loads, four for each store: 2.5 on average. Down a column each load alone is 32."""
    counters = count(lesson.matmul_simple, *floats(rng, (64, 64), (64, 64)))
    assert counters.sectors_per_request < 3


@pytest.mark.task(2)
@pytest.mark.counters
def test_simple_computes_nothing_in_float64(rng):
    counters = count(lesson.matmul_simple, *floats(rng, (5, 7), (7, 3)))
    assert counters.float64 == 0


@pytest.mark.task(2)
@pytest.mark.counters
def test_simple_is_your_kernel_in_as_many_blocks_as_there_are_tiles(rng):
    a, b = floats(rng, (100, 40), (30, 40))
    counters = count(lesson.matmul_simple, a, b.T)
    assert counters.library_operations == []
    assert counters.programs == 4


@pytest.mark.task(1, 2)
@pytest.mark.counters
@pytest.mark.parametrize("apart", [1, 4, 16])
def test_predicts_the_sectors_that_are_counted(apart, rng):
    """b is stored column by column, so that neighbours in a row of it are `apart` elements apart."""
    predicted = lesson.sectors_of_request(0) + lesson.sectors_of_request(apart)  # of a, of b
    a, b = floats(rng, (2, apart), (64, apart))
    counters = count(lesson.matmul_simple, a, b.T)
    loads = [line.counts for line in counters.launches[0].lines if line.kind == "load"]
    assert predicted == 2 * sum(each.sectors for each in loads) / sum(each.requests for each in loads)


# Task 3: a block that shares ----------------------------------------------------------------------

@pytest.mark.task(3)
def test_tiled_multiplies_one_whole_tile(rng):
    a, b = floats(rng, (32, 32), (32, 32))
    assert_matches(lesson.matmul_tiled, a, b, oracle=product, tolerance=accumulated(np.float32, 32))


@pytest.mark.task(3)
def test_tiled_adds_up_tile_after_tile_of_k(rng):
    a, b = floats(rng, (4, 96), (96, 7))
    assert_matches(lesson.matmul_tiled, a, b, oracle=product, tolerance=accumulated(np.float32, 96))


@pytest.mark.task(3)
@pytest.mark.edge
@pytest.mark.parametrize("m, n, k", [(1, 1, 1), (31, 33, 40), (33, 31, 32), (32, 32, 31), (5, 7, 9), (3, 2, 0)])
def test_tiled_takes_any_shape_stored_in_any_way(m, n, k, rng):
    a, b = floats(rng, (m, k), (k, n))
    assert_matches(lesson.matmul_tiled, a, b, oracle=product, tolerance=accumulated(np.float32, k), layouts="any")


@pytest.mark.task(3)
@pytest.mark.edge
def test_tiled_fills_an_out_that_is_stored_column_by_column(rng):
    def matmul_by_column(a, b):
        out = torch.full((b.shape[1], a.shape[0]), NAN, device=device).T
        return lesson.matmul_tiled(a, b, out=out)

    a, b = floats(rng, (20, 5), (5, 40))
    assert_matches(matmul_by_column, a, b, oracle=torch.matmul, tolerance=accumulated(np.float32, 5))


@pytest.mark.task(3)
@pytest.mark.nonfinite
def test_tiled_lets_nan_and_infinity_spread_along_their_row_and_column():
    a = torch.tensor([[1.0, NAN], [2.0, 3.0], [INF, 1.0]], device=device)
    b = torch.tensor([[1.0, 0.0], [-INF, 2.0]], device=device)
    assert_matches(lesson.matmul_tiled, a, b, oracle=product, exact=True)


@pytest.mark.task(3)
@pytest.mark.tolerance
def test_tiled_keeps_the_precision_of_float32(rng):
    a, b = floats(rng, (32, 100), (100, 32))
    assert_matches(lesson.matmul_tiled, a, b, oracle=torch.matmul, tolerance=accumulated(np.float32, 100))


@pytest.mark.task(3)
@pytest.mark.counters
def test_tiled_is_your_kernel_one_block_for_each_tile(rng):
    a, b = floats(rng, (65, 5), (3, 5))
    counters = count(lesson.matmul_tiled, a, b.T)
    assert counters.library_operations == []
    assert counters.programs == 3


@pytest.mark.task(3)
@pytest.mark.counters
def test_tiled_loads_as_much_less_as_a_tile_is_wide(rng):
    """One thread for each result loads 64 + 64 elements for it: 2 * 4 * 64**3 bytes in all."""
    counters = count(lesson.matmul_tiled, *floats(rng, (64, 64), (64, 64)))
    assert counters.bytes_loaded == 2 * 4 * 64**3 / 32
    assert counters.bytes_stored == 4 * 64**2


@pytest.mark.task(3)
@pytest.mark.counters
def test_tiled_asks_for_four_sectors_at_a_time(rng):
    counters = count(lesson.matmul_tiled, *floats(rng, (64, 64), (64, 64)))
    assert counters.sectors_per_request == 4


@pytest.mark.task(3)
@pytest.mark.counters
def test_tiled_has_no_bank_conflicts(rng):
    counters = count(lesson.matmul_tiled, *floats(rng, (64, 64), (64, 64)))
    assert counters.conflicts == 0


@pytest.mark.task(3)
@pytest.mark.counters
def test_tiled_waits_twice_for_each_tile_of_k(rng):
    """One block of 32 warps goes through two tiles of k."""
    counters = count(lesson.matmul_tiled, *floats(rng, (32, 64), (64, 32)))
    barriers_for_each_tile = counters.barriers / (32 * 2)
    assert barriers_for_each_tile == 2


@pytest.mark.task(3)
@pytest.mark.compiled
def test_the_compiler_finds_float32_and_two_tiles_in_shared_memory(rng):
    """Of a sum that begins with 0.0 it makes float64."""
    kernel = compiled(lesson.matmul_tiled, *floats(rng, (64, 64), (64, 64)), chip="h100").kernels["tiled_kernel"]
    assert [name for name in kernel.instructions if "f64" in name] == []
    assert kernel.shared_bytes == 2 * 4 * 32**2
    assert kernel.spills == 0


@pytest.mark.task(3)
@pytest.mark.counters
def test_tiled_computes_nothing_in_float64(rng):
    counters = count(lesson.matmul_tiled, *floats(rng, (32, 5), (5, 32)))
    assert counters.float64 == 0
    assert counters.conversions == 0


@pytest.mark.task(3)
@pytest.mark.hopper
@pytest.mark.speed
def test_tiled_passes_1000_gflops(rng):
    """How near that is to the library stands beside it, and is not judged: task 4 says why it is not nearer."""
    assert gflops(speed_ratio(lesson.matmul_tiled, torch.matmul, *floats(rng, *LARGE))) >= 1000


# Task 4: predict, then measure --------------------------------------------------------------------

def bytes_tile_by_tile(m, n, k, tile):
    """Each tile of the result loads its rows of a and its columns of b, and is stored."""
    rows, cols = ([min(tile, length - start) for start in range(0, length, tile)] for length in (m, n))
    return terms(a=4 * k * sum(rows) * len(cols), b=4 * k * sum(cols) * len(rows), out=4 * m * n)


@pytest.mark.task(4)
def test_every_tile_of_the_result_loads_its_rows_and_its_columns():
    """Where the last tiles are cut off, a and b take different numbers of bytes."""
    for m, n, k, tile in [(33, 70, 20, 32), (5, 40, 33, 32), (2, 3, 5, 1)]:
        assert_matches(lesson.predict_traffic, m, n, k, tile, oracle=bytes_tile_by_tile)


@pytest.mark.task(2, 4)
@pytest.mark.counters
@pytest.mark.parametrize("m, n, k", [(32, 64, 32), (5, 40, 33)])
def test_predicts_the_bytes_of_simple(m, n, k, rng):
    predicted = lesson.predict_traffic(m, n, k, 1)
    counters = count(lesson.matmul_simple, *floats(rng, (m, k), (k, n)))
    assert predicted == counters.bytes


@pytest.mark.task(3, 4)
@pytest.mark.counters
@pytest.mark.parametrize("m, n, k", [(32, 64, 96), (33, 70, 20), (5, 40, 33)])
def test_predicts_the_bytes_of_tiled(m, n, k, rng):
    predicted = lesson.predict_traffic(m, n, k, lesson.TILE)
    counters = count(lesson.matmul_tiled, *floats(rng, (m, k), (k, n)))
    assert predicted == counters.bytes


@pytest.mark.task(4)
def test_a_tile_takes_each_warp_two_stores_and_sixty_four_loads():
    def tile_by_tile(m, n, k):
        warps = 32 * (m // 32) * (n // 32) * (k // 32)
        return terms(stores=2 * warps, loads=64 * warps)

    for m, n, k in [(32, 32, 32), (64, 32, 96), (32, 128, 64)]:
        assert_matches(lesson.predict_wavefronts, m, n, k, oracle=tile_by_tile)


@pytest.mark.task(3, 4)
@pytest.mark.counters
@pytest.mark.parametrize("m, n, k", [(32, 32, 32), (64, 32, 96)])
def test_predicts_the_wavefronts_that_are_counted(m, n, k, rng):
    predicted = lesson.predict_wavefronts(m, n, k)
    counters = count(lesson.matmul_tiled, *floats(rng, (m, k), (k, n)))
    assert predicted == counters.wavefronts


@pytest.mark.task(4)
def test_shared_memory_leaves_less_than_an_eighth_of_the_arithmetic():
    """A warp's 32 multiply-adds take a quarter of a clock, and the two numbers of each take two clocks."""
    def share(m, n, k):
        return (32 / 4) / (2 + 32 + 32)  # clocks of one warp's tile: multiply-adds, and wavefronts

    for size in (32, 128, 4096):
        assert_matches(lesson.ceiling, size, 2 * size, size, oracle=share)


# Task 5: the same in Triton -----------------------------------------------------------------------

@pytest.mark.task(5)
def test_dot_multiplies_whole_tiles(rng):
    a, b = floats(rng, (64, 32), (32, 128))
    assert_matches(lesson.matmul_dot, a, b, oracle=product, tolerance=accumulated(np.float32, 32))


@pytest.mark.task(5)
def test_dot_adds_up_tile_after_tile_of_k(rng):
    a, b = floats(rng, (4, 64), (64, 7))
    assert_matches(lesson.matmul_dot, a, b, oracle=product, tolerance=accumulated(np.float32, 64))


@pytest.mark.task(5)
@pytest.mark.edge
@pytest.mark.parametrize("m, n, k", [(1, 1, 1), (33, 130, 33), (70, 5, 31), (3, 2, 0), (0, 3, 2), (3, 0, 2)])
def test_dot_takes_any_shape_stored_in_any_way(m, n, k, rng):
    a, b = floats(rng, (m, k), (k, n))
    assert_matches(lesson.matmul_dot, a, b, oracle=product, tolerance=accumulated(np.float32, k), layouts="any")


@pytest.mark.task(5)
@pytest.mark.edge
def test_dot_fills_an_out_that_is_stored_column_by_column(rng):
    def matmul_by_column(a, b):
        out = torch.full((b.shape[1], a.shape[0]), NAN, device=device).T
        return lesson.matmul_dot(a, b, out=out)

    a, b = floats(rng, (20, 5), (5, 40))
    assert_matches(matmul_by_column, a, b, oracle=torch.matmul, tolerance=accumulated(np.float32, 5))


@pytest.mark.task(5)
@pytest.mark.nonfinite
def test_dot_lets_nan_and_infinity_spread_along_their_row_and_column():
    a = torch.tensor([[1.0, NAN], [2.0, 3.0], [INF, 1.0]], device=device)
    b = torch.tensor([[1.0, 0.0], [-INF, 2.0]], device=device)
    assert_matches(lesson.matmul_dot, a, b, oracle=product, exact=True)


@pytest.mark.task(5)
@pytest.mark.tolerance
def test_dot_keeps_the_precision_of_float32(rng):
    a, b = floats(rng, (64, 100), (100, 64))
    assert_matches(lesson.matmul_dot, a, b, oracle=torch.matmul, tolerance=accumulated(np.float32, 100))


@pytest.mark.task(5)
@pytest.mark.counters
def test_dot_is_your_kernel_one_program_for_each_tile_of_the_config(rng):
    """Without a GPU it is the first config that is used: tiles of 64 x 128, two across and three down."""
    a, b = floats(rng, (7, 130), (7, 200))
    counters = count(lesson.matmul_dot, a.T, b)
    assert counters.library_operations == []
    assert counters.programs == 3 * 2
    assert counters.launches[0].grid[:2] == (2, 3)


@pytest.mark.task(5)
@pytest.mark.compiled
def test_dot_uses_each_number_of_shared_memory_several_times(rng):
    """tiled_kernel loads two numbers for each multiply-add. Here a load serves several of them."""
    kernel = compiled(lesson.matmul_dot, *floats(rng, (256, 256), (256, 256)), chip="h100").kernels["dot_kernel"]
    loads = sum(times for name, times in kernel.instructions.items() if name.startswith("ld.shared"))
    assert kernel.instructions["fma.rn.f32"] >= 2 * loads
    assert [access.width for access in kernel.accesses] == [16, 16, 16]
    assert kernel.spills == 0


@pytest.mark.task(5)
@pytest.mark.hopper
@pytest.mark.speed
def test_dot_comes_within_twice_the_time_of_the_library(rng):
    ratio = speed_ratio(lesson.matmul_dot, torch.matmul, *floats(rng, *LARGE))
    assert gflops(ratio) >= 1000
    assert ratio >= 0.5
