"""The kata again, as checks: axes in the order of memory, moments in one read, gradients by broadcasting."""

import re

import pytest
import torch

from tools.check import (
    assert_matches, compiled, compiled_by_torch, count, gradcheck, gradients, memory, saved_tensors, speed_ratio)
from tools.check.inputs import matrices
from tools.check.tolerances import accumulated
from tools.gpu import device
from week3.katas.reductions_nd import reductions_nd as lesson

NAN, INF = float("nan"), float("inf")
FLOAT32 = 4  # bytes


def tensor(values, dtype=torch.float32):
    return torch.tensor(values, dtype=dtype, device=device)


def numbers(rng, *shapes, dtype=torch.float32):
    return [torch.from_numpy(array).to(device, dtype) for array in matrices(rng, *shapes)]


def story():
    """x of the lesson's picture."""
    return tensor([[[1, 10], [2, 30], [6, 20]], [[5, 20], [5, 60], [8, 40]]])


def window(x):
    """The same numbers with NaN around them, so that no two axes can be read as one."""
    wide = torch.full([size + 1 for size in x.shape], NAN, dtype=x.dtype, device=x.device)
    inside = wide[tuple(slice(size) for size in x.shape)]
    inside[...] = x
    return inside


def of_axis(x, axis, correction=1):
    """Mean and variance as they are defined; the axis keeps length 1."""
    n = x.shape[axis]
    mean = x.sum(axis, keepdim=True) / n
    return mean, (x - mean).square().sum(axis, keepdim=True) / max(n - correction, 0)


def mean_and_variance(x, axis, keepdim=False, correction=1):
    axis = axis % max(x.dim(), 1)
    found = of_axis(x if x.dim() else x[None], axis, correction)
    return tuple(each if keepdim and x.dim() else each.squeeze(axis) for each in found)


def by_autograd(d_mean, d_var, x, mean, axis, correction):
    with torch.enable_grad():
        leaf = x.detach().requires_grad_()
        return torch.autograd.grad(of_axis(leaf, axis, correction), leaf, (d_mean, d_var))[0]


# Task 1: axes in the order of memory --------------------------------------------------------------

@pytest.mark.task(1)
@pytest.mark.parametrize("strides, axis, order", [
    ((6, 2, 1), 1, [0, 2]), ((1, 2, 6), 1, [2, 0]), ((1, 12, 4), 1, [2, 0]), ((5, 40, 1, 10), 2, [1, 3, 0]),
    ((7,), 0, []), ((0, 3, 0), 1, [0, 2])])
def test_kept_axes_go_from_the_longest_stride_to_the_shortest(strides, axis, order):
    kept = list(lesson.kept_axes(strides, axis))
    why = f"They are in the order of x. Along which of them is a step longer, with strides {strides}?"
    assert kept == order, why if kept == sorted(order) else None


@pytest.mark.task(1)
@pytest.mark.parametrize("sizes, strides, fewer", [
    ([2, 2], [6, 1], ([2, 2], [6, 1])),
    ([3, 4], [20, 5], ([12], [5])),
    ([2, 3, 4], [60, 20, 5], ([24], [5])),
    ([2, 3, 4], [70, 20, 5], ([2, 12], [70, 5])),
    ([2, 3, 4], [60, 20, 1], ([6, 4], [20, 1]))])
def test_axes_merge_where_a_step_along_one_is_a_pass_along_the_next(sizes, strides, fewer):
    found = tuple(lesson.merged(sizes, strides))
    why = f"The last axis ends after {sizes[-1]} steps of {strides[-1]}. Does the next step of the other lead there?"
    assert found == fewer, why if len(found[0]) != len(fewer[0]) else None


@pytest.mark.task(1)
@pytest.mark.edge
@pytest.mark.parametrize("sizes, strides, fewer", [
    ([], [], ([], [])), ([1], [7], ([], [])), ([1, 1, 1], [9, 9, 1], ([], [])),
    ([3, 1, 4], [20, 7, 5], ([12], [5])), ([1, 5], [5, 1], ([5], [1])),
    ([4, 5], [0, 0], ([20], [0])), ([5, 4], [1, 0], ([5, 4], [1, 0]))])
def test_axes_of_size_1_are_left_out_and_strides_may_be_0(sizes, strides, fewer):
    assert tuple(lesson.merged(sizes, strides)) == fewer


