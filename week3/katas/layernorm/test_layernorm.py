"""The kata again, as checks: Welford's state, a row read once, gradients by shares, all of it for autograd."""

import itertools
import re

import numpy as np
import pytest
import torch

from tools.check import (
    CompileError, assert_matches, compiled, compiled_by_torch, count, gradcheck, gradients, memory, saved_tensors,
    speed_ratio)
from tools.check.inputs import integers, matrices
from tools.check.tolerances import Tolerance, accumulated
from tools.gpu import device
from week3.katas.layernorm import layernorm as lesson

NAN, INF = float("nan"), float("inf")
EPS = 1e-5
FLOAT32 = 4  # bytes
EMPTY = 0, 0.0, 0.0


def tensor(values, dtype=torch.float32):
    return torch.tensor(values, dtype=dtype, device=device)


def numbers(rng, *shapes, dtype=torch.float32):
    return [torch.from_numpy(array).to(device, dtype) for array in matrices(rng, *shapes)]


def whole_numbers(rng, *shapes):
    return [torch.from_numpy(integers(rng, shape, 1, 9)).to(device, torch.float32) for shape in shapes]


def case(rng, rows, n, dtype=torch.float32, weight_dtype=None):
    """x, weight, bias."""
    x, = numbers(rng, (rows, n), dtype=dtype)
    return x, *numbers(rng, (n,), (n,), dtype=weight_dtype or dtype)


def story():
    """x, weight and bias of the lesson's picture."""
    return tensor([[1, 7, 7, 9]]), tensor([3, 6, 3, 2]), tensor([1, 0, 0, 1])


def apart(x, by=3):
    """The same rows further apart in memory, and NaN between them."""
    wide = torch.full((x.shape[0], x.shape[1] + by), NAN, dtype=x.dtype, device=x.device)
    wide[:, :x.shape[1]] = x
    return wide[:, :x.shape[1]]


def statistics(x, eps=EPS):
    """mean and rstd of each row."""
    mean = x.mean(-1)
    return mean, 1 / ((x - mean[..., None]).square().mean(-1) + eps).sqrt()


def normed(x, weight, bias, eps=EPS):
    mean, rstd = statistics(x, eps)
    return (x - mean[..., None]) * rstd[..., None] * weight + bias


def forward_by_hand(x, weight, bias, eps=EPS):
    return normed(x, weight, bias, eps), *statistics(x, eps)


def backward_by_autograd(d_out, x, weight, mean, rstd, programs=None):
    """The gradients of the formula; they do not hang on the bias."""
    with torch.enable_grad():
        leaves = [each.detach().requires_grad_() for each in (x, weight, torch.zeros_like(weight))]
        return torch.autograd.grad(normed(*leaves), leaves, d_out)


def summed(dtype, length):
    """Sums over a row or a column. Of 16 bits the inputs have no more digits than tf32 has."""
    tolerance = accumulated(dtype, length)
    return tolerance if dtype in ("float32", "float64") else tolerance.blind_to("tf32 round trip")


def loads_of(kernel):
    """Of what the compiler made: the width in bytes of each load that stands in it."""
    return [access.width for access in kernel.loads]


def products(kernel):
    """How many multiplications of integers the compiler was given in 64 bits, and how many in 32."""
    types = re.findall(r"arith\.muli .*: (?:tensor<[\dx]+x)?(i\d+)", kernel.text("ttir"))
    return types.count("i64"), types.count("i32")


def of_seven_digits(names, results, wanted):
    """Which of these float64 results are as far from what is wanted as those of float32 are, and no further."""
    errors = [float((got - want).abs().max() / want.abs().max()) for got, want in zip(results, wanted)]
    return " and ".join(name for name, error in zip(names, errors) if 1e-10 < error < 1e-5)


SEVEN_DIGITS = "Of float64 arguments, {} came out with the 7 digits of float32. Which line makes float32 of numbers?"


def zeros(*shapes, dtype=torch.float16):
    return [torch.zeros(shape, dtype=dtype, device=device) for shape in shapes]


def forward_compiled():
    """Of rows that take eight warps."""
    return compiled(lesson.layernorm_forward, *zeros((2, 8192), 8192, 8192), chip="h100").kernels["forward_kernel"]


def backward_compiled(n=8192):
    arguments = *zeros((2, n), (2, n), n), *zeros(2, 2, dtype=torch.float32)
    return compiled(lesson.layernorm_backward, *arguments, chip="h100").kernels["backward_kernel"]


# Task 1: Welford's state --------------------------------------------------------------------------

def state_of(numbers):
    """count, mean and m2 as they are defined."""
    mean = sum(numbers) / len(numbers) if numbers else 0.0
    return len(numbers), mean, sum((x - mean)**2 for x in numbers)


def after_adding(numbers):
    state = EMPTY
    for x in numbers:
        state = lesson.add(state, x)
    return state


@pytest.mark.task(1)
def test_the_first_number_is_the_mean():
    count, mean, m2 = lesson.add((0, 0.0, 0.0), 5.0)
    why = "A single number is its own mean: is one of the two distances measured to the new mean?"
    assert (count, mean, m2) == (1, 5.0, 0.0), why


@pytest.mark.task(1)
def test_another_7_after_1_and_7_moves_the_mean_to_5_and_m2_to_24():
    assert_matches(lesson.add, (2, 4.0, 18.0), 7.0, oracle=lambda state, x: (3, 5.0, 24.0))


