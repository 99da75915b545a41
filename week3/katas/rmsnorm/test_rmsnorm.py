"""The kata again, as checks: addition and norm in one kernel, their way back in another, a column sum, autograd."""

import pytest
import torch

from tools.check import (
    CompileError, assert_matches, compiled, compiled_by_torch, count, gradcheck, gradients, memory, saved_tensors,
    speed_ratio)
from tools.check.inputs import integers, matrices
from tools.check.tolerances import accumulated
from tools.gpu import device
from week3.katas.rmsnorm import rmsnorm as lesson

NAN, INF = float("nan"), float("inf")
EPS = 1e-6
FLOAT32 = 4  # bytes
HALF, BRAIN = torch.float16, torch.bfloat16


LOADED_AGAIN = "A matrix too many is loaded. Whose row was loaded or stored before, and is in registers still?"


def tensor(values, dtype=torch.float32):
    return torch.tensor(values, dtype=dtype, device=device)


def numbers(rng, *shapes, dtype=torch.float32):
    return [torch.from_numpy(array).to(device, dtype) for array in matrices(rng, *shapes)]


def filled(*shapes, dtype=HALF, fill=torch.randn):
    return [fill(shape, device=device).to(dtype) for shape in shapes]


def story():
    """x, residual and weight of the lesson's picture."""
    return tensor([[3, 4, 1, 2]]), tensor([[-2, 3, 4, 3]]), tensor([5, 10, 3, 2])


def apart(x, by):
    """The same rows further apart in memory, and NaN between them."""
    wide = torch.full((x.shape[0], x.shape[1] + by), NAN, dtype=x.dtype, device=x.device)
    wide[:, :x.shape[1]] = x
    return wide[:, :x.shape[1]]


def three_apart():
    """Two rows of two numbers, 3 apart in memory: row 1 is 4 and 5, and 2 behind row 0 are 3 and 4."""
    return tensor([[1, 2, 3], [4, 5, 6]])[:, :2]


def rstd_of(x, eps=EPS):
    return 1 / (x.square().mean(-1) + eps).sqrt()


def normed(x, weight, eps=EPS):
    return x * rstd_of(x, eps)[..., None] * weight


def added_and_normed(x, residual, weight, eps=EPS):
    return normed(x + residual, weight, eps), x + residual


def forward_by_hand(x, residual, weight, eps=EPS):  # y, total, rstd
    total = x if residual is None else x + residual
    return normed(total, weight, eps), None if residual is None else total, rstd_of(total, eps)


def summed(length, dtype=torch.float32):
    return accumulated(str(dtype).removeprefix("torch."), length)


# Task 1: addition and norm ------------------------------------------------------------------------

@pytest.mark.task(1)
@pytest.mark.parametrize("fused, wanted", [(False, 5), (True, 4)], ids=["separate", "fused"])
def test_predicts_the_matrices_of_a_separate_and_of_a_fused_addition(fused, wanted):
    matrices, bytes_of_rstd = divmod(lesson.predict_forward(rows=10, n=100, size=2, fused=fused), 10 * 100 * 2)
    assert bytes_of_rstd == 40, "Each of 10 rows has an rstd of 4 bytes, which is stored for the way back."
    assert matrices == wanted, "Which are read, which written? The next layer wants y, the next addition total."


@pytest.mark.task(1)
def test_the_total_of_the_lesson_is_normed_without_a_residual():
    total, weight = tensor([[1, 7, 5, 5]]), story()[2]  # in the picture is no eps
    assert_matches(lesson.rmsnorm_forward, total, None, weight, eps=0.0, oracle=forward_by_hand)


@pytest.mark.task(1)
def test_x_and_residual_of_the_lesson_become_1_14_3_2():
    root_mean_square = round(1 / lesson.rmsnorm_forward(*story(), eps=0.0)[2].item(), 2)
    assert root_mean_square != 2.74, "2.74 is that of x: of what should the norm be?"
    assert_matches(lesson.rmsnorm_forward, *story(), eps=0.0, oracle=forward_by_hand)


