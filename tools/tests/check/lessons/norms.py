# ruff: noqa: F401, I001  tools.gpu comes before triton
"""Functions with a backward of their own, each with one mistake that `how` names, and functions that need memory."""

import tools.gpu
import torch
import triton
import triton.language as tl


class LayerNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias, how):
        mean = x.mean(1, keepdim=True)
        rstd = torch.rsqrt(x.var(1, keepdim=True, unbiased=False) + 1e-5)
        x_hat = (x - mean) * rstd
        ctx.save_for_backward(x_hat, rstd, weight)
        ctx.how = how
        return x_hat * weight + bias

    @staticmethod
    def backward(ctx, d_out):
        x_hat, rstd, weight = ctx.saved_tensors
        if ctx.how == "reads d_out as if contiguous":
            d_out = torch.as_strided(d_out, x_hat.shape, (x_hat.shape[1], 1))
        d_hat = d_out * weight
        d_x = rstd * (d_hat - d_hat.mean(1, keepdim=True) - x_hat * (d_hat * x_hat).mean(1, keepdim=True))
        d_weight, d_bias = (d_out * x_hat).sum(0), d_out.sum(0)
        if ctx.how == "raises":
            raise ValueError("no way back")
        if ctx.how == "forgets one":
            return d_x, d_weight, d_bias
        return {
            "no gradient": (d_x, None, d_bias, None),
            "not summed": (d_x, d_weight, d_out, None),
            "cut off": (d_x, d_weight[1:], d_bias, None),
            "half": (d_x.half(), d_weight, d_bias, None),
            "twice": (d_x, 2 * d_weight, d_bias, None),
            "a bad place": (d_x + (torch.arange(d_x.numel()) == 5).view(d_x.shape), d_weight, d_bias, None),
        }.get(ctx.how, (d_x, d_weight, d_bias, None))


def layernorm(x, weight, bias, how=""):
    if how == "detached":
        return LayerNorm.apply(x, weight, bias, how).detach()
    return LayerNorm.apply(x, weight, bias, how)


apply = LayerNorm.apply


@triton.jit
def scale_kernel(x_ptr, out_ptr, factor, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n) * factor, mask=i < n)


def scaled(x, factor, block, out=None):
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device) if out is None else out
    scale_kernel[(triton.cdiv(x.numel(), block),)](x, out, factor, x.numel(), BLOCK=block)
    return out


class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.factor = factor
        return scaled(x.contiguous(), factor, 64)

    @staticmethod
    def backward(ctx, d_out):
        return scaled(d_out.contiguous(), ctx.factor, 32), None


def scale(x, factor=3.0, out=None):
    return Scale.apply(x, factor)


def sum_and_product(parts):
    """Two results of a list of two tensors."""
    first, second = parts
    return first + second, first * second


def sum_of_two(x, y):
    return x + y


def mean_of_counts(x, counts):
    return (x * counts).mean()


def in_place(x):
    return x.mul_(2)


def through_a_list(x):
    return [float(value) for value in x]


def not_yet(x):
    raise NotImplementedError("week9/day4 task 1: not_yet")


# Memory -------------------------------------------------------------------------------------------

MASK = torch.ones(64, 64, dtype=torch.bool).tril()
kept = []


def attention(q, k, v):
    scores = q @ k.T
    weights = torch.softmax(scores, 1)
    return weights @ v


def tidy_attention(q, k, v):
    scores = q @ k.T
    scores -= scores.amax(1, keepdim=True)
    scores.exp_()
    return scores @ v / scores.sum(1, keepdim=True)


def masked(x):
    return x.masked_fill(MASK[: len(x), : x.shape[1]], 0.0)


def view(x):
    return x.T[1:]


def sum_of_shifted(x, times):
    total = x
    for shift in range(times):
        total = total + (x + shift)
    return total


def keeps(x):
    kept.append(x + 1)
    return x * 2


def points_at_itself(x):
    ring = [x + 1]
    ring.append(ring)
    return x * 2


def literal(x):
    return x + torch.tensor([1.0] * 16)


def grows(x):
    out = torch.empty(0)
    out.resize_(100)
    return out.zero_()


def too_much(x):
    raise ValueError("x is odd")