@pytest.mark.task(1)
def test_the_row_of_the_lesson_ends_with_mean_6_and_variance_9():
    count, mean, m2 = after_adding([1.0, 7.0, 7.0, 9.0])
    assert (count, mean, m2 / count) == pytest.approx((4, 6, 9))


@pytest.mark.task(1)
@pytest.mark.tolerance
def test_a_mean_of_a_billion_leaves_the_variance_as_it_is():
    """Squares of such numbers are 1e18, and a float has 16 digits."""
    count, mean, m2 = after_adding([1e9 + 1, 1e9 + 7, 1e9 + 7, 1e9 + 9])
    assert m2 == pytest.approx(36, rel=1e-6), "Is a square taken of x or of the mean, before one is subtracted?"


@pytest.mark.task(1)
def test_two_halves_of_the_row_merge_to_the_state_of_all():
    assert_matches(lesson.merge, (2, 4.0, 18.0), (2, 8.0, 2.0), oracle=lambda a, b: (4, 6.0, 36.0))


@pytest.mark.task(1)
def test_parts_of_different_lengths_merge():
    count, mean, m2 = lesson.merge((1, 1.0, 0.0), (2, 7.0, 0.0))
    of_three = "The mean moves from 1 towards 7 by the share that the two have of all three numbers, to 5."
    instead = {4: "4 is the middle of 1 and 7: does the mean of two numbers count as much as that of one?",
               3: "3 is a third of the way from 1 to 7, the share of a: which part's numbers pull the mean of a?"}
    assert (count, mean, m2) == pytest.approx((3, 5, 24)), instead.get(round(mean, 6), of_three)


@pytest.mark.task(1)
@pytest.mark.edge
@pytest.mark.parametrize("a, b, both", [
    ((2, 4.0, 18.0), EMPTY, (2, 4.0, 18.0)), (EMPTY, (2, 4.0, 18.0), (2, 4.0, 18.0)), (EMPTY, EMPTY, EMPTY)])
def test_a_part_without_a_number_changes_nothing(a, b, both):
    assert_matches(lesson.merge, a, b, oracle=lambda a, b: both)


@pytest.mark.task(1)
def test_however_the_numbers_are_split_the_state_of_all_is_the_same(rng):
    values = [float(x) for x in rng.standard_normal(7)]
    for split in range(8):
        merged = lesson.merge(state_of(values[:split]), state_of(values[split:]))
        assert merged == pytest.approx(state_of(values))


@pytest.mark.task(1)
@pytest.mark.tolerance
def test_parts_with_a_mean_of_a_billion_merge_without_losing_digits():
    count, mean, m2 = lesson.merge((2, 1e9 + 4, 18.0), (2, 1e9 + 8, 2.0))
    assert m2 == pytest.approx(36, rel=1e-6)


# Task 2: a row, read once -------------------------------------------------------------------------

@pytest.mark.task(2)
def test_the_row_of_the_lesson_has_mean_6_and_becomes_minus_4_2_1_3():
    """Without eps, so that all is as in the picture."""
    assert_matches(lesson.layernorm_forward, *story(), eps=0.0, oracle=forward_by_hand)


@pytest.mark.task(2)
def test_a_row_of_4095_and_4097_has_variance_1():
    """The mean of the squares is 2**24 + 1, which float32 has not got."""
    x, weight, bias = tensor([[4095, 4097]]), tensor([1, 1]), tensor([0, 0])
    first, second = lesson.layernorm_forward(x, weight, bias)[0].flatten().tolist()
    why = "As if the variance were 0. What is left of 1 beside a square of 4096? Subtract the mean first."
    assert (first, second) == pytest.approx((-1, 1), rel=1e-4), why if abs(second) > 300 else "The variance is 1."


@pytest.mark.task(2)
def test_another_eps_is_added_to_the_variance():
    """A large one, so that it is easy to see on which side of the root it is."""
    x, weight, bias = story()
    assert_matches(lesson.layernorm_forward, x, weight, bias, eps=0.09, oracle=forward_by_hand)


@pytest.mark.task(2)
@pytest.mark.parametrize("n", [2, 15, 16, 17, 37])
def test_each_row_is_normed_by_itself_whatever_its_length(n, rng):
    x, weight, bias = case(rng, 3, n)
    _, mean, rstd = lesson.layernorm_forward(x, weight, bias)
    pairs = {"the numbers": (mean, x.mean(1)), "the squares": (rstd**-2 - EPS, x.var(1, correction=0))}
    block = 1 << (n - 1).bit_length()
    by_block = [of for of, (got, want) in pairs.items() if n < block and torch.allclose(got, want * n / block, 1e-3)]
    why = f"As if the sum of {' and of '.join(by_block)} were divided by {block}. How many numbers has a row?"
    assert by_block == [], why
    assert_matches(lesson.layernorm_forward, x, weight, bias, oracle=forward_by_hand, tolerance=summed("float32", n))


@pytest.mark.task(2)
@pytest.mark.edge
def test_rows_of_equal_numbers_become_the_bias():
    x, weight, bias = tensor([[5, 5, 5, 5], [1, 7, 7, 9]]), *story()[1:]
    assert_matches(lesson.layernorm_forward, x, weight, bias, oracle=forward_by_hand)


