"""The lesson again, as checks: three ways to one product, the work, its rate, the tiles, the traffic."""

import numpy as np
import pytest

from tools.check import assert_matches, given, speed_ratio
from tools.check.inputs import matrices
from tools.check.terms import terms
from tools.check.tolerances import accumulated
from week1.day1 import numpy_baseline as lesson

INF, NAN = float("inf"), float("nan")


def product(a, b, block):
    return np.matmul(a, b)


# Task 1: every product, one at a time ------------------------------------------------------------

@pytest.mark.task(1)
def test_naive_multiplies_the_matrices_of_the_lesson():
    a = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    b = np.array([[7.0, 8.0], [9.0, 10.0], [11.0, 12.0]])
    assert_matches(lesson.matmul_naive, a, b, oracle=np.matmul, exact=True)


@pytest.mark.task(1)
@pytest.mark.edge
@pytest.mark.parametrize("m, n, k", [(1, 1, 1), (1, 5, 3), (5, 1, 3), (4, 3, 1), (2, 3, 0), (0, 3, 2), (7, 5, 11)])
def test_naive_takes_any_shape_in_any_layout(m, n, k, rng):
    a, b = matrices(rng, (m, k), (k, n))
    assert_matches(lesson.matmul_naive, a, b, oracle=np.matmul, tolerance=accumulated(np.float64, k), layouts="any")


@pytest.mark.task(1)
@pytest.mark.nonfinite
def test_naive_lets_nan_and_infinity_spread_along_their_row_and_column():
    a = np.array([[1.0, NAN], [2.0, 3.0], [INF, 1.0]])
    b = np.array([[1.0, 0.0], [-INF, 2.0]])
    assert_matches(lesson.matmul_naive, a, b, oracle=np.matmul, exact=True)


@pytest.mark.task(1)
@pytest.mark.tolerance
def test_naive_keeps_the_precision_of_its_inputs(rng):
    for dtype in (np.float64, np.float32):
        a, b = matrices(rng, (5, 60), (60, 4), dtype=dtype)
        assert_matches(lesson.matmul_naive, a, b, oracle=np.matmul, tolerance=accumulated(dtype, 60))


@pytest.mark.task(1)
@pytest.mark.counters
def test_naive_leaves_no_sum_to_numpy(rng):
    """NumPy is handed single numbers only: no row times column, neither as a product nor as a sum of many."""
    a, b = matrices(rng, (3, 5), (5, 2))
    seen_a, seen_b = given.watched(a), given.watched(b)
    result = lesson.matmul_naive(seen_a, seen_b)
    products_of_rows_by_numpy = len(seen_a.notes.products + seen_b.notes.products)
    assert products_of_rows_by_numpy == 0
    most_numbers_made_by_one_operation = max([*seen_a.notes.sizes, *seen_b.notes.sizes], default=1)
    assert most_numbers_made_by_one_operation == 1
    assert np.allclose(result, a @ b)


# Task 2: the work ---------------------------------------------------------------------------------

@pytest.mark.task(2)
def test_flops_count_a_multiplication_and_an_addition_for_every_product():
    """A sum starts from zero, so its first product is added as well."""
    def counted(m, n, k):
        products = sum(1 for _ in np.ndindex(m, n, k))
        to_zero = m * n if k else 0  # one for each result
        return terms(additions_to_zero=to_zero, other_flops=2 * products - to_zero)

    for m, n, k in [(2, 2, 3), (1, 1, 1), (5, 7, 11), (100, 1, 10), (4, 0, 4)]:
        assert_matches(lesson.matmul_flops, m, n, k, oracle=counted)


@pytest.mark.task(2)
@pytest.mark.edge
def test_flops_of_a_large_product_stay_an_exact_integer():
    """They are past 2**49: a product of NumPy's 32-bit integers would wrap around."""
    assert_matches(lesson.matmul_flops, 65537, 65539, 65543, oracle=lambda m, n, k: 2 * m * n * k)


# Task 3: the library ------------------------------------------------------------------------------

@pytest.mark.task(3)
def test_numpy_multiplies_the_same_matrices(rng):
    a, b = matrices(rng, (6, 9), (9, 4))
    assert_matches(lesson.matmul_numpy, a, b, oracle=np.matmul, tolerance=accumulated(np.float64, 9), layouts="any")


