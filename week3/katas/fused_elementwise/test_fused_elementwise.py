"""The kata again, as checks: a mask from seed and offset, one kernel for each way, a bias that is summed, autograd."""

import re
from collections import Counter

import numpy as np
import pytest
import torch

from tools.check import (
    assert_matches, compiled, compiled_by_torch, count, gradcheck, gradients, memory, saved_tensors, speed_ratio)
from tools.check.inputs import matrices
from tools.check.tolerances import accumulated
from tools.gpu import device
from week3.katas.fused_elementwise import fused_elementwise as lesson

NAN = float("nan")
FLOAT32 = 4  # bytes
SEED = 7     # that of the lesson's picture
BIAS_ONCE = "bias is the same in every row: which line loads it once for all of a program's rows?"
PHILOX = "Philox is asked more often than once for eight columns."
BESIDE = "The kernel takes 16 bits, and rows that lie apart. What else is done, and what for?"


def tensor(values, dtype=torch.float32):
    return torch.tensor(values, dtype=dtype, device=device)


def numbers(rng, *shapes, dtype=torch.float32):
    return [torch.from_numpy(array).to(device, dtype) for array in matrices(rng, *shapes)]


def above_0(rng, *shapes):
    """As numbers, but none below 0: far below, 0.5 + 0.5 * erf cancels, and a few elements would lose their digits."""
    return [each.abs() for each in numbers(rng, *shapes)]


def story():
    """x and bias of the lesson's picture; x + bias is 1, 2, 2, -1."""
    return tensor([[0, 1, 2, -2]]), tensor([1, 1, 0, 1])


def apart(x, by=3):
    """The same rows further apart in memory, and NaN between them."""
    wide = torch.full((x.shape[0], x.shape[1] + by), NAN, dtype=x.dtype, device=x.device)
    wide[:, :x.shape[1]] = x
    return wide[:, :x.shape[1]]


def philox(seed, offset):
    """Four words of 32 bits for each offset, by the seven rounds of Salmon et al. (2011)."""
    offset = np.asarray(offset, np.uint64)
    low, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    a, b, c, d = offset & low, offset >> half, 0 * offset, 0 * offset
    for i in range(7):
        first, second = a * np.uint64(0xD2511F53), c * np.uint64(0xCD9E8D57)
        key = [np.uint64((k + i * step) % 2**32) for k, step in ((seed, 0x9E3779B9), (seed >> 32, 0xBB67AE85))]
        a, b, c, d = (second >> half) ^ b ^ key[0], second & low, (first >> half) ^ d ^ key[1], first & low
    return np.stack([a, b, c, d], -1)