@pytest.mark.task(1)
def test_another_eps_is_added_to_the_mean_square():
    total, weight = tensor([[.1, .7, .5, .5]]), story()[2]
    rstd = round(lesson.rmsnorm_forward(total, None, weight, eps=0.09)[2].item(), 2)  # large, and so easy to see
    why = "As if eps were added behind the root. The root is taken of a sum: of what, and eps?"
    assert rstd not in (2.09, 1.69), why  # behind 1 / root, and behind the root
    assert_matches(lesson.rmsnorm_forward, total, None, weight, eps=0.09, oracle=forward_by_hand)


@pytest.mark.task(1)
@pytest.mark.parametrize("name, other", [("x", "residual"), ("residual", "x")])
def test_rows_of_x_and_of_residual_lie_apart_in_their_own_ways(name, other):
    nothing = torch.zeros(2, 2, device=device)
    x, residual = (three_apart() if name == each else nothing for each in ("x", "residual"))
    first, second = lesson.rmsnorm_forward(x, residual, nothing[0])[1].tolist()
    why = f"Row 1 of {name} was read 2 behind row 0, where {other} has it. In {name} it is 3 behind: which stride is 3?"
    assert second != [3, 4], why
    assert [first, second] == [[1, 2], [4, 5]]


@pytest.mark.task(1)
@pytest.mark.edge
@pytest.mark.parametrize("rows, n", [(1, 1), (3, 1), (3, 2), (3, 15), (3, 16), (3, 17), (3, 37), (0, 5)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_rows_of_any_length_may_lie_apart_in_memory_and_the_first_be_zero(dtype, rows, n, rng):
    x, residual, weight = numbers(rng, (rows, n), (rows, n), (n,), dtype=dtype)
    residual[:1] = -x[:1]
    rstd = lesson.rmsnorm_forward(x, residual, weight)[2]
    too_few_digits = dtype == torch.float64 and torch.equal(rstd, rstd.float().double())
    computed = rows > 1 and rstd[1] != rstd[2]
    why = "x is float64, and rstd has no more digits than float32 has. What was it converted to?"
    assert not (computed and too_few_digits), why
    assert_matches(lesson.rmsnorm_forward, apart(x, 2), apart(residual, 5), weight, eps=2**-20, oracle=forward_by_hand,
                   tolerance=summed(n, dtype))


@pytest.mark.task(1)
@pytest.mark.tolerance
def test_256_and_1_in_bfloat16_are_normed_as_the_256_that_is_stored():
    x, residual, weight = (tensor(values, BRAIN) for values in ([[256]], [[1]], [1]))
    _, total, rstd = lesson.rmsnorm_forward(x, residual, weight)
    root_mean_square = round(1 / rstd.item(), 2)
    assert total.item() == 256
    assert root_mean_square != 257, "257 is normed, and 256 stored: which of them will the way back read?"
    assert root_mean_square == 256


@pytest.mark.task(1)
@pytest.mark.tolerance
@pytest.mark.parametrize("fused", [False, True])
def test_squares_of_float16_have_their_place_in_float32(fused, rng):
    x, weight = numbers(rng, (3, 400), (400,))
    x = (300 + 100 * x).half()
    y, _, rstd = lesson.rmsnorm_forward(x, torch.zeros_like(x) if fused else None, weight)
    of_hundredths = lesson.rmsnorm_forward(x / 100, None, weight)[2]  # whose squares float16 holds
    is_right_for_them = torch.allclose(of_hundredths.double(), rstd_of((x / 100).double()), rtol=0.01)
    wanted = normed(x.double(), weight.double())
    has_overflowed = is_right_for_them and rstd.min().item() == 0
    assert not has_overflowed, "A square passed 65504, where float16 ends. Of which dtype is x when it is squared?"
    assert torch.allclose(y.double(), wanted, rtol=2**-10, atol=1e-6)  # rounded once: 2**-11


@pytest.mark.task(1)
@pytest.mark.tolerance
def test_y_is_rounded_to_bfloat16_once():
    total, weight = tensor([[1, 7, 5, 5]], BRAIN), tensor([5, 36, 3, 2], BRAIN)
    y = lesson.rmsnorm_forward(total, None, weight, eps=0.0)[0][0, 1].item()
    assert y == 50.5, "1.4 * 36 is 50.4. As if 1.4 had been rounded before, to bfloat16." if y == 50.25 else None


@pytest.mark.task(1)
@pytest.mark.nonfinite
@pytest.mark.parametrize("strange", [NAN, INF])
def test_what_is_not_finite_reaches_its_own_row_alone(strange, rng):
    x, residual, weight = numbers(rng, (3, 5), (3, 5), (5,))
    residual[1, 2] = strange
    y, right = lesson.rmsnorm_forward(x, residual, weight)[0], normed(x + residual, weight)
    as_in_the_formula = [torch.allclose(y[row], right[row], rtol=1e-4, atol=1e-6) for row in (0, 2)]
    assert y.isnan().any(1).tolist() == [False, True, False]
    assert as_in_the_formula == [True, True]


@pytest.mark.task(1)
@pytest.mark.counters
@pytest.mark.parametrize("fused", [True, False], ids=["fused", "separate"])
def test_a_row_that_is_in_registers_is_not_loaded_again(fused, rng):
    """Of a weight of float16, which has half of the bytes of a row."""
    x, residual, weight = numbers(rng, (1, 37), (1, 37), (37,))
    counters = count(lesson.rmsnorm_forward, x, residual if fused else None, weight.half())
    row, of_weight = FLOAT32 * 37, 2 * 37
    rows = 2 * row if fused else row
    assert counters.bytes_loaded != rows + of_weight + row, LOADED_AGAIN
    assert counters.bytes_loaded <= rows + of_weight


@pytest.mark.task(1)
@pytest.mark.counters
@pytest.mark.parametrize("fused", [True, False], ids=["fused", "separate"])
def test_as_many_bytes_move_as_were_predicted(fused, rng):
    """PyTorch's addition, where it is separate, is counted by hand: two matrices read, one written."""
    rows, n = 5, 37
    x, residual, weight = numbers(rng, (rows, n), (rows, n), (n,))
    matrix = weight_in_each_row = FLOAT32 * rows * n
    counters = count(lesson.rmsnorm_forward, x, residual if fused else None, weight)
    matrices_read, addition = (2 * matrix, 0) if fused else (matrix, 3 * matrix)
    moved = counters.bytes_loaded + counters.bytes_stored - weight_in_each_row + addition
    assert counters.bytes_loaded <= matrices_read + weight_in_each_row
    assert moved <= lesson.predict_forward(rows=rows, n=n, size=FLOAT32, fused=fused)
    assert counters.float64 == 0
    assert counters.conversions <= rows, "n may be converted once in a row."


@pytest.mark.task(1)
@pytest.mark.compiled
def test_a_thread_loads_sixteen_bytes_of_a_row_at_once():
    arguments = filled((2, 1024), (2, 1024), 1024, fill=torch.zeros)
    kernel = compiled(lesson.rmsnorm_forward, *arguments, chip="h100").kernels["forward_kernel"]
    spills, narrowest_load = kernel.spills, min(access.width for access in kernel.loads)
    assert (spills, narrowest_load) == (0, 16)


@pytest.mark.task(1)
@pytest.mark.hopper
@pytest.mark.speed
@pytest.mark.parametrize("fused, at_least", [(False, 0.8), (True, 0.6)])
def test_norms_at_nearly_the_speed_of_a_copy(fused, at_least):
    x, residual, as_much, weight = filled(*[(8192, 8192)] * 2, (16384 if fused else 8192, 8192), 8192)
    arguments = x, residual if fused else None, weight  # a copy of x, or of x and residual, moves as many bytes
    assert speed_ratio(lesson.rmsnorm_forward, lambda *_: as_much.clone(), *arguments) >= at_least


# Task 2: the way back -----------------------------------------------------------------------------

def backward_by_autograd(d_y, d_total, total, weight, rstd, programs=lesson.PROGRAMS):
    """d_x of the formula, and for each program the sum of d_y * x_hat over its rows."""
    with torch.enable_grad():
        leaf = total.detach().requires_grad_()
        d_x, = torch.autograd.grad(normed(leaf, weight), leaf, d_y)
    products, programs = d_y * total * rstd[:, None], min(programs, len(total))
    shares = [products[p::programs].sum(0) for p in range(programs)]
    return (d_x if d_total is None else d_x + d_total), torch.stack(shares) if shares else products


def assert_goes_back(d_y, d_total, total, weight, **programs):
    assert_matches(lesson.backward_of_rows, d_y, d_total, total, weight, rstd_of(total), oracle=backward_by_autograd,
                   tolerance=summed(max(total.shape), total.dtype), **programs)


@pytest.mark.task(2)
@pytest.mark.parametrize("fused, wanted", [(False, 6), (True, 4)], ids=["separate", "fused"])
def test_predicts_the_matrices_of_both_ways_back(fused, wanted):
    matrices, bytes_of_rstd = divmod(lesson.predict_backward(rows=10, n=100, size=2, fused=fused), 10 * 100 * 2)
    assert bytes_of_rstd == 40, "Each of 10 rows has an rstd of 4 bytes, which is loaded once."
    assert matrices == wanted, "Which are read, which written? Two gradients arrive, and one is handed on."


@pytest.mark.task(2)
def test_the_norm_of_the_lesson_alone_goes_back():
    """d_x is -.14 1.02 -.7 -.7, and the share of program 0 is 0 1.4 0 0."""
    d_y, total, weight = tensor([[0, 1, 0, 0]]), tensor([[1, 7, 5, 5]]), story()[2]
    results = lesson.backward_of_rows(d_y, None, total, weight, tensor([.2]))
    d_x, share = ([round(each, 2) for each in result[0].tolist()] for result in results)
    assert d_x != [-.7, -2.9, -3.5, -3.5], "As if rstd were a factor of g alone. What does the picture multiply by it?"
    assert d_x != [-.1, 1.3, -.5, -.5], "As if the mean of g were taken, 2.5. The picture has one of g * x_hat, 3.5."
    assert d_x != [-.56, -1.92, -2.8, -2.8], "As if g * x_hat were only added up, to 14. What makes a mean of it?"
    as_in_layer_norm = "As if the mean of g were taken off too, as in a layer norm. Was a mean taken off x?"
    assert d_x != [-.64, .52, -1.2, -1.2], as_in_layer_norm
    assert share != [0, 14, 0, 0], "As if g * x_hat were added up to shares. If weight grows by 1, how much does y?"
    assert_goes_back(d_y, None, total, weight)


@pytest.mark.task(2)
def test_the_mean_on_the_way_back_is_over_the_three_elements_of_a_row():
    """x_hat is 1 1 1, and g is 3 0 0: the mean of their product is 3 / 3, and d_x 2/3 -1/3 -1/3."""
    d_y, total, ones = tensor([[3, 0, 0]]), tensor([[3, 3, 3]]), tensor([1, 1, 1])
    d_x = [round(x, 2) for x in lesson.backward_of_rows(d_y, None, total, ones, tensor([1 / 3]))[0][0].tolist()]
    assert d_x != [0.75, -0.25, -0.25], "As if the sum of g * x_hat were divided by 4. How many elements has a row?"
    assert d_x == [0.67, -0.33, -0.33]


@pytest.mark.task(2)
def test_what_arrives_at_the_total_is_added_behind_the_norm():
    arguments = tensor([[0, 1, 0, 0]]), tensor([[0, 0, 1, 0]]), tensor([[1, 7, 5, 5]]), story()[2]
    d_x = [round(x, 2) for x in lesson.backward_of_rows(*arguments, tensor([.2]))[0][0].tolist()]
    why = "d_total is in g, as if it came back through the norm: on which side of the norm is the total handed on?"
    assert d_x != [-0.15, 0.95, -0.55, -0.75], why
    assert d_x != [-0.14, 1.02, -0.5, -0.7], "d_total is multiplied by rstd. Past the norm, what becomes of a total?"
    assert_goes_back(*arguments)


@pytest.mark.task(2)
def test_a_share_holds_every_second_row_where_there_are_two_programs():
    """Row 0 counts 1, row 1 counts 10, row 2 counts 100 and so on. rstd is 1, since eps was 0.75."""
    d_y, half = tensor([[2], [20], [200], [2000], [20000]]), torch.full((5, 1), 0.5, device=device)
    _, shares = lesson.backward_of_rows(d_y, None, half, tensor([1]), torch.ones(5, device=device), programs=2)
    of_programs = [round(share) for share in shares.flatten().tolist()]
    instead = {10000: "Only the last row of program 0 is in its share: what becomes of it when the next row comes?",
               111: "Program 0 took the rows 0, 1 and 2. It should take each second one: 0, 2 and 4.",
               20202: "As if rstd were computed from total again, not with that eps, .75. Which argument has rstd?"}
    assert of_programs == [10101, 1010], instead.get(of_programs[0])


@pytest.mark.task(2)
@pytest.mark.parametrize("name", ["d_y", "d_total", "total"])
def test_rows_of_each_matrix_lie_apart_in_their_own_way(name):
    """Of numbers 1, where d_x is d_total, and with a program for each row shares are d_y * total."""
    ones = torch.ones(2, 2, device=device)
    matrices = {"d_y": ones, "d_total": torch.zeros_like(ones), "total": ones} | {name: three_apart()}
    d_x, shares = lesson.backward_of_rows(*matrices.values(), ones[0], ones[:, 0], programs=2)
    first, second = (d_x if name == "d_total" else shares).tolist()
    why = f"Row 1 of {name} was read 2 behind row 0, as in the others. In {name} it is 3 behind: which stride is 3?"
    assert second != [3, 4], why
    assert [first, second] == [[1, 2], [4, 5]]


@pytest.mark.task(2)
@pytest.mark.edge
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("rows, n, programs", [(1, 2, 2), (7, 15, 1), (7, 16, 3), (7, 17, 7), (7, 37, 20), (0, 5, 2)])
def test_any_number_of_programs_shares_rows_that_lie_apart(rows, n, programs, dtype, rng):
    d_y, d_total, total, weight = numbers(rng, *[(rows, n)] * 3, (n,), dtype=dtype)
    assert_goes_back(apart(d_y, 7), apart(d_total, 2), apart(total, 4), weight, programs=programs)


@pytest.mark.task(2)
@pytest.mark.edge
def test_a_row_of_one_number_moves_the_loss_past_the_norm_alone():
    d_x, _ = lesson.backward_of_rows(*tensor([[[3], [2]], [[4], [2]], [[5], [2]]]), tensor([2]), tensor([1/5, 1/2]))
    assert d_x.flatten().tolist() == pytest.approx([4, 2], rel=1e-4)


@pytest.mark.task(2)
@pytest.mark.tolerance
def test_the_product_of_d_y_and_weight_may_be_too_large_for_float16(rng):
    """300 * 300 is, and with an rstd near 1 / 300 the gradient is not."""
    total, = numbers(rng, (3, 16))
    total, d_y, weight = ((300 * each).half() for each in (total, total.flip(1).sign(), torch.ones_like(total[0])))
    rstd = rstd_of(total.float())
    d_x, shares = lesson.backward_of_rows(d_y, None, total, weight, rstd)
    shares_are_right = torch.allclose(shares, d_y * total.float() * rstd[:, None], rtol=1e-3)
    d_x_is_finite = bool(d_x.isfinite().all())
    assert d_x_is_finite, "In which dtype are d_y and weight multiplied?" if shares_are_right else None


@pytest.mark.task(2)
@pytest.mark.counters
@pytest.mark.parametrize("fused", [True, False], ids=["fused", "separate"])
def test_as_many_bytes_go_back_as_were_predicted(fused, rng):
    rows, n, programs = 11, 37, 3
    d_y, d_total, total, column = numbers(rng, *[(rows, n)] * 3, (n,))
    matrix, weight, share, rstd = (FLOAT32 * each for each in (rows * n, programs * n, programs * n, rows))
    counters = count(lesson.backward_of_rows, d_y, d_total if fused else None, total, column, rstd_of(total),
                     programs=programs)
    matrices_read, addition = (3 * matrix, 0) if fused else (2 * matrix, 3 * matrix)
    moved = counters.bytes_loaded + counters.bytes_stored - weight - share + addition
    why = "As if weight were loaded 11 times, for each row. A program needs it once."
    assert counters.bytes_loaded != matrices_read + rows * FLOAT32 * n + rstd, why
    assert counters.bytes_atomic == 0
    assert counters.bytes_loaded != matrices_read + matrix + weight + rstd, LOADED_AGAIN
    assert counters.bytes_loaded <= matrices_read + weight + rstd
    assert counters.bytes_stored != 2 * matrix, "As if shares were stored 11 times, for each row. Which is complete?"
    assert counters.bytes_stored <= matrix + share
    assert moved <= lesson.predict_backward(rows=rows, n=n, size=FLOAT32, fused=fused)
    assert counters.float64 == 0
    assert counters.conversions <= rows, "n may be converted once in a row."


def backward_compiled(n):
    d_y, d_total, total, weight = filled(*[(2, n)] * 3, n, fill=torch.zeros)
    found = compiled(lesson.backward_of_rows, d_y, d_total, total, weight, rstd_of(total.float()), chip="h100")
    return found.kernels["backward_kernel"]


@pytest.mark.task(2)
@pytest.mark.compiled
def test_rows_on_their_way_wait_in_shared_memory_and_nothing_spills():
    kernel = backward_compiled(1024)
    spills, shared_memory, two_rows_of_each_matrix = kernel.spills, kernel.shared_bytes, 2 * 3 * 1024 * 2
    assert spills == 0
    why = "No row waits in shared memory while another is at work: does tl.range get num_stages=STAGES?"
    assert shared_memory >= two_rows_of_each_matrix, why if kernel.loads and shared_memory == 0 else None


@pytest.mark.task(2)
@pytest.mark.compiled
def test_wide_rows_of_which_few_fit_do_not_wait():
    """Two rows of each of three matrices, 64 KiB each, are more than the 227 KiB of shared memory."""
    a_row = 32768 * 2
    try:
        shared_bytes = backward_compiled(32768).shared_bytes
    except CompileError as refused:
        if "bytes of shared memory" not in str(refused):
            raise
        shared_bytes = INF
    assert shared_bytes < a_row, "Too many rows wait in shared memory. STAGES is 1 for such rows: does tl.range get it?"


@pytest.mark.task(2)
@pytest.mark.hopper
@pytest.mark.speed
@pytest.mark.parametrize("fused, at_least", [(False, 0.7), (True, 0.6)])
def test_goes_back_at_most_of_the_speed_of_a_copy(fused, at_least):
    """A copy of one and a half matrices moves as many bytes as the norm alone, one of two as many as both."""
    d_y, d_total, total, weight, as_much = filled(*[(8192, 8192)] * 3, 8192, (16384 if fused else 12288, 8192))
    arguments = d_y, d_total if fused else None, total, weight, rstd_of(total.float())
    assert speed_ratio(lesson.backward_of_rows, lambda *_: as_much.clone(), *arguments) >= at_least


# Task 3: column sums ------------------------------------------------------------------------------

@pytest.mark.task(3)
@pytest.mark.edge
@pytest.mark.parametrize("shares, n", [(2, 3), (0, 5), (1, 1), (3, 9), (4, 8), (5, 7), (13, 19)])
def test_tiles_of_four_rows_and_eight_columns_cover_any_shares(shares, n, rng):
    table = torch.from_numpy(integers(rng, (shares, n), 1, 9)).to(device, torch.float32)
    first_tile_alone = shares > 4 and torch.equal(lesson.column_sums(table, torch.float32, 4, 8), table[:4].sum(0))
    assert not first_tile_alone, "As if only the first 4 rows were added up."
    assert_matches(lesson.column_sums, table, torch.float32, rows=4, cols=8,
                   oracle=lambda table, dtype, **tile: table.sum(0))


@pytest.mark.task(3)
@pytest.mark.tolerance
@pytest.mark.parametrize("small, dtype, total", [(0.25, HALF, 2050), (2.0**-40, torch.float64, 2048 + 2**-37)])
def test_2048_and_eight_small_numbers_are_rounded_once(small, dtype, total):
    shares = tensor([[2048.0]] + [[small]] * 8, torch.promote_types(dtype, torch.float32))
    sum_of_column = lesson.column_sums(shares, dtype, rows=4, cols=8).item()
    why = "2048 is all that is left. Of which dtype is the sum while tiles are added to it?"
    assert sum_of_column == total, why if sum_of_column == 2048 else None


@pytest.mark.task(3)
@pytest.mark.counters
def test_each_share_is_loaded_once_and_each_sum_stored_once_by_its_owner(rng):
    counters = count(lesson.column_sums, *numbers(rng, (13, 19)), torch.float32, rows=4, cols=8)
    assert counters.bytes_atomic == 0
    assert counters.bytes_loaded <= FLOAT32 * 13 * 19
    assert counters.bytes_stored == FLOAT32 * 19
    assert (counters.float64, counters.conversions) == (0, 0)


@pytest.mark.task(3)
@pytest.mark.compiled
def test_all_rows_of_a_tile_are_on_their_way_at_once():
    shares, = filled((132, 1024), dtype=torch.float32, fill=torch.zeros)
    kernel = compiled(lesson.column_sums, shares, torch.float32, chip="h100").kernels["column_sum_kernel"]
    loaded_at_once = 32 * kernel.num_warps * sum(load.width * load.instructions for load in kernel.loads)
    why = "In a step less is loaded than the ROWS x COLS numbers of a tile. Is it one row?"
    assert loaded_at_once >= 32 * 64 * FLOAT32, why if loaded_at_once else None


# All of it ----------------------------------------------------------------------------------------

@pytest.mark.task(1, 2, 3)
def test_the_norm_alone_has_the_gradients_of_the_formula_in_any_layout(rng):
    x, d_out, weight = numbers(rng, (2, 3, 5), (2, 3, 5), (5,))
    assert_matches(gradients(lesson.rmsnorm), x, weight, d_out=d_out, oracle=gradients(normed),
                   tolerance=summed(6), layouts="any")


@pytest.mark.task(1, 2, 3)
@pytest.mark.gpu
def test_gradients_have_the_same_bits_every_time():
    d_y, d_total, total, weight = filled(*[(1000, 1024)] * 3, 1024)
    every = [lesson.rmsnorm_backward(d_y, d_total, total, weight, rstd_of(total.float())) for _ in range(20)]
    assert all([torch.equal(*pair) for other in every for pair in zip(every[0], other)])


# Task 4: for autograd -----------------------------------------------------------------------------

def results_and_arriving(rng, *shape, dtype=torch.float32):
    """x, residual and weight; and what arrives at y and total."""
    x, residual, d_y, d_total, weight = numbers(rng, *[shape] * 4, shape[-1:], dtype=dtype)
    return (x, residual, weight), (d_y, d_total)


def assert_gradients(arguments, d_out, function=lesson.add_rmsnorm, **others):
    assert_matches(gradients(function), *arguments, d_out=d_out, oracle=gradients(added_and_normed),
                   tolerance=summed(12), **others)


@pytest.mark.task(1, 4)
def test_add_rmsnorm_of_the_lesson_returns_1_14_3_2_and_the_total():
    assert_matches(lesson.add_rmsnorm, *story(), oracle=added_and_normed)


@pytest.mark.task(1, 4)
def test_elements_of_weight_may_lie_apart(rng):
    x, residual, wide = numbers(rng, (3, 5), (3, 5), (10,))
    y, _ = lesson.add_rmsnorm(x, residual, wide[::2])
    why = "weight[1] was taken to lie beside weight[0]. It lies 2 apart, and the kernel takes no stride for it."
    assert not torch.allclose(y, added_and_normed(x, residual, wide[:5])[0]), why
    assert_matches(lesson.add_rmsnorm, x, residual, wide[::2], oracle=added_and_normed)


@pytest.mark.task(1, 2, 3, 4)
def test_both_results_go_back_to_the_gradients_of_the_picture():
    d_out = tensor([[0, 1, 0, 0]]), tensor([[0, 0, 1, 0]])
    d_x, d_residual, _ = ([round(x, 2) for x in each.flatten().tolist()]
                          for each in gradients(lesson.add_rmsnorm)(*story(), d_out=d_out))
    assert d_x != [-0.14, 1.02, -0.7, -0.7], "It is the norm's part of d_x: what arrives at the total?"
    assert d_residual != [0, 0, 1, 0], "d_residual is d_total: does the residual not go into the norm, too?"
    assert_gradients(story(), d_out)


@pytest.mark.task(1, 2, 3, 4)
@pytest.mark.parametrize("shape", [(5,), (2, 3, 5), (2, 0, 5)])
def test_gradients_have_the_shapes_of_their_arguments_in_any_layout(shape, rng):
    assert_gradients(*results_and_arriving(rng, *shape), layouts="any")


@pytest.mark.task(1, 2, 3, 4)
@pytest.mark.edge
def test_a_loss_of_totals_alone_goes_past_the_norm(rng):
    arguments, (_, d_total) = results_and_arriving(rng, 4, 5)
    d_x, d_residual, _ = gradients(lesson.add_rmsnorm)(*arguments, d_out=(None, d_total))
    assert d_x.tolist() == d_residual.tolist() == d_total.tolist()


@pytest.mark.task(1, 2, 3, 4)
def test_sums_and_slices_hand_on_gradients_that_are_stored_in_their_own_ways(rng):
    arguments, d_out = results_and_arriving(rng, 4, 5)
    assert_gradients(arguments, [tensor(each).expand(4, 5) for each in (1.0, 3.0)])
    assert_gradients(arguments, [each.repeat_interleave(2, 1)[:, ::2] for each in d_out])


@pytest.mark.task(1, 2, 3, 4)
def test_eps_is_handed_on_and_has_no_gradient(rng):
    assert_gradients(*results_and_arriving(rng, 4, 5), eps=0.5)


@pytest.mark.task(1, 2, 3, 4)
def test_the_gradients_are_how_both_results_change(rng):
    gradcheck(lesson.add_rmsnorm, *results_and_arriving(rng, 2, 3, 5, dtype=torch.float64)[0])


@pytest.mark.task(1, 2, 3, 4)
def test_the_gradients_are_the_same_under_torch_compile(rng):
    (x, residual, weight), d_out = results_and_arriving(rng, 3, 4, 5)
    assert_gradients((x.mT.contiguous().mT, residual, weight), d_out, compiled_by_torch(lesson.add_rmsnorm))


@pytest.mark.task(1, 2, 3, 4)
@pytest.mark.counters
def test_total_weight_and_rstd_alone_wait_for_the_way_back(rng):
    """Autograd tells of a tensor that was changed before the backward only if save_for_backward has it."""
    (x, residual, weight), d_out = results_and_arriving(rng, 16, 64)
    used, rstd = memory(gradients(lesson.add_rmsnorm), x, residual, weight, d_out=d_out), FLOAT32 * 16
    assert used.saved <= rstd
    weight = weight.repeat_interleave(2)[::2]
    saved = saved_tensors(lesson.add_rmsnorm)(x, residual, weight)
    y, total = lesson.add_rmsnorm(x, residual, weight)
    known = {"x": x, "residual": residual, "total": total, "weight": weight, "y": y}
    found = {name for name, tensor in known.items() for each in saved if torch.equal(each.flatten(), tensor.flatten())}
    others = sorted(found - {"total", "weight"})
    assert others == [], f"Saved for the way back: {' and '.join(others)}. It reads total, weight and rstd."
    why = "Both should wait in ctx.save_for_backward. Kept as ctx.total, total would hold what holds it."
    assert found >= {"total", "weight"}, why
    strides_of_weight = [each.stride() for each in saved if each.numel() == 64]
    assert strides_of_weight == [(2,)], "A copy of weight waits. Save weight itself, and call .contiguous() once more."
    assert len(saved) == 3


@pytest.mark.task(1, 2, 3, 4)
@pytest.mark.counters
def test_each_way_is_one_kernel_and_the_column_sum_another(rng):
    arguments, d_out = results_and_arriving(rng, 2, 6, 8)
    operations_on_the_way_there = len(count(lesson.add_rmsnorm, *arguments).library_operations)
    assert operations_on_the_way_there == 0, "forward_kernel adds the residual, if it gets one."
    counters = count(gradients(lesson.add_rmsnorm), *arguments, d_out=d_out)
    assert [launch.kernel for launch in counters.launches] == ["forward_kernel", "backward_kernel", "column_sum_kernel"]
    operations_of_pytorch = len(counters.library_operations)
    why = ("PyTorch works on the way back. backward_kernel adds d_total, if it gets one. "
           "d_residual is the same matrix as d_x: what is left to do?")
    assert operations_of_pytorch == 0, why


@pytest.mark.task(1, 2, 3, 4)
@pytest.mark.counters
def test_x_and_residual_share_a_gradient_and_rows_that_lie_apart_are_not_copied(rng):
    rows, n = 16, 128
    (x, residual, weight), (d_y, d_total) = results_and_arriving(rng, rows, n)
    y, total, d_x, shares = (FLOAT32 * rows * n for _ in range(4))  # as many programs as rows
    rstd, d_weight = 512, FLOAT32 * n  # on a GPU no allocation is less than 512 bytes
    arguments, d_out = (apart(x, 2), apart(residual, 3), weight), (apart(d_y, 4), apart(d_total, 5))
    forward = memory(lesson.add_rmsnorm, *arguments)
    both_ways = memory(gradients(lesson.add_rmsnorm), *arguments, d_out=d_out)
    assert forward.peak <= y + total + rstd
    assert both_ways.peak <= y + total + d_x + shares + rstd + d_weight
