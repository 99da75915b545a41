"""The kata again, as checks: bytes foretold, an epilogue in registers, its way back, all of it for autograd."""

import pytest
import torch

from tools.check import assert_matches, compiled, compiled_by_torch, count, gradcheck, gradients, memory, saved_tensors
from tools.check import speed_ratio, terms
from tools.check.inputs import integers, matrices
from tools.check.tolerances import SLACK, Tolerance, accumulated, unit
from tools.gpu import device
from week3.katas.matmul_epilogue import matmul_epilogue as lesson

HALF, BRAIN, DOUBLE = torch.float16, torch.bfloat16, torch.float64
NAMES = "a", "b", "bias", "residual"
COPIES = "clone", "contiguous", "copy_"
TILES, TILE = (32, 16, 16), (16, 32)  # TILE_M, TILE_N, TILE_K (None: those of CONFIG), and ROWS, COLS


def tensor(values, dtype=DOUBLE):
    return torch.tensor(values, dtype=dtype, device=device)


def tensors(rng, *shapes, dtype=DOUBLE):
    return [torch.from_numpy(each).to(device, dtype) for each in matrices(rng, *shapes)]


def case(rng, m, n, k, dtype=DOUBLE):
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


def slopes_that_float16_rounds():
    """d_out, z, d_bias: 16 slopes a little above .5, less 15 that are .5. float16 has nothing between .5 and .50049."""
    z, sign = torch.zeros(2, 31, 3, dtype=HALF, device=device)
    z[::2], sign[::2], sign[1::2] = 0.00025, 1, -1
    return sign, z, backward_by_autograd(sign.double(), z.double())[1].half().tolist()


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
    return tolerance if dtype == DOUBLE else tolerance.blind_to("tf32 round trip")


def rounded(dtype):
    """z and d_z are rounded before they go on."""
    few_digits = "tf32 round trip", "float16 round trip", "bfloat16 round trip"
    name = str(dtype).removeprefix("torch.")
    return Tolerance(SLACK * 4 * unit(name), f"{name} z and d_z", name).blind_to(*few_digits)


def near(x):
    return [[round(number, 3) + 0.0 for number in row] for row in x.tolist()]


def like(got, ways, otherwise="Work one number out by hand: which steps does it take?"):
    """What came back, where it is one of these: formula -> what it gives."""
    found = [words for words, way in ways.items() if torch.allclose(got.double(), way.double(), atol=2e-3)]
    return f"What came back is {found[0]}.".replace("?.", "?") if found else otherwise


# Task 1: bytes ------------------------------------------------------------------------------------

def fused_by_hand(m, n, k, tile_m, tile_n, itemsize, save_z=False):
    """Walk over the tiles, and add up what each of them loads and stores."""
    sizes = [(min(tile_m, m - row), min(tile_n, n - col)) for row in range(0, m, tile_m) for col in range(0, n, tile_n)]
    a, b = (itemsize * k * sum(size[axis] for size in sizes) for axis in (0, 1))
    out = itemsize * sum(rows * cols for rows, cols in sizes)
    return terms(a=a, b=b, residual=out, out=out, z=out if save_z else 0)


def saved_by_hand(m, n, itemsize, save_z=False):
    """All that is loaded and stored beside a, b and bias: by in_four_kernels, less what matmul_kernel does."""
    product, bias, gelu, residual = 1, 2, 2, 3
    return itemsize * m * n * (product + bias + gelu + residual - (3 if save_z else 2))


@pytest.mark.task(1)
@pytest.mark.parametrize("save_z", [False, True])
def test_one_tile_loads_a_b_and_residual_and_stores_out_and_perhaps_z(save_z):
    found, whole = lesson.fused_bytes(2, 3, 4, 16, 16, 2, save_z), fused_by_hand(16, 16, 4, 16, 16, 2, save_z).total
    assert found != whole, f"{found} bytes are those of a whole tile, 16 x 16: what does the part outside out cost?"
    stored_and_residual = 2 * 2 * 3 * (3 if save_z else 2)
    whole_boxes = 2 * (16 + 16) * 4 + stored_and_residual
    assert found != whole_boxes, f"{found} bytes count 16 rows of a and 16 columns of b. How many have a and b here?"
    assert found != stored_and_residual, f"{found} bytes have no a and no b. What does the program load of them?"
    assert_matches(lesson.fused_bytes, 2, 3, 4, 16, 16, 2, save_z, oracle=fused_by_hand)