@pytest.mark.task(2)
@pytest.mark.edge
@pytest.mark.parametrize("rows, n", [(0, 5), (1, 1), (3, 1)])
def test_there_may_be_no_row_or_one_number_in_a_row(rows, n, rng):
    x, weight, bias = whole_numbers(rng, (rows, n), (n,), (n,))
    assert_matches(lesson.layernorm_forward, x, weight, bias, oracle=forward_by_hand)


@pytest.mark.task(2)
@pytest.mark.edge
def test_a_row_may_be_131072_numbers_wide(rng):
    x, weight, bias = case(rng, 1, 131072)
    y = lesson.layernorm_forward(x, weight, bias)[0]
    assert torch.allclose(y.double(), normed(x.double(), weight.double(), bias.double()), rtol=1e-4, atol=1e-4)


@pytest.mark.task(2)
def test_rows_may_lie_apart_in_memory(rng):
    three_apart, weight, bias = tensor([[1, 2, 3], [4, 5, 6]])[:, :2], tensor([1, 1]), tensor([0, 0])
    mean_of_row_1 = lesson.layernorm_forward(three_apart, weight, bias)[1][1].item()
    why = "Row 1 was read 2 behind row 0, where 3 and 4 are. It is 3 behind: which argument of the kernel is 3?"
    assert mean_of_row_1 != 3.5, why
    x, weight, bias = case(rng, 5, 37)
    assert_matches(lesson.layernorm_forward, apart(x), weight, bias, oracle=forward_by_hand,
                   tolerance=summed("float32", 37))


@pytest.mark.task(2)
def test_a_row_of_float16_may_have_a_sum_that_float16_cannot_hold():
    x, weight, bias = zeros((1, 400), 400, 400)
    mean = float(lesson.layernorm_forward(x + 300, weight, bias)[1])
    assert mean == 300, "400 numbers of 300 are 120000, and float16 ends at 65504. Is x converted before it is summed?"


@pytest.mark.task(2)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_numbers_of_16_bits_are_normed_in_float32(dtype, rng):
    """The sum of 400 numbers near 300 is more than float16 can hold."""
    x, weight, bias = case(rng, 3, 400, weight_dtype=torch.float32)
    x = (300 + 100 * x).to(dtype)
    assert_matches(y_of_layernorm_forward, x, weight, bias, oracle=normed,
                   tolerance=summed(str(dtype).removeprefix("torch."), 400))


def y_of_layernorm_forward(x, weight, bias):
    return lesson.layernorm_forward(x, weight, bias)[0]


@pytest.mark.task(2)
@pytest.mark.parametrize("dtype", [torch.float16, torch.float64])
def test_y_has_the_dtype_of_x_and_mean_and_rstd_that_of_sums(dtype, rng):
    x, weight, bias = case(rng, 3, 40, dtype=dtype, weight_dtype=torch.float32)
    y, mean, rstd = lesson.layernorm_forward(x, weight, bias)
    assert (y.dtype, mean.dtype, rstd.dtype) == (dtype, *[lesson.sums_like(x).dtype] * 2)


@pytest.mark.task(2)
@pytest.mark.tolerance
def test_float64_is_normed_in_float64(rng):
    x, weight, bias = case(rng, 3, 37, dtype=torch.float64)
    by_hand, results = forward_by_hand(x, weight, bias), lesson.layernorm_forward(x, weight, bias)
    in_float32 = of_seven_digits(["y", "mean", "rstd"], results, by_hand)
    assert in_float32 == "", SEVEN_DIGITS.format(in_float32)
    assert_matches(lesson.layernorm_forward, x, weight, bias, eps=2**-16, oracle=forward_by_hand,
                   tolerance=accumulated("float64", 37))


@pytest.mark.task(2)
@pytest.mark.nonfinite
@pytest.mark.parametrize("strange", [NAN, INF])
def test_what_is_not_finite_spoils_its_own_row_alone(strange, rng):
    x, weight, bias = case(rng, 3, 5)
    x[1, 2] = strange
    y = lesson.layernorm_forward(x, weight, bias)[0]
    spoilt_rows = y.isnan().any(1).tolist()
    assert spoilt_rows == [False, True, False]


@pytest.mark.task(2)
@pytest.mark.counters
def test_each_number_is_loaded_once_and_stored_once_by_one_kernel(rng):
    rows, n = 5, 37
    x, weight, bias = case(rng, rows, n)
    counters = count(lesson.layernorm_forward, apart(x), weight, bias)
    bytes_of_x, weight_and_bias, mean_and_rstd = FLOAT32 * rows * n, FLOAT32 * rows * 2 * n, FLOAT32 * rows * 2
    assert counters.library_operations == []
    assert [launch.kernel for launch in counters.launches] == ["forward_kernel"]
    x_is_loaded_twice = counters.bytes_loaded == 2 * bytes_of_x + weight_and_bias
    assert not x_is_loaded_twice, "As many bytes too much as x has. The row is in registers: what loads it again?"
    assert counters.bytes_loaded <= bytes_of_x + weight_and_bias
    assert counters.bytes_stored == bytes_of_x + mean_and_rstd


@pytest.mark.task(2)
@pytest.mark.counters
def test_float32_stays_float32(rng):
    """n may be converted once a program, no more."""
    counters = count(lesson.layernorm_forward, *case(rng, 5, 37))
    assert counters.float64 == 0
    assert counters.conversions <= 5


@pytest.mark.task(2)
@pytest.mark.compiled
def test_rows_of_8192_numbers_take_the_warps_of_block_and_warps():
    warps = forward_compiled().num_warps
    assert warps == 8, "Does the launch end in **block_and_warps(n), which has BLOCK and num_warps?"


