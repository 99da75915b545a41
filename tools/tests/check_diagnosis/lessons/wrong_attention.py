# ruff: noqa: F401, I001  tools.gpu comes before triton
"""Softmax, layer norm and attention as Triton kernels, with the mistake that `how` names. Float32, row-major."""

import tools.gpu  # before triton

import torch
import triton
import triton.language as tl

BLOCK = 16  # rows of queries, and keys, of one turn


@triton.jit
def softmax_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr, HOW: tl.constexpr):
    row = tl.program_id(0)
    m, total = float("-inf"), 0.0
    for start in range(0, n, BLOCK):
        col = start + tl.arange(0, BLOCK)
        other = 0.0 if HOW == "padding counted" else float("-inf")
        x = tl.load(x_ptr + row * n + col, mask=col < n, other=other)
        new = tl.maximum(m, tl.max(x, 0))
        if HOW == "maximum not updated" and start > 0:
            new = m
        alpha = 1.0 if HOW == "not rescaled" else tl.exp(m - new)
        if HOW == "last block only":
            alpha = 0.0
        total = total * alpha + tl.sum(tl.exp(x - new), 0)
        m = new
    for start in range(0, n, BLOCK):
        col = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * n + col, mask=col < n, other=float("-inf"))
        e = tl.exp(x - m)
        tl.store(out_ptr + row * n + col, e if HOW == "not divided" else e / total, mask=col < n)


def softmax(x, how, block=BLOCK):
    out = torch.empty_like(x)
    softmax_kernel[(x.shape[0],)](x, out, x.shape[1], BLOCK=block, HOW=how)
    return out


@triton.jit
def layernorm_kernel(x_ptr, weight_ptr, bias_ptr, out_ptr, n, eps, BLOCK: tl.constexpr, HOW: tl.constexpr):
    row, col = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + col, mask=col < n, other=0.0)
    count = BLOCK if HOW == "divided by the block" else n
    mean = tl.sum(x, 0) / count
    centred = x - mean if HOW == "padding counted" else tl.where(col < n, x - mean, 0.0)
    variance = tl.sum(centred * centred, 0) / count
    if HOW == "two sums":
        variance = tl.sum(x * x, 0) / n - mean * mean
    rstd = 1 / (tl.sqrt(variance) + eps) if HOW == "eps outside" else 1 / tl.sqrt(variance + eps)
    weight = tl.load(weight_ptr + col, mask=col < n, other=0.0)
    bias = tl.load(bias_ptr + col, mask=col < n, other=0.0)
    tl.store(out_ptr + row * n + col, (x - mean) * rstd * weight + bias, mask=col < n)


def layernorm(x, weight, bias, how, eps=1e-5):
    out = torch.empty_like(x)
    block = triton.next_power_of_2(x.shape[1])
    layernorm_kernel[(x.shape[0],)](x, weight, bias, out, x.shape[1], eps, BLOCK=block, HOW=how)
    return out


@triton.jit
def attention_kernel(
    q_ptr, k_ptr, v_ptr, out_ptr, lse_ptr, heads, kv_heads, m, n, scale,
    CAUSAL: tl.constexpr, HOW: tl.constexpr, D: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    head = tl.program_id(1)
    kv_head = head % kv_heads if HOW == "head modulo" else head // (heads // kv_heads)
    row, d = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), tl.arange(0, D)
    q = tl.load(q_ptr + (head * m + row[:, None]) * D + d[None, :], mask=row[:, None] < m, other=0.0)
    m_i = tl.full((BLOCK,), float("-inf"), tl.float32)
    l_i = tl.zeros((BLOCK,), tl.float32)
    acc = tl.zeros((BLOCK, D), tl.float16 if HOW == "acc in float16" else tl.float32)
    for start in range(0, n, BLOCK):
        key = start + tl.arange(0, BLOCK)
        place = (kv_head * n + key[:, None]) * D + d[None, :]
        k = tl.load(k_ptr + place, mask=key[:, None] < n, other=0.0)
        v = tl.load(v_ptr + place, mask=key[:, None] < n, other=0.0)
        scores = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
        if HOW != "padding counted":
            scores = tl.where(key[None, :] < n, scores, float("-inf"))
        if CAUSAL:
            last = row + (0 if HOW == "from the start" else n - m)
            seen = key[None, :] < last[:, None] if HOW == "own hidden" else key[None, :] <= last[:, None]
            hidden = 0.0 if HOW == "masked by zero" else float("-inf")
            scores = tl.where(seen | (key[None, :] >= n), scores, hidden)
        new = tl.maximum(m_i, tl.max(scores, 1))
        shift = tl.where(new == float("-inf"), 0.0, new)
        p, alpha = tl.exp(scores - shift[:, None]), tl.exp(m_i - shift)
        l_i = (l_i if HOW == "sum not rescaled" else l_i * alpha) + tl.sum(p, 1)
        if HOW == "sum not carried":
            l_i = tl.sum(p, 1)
        kept = acc if HOW == "acc not rescaled" else acc * alpha[:, None]
        acc = (kept + tl.dot(p, v, input_precision="ieee")).to(acc.dtype)
        m_i = new
    out = acc if HOW == "not divided" else acc / l_i[:, None]
    at = head * m + row
    tl.store(out_ptr + at[:, None] * D + d[None, :], out.to(tl.float32), mask=row[:, None] < m)
    lse = tl.log(l_i) if HOW == "lse without maximum" else m_i + tl.log(l_i)
    tl.store(lse_ptr + at, lse, mask=row < m)


def attention(q, k, v, how, causal=False, scale=None):
    """out and the log-sum-exp of the scores. q: (heads, m, d), k and v: (kv_heads, n, d)."""
    heads, m, d = q.shape
    scale = (1.0 if how == "not scaled" else d**-0.5) if scale is None else scale
    out, lse = torch.empty_like(q), torch.empty(heads, m)
    grid = triton.cdiv(m, BLOCK), heads
    attention_kernel[grid](
        q, k, v, out, lse, heads, k.shape[0], m, k.shape[1], scale,
        CAUSAL=causal, HOW=how, D=d, BLOCK=BLOCK,
    )  # fmt: skip
    return out, lse


@triton.jit
def dropout_kernel(x_ptr, out_ptr, n, p, seed, BLOCK: tl.constexpr, HOW: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    number = tl.rand(seed, tl.arange(0, BLOCK) if HOW == "same in every block" else i)
    kept = number < p if HOW == "kept and dropped exchanged" else number >= p
    scaled = x if HOW == "not scaled" else x / (1 - p)
    tl.store(out_ptr + i, tl.where(kept, scaled, 0.0), mask=i < n)


def dropout(x, p, seed, how, block=64):
    out = torch.empty_like(x)
    dropout_kernel[(triton.cdiv(x.numel(), block),)](x, out, x.numel(), p, seed, BLOCK=block, HOW=how)
    return out


class Dropout(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, p, seed, how):
        ctx.saved = p, seed, how
        return dropout(x, p, seed, "")

    @staticmethod
    def backward(ctx, d_out):
        p, seed, how = ctx.saved
        return dropout(d_out, p, seed + (how == "another seed"), how), None, None, None


def trained_dropout(x, p, seed, how):
    return Dropout.apply(x, p, seed, how)