@pytest.mark.task(1)
@pytest.mark.parametrize("m, n, beside", [(16, 64, "side by side"), (32, 32, "one below the other")])
def test_two_tiles_load_twice_as_much_as_one(m, n, beside):
    one, two = lesson.fused_bytes(16, 32, 7, 16, 32, 2), lesson.fused_bytes(m, n, 7, 16, 32, 2)
    why = f"Two tiles {beside}: each of them loads 16 rows of a and 32 columns of b. Which do both of them load?"
    assert two == 2 * one, why


@pytest.mark.task(1)
@pytest.mark.parametrize("save_z", [False, True])
def test_of_the_picture_72_bytes_are_saved_and_12_less_if_z_is_stored(save_z):
    saved = lesson.saved_bytes(2, 3, 2, save_z)
    assert saved != 84, "84 is 72 and the 12 of z: does matmul_kernel move less where it stores z, or more?"
    assert_matches(lesson.saved_bytes, 2, 3, 2, save_z, oracle=saved_by_hand)


@pytest.mark.task(1)
@pytest.mark.edge
@pytest.mark.parametrize("m, n", [(16, 40), (48, 16), (33, 70), (1, 1), (0, 3), (3, 0)])
def test_bytes_of_any_size(m, n):
    assert_matches(lesson.fused_bytes, m, n, 5, 16, 32, 8, True, oracle=fused_by_hand)
    assert_matches(lesson.saved_bytes, m, n, 8, True, oracle=saved_by_hand)


# Task 2: the epilogue -----------------------------------------------------------------------------

@pytest.mark.task(2)
def test_a_product_alone_has_no_epilogue(rng):
    a, b = (torch.from_numpy(integers(rng, shape, -2, 3)).to(device, HALF) for shape in ((5, 40), (40, 3)))
    first_box_alone = torch.equal(out_alone(a, b, None, None), a[:, :16] @ b[:16])
    assert not first_box_alone, "As if k had one box. At which row and column do the boxes of the second turn begin?"
    assert_matches(out_alone, a, b, None, None, oracle=lambda a, b, *absent: a @ b, exact=True)


@pytest.mark.task(2)
def test_out_of_the_picture():
    a, b, bias, residual = picture()
    out, z = out_alone(a, b, bias, residual, tiles=None), a @ b + bias
    why = like(out, {"gelu(a @ b + bias + residual)": gelu(z + residual), "gelu(a @ b + bias)": gelu(z),
                     "gelu(a @ b) + bias + residual": gelu(a @ b) + bias + residual,
                     "gelu(a @ b) + residual": gelu(a @ b) + residual, "a @ b + bias + residual": z + residual,
                     "as if the bias ran down the rows": gelu(a @ b + bias[:2, None]) + residual})
    assert near(out) == [[0.841, 1.0, 1.841], [3.841, 4.841, 5.0]], why


@pytest.mark.task(2)
def test_each_column_has_its_own_number_of_the_bias_and_that_once():
    """The product is 0, so that each row of z is the bias; k has three boxes."""
    a, b, bias, residual = (torch.zeros(shape, device=device, dtype=HALF) for shape in ((3, 48), (48, 4), 4, (3, 4)))
    bias += tensor([1, 2, 3, 4], HALF)
    z = lesson.fused_forward(a, b, bias, residual, True, tiles=TILES)[1]
    why = like(z, {"one number of the bias for each row": bias[:3, None],
                   "3 times the bias, which each of the three boxes of k brought along": 3 * bias,
                   "gelu(z), z being 1 2 3 4: which comes first, gelu or the store of z?": gelu(bias.double())},
               "Where the product is 0, z is the bias.")
    assert z.tolist() == [[1, 2, 3, 4]] * 3, why