@pytest.mark.task(2)
@pytest.mark.compiled
def test_a_thread_loads_sixteen_bytes_of_a_row_at_once():
    kernel = forward_compiled()
    spills, widest_load = kernel.spills, max(loads_of(kernel))
    assert spills == 0
    assert widest_load == 16


@pytest.mark.task(2)
@pytest.mark.compiled
def test_registers_leave_room_for_four_programs_on_an_sm():
    """A row of 8192 float16: one program's threads hold 32 numbers each, and 65536 registers are for all."""
    programs_on_an_sm = forward_compiled().occupancy.blocks
    assert programs_on_an_sm >= 4, "weight and bias hold registers from their load on: which steps do not need them?"


@pytest.mark.task(2)
@pytest.mark.compiled
def test_the_beginning_of_a_row_is_computed_in_64_bits():
    """Row 2**20 of 8192 numbers begins at 2**33, which 32 bits cannot hold."""
    kernel = forward_compiled()
    rows_of_x_and_of_y_begin_in_64_bits, begin_in_32_bits = products(kernel)
    assert rows_of_x_and_of_y_begin_in_64_bits >= 2
    assert begin_in_32_bits == 0


@pytest.mark.task(2)
@pytest.mark.hopper
@pytest.mark.speed
def test_norms_at_nearly_the_speed_of_a_copy():
    x, weight, bias = (torch.randn(shape, device=device).half() for shape in ((8192, 8192), 8192, 8192))

    def copy(x, weight, bias):
        return x.clone()

    assert speed_ratio(lesson.layernorm_forward, copy, x, weight, bias) >= 0.8


# Task 3: gradients --------------------------------------------------------------------------------

def backward_case(rng, rows, n, dtype=torch.float32, weight_dtype=None):
    """d_out, x, weight, and mean and rstd of x."""
    x, d_out = numbers(rng, (rows, n), (rows, n), dtype=dtype)
    weight, = numbers(rng, (n,), dtype=weight_dtype or dtype)
    mean, rstd = (each.to(torch.promote_types(dtype, torch.float32)) for each in statistics(x.double()))
    return d_out, x, weight, mean, rstd


def assert_goes_back(d_out, x, weight, mean, rstd, **programs):
    tolerance = summed(str(x.dtype).removeprefix("torch."), max(x.shape))
    assert_matches(lesson.layernorm_backward, d_out, x, weight, mean, rstd, oracle=backward_by_autograd,
                   tolerance=tolerance, **programs)


@pytest.mark.task(3)
def test_the_gradient_of_weight_does_not_hang_on_weight():
    """y is x_hat * weight + bias, and grows by x_hat with weight."""
    d_out, x, mean, rstd = tensor([[1, 1]]), tensor([[-1, 1]]), tensor([0]), tensor([1])
    d_weight = lesson.layernorm_backward(d_out, x, tensor([5, 5]), mean, rstd)[1].tolist()
    by_weight = "As if it were multiplied by weight, 5. What does y grow by when weight does: x_hat, or more?"
    assert d_weight == [-1, 1], by_weight if d_weight == [-5, 5] else "x_hat is -1 and 1 here, and d_out is 1."


@pytest.mark.task(3)
def test_means_on_the_way_back_are_those_of_n_numbers():
    """Of g = 1 + x_hat both means are 1, and nothing is left of it."""
    x, d_out = tensor([[-2, -1, 0, 1, 2]]) / 2**0.5, 1 + tensor([[-2, -1, 0, 1, 2]]) / 2**0.5
    d_x = lesson.layernorm_backward(d_out, x, torch.ones_like(x[0]), *tensor([[0], [1]]))[0]
    one, by_eight = torch.ones_like(x), "As if a sum of 5 numbers were divided by 8 in: {}. Is n or BLOCK below it?"
    causes = {by_eight.format("mean(g)"): (1 - 5 / 8) * one,
              by_eight.format("mean(g * x_hat)"): (1 - 5 / 8) * x,
              by_eight.format("Each mean"): (1 - 5 / 8) * d_out,
              "Of g = 1 + x_hat 1 is left, which is mean(g). If all of a row grows by 1, what does the mean?": one,
              "Of g = 1 + x_hat x_hat is left. If x is twice as far from its mean, what becomes of rstd?": x,
              "All of g = 1 + x_hat is left. Which ways go through mean and through rstd?": d_out,
              "As if 1, which is mean(g * x_hat), were taken off as it is: by what is it multiplied?": x - one}
    both = "Of g = 1 + x_hat mean(g) takes off 1, and x_hat * mean(g * x_hat) takes off x_hat: what does yours?"
    why = next((cause for cause, left in causes.items() if torch.allclose(d_x, left, atol=1e-5)), both)
    to_four_places = [round(each, 4) for each in d_x.flatten().tolist()]
    assert to_four_places == [0, 0, 0, 0, 0], why


def times_rstd(d_x, rstd):
    """How often rstd is a factor of each part of d_x, where g is (1, 0, 0) and x_hat (-1, -1, 2) / sqrt(2).

    None if no such numbers make this d_x. -1: divided by it. All are 1 in a right d_x.
    """
    g, mean_of_g, by_x_hat = tensor([1, 0, 0]), tensor([1, 1, 1]) / 3, tensor([1, 1, -2]) / 6
    for of_g, of_mean, of_x_hat in itertools.product((-1, 0, 1, 2), repeat=3):
        column = rstd[:, None]
        made = g * column**of_g - mean_of_g * column**of_mean - by_x_hat * column**of_x_hat
        if torch.allclose(d_x, made, rtol=1e-3, atol=1e-3):
            return {"g": of_g, "mean(g)": of_mean, "x_hat * mean(g * x_hat)": of_x_hat}
    return None