# Task 2: moments ----------------------------------------------------------------------------------

def assert_moments(x, axis, correction=1, **options):
    name = "float64" if x.dtype == torch.float64 else "float32"
    options.setdefault("tolerance", accumulated(name, x.shape[axis]))
    assert_matches(lesson.moments, x, axis, correction, oracle=of_axis, **options)


@pytest.mark.task(2)
def test_the_first_column_of_the_lesson_has_mean_3_and_variance_7():
    mean, var = (round(float(each), 3) for each in lesson.moments(tensor([1, 2, 6]), 0))
    why = {(3, 14): "14 is the sum of squares.",
           (3, 4.667): "As if the sum of squares were divided by n = 3, not by n - 1.",
           (3, 11.5): "As if place 4 of the tile, where no element is, had a deviation too: 0 - 3.",
           (3, 7.844): "As if deviations were taken from 9 / 4: how many of the 4 places of the tile are elements?",
           (2.25, 7.844): "2.25 is 9 / 4: how many of the 4 places of the tile are elements?"}
    assert (mean, var) == (3, 7), why.get((mean, var))


@pytest.mark.task(2)
def test_both_columns_of_the_lesson_are_reduced_along_their_own_axis():
    means = [round(each, 2) for each in lesson.moments(story()[0], 0)[0].flatten().tolist()]
    why = "4.33 is (1 + 10 + 2) / 3, three neighbours in memory. How far is a step along axis 0?"
    assert means == [3, 20], why if means[0] == 4.33 else None


@pytest.mark.task(2)
def test_the_last_block_may_have_fewer_results_than_places():
    """Three results of three elements each, in a tile of 4 by 4."""
    assert_matches(lesson.moments, tensor([[1, 10, 5], [2, 30, 5], [6, 20, 8]]), 0, oracle=of_axis)


@pytest.mark.task(2)
@pytest.mark.counters
@pytest.mark.parametrize("shape, axis, block_kept, block_n", [((40, 1024), 1, 4, 1024), ((1024, 40), 0, 32, 128)])
def test_the_tile_is_long_where_neighbours_lie(shape, axis, block_kept, block_n):
    counters = count(lesson.moments, torch.zeros(shape, device=device), axis)
    bytes_of_sectors = 32 * counters.sectors
    why = {(1, 1): f"1 program ran, as if it had {block_n} results. The tile of tile_for has {block_kept} results by "
                   f"{block_n} elements: does the grid count results, and which name did each block get?",
           (1, 10): f"The tile of tile_for has {block_kept} results by {block_n} elements. Which name did each get?",
           (0, 10): f"10 programs ran, as if tile_for had said 4 results by 1024 elements. It says {block_kept} by "
                    f"{block_n}, as kept_stride is 1 and axis_stride 40: in which order did it get them?"}
    assert bytes_of_sectors <= 1.1 * counters.bytes, why.get((axis, counters.programs))


@pytest.mark.task(2)
@pytest.mark.parametrize("axis", [1, 0, 2])
def test_the_tensor_of_the_lesson_is_reduced_along_each_axis(axis):
    assert_matches(lesson.moments, story(), axis, oracle=of_axis)


@pytest.mark.task(2)
@pytest.mark.parametrize("correction, divided_by", [(0, 3), (1, 2), (2, 1)])
def test_the_correction_is_taken_off_n(correction, divided_by):
    sum_of_squares = float(lesson.moments(tensor([1, 2, 6]), 0, correction)[1]) * divided_by
    assert sum_of_squares == pytest.approx(14)


@pytest.mark.task(2)
@pytest.mark.parametrize("axis", [0, 1, 2, 3])
def test_axes_may_lie_in_any_order(axis, rng):
    x, = numbers(rng, (3, 2, 7, 5))
    assert_moments(x.permute(2, 0, 3, 1), axis)


@pytest.mark.task(2)
@pytest.mark.parametrize("axis", [0, 1, 2, 3])
def test_axes_may_have_gaps_that_keep_them_from_merging(axis, rng):
    assert_moments(window(*numbers(rng, (3, 2, 7, 5))), axis)


@pytest.mark.task(2)
@pytest.mark.parametrize("shape, axis", [((2, 5, 3), 1), ((5, 3), 0), ((3, 5), 1), ((9,), 0)])
def test_the_same_numbers_may_lie_anywhere(shape, axis, rng):
    assert_moments(*numbers(rng, shape), axis, layouts="any")