@pytest.mark.task(2)
def test_gelu_is_of_the_whole_sum():
    """Two boxes bring -2 and 3. gelu(1) is .841."""
    out, first = out_alone(*one_sum(-2.0, 3.0)), gelu(tensor([[-2.0]]))
    why = like(out, {"gelu(gelu(-2) + 3): gelu after each box": gelu(first + 3),
                     "gelu(-2) + gelu(3): a sum of the gelu of each box": first + gelu(tensor([[3.0]]))})
    assert round(out.item(), 3) == 0.841, why


@pytest.mark.task(2)
@pytest.mark.parametrize("of_bias, of_residual, when, what", [
    (-2040, 0, "bias", "the sum"), (0, -2040, "residual", "z, or of gelu(z)")])
def test_no_sum_is_rounded_before_the_last_step(of_bias, of_residual, when, what):
    """2048 + 1 - 2040 is 9. float16 has no 2049; gelu leaves both as they are."""
    a, b, bias, residual = one_sum(2048.0, 1.0)
    out = out_alone(a, b, bias + of_bias, residual + of_residual).item()
    why = f"2048 + 1 was rounded to 2048 before the {when} came: which line makes 16 bits of {what}?"
    assert out == 9, why if out == 8 else "2048 + 1 - 2040 is 9, and gelu(9) is 9."


@pytest.mark.task(2)
@pytest.mark.edge
@pytest.mark.parametrize("m, n, k", [(1, 1, 1), (33, 15, 17), (70, 37, 50)])
def test_any_shape_has_its_out_and_z(m, n, k, rng):
    assert_matches(lesson.fused_forward, *case(rng, m, n, k), True, tiles=TILES, oracle=forward_by_hand,
                   tolerance=summed(DOUBLE, k))


@pytest.mark.task(2)
@pytest.mark.tolerance
@pytest.mark.parametrize("dtype, m, n, tiles", [(HALF, 40, 24, TILES), (BRAIN, 40, 24, TILES), (BRAIN, 130, 140, None)])
def test_out_of_16_bits_is_rounded_once(dtype, m, n, tiles, rng):
    assert_matches(out_alone, *case(rng, m, n, 70, dtype), tiles, oracle=formula, tolerance=summed(dtype, 70))


@pytest.mark.task(2)
def test_a_residual_may_be_stored_in_any_way(rng):
    a, b, bias, residual = case(rng, 37, 21, 5)
    right = formula(a, b, bias, residual)
    apart, dense = (torch.allclose(out_alone(a, b, bias, x), right) for x in (strewn(residual), residual))
    assert dense, "Even with a contiguous residual out is wrong."
    assert apart, f"out is right with a contiguous residual, and wrong with one of strides {strewn(residual).stride()}."


@pytest.mark.task(2)
@pytest.mark.nonfinite
@pytest.mark.parametrize("strange", [float("nan"), float("inf")])
@pytest.mark.parametrize("which, spoilt", [("a", "row"), ("b", "column"), ("bias", "column"), ("residual", "element")])
def test_what_is_not_finite_spoils_what_it_meets_and_nothing_else(which, spoilt, strange, rng):
    arguments = dict(zip(NAMES, case(rng, 3, 4, 5)))
    arguments[which][2 if which == "bias" else (1, 2)] = strange
    met = {"row": [[1, 0], [1, 1], [1, 2], [1, 3]], "column": [[0, 2], [1, 2], [2, 2]], "element": [[1, 2]]}
    elements_spoilt = (~out_alone(**arguments).isfinite()).nonzero().tolist()
    assert elements_spoilt == met[spoilt]