def why_by_rstd(times):
    """What these factors come from; None if they are unknown, or right."""
    if times is None or set(times.values()) == {1}:
        return None
    if list(times.values()) == [1, 1, -1]:
        return "As if x_hat were x - mean in d_x. By what is x - mean multiplied?"
    words = {-1: "is divided by rstd", 0: "has no rstd", 2: "has rstd twice"}
    parts = [(words[power], part) for part, power in times.items() if power != 1]
    named = "; ".join(f"{part} {what}" for what, part in parts)
    named = f"each part {parts[0][0]}" if len(parts) == 3 and len(dict(parts)) == 1 else named
    return f"Row 0 is right, and its rstd is 1. In d_x, as it seems: {named}. How often should each part have it?"


@pytest.mark.task(3)
def test_each_row_is_normed_by_its_own_mean_and_rstd():
    """All rows have the same x_hat, so that d_x * rstd**-1 is the same in all."""
    mean, rstd = tensor([3, 5, 7, 9, 11]), tensor([1, 2, 4, 8, 16])
    x, d_out = mean[:, None] + tensor([-1, -1, 2]) / rstd[:, None] / 2**0.5, tensor([[1, 0, 0]] * 5)
    d_x = lesson.layernorm_backward(d_out, x, torch.ones_like(x[0]), mean, rstd, programs=2)[0]
    without_rstd, with_rstd = (
        [row for row in range(5) if torch.allclose(d_x[row] / factor[row], tensor([.5, -.5, 0]), atol=1e-3)]
        for factor in (torch.ones_like(rstd), rstd))
    each_row_lacks_rstd = without_rstd == [0, 1, 2, 3, 4]
    assert not each_row_lacks_rstd, "Each row of d_x is too small by its own rstd. What is the last factor of d_x?"
    own = "Only the first row of each of the two programs is right. Are mean and rstd those of row, or of p?"
    others = "Which mean and rstd do the others get?" if with_rstd else None
    in_the_formula = why_by_rstd(times_rstd(d_x, rstd))
    assert in_the_formula is None, in_the_formula
    right_rows = with_rstd
    assert right_rows == [0, 1, 2, 3, 4], own if right_rows == [0, 1] else others


@pytest.mark.task(3)
def test_the_row_of_the_lesson_has_the_gradients_of_the_picture():
    d_out, (x, weight, _) = tensor([[0, 0, 0, 2]]), story()
    mean, rstd = statistics(x)
    gradients_found = lesson.layernorm_backward(d_out, x, weight, mean, rstd)
    d_x, d_weight, d_bias = ([round(each, 2) for each in found.flatten().tolist()] for found in gradients_found)
    means = {(.39, -.28, -.28, .83): "mean(g)", (-.06, -.39, -.39, .83): "mean(g * x_hat)"}
    instead = means.get(tuple(d_x))
    why = f"As if {instead} were .5, not 1: d_out stands in it in place of g. Where does weight come in?"
    assert instead is None, why
    assert d_bias != [0, 0, 0, 4], "d_bias is 4: the sum of g, 2 * 2. Does weight stand between y and bias?"
    assert d_weight != [0, 0, 0, 18], "d_weight is 18: d_out is 2, x is 9, x_hat 1. Which of them does weight multiply?"
    assert_goes_back(d_out, x, weight, mean, rstd)


@pytest.mark.task(3)
def test_each_program_counts_all_of_its_rows():
    """d_out is 1, so that each element of d_bias is the number of rows."""
    x, d_out = torch.zeros(5, 4, device=device), torch.ones(5, 4, device=device)
    mean, rstd = torch.ones(2, 5, device=device)
    rows_in_d_bias = lesson.layernorm_backward(d_out, x, d_out[0], mean, rstd, programs=2)[2].tolist()
    last = "One row of each program is in the sum: what becomes of a sum when the next row comes?"
    assert rows_in_d_bias == [5] * 4, last if rows_in_d_bias == [2] * 4 else "Five rows, two programs: all must be in."


@pytest.mark.task(3)
def test_one_row_has_the_gradients_of_the_formula(rng):
    assert_goes_back(*backward_case(rng, 1, 37))


@pytest.mark.task(3)
def test_two_programs_add_up_the_gradients_of_five_rows(rng):
    assert_goes_back(*backward_case(rng, 5, 6), programs=2)


@pytest.mark.task(3)
@pytest.mark.parametrize("programs", [1, 3, 5, 20])
@pytest.mark.parametrize("n", [15, 16, 17])
def test_any_number_of_programs_gives_the_same(n, programs, rng):
    assert_goes_back(*backward_case(rng, 5, n), programs=programs)


@pytest.mark.task(3)
def test_rows_of_d_out_and_of_x_lie_apart_in_their_own_ways(rng):
    d_out, x, *others = backward_case(rng, 5, 37)
    assert_goes_back(apart(d_out, 2), apart(x, 5), *others, programs=2)