@pytest.mark.task(2)
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_a_broadcast_axis_is_read_where_its_one_element_lies(axis, rng):
    x, = numbers(rng, (5, 1, 3))
    assert_moments(x.expand(5, 4, 3), axis)


@pytest.mark.task(2)
def test_a_tensor_of_seven_axes_with_gaps_is_reduced_too(rng):
    assert_moments(window(*numbers(rng, (2, 3, 2, 2, 3, 2, 2))), 4)


@pytest.mark.task(2)
def test_two_tiles_of_equal_numbers_have_the_spread_of_their_means():
    """128 zeros and 128 twos: 256 squares of 1."""
    x = torch.zeros(256, 32, device=device)
    x[128:] = 2
    sum_of_squares = round(float(lesson.moments(x, 0)[1][0, 0]) * 255, 3)
    why = {0: "Within each tile all numbers are equal. How far are the two tiles apart, and does m2 know?",
           64: "As if delta were 2 - 1, from the mean of both tiles. Which mean was there before the second tile?"}
    assert sum_of_squares == 256, why.get(sum_of_squares)


@pytest.mark.task(2)
@pytest.mark.parametrize("n", [127, 128, 129, 257])
def test_a_long_axis_across_the_columns_is_read_tile_by_tile(n, rng):
    assert_moments(*numbers(rng, (2, n, 33)), 1)


@pytest.mark.task(2)
@pytest.mark.parametrize("n", [4095, 4097, 8193])
def test_a_long_axis_of_neighbours_is_read_tile_by_tile(n, rng):
    assert_moments(*numbers(rng, (3, n)), 1)


@pytest.mark.task(2)
@pytest.mark.edge
@pytest.mark.parametrize("shape, axis", [((0, 3), 1), ((3, 0, 2), 0), ((2, 3, 0), 1), ((2, 0, 2, 0, 2, 0, 2, 3), 7)])
def test_there_may_be_no_result(shape, axis):
    assert_moments(torch.zeros(shape, device=device), axis)


@pytest.mark.task(2)
@pytest.mark.edge
@pytest.mark.parametrize("shape, axis", [((0,), 0), ((3, 0, 2), 1)])
def test_along_an_empty_axis_both_are_nan(shape, axis):
    assert_moments(torch.zeros(shape, device=device), axis)


@pytest.mark.task(2)
@pytest.mark.edge
def test_a_single_number_has_a_mean_and_no_sample_variance():
    var = float(lesson.moments(tensor([5]), 0)[1])
    assert str(var) == "nan", "0 / 0 was wanted: n - correction is 1 - 1. By what was 0 divided?" if var == 0 else None
    assert_matches(lesson.moments, tensor([[5], [7]]), 1, oracle=of_axis)
    assert_matches(lesson.moments, tensor([[5], [7]]), 1, correction=0, oracle=of_axis)


@pytest.mark.task(2)
@pytest.mark.edge
def test_a_correction_beyond_n_makes_an_infinite_variance():
    var = float(lesson.moments(tensor([1, 2, 6]), 0, correction=5)[1])
    why = {-7: "-7 is 14 / (3 - 5): what does a divisor below 0 count as?",
           7: "7 is 14 / 2. The divisor is 3 - 5, which is below 0: what does it count as?",
           14: "14 is 14 / 1. The divisor is 3 - 5, which is below 0: does it count as 1?"}
    assert var == INF, why.get(var)


@pytest.mark.task(2)
def test_4095_and_4097_have_variance_2():
    var = float(lesson.moments(tensor([4095, 4097]), 0)[1])
    why = "Squares of x are near 2**24, where float32 has even numbers alone. What is squared in place of x itself?"
    assert var == 2, why if var == 0 else None


@pytest.mark.task(2)
@pytest.mark.tolerance
def test_tiles_far_from_0_join_without_losing_digits(rng):
    """The sum of 257 squares of 2000 is 10**9, where float32 has steps of 64."""
    x = 2000 + numbers(rng, (257, 5))[0]
    var = lesson.moments(x, 0)[1]
    relative_error = float((var / x.double().var(0) - 1).abs().max())
    assert relative_error < 1e-4


