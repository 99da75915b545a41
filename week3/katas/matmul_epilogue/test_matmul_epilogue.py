"""The kata again, as checks: bytes foretold, an epilogue in registers, its way back, all of it for autograd."""

import pytest
import torch

from tools.check import assert_matches, compiled, compiled_by_torch, count, gradcheck, gradients, memory
from tools.check import speed_ratio, terms
from tools.check.inputs import integers, matrices
from tools.check.tolerances import SLACK, Tolerance, accumulated, unit
from tools.gpu import device
from week3.katas.matmul_epilogue import matmul_epilogue as lesson

INF, NAN = float("inf"), float("nan")
HALF, BRAIN = torch.float16, torch.bfloat16
TILES = 32, 16, 16  # TILE_M, TILE_N, TILE_K
TILE = 16, 32       # ROWS, COLS


def tensor(values, dtype=torch.float64):
    return torch.tensor(values, dtype=dtype, device=device)


def tensors(rng, *shapes, dtype=torch.float64):
    return [torch.from_numpy(each).to(device, dtype) for each in matrices(rng, *shapes)]


def case(rng, m, n, k, dtype=torch.float64):
    """a, b, bias, residual."""
    return tensors(rng, (m, k), (k, n), (n,), (m, n), dtype=dtype)


def picture():
    """a, b, bias and residual of the lesson; z is 1 0 -1, 1 1 0."""
    a, b = tensor([[1, 0, 0, 1], [1, 1, 0, 1]]), tensor([[1, -1, 0], [0, 1, 1], [-1, 0, 0], [1, 0, 0]])
    return a, b, tensor([-1, 1, -1]), tensor([[0, 1, 2], [3, 4, 5]])


def one_sum(*parts):
    """a, b, bias 0 and residual 0 of a 1 x 1 product: the sum of these parts, one in each box of k."""
    b = torch.zeros(16 * len(parts), 1, dtype=HALF, device=device)
    b[::16, 0] = tensor(parts)
    return torch.ones_like(b).T, b, tensor([0], HALF), tensor([[0]], HALF)


def strewn(x):
    """The same matrix by columns, with other numbers between all of its own."""
    wide = torch.full((2 * x.shape[1], 3 * x.shape[0]), 77.0, dtype=x.dtype, device=x.device)
    wide[::2, ::3] = x.T
    return wide[::2, ::3].T


def gelu(z):
    return z * (1 + torch.erf(z / 2**0.5)) / 2


def formula(a, b, bias, residual, tiles=None):
    return gelu(a @ b + bias) + residual


def out_alone(a, b, bias, residual, tiles=TILES):
    return lesson.fused_forward(a, b, bias, residual, tiles=tiles)[0]


def forward_by_hand(a, b, bias, residual, save_z=True, tiles=None):
    return formula(a, b, bias, residual), a @ b + bias


def backward_by_autograd(d_out, z, tile=None):
    with torch.enable_grad():
        z = z.detach().requires_grad_()
        d_z, = torch.autograd.grad(gelu(z), z, d_out)
    return d_z, d_z.sum(0)


def summed(dtype, length):
    """Sums of so many terms. Of 16 bits the inputs have no more digits than tf32 has."""
    tolerance = accumulated(dtype, length)
    return tolerance if dtype == torch.float64 else tolerance.blind_to("tf32 round trip")


def rounded(dtype):
    """z and d_z are rounded before they go on."""
    few_digits = "tf32 round trip", "float16 round trip", "bfloat16 round trip"
    name = str(dtype).removeprefix("torch.")
    return Tolerance(SLACK * 4 * unit(name), f"{name} z and d_z", name).blind_to(*few_digits)


def near(x):
    return [[round(number, 3) + 0.0 for number in row] for row in x.tolist()]


def off(got, wanted):
    """How many numbers are wrong."""
    return int((~torch.isclose(got, wanted)).sum())


def like(got, ways):
    """What came back, where it is one of these: formula -> what it gives."""
    found = [words for words, way in ways.items() if torch.allclose(got.double(), way.double(), atol=2e-3)]
    return f"What came back is {found[0]}." if found else "Work one number out by hand: which steps does it take?"


# Task 1: bytes ------------------------------------------------------------------------------------

def fused_by_hand(m, n, k, tile_m, tile_n, itemsize, save_z=False):
    """Walk over the tiles, and add up what each of them loads and stores."""
    sizes = [(min(tile_m, m - row), min(tile_n, n - col)) for row in range(0, m, tile_m) for col in range(0, n, tile_n)]
    a, b = (itemsize * k * sum(size[axis] for size in sizes) for axis in (0, 1))
    out = itemsize * sum(rows * cols for rows, cols in sizes)
    return terms(a=a, b=b, residual=out, out=out, z=out if save_z else 0)


