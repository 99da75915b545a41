"""Week 3, kata: layer norm

Challenge
    A layer norm moves and scales each row to mean 0 and variance 1; then each column has a weight and a bias. Write
    a kernel that reads x once and writes y once. In a second sitting, tasks 3 and 4, write one for its gradients.

        x                   1      7      7      9      mean 6, variance (25 + 1 + 1 + 9) / 4 = 9, rstd 1 / sqrt(9)
        x - mean           -5      1      1      3
        x_hat: * rstd   -1.67    .33    .33      1
        weight, bias     3, 1   6, 0   3, 0   2, 1
        y                  -4      2      1      3      x_hat * weight + bias
        d_out               0      0      0      2      by how much a loss grows with each y
        g: * weight         0      0      0      4      mean(g) = 1, mean(g * x_hat) = 1
        d_x               .22   -.44   -.44    .67      (g - 1 - x_hat * 1) * rstd

Explore
    ./course python -c "import numpy as np; x = np.float32([4095, 4097]); print((x * x).mean() - x.mean()**2, x.var())"
    The variance in two ways. First work out both on paper. Which number of the first way can float32 not hold?

Concept
    Cancellation (day 2): of 4095 and 4097 the mean of the squares is 2**24 + 1, rounded to 2**24, so that
    mean(x * x) - mean**2 is 0 in place of 1. Subtract the mean first, then square.
    Welford: numbers that come one by one have the state (count, mean, m2); m2, the sum of (x - mean)**2, is count
    times the variance. 1 and 7 have (2, 4, 18). Another 7 lies delta = 3 above the mean. The mean moves by delta / 3,
    the new count, to 5; m2 grows by delta * (7 - new mean) = 3 * 2 to 24.
    Merge: 1 and 7 have (2, 4, 18), 7 and 9 have (2, 8, 2), with means delta = 4 apart. The mean of all four is
    4 + delta * 2 / 4 = 6, and m2 = 18 + 2 + delta**2 * 2 * 2 / 4 = 36. Two empty parts would divide by 0: mind them.
    Registers: a program that holds its whole row needs no such state. It adds up x, then the squares of x - mean: two
    passes over registers, one read. Places behind the row, loaded as 0.0, become 0 - mean, and
    tl.where(here, x - mean, 0.0) makes them 0 again (x_hat of task 3 needs none: d_out is 0 there). One over the root,
    rstd = tl.rsqrt(variance + eps), is finite by eps. A row is found in 64 bits (day 1): tl.program_id(0).to(tl.int64).
    Precision: mean has the dtype of all sums: float64 if x has, else float32. A kernel knows it as
    mean_ptr.dtype.element_ty, converts what it loads, and tl.store converts to the dtype of what it stores to.
    Gradients: each weight meets x_hat in every row, so d_weight is d_out * x_hat added up over the rows, and d_bias
    is d_out added up. g = d_out * weight arrives at x_hat = (x - mean) * rstd. x[j] moves the loss in three ways:
        by itself                                               rstd * g[j]
        through mean, which grows by 1 / n                     -rstd * mean(g)
        through rstd, which grows by -rstd**2 * x_hat[j] / n   -rstd * x_hat[j] * mean(g * x_hat)
    d_x[j] is the sum of the three. In the picture all d_x add up to 0: if all of a row grows by 1, no y changes.
    Shares: d_weight needs all rows. Atomics would add in line, a row of them for each row of x. Instead program p takes
    rows p, p + programs, ... and keeps two sums, which begin as tl.zeros((BLOCK,), dtype=...). It stores them as row p
    of shares[0] and of shares[1]; shares.sum(1) is d_weight and d_bias in the dtype of sums. Rows load early (week 2,
    day 4) over tl.range(p, rows, tl.num_programs(0), num_stages=STAGES), whose numbers are int64 if p is.
    Autograd: LayerNorm.apply(...) calls forward(ctx, ...). PyTorch calls backward(ctx, d_out), which returns a gradient
    for each argument of forward, None for eps. ctx.save_for_backward(a, b) keeps tensors that ctx.saved_tensors has
    again; one that was changed in between is an error. Save arguments as they came, and two numbers a row.
    Strides: x.reshape(-1, n) makes rows, without a copy where that can be. Their stride(1) is 2 for x[:, ::2], and 0
    for the d_out of y.sum(), which is one number for all. Where it is not 1, x.contiguous() copies.

Code it
    Task 1  add, merge: Welford's state, by hand                             (ten to fifteen lines)
    Task 2  forward_kernel, layernorm_forward: a row a program, read once               (fourteen to eighteen lines)
    Task 3  backward_kernel, layernorm_backward: d_x, and shares of d_weight, d_bias    (twenty to twenty-six lines)
    Task 4  as_rows, LayerNorm: for autograd, any shape and any strides                 (eight lines)

Verify
    pytest week3/katas/layernorm       then: ./course quiz week3/katas/layernorm
    Reflect: a row of a million numbers fits no registers. What goes from tile to tile, and how often is x read?

Simulated without a GPU: results, bounds and bytes are exact. The compiler is the real one. Time is not simulated.
"""

import tools.gpu  # a real GPU or a simulated one; before triton

import torch
import triton
import triton.language as tl

EPS = 1e-5
PROGRAMS = 132  # of the backward, at most: the SMs of an H100


