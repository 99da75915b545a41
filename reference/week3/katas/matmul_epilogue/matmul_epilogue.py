"""Week 3, kata: a product and what follows it

Challenge
    A layer of a network computes gelu(a @ b + bias) + residual, where residual, often the layer's input, goes around
    the product. Write it as one kernel: bias, gelu and residual are its epilogue (week 2, day 7), in registers. In a
    second sitting, tasks 3 and 4, find its gradients.

        product       + bias         = z             gelu(z)              + residual    = out
         2  -1   0      -1   1  -1      1   0  -1     .841     0  -.159     0   1   2      .841      1  1.841
         2   0   1      -1   1  -1      1   1   0     .841  .841      0     3   4   5     3.841  4.841      5
        slope of gelu at z              1.083    .5  -.083    d_z, where d_out is 1 everywhere
                                        1.083  1.083    .5
        d_bias, its columns added up    2.167  1.583  .417

Explore
    ./course python -c "from torch import nn, tensor as t; print(nn.functional.gelu(t([-4, -1.05, -.75, -.5, 1, 4])))"
    Both ends look like ReLU. Which two of these z have nearly the same gelu? Can z be found again from it?

Concept
    gelu(z) is z * cdf(z), where cdf(z) = (1 + erf(z / sqrt(2))) / 2 is the share of a normal distribution below z. At
    z = 1 it is 1 * .841. By the product rule its slope is cdf(z) + z * pdf(z), pdf(z) = exp(-z * z / 2) / sqrt(2 * pi):
    at 1 it is .841 + .242. tl.erf(x) and tl.exp(x) take float32 or float64; 1 / sqrt(2 * pi) = 0.3989422804014327.
    Bytes: behind a product, three kernels for bias, gelu and residual read m * n numbers each and write as many; the
    last one reads the residual too. With the store of the product that is 8 times m * n. In the epilogue the sums are
    in registers: the residual is read, out is stored, 2 times m * n. Beside a and b that is 96 bytes, or 24, for 2 x 3
    numbers of 2 bytes.
    Product: a_desc.load([row, start]) is a box of a, TILE_M x TILE_K numbers, that begins there; boxes of b_desc are
    TILE_K x TILE_N. Places outside the matrix are 0, and add nothing. tl.dot(x, y, acc, out_dtype=SUMS) is acc plus
    the product of two boxes, of float16 as they are. SUMS, also of acc, is float64 for float64, else float32.
    Order: the loop over k only adds. A bias in it would come once for each box, and gelu of a part is no part of gelu.
    Then the bias, one number for each column; gelu; the residual; one rounding, when tl.store converts to the dtype
    that it stores to. If z were rounded to float16 before gelu, 2048 + 1 would be 2048.
    Save z: the slope needs it, and out does not tell it: gelu(-.5) and gelu(-1.05) are both -.154. To multiply again
    takes 2 * m * n * k operations, to store z m * n numbers. So z is stored for training, and only for that. Else
    z_ptr is None, and the compiler leaves out what "if z_ptr is not None:" guards.
    Way back: d_z = d_out * slope(z). The bias meets every row, so d_bias is d_z added up over the rows. A program has
    a tile of d_z in registers and adds up its columns, tl.sum(d_z, 0), before d_z is rounded: its share. PyTorch adds
    up the shares, as in the kata layernorm. Outside the matrix a masked load may give anything; with other=0.0 it gives
    0. If z and d_out are loaded so, d_z is 0 there. x.to(shares_ptr.dtype.element_ty) converts to the dtype that
    matmul_kernel calls SUMS. The residual is only added: its gradient is d_out itself. The product has two,
    d_a = d_z @ b.T and d_b = a.T @ d_z, by PyTorch.
    Autograd, as in the kata layernorm: ctx.save_for_backward(x, y) keeps tensors, ctx.saved_tensors has them again,
    backward returns a gradient for each argument of forward. ctx.needs_input_grad, a bool for each argument, tells
    forward who asks.

Code it
    Task 1  fused_bytes, saved_bytes: what is moved, and what is not                      (two lines)
    Task 2  matmul_kernel: the product, and all of the epilogue                         (thirteen lines)
    Task 3  slope, d_z_kernel: the activation's way back, and shares of d_bias           (eleven lines)
    Task 4  LinearGelu: for autograd                                                      (six lines)

Verify
    pytest week3/katas/matmul_epilogue           then: ./course quiz week3/katas/matmul_epilogue
    Reflect: d_out comes out of a product too, in the layer behind. What of d_z_kernel could be its epilogue?

Simulated without a GPU: results and bytes are exact, and the compiler is the real one. Time is not simulated.
"""