@pytest.mark.task(2)
@pytest.mark.tolerance
def test_float64_stays_float64_across_tiles(rng):
    x, = numbers(rng, (257, 33), dtype=torch.float64)
    found, wanted = lesson.moments(x, 0), of_axis(x, 0)
    error_of_mean, error_of_var = (float((each / want - 1).abs().max()) for each, want in zip(found, wanted))
    why = "The mean has the digits of float64. Which factor that joins two tiles is computed of integers alone?"
    in_float32 = error_of_mean < 1e-10 and 1e-13 < error_of_var < 1e-6
    if 1e-10 < error_of_mean < 1e-3:
        in_float32, why = True, "x is float64, and its mean has the digits of float32. In which dtype are sums kept?"
    assert error_of_var < 1e-13, why if in_float32 else None
    assert_moments(x, 0)


@pytest.mark.task(2)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_16_bits_are_summed_in_float32_and_stay_there(dtype, rng):
    """Their sum, at least 120,000, is beyond float16."""
    x = (1200 + 400 * numbers(rng, (300, 2))[0].clamp(-2, 2)).to(dtype)
    finite = [each.isfinite().all().item() for each in lesson.moments(x, 0)]
    total = int(x.double().sum(0).max())
    why = f"The sum of 300 elements is up to {total:,}; float16 ends at 65,504. In which dtype are x and its sum?"
    assert finite == [True, True], why if dtype == torch.float16 and not finite[0] else None
    assert_moments(x, 0)


@pytest.mark.task(2)
@pytest.mark.nonfinite
@pytest.mark.parametrize("strange", [NAN, INF])
def test_what_is_not_finite_spoils_its_own_result_alone(strange):
    x = torch.ones(3, 3000, device=device)
    x[1, 20] = strange
    mean, var = lesson.moments(x.T.contiguous(), 0)
    means = [str(each) for each in mean.flatten().tolist()]
    why = "The tile after the infinity lies -inf from the mean so far: what is inf + -inf?"
    assert means == ["1.0", str(strange), "1.0"], why if strange == INF and means[1] == "nan" else None
    spoilt_variances = var.isnan().flatten().tolist()
    assert spoilt_variances == [False, True, False]


@pytest.mark.task(2)
@pytest.mark.counters
@pytest.mark.parametrize("shape, axis, tiles", [((3, 40, 20), 1, 2), ((3, 20, 40), 2, 1), ((40, 3, 20), 0, 2)])
def test_each_element_is_loaded_once_by_one_kernel(shape, axis, tiles, rng):
    x, = numbers(rng, shape)
    counters = count(lesson.moments, x, axis)
    bytes_of_x, two_results = FLOAT32 * x.numel(), FLOAT32 * 2 * 60
    assert counters.library_operations == []
    assert [launch.kernel for launch in counters.launches] == ["moments_kernel"]
    assert counters.programs <= tiles, (f"{counters.programs} programs ran for 60 results; with the tile of tile_for "
                                        f"{tiles} would do. Is the tile another one, or does the grid not fit it?")
    assert counters.bytes_loaded <= bytes_of_x
    assert counters.bytes_stored <= two_results
    assert counters.float64 == 0


@pytest.mark.task(2)
@pytest.mark.counters
@pytest.mark.parametrize("shape, order, axis", [
    ((4096, 32), (0, 1), 0), ((32, 4096), (0, 1), 1), ((16, 64, 32), (0, 1, 2), 1), ((16, 4, 40), (2, 1, 0), 1)])
def test_whole_sectors_are_read_along_any_axis(shape, order, axis):
    x = torch.zeros(shape, device=device).permute(order)
    counters = count(lesson.moments, x, axis)
    bytes_of_sectors = 32 * counters.sectors
    assert bytes_of_sectors <= 1.1 * counters.bytes


@pytest.mark.task(2)
@pytest.mark.counters
def test_a_tensor_with_gaps_is_not_copied():
    x = window(torch.zeros(16, 7, 8, 4, device=device))
    two_results = FLOAT32 * 2 * 16 * 8 * 4
    used = memory(lesson.moments, x, 1)
    why = "That is a copy of x before the kernel reads it. What does the kernel get that tells where elements lie?"
    assert used.peak <= two_results, why if used.peak >= x.nbytes else None