def draws(rows, n, seed, begin=0):
    """(rows, n) whole numbers from 0 to 65535: the two halves of each word, the lower one first."""
    words = philox(seed, begin + np.arange(rows * -(-n // 8)))
    halves = np.stack([words & np.uint64(0xFFFF), words >> np.uint64(16)], -1)
    return halves.reshape(rows, 8 * -(-n // 8))[:, :n].astype(np.int64)


def not_dropped(rows, n, p, seed, begin=0):
    """Row 0 begins with the offset `begin`."""
    return draws(rows, n, seed, begin) >= p * 65536


def gelu(u):
    return u * 0.5 * (1 + torch.erf(u / 2**0.5))


def step_by_step(x, bias, p, seed, **tile):
    keep = not_dropped(x[..., 0].numel(), x.shape[-1], p, seed).reshape(x.shape)
    return torch.where(torch.from_numpy(keep).to(x.device), gelu(x + bias) / (1 - p), 0.0)


def backward_by_autograd(d_out, x, bias, p, seed, **tiles):
    with torch.enable_grad():
        leaves = [each.detach().requires_grad_() for each in (x, bias)]
        return torch.autograd.grad(step_by_step(*leaves, p, seed), leaves, d_out)


def if_it_is(value, reasons):
    """The reason that goes with this value, "" without one."""
    return next((f"As if {reason}" for known, reason in reasons.items() if abs(value - known) < 1e-5), "")


def summed(dtype, rows):
    """A bias has a sum over rows. Of 16 bits the inputs have no more digits than tf32 has."""
    tolerance = accumulated(dtype, rows)
    return tolerance if dtype in ("float32", "float64") else tolerance.blind_to("tf32 round trip")


def assert_rows_are_on_axis_0(launch, strips):
    """A grid (i, j): i has what there may be most of, rows or their programs, and j the strips."""
    along_other_axes = max(launch.grid[1:], default=1)
    why = (f"The grid is {launch.grid}, of {strips} strips. Axis 1 takes 65535 programs at most, and\n"
           "axis 0 takes 2**31 - 1. Which axis has the rows?")
    assert along_other_axes <= strips, why


def offsets_asked(kernel):
    """For how many offsets a program runs Philox: each of its seven rounds has two products of 32 bits by 32.

    The compiler leaves out one of the fourteen, a product with 0.
    """
    products = Counter(re.findall(r"tt\.mulhiui .*: tensor<(\d+)xi32>", kernel.text("ttir")))
    return sum(int(length) * -(-count // 14) for length, count in products.items())


def assert_compiles_well(function, kernel, *shapes):
    arguments = [torch.zeros(shape, dtype=torch.float16, device=device) for shape in shapes]
    kernel = compiled(function, *arguments, 0.25, SEED, chip="h100").kernels[kernel]
    ttir, spills, widest_load = kernel.text("ttir"), kernel.spills, max(load.width for load in kernel.loads)
    offsets_of_a_tile, calls_of_erf = offsets_asked(kernel), ttir.count("math.erf")
    products_in_64_bits = len(re.findall(r"arith\.muli .*: (?:tensor<[\dx]+x)?i64", ttir))
    assert calls_of_erf == 0, "x has 16 bits: the short cdf is enough for it. What was handed to SHORT?"
    assert spills == 0
    assert widest_load == 16
    assert offsets_of_a_tile <= lesson.TILE / 8, PHILOX
    assert products_in_64_bits >= 1, "Row 2**20 of 8192 numbers begins at 2**33: which product needs 64 bits?"


# Task 1: the mask ---------------------------------------------------------------------------------

@pytest.mark.task(1)
def test_of_the_picture_column_2_is_dropped():
    kept_columns = lesson.kept_places(rows=1, n=4, p=0.25, seed=7).tolist()
    why = "Draw 11183 is below 16384, and 32199 is not. Which of them is kept?"
    assert kept_columns == [[True, True, False, True]], why if kept_columns == [[False, False, True, False]] else ""


@pytest.mark.task(1)
def test_row_1_of_20_columns_begins_with_offset_3():
    first_row, second_row = lesson.kept_places(rows=2, n=20, p=0.25, seed=7).tolist()
    rows_from = [not_dropped(1, 20, 0.25, 7, offset)[0].tolist() for offset in range(3)]  # where row 1 does not begin
    why = (f"As if row 1 began with offset {rows_from.index(second_row)}. How many offsets has row 0 used up?"
           if second_row in rows_from else "")
    assert [first_row, second_row] == not_dropped(2, 20, 0.25, 7).tolist(), why


@pytest.mark.task(1)
@pytest.mark.parametrize("tile", [8, 16, 32])
def test_tiles_have_offsets_of_their_own(tile):
    """Of row 0 alone, 40 columns: the mask is the same for any tile."""
    row, = lesson.kept_places(rows=1, n=40, p=0.5, seed=7, tile=tile).tolist()
    alike = all(one == other for one, other in zip(row, row[tile:]))
    why = f"Each tile of {tile} columns drops the same places: where does `start` come in?" if alike else ""
    if row[tile:2 * tile] == not_dropped(1, tile, 0.5, 7, tile)[0, :40 - tile].tolist():
        why = f"As if the tile at start = {tile} began with offset {tile}. How many columns share an offset?"
    assert row == not_dropped(1, 40, 0.5, 7)[0].tolist(), why


@pytest.mark.task(1)
@pytest.mark.parametrize("n", [1, 7, 8, 9, 15, 16, 17, 37])
def test_rows_of_any_length_have_the_mask_of_their_offsets(n):
    mask = lesson.kept_places(3, n, 0.375, 2**40 + 5, tile=16).tolist()
    assert mask == not_dropped(3, n, 0.375, 2**40 + 5).tolist()


@pytest.mark.task(1)
@pytest.mark.edge
def test_a_draw_that_is_just_the_threshold_is_kept():
    """The draw of column 2 is 11183: at p = 11183 / 65536 it is not below the threshold."""
    column_2_is_kept = [lesson.kept_places(1, 4, p / 65536, 7)[0, 2].item() for p in (11183, 11184)]
    assert column_2_is_kept == [True, False], "Draws below the threshold are dropped: 11183 is not below 11183."


@pytest.mark.task(1)
@pytest.mark.edge
def test_p_0_keeps_all_and_p_1_nothing():
    kept_of_200 = [lesson.kept_places(2, 100, p, 7).sum().item() for p in (0.0, 1.0)]
    assert kept_of_200 == [200, 0]


@pytest.mark.task(1)
@pytest.mark.compiled
def test_philox_is_asked_once_for_eight_columns():
    kernel = compiled(lesson.kept_places, 2, 4096, 0.25, 7, chip="h100").kernels["mask_kernel"]
    offsets_of_a_tile = offsets_asked(kernel)
    assert offsets_of_a_tile <= lesson.TILE / 8, PHILOX


# Task 2: forward ----------------------------------------------------------------------------------

@pytest.mark.task(1, 2)
def test_gelu_of_2_is_the_exact_one():
    result = lesson.gelu_dropout_forward(tensor([[2]]), tensor([0]), 0.0, SEED).item()
    reasons = {1.954598: "GELU were that by tanh: u * cdf(u) is exact.",
               1.954516: "cdf were the short one: x has 32 bits. What was handed to SHORT?"}
    assert result == pytest.approx(1.954500, abs=2e-6), if_it_is(result, reasons)


@pytest.mark.task(1, 2)
def test_what_is_kept_is_divided_by_1_minus_p_once_and_behind_the_gelu():
    """At p = .5 column 7 is kept: gelu(1) / .5."""
    last = lesson.gelu_dropout_forward(tensor([[1] * 8]), tensor([0] * 8), 0.5, SEED)[0, 7].item()
    reasons = {0.841345: "it were not scaled.", 3.365379: "it were scaled twice.",
               1.954500: "dropout came before the GELU: this is gelu(u * scale)."}
    assert last == pytest.approx(1.682689, rel=1e-5), if_it_is(last, reasons)


@pytest.mark.task(1, 2)
def test_the_row_of_the_lesson_has_the_results_of_the_picture():
    assert_matches(lesson.gelu_dropout_forward, *story(), 0.25, SEED, oracle=step_by_step)


@pytest.mark.task(1, 2)
@pytest.mark.parametrize("rows, n", [(5, 15), (5, 16), (5, 17), (5, 37), (0, 5), (1, 1), (3, 1)])
def test_rows_and_tiles_of_any_length_drop_what_the_seed_says(rows, n, rng):
    x, bias = above_0(rng, (rows, n), (n,))
    assert_matches(lesson.gelu_dropout_forward, x, bias, 0.25, 11, oracle=step_by_step, tile=16)


@pytest.mark.task(1, 2)
def test_rows_may_lie_apart_in_memory(rng):
    x, bias = numbers(rng, (5, 37), (37,))
    assert_matches(lesson.gelu_dropout_forward, apart(x), bias, 0.25, SEED, oracle=step_by_step, tile=16)


@pytest.mark.task(1, 2)
@pytest.mark.tolerance
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
def test_results_have_the_digits_of_their_dtype(dtype, rng):
    x, bias = numbers(rng, (3, 100), (100,), dtype=getattr(torch, dtype))
    assert_matches(lesson.gelu_dropout_forward, x, bias, 0.5, SEED, oracle=step_by_step, tile=64,
                   tolerance=summed(dtype, 1))


@pytest.mark.task(1, 2)
@pytest.mark.edge
def test_x_and_bias_together_may_be_too_large_for_float16():
    """-60000 - 60000 is; as a float32 it is a number, whose gelu is 0."""
    x, bias = tensor([[-60000, 3]], torch.float16), tensor([-60000, 0], torch.float16)
    first, second = lesson.gelu_dropout_forward(x, bias, 0.0, SEED)[0].tolist()
    why = ("u is -infinity in float16, and -infinity times 0 is NaN.\n"
           "Which loads are without wide(...) around them?" if first != first else "")
    assert (first, second) == pytest.approx((0, 2.9959), rel=1e-3), why


@pytest.mark.task(1, 2)
@pytest.mark.edge
def test_x_and_bias_together_have_more_digits_than_bfloat16():
    """-2 - 2**-7 is -2.0078. In bfloat16 it is rounded to -2, whose gelu is -.0455."""
    result = lesson.gelu_dropout_forward(tensor([[-2]], torch.bfloat16), tensor([-2**-7], torch.bfloat16), 0.0, SEED)
    assert result.item() == pytest.approx(-0.04484, abs=2e-4), if_it_is(round(result.item(), 4), {
        -0.0454: "u were rounded to bfloat16. Which loads are without wide(...) around them?"})


@pytest.mark.task(1, 2)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_y_has_the_dtype_of_x_where_bias_is_float64(dtype, rng):
    x, bias = above_0(rng, (3, 20), (20,))
    x, bias = x.to(dtype), bias.double()
    y = lesson.gelu_dropout_forward(x, bias, 0.25, SEED, tile=16)
    assert y.dtype == dtype
    assert torch.allclose(y.double(), step_by_step(x.double(), bias, 0.25, SEED), rtol=0.01)


@pytest.mark.task(1, 2)
@pytest.mark.edge
def test_p_1_makes_zeros(rng):
    x, bias = numbers(rng, (2, 9), (9,))
    assert lesson.gelu_dropout_forward(x, bias, 1.0, SEED).tolist() == [[0.0] * 9] * 2


@pytest.mark.task(1, 2)
@pytest.mark.nonfinite
def test_a_dropped_element_is_0_even_where_x_is_not_a_number():
    x, bias = tensor([[NAN, NAN, NAN, 1]]), tensor([0, 0, 0, 0])
    result = lesson.gelu_dropout_forward(x, bias, 0.25, SEED)[0]
    is_nan = result.isnan().tolist()
    why = "0 times NaN is NaN: choose with tl.where." if is_nan == [True, True, True, False] else ""
    assert is_nan == [True, True, False, False], why


@pytest.mark.task(1, 2)
@pytest.mark.counters
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_one_kernel_loads_x_once_and_stores_y_once(dtype, rng):
    rows, n, tile = 5, 40, 16
    x, bias = numbers(rng, (rows, n), (n,), dtype=dtype)
    counters = count(lesson.gelu_dropout_forward, apart(x), bias, 0.25, SEED, tile=tile)
    bytes_of_x, bias_for_each_row = dtype.itemsize * rows * n, dtype.itemsize * rows * n
    places_of_tiles = rows * 3 * tile
    assert counters.library_operations == [], BESIDE
    assert counters.float64 == 0
    assert counters.conversions <= (0 if dtype == torch.float32 else 3 * places_of_tiles)
    assert [launch.kernel for launch in counters.launches] == ["forward_kernel"]
    assert counters.programs <= rows * 3
    assert_rows_are_on_axis_0(counters.launches[0], strips=3)
    assert counters.bytes_loaded <= bytes_of_x + bias_for_each_row
    assert counters.bytes_stored == bytes_of_x


@pytest.mark.task(1, 2)
@pytest.mark.compiled
def test_the_forward_loads_16_bytes_at_once_and_asks_philox_once_for_eight_columns():
    assert_compiles_well(lesson.gelu_dropout_forward, "forward_kernel", (2, 4096), 4096)


def eager(x, bias, p, seed):
    """PyTorch, which draws a mask of its own."""
    return torch.dropout(torch.nn.functional.gelu(x + bias), p, True)


@pytest.mark.task(1, 2)
@pytest.mark.hopper
@pytest.mark.speed
@pytest.mark.parametrize("rival", ["eager", "torch.compile"])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_is_half_as_fast_again_as_the_compiler(dtype, rival):
    x, bias = (torch.randn(shape, device=device).to(dtype) for shape in ((8192, 8192), 8192))
    other = eager if rival == "eager" else torch.compile(eager, dynamic=False)
    assert speed_ratio(lesson.gelu_dropout_forward, other, x, bias, 0.1, SEED) >= 1.5


# Task 3: backward ---------------------------------------------------------------------------------

def assert_goes_back(d_out, x, bias, p=0.25, seed=SEED, **more):
    tolerance = summed(str(x.dtype).removeprefix("torch."), x.shape[0])
    assert_matches(lesson.gelu_dropout_backward, d_out, x, bias, p, seed, oracle=backward_by_autograd,
                   tolerance=tolerance, **more)


@pytest.mark.task(1, 3)
def test_the_slope_at_1_has_both_terms_and_the_scale_once():
    """At p = .5 column 7 is kept: 1.0833 / .5."""
    x, bias = tensor([[1] * 8]), tensor([0] * 8)
    last = lesson.gelu_dropout_backward(x, x, bias, 0.5, SEED)[0][0, 7].item()
    reasons = {1.682689: "the slope had no u * density(u).", 0.483941: "the slope had no cdf(u).",
               1.083315: "it were not scaled.", 4.333262: "it were scaled twice.",
               1.924660: "d_out * scale were in one term of the slope: which sum does it multiply?"}
    assert last == pytest.approx(2.166631, rel=1e-5), if_it_is(last, reasons)
    last = lesson.gelu_dropout_backward(x, 2 * x, bias, 0.5, SEED)[0][0, 7].item()
    reasons = {2.062482: "the slope of u * cdf(u) were cdf(u) + density(u): the slope of cdf times which factor?"}
    assert last == pytest.approx(2.170464, rel=1e-5), if_it_is(last, reasons)


@pytest.mark.task(1, 3)
def test_both_ways_drop_the_same_places():
    """u and d_out are 1: no result is 0 unless it is dropped."""
    x, bias = torch.ones(5, 20, device=device), tensor([0] * 20)
    kept = not_dropped(5, 20, 0.25, SEED).tolist()
    d_x = lesson.gelu_dropout_backward(x, x, bias, 0.25, SEED, programs=2, tile=16)[0]
    first_row_with_another_mask = next((i for i in range(5) if (d_x[i] != 0).tolist() != kept[i]), None)
    assert first_row_with_another_mask is None, "Does every row ask with its own offsets, as in the forward?"


@pytest.mark.task(1, 3)
def test_the_bias_counts_all_rows_of_each_program():
    """Where u is 100 the slope is 1, so that each element of d_bias is the number of rows."""
    x, d_out = (torch.full((5, 4), value, device=device) for value in (100.0, 1.0))
    d_bias = lesson.gelu_dropout_backward(d_out, x, tensor([0] * 4), 0.0, SEED, programs=2)[1]
    assert d_bias.shape == (4,), "The bias is added in every row: over which axis is its gradient a sum?"
    why = "One row of each program is in the sum: what becomes of a sum when the next row comes?"
    a_little_off = max(abs(each - 5) for each in d_bias.tolist())
    assert not 0 < a_little_off < 1e-4, "This is what the short cdf gives: x has 32 bits. What was handed to SHORT?"
    assert d_bias.tolist() == [5, 5, 5, 5], why if d_bias.tolist() == [2, 2, 2, 2] else ""


@pytest.mark.task(1, 3)
def test_the_row_of_the_lesson_has_the_gradients_of_the_picture():
    assert_goes_back(tensor([[3, 3, 3, 3]]), *story())


@pytest.mark.task(1, 3)
@pytest.mark.parametrize("rows, n, programs", [
    (7, 15, 1), (7, 16, 3), (7, 17, 7), (7, 37, 20), (0, 5, 2), (1, 1, 2), (3, 1, 2)])
def test_any_number_of_programs_gives_the_same(rows, n, programs, rng):
    assert_goes_back(*above_0(rng, (rows, n), (rows, n), (n,)), programs=programs, tile=16)


@pytest.mark.task(1, 3)
def test_rows_of_d_out_and_of_x_lie_apart_in_their_own_ways(rng):
    d_out, x, bias = numbers(rng, (5, 37), (5, 37), (37,))
    d_x = lesson.gelu_dropout_backward(apart(d_out, 5), apart(x, 2), bias, 0.0, SEED, programs=2, tile=16)[0]
    assert not d_x.isnan().any(), "What lies between rows was loaded: d_out and x each have a stride of their own."
    assert_goes_back(apart(d_out, 2), apart(x, 5), bias, programs=2, tile=16)


@pytest.mark.task(1, 3)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float16])
def test_a_sum_has_the_digits_of_float64_or_of_float32(dtype, rng):
    assert_goes_back(*numbers(rng, (5, 9), (5, 9), (9,), dtype=dtype), p=0.5, programs=2, tile=16)


@pytest.mark.task(1, 3)
@pytest.mark.nonfinite
def test_a_dropped_nan_reaches_neither_gradient():
    x, d_out, bias = tensor([[0, 0, NAN, 0]]), tensor([[1, 1, NAN, 1]]), tensor([0, 0, 0, 0])
    d_x, d_bias = lesson.gelu_dropout_backward(d_out, x, bias, 0.25, SEED)
    assert d_x.isnan().sum().item() + d_bias.isnan().sum().item() == 0, "0 times NaN is NaN: choose with tl.where."


@pytest.mark.task(1, 3)
def test_each_gradient_has_the_dtype_of_its_argument(rng):
    d_out, x, bias = numbers(rng, (3, 16), (3, 16), (16,))
    d_x, d_bias = (each.dtype for each in lesson.gelu_dropout_backward(d_out, x, bias.half(), 0.25, SEED))
    assert d_x == torch.float32, "x is float32, and so is its gradient, whatever dtype bias has."
    assert d_bias == torch.float16, "bias is float16, and so is its gradient, whatever dtype x has."


@pytest.mark.task(1, 3)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_d_x_is_added_up_before_it_is_rounded(dtype, rng):
    d_out, x = numbers(rng, (40, 16), (40, 16), dtype=dtype)
    bias, = numbers(rng, (16,))
    d_x, d_bias = lesson.gelu_dropout_backward(d_out, x, bias, 0.25, SEED, programs=3, tile=16)
    wanted = backward_by_autograd(d_out.double(), x.double(), bias.double(), 0.25, SEED)
    largest_error = float((d_bias.double() - wanted[1]).abs().max())
    of_rounded = any(torch.allclose(d_bias.double(), total.double(), rtol=1e-5, atol=1e-5)
                     for total in (d_x.double().sum(0), d_x.sum(0)))
    assert (d_x.dtype, d_bias.dtype) == (dtype, torch.float32)
    assert torch.allclose(d_x.double(), wanted[0], rtol=0.02, atol=0.02)
    why = ("This is the sum of d_x as it was stored, in 16 bits. When does the kernel\n"
           "have d_x with all of its digits?" if of_rounded else "")
    assert largest_error <= 3e-4 * float(wanted[1].abs().max()), why


@pytest.mark.task(1, 3)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_d_x_is_added_up_in_float64_where_bias_has_that(dtype, rng):
    d_out, x, bias = (each.to(dtype) for each in above_0(rng, (5, 20), (5, 20), (20,)))
    d_x, d_bias = lesson.gelu_dropout_backward(d_out, x, bias.double(), 0.25, SEED, programs=2, tile=16)
    wanted = backward_by_autograd(d_out.double(), x.double(), bias.double(), 0.25, SEED)
    assert (d_x.dtype, d_bias.dtype) == (dtype, torch.float64)
    assert torch.allclose(d_x.double(), wanted[0], rtol=0.01)
    assert torch.allclose(d_bias, wanted[1], rtol=1e-4), "Where was d_x, or a sum of it, rounded?"


@pytest.mark.task(1, 3)
@pytest.mark.counters
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_neither_d_out_nor_x_is_copied_before_the_backward_kernel(dtype, rng):
    """PyTorch adds up the shares, and rounds the sum where bias has 16 bits. The rest is the kernel's."""
    d_out, x, bias = numbers(rng, (5, 16), (5, 16), (16,), dtype=dtype)
    counters = count(lesson.gelu_dropout_backward, apart(d_out), apart(x, 5), bias, 0.25, SEED, programs=2, tile=16)
    operations = 1 if dtype == torch.float32 else 2
    assert len(counters.library_operations) <= operations, BESIDE


@pytest.mark.task(1, 3)
@pytest.mark.counters
def test_matrices_are_moved_once_and_bias_and_share_once_a_program(rng):
    rows, n, programs = 11, 32, 3
    counters = count(lesson.gelu_dropout_backward, *numbers(rng, (rows, n), (rows, n), (n,)), 0.25, SEED,
                     programs=programs, tile=16)
    x_and_d_out, bias = FLOAT32 * rows * 2 * n, FLOAT32 * programs * n
    d_x, shares = FLOAT32 * rows * n, FLOAT32 * programs * n
    bias_in_each_row = FLOAT32 * rows * n
    assert [launch.kernel for launch in counters.launches] == ["backward_kernel"]
    assert counters.programs <= programs * 2
    assert_rows_are_on_axis_0(counters.launches[0], strips=2)
    assert counters.bytes_atomic == 0
    assert counters.bytes_loaded != x_and_d_out + bias_in_each_row, BIAS_ONCE
    assert counters.bytes_loaded <= x_and_d_out + bias
    assert counters.bytes_stored <= d_x + shares, "Each turn stores a row of d_x; a share is stored after the last."
    assert counters.float64 == 0
    assert counters.conversions == 0


@pytest.mark.task(1, 3)
@pytest.mark.compiled
def test_the_backward_loads_16_bytes_at_once_and_asks_philox_once_for_eight_columns():
    assert_compiles_well(lesson.gelu_dropout_backward, "backward_kernel", (2, 4096), (2, 4096), 4096)


@pytest.mark.task(1, 3)
@pytest.mark.hopper
@pytest.mark.speed
def test_goes_back_at_more_than_half_of_the_speed_of_a_copy():
    """A copy of one and a half x moves as many bytes: three halves read, three written."""
    d_out, x, bias = (torch.randn(shape, device=device).half() for shape in ((8192, 8192), (8192, 8192), 8192))
    more = torch.empty(12288, 8192, dtype=torch.float16, device=device)
    assert speed_ratio(lesson.gelu_dropout_backward, lambda *_: more.clone(), d_out, x, bias, 0.1, SEED) >= 0.6


# Task 4: for autograd -----------------------------------------------------------------------------

@pytest.mark.task(1, 2, 4)
@pytest.mark.parametrize("shape", [(5,), (4, 5), (2, 3, 5), (2, 0, 5)])
def test_arguments_have_any_shape_and_any_layout(shape, rng):
    assert_matches(lesson.bias_gelu_dropout, *above_0(rng, shape, (5,)), 0.25, SEED, oracle=step_by_step, layouts="any")


@pytest.mark.task(1, 2, 3, 4)
@pytest.mark.parametrize("shape", [(40,), (2, 3, 5), (2, 0, 5)])
def test_gradients_have_the_shapes_of_their_arguments_in_any_layout(shape, rng):
    x, bias, d_out = above_0(rng, shape, shape[-1:], shape)
    assert_matches(gradients(lesson.bias_gelu_dropout), x, bias, 0.25, SEED, d_out=d_out,
                   oracle=gradients(step_by_step), tolerance=summed("float32", 6), layouts="any")


@pytest.mark.task(1, 2, 3, 4)
def test_the_gradients_are_how_the_result_changes(rng):
    """In float64, by differences of the function itself: its seed is fixed, and so is its mask."""
    gradcheck(lesson.bias_gelu_dropout, *numbers(rng, (2, 3, 5), (5,), dtype=torch.float64), 0.5, SEED)


@pytest.mark.task(1, 2, 3, 4)
def test_the_gradients_are_the_same_under_torch_compile(rng):
    x, bias, d_out = above_0(rng, (3, 4, 5), (5,), (3, 4, 5))
    function = compiled_by_torch(lesson.bias_gelu_dropout)
    assert_matches(gradients(function), x.mT.contiguous().mT, bias, 0.25, SEED, d_out=d_out,
                   oracle=gradients(step_by_step), tolerance=summed("float32", 12))


@pytest.mark.task(1, 2, 4)
def test_autograd_keeps_x_and_bias_themselves_and_not_the_result(rng):
    """It tells of a tensor that was changed before the backward only if save_for_backward has it."""
    x, bias = numbers(rng, (16, 8), (32,))
    x, bias = x.mT, bias[::2]
    saved = saved_tensors(lesson.bias_gelu_dropout)(x, bias, 0.25, SEED)
    y = lesson.bias_gelu_dropout(x, bias, 0.25, SEED)
    for name, of in {"x": x, "bias": bias}.items():
        copied = any(torch.equal(each, of) and each.stride() != of.stride() for each in saved)
        assert not copied, f"A copy of {name} waits. Save {name} itself: the backward can copy it again."
    assert not any(torch.equal(each, y) for each in saved), "y waits: what does gelu_dropout_backward need it for?"
    assert len(saved) == 2, f"{len(saved)} tensors are handed to ctx.save_for_backward: which does the backward need?"


@pytest.mark.task(1, 2, 3, 4)
@pytest.mark.counters
def test_nothing_but_arguments_waits_for_the_way_back(rng):
    x, bias, d_out = numbers(rng, (8, 16), (16,), (8, 16))
    used = memory(gradients(lesson.bias_gelu_dropout), x, bias, 0.25, SEED, d_out=d_out)
    assert used.saved == 0


@pytest.mark.task(1, 2, 3, 4)
@pytest.mark.counters
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_both_ways_are_one_kernel_each(dtype, rng):
    rows, n = 12, 8
    x, bias, d_out = numbers(rng, (rows, n), (n,), (rows, n), dtype=dtype)
    counters = count(gradients(lesson.bias_gelu_dropout), apart(x), bias, 0.25, SEED, d_out=apart(d_out))
    copies = count(lesson.bias_gelu_dropout, apart(x), bias, 0.25, SEED).library_operations
    kernels = [launch.kernel for launch in counters.launches]
    assert copies == [], BESIDE
    why = "Seed and offsets say what was dropped, x and bias the rest: what does another launch tell?"
    x_and_d_out, bias = dtype.itemsize * rows * 3 * n, dtype.itemsize * rows * 2 * n  # each row is a program
    assert kernels == ["forward_kernel", "backward_kernel"], why
    assert counters.bytes_loaded <= x_and_d_out + bias, BESIDE


@pytest.mark.task(1, 2, 3, 4)
@pytest.mark.counters
def test_neither_x_nor_d_out_is_copied_where_their_rows_lie_apart(rng):
    rows, n = 16, 128
    x, bias, d_out = numbers(rng, (rows, n), (n,), (rows, n))
    y, d_x, shares = (FLOAT32 * rows * n for _ in range(3))  # as many programs as rows
    used = memory(gradients(lesson.bias_gelu_dropout), apart(x), bias, 0.25, SEED, d_out=apart(d_out))
    assert used.peak <= y + d_x + shares + FLOAT32 * 2 * n