@pytest.mark.task(1, 2)
@pytest.mark.counters
@pytest.mark.parametrize("save_z", [False, True])
@pytest.mark.parametrize("m, n, k", [(40, 24, 56), (5, 8, 16)])
def test_the_bytes_are_as_predicted_and_four_kernels_move_those_that_are_saved_besides(m, n, k, save_z, rng):
    """The bias is loaded by each row of tiles, as often by both."""
    arguments = case(rng, m, n, k, HALF)
    counters = count(lesson.fused_forward, *arguments, save_z, tiles=TILES)
    bytes_of_bias = 2 * n * -(-m // TILES[0])
    bytes_predicted = lesson.fused_bytes(m, n, k, *TILES[:2], 2, save_z) + bytes_of_bias
    lines = () if counters.bytes == bytes_predicted else counters.launches[0].lines
    again = [(each.line, each.counts.bytes / (2 * m * n)) for each in lines if "residual" in each.source]
    of_bias = [(each.line, each.counts.bytes // 2, bytes_of_bias // 2) for each in lines
               if "bias" in each.source and "residual" not in each.source and each.counts.bytes > bytes_of_bias]
    why = "Line {} moves m * n numbers {:g} times. Is it in the loop?"
    assert all(times <= 1 for _, times in again), why.format(*max(again, key=lambda each: each[1]))
    assert not of_bias, ("Line {} loads {} numbers of the bias, {} are enough. Is it one for each element of the tile, "
                         "or for each column?").format(*of_bias[0])
    assert counters.bytes == bytes_predicted
    bytes_more = count(lesson.in_four_kernels, *arguments, tiles=TILES).bytes - counters.bytes
    assert bytes_more == lesson.saved_bytes(m, n, 2, save_z)


@pytest.mark.task(2)
@pytest.mark.counters
def test_a_tile_takes_a_dot_for_each_box_of_k_and_becomes_float32_in_the_epilogue_alone(rng):
    """Its residual, the bias, z and out do."""
    counters = count(lesson.fused_forward, *case(rng, 32, 16, 64, HALF), True, tiles=TILES)
    dots = counters.flops / (2 * 32 * 16 * 16)
    assert dots == 4, f"64 numbers of k are 4 boxes of 16, and {dots:g} dots were taken: where does the loop end?"
    assert counters.float64 == 0
    of_boxes = [(each.line, each.counts.conversions) for each in counters.launches[0].lines
                if each.counts.conversions and ("_desc" in each.source or "tl.dot" in each.source)]
    assert not of_boxes, ("Line {} converts {} numbers of boxes of a and b. tl.dot multiplies float16 and adds up in "
                          "float32: what is the conversion for?").format(*of_boxes[0])
    assert counters.conversions <= 3 * 32 * 16 + 16


@pytest.mark.task(2)
@pytest.mark.compiled
def test_tensor_cores_are_fed_by_the_copy_engine_and_the_epilogue_fits_the_registers():
    arguments = (torch.zeros(shape, dtype=BRAIN, device=device) for shape in ((256, 128), (128, 512), 512, (256, 512)))
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
    behind = torch.compile(lambda product, bias, residual: torch.nn.functional.gelu(product + bias) + residual)
    shapes = (8192, 1024), (1024, 8192), 8192, (8192, 8192)
    arguments = [torch.randn(shape, device=device).to(BRAIN) for shape in shapes]
    assert speed_ratio(lesson.fused_forward, lambda a, b, *others: (behind(a @ b, *others), None), *arguments) >= 0.8


# Task 3: the way back -----------------------------------------------------------------------------

@pytest.mark.task(3)
def test_d_z_of_the_picture_is_the_slope():
    z = tensor([[1, 0, -1], [1, 1, 0]])
    d_z = lesson.fused_backward(torch.ones_like(z), z)[0]
    cdf, pdf = (1 + torch.erf(z / 2**0.5)) / 2, torch.exp(-z * z / 2) / (2 * torch.pi)**0.5
    at_1, at_0, _ = near(d_z)[0]
    why = like(d_z, {"cdf(z): a product has a slope of two parts": cdf, "cdf(z) + pdf(z)": cdf + pdf,
                     "cdf(z) - z * pdf(z)": cdf - z * pdf,
                     "right but for pdf. By what is z * z divided there?": cdf + z * torch.exp(-z * z) * 0.3989,
                     "right but for pdf. What is its exponential divided by?": cdf + z * torch.exp(-z * z / 2),
                     "gelu(z), and not its slope": gelu(z), "d_out": z * 0 + 1},
               f"Where z is 1, cdf(z) is .841 and z * pdf(z) .242, together 1.083. What makes {at_1} of them?"
               if at_0 == 0.5 else f"Where z is 0, cdf(z) is .5 and z * pdf(z) 0. What makes {at_0} of them?")
    assert near(d_z) == [[1.083, 0.5, -0.083], [1.083, 1.083, 0.5]], why


@pytest.mark.task(3)
def test_d_bias_of_the_picture_is_a_sum_over_rows():
    z = tensor([[1, 0, -1], [1, 1, 0]])
    d_bias = near(lesson.fused_backward(torch.ones_like(z), z)[1][None])[0]
    across = "1.5 is 1.083 + .5 - .083, a sum of the numbers of one row: does the bias meet rows or columns?"
    assert d_bias == [2.167, 1.583, 0.417], across if 1.5 in d_bias else "The first column of d_z is 1.083, 1.083."


@pytest.mark.task(3)
def test_each_tile_of_rows_has_a_share():
    """d_out is 2 and the slope at 0 is .5, so that d_bias is the number of rows."""
    z = torch.zeros(40, 5, device=device, dtype=DOUBLE)
    rows_in_d_bias = lesson.fused_backward(z + 2, z, tile=TILE)[1].tolist()
    assert rows_in_d_bias == [40] * 5


@pytest.mark.task(3)
@pytest.mark.edge
@pytest.mark.tolerance
@pytest.mark.parametrize("m, n, dtype", [(1, 1, DOUBLE), (15, 33, DOUBLE), (17, 31, DOUBLE), (37, 70, DOUBLE),
                                         (16, 32, DOUBLE), (200, 24, HALF), (200, 24, BRAIN)])
def test_any_shape_goes_back_and_is_rounded_once(m, n, dtype, rng):
    assert_matches(lesson.fused_backward, *tensors(rng, (m, n), (m, n), dtype=dtype), tile=TILE,
                   oracle=backward_by_autograd, tolerance=summed(dtype, m))


@pytest.mark.task(3)
def test_d_bias_adds_what_is_not_rounded_yet():
    sign, z, wanted = slopes_that_float16_rounds()
    d_bias = lesson.fused_backward(sign, z, tile=TILE)[1]
    why = "As if each d_z were rounded to float16 before it is added." if d_bias[0] == 0.5 else ".503 is right."
    assert d_bias.tolist() == wanted, why


@pytest.mark.task(3)
@pytest.mark.edge
def test_far_from_0_the_slope_is_0_or_1():
    z = tensor([[-300.0, -30.0, 30.0, 300.0]], HALF)
    assert lesson.fused_backward(torch.ones_like(z), z)[0].tolist() == [[0, 0, 1, 1]]


@pytest.mark.task(3)
def test_d_out_may_be_stored_in_any_way(rng):
    d_out, z = tensors(rng, (37, 70), (37, 70))
    right = backward_by_autograd(d_out, z)[0]
    apart, dense = (torch.allclose(lesson.fused_backward(x, z, tile=TILE)[0], right) for x in (strewn(d_out), d_out))
    assert dense, "Even with a contiguous d_out d_z is wrong."
    assert apart, f"d_z is right with a contiguous d_out, and wrong with one of strides {strewn(d_out).stride()}."


@pytest.mark.task(3)
@pytest.mark.counters
def test_d_out_and_z_are_loaded_once_and_d_z_is_stored_once_all_in_float32(rng):
    m, n = 40, 70
    counters = count(lesson.fused_backward, *tensors(rng, (m, n), (m, n), dtype=HALF), tile=TILE)
    shares_of_tiles, elements_in_all_tiles = 4 * n * -(-m // TILE[0]), 48 * 96
    assert [launch.kernel for launch in counters.launches] == ["d_z_kernel"]
    assert counters.bytes_atomic == 0
    assert counters.bytes_loaded <= 2 * 2 * m * n
    assert counters.bytes_stored <= 2 * m * n + shares_of_tiles
    assert counters.float64 == 0
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
    assert speed_ratio(lesson.fused_backward, lambda d_out, z: more.clone(), d_out, z) >= 0.5


# Task 4: for autograd -----------------------------------------------------------------------------

def among(found, *wanted):
    """Is each of these tensors one of those that were found?"""
    return [any(each.shape == x.shape and torch.allclose(each, x) for each in found) for x in wanted]


@pytest.mark.task(2, 4)
def test_a_bias_may_have_any_stride():
    a, b, bias, residual = picture()
    out = lesson.linear_gelu(a, b, torch.stack([bias, bias + 7], 1)[:, 0], residual)
    side_by_side = formula(a, b, tensor([-1, 6, 1]), residual)
    why = like(out, {"as if the bias lay side by side, so as fused_forward has to have it": side_by_side})
    assert near(out) == [[0.841, 1.0, 1.841], [3.841, 4.841, 5.0]], why


@pytest.mark.task(2, 4)
def test_a_b_and_z_and_nothing_else_are_handed_to_save_for_backward():
    """Of any other tensor that ctx has autograd does not notice a change."""
    a, b, bias, residual = picture()
    saved = saved_tensors(lesson.linear_gelu)(a, b, bias, residual)
    a_waits, b_waits, z_waits = among(saved, a, b, a @ b + bias)
    out_waits, residual_waits = among(saved, formula(a, b, bias, residual), residual)
    assert a_waits and b_waits, "Backward multiplies by a and by b: are both handed to ctx.save_for_backward?"
    assert z_waits, "z was not handed to ctx.save_for_backward. Does backward multiply again, or is z kept elsewhere?"
    assert not out_waits, "out waits as well: what in the backward needs it?"
    assert not residual_waits, "residual waits as well: what in the backward needs it?"
    assert len(saved) == 3


@pytest.mark.task(2, 3, 4)
def test_gradients_of_the_picture():
    a, b, bias, residual = picture()
    d_out = torch.ones_like(residual)
    found = gradients(lesson.linear_gelu)(a, b, bias, residual, d_out=d_out)
    no_gradient = [name for name, each in zip(NAMES, found) if each is None]
    assert no_gradient == [], f"{no_gradient[0]} asks for a gradient too, and backward returns None for it."
    d_a, _, _, d_residual = found
    d_z = backward_by_autograd(d_out, a @ b + bias)[0]
    assert near(d_a) == near(d_z @ b.T), like(d_a, {"d_out @ b.T: the way back goes through gelu first": d_out @ b.T})
    assert near(d_residual) == near(d_out), like(d_residual, {"d_z. The residual does not go through gelu": d_z})
    assert_matches(gradients(lesson.linear_gelu), a, b, bias, residual, d_out=d_out, oracle=gradients(formula),
                   tolerance=summed(DOUBLE, 4))


@pytest.mark.task(2, 3, 4)
def test_d_bias_is_added_up_before_d_z_is_rounded():
    """k is 1, and the product is z."""
    sign, z, wanted = slopes_that_float16_rounds()
    d_bias = gradients(lesson.linear_gelu)(z[:, :1], torch.ones_like(z[:1]), torch.zeros_like(z[0]), z, d_out=sign)[2]
    why = "As if d_z were rounded, then added. What else has fused_backward?" if d_bias[0] == 0.5 else ".503 is right."
    assert d_bias.tolist() == wanted, why


@pytest.mark.task(2, 3, 4)
@pytest.mark.parametrize("name", NAMES)
def test_each_argument_may_be_the_only_one_that_asks_for_a_gradient(name, rng):
    """A sum hands on a d_out of a single number, with strides 0, 0."""
    a, b, bias, residual = case(rng, 4, 6, 5)
    z_waits, = among(saved_tensors(lesson.linear_gelu)(a, b, bias, residual, asks=(name,)), a @ b + bias)
    why = f"{name} alone asks for a gradient, and no z waits, though d_{name} needs the slope: when is z stored?"
    assert z_waits or name == "residual", why
    assert_matches(
        lesson.gradient_alone, name, a, b, bias, residual, tolerance=summed(DOUBLE, 6),
        oracle=lambda name, *given: gradients(formula)(*given, d_out=torch.ones_like(residual))[NAMES.index(name)])


@pytest.mark.task(2, 3, 4)
@pytest.mark.tolerance
@pytest.mark.parametrize("m, n, k, dtype", [
    (1, 1, 1, DOUBLE), (3, 5, 4, DOUBLE), (0, 3, 2, DOUBLE), (3, 0, 2, DOUBLE), (37, 34, 35, DOUBLE),
    (20, 24, 16, HALF), (20, 24, 16, BRAIN)])
def test_gradients_have_the_shapes_and_dtypes_of_their_arguments_in_any_layout(m, n, k, dtype, rng):
    arguments, d_out = case(rng, m, n, k, dtype), tensors(rng, (m, n), dtype=dtype)[0]
    assert_matches(gradients(lesson.linear_gelu), *arguments, d_out=d_out, oracle=gradients(formula),
                   tolerance=summed(dtype, m + n + k) if dtype == DOUBLE else rounded(dtype),
                   layouts="any" if m < 20 else "contiguous")


@pytest.mark.task(2, 3, 4)
def test_gradients_are_how_the_result_changes_and_the_same_under_torch_compile(rng):
    """By differences of linear_gelu itself, in float64."""
    a, *others = case(rng, 3, 5, 4)
    gradcheck(lesson.linear_gelu, a, *others)
    assert_matches(gradients(compiled_by_torch(lesson.linear_gelu)), a.T.contiguous().T, *others, d_out=others[2],
                   oracle=gradients(formula), tolerance=summed(DOUBLE, 8))


@pytest.mark.task(2, 4)
@pytest.mark.counters
def test_without_a_gradient_to_come_one_kernel_stores_out_and_nothing_else_is_done(rng):
    """Rows of a and b lie apart, which the copy engine takes; the residual is strewn."""
    a, b, bias, residual = case(rng, 16, 24, 8, HALF)
    rows_apart = [torch.cat([x, x], 1)[:, :x.shape[1]] for x in (a, b)]
    counters = count(lesson.linear_gelu, *rows_apart, bias, strewn(residual))
    of_a_dense_one, bytes_of_out = count(lesson.linear_gelu, *rows_apart, bias, residual), 2 * 16 * 24
    why = (f"The residual, of strides {strewn(residual).stride()}, was copied: of which argument alone does "
           "fused_forward ask that it is contiguous?")
    assert counters.library_operations == [], None if of_a_dense_one.library_operations else why
    z_is_stored_too = counters.bytes_stored == 2 * bytes_of_out
    assert not z_is_stored_too, "Twice the bytes of out were stored, as if z were wanted. No argument wants a gradient."
    assert counters.bytes_stored == bytes_of_out


@pytest.mark.task(2, 3, 4)
@pytest.mark.counters
def test_both_ways_are_one_kernel_each_and_between_them_only_z_waits(rng):
    """d_out is one number, with strides 0, 0: a sector for each tile."""
    m, n = 64, 128
    arguments, d_out = case(rng, m, n, 8, HALF), torch.ones((), dtype=HALF, device=device).expand(m, n)
    counters = count(gradients(lesson.linear_gelu), *arguments, d_out=d_out)
    sectors_on_the_way_back, sectors_of_a_matrix = counters.launches[-1].counts.sectors, 2 * m * n // 32
    assert [launch.kernel for launch in counters.launches] == ["matmul_kernel", "d_z_kernel"]
    copied = "d_out is one number (strides 0, 0). More sectors are touched than it, z and d_z have: is it copied?"
    assert sectors_on_the_way_back < 3 * sectors_of_a_matrix, copied
    of_pytorch = [each.split(".")[-1] for each in counters.library_operations]
    copies = [each for each in of_pytorch if each in COPIES]
    assert not copies, f"On the way back .{copies[0]}() copies a matrix: who needs the copy, and could not take a view?"
    a_sum_that_is_rounded_and_two_products = 4
    assert len(of_pytorch) <= a_sum_that_is_rounded_and_two_products
    bytes_of_z, used = 2 * m * n, memory(gradients(lesson.linear_gelu), *arguments, d_out=d_out)
    assert used.saved <= bytes_of_z