@pytest.mark.task(2)
@pytest.mark.compiled
@pytest.mark.parametrize("axis", [0, 1])
def test_a_thread_loads_sixteen_bytes_at_once_along_either_axis(axis):
    x = torch.zeros(1024, 2048, dtype=torch.float16, device=device)
    kernel = compiled(lesson.moments, x, axis, chip="h100").kernels["moments_kernel"]
    spills, widest_load = kernel.spills, max(access.width for access in kernel.loads)
    assert spills == 0
    assert widest_load == 16


@pytest.mark.task(2)
@pytest.mark.compiled
def test_places_beyond_2_to_the_31_are_computed_in_64_bits():
    x = torch.zeros(1024, 2048, dtype=torch.float16, device=device)
    kernel = compiled(lesson.moments, x, 0, chip="h100").kernels["moments_kernel"]
    products = re.findall(r"arith\.muli .*: (?:tensor<[\dx]+x)?(i\d+)", kernel.text("ttir"))
    places_in_64_bits = products.count("i64")
    assert places_in_64_bits >= 2, "Steps between results, and steps along the axis, may both lead beyond 2**31."


@pytest.mark.task(2)
@pytest.mark.hopper
@pytest.mark.speed
@pytest.mark.parametrize("axis", [0, 1])
def test_reads_at_more_than_half_of_the_speed_of_a_copy(axis):
    """A copy of half of x moves as many bytes: half read, half written."""
    x = torch.randn(8192, 8192, device=device)

    def copy(x, axis):
        return x[:4096].clone()

    assert speed_ratio(lesson.moments, copy, x, axis) >= 0.6


# Task 3: gradients --------------------------------------------------------------------------------

@pytest.mark.task(3)
def test_a_d_mean_of_3_gives_each_of_three_elements_1():
    x = tensor([1, 2, 6])
    d_x = lesson.moments_backward(tensor([3]), None, x, tensor([3]), 0, 1).tolist()
    assert d_x == [1, 1, 1], "How much of a mean of three numbers is one of them?" if d_x == [3, 3, 3] else None


@pytest.mark.task(3)
def test_a_d_var_of_1_gives_the_deviations_of_the_lesson():
    x = tensor([1, 2, 6])
    d_x = [round(each, 3) for each in lesson.moments_backward(None, tensor([1]), x, tensor([3]), 0, 1).tolist()]
    why = {-1: "The slope of a square is twice what is squared.", -1.333: "n - correction is 2 here.",
           -4: "The sum of squares is divided by n - correction: so is its slope."}
    assert d_x == [-2, -1, 3], why.get(d_x[0])


@pytest.mark.task(3)
def test_both_gradients_of_the_lesson_give_1_and_the_deviations():
    d_x = lesson.moments_backward(tensor([3]), tensor([1]), tensor([1, 2, 6]), tensor([3]), 0, 1)
    d_x = [round(each, 3) for each in d_x.tolist()]
    why = {(1, 2, 6): "As if all of d_mean = 3 were added to each: how much of it is one element's?",
           (-2, -1, 3): "d_var came through, and d_mean did not."}
    assert d_x == [-1, 0, 4], why.get(tuple(d_x))


@pytest.mark.task(3)
def test_the_mean_is_not_rounded_to_16_bits_before_it_is_subtracted():
    """Between 256 and 512 bfloat16 has the even numbers alone."""
    x = tensor([256, 258], torch.bfloat16)
    d_x = lesson.moments_backward(None, tensor([1]), x, tensor([257]), 0, 1).tolist()
    assert d_x == [-2, 2], "As if the mean were 256: 257 is no bfloat16." if d_x == [0, 4] else None


@pytest.mark.task(3)
@pytest.mark.parametrize("axis, correction", [(0, 0), (1, 1), (2, 3)])
def test_both_gradients_add_up(axis, correction, rng):
    x, = numbers(rng, (5, 4, 7))
    mean = of_axis(x.double(), axis)[0].float()
    assert_matches(lesson.moments_backward, *numbers(rng, mean.shape, mean.shape), x, mean, axis, correction,
                   oracle=by_autograd, tolerance=accumulated("float32", x.shape[axis]))


