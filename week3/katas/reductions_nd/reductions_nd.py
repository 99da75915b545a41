"""Week 3, kata: mean and variance along any axis

Challenge
    A tensor has any number of axes, and lies in memory in any order, with gaps or without. Write a kernel that finds
    mean and variance along any axis. It reads each element once where it lies, and copies none. In a second sitting,
    task 3, come the gradients.

        x, shape (2, 3, 2), strides (6, 2, 1)                    x[0]          x[1]
        memory  1 10 2 30 6 20 5 20 5 60 8 40                  1   10        5   20
                                                               2   30        5   60
                                                               6   20        8   40
        mean along axis 1, shape (2, 2)                        3   20        6   40
        x - mean                                              -2  -10       -1  -20
                                                              -1   10       -1   20
                                                               3    0        2    0
        variance: the sum of their squares / (3 - 1)           7  100        3  400

Explore
    ./course python -c "import torch; x = torch.ones(2, 3, 4).mT; print(x.shape, x.stride(), x[:, :, ::2].stride())"
    Reduce this x along axis 0: which two results read neighbours in memory? And along axis 2 of the slice?

Concept
    Kept axes: the n elements of one result lie axis_stride apart, here 2. Where they begin is up to the other axes,
    which are kept: here 0 and 2, with strides 6 and 1, so that results 0 to 3 begin at 0, 1, 6 and 7 (begins, given).
    Order: results that follow each other should begin side by side. So kept axes go from the longest stride to the
    shortest, not as x names them: of a tensor with strides (1, 2, 6), axis 2 comes before axis 0.
    Merging (week 1, day 0): sizes 3, 4 with strides 20, 5 are size 12 with stride 5, since 20 = 4 * 5. An axis of size
    1 is left out: nobody steps along it. The kernel takes three axes; what keeps more is copied first (given).
    Tile: BLOCK_KEPT results by BLOCK_N elements of each, 4 by 4 for the picture; a program for each BLOCK_KEPT results
    goes from tile to tile. Lanes should read neighbours, so the side with the shorter stride is long (tile_for, given).
    Element j of a result lies at begin + j * axis_stride, which may pass 2**31 (day 1): j needs 64 bits.
    Variance: mean(x * x) - mean**2 cancels (day 2). A tile adds up the squares of deviations, x - (its own mean). Where
    no element is, the deviation is put to 0: there x was loaded as 0, but 0 - mean is not 0. Then tiles are joined:
    `first` elements came before, `count` are in this tile, delta is its mean - mean. m2, the squares so far, grows by
    those of the tile and delta**2 * first * count / (first + count); mean is (mean * first + total) / (first + count).
    1, then 2 and 6: m2 = 0 + (2**2 + 2**2) + 3**2 * 1 * 2 / 3 = 14, mean = (1 * 1 + (2 + 6)) / 3 = 3. At first all are
    0. (Adding a part of delta to mean is as right, but makes NaN of an infinity.)
    Correction: var = m2 / divisor, which moments hands to the kernel: n - correction, or 0 if that is below 0.
    A correction of 1 is for a sample (torch.var), 0 for all there is. m2 / 0 is infinite; 0 / 0, of one number, NaN.
    Precision: sums and results have the dtype of mean_ptr: float64 if x has, else float32. Two integers of a kernel
    have a product of 32 bits and a quotient in float32: so products begin with delta, delta * delta * first * ...
    Gradients: d_x is d_mean / n + d_var * 2 * (x - mean) / (n - correction): what x does to var through the mean
    adds up to 0. With d_mean = 3 and d_var = 1 the first column gets 1 + (-2, -1, 3). Both arrive with `axis` of length
    1, and broadcasting hands them to all n. Without keepdim forward takes this axis away: squeeze(axis).

Code it
    Task 1  kept_axes, merged: which elements are read, and in which order            (twelve lines)
    Task 2  moments_kernel, moments: each element read once, where it lies          (eighteen lines)
    Task 3  moments_backward, MeanVar: the gradients, by broadcasting                 (twelve lines)

Verify
    pytest week3/katas/reductions_nd       then: ./course quiz week3/katas/reductions_nd
    Reflect: one mean of a billion numbers has one program here. What would several hand each other?

Simulated without a GPU: results, bounds and bytes are exact. The compiler is the real one. Time is not simulated.
"""

import tools.gpu  # a real GPU or a simulated one; before triton

import math
from collections.abc import Sequence

import torch
import triton
import triton.language as tl

TILE = 4096   # elements of a tile, at most
COLUMNS = 32  # results side by side, at most, where the axis is not the one with the short stride


def axis_number(axis: int, ndim: int) -> int:
    """The axis counted from the front, 0 or more; axis -1 is the last. Given.

    A tensor without axes (ndim 0) counts as one with a single axis. IndexError if there is no such axis.
    """
    ndim = max(ndim, 1)
    if not -ndim <= axis < ndim:
        raise IndexError(f"axis {axis} of {ndim} axes")
    return axis % ndim


# Task 1
def kept_axes(strides: Sequence[int], axis: int) -> list[int]:
    """All axes but `axis`, from the longest stride to the shortest; equal ones in the order of x. axis: 0 or more."""
    raise NotImplementedError("week3/katas/reductions_nd task 1: kept_axes")


def merged(sizes: Sequence[int], strides: Sequence[int]) -> tuple[list[int], list[int]]:
    """(sizes, strides) of the same elements in the same order, by as few axes as can be; two lists, perhaps empty.

    Axes of size 1 are left out. sizes: 1 or more. strides: 0 or more, none longer than the one before it.
    """
    raise NotImplementedError("week3/katas/reductions_nd task 1: merged")