def saved_by_hand(m, n, itemsize, save_z=False):
    """All that is loaded and stored beside a, b and bias: by in_four_kernels, less what matmul_kernel does."""
    product, bias, gelu, residual, fused = 1, 2, 2, 3, 3 if save_z else 2
    return itemsize * m * n * (product + bias + gelu + residual - fused)


@pytest.mark.task(1)
@pytest.mark.parametrize("save_z", [False, True])
def test_one_tile_loads_a_b_and_residual_and_stores_out_and_perhaps_z(save_z):
    assert_matches(lesson.fused_bytes, 2, 3, 4, 16, 16, 2, save_z, oracle=fused_by_hand)


@pytest.mark.task(1)
@pytest.mark.parametrize("m, n, beside", [(16, 64, "side by side"), (32, 32, "one below the other")])
def test_two_tiles_load_twice_as_much_as_one(m, n, beside):
    one, two = lesson.fused_bytes(16, 32, 7, 16, 32, 2), lesson.fused_bytes(m, n, 7, 16, 32, 2)
    why = (f"Two tiles of 16 x 32, {beside}: each of them loads 16 rows of a and 32 columns of b, whatever the other "
           f"does. Of which are there more programs now, rows of tiles or columns of tiles?")
    assert two == 2 * one, why


@pytest.mark.task(1)
@pytest.mark.edge
@pytest.mark.parametrize("m, n", [(16, 40), (48, 16), (33, 70), (1, 1), (0, 3), (3, 0)])
def test_bytes_of_any_size(m, n):
    assert_matches(lesson.fused_bytes, m, n, 5, 16, 32, 8, True, oracle=fused_by_hand)
    assert_matches(lesson.saved_bytes, m, n, 8, True, oracle=saved_by_hand)


@pytest.mark.task(1)
@pytest.mark.parametrize("save_z", [False, True])
def test_of_the_picture_72_bytes_are_saved_and_12_less_if_z_is_stored(save_z):
    assert_matches(lesson.saved_bytes, 2, 3, 2, save_z, oracle=saved_by_hand)


# Task 2: the epilogue -----------------------------------------------------------------------------

@pytest.mark.task(2)
def test_a_product_alone_has_no_epilogue(rng):
    a, b = (torch.from_numpy(integers(rng, shape, -2, 3)).to(device, HALF) for shape in ((5, 40), (40, 3)))

    def product_alone(a, b):
        return lesson.fused_forward(a, b, None, None, tiles=TILES)[0]

    assert_matches(product_alone, a, b, oracle=torch.matmul, exact=True)


@pytest.mark.task(2)
def test_out_of_the_picture():
    a, b, bias, residual = picture()
    out = lesson.fused_forward(a, b, bias, residual)[0]
    z = a @ b + bias
    bias_last = gelu(a @ b) + bias + residual
    why = like(out, {"gelu(a @ b + bias + residual)": gelu(z + residual), "gelu(a @ b) + bias + residual": bias_last,
                     "gelu(a @ b) + residual": gelu(a @ b) + residual, "gelu(a @ b + bias)": gelu(z),
                     "a @ b + bias + residual": z + residual,
                     "as if the bias ran down the rows": gelu(a @ b + bias[:2, None]) + residual})
    assert near(out) == [[0.841, 1.0, 1.841], [3.841, 4.841, 5.0]], why


@pytest.mark.task(2)
def test_each_column_has_its_own_number_of_the_bias():
    """The product is 0, so that each row of z is the bias."""
    a, b, bias, residual = (torch.zeros(shape, device=device) for shape in ((3, 2), (2, 4), 4, (3, 4)))
    bias += tensor([1.0, 2, 3, 4])
    z = lesson.fused_forward(*(x.half() for x in (a, b, bias, residual)), True, tiles=TILES)[1]
    down = z[:, 0].tolist() == [1, 2, 3]
    why = "Down a column the numbers of the bias change: which axis is its own, rows or columns?"
    assert z.tolist() == [[1, 2, 3, 4]] * 3, why if down else "Where the product is 0, z is the bias."