# Task 1
def add(state: tuple[int, float, float], x: float) -> tuple[int, float, float]:
    """The state (count, mean, m2) with one more number. That of no number is (0, 0.0, 0.0)."""
    raise NotImplementedError("week3/katas/layernorm task 1: add")


def merge(a: tuple[int, float, float], b: tuple[int, float, float]) -> tuple[int, float, float]:
    """The state (count, mean, m2) of the numbers of a and those of b; one of them, or both, may have none."""
    raise NotImplementedError("week3/katas/layernorm task 1: merge")


# Task 2
@triton.jit
def forward_kernel(x_ptr, weight_ptr, bias_ptr, y_ptr, mean_ptr, rstd_ptr, n, row_stride, eps, BLOCK: tl.constexpr):
    pass  # load the row; mean, then deviations, then rstd; load weight and bias; store y, mean and rstd


def block_and_warps(n: int) -> dict[str, int]:
    """BLOCK and num_warps for rows of n elements. Given; handed on by **.

    On an H100 registers of the backward spill from n = 16384 on (float16): such a row no longer fits.
    """
    block = triton.next_power_of_2(n)
    return {"BLOCK": block, "num_warps": max(1, min(block // 1024, 32))}


def sums_like(x: torch.Tensor, *shape: int) -> torch.Tensor:
    """An empty tensor beside x for sums: float64 if x is, else float32. Given."""
    return torch.empty(shape, dtype=torch.promote_types(x.dtype, torch.float32), device=x.device)


def layernorm_forward(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor,
                      eps: float = EPS) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """y (rows, n) in the dtype of x, and mean and rstd of each row, (rows,); by forward_kernel, a program a row.

    x: (rows, n) floats, rows of any stride, the elements of a row side by side; not copied. n is 1 to 131072; rows
    may be 0, as a launch of 0 programs does nothing. weight, bias: (n,) of one dtype, which may be another than that of
    x; contiguous. Each program loads both, so ./course count tells of more than the least. It loads them after the
    sums: loaded first they hold registers, and 3 programs of 8192 float16 fit an H100's SM in place of 4.
    """
    rows, n = x.shape
    y = torch.empty(rows, n, dtype=x.dtype, device=x.device)
    mean, rstd = sums_like(x, rows), sums_like(x, rows)
    raise NotImplementedError("week3/katas/layernorm task 2: layernorm_forward")


# Task 3
@triton.jit
def backward_kernel(d_out_ptr, x_ptr, weight_ptr, mean_ptr, rstd_ptr, d_x_ptr, d_weight_ptr, d_bias_ptr, rows, n,
                    d_out_stride, x_stride, BLOCK: tl.constexpr, STAGES: tl.constexpr):
    pass  # load weight; row by row: load d_out and x, add to two sums, store d_x; store each sum as a row of shares


def stages_for(x: torch.Tensor) -> int:
    """STAGES for rows of x: 3, for which two rows of x and of d_out lie in shared memory, else 1. Given."""
    return 3 if triton.next_power_of_2(x.shape[1]) * x.element_size() <= 32768 else 1


def layernorm_backward(d_out: torch.Tensor, x: torch.Tensor, weight: torch.Tensor, mean: torch.Tensor,
                       rstd: torch.Tensor, programs: int = PROGRAMS) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The gradients of x, weight and bias, each in the dtype of its own (bias has that of weight).

    d_out, x: (rows, n), each with rows of any stride, the elements of a row side by side; not copied. weight: (n,),
    contiguous. mean, rstd: those of layernorm_forward.
    programs: at most so many run, and no more than there are rows. Without a row d_weight and d_bias are 0.
    Beside the kernel, whose launch is given, PyTorch adds up all shares at once, then converts to the dtype of weight.
    """
    rows, n = x.shape
    programs = min(rows, programs)
    d_x = torch.empty(rows, n, dtype=x.dtype, device=x.device)
    shares = sums_like(x, 2, programs, n)  # of d_weight, of d_bias
    backward_kernel[(programs,)](d_out, x, weight, mean, rstd, d_x, shares[0], shares[1], rows, n,
                                 d_out.stride(0), x.stride(0), STAGES=stages_for(x), **block_and_warps(n))
    raise NotImplementedError("week3/katas/layernorm task 3: layernorm_backward")


# Task 4
def as_rows(x: torch.Tensor) -> torch.Tensor:
    """x as (rows, n), the elements of a row side by side; copied only if it must be. x: (..., n), n at least 1."""
    raise NotImplementedError("week3/katas/layernorm task 4: as_rows")


class LayerNorm(torch.autograd.Function):
    """layernorm_forward and layernorm_backward as one operation of autograd; of x, weight and bias, stored in any way.

    The kernels take weight.contiguous() and bias.contiguous(), which are weight and bias if these are contiguous.
    Only the arguments as they came, mean and rstd wait for the backward.
    """

    @staticmethod
    def forward(ctx, x, weight, bias, eps):
        raise NotImplementedError("week3/katas/layernorm task 4: forward")

    @staticmethod
    def backward(ctx, d_out):
        raise NotImplementedError("week3/katas/layernorm task 4: backward")


def layernorm(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float = EPS) -> torch.Tensor:
    """The layer norm of the last axis, with gradients. Given.

    x: (..., n) floats, stored in any way. weight, bias: (n,), of one dtype.
    """
    return LayerNorm.apply(x, weight, bias, eps)
