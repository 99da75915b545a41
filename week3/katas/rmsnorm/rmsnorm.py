"""Week 3, kata: RMS norm and a residual

Challenge
    A transformer adds a layer's result x to the residual, and hands on that total and its RMS norm: each row divided by
    the root of its mean square. Write addition and norm as one kernel; in a second sitting, tasks 2 to 4, write the way
    back from both results as another.

        x, residual         3, -2   4, 3   1, 4   2, 3
        total               1       7      5      5      mean square (1 + 49 + 25 + 25) / 4 = 25, rstd 1 / sqrt(25)
        x_hat: * rstd       .2      1.4    1      1
        weight, y           5, 1   10, 14  3, 3   2, 2   y = x_hat * weight
        d_y, d_total        0, 0    1, 0   0, 1   0, 0   by how much a loss grows with each y, and each total
        g: * weight         0      10      0      0      d_y * weight; mean(g * x_hat) = 3.5
        d_x, d_residual    -.14    1.02    .3    -.7     (g - x_hat * 3.5) * rstd + d_total

Explore
    ./course python -c "import torch; x = torch.tensor([256.], dtype=torch.bfloat16); print((x + 1).item())"
    bfloat16 has 8 binary digits: first say what is printed. Should the norm then be that of 256 or of 257?

Concept
    Traffic: an addition reads two matrices and writes total, a norm reads total and writes y. Fused, total is normed in
    registers. On the way back the norm reads d_y and total and writes a matrix; an addition reads that and d_total and
    writes d_x. Fused, no matrix lies between the two. Count the matrices; weight, one row, is not counted.
    Norm: rstd = tl.rsqrt(mean square + eps) is one over a root; eps keeps it finite where a row is 0. No mean is
    subtracted: places behind the row, loaded as 0.0, still add nothing when squared. Compute all in the dtype of
    rstd, rstd_ptr.dtype.element_ty: float64 if x is, else float32. Convert what is loaded; tl.store converts by itself.
    Rounding: total is stored in 16 bits. Norm what is stored: .to(total_ptr.dtype.element_ty), and back to the dtype of
    rstd. Then fused and separate give the same bits, and the way back, which reads total, fits y. y is rounded once,
    where it is stored. `if residual_ptr is not None:` is decided when a kernel is compiled: without a residual the
    launches have None for it and for d_total.
    Gradients: d_weight is d_y * x_hat added up over the rows. g = d_y * weight arrives at x_hat = total * rstd.
    total[j] moves the loss in three ways. d_x is their sum; d_residual is the same matrix, since total is x + residual:
        by itself                                               rstd * g[j]
        through rstd, which grows by -rstd**2 * x_hat[j] / n   -rstd * x_hat[j] * mean(g * x_hat)
        past the norm                                           d_total[j]
    Autograd: ctx.save_for_backward gets the total that is returned, weight and rstd. The first two are alive anyway,
    rstd alone is new. The gradient of a result that the loss does not use arrives as zeros, not as None.
    Shares: atomics, additions that wait for one place, come in any order: last digits of d_weight would change from run
    to run. So program p takes the rows p, p + programs, ..., keeps a sum that begins as tl.zeros((BLOCK,), dtype=...),
    and stores it once, as row p of shares: for row in tl.range(p, rows, tl.num_programs(0), num_stages=STAGES).
    Column sums: at shares_ptr lie as many rows as the argument shares says, and a program owns COLS columns of them.
    ROWS rows of these are a tile, row[:, None] * n + col[None, :]: they are loaded at once, not one after the other;
    range(0, shares, ROWS) steps from tile to tile. tl.sum(tile, 0) adds up its columns; the sum of all tiles has the
    dtype of what lies at shares_ptr. One owner, one order: always the same bits.

Code it
    Task 1  predict_forward, forward_kernel: the sum and its norm                   (thirteen lines)
    Task 2  predict_backward, backward_kernel: d_x, and shares of d_weight         (seventeen lines)
    Task 3  column_sum_kernel: d_weight without atomics                               (eight lines)
    Task 4  AddRMSNorm: two results for autograd, one way back                        (seven lines)

Verify
    pytest week3/katas/rmsnorm         then: ./course quiz week3/katas/rmsnorm
    Reflect: x comes out of a matrix product. What must a program hold, to add and norm where the product ends?

Simulated without a GPU: results, bounds and bytes are exact. The compiler is the real one. Time is not simulated.
"""

