"""The kata again, as checks: addition and norm in one kernel, their way back in another, a column sum, autograd."""

import pytest
import torch

from tools.check import assert_matches, compiled, compiled_by_torch, count, gradcheck, gradients, memory, speed_ratio
from tools.check.inputs import integers, matrices
from tools.check.tolerances import accumulated
from tools.gpu import device
from week3.katas.rmsnorm import rmsnorm as lesson

NAN, INF = float("nan"), float("inf")
EPS = 1e-6
FLOAT32 = 4  # bytes
HALF, BRAIN = torch.float16, torch.bfloat16


def tensor(values, dtype=torch.float32):
    return torch.tensor(values, dtype=dtype, device=device)


def numbers(rng, *shapes, dtype=torch.float32):
    return [torch.from_numpy(array).to(device, dtype) for array in matrices(rng, *shapes)]


def whole_numbers(rng, *shapes):
    return [torch.from_numpy(integers(rng, shape, 1, 9)).to(device, torch.float32) for shape in shapes]


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


def rstd_of(x, eps=EPS):
    return 1 / (x.square().mean(-1) + eps).sqrt()


def normed(x, weight, eps=EPS):
    return x * rstd_of(x, eps)[..., None] * weight


def added_and_normed(x, residual, weight, eps=EPS):
    return normed(x + residual, weight, eps), x + residual


def forward_by_hand(x, residual, weight, eps=EPS):
    """(y, total, rstd)"""
    total = x if residual is None else x + residual
    return normed(total, weight, eps), None if residual is None else total, rstd_of(total, eps)


def summed(length, dtype="float32"):
    """Sums over a row or a column."""
    return accumulated(dtype, length)


# Task 1: addition and norm ------------------------------------------------------------------------

@pytest.mark.task(1)
@pytest.mark.parametrize("fused, wanted", [(False, 5), (True, 4)])
def test_predicts_the_matrices_of_a_separate_and_of_a_fused_addition(fused, wanted):
    matrices, bytes_of_rstd = divmod(lesson.predict_forward(rows=10, n=100, size=2, fused=fused), 10 * 100 * 2)
    assert bytes_of_rstd == 40
    assert matrices == wanted, "Which are read, which written? The next layer wants y, the next addition total."


@pytest.mark.task(1)
def test_the_total_of_the_lesson_is_normed_without_a_residual():
    """Without eps, so that all is as in the picture."""
    total, weight = tensor([[1, 7, 5, 5]]), story()[2]
    assert_matches(lesson.rmsnorm_forward, total, None, weight, eps=0.0, oracle=forward_by_hand)


@pytest.mark.task(1)
def test_x_and_residual_of_the_lesson_become_1_14_3_2():
    root_mean_square = round(1 / lesson.rmsnorm_forward(*story(), eps=0.0)[2].item(), 2)
    assert root_mean_square != 2.74, "2.74 is that of x: of what should the norm be?"
    assert_matches(lesson.rmsnorm_forward, *story(), eps=0.0, oracle=forward_by_hand)


@pytest.mark.task(1)
def test_another_eps_is_added_to_the_mean_square():
    """A large one, so that it is easy to see on which side of the root it is."""
    total, weight = tensor([[.1, .7, .5, .5]]), story()[2]
    assert_matches(lesson.rmsnorm_forward, total, None, weight, eps=0.09, oracle=forward_by_hand)


@pytest.mark.task(1)
@pytest.mark.edge
@pytest.mark.parametrize("rows, n", [(1, 1), (3, 1), (3, 2), (3, 15), (3, 16), (3, 17), (3, 37), (0, 5)])
def test_rows_of_any_length_may_lie_apart_in_memory_and_the_first_be_zero(rows, n, rng):
    x, residual, weight = numbers(rng, (rows, n), (rows, n), (n,))
    residual[:1] = -x[:1]
    assert_matches(lesson.rmsnorm_forward, apart(x, 2), apart(residual, 5), weight, oracle=forward_by_hand,
                   tolerance=summed(n))


@pytest.mark.task(1)
@pytest.mark.tolerance
def test_256_and_1_in_bfloat16_are_normed_as_the_256_that_is_stored():
    x, residual, weight = (tensor(values, BRAIN) for values in ([[256]], [[1]], [1]))
    _, total, rstd = lesson.rmsnorm_forward(x, residual, weight)
    root_mean_square = round(1 / rstd.item(), 2)
    assert total.item() == 256
    assert root_mean_square != 257, "257 is normed, and 256 stored: which of them will the way back read?"
    assert root_mean_square == 256