import tools.gpu  # a real GPU or a simulated one; before triton

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

CONFIG = {"TILE_M": 64, "TILE_N": 128, "TILE_K": 64, "num_warps": 4, "num_stages": 4}       # of numbers of 2 bytes
FLOAT64 = {"TILE_M": 32, "TILE_N": 32, "TILE_K": 32, "num_warps": 4, "num_stages": 2}
ROWS, COLS = 32, 128                                                                       # a tile of d_z_kernel
NAMES = "a", "b", "bias", "residual"                                                       # arguments of linear_gelu


# Task 1
def fused_bytes(m: int, n: int, k: int, tile_m: int, tile_n: int, itemsize: int, save_z: bool = False) -> int:
    """Bytes that matmul_kernel loads and stores, a program for each tile of tile_m x tile_n of out.

    Each program loads its rows of a, its columns of b, and its residual; the bias is left out. What lies outside the
    matrices is not loaded.
    """
    return itemsize * (m * k * triton.cdiv(n, tile_n) + k * n * triton.cdiv(m, tile_m) + m * n * (3 if save_z else 2))


def saved_bytes(m: int, n: int, itemsize: int, save_z: bool = False) -> int:
    """Bytes that in_four_kernels moves, less those that matmul_kernel moves, which stores z if save_z. Without bias."""
    return itemsize * m * n * (5 if save_z else 6)


# Task 2
@triton.jit
def gelu(z):
    """z * cdf(z). Given."""
    return z * 0.5 * (1.0 + tl.erf(z * 0.7071067811865476))  # 1 / sqrt(2)


@triton.jit
def places_of(row, col, m, n, row_stride, col_stride, TILE_M: tl.constexpr, TILE_N: tl.constexpr):
    """(places, here) of the tile at row, col of an m x n matrix: offsets in 64 bits, and which exist. Given."""
    rows, cols = row + tl.arange(0, TILE_M), col + tl.arange(0, TILE_N)
    places = rows[:, None].to(tl.int64) * row_stride + cols[None, :].to(tl.int64) * col_stride
    return places, (rows[:, None] < m) & (cols[None, :] < n)


@triton.jit
def matmul_kernel(a_desc, b_desc, bias_ptr, residual_ptr, z_ptr, out_ptr, m, n, k, residual_row, residual_col,
                  FUSED: tl.constexpr, SUMS: tl.constexpr, TILE_M: tl.constexpr, TILE_N: tl.constexpr,
                  TILE_K: tl.constexpr):
    """A tile of out. FUSED: with the epilogue, else the product alone. residual_row, residual_col: its strides."""
    row, col = tl.program_id(0) * TILE_M, tl.program_id(1) * TILE_N
    acc = tl.zeros((TILE_M, TILE_N), SUMS)
    for start in range(0, k, TILE_K):
        acc = tl.dot(a_desc.load([row, start]), b_desc.load([start, col]), acc, out_dtype=SUMS)
    places, here = places_of(row, col, m, n, n, 1, TILE_M, TILE_N)
    if FUSED:
        cols = col + tl.arange(0, TILE_N)
        acc += tl.load(bias_ptr + cols, mask=cols < n)[None, :]
        if z_ptr is not None:
            tl.store(z_ptr + places, acc, mask=here)
        of_residual, _ = places_of(row, col, m, n, residual_row, residual_col, TILE_M, TILE_N)
        acc = gelu(acc) + tl.load(residual_ptr + of_residual, mask=here)
    tl.store(out_ptr + places, acc, mask=here)