@pytest.mark.task(3)
@pytest.mark.edge
@pytest.mark.parametrize("rows, n", [(0, 5), (1, 1), (3, 1)])
def test_there_may_be_no_row_or_one_number_in_a_row_to_go_back_from(rows, n, rng):
    d_out, x, weight = whole_numbers(rng, (rows, n), (rows, n), (n,))
    assert_matches(lesson.layernorm_backward, d_out, x, weight, *statistics(x), oracle=backward_by_autograd)


@pytest.mark.task(3)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_shares_of_16_bit_gradients_are_added_up_in_float32(dtype, rng):
    d_out, x, weight, mean, rstd = backward_case(rng, 40, 16, dtype, weight_dtype=torch.float32)
    d_x, d_weight, d_bias = lesson.layernorm_backward(d_out, x, weight, mean, rstd, programs=3)
    wide = (each.double() for each in (d_out, x, weight))
    wanted = backward_by_autograd(*wide, None, None)
    largest_error = float((d_bias.double() - wanted[2]).abs().max())
    assert (d_x.dtype, d_weight.dtype, d_bias.dtype) == (dtype, torch.float32, torch.float32)
    assert largest_error <= 1e-5 * float(wanted[2].abs().max())


@pytest.mark.task(3)
def test_a_share_of_2049_is_rounded_to_float16_only_in_the_sum():
    """float16 has 2048 and 2050, not 2049. Rows 0 and 2 are of one program, rows 1 and 3 of another."""
    d_out, x = tensor([[2048], [1], [1], [0]], torch.float16), tensor([[0]] * 4, torch.float16)
    d_bias = float(lesson.layernorm_backward(d_out, x, x[0], *zeros(4, 4, dtype=torch.float32), programs=2)[2])
    early = "2049 + 1 came out as 2048: were shares rounded to float16 before they were added up?"
    assert d_bias == 2050, early if d_bias == 2048 else "2048 + 1 + 1 + 0."


@pytest.mark.task(3)
@pytest.mark.tolerance
def test_float64_goes_back_in_float64(rng):
    d_out, x, weight = numbers(rng, (4, 5), (4, 5), (5,), dtype=torch.float64)
    by_hand = backward_by_autograd(d_out, x, weight, None, None)
    try:
        results = lesson.layernorm_backward(d_out, x, weight, *statistics(x), programs=2)
    except CompileError:
        results = by_hand  # assert_goes_back has a question about it
    in_float32 = of_seven_digits(["d_x", "d_weight", "d_bias"], results, by_hand)
    assert in_float32 == "", SEVEN_DIGITS.format(in_float32)
    assert_goes_back(d_out, x, weight, *statistics(x), programs=2)


@pytest.mark.task(3)
def test_the_product_of_d_out_and_weight_may_be_too_large_for_float16(rng):
    """300 * 300 is, and with an rstd near 1 / 300 the gradient is not."""
    x, = numbers(rng, (3, 16))
    x, d_out = ((300 * each).half() for each in (x, x.flip(1).sign()))
    weight = torch.full((16,), 300.0, dtype=torch.float16, device=device)
    mean, rstd = (each.float() for each in statistics(x.double()))
    gradients = lesson.layernorm_backward(d_out, x, weight, mean, rstd)
    d_x_is_finite = bool(gradients[0].isfinite().all())
    assert d_x_is_finite, "300 * 300 is more than 65504. Is d_out converted before it is multiplied by weight?"
    assert [gradient.dtype for gradient in gradients] == [torch.float16] * 3


@pytest.mark.task(3)
@pytest.mark.counters
def test_x_and_d_out_are_loaded_once_and_weight_once_a_program(rng):
    rows, n, programs = 11, 37, 3
    counters = count(lesson.layernorm_backward, *backward_case(rng, rows, n), programs=programs)
    x_and_d_out, mean_and_rstd, weight = FLOAT32 * rows * 2 * n, FLOAT32 * rows * 2, FLOAT32 * programs * n
    d_x, shares = FLOAT32 * rows * n, FLOAT32 * programs * 2 * n
    assert [launch.kernel for launch in counters.launches] == ["backward_kernel"]
    assert counters.programs <= programs
    assert counters.bytes_atomic == 0, "Each program has its own row of shares: nothing is added in memory."
    assert counters.bytes_loaded <= x_and_d_out + mean_and_rstd + weight
    assert counters.bytes_stored <= d_x + shares


@pytest.mark.task(3)
@pytest.mark.counters
def test_there_are_no_more_programs_than_rows(rng):
    counters = count(lesson.layernorm_backward, *backward_case(rng, 3, 8), programs=20)
    assert counters.programs <= 3


@pytest.mark.task(3)
@pytest.mark.counters
def test_pytorch_adds_up_all_shares_at_once_and_does_nothing_else(rng):
    counters = count(lesson.layernorm_backward, *backward_case(rng, 11, 37), programs=3)
    operations = counters.library_operations
    twice = "PyTorch adds up twice. Of two shares: shares.sum(1) is both at once. Of d_out: the kernel has it at hand."
    assert len(operations) <= 1, twice if operations == ["torch.sum"] * 2 else "PyTorch adds up the shares, no more."


@pytest.mark.task(3)
@pytest.mark.counters
def test_rows_that_lie_apart_are_not_copied_on_the_way_back(rng):
    d_out, x, *others = backward_case(rng, 16, 128)
    counters = count(lesson.layernorm_backward, apart(d_out), apart(x), *others, programs=4)
    assert len(counters.library_operations) <= 1, "What copies d_out or x? The kernel takes a row stride of each."


