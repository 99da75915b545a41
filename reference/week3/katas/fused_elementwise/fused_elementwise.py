"""Week 3, kata: bias, GELU and dropout in one kernel

Challenge
    A transformer adds a bias, applies GELU and drops some of the results. Write all three as one kernel that reads x
    once and writes y once, and its backward. No mask of what was dropped is stored: both ways draw it from a seed.

        seed 7, p = .25, scale = 1 / (1 - p)        col 0     col 1     col 2     col 3
            u = x + bias                              1         2         2        -1
            gelu(u)                                  .841     1.954     1.954     -.159
            draw, of 0 to 65535                     32199     21806     11183     25270    below 16384: dropped
            y                                       1.122     2.606       0       -.212    gelu(u) * scale, or 0
            d_out                                     3         3         3         3
            slope of gelu at u                      1.083     1.085     1.085     -.083
            d_x                                     4.333     4.341       0       -.333    d_out * scale * slope, or 0

Explore
    ./course python -c "import torch; y = torch.dropout(torch.ones(9999), 0.9, True); print(y.unique(), y.mean())"
    First say which numbers dropout makes of 1, and about what mean they have. Why is no kept element 1?

Concept
    GELU: gelu(u) = u * cdf(u), with cdf(u) the part of a normal distribution below u: cdf(1) = .841, cdf(-1) = .159.
    It is exact by erf; the formula with tanh is a neighbour, 1e-4 away at u = 2. The slope of a product has two terms:
    cdf(u) + u * density(u), since the slope of cdf is the density. At 1 they are .841 + .242 = 1.083.
    Dropout makes a share p of the elements 0 and multiplies the others by scale, 1 / (1 - p), so that the mean stays.
    Choose with tl.where between gelu(u) * scale and 0: 0 times NaN would be NaN, and what is dropped is 0 in any case.
    Draws: Philox computes random bits from two numbers, seed and offset, and remembers nothing. So the backward asks
    with the same seed and offsets, and finds the same mask. Each offset has eight draws:
        n = 20             columns 0 to 7      columns 8 to 15     columns 16 to 19
            row 0            offset 0            offset 1            offset 2, four draws unused
            row 1            offset 3            offset 4            offset 5
    A row has tl.cdiv(n, 8) offsets, here 3. Column c of row r has draw c % 8 of offset r * 3 + c // 8, whatever the
    tiles are. If each tile began with offset 0, all of them would drop the same places.
    Eight at once: a call has seven rounds of two wide multiplications. tl.rand, called for each element, would need
    more than eight times as many. eight_draws(seed, offset) takes a block of TILE // 8 offsets and returns a block of
    TILE draws: of offsets 3 and 4, those of columns 0 to 15 of row 1. Instructions are the limit here, not bytes: on
    an H100 a kernel like this one had .67 of the speed of a copy with ten rounds and tl.erf, and .94 to .96 with seven
    and a short erf, SHORT (8192 x 8192, 16 bits; November 2026).
    Programs: (i, j) of the forward has row i and strip j of TILE columns, as in mask_kernel. Rows are on axis 0, which
    takes 2**31 - 1 programs: axes 1 and 2 take 65535, and there may be more rows. Each row loads the bias anew: so
    ./course count finds 1.5 times the least bytes. (i, j) of the backward has strip j of rows i, i + programs, ... The
    number i is tl.program_id(0).to(tl.int64), since row * n may need 64 bits.
    Precision: wide(...) around each load makes float32 of 16 bits. tl.store rounds.
    Gradient of the bias: bias[c] is added in every row, so its gradient is the sum of d_x down column c. A program adds
    d_x, not yet rounded, to tl.zeros((TILE,), dtype=shares_ptr.dtype.element_ty): float64 if x or bias has that, else
    float32. It stores that block once, after its rows, as row i of shares; shares.sum(0) adds those up.
    Autograd: ctx.save_for_backward(...) keeps tensors, ctx.p = p and ctx.seed = seed keep numbers. Save x and bias as
    they came: if as_rows had to copy, the backward copies again. It returns a gradient for each argument of forward,
    None for p and seed.

Code it
    Task 1  kept: which places of a tile are not dropped                            (two lines)
    Task 2  forward_kernel, gelu_dropout_forward: a tile of a row a program      (eleven lines)
    Task 3  backward_kernel, gelu_dropout_backward: d_x, and shares of d_bias   (nineteen lines)
    Task 4  GeluDropout: for autograd, any shape and any strides                    (six lines)

Verify
    pytest week3/katas/fused_elementwise       then: ./course quiz week3/katas/fused_elementwise
    Reflect: what would a stored mask cost, in bytes moved both ways? How few bits could it have?

Simulated without a GPU: results, bounds and bytes are exact. The compiler is the real one. Time is not simulated.
"""