def boxes(x: torch.Tensor, rows: int, cols: int) -> TensorDescriptor:
    """Boxes of the matrix x, or of a copy of it where its strides are none that the copy engine takes. Given."""
    in_16_bytes = 16 // x.element_size()
    if x.stride(1) != 1 or x.stride(0) < x.shape[1] or x.stride(0) % in_16_bytes or x.data_ptr() % 16:
        wide = x.new_empty(x.shape[0], triton.cdiv(x.shape[1], in_16_bytes) * in_16_bytes)
        x = wide[:, :x.shape[1]].copy_(x)
    return TensorDescriptor.from_tensor(x, [rows, cols])


def fused_forward(a: torch.Tensor, b: torch.Tensor, bias: torch.Tensor | None, residual: torch.Tensor | None,
                  save_z: bool = False, *, tiles: tuple[int, int, int] | None = None
                  ) -> tuple[torch.Tensor, torch.Tensor | None]:
    """(gelu(a @ b + bias) + residual, z or None), (m, n), contiguous; without a residual the product alone. Given.

    a: (m, k), b: (k, n), residual: (m, n), of any strides; bias: (n,), contiguous. All float16, bfloat16 or float64,
    as the results. m and n may be 0, k is at least 1. tiles: TILE_M, TILE_N, TILE_K.
    """
    (m, k), n, double = a.shape, b.shape[1], a.dtype == torch.float64
    config = (FLOAT64 if double else CONFIG) | (dict(zip(("TILE_M", "TILE_N", "TILE_K"), tiles)) if tiles else {})
    tile_m, tile_n, tile_k = (config[name] for name in ("TILE_M", "TILE_N", "TILE_K"))
    out = torch.empty(m, n, dtype=a.dtype, device=a.device)
    z = torch.empty_like(out) if save_z else None
    if out.numel():  # no descriptor has a length of 0
        strides = (0, 0) if residual is None else residual.stride()
        matmul_kernel[(triton.cdiv(m, tile_m), triton.cdiv(n, tile_n))](
            boxes(a, tile_m, tile_k), boxes(b, tile_k, tile_n), bias, residual, z, out, m, n, k, *strides,
            FUSED=residual is not None, SUMS=tl.float64 if double else tl.float32, **config)
    return out, z


@triton.jit
def step_kernel(x_ptr, other_ptr, out_ptr, m, n, STEP: tl.constexpr, TILE_M: tl.constexpr, TILE_N: tl.constexpr):
    """One step of in_four_kernels. Given."""
    row, col = tl.program_id(0) * TILE_M, tl.program_id(1) * TILE_N
    places, here = places_of(row, col, m, n, n, 1, TILE_M, TILE_N)
    x = tl.load(x_ptr + places, mask=here).to(tl.float32)
    if STEP == "bias":
        cols = col + tl.arange(0, TILE_N)
        x += tl.load(other_ptr + cols, mask=cols < n)[None, :]
    elif STEP == "gelu":
        x = gelu(x)
    else:
        x += tl.load(other_ptr + places, mask=here)
    tl.store(out_ptr + places, x, mask=here)


def in_four_kernels(a, b, bias, residual, *, tiles: tuple[int, int, int]) -> torch.Tensor:
    """out of fused_forward by four kernels; contiguous arguments, float16 or bfloat16. Given."""
    x = fused_forward(a, b, None, None, tiles=tiles)[0]
    for step, other in ("bias", bias), ("gelu", None), ("residual", residual):
        x, before = torch.empty_like(x), x
        step_kernel[(triton.cdiv(x.shape[0], tiles[0]), triton.cdiv(x.shape[1], tiles[1]))](
            before, other, x, *x.shape, STEP=step, TILE_M=tiles[0], TILE_N=tiles[1])
    return x