@pytest.mark.task(3)
@pytest.mark.counters
def test_gradients_of_float32_stay_float32(rng):
    counters = count(lesson.layernorm_backward, *backward_case(rng, 11, 37), programs=3)
    assert counters.float64 == 0
    assert counters.conversions <= 11


@pytest.mark.task(3)
@pytest.mark.compiled
def test_a_row_is_found_in_64_bits_on_the_way_back():
    """In d_out, x and d_x. One product of 32 bits may be that of shares, which are few."""
    kernel = backward_compiled()
    rows_begin_in_64_bits, in_32_bits = products(kernel)
    assert rows_begin_in_64_bits >= 3, "row has the dtype of p, where tl.range begins: is p converted to int64?"
    assert in_32_bits <= 1


@pytest.mark.task(3)
@pytest.mark.compiled
def test_rows_are_on_their_way_while_others_are_at_work():
    shared_bytes, two_rows_of_x_and_of_d_out = backward_compiled().shared_bytes, 2 * 2 * 8192 * 2
    why = "No row waits in shared memory: does tl.range get num_stages=STAGES?"
    assert shared_bytes >= two_rows_of_x_and_of_d_out, why


@pytest.mark.task(3)
@pytest.mark.compiled
def test_wide_rows_of_which_few_fit_do_not_wait():
    """Two rows of x and two of d_out, 64 KiB each, are more than the 227 KiB of shared memory."""
    a_row = 32768 * 2
    try:
        shared_bytes = backward_compiled(32768).shared_bytes
    except CompileError as refused:
        if "bytes of shared memory" not in str(refused):
            raise
        shared_bytes = INF
    assert shared_bytes < a_row, "Too many rows wait in shared memory. STAGES is 1 for such rows: does tl.range get it?"


@pytest.mark.task(3)
@pytest.mark.compiled
def test_both_sums_fit_the_registers():
    kernel = backward_compiled()
    spills, widest_load = kernel.spills, max(loads_of(kernel))
    assert spills == 0
    assert widest_load == 16


@pytest.mark.task(3)
@pytest.mark.hopper
@pytest.mark.speed
def test_goes_back_at_nearly_two_thirds_of_the_speed_of_a_copy():
    """A copy of one and a half x moves as many bytes: three halves read, three written."""
    d_out, x, weight = (torch.randn(shape, device=device).half() for shape in ((8192, 8192), (8192, 8192), 8192))
    mean, rstd = (each.float() for each in statistics(x.float()))
    more = torch.empty(12288, 8192, dtype=torch.float16, device=device)

    def copy(d_out, x, weight, mean, rstd):
        return more.clone()

    assert speed_ratio(lesson.layernorm_backward, copy, d_out, x, weight, mean, rstd) >= 0.65


# Task 4: for autograd -----------------------------------------------------------------------------

@pytest.mark.task(4)
@pytest.mark.parametrize("shape, rows", [((5,), 1), ((2, 5), 2), ((2, 3, 5), 6), ((2, 0, 5), 0)])
def test_rows_are_made_of_any_shape(shape, rows, rng):
    x, = numbers(rng, shape)
    made = lesson.as_rows(x)
    assert made.shape == (rows, 5)
    assert made.flatten().tolist() == x.flatten().tolist()


@pytest.mark.task(4)
@pytest.mark.parametrize("shape", [(4, 6), (2, 3, 8)])
def test_elements_of_a_row_are_made_to_lie_side_by_side(shape, rng):
    x, = numbers(rng, shape)
    distance = lesson.as_rows(x[..., ::2]).stride(1)
    assert distance == 1


@pytest.mark.task(4)
@pytest.mark.counters
def test_rows_that_lie_apart_are_not_copied(rng):
    x, = numbers(rng, (64, 32))
    bytes_of_copies = memory(lesson.as_rows, apart(x)).peak
    why = "Elements of a row lie side by side here, and kernels take row strides. What copies them?"
    assert bytes_of_copies == 0, why


@pytest.mark.task(2, 4)
def test_layernorm_of_the_lesson_is_minus_4_2_1_3():
    assert_matches(lesson.layernorm, *story(), oracle=normed)


@pytest.mark.task(2, 4)
def test_eps_reaches_the_kernel():
    """-1 and 1 have variance 1; with eps = 3 rstd is 1 / 2."""
    y = lesson.layernorm(tensor([-1, 1]), tensor([1, 1]), tensor([0, 0]), 3.0)
    assert y.shape == (2,), "x has one axis. What gives y the shape of x again?"
    y = y.tolist()
    why = "As if eps were 1e-5, not 3: does forward hand eps on?" if abs(y[1] - 1) < 1e-3 else "rstd is 1 / 2 here."
    assert y == pytest.approx([-0.5, 0.5]), why


@pytest.mark.task(2, 4)
@pytest.mark.parametrize("shape", [(5,), (4, 5), (2, 3, 5), (2, 0, 5)])
def test_the_last_axis_is_normed_in_any_layout(shape, rng):
    x, weight, bias = numbers(rng, shape, (5,), (5,))
    assert_matches(lesson.layernorm, x, weight, bias, oracle=normed, tolerance=summed("float32", 5), layouts="any")


@pytest.mark.task(2, 3, 4)
def test_the_way_back_has_the_gradients_of_the_picture():
    assert_matches(gradients(lesson.layernorm), *story(), d_out=tensor([[0, 0, 0, 2]]), oracle=gradients(normed))