@pytest.mark.task(3)
@pytest.mark.edge
@pytest.mark.parametrize("x, mean, correction, wanted", [([5], 5, 1, [NAN]), ([1, 2, 6], 3, 5, [-INF, -INF, INF])])
def test_a_divisor_of_0_makes_gradients_that_are_not_finite(x, mean, correction, wanted):
    d_x = lesson.moments_backward(None, tensor([1]), tensor(x), tensor([mean]), 0, correction).tolist()
    why = {(2, 1, -3): "As if d_var * 2 * (x - mean) were divided by 3 - 5. What does a divisor below 0 count as?",
           (-2, -1, 3): "As if d_var * 2 * (x - mean) were divided by 2. What does a divisor of 3 - 5 count as?",
           (-4, -2, 6): "As if a divisor of 3 - 5, which is below 0, counted as 1. What does it count as?",
           (0,): "0 / 0 was wanted: n - correction is 1 - 1. By what was 0 divided?"}
    assert str(d_x) == str(wanted), why.get(tuple(d_x))


@pytest.mark.task(3)
def test_gradients_of_16_bits_are_rounded_once(rng):
    x, = numbers(rng, (40, 8), dtype=torch.bfloat16)
    d_mean, d_var = numbers(rng, (1, 8), (1, 8))
    d_x = lesson.moments_backward(d_mean, d_var, x, x.float().mean(0, keepdim=True), 0, 1)
    wide = by_autograd(d_mean.double(), d_var.double(), x.double(), None, 0, 1)
    of_the_mean_alone = lesson.moments_backward(d_mean, None, x, d_mean, 0, 1)
    assert (d_x.dtype, of_the_mean_alone.dtype) == (torch.bfloat16, torch.bfloat16)
    in_half_steps = (d_x.double() - wide).abs() / (2**-8 * wide.abs() + 1e-5)
    of_mean = d_mean.double() / 40
    twice = ((wide - of_mean).bfloat16() + of_mean).bfloat16(), (of_mean.bfloat16() + (wide - of_mean)).bfloat16()
    why = "As if the first of two terms were rounded to bfloat16 before the other is added: which line makes it so?"
    rounded_twice = max((d_x == each).double().mean() for each in twice) > 0.9
    assert in_half_steps.max().item() <= 1, why if rounded_twice else None


@pytest.mark.task(3)
@pytest.mark.counters
def test_the_gradient_of_the_mean_alone_needs_no_memory_of_the_size_of_x(rng):
    x, = numbers(rng, (32, 64, 16))
    d_mean, mean = numbers(rng, *[(32, 1, 16)] * 2)
    used = memory(lesson.moments_backward, d_mean, None, x, mean, 1, 1)
    two_small_tensors = 2 * mean.nbytes
    why = f"d_mean / n is {mean.numel()} numbers, and a view shows them to all of x. Which line makes {x.numel()}?"
    assert used.peak <= two_small_tensors, why if used.peak >= x.nbytes else None


@pytest.mark.task(3)
@pytest.mark.counters
def test_no_more_than_two_tensors_of_the_size_of_x_are_alive(rng):
    x, = numbers(rng, (32, 64, 16))
    d_mean, d_var, mean = numbers(rng, *[(32, 1, 16)] * 3)
    used = memory(lesson.moments_backward, d_mean, d_var, x, mean, 1, 1)
    two_tensors_and_small_ones = 2 * x.nbytes + 4 * mean.nbytes
    assert used.peak <= two_tensors_and_small_ones


@pytest.mark.task(1, 2, 3)
@pytest.mark.parametrize("keepdim, shape", [(False, (2, 2)), (True, (2, 1, 2))])
def test_the_axis_stays_with_keepdim_alone(keepdim, shape):
    mean, var = lesson.mean_var(story(), 1, keepdim=keepdim)
    assert (tuple(mean.shape), tuple(var.shape)) == (shape, shape)


@pytest.mark.task(1, 2, 3)
@pytest.mark.edge
def test_other_axes_of_size_1_stay():
    mean, var = lesson.mean_var(torch.ones(1, 5, 3, device=device), 1)
    why = "x has shape (1, 5, 3), and axis 1 alone was to go."
    assert (tuple(mean.shape), tuple(var.shape)) == ((1, 3), (1, 3)), why if mean.shape == (3,) else None


@pytest.mark.task(1, 2, 3)
@pytest.mark.parametrize("shape, axis, keepdim", [
    ((2, 5, 3), -2, False), ((5, 3), -2, True), ((3, 5), -1, False), ((2, 3, 2, 4), 2, True)])