def tile_for(kept: int, n: int, kept_stride: int, axis_stride: int) -> tuple[int, int]:
    """BLOCK_KEPT and BLOCK_N, powers of two, for `kept` results of n elements each, both 1 or more. Given.

    kept_stride: the shortest of the kept axes. The tile has at most TILE elements, and neither block is longer than the
    next power of two of what it is for. If the axis has the shorter stride, BLOCK_N takes all of n that fits; else
    BLOCK_KEPT takes up to COLUMNS results, and BLOCK_N what is left.
    """
    most_kept, most_n = triton.next_power_of_2(kept), triton.next_power_of_2(n)
    if axis_stride < kept_stride:
        return min(most_kept, max(1, TILE // most_n)), min(most_n, TILE)
    block_kept = min(most_kept, COLUMNS)
    return block_kept, min(most_n, TILE // block_kept)


@triton.jit
def begins(i, size_1, size_2, stride_0, stride_1, stride_2):
    """How far from the start of x the elements of result i begin. i: a block of int64. Given.

    Nothing is divided by the first of the three sizes: so it is not asked for.
    """
    return i // size_2 // size_1 * stride_0 + i // size_2 % size_1 * stride_1 + i % size_2 * stride_2


# Task 2
@triton.jit
def moments_kernel(x_ptr, mean_ptr, var_ptr, kept, n, axis_stride, divisor, size_1, size_2, stride_0, stride_1,
                   stride_2, BLOCK_KEPT: tl.constexpr, BLOCK_N: tl.constexpr):
    dtype: tl.constexpr = mean_ptr.dtype.element_ty
    i = tl.program_id(0).to(tl.int64) * BLOCK_KEPT + tl.arange(0, BLOCK_KEPT)
    begin = begins(i, size_1, size_2, stride_0, stride_1, stride_2)
    pass  # tile after tile: its mean, deviations, then m2 and mean of all so far; store both for results that exist


def laid_out(result: torch.Tensor, x: torch.Tensor, axis: int, order: list[int]) -> torch.Tensor:
    """The result, kept axes in this order, as a view with all axes of x; `axis` has length 1. Given."""
    back = sorted(range(len(order)), key=lambda place: order[place])
    return result.view([x.shape[each] for each in order]).permute(back).unsqueeze(axis)


def moments(x: torch.Tensor, axis: int, correction: int = 1) -> tuple[torch.Tensor, torch.Tensor]:
    """Mean and variance of x along an axis, which stays with length 1; by moments_kernel, and nothing beside it.

    x: one axis or more, of any sizes and strides, float16, bfloat16, float32 or float64. axis: 0 or more.
    correction: may be larger than n; n - correction, if below 0, counts as 0. The results are float64 if x is, else
    float32.
    Where x has no element there is no launch: both are NaN along an empty axis, and empty if a kept axis is.
    """
    n, order, dtype = x.shape[axis], kept_axes(x.stride(), axis), torch.promote_types(x.dtype, torch.float32)
    if x.numel() == 0:
        shape = (*x.shape[:axis], 1, *x.shape[axis + 1:])
        return x.new_full(shape, math.nan, dtype=dtype), x.new_full(shape, math.nan, dtype=dtype)
    sizes, strides = merged([x.shape[each] for each in order], [x.stride(each) for each in order])
    if len(sizes) > 3:
        return moments(x.contiguous(), axis, correction)
    kept = math.prod(sizes)
    mean, var = (torch.empty(kept, dtype=dtype, device=x.device) for _ in range(2))
    block_kept, block_n = tile_for(kept, n, strides[-1] if strides else 0, x.stride(axis))
    sizes, strides = sizes + [1] * (3 - len(sizes)), strides + [0] * (3 - len(strides))  # always three axes
    raise NotImplementedError("week3/katas/reductions_nd task 2: moments")


# Task 3
def moments_backward(d_mean: torch.Tensor | None, d_var: torch.Tensor | None, x: torch.Tensor, mean: torch.Tensor,
                     axis: int, correction: int) -> torch.Tensor:
    """The gradient of x, in the shape and dtype of x, by PyTorch.

    d_mean, d_var: of the shape of mean, which is that of moments. One of them may be None: it was not used, and costs
    nothing. d_mean alone makes a small tensor, of the dtype of x, and a view of it, (...).expand(x.shape): no memory
    of the size of x. As in moments, a divisor below 0 counts as 0.
    """
    raise NotImplementedError("week3/katas/reductions_nd task 3: moments_backward")


class MeanVar(torch.autograd.Function):
    """moments and moments_backward as one operation of autograd. Beside x only the mean waits for the backward."""

    @staticmethod
    def forward(ctx, x, axis, keepdim, correction):
        ctx.set_materialize_grads(False)  # what was not used has the gradient None, and not zeros
        ctx.axis, ctx.keepdim, ctx.correction = axis, keepdim, correction
        raise NotImplementedError("week3/katas/reductions_nd task 3: forward")

    @staticmethod
    def backward(ctx, d_mean, d_var):
        if d_mean is None and d_var is None:
            return None, None, None, None
        if not ctx.keepdim:
            d_mean, d_var = (each if each is None else each.unsqueeze(ctx.axis) for each in (d_mean, d_var))
        raise NotImplementedError("week3/katas/reductions_nd task 3: backward")


def mean_var(x: torch.Tensor, axis: int, keepdim: bool = False,
             correction: int = 1) -> tuple[torch.Tensor, torch.Tensor]:
    """Mean and variance along an axis, with gradients. Given.

    x: floats of any shape, stored in any way. axis: from either end; 0 or -1 where x has no axis.
    correction: what is taken off n before the sum of squares is divided by it.
    """
    axis = axis_number(axis, x.dim())
    if x.dim() == 0:
        x, keepdim = x[None], False
    return MeanVar.apply(x, axis, keepdim, correction)