@pytest.mark.task(2)
def test_the_bias_comes_once_however_many_boxes_k_has():
    """The product is 0, k has three boxes."""
    a, b, residual = (torch.zeros(shape, dtype=HALF, device=device) for shape in ((4, 48), (48, 3), (4, 3)))
    z = lesson.fused_forward(a, b, torch.ones(3, dtype=HALF, device=device), residual, True, tiles=TILES)[1]
    first = z[0, 0].item()
    why = "Each of the three boxes brought the bias along: what belongs into the loop?"
    assert first == 1, why if first == 3 else "Where the product is 0, z is the bias."


@pytest.mark.task(2)
def test_gelu_is_of_the_whole_sum():
    """Two boxes bring -2 and 3. gelu(1) is .841."""
    out = out_alone(*one_sum(-2.0, 3.0))
    first = gelu(tensor([[-2.0]]))
    why = like(out, {"gelu(gelu(-2) + 3): gelu after each box": gelu(first + 3),
                     "gelu(-2) + gelu(3): a sum of the gelu of each box": first + gelu(tensor([[3.0]]))})
    assert round(out.item(), 3) == 0.841, why


@pytest.mark.task(2)
@pytest.mark.parametrize("of_bias, of_residual, when", [(-2040, 0, "bias"), (0, -2040, "residual")])
def test_no_sum_is_rounded_before_the_last_step(of_bias, of_residual, when):
    """2048 + 1 - 2040 is 9. float16 has no 2049; gelu leaves both as they are."""
    a, b, bias, residual = one_sum(2048.0, 1.0)
    out = out_alone(a, b, bias + of_bias, residual + of_residual).item()
    why = f"2048 + 1 was rounded to 2048: in which dtype is the sum when the {when} comes?"
    assert out == 9, why if out == 8 else "2048 + 1 - 2040 is 9, and gelu(9) is 9."


@pytest.mark.task(2)
@pytest.mark.edge
@pytest.mark.parametrize("m, n, k", [(1, 1, 1), (33, 15, 17), (70, 37, 50)])
def test_any_shape_has_its_out_and_z(m, n, k, rng):
    assert_matches(lesson.fused_forward, *case(rng, m, n, k), True, tiles=TILES, oracle=forward_by_hand,
                   tolerance=summed(torch.float64, k))


@pytest.mark.task(2)
@pytest.mark.tolerance
@pytest.mark.parametrize("dtype", [HALF, BRAIN])
def test_out_of_16_bits_is_rounded_once(dtype, rng):
    assert_matches(out_alone, *case(rng, 40, 24, 70, dtype), oracle=formula, tolerance=summed(dtype, 70))


@pytest.mark.task(2)
@pytest.mark.tolerance
def test_tiles_of_the_config_are_right(rng):
    a, b, bias, residual = case(rng, 130, 140, 70, BRAIN)
    assert_matches(out_alone, a, b, bias, residual, tiles=None, oracle=formula, tolerance=summed(BRAIN, 70))


@pytest.mark.task(2)
def test_a_residual_may_be_stored_in_any_way(rng):
    a, b, bias, residual = case(rng, 37, 21, 5)
    right = formula(a, b, bias, residual)
    dense, apart = (off(out_alone(a, b, bias, x), right) for x in (residual, strewn(residual)))
    why = f"All is right of a contiguous residual. Of one with strides {strewn(residual).stride()} numbers are wrong."
    assert apart == 0, why if dense == 0 else "A contiguous one goes wrong too."


@pytest.mark.task(2)
@pytest.mark.nonfinite
@pytest.mark.parametrize("strange", [NAN, INF])
@pytest.mark.parametrize("which, spoilt", [("a", "row 1"), ("b", "column 2"), ("bias", "column 2"),
                                           ("residual", "one element")])
def test_what_is_not_finite_spoils_what_it_meets_and_nothing_else(which, spoilt, strange, rng):
    arguments = dict(zip(("a", "b", "bias", "residual"), case(rng, 3, 4, 5)))
    arguments[which][2 if which == "bias" else (1, 2)] = strange
    met = {"row 1": [[1, 0], [1, 1], [1, 2], [1, 3]], "column 2": [[0, 2], [1, 2], [2, 2]], "one element": [[1, 2]]}
    elements_spoilt = (~out_alone(**arguments).isfinite()).nonzero().tolist()
    assert elements_spoilt == met[spoilt]