def y_alone(x, residual, weight):
    return lesson.rmsnorm_forward(x, residual, weight)[0]


@pytest.mark.task(1)
@pytest.mark.tolerance
@pytest.mark.parametrize("fused", [False, True])
def test_squares_of_float16_have_their_place_in_float32(fused, rng):
    """300 * 300 is more than float16 can hold."""
    x, weight = numbers(rng, (3, 400), (400,))
    x = (300 + 100 * x).half()
    assert_matches(y_alone, x, torch.zeros_like(x) if fused else None, weight,
                   oracle=lambda *arguments: forward_by_hand(*arguments)[0],
                   tolerance=summed(400, "float16").blind_to("tf32 round trip"))  # which has as many digits


@pytest.mark.task(1)
@pytest.mark.nonfinite
@pytest.mark.parametrize("strange", [NAN, INF])
def test_what_is_not_finite_reaches_its_own_row_alone(strange, rng):
    x, residual, weight = numbers(rng, (3, 5), (3, 5), (5,))
    residual[1, 2] = strange
    y, _, _ = lesson.rmsnorm_forward(x, residual, weight)
    rows_with_nan = y.isnan().any(1).tolist()
    assert rows_with_nan == [False, True, False]


@pytest.mark.task(1)
@pytest.mark.counters
def test_as_many_bytes_move_as_were_predicted(rng):
    """PyTorch's addition is counted by hand: two matrices read, one written."""
    rows, n = 5, 37
    x, residual, weight = numbers(rng, (rows, n), (rows, n), (n,))
    addition, x_and_residual, weight_in_each_row = (FLOAT32 * rows * n * matrices for matrices in (3, 2, 1))
    fused = count(lesson.rmsnorm_forward, x, residual, weight)
    norm = count(lesson.rmsnorm_forward, x, None, weight)
    moved_fused = fused.bytes_loaded + fused.bytes_stored - weight_in_each_row
    moved_apart = norm.bytes_loaded + norm.bytes_stored - weight_in_each_row + addition
    assert fused.bytes_loaded <= x_and_residual + weight_in_each_row
    assert moved_fused <= lesson.predict_forward(rows=rows, n=n, size=FLOAT32, fused=True)
    assert moved_apart <= lesson.predict_forward(rows=rows, n=n, size=FLOAT32, fused=False)
    conversions_of_n = rows
    assert fused.float64 == 0
    assert fused.conversions <= conversions_of_n


@pytest.mark.task(1)
@pytest.mark.compiled
def test_a_thread_loads_sixteen_bytes_of_a_row_at_once():
    arguments = filled((2, 1024), (2, 1024), 1024, fill=torch.zeros)
    kernel = compiled(lesson.rmsnorm_forward, *arguments, chip="h100").kernels["forward_kernel"]
    spills, narrowest_load = kernel.spills, min(access.width for access in kernel.loads)
    assert spills == 0
    assert narrowest_load == 16


@pytest.mark.task(1)
@pytest.mark.hopper
@pytest.mark.speed
@pytest.mark.parametrize("fused, at_least", [(False, 0.8), (True, 0.6)])
def test_norms_at_nearly_the_speed_of_a_copy(fused, at_least):
    """A copy of x, or of x and residual, moves as many bytes."""
    x, residual, as_much, weight = filled(*[(8192, 8192)] * 2, (16384 if fused else 8192, 8192), 8192)
    arguments = x, residual if fused else None, weight
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
                   tolerance=summed(max(total.shape)), **programs)


@pytest.mark.task(2)
@pytest.mark.parametrize("fused, wanted", [(False, 6), (True, 4)])
def test_predicts_the_matrices_of_both_ways_back(fused, wanted):
    matrices, bytes_of_rstd = divmod(lesson.predict_backward(rows=10, n=100, size=2, fused=fused), 10 * 100 * 2)
    assert bytes_of_rstd == 40
    assert matrices == wanted, "Which are read, which written? Two gradients arrive, and one is handed on."


@pytest.mark.task(2)
def test_the_norm_of_the_lesson_alone_goes_back():
    """d_x is -.14 1.02 -.7 -.7, and the share of program 0 is 0 1.4 0 0."""
    assert_goes_back(tensor([[0, 1, 0, 0]]), None, tensor([[1, 7, 5, 5]]), story()[2])