@pytest.mark.task(2, 3, 4)
@pytest.mark.parametrize("shape", [(5,), (2, 3, 5), (2, 0, 5)])
def test_gradients_have_the_shapes_of_their_arguments_in_any_layout(shape, rng):
    x, weight, bias, d_out = numbers(rng, shape, (5,), (5,), shape)
    assert_matches(gradients(lesson.layernorm), x, weight, bias, d_out=d_out, oracle=gradients(normed),
                   tolerance=summed("float32", 6), layouts="any")


@pytest.mark.task(2, 3, 4)
def test_a_sum_hands_on_a_d_out_of_a_single_number(rng):
    x, weight, bias = numbers(rng, (4, 5), (5,), (5,))
    d_out = torch.ones((), device=device).expand(4, 5)
    assert_matches(gradients(lesson.layernorm), x, weight, bias, d_out=d_out, oracle=gradients(normed),
                   tolerance=summed("float32", 5))


@pytest.mark.task(2, 3, 4)
def test_eps_is_handed_on_and_has_no_gradient(rng):
    x, weight, bias, d_out = numbers(rng, (4, 5), (5,), (5,), (4, 5))
    assert_matches(gradients(lesson.layernorm), x, weight, bias, eps=0.5, d_out=d_out, oracle=gradients(normed),
                   tolerance=summed("float32", 5))


@pytest.mark.task(2, 3, 4)
def test_the_gradients_are_how_the_result_changes(rng):
    """In float64, by differences of layernorm itself."""
    gradcheck(lesson.layernorm, *numbers(rng, (2, 3, 5), (5,), (5,), dtype=torch.float64))


@pytest.mark.task(2, 3, 4)
def test_the_gradients_are_the_same_under_torch_compile(rng):
    x, weight, bias, d_out = numbers(rng, (3, 4, 5), (5,), (5,), (3, 4, 5))
    function = compiled_by_torch(lesson.layernorm)
    assert_matches(gradients(function), x.mT.contiguous().mT, weight, bias, d_out=d_out, oracle=gradients(normed),
                   tolerance=summed("float32", 12))


def assert_no_copy_waits(saved, x, weight):
    """x and weight have elements that lie apart, which a copy has side by side."""
    __tracebackhide__ = True
    copied = {name for name, wanted in (("x", x), ("weight", weight)) for each in saved
              if torch.equal(each.flatten(), wanted.flatten()) and each.stride(-1) != wanted.stride(-1)}
    copies = " and ".join(f"a copy of {name}" for name in sorted(copied))
    why = f"What waits is {copies}. Save what came, and call {{}} once more on the way back."
    again = {"x": "as_rows(x)", "weight": "weight.contiguous()"}
    assert copied == set(), why.format(" and ".join(again[name] for name in sorted(copied)))


@pytest.mark.task(2, 3, 4)
@pytest.mark.counters
def test_mean_and_rstd_alone_wait_for_the_way_back(rng):
    rows, n = 8, 64
    wide, wide_weight, bias, d_out = numbers(rng, (rows, 2 * n), (2 * n,), (n,), (rows, n))
    x, weight = wide[:, ::2], wide_weight[::2]
    assert_no_copy_waits(saved_tensors(lesson.layernorm)(x, weight, bias), x, weight)
    mean_and_rstd = FLOAT32 * 2 * rows
    used = memory(gradients(lesson.layernorm), x, weight, bias, d_out=d_out)
    assert used.saved <= mean_and_rstd


@pytest.mark.task(2, 4)
def test_autograd_keeps_the_arguments_and_not_the_result(rng):
    """It tells of a tensor that was changed before the backward only if save_for_backward has it."""
    wide_x, wide_weight, bias = numbers(rng, (6, 16), (16,), (8,))
    x, weight = wide_x[:, ::2], wide_weight[::2]
    saved = saved_tensors(lesson.layernorm)(x, weight, bias)
    y = lesson.layernorm(x, weight, bias)
    saves_x, saves_y = (any(torch.equal(each.flatten(), wanted.flatten()) for each in saved) for wanted in (x, y))
    assert saves_x, "Backward needs x: is it handed to ctx.save_for_backward?"
    assert not saves_y, "y waits for the backward: what does layernorm_backward need it for?"
    assert_no_copy_waits(saved, x, weight)


@pytest.mark.task(2, 3, 4)
@pytest.mark.counters
def test_both_ways_are_one_kernel_each(rng):
    x, weight, bias, d_out = numbers(rng, (2, 6, 8), (8,), (8,), (2, 6, 8))
    counters = count(gradients(lesson.layernorm), x, weight, bias, d_out=d_out)
    kernels = [launch.kernel for launch in counters.launches]
    assert kernels == ["forward_kernel", "backward_kernel"]


@pytest.mark.task(2, 3, 4)
@pytest.mark.counters
def test_neither_x_nor_d_out_is_copied_where_their_rows_lie_apart(rng):
    rows, n = 8, 128
    x, weight, bias, d_out = numbers(rng, (rows, n), (n,), (n,), (rows, n))
    y, d_x, shares = (FLOAT32 * rows * n * matrices for matrices in (1, 1, 2))  # as many programs as rows
    vectors = FLOAT32 * (2 * rows + 4 * n)
    used = memory(gradients(lesson.layernorm), apart(x), weight, bias, d_out=apart(d_out))
    assert used.peak <= y + d_x + shares + vectors