import tools.gpu  # a real GPU or a simulated one; before triton

import torch
import triton
import triton.language as tl

TILE = 2048
PROGRAMS = 256  # of the backward, for each strip of TILE columns, at most


# Given: numbers for a tile
@triton.jit
def wide(x):
    """x as it is computed with: float64 stays, all else becomes float32."""
    return x if x.dtype == tl.float64 else x.to(tl.float32)


@triton.jit
def cdf(u, SHORT: tl.constexpr):
    """The part of a normal distribution below u; if SHORT, within 2e-5, which is enough for 16 bits."""
    if SHORT:
        u = tl.minimum(tl.maximum(u, -4.25), 4.25)
        t = u * u
        odd = (6.3970617e-11 * t - 5.9881854e-09) * t + 2.4727283e-07
        odd = ((odd * t - 6.0093644e-06) * t + 9.7312882e-05) * t - 0.0011314673
        odd = ((odd * t + 0.0098896733) * t - 0.066456985) * t + 0.39895875
        return tl.maximum(0.5 + u * odd, 0.0)
    return 0.5 + 0.5 * tl.erf(u * 0.7071067811865476)


@triton.jit
def density(u):
    """The density of a normal distribution at u: the slope of cdf."""
    return 0.3989422804014327 * tl.exp(-0.5 * u * u)


@triton.jit
def eight_draws(seed, offset):
    """For each offset eight whole numbers from 0 to 65535, next to each other; by Philox with seven rounds."""
    a, b, c, d = tl.randint4x(seed, offset, n_rounds=7)
    words = tl.join(tl.join(a, c), tl.join(b, d)).reshape(4 * offset.shape[0])
    return tl.join(words & 0xFFFF, (words >> 16) & 0xFFFF).reshape(8 * offset.shape[0])


def threshold_and_scale(p: float) -> tuple[int, float]:
    """Draws below threshold are dropped; what is kept is multiplied by scale, 1 / (1 - p).

    If p is 1, nothing is kept, and scale is 0. A kernel gets scale as a float32.
    """
    return round(p * 65536), 1 / (1 - p) if p < 1 else 0.0


# Task 1
@triton.jit
def kept(seed, row, start, n, threshold, TILE: tl.constexpr):
    """Whether a draw is not below threshold: of columns start to start + TILE - 1 of a row. start: a multiple of 8."""
    offset = row * tl.cdiv(n, 8) + start // 8 + tl.arange(0, TILE // 8)
    return eight_draws(seed, offset) >= threshold