@pytest.mark.task(2)
def test_what_arrives_at_the_total_is_added_behind_the_norm():
    """d_x is -.14 1.02 .3 -.7."""
    arguments = tensor([[0, 1, 0, 0]]), tensor([[0, 0, 1, 0]]), tensor([[1, 7, 5, 5]]), story()[2]
    d_x = [round(x, 2) for x in lesson.backward_of_rows(*arguments, tensor([.2]))[0][0].tolist()]
    why = "d_total is in g, as if it came back through the norm: on which side of the norm is the total handed on?"
    assert d_x != [-0.15, 0.95, -0.55, -0.75], why
    assert_goes_back(*arguments)


@pytest.mark.task(2)
def test_each_program_counts_all_of_its_rows():
    """All is 1, so that a share counts rows: 0, 2 and 4 of program 0, 1 and 3 of program 1."""
    ones = torch.ones(5, 4, device=device)
    _, shares = lesson.backward_of_rows(ones, None, ones, ones[0], torch.ones(5, device=device), programs=2)
    rows_in_each_share = shares[:, 0].tolist()
    why = "One row of each program is in its share: what becomes of a share when the next row comes?"
    assert rows_in_each_share == [3, 2], why if rows_in_each_share == [1, 1] else None


@pytest.mark.task(2)
@pytest.mark.edge
@pytest.mark.parametrize("rows, n, programs", [(1, 2, 1), (7, 15, 1), (7, 16, 3), (7, 17, 7), (7, 37, 20), (0, 5, 2)])
def test_any_number_of_programs_shares_rows_that_lie_apart(rows, n, programs, rng):
    d_y, d_total, total, weight = numbers(rng, *[(rows, n)] * 3, (n,))
    assert_goes_back(apart(d_y, 7), apart(d_total, 2), apart(total, 4), weight, programs=programs)


@pytest.mark.task(2)
@pytest.mark.edge
def test_a_row_of_one_number_moves_the_loss_past_the_norm_alone():
    """x_hat is 1 whatever the number, but for eps."""
    d_y, d_total, total = (tensor([[each], [2]]) for each in (3, 4, 5))
    d_x, _ = lesson.backward_of_rows(d_y, d_total, total, tensor([2]), rstd_of(total))
    assert d_x.flatten().tolist() == pytest.approx([4, 2], rel=1e-4)


@pytest.mark.task(2)
@pytest.mark.tolerance
def test_the_product_of_d_y_and_weight_may_be_too_large_for_float16(rng):
    """300 * 300 is, and with an rstd near 1 / 300 the gradient is not."""
    total, = numbers(rng, (3, 16))
    total, d_y = ((300 * each).half() for each in (total, total.flip(1).sign()))
    weight = torch.full((16,), 300.0, dtype=HALF, device=device)
    rstd = rstd_of(total.float())
    d_x, shares = lesson.backward_of_rows(d_y, None, total, weight, rstd)
    shares_are_right = torch.allclose(shares, d_y * total.float() * rstd[:, None], rtol=1e-3)
    d_x_is_finite = bool(d_x.isfinite().all())
    assert d_x_is_finite, "In which dtype are d_y and weight multiplied?" if shares_are_right else None


@pytest.mark.task(2)
@pytest.mark.counters
def test_as_many_bytes_go_back_as_were_predicted(rng):
    """PyTorch's addition is counted by hand: two matrices read, one written."""
    rows, n, programs = 11, 37, 3
    d_y, d_total, total, column = numbers(rng, *[(rows, n)] * 3, (n,))
    addition = d_y_d_total_and_total = 3 * FLOAT32 * rows * n
    d_x, weight, share, rstd = (FLOAT32 * each for each in (rows * n, programs * n, programs * n, rows))
    fused = count(lesson.backward_of_rows, d_y, d_total, total, column, rstd_of(total), programs=programs)
    norm = count(lesson.backward_of_rows, d_y, None, total, column, rstd_of(total), programs=programs)
    moved_fused = fused.bytes_loaded + fused.bytes_stored - weight - share
    moved_apart = norm.bytes_loaded + norm.bytes_stored - weight - share + addition
    assert fused.bytes_atomic == 0
    assert fused.bytes_loaded <= d_y_d_total_and_total + weight + rstd
    assert fused.bytes_stored <= d_x + share
    assert moved_fused <= lesson.predict_backward(rows=rows, n=n, size=FLOAT32, fused=True)
    assert moved_apart <= lesson.predict_backward(rows=rows, n=n, size=FLOAT32, fused=False)
    conversions_of_n = rows
    assert fused.float64 == 0
    assert fused.conversions <= conversions_of_n