@pytest.mark.task(3)
@pytest.mark.nonfinite
def test_numpy_lets_nan_and_infinity_spread_too():
    a = np.array([[1.0, NAN], [2.0, 3.0], [INF, 1.0]])
    b = np.array([[1.0, 0.0], [-INF, 2.0]])
    assert_matches(lesson.matmul_numpy, a, b, oracle=np.matmul, exact=True)


@pytest.mark.task(3)
@pytest.mark.counters
def test_numpy_leaves_all_of_it_to_one_call_of_the_library(rng):
    """No loop of NumPy's own (multiply, sum, einsum), and no result that is copied to out afterwards."""
    a, b = matrices(rng, (6, 9), (9, 4))
    seen = given.watched(a)
    lesson.matmul_numpy(seen, b, out=np.empty((6, 4)))
    calls = seen.notes.calls
    assert calls in (["matmul into out"], ["dot into out"])


# Task 4: the rate ---------------------------------------------------------------------------------

def gflops_in(seconds):
    """An oracle that knows the median time, and takes the sizes from a and b."""
    return lambda matmul, a, b, **how: 2 * a.shape[0] * b.shape[1] * a.shape[1] / seconds / 1e9


@pytest.mark.task(4)
def test_gflops_divide_the_work_by_the_median_time(rng):
    """Calls that take 5, 1 and 2 seconds after a slow first one: the median is 2."""
    a, b = matrices(rng, (11, 13), (13, 7))
    clock = given.fake_clock([100.0, 5.0, 1.0, 2.0])
    assert_matches(lesson.measure_gflops, clock.work, a, b, warmup=1, repeats=3, clock=clock,
                   oracle=gflops_in(2.0))


@pytest.mark.task(4)
def test_gflops_take_the_median_of_the_times_not_of_the_rates(rng):
    """Of 1.5, 6, 2.5 and 1 seconds it is 2, half way between the two in the middle; of the rates it is another."""
    a, b = matrices(rng, (11, 13), (13, 7))
    clock = given.fake_clock([1.75, 1.5, 6.0, 2.5, 1.0])
    assert_matches(lesson.measure_gflops, clock.work, a, b, warmup=1, repeats=4, clock=clock,
                   oracle=gflops_in(2.0))


@pytest.mark.task(4)
@pytest.mark.parametrize("warmup, times", [(3, [2.5, 1.5, 6.0, 1.0]), (1, [6.0, 1.0, 2.0, 1.5, 3.0]), (0, [2.0])])
def test_gflops_warm_up_and_repeat_as_often_as_asked(warmup, times, rng):
    """The median of each is 2 seconds."""
    a, b = matrices(rng, (11, 13), (13, 7))
    clock = given.fake_clock([9.0] * warmup + times)
    assert_matches(lesson.measure_gflops, clock.work, a, b, warmup=warmup, repeats=len(times), clock=clock,
                   oracle=gflops_in(2.0))
    calls_of_matmul = clock.calls
    assert calls_of_matmul == warmup + len(times)


@pytest.mark.task(4)
def test_prediction_is_work_over_rate():
    assert_matches(lesson.predict_seconds, 1000, 500, 200, 4.0,
                   oracle=lambda m, n, k, gflops: 2 * m * n * k / gflops / 1e9)


@pytest.mark.task(3, 4)
def test_gflops_time_the_product_of_a_and_b_in_that_order(rng):
    a, b = matrices(rng, (4, 3), (3, 2))  # b @ a does not exist
    gflops = lesson.measure_gflops(lesson.matmul_numpy, a, b)
    assert isinstance(gflops, float) and gflops > 0


@pytest.mark.task(1, 4)
@pytest.mark.speed
def test_a_rate_measured_at_one_size_foretells_another(rng):
    """From 24 x 24 to 48 x 48, to a factor of two and a half. Other work on the machine can spoil a try: it has ten."""
    small, large = matrices(rng, (24, 24), (24, 24)), matrices(rng, (48, 48), (48, 48))
    for _ in range(10):
        foretold = lesson.predict_seconds(48, 48, 48, lesson.measure_gflops(lesson.matmul_naive, *small))
        rate = lesson.measure_gflops(lesson.matmul_naive, *large, repeats=2)
        foretold_over_measured = foretold / (2 * 48**3 / rate / 1e9)
        if 0.4 < foretold_over_measured < 2.5:
            break
    assert 0.4 < foretold_over_measured < 2.5