# Task 3
@triton.jit
def slope(z):
    """The slope of gelu at z: cdf(z) + z * pdf(z)."""
    cdf = 0.5 * (1.0 + tl.erf(z * 0.7071067811865476))
    return cdf + z * 0.3989422804014327 * tl.exp(-0.5 * z * z)  # 1 / sqrt(2 * pi)


@triton.jit
def d_z_kernel(d_out_ptr, z_ptr, d_z_ptr, shares_ptr, m, n, d_out_row, d_out_col, ROWS: tl.constexpr,
               COLS: tl.constexpr):
    """A tile of d_z, and its share of d_bias, row tl.program_id(0) of shares. d_out_row, d_out_col: its strides."""
    row, col = tl.program_id(0) * ROWS, tl.program_id(1) * COLS
    places, here = places_of(row, col, m, n, n, 1, ROWS, COLS)
    of_d_out, _ = places_of(row, col, m, n, d_out_row, d_out_col, ROWS, COLS)
    dtype: tl.constexpr = shares_ptr.dtype.element_ty
    z = tl.load(z_ptr + places, mask=here, other=0.0).to(dtype)
    d_z = tl.load(d_out_ptr + of_d_out, mask=here, other=0.0) * slope(z)
    tl.store(d_z_ptr + places, d_z, mask=here)
    cols = col + tl.arange(0, COLS)
    tl.store(shares_ptr + tl.program_id(0) * n + cols, tl.sum(d_z, 0), mask=cols < n)


def fused_backward(d_out: torch.Tensor, z: torch.Tensor, *, tile: tuple[int, int] = (ROWS, COLS)
                   ) -> tuple[torch.Tensor, torch.Tensor]:
    """(d_z, d_bias), (m, n) and (n,), in the dtype of z: one kernel, and one sum of PyTorch's over the shares. Given.

    d_out: (m, n), of any strides. z: (m, n), contiguous. Without a row d_bias is 0.
    """
    grid, d_z = tuple(map(triton.cdiv, z.shape, tile)), torch.empty_like(z)
    shares = torch.empty(grid[0], z.shape[1], dtype=torch.promote_types(z.dtype, torch.float32), device=z.device)
    d_z_kernel[grid](d_out, z, d_z, shares, *z.shape, *d_out.stride(), ROWS=tile[0], COLS=tile[1])
    return d_z, shares.sum(0).to(z.dtype)


# Task 4
class LinearGelu(torch.autograd.Function):
    """fused_forward and fused_backward as one operation of autograd; bias may have any stride.

    z is stored if an argument asks for a gradient; if only the residual asks, either will do. a, b and z alone wait for
    the backward. Neither way copies a, b, residual or d_out; a bias that is not contiguous is copied.
    """

    @staticmethod
    def forward(ctx, a, b, bias, residual):
        out, z = fused_forward(a, b, bias.contiguous(), residual, any(ctx.needs_input_grad))
        ctx.save_for_backward(a, b, z)
        return out

    @staticmethod
    def backward(ctx, d_out):
        a, b, z = ctx.saved_tensors
        d_z, d_bias = fused_backward(d_out, z)
        return d_z @ b.T, a.T @ d_z, d_bias, d_out


def linear_gelu(a: torch.Tensor, b: torch.Tensor, bias: torch.Tensor, residual: torch.Tensor) -> torch.Tensor:
    """gelu(a @ b + bias) + residual, with gradients; arguments as in fused_forward, of any strides. Given."""
    return LinearGelu.apply(a, b, bias, residual)


def gradient_alone(name: str, *arguments: torch.Tensor) -> torch.Tensor:
    """The gradient of linear_gelu(...).sum() for the argument of this name, if no other asks for one. Given."""
    leaves = [x.detach().requires_grad_(name == own) for own, x in zip(NAMES, arguments)]
    with torch.enable_grad():
        linear_gelu(*leaves).sum().backward()
    return leaves[NAMES.index(name)].grad