@pytest.mark.task(2)
@pytest.mark.compiled
def test_rows_on_their_way_wait_in_shared_memory_and_nothing_spills():
    d_y, d_total, total, weight = filled(*[(2, 1024)] * 3, 1024, fill=torch.zeros)
    found = compiled(lesson.backward_of_rows, d_y, d_total, total, weight, rstd_of(total.float()), chip="h100")
    kernel = found.kernels["backward_kernel"]
    spills, shared_memory, two_rows_of_each_matrix = kernel.spills, kernel.shared_bytes, 2 * 3 * 1024 * 2
    assert spills == 0
    assert shared_memory >= two_rows_of_each_matrix


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
def test_two_shares_of_three_columns_are_added_up():
    shares = tensor([[1, 2, 3], [10, 20, 30]])
    assert_matches(lesson.column_sums, shares, torch.float32, oracle=lambda shares, dtype: shares.sum(0))


@pytest.mark.task(3)
@pytest.mark.edge
@pytest.mark.parametrize("shares, n", [(0, 5), (1, 1), (3, 9), (4, 8), (5, 7), (13, 19)])
def test_tiles_of_four_rows_and_eight_columns_cover_any_shares(shares, n, rng):
    table, = whole_numbers(rng, (shares, n))
    sums = lesson.column_sums(table, torch.float32, rows=4, cols=8).tolist()
    first_tile_alone = shares > 4 and sums == table[:4].sum(0).tolist()
    assert sums == table.sum(0).tolist(), "As if only the first 4 rows were added up." if first_tile_alone else None


@pytest.mark.task(3)
@pytest.mark.tolerance
@pytest.mark.parametrize("small, dtype, total", [(0.25, HALF, 2050), (2.0**-40, torch.float64, 2048 + 2**-37)])
def test_2048_and_eight_small_numbers_are_rounded_once(small, dtype, total):
    """In float16 2048 + .25 is 2048, and so is 2048 + 1."""
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
    first, *others = [lesson.rmsnorm_backward(d_y, d_total, total, weight, rstd_of(total.float())) for _ in range(20)]
    for other in others:
        assert [torch.equal(*pair) for pair in zip(first, other)] == [True, True]


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
    """In float64, by differences of add_rmsnorm itself."""
    gradcheck(lesson.add_rmsnorm, *results_and_arriving(rng, 2, 3, 5, dtype=torch.float64)[0])


@pytest.mark.task(1, 2, 3, 4)
def test_the_gradients_are_the_same_under_torch_compile(rng):
    (x, residual, weight), d_out = results_and_arriving(rng, 3, 4, 5)
    assert_gradients((x.mT.contiguous().mT, residual, weight), d_out, compiled_by_torch(lesson.add_rmsnorm))


@pytest.mark.task(1, 2, 3, 4)
@pytest.mark.counters
def test_rstd_alone_waits_for_the_way_back_beside_the_results(rng):
    arguments, d_out = results_and_arriving(rng, 16, 64)
    used, rstd = memory(gradients(lesson.add_rmsnorm), *arguments, d_out=d_out), FLOAT32 * 16
    assert used.saved <= rstd


@pytest.mark.task(1, 2, 3, 4)
@pytest.mark.counters
def test_each_way_is_one_kernel_and_the_column_sum_another(rng):
    arguments, d_out = results_and_arriving(rng, 2, 6, 8)
    operations_on_the_way_there = len(count(lesson.add_rmsnorm, *arguments).library_operations)
    assert operations_on_the_way_there == 0, "forward_kernel adds the residual, if it gets one."
    counters = count(gradients(lesson.add_rmsnorm), *arguments, d_out=d_out)
    kernels = [launch.kernel for launch in counters.launches]
    assert kernels == ["forward_kernel", "backward_kernel", "column_sum_kernel"]
    operations_of_pytorch = len(counters.library_operations)
    assert operations_of_pytorch == 0, "Which kernel has d_total at hand, or could have it?"


@pytest.mark.task(1, 2, 3, 4)
@pytest.mark.counters
def test_x_and_residual_share_a_gradient_and_rows_that_lie_apart_are_not_copied(rng):
    rows, n = 16, 128
    (x, residual, weight), (d_y, d_total) = results_and_arriving(rng, rows, n)
    y, total, d_x, shares = (FLOAT32 * rows * n for _ in range(4))  # as many programs as rows
    rstd, d_weight = 512, FLOAT32 * n  # on a GPU no allocation is less than 512 bytes
    arguments = apart(x, 2), apart(residual, 3), weight
    forward = memory(lesson.add_rmsnorm, *arguments)
    both_ways = memory(gradients(lesson.add_rmsnorm), *arguments, d_out=(apart(d_y, 4), apart(d_total, 5)))
    assert forward.peak <= y + total + rstd
    assert both_ways.peak <= y + total + d_x + shares + rstd + d_weight