def test_mean_and_variance_of_any_axis_in_any_layout(shape, axis, keepdim, rng):
    assert_matches(lesson.mean_var, *numbers(rng, shape), axis, keepdim, oracle=mean_and_variance,
                   tolerance=accumulated("float32", 5), layouts="any")


@pytest.mark.task(1, 2, 3)
@pytest.mark.edge
@pytest.mark.parametrize("axis", [0, -1])
@pytest.mark.parametrize("keepdim", [False, True])
def test_a_tensor_without_axes_is_a_single_number(axis, keepdim):
    assert_matches(lesson.mean_var, tensor(5.0), axis, keepdim, oracle=mean_and_variance)


@pytest.mark.task(1, 2, 3)
@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_the_way_back_broadcasts_in_any_layout(axis, keepdim, rng):
    x, = numbers(rng, (4, 5, 3))
    d_out = tuple(numbers(rng, *[tuple(mean_and_variance(x, axis, keepdim)[0].shape)] * 2))
    assert_matches(gradients(lesson.mean_var), x, axis, keepdim=keepdim, d_out=d_out,
                   oracle=gradients(mean_and_variance), tolerance=accumulated("float32", 5), layouts="any")


@pytest.mark.task(1, 2, 3)
def test_a_sum_hands_on_gradients_of_a_single_number(rng):
    x, = numbers(rng, (4, 5, 3))
    d_out = tuple(torch.full((), value, device=device).expand(4, 3) for value in (1.0, 2.0))
    assert_matches(gradients(lesson.mean_var), x, 1, d_out=d_out, oracle=gradients(mean_and_variance),
                   tolerance=accumulated("float32", 5))


@pytest.mark.task(1, 2, 3)
@pytest.mark.edge
def test_the_mean_of_a_single_number_has_a_gradient_though_its_variance_has_none():
    d_x, = gradients(lesson.mean_var)(tensor([[5], [7]]), 1, d_out=(tensor([1, 2]), None))
    assert d_x.tolist() == [[1], [2]]


@pytest.mark.task(1, 2, 3)
@pytest.mark.edge
@pytest.mark.parametrize("shape, axis", [((3, 0), 1), ((0, 3), 1)])
def test_nothing_has_a_gradient_of_nothing(shape, axis):
    x, ones = torch.zeros(shape, device=device), torch.ones(shape[0], device=device)
    d_x, = gradients(lesson.mean_var)(x, axis, d_out=(ones, ones))
    assert tuple(d_x.shape) == shape


@pytest.mark.task(1, 2, 3)
@pytest.mark.parametrize("axis, correction", [(1, 1), (-1, 0)])
def test_the_gradients_are_how_the_results_change(axis, correction, rng):
    """In float64, by differences of mean_var itself, of a tensor whose axes lie in another order."""
    x, = numbers(rng, (2, 5, 3), dtype=torch.float64)
    gradcheck(lesson.mean_var, x.permute(2, 0, 1), axis, correction=correction)


@pytest.mark.task(1, 2, 3)
def test_the_gradients_are_the_same_under_torch_compile(rng):
    x, = numbers(rng, (3, 5, 4))
    d_out = tuple(numbers(rng, (4, 3), (4, 3)))
    assert_matches(gradients(compiled_by_torch(lesson.mean_var)), x.mT.transpose(0, 1), 2, d_out=d_out,
                   oracle=gradients(mean_and_variance), tolerance=accumulated("float32", 5))


@pytest.mark.task(1, 2, 3)
@pytest.mark.counters
def test_the_mean_alone_waits_for_the_way_back(rng):
    x, = numbers(rng, (32, 64, 16))
    x, d_out, one_mean = x.transpose(0, 1), tuple(numbers(rng, (32, 16), (32, 16))), 32 * 16
    numbers_beside_x = sum(each.numel() for each in saved_tensors(lesson.mean_var)(x, 0)) - x.numel()
    why = "As many numbers as mean and var have together. What does moments_backward take of the two?"
    assert numbers_beside_x <= one_mean, why if numbers_beside_x == 2 * one_mean else None
    used = memory(gradients(lesson.mean_var), x, 0, d_out=d_out)
    assert used.saved <= FLOAT32 * one_mean