@pytest.mark.task(1, 2)
@pytest.mark.counters
@pytest.mark.parametrize("save_z", [False, True])
@pytest.mark.parametrize("m, n, k", [(5, 8, 16), (40, 24, 56)])
def test_the_bytes_are_as_predicted(m, n, k, save_z, rng):
    """Beside them each row of tiles loads the bias."""
    counters = count(lesson.fused_forward, *case(rng, m, n, k, HALF), save_z, tiles=TILES)
    bytes_of_bias = 2 * n * -(-m // TILES[0])
    bytes_predicted = lesson.fused_bytes(m, n, k, *TILES[:2], 2, save_z) + bytes_of_bias
    assert counters.bytes == bytes_predicted


@pytest.mark.task(1, 2)
@pytest.mark.counters
@pytest.mark.parametrize("save_z", [False, True])
def test_four_kernels_move_what_is_saved_and_the_rest(save_z, rng):
    """Each of them loads the bias as often."""
    arguments = case(rng, 40, 24, 56, HALF)
    apart = count(lesson.in_four_kernels, *arguments, tiles=TILES)
    fused = count(lesson.fused_forward, *arguments, save_z, tiles=TILES)
    bytes_more = apart.bytes - fused.bytes
    assert bytes_more == lesson.saved_bytes(40, 24, 2, save_z)


@pytest.mark.task(2)
@pytest.mark.counters
def test_16_bits_become_float32_in_the_epilogue_and_not_in_the_loop(rng):
    """Of one tile: its residual, the bias, z and out."""
    counters = count(lesson.fused_forward, *case(rng, 32, 16, 64, HALF), True, tiles=TILES)
    assert counters.float64 == 0
    assert counters.conversions <= 3 * 32 * 16 + 16


@pytest.mark.task(2)
@pytest.mark.compiled
def test_tensor_cores_are_fed_by_the_copy_engine_and_the_epilogue_fits_the_registers():
    shapes = (256, 128), (128, 512), (512,), (256, 512)
    arguments = [torch.zeros(shape, dtype=BRAIN, device=device) for shape in shapes]
    kernel = compiled(lesson.fused_forward, *arguments, True, chip="h100").kernels["matmul_kernel"]
    products, boxes = (sum(times for name, times in kernel.instructions.items() if name.startswith(start))
                       for start in ("wgmma.mma_async", "cp.async.bulk.tensor"))
    assert kernel.spills == 0
    assert products > 0
    assert boxes >= 2


@pytest.mark.task(2)
@pytest.mark.hopper
@pytest.mark.speed
def test_keeps_up_with_a_product_of_the_library_and_a_compiled_kernel_behind_it():
    a, b, bias, residual = (torch.randn(shape, device=device).to(BRAIN)
                            for shape in ((8192, 1024), (1024, 8192), 8192, (8192, 8192)))
    behind = torch.compile(lambda product, bias, residual: torch.nn.functional.gelu(product + bias) + residual)

    def library(a, b, bias, residual):
        return behind(a @ b, bias, residual), None
    assert speed_ratio(lesson.fused_forward, library, a, b, bias, residual) >= 0.9


# Task 3: the way back -----------------------------------------------------------------------------

@pytest.mark.task(3)
def test_d_z_of_the_picture_is_the_slope():
    z = tensor([[1, 0, -1], [1, 1, 0]])
    d_z = lesson.fused_backward(torch.ones_like(z), z)[0]
    cdf, pdf = (1 + torch.erf(z / 2**0.5)) / 2, torch.exp(-z * z / 2) / (2 * torch.pi)**0.5
    why = like(d_z, {"cdf(z): a product has a slope of two parts": cdf, "cdf(z) + pdf(z)": cdf + pdf,
                     "cdf(z) - z * pdf(z)": cdf - z * pdf, "gelu(z), and not its slope": gelu(z), "d_out": z * 0 + 1})
    assert near(d_z) == [[1.083, 0.5, -0.083], [1.083, 1.083, 0.5]], why


@pytest.mark.task(3)
def test_d_bias_of_the_picture_is_a_sum_over_rows():
    z = tensor([[1, 0, -1], [1, 1, 0]])
    d_bias = lesson.fused_backward(torch.ones_like(z), z)[1]
    across = "1.5 is 1.083 + .5 - .083, a sum of the numbers of one row: does the bias meet rows or columns?"
    why = across if 1.5 in near(d_bias[None])[0] else "The first column of d_z is 1.083, 1.083."
    assert near(d_bias[None]) == [[2.167, 1.583, 0.417]], why


@pytest.mark.task(3)
def test_each_tile_of_rows_has_a_share():
    """d_out is 2 and the slope at 0 is .5, so that d_bias is the number of rows."""
    z = torch.zeros(40, 5, device=device, dtype=torch.float64)
    rows_in_d_bias = lesson.fused_backward(z + 2, z, tile=TILE)[1].tolist()
    assert rows_in_d_bias == [40] * 5


@pytest.mark.task(3)
@pytest.mark.edge
@pytest.mark.parametrize("m, n", [(1, 1), (15, 33), (17, 31), (37, 70), (16, 32)])
def test_any_shape_goes_back(m, n, rng):
    d_out, z = tensors(rng, (m, n), (m, n))
    assert_matches(lesson.fused_backward, d_out, z, tile=TILE, oracle=backward_by_autograd,
                   tolerance=summed(torch.float64, max(m, 1)))


@pytest.mark.task(3)
@pytest.mark.tolerance
@pytest.mark.parametrize("dtype", [HALF, BRAIN])
def test_gradients_of_16_bits_are_rounded_once(dtype, rng):
    d_out, z = tensors(rng, (200, 24), (200, 24), dtype=dtype)
    tolerance = summed(dtype, 200)
    assert_matches(lesson.fused_backward, d_out, z, tile=TILE, oracle=backward_by_autograd, tolerance=tolerance)


@pytest.mark.task(3)
def test_d_bias_adds_what_is_not_rounded_yet():
    """Slopes of 1/2 and of a little more, in turns with 1 and -1: float16 has no number between .5 and .50049."""
    z, sign = torch.zeros(32, 3, dtype=HALF, device=device), torch.ones(32, 3, dtype=HALF, device=device)
    z[::2], sign[1::2] = 0.00025, -1.0
    d_bias = lesson.fused_backward(sign, z, tile=TILE)[1]
    wanted = round(backward_by_autograd(sign.double(), z.double())[1][0].item(), 5)
    why = "Half of the slopes are .5." if d_bias.any() else "Each d_z was rounded to float16 before it was added."
    assert [round(each, 5) for each in d_bias.tolist()] == [wanted] * 3, why


@pytest.mark.task(3)
@pytest.mark.edge
def test_far_from_0_the_slope_is_0_or_1():
    z = tensor([[-300.0, -30.0, 30.0, 300.0]], HALF)
    d_z = lesson.fused_backward(torch.ones_like(z), z)[0]
    assert d_z.tolist() == [[0, 0, 1, 1]]


@pytest.mark.task(3)
def test_d_out_may_be_stored_in_any_way(rng):
    d_out, z = tensors(rng, (37, 70), (37, 70))
    right = backward_by_autograd(d_out, z)[0]
    dense, apart = (off(lesson.fused_backward(x, z, tile=TILE)[0], right) for x in (d_out, strewn(d_out)))
    why = f"All is right of a contiguous d_out. Of one with strides {strewn(d_out).stride()} numbers are wrong."
    assert apart == 0, why if dense == 0 else "A contiguous one goes wrong too."


@pytest.mark.task(3)
@pytest.mark.counters
def test_d_out_and_z_are_loaded_once_and_d_z_is_stored_once_all_in_float32(rng):
    m, n = 40, 70
    counters = count(lesson.fused_backward, *tensors(rng, (m, n), (m, n), dtype=HALF), tile=TILE)
    shares_of_tiles = 4 * n * -(-m // TILE[0])
    assert [launch.kernel for launch in counters.launches] == ["d_z_kernel"]
    assert counters.bytes_atomic == 0
    assert counters.bytes_loaded <= 2 * 2 * m * n
    assert counters.bytes_stored <= 2 * m * n + shares_of_tiles
    assert counters.float64 == 0
    elements_in_all_tiles = 48 * 96
    assert counters.conversions <= 3 * elements_in_all_tiles


@pytest.mark.task(3)
@pytest.mark.compiled
def test_a_thread_loads_sixteen_bytes_of_a_row_at_once():
    d_out, z = torch.zeros(2, 64, 512, dtype=BRAIN, device=device)
    kernel = compiled(lesson.fused_backward, d_out, z, chip="h100").kernels["d_z_kernel"]
    widest_load = max(access.width for access in kernel.loads)
    assert kernel.spills == 0
    assert widest_load == 16


@pytest.mark.task(3)
@pytest.mark.hopper
@pytest.mark.speed
def test_goes_back_at_more_than_half_the_speed_of_a_copy():
    """A copy of one and a half z moves as many bytes: three halves read, three written."""
    d_out, z = torch.randn(2, 8192, 8192, device=device).to(BRAIN)
    more = torch.empty(12288, 8192, dtype=BRAIN, device=device)
    assert speed_ratio(lesson.fused_backward, lambda d_out, z: more.clone(), d_out, z) >= 0.6


# Task 4: for autograd -----------------------------------------------------------------------------

@pytest.mark.task(2, 3, 4)
def test_gradients_of_the_picture():
    assert_matches(gradients(lesson.linear_gelu), *picture(), d_out=tensor([[1, 1, 1], [1, 1, 1]]),
                   oracle=gradients(formula), tolerance=summed(torch.float64, 4))


@pytest.mark.task(2, 3, 4)
def test_d_a_of_the_picture_has_been_through_gelu():
    a, b, bias, residual = picture()
    d_out = torch.ones_like(residual)
    d_a = gradients(lesson.linear_gelu)(a, b, bias, residual, d_out=d_out)[0]
    d_z = backward_by_autograd(d_out, a @ b + bias)[0]
    why = like(d_a, {"d_out @ b.T: the way back goes through gelu first": d_out @ b.T})
    assert near(d_a) == near(d_z @ b.T), why


@pytest.mark.task(2, 3, 4)
@pytest.mark.parametrize("m, n, k", [(1, 1, 1), (3, 5, 4), (0, 3, 2), (3, 0, 2), (37, 34, 35)])
def test_gradients_have_the_shapes_of_their_arguments_in_any_layout(m, n, k, rng):
    d_out, = tensors(rng, (m, n))
    assert_matches(gradients(lesson.linear_gelu), *case(rng, m, n, k), d_out=d_out, oracle=gradients(formula),
                   tolerance=summed(torch.float64, m + n + k), layouts="any" if m < 37 else "contiguous")


@pytest.mark.task(2, 3, 4)
@pytest.mark.tolerance
@pytest.mark.parametrize("dtype", [HALF, BRAIN])
def test_gradients_of_16_bits_are_of_16_bits(dtype, rng):
    d_out, = tensors(rng, (20, 24), dtype=dtype)
    assert_matches(gradients(lesson.linear_gelu), *case(rng, 20, 24, 16, dtype), d_out=d_out,
                   oracle=gradients(formula), tolerance=rounded(dtype))


@pytest.mark.task(2, 3, 4)
def test_a_sum_hands_on_a_d_out_of_a_single_number(rng):
    d_out = torch.ones((), device=device, dtype=torch.float64).expand(4, 6)
    assert_matches(gradients(lesson.linear_gelu), *case(rng, 4, 6, 5), d_out=d_out, oracle=gradients(formula),
                   tolerance=summed(torch.float64, 6))


@pytest.mark.task(2, 3, 4)
def test_gradients_are_how_the_result_changes(rng):
    """In float64, by differences of linear_gelu itself."""
    gradcheck(lesson.linear_gelu, *case(rng, 3, 5, 4))


@pytest.mark.task(2, 3, 4)
def test_gradients_are_the_same_under_torch_compile(rng):
    a, *others = case(rng, 3, 5, 4)
    d_out, = tensors(rng, (3, 5))
    function = compiled_by_torch(lesson.linear_gelu)
    assert_matches(gradients(function), a.T.contiguous().T, *others, d_out=d_out, oracle=gradients(formula),
                   tolerance=summed(torch.float64, 8))


@pytest.mark.task(2, 4)
@pytest.mark.counters
def test_without_a_gradient_to_come_one_kernel_stores_out_and_nothing_else_is_done(rng):
    counters = count(lesson.linear_gelu, *case(rng, 16, 24, 8, HALF))
    bytes_of_out = 2 * 16 * 24
    assert counters.library_operations == []
    assert counters.bytes_stored == bytes_of_out


@pytest.mark.task(2, 3, 4)
@pytest.mark.counters
def test_both_ways_are_one_kernel_each(rng):
    d_out, = tensors(rng, (16, 24), dtype=HALF)
    counters = count(gradients(lesson.linear_gelu), *case(rng, 16, 24, 8, HALF), d_out=d_out)
    kernels = [launch.kernel for launch in counters.launches]
    assert kernels == ["matmul_kernel", "d_z_kernel"]


@pytest.mark.task(2, 3, 4)
@pytest.mark.counters
def test_z_alone_waits_for_the_way_back(rng):
    m, n = 32, 64
    d_out, = tensors(rng, (m, n), dtype=HALF)
    bytes_of_z = 2 * m * n
    used = memory(gradients(lesson.linear_gelu), *case(rng, m, n, 16, HALF), d_out=d_out)
    assert used.saved <= bytes_of_z