@pytest.mark.task(1, 3)
@pytest.mark.speed
def test_library_is_at_least_a_hundred_times_faster_than_the_loop(rng):
    """Both do 2 * 48**3 flops. A few thousand times is usual; what else does the loop spend time on?"""
    assert speed_ratio(lesson.matmul_numpy, lesson.matmul_naive, *matrices(rng, (48, 48), (48, 48))) >= 100


# Task 5: tile by tile -----------------------------------------------------------------------------

@pytest.mark.task(5)
def test_blocked_adds_up_whole_tiles(rng):
    for dtype in (np.float64, np.float32):
        a, b = matrices(rng, (8, 12), (12, 4), dtype=dtype)
        assert_matches(lesson.matmul_blocked, a, b, block=4, oracle=product, tolerance=accumulated(dtype, 12))


@pytest.mark.task(5)
@pytest.mark.edge
@pytest.mark.parametrize("m, n, k", [(9, 4, 12), (9, 5, 13), (3, 2, 1), (1, 1, 4), (4, 3, 0), (0, 3, 4), (17, 11, 7)])
def test_blocked_takes_sizes_that_no_tile_divides(m, n, k, rng):
    a, b = matrices(rng, (m, k), (k, n))
    assert_matches(lesson.matmul_blocked, a, b, block=4, oracle=product, tolerance=accumulated(np.float64, k))


@pytest.mark.task(5)
@pytest.mark.nonfinite
def test_blocked_lets_nan_and_infinity_spread_across_tiles():
    a = np.array([[1.0, NAN, 2.0, 1.0], [2.0, 3.0, 1.0, 4.0], [INF, 1.0, 0.0, 2.0]])
    b = np.array([[1.0, 0.0], [2.0, 5.0], [-INF, 2.0], [3.0, 1.0]])
    assert_matches(lesson.matmul_blocked, a, b, block=2, oracle=product, exact=True)


@pytest.mark.task(5)
@pytest.mark.counters
def test_blocked_leaves_each_product_of_tiles_to_numpy(rng):
    """A loop over the numbers of a tile is as slow as matmul_naive."""
    a, b = matrices(rng, (12, 16), (16, 8))
    seen = given.watched(a)
    lesson.matmul_blocked(seen, b, block=4)
    numbers_that_a_loop_took_out_of_a = seen.notes.numbers_read
    assert numbers_that_a_loop_took_out_of_a == 0


@pytest.mark.task(5)
@pytest.mark.counters
def test_blocked_never_multiplies_more_than_a_tile(rng):
    """3 x 2 x 4 products of tiles make (12, 16) @ (16, 8). Where tiles of both are copied first, none is seen."""
    block = 4
    a, b = matrices(rng, (12, 16), (16, 8))
    seen_a, seen_b = given.watched(a), given.watched(b)
    lesson.matmul_blocked(seen_a, seen_b, block=block)
    if shapes := seen_a.notes.products + seen_b.notes.products:
        most_rows_of_a_at_once = max(left[0] for left, _ in shapes)
        assert most_rows_of_a_at_once == block
        most_columns_of_a_at_once = max(left[-1] for left, _ in shapes)
        assert most_columns_of_a_at_once == block
        most_columns_of_b_at_once = max(right[-1] for _, right in shapes)
        assert most_columns_of_b_at_once == block
        products_of_a_row_or_a_column = sum(len(left) < 2 or len(right) < 2 for left, right in shapes)
        assert products_of_a_row_or_a_column == 0
        products_of_tiles = len(shapes)
        assert products_of_tiles == 24


# Task 6: the traffic ------------------------------------------------------------------------------

@pytest.mark.task(6)
def test_least_traffic_reads_each_element_once_however_often_the_loop_does():
    def weighed(m, n, k, itemsize):
        shapes = {"a": (m, k), "b": (k, n), "out": (m, n)}
        return terms(**{name: np.empty(shape, f"V{itemsize}").nbytes for name, shape in shapes.items()})

    for m, n, k, itemsize in [(2, 4, 3, 8), (5, 7, 11, 4), (100, 1, 10, 2)]:
        assert_matches(lesson.matmul_min_bytes, m, n, k, itemsize, oracle=weighed)


@pytest.mark.task(2, 6)
def test_intensity_is_flops_for_each_byte():
    def intensity(m, n, k, itemsize):
        return 2 * m * n * k / (itemsize * (m * k + k * n + m * n))

    for m, n, k, itemsize in [(2, 4, 3, 8), (1024, 1024, 1024, 4), (4096, 1, 4096, 2)]:
        assert_matches(lesson.arithmetic_intensity, m, n, k, itemsize, oracle=intensity)