@triton.jit
def mask_kernel(mask_ptr, n, threshold, seed, TILE: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    start = tl.program_id(1) * TILE
    col = start + tl.arange(0, TILE)
    tl.store(mask_ptr + row * n + col, kept(seed, row, start, n, threshold, TILE), mask=col < n)


def kept_places(rows: int, n: int, p: float, seed: int, *, tile: int = TILE) -> torch.Tensor:
    """(rows, n) bool: what `kept` says of each place. To look at; the kernels below do without it. Given."""
    mask = torch.empty(rows, n, dtype=torch.bool, device=tools.gpu.device)
    mask_kernel[(rows, triton.cdiv(n, tile))](mask, n, threshold_and_scale(p)[0], seed, TILE=tile)
    return mask


# Task 2
@triton.jit
def forward_kernel(x_ptr, bias_ptr, y_ptr, n, row_stride, threshold, scale, seed, TILE: tl.constexpr,
                   SHORT: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    start = tl.program_id(1) * TILE
    col = start + tl.arange(0, TILE)
    here = col < n
    u = wide(tl.load(x_ptr + row * row_stride + col, mask=here)) + wide(tl.load(bias_ptr + col, mask=here))
    y = tl.where(kept(seed, row, start, n, threshold, TILE), u * cdf(u, SHORT) * scale, 0.0)
    tl.store(y_ptr + row * n + col, y, mask=here)


def is_short(x: torch.Tensor) -> bool:
    """SHORT for x: whether its numbers have 16 bits. Given."""
    return x.element_size() == 2


def gelu_dropout_forward(x: torch.Tensor, bias: torch.Tensor, p: float, seed: int, *, tile: int = TILE) -> torch.Tensor:
    """dropout(gelu(x + bias)), (rows, n) in the dtype of x; by forward_kernel, tile columns of a row a program.

    x: (rows, n) floats, rows of any stride, the elements of a row side by side; not copied. rows may be 0, n is at
    least 1. bias: (n,), contiguous, of any float dtype. p: 0 to 1. tile: a power of 2, at least 8.
    """
    rows, n = x.shape
    y = torch.empty(rows, n, dtype=x.dtype, device=x.device)
    threshold, scale = threshold_and_scale(p)
    forward_kernel[(rows, triton.cdiv(n, tile))](
        x, bias, y, n, x.stride(0), threshold, scale, seed, TILE=tile, SHORT=is_short(x))
    return y


# Task 3
@triton.jit
def backward_kernel(d_out_ptr, x_ptr, bias_ptr, d_x_ptr, shares_ptr, rows, n, d_out_stride, x_stride, threshold, scale,
                    seed, TILE: tl.constexpr, SHORT: tl.constexpr):
    first = tl.program_id(0).to(tl.int64)
    start = tl.program_id(1) * TILE
    col = start + tl.arange(0, TILE)
    here = col < n
    bias = wide(tl.load(bias_ptr + col, mask=here))
    d_bias = tl.zeros((TILE,), dtype=shares_ptr.dtype.element_ty)
    for row in tl.range(first, rows, tl.num_programs(0)):
        u = wide(tl.load(x_ptr + row * x_stride + col, mask=here)) + bias
        d_out = wide(tl.load(d_out_ptr + row * d_out_stride + col, mask=here))
        d_x = d_out * scale * (cdf(u, SHORT) + u * density(u))
        d_x = tl.where(kept(seed, row, start, n, threshold, TILE), d_x, 0.0)
        d_bias += d_x
        tl.store(d_x_ptr + row * n + col, d_x, mask=here)
    tl.store(shares_ptr + first * n + col, d_bias, mask=here)


def gelu_dropout_backward(d_out: torch.Tensor, x: torch.Tensor, bias: torch.Tensor, p: float, seed: int, *,
                          programs: int = PROGRAMS, tile: int = TILE) -> tuple[torch.Tensor, torch.Tensor]:
    """The gradients of x and of bias, each in the dtype of its own. Arguments as those of gelu_dropout_forward.

    d_out: (rows, n), of the dtype of x, its rows of any stride of its own; not copied.
    programs: at most so many run for each strip of tile columns, and no more than there are rows. Without a row
    d_bias is 0. Beside the kernel PyTorch adds up the shares of d_bias, and rounds the sum to the dtype of bias.
    """
    rows, n = x.shape
    programs = min(rows, programs)
    d_x = torch.empty(rows, n, dtype=x.dtype, device=x.device)
    of_sums = torch.promote_types(torch.promote_types(x.dtype, bias.dtype), torch.float32)
    shares = torch.empty(programs, n, dtype=of_sums, device=x.device)
    threshold, scale = threshold_and_scale(p)
    backward_kernel[(programs, triton.cdiv(n, tile))](
        d_out, x, bias, d_x, shares, rows, n, d_out.stride(0), x.stride(0), threshold, scale, seed, TILE=tile,
        SHORT=is_short(x))
    return d_x, shares.sum(0).to(bias.dtype)


# Task 4
def as_rows(x: torch.Tensor) -> torch.Tensor:
    """x as (rows, n), the elements of a row side by side; copied only if it must be. x: (..., n). Given."""
    rows = x.reshape(-1, x.shape[-1])
    return rows if rows.stride(1) == 1 else rows.contiguous()


class GeluDropout(torch.autograd.Function):
    """Both functions as one operation of autograd; x, bias and d_out stored in any way.

    Saved are x and bias themselves, no copies of them, and nothing else.
    """

    @staticmethod
    def forward(ctx, x, bias, p, seed):
        ctx.save_for_backward(x, bias)
        ctx.p, ctx.seed = p, seed
        return gelu_dropout_forward(as_rows(x), bias.contiguous(), p, seed).reshape(x.shape)

    @staticmethod
    def backward(ctx, d_out):
        x, bias = ctx.saved_tensors
        d_x, d_bias = gelu_dropout_backward(as_rows(d_out), as_rows(x), bias.contiguous(), ctx.p, ctx.seed)
        return d_x.reshape(x.shape), d_bias, None, None


def bias_gelu_dropout(x: torch.Tensor, bias: torch.Tensor, p: float, seed: int) -> torch.Tensor:
    """dropout(gelu(x + bias)), with gradients. Given.

    x: (..., n) floats, stored in any way. bias: (n,). The same seed drops the same places: each call in training
    takes another one.
    """
    return GeluDropout.apply(x, bias, p, seed)