import tools.gpu  # a real GPU or a simulated one; before triton

import torch
import triton
import triton.language as tl

EPS = 1e-6
PROGRAMS = 132  # of backward_kernel, at most: the SMs of an H100


# Task 1
def predict_forward(rows: int, n: int, size: int, fused: bool) -> int:
    """Bytes that addition and norm read and write: matrices of numbers of size bytes, and rstd, 4 bytes a row."""
    raise NotImplementedError("week3/katas/rmsnorm task 1: predict_forward")


@triton.jit
def forward_kernel(x_ptr, residual_ptr, weight_ptr, total_ptr, y_ptr, rstd_ptr, n, x_stride, residual_stride, eps,
                   BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)  # row * x_stride may pass 2**31
    pass  # load x; where there is a residual: add it, round, store total. rstd; load weight. Store y and rstd


def block_and_warps(n: int) -> dict[str, int]:
    """BLOCK and num_warps for rows of n elements. Given; handed on by **."""
    block = triton.next_power_of_2(n)
    return {"BLOCK": block, "num_warps": max(1, min(block // 1024, 32))}


def sums_like(x: torch.Tensor, *shape: int) -> torch.Tensor:
    """An empty tensor beside x for sums: float64 if x is, else float32. Given."""
    return torch.empty(shape, dtype=torch.promote_types(x.dtype, torch.float32), device=x.device)


def rmsnorm_forward(x: torch.Tensor, residual: torch.Tensor | None, weight: torch.Tensor, eps: float = EPS
                    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """(y, total, rstd) by forward_kernel, a program a row; without a residual total is None. Given.

    x, residual: (rows, n) floats of one dtype, each with rows of any stride, the elements of a row side by side. rows
    may be 0, n is 1 to 131072. weight: (n,), contiguous, of any dtype. y, total: (rows, n) like x. rstd: (rows,).
    """
    rows, n = x.shape
    y = torch.empty(rows, n, dtype=x.dtype, device=x.device)
    total = None if residual is None else torch.empty_like(y)
    rstd = sums_like(x, rows)
    forward_kernel[(rows,)](x, residual, weight, total, y, rstd, n, x.stride(0),
                            0 if residual is None else residual.stride(0), eps, **block_and_warps(n))
    return y, total, rstd


# Task 2
def predict_backward(rows: int, n: int, size: int, fused: bool) -> int:
    """Bytes that the norm's way back and the addition of d_total move: matrices and rstd; not weight and shares."""
    raise NotImplementedError("week3/katas/rmsnorm task 2: predict_backward")


@triton.jit
def backward_kernel(d_y_ptr, d_total_ptr, total_ptr, weight_ptr, rstd_ptr, d_x_ptr, shares_ptr, rows, n, d_y_stride,
                    d_total_stride, total_stride, BLOCK: tl.constexpr, STAGES: tl.constexpr):
    p = tl.program_id(0).to(tl.int64)
    pass  # load weight. Row by row: d_y, total, rstd; x_hat; share; g; d_x, and d_total if any; store. Then the share


def backward_of_rows(d_y: torch.Tensor, d_total: torch.Tensor | None, total: torch.Tensor, weight: torch.Tensor,
                     rstd: torch.Tensor, programs: int = PROGRAMS) -> tuple[torch.Tensor, torch.Tensor]:
    """d_x, (rows, n) like total, and shares, (programs, n) of the dtype of sums, by backward_kernel. Given.

    d_y, d_total, total: (rows, n), each with rows of any stride, the elements of a row side by side; d_total is None
    where there was no residual. weight, rstd: those of rmsnorm_forward. programs: so many run, but no more than rows.
    """
    rows, n = total.shape
    programs = min(rows, programs)
    d_x = torch.empty(rows, n, dtype=total.dtype, device=total.device)
    shares = sums_like(total, programs, n)
    matrices = 2 if d_total is None else 3  # two rows of each wait in shared memory, which ends at 227 KiB
    stages = 3 if 2 * matrices * triton.next_power_of_2(n) * total.element_size() <= 200_000 else 1
    backward_kernel[(programs,)](d_y, d_total, total, weight, rstd, d_x, shares, rows, n, d_y.stride(0),
                                 0 if d_total is None else d_total.stride(0), total.stride(0), STAGES=stages,
                                 **block_and_warps(n))
    return d_x, shares


# Task 3
@triton.jit
def column_sum_kernel(shares_ptr, d_weight_ptr, shares, n, ROWS: tl.constexpr, COLS: tl.constexpr):
    pass  # which columns; tile after tile of rows, whose number is shares; store a sum for each column that exists


def column_sums(shares: torch.Tensor, dtype: torch.dtype, rows: int = 32, cols: int = 64) -> torch.Tensor:
    """The sum of each column of shares, (n,) of this dtype; 0 where there is no row. shares: contiguous. Given."""
    n = shares.shape[1]
    sums = torch.empty(n, dtype=dtype, device=shares.device)
    column_sum_kernel[(triton.cdiv(n, cols),)](shares, sums, shares.shape[0], n, ROWS=rows, COLS=cols)
    return sums


def rmsnorm_backward(d_y: torch.Tensor, d_total: torch.Tensor | None, total: torch.Tensor, weight: torch.Tensor,
                     rstd: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """(d_x, d_weight), in the dtypes of total and weight. Arguments as those of backward_of_rows. Given."""
    d_x, shares = backward_of_rows(d_y, d_total, total, weight, rstd)
    return d_x, column_sums(shares, weight.dtype)


# Task 4
def as_rows(x: torch.Tensor) -> torch.Tensor:
    """x as (rows, n), the elements of a row side by side; copied only if it must be. Given."""
    rows = x.reshape(-1, x.shape[-1])
    return rows if rows.stride(1) == 1 else rows.contiguous()


class RMSNorm(torch.autograd.Function):
    """The norm alone, as one operation of autograd. Given."""

    @staticmethod
    def forward(ctx, x, weight, eps):
        y, _, rstd = rmsnorm_forward(as_rows(x), None, weight.contiguous(), eps)
        ctx.save_for_backward(x, weight, rstd)
        return y.reshape(x.shape)

    @staticmethod
    def backward(ctx, d_y):
        x, weight, rstd = ctx.saved_tensors
        d_x, d_weight = rmsnorm_backward(as_rows(d_y), None, as_rows(x), weight.contiguous(), rstd)
        return d_x.reshape(x.shape), d_weight, None  # eps has no gradient


class AddRMSNorm(torch.autograd.Function):
    """Addition and norm as one operation with the results (y, total), each of the shape of x."""

    @staticmethod
    def forward(ctx, x, residual, weight, eps):
        raise NotImplementedError("week3/katas/rmsnorm task 4: forward")

    @staticmethod
    def backward(ctx, d_y, d_total):
        raise NotImplementedError("week3/katas/rmsnorm task 4: backward")


def rmsnorm(x: torch.Tensor, weight: torch.Tensor, eps: float = EPS) -> torch.Tensor:
    """The RMS norm of the last axis of x, (..., n) floats, stored in any way. weight: (n,). Given."""
    return RMSNorm.apply(x, weight, eps)


def add_rmsnorm(x: torch.Tensor, residual: torch.Tensor, weight: torch.Tensor, eps: float = EPS
                ) -> tuple[torch.Tensor, torch.Tensor]:
    """(y, total): total is x + residual, y its RMS norm. x, residual: (..., n), of one shape and dtype. Given."""
    return AddRMSNorm.apply(x, residual, weight, eps)
