"""Week 3, kata: dropout inside attention's softmax

Challenge
    A transformer in training drops a share p of its attention weights. The matrix of weights is too large to store, and
    so is the mask. Draw it from a seed wherever a tile is: forward, and in a second sitting, task 3 on, the same again.

        seed 7, p = .25, scale = 1 / (1 - p)        key 0     key 1     key 2     key 3
            score                                     2         0         1         3
            weight, exp(score - 3) / 1.553           .237      .032      .087      .644    add up to 1
            draw, of 0 to 65535                     32199     21806     11183     25270    below 16384: dropped
            y                                        .316      .043       0        .859    weight * scale, or 0
            d_y                                       1         2         3         4
            d_weight                                1.333     2.667       0        5.333   d_y * scale, or 0
            d_score                                 -.593     -.037     -.334      .964    add up to 0

Explore
    ./course python -c "import torch; print(torch.dropout(torch.ones(4, 8) / 8, .25, True).sum(1))"
    Weights of a row add up to 1. First say whether the dropped ones do.

Concept
    Order: scores, softmax, then dropout. The sum l is that of all weights: dropping is a part of what follows softmax.
    The others are divided by 1 - p, so that the mean stays. The row need not add up to 1 again: in the picture it adds
    up to 1.217. With dropped scores of -inf it would, and that is another function, with another gradient.
    The mask: draws come from Philox as in the kata fused_elementwise, eight for each offset. Key c of row r has draw
    c % 8 of offset r * groups + c // 8, where a row has groups = tl.cdiv(n, 8). A key has the same offset whichever
    program asks: one with a whole row, or one with 16 rows and 32 keys of it. A tile that counts from its own corner
    would repeat the mask of the first one. Rows come as a column, (ROWS, 1), so offsets are a block (ROWS, TILE // 8).
    Backward: what is left of d_y is d_weight = d_y * scale where the weight was kept, 0 elsewhere. Then the gradient
    of softmax: d_score = weight * (d_weight - delta), where delta is the row's sum of weight * d_weight; in the picture
    3.836. So a dropped key has a gradient too, -.334: its score was in l, and made all other weights smaller.
    What is saved: scores as they came, which are alive anyhow, not the rows that as_rows may have copied; and for each
    row one number, lse = m + log(l) (day 5), the log-sum-exp of all its scores. The weights are exp(score - lse) then,
    and the mask is drawn again. An lse of 1000 is off by up to 3e-5 in float32, and each weight by that share of it.
    In tiles (day 6): l grows by all weights of a tile, acc by those that are kept. scale is the same for all, so acc
    is multiplied by it once, at the end, where it is divided by l. kept wants row in 64 bits; the kernel has it in 32.
    A hidden row, of nothing but -inf, has weights, results and gradients of 0. Since -inf - -inf is NaN, m is at least
    LOWEST (day 6), and on the way back tl.maximum(lse, LOWEST) is subtracted. Since 0 / 0 is NaN, weights are divided
    by 1 where l is 0. The lse of that row stays m + log(0), -inf.
    A place is chosen by tl.where, since 0 times NaN is NaN: what is dropped is 0, whatever it was. tl.max(scores) and
    tl.sum(weights) of a row (1, BLOCK) are one number. Only the store rounds to 16 bits: y has the dtype of scores.
    Autograd, as in that kata: ctx.save_for_backward(a, b) keeps tensors, ctx.saved_tensors are those, and backward
    returns a gradient for each argument of forward, None for p and seed.

Code it
    Task 1  kept: which places of a tile are not dropped                                 (two lines)
    Task 2  forward_kernel, softmax_dropout_forward: a row a program                     (eight lines)
    Task 3  backward_kernel, softmax_dropout_backward, SoftmaxDropout: the gradients  (thirteen lines)
    Task 4  attention_kernel, here as on day 6: put dropout into it                      (three lines)

Verify
    pytest week3/katas/softmax_dropout       then: ./course quiz week3/katas/softmax_dropout
    Reflect: 64 heads, 32768 queries, 32768 keys: how many bytes would the mask have, at one bit a place?

Simulated without a GPU: results, bounds and bytes are exact. The compiler is the real one. Time is not simulated.
"""

import tools.gpu  # a real GPU or a simulated one; before triton

import torch
import triton
import triton.language as tl

LOWEST = tl.constexpr(-3.4028234663852886e38)  # of float32
PRECISION = tl.constexpr("tf32x3")             # of products of float32: on tensor cores, nearly float32
TILE_M, TILE_N = 16, 32                        # queries of a program, keys of a step


# Given: numbers for a tile
@triton.jit
def wide(x):
    """x as it is computed with: float64 stays, all else becomes float32."""
    return x if x.dtype == tl.float64 else x.to(tl.float32)


@triton.jit
def eight_draws(seed, offset):
    """For a block of offsets (ROWS, n) whole numbers from 0 to 65535, (ROWS, 8 n): eight side by side for each."""
    a, b, c, d = tl.randint4x(seed, offset, n_rounds=7)
    words = tl.join(tl.join(a, c), tl.join(b, d)).reshape(offset.shape[0], 4 * offset.shape[1])
    return tl.join(words & 0xFFFF, (words >> 16) & 0xFFFF).reshape(offset.shape[0], 8 * offset.shape[1])


def threshold_and_scale(p: float) -> tuple[int, float]:
    """Draws below threshold are dropped; what is kept is multiplied by scale, 1 / (1 - p).

    If p is 1, nothing is kept, and scale is 0. A kernel gets scale as a float32, also where scores are float64: at
    p = .25 it is 3e-8 too large, at .5 exact.
    """
    return round(p * 65536), 1 / (1 - p) if p < 1 else 0.0


# Task 1
@triton.jit
def kept(seed, row, start, n, threshold, TILE: tl.constexpr):
    """(ROWS, TILE): is the draw of each place not below threshold? Of keys start to start + TILE - 1, of n in all.

    row: numbers of rows in 64 bits, (ROWS, 1), or one number: then ROWS is 1. start: a multiple of 8. TILE: a power of
    2, at least 8.
    """
    offset = row * tl.cdiv(n, 8) + start // 8 + tl.arange(0, TILE // 8)[None, :]
    return eight_draws(seed, offset) >= threshold


@triton.jit
def mask_kernel(mask_ptr, rows, n, threshold, seed, ROWS: tl.constexpr, TILE: tl.constexpr):
    row = (tl.program_id(0) * ROWS + tl.arange(0, ROWS)).to(tl.int64)[:, None]
    start = tl.program_id(1) * TILE
    key = start + tl.arange(0, TILE)[None, :]
    here = (row < rows) & (key < n)
    tl.store(mask_ptr + row * n + key, kept(seed, row, start, n, threshold, TILE), mask=here)


def kept_places(rows: int, n: int, p: float, seed: int, *, tile_m: int = 1, tile_n: int = TILE_N) -> torch.Tensor:
    """(rows, n) bool: what `kept` says of each place. To look at; the kernels below do without it. Given."""
    mask = torch.empty(rows, n, dtype=torch.bool, device=tools.gpu.device)
    grid = (triton.cdiv(rows, tile_m), triton.cdiv(n, tile_n))
    mask_kernel[grid](mask, rows, n, threshold_and_scale(p)[0], seed, ROWS=tile_m, TILE=tile_n)
    return mask


def block_for(n: int) -> int:
    """BLOCK for rows of n scores: the next power of two, and not less than 8. Given."""
    return max(8, triton.next_power_of_2(n))


# Task 2
@triton.jit
def forward_kernel(scores_ptr, y_ptr, lse_ptr, n, row_stride, threshold, scale, seed, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    key = tl.arange(0, BLOCK)[None, :]
    scores = wide(tl.load(scores_ptr + row * row_stride + key, mask=key < n, other=-float("inf")))
    m = tl.maximum(tl.max(scores), LOWEST)
    weights = tl.exp(scores - m)
    l = tl.sum(weights)
    y = tl.where(kept(seed, row, 0, n, threshold, BLOCK), weights * (scale / tl.where(l == 0, 1.0, l)), 0.0)
    tl.store(y_ptr + row * n + key, y, mask=key < n)
    tl.store(lse_ptr + row, m + tl.log(l))


def softmax_dropout_forward(scores: torch.Tensor, p: float, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """(y, lse): dropout(softmax(scores)) in the dtype of scores, and the log-sum-exp of each row; by forward_kernel.

    scores: (rows, n) floats, rows of any stride, the scores of a row side by side; not copied. rows may be 0, n is at
    least 1. p: 0 to 1. y: (rows, n), contiguous. lse: (rows, 1), float64 if scores are, else float32.
    """
    rows, n = scores.shape
    y = scores.new_empty(rows, n)
    lse = scores.new_empty(rows, 1, dtype=torch.promote_types(scores.dtype, torch.float32))
    threshold, scale = threshold_and_scale(p)
    forward_kernel[(rows,)](scores, y, lse, n, scores.stride(0), threshold, scale, seed, BLOCK=block_for(n))
    return y, lse


# Task 3
@triton.jit
def backward_kernel(d_y_ptr, scores_ptr, lse_ptr, d_scores_ptr, n, d_y_stride, row_stride, threshold, scale, seed,
                    BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    key = tl.arange(0, BLOCK)[None, :]
    scores = wide(tl.load(scores_ptr + row * row_stride + key, mask=key < n, other=-float("inf")))
    d_y = wide(tl.load(d_y_ptr + row * d_y_stride + key, mask=key < n, other=0.0))
    weights = tl.exp(scores - tl.maximum(tl.load(lse_ptr + row), LOWEST))
    d_weights = tl.where(kept(seed, row, 0, n, threshold, BLOCK), d_y * scale, 0.0)
    delta = tl.sum(weights * d_weights)
    tl.store(d_scores_ptr + row * n + key, weights * (d_weights - delta), mask=key < n)


def softmax_dropout_backward(d_y: torch.Tensor, scores: torch.Tensor, lse: torch.Tensor, p: float,
                             seed: int) -> torch.Tensor:
    """The gradient of scores, (rows, n) in their dtype; by backward_kernel, and nothing beside it.

    d_y: (rows, n), its rows of any stride of its own; not copied. lse: (rows, 1), contiguous. The others as those of
    softmax_dropout_forward, which has made lse.
    """
    rows, n = scores.shape
    d_scores = scores.new_empty(rows, n)
    threshold, scale = threshold_and_scale(p)
    backward_kernel[(rows,)](d_y, scores, lse, d_scores, n, d_y.stride(0), scores.stride(0), threshold, scale, seed,
                             BLOCK=block_for(n))
    return d_scores


def as_rows(x: torch.Tensor) -> torch.Tensor:
    """x as (rows, n), the elements of a row side by side; copied only if it must be. x: (..., n). Given."""
    rows = x.reshape(-1, x.shape[-1])
    return rows if rows.stride(1) == 1 else rows.contiguous()


class SoftmaxDropout(torch.autograd.Function):
    """Both functions as one operation of autograd; scores and d_y stored in any way. Saves scores as they came, lse."""

    @staticmethod
    def forward(ctx, scores, p, seed):
        ctx.p, ctx.seed = p, seed
        y, lse = softmax_dropout_forward(as_rows(scores), p, seed)
        ctx.save_for_backward(scores, lse)
        return y.reshape(scores.shape)

    @staticmethod
    def backward(ctx, d_y):
        scores, lse = ctx.saved_tensors
        d_scores = softmax_dropout_backward(as_rows(d_y), as_rows(scores), lse, ctx.p, ctx.seed)
        return d_scores.reshape(scores.shape), None, None


def softmax_dropout(scores: torch.Tensor, p: float, seed: int) -> torch.Tensor:
    """dropout(softmax(scores)) along the last axis, with gradients. scores: (..., n), stored in any way. Given."""
    return SoftmaxDropout.apply(scores, p, seed)


# Task 4
@triton.jit
def attention_kernel(q_ptr, k_ptr, v_ptr, out_ptr, n_q, n_k, score_scale, threshold, scale, seed, D: tl.constexpr,
                     TILE_M: tl.constexpr, TILE_N: tl.constexpr):
    row = (tl.program_id(0) * TILE_M + tl.arange(0, TILE_M)).to(tl.int64)[:, None]
    along = tl.arange(0, D)[None, :]  # element [row, along] of q lies at q_ptr + row * D + along
    q = tl.load(q_ptr + row * D + along, mask=row < n_q, other=0.0) * score_scale
    m = tl.full((TILE_M, 1), LOWEST, tl.float32)
    l = tl.zeros((TILE_M, 1), tl.float32)
    acc = tl.zeros((TILE_M, D), tl.float32)
    for start in range(0, n_k, TILE_N):
        key = start + tl.arange(0, TILE_N)
        k = tl.load(k_ptr + key[:, None] * D + along, mask=key[:, None] < n_k, other=0.0)
        v = tl.load(v_ptr + key[:, None] * D + along, mask=key[:, None] < n_k, other=0.0)
        scores = tl.where(key[None, :] < n_k, tl.dot(q, k.T, input_precision=PRECISION), -float("inf"))
        m_new = tl.maximum(m, tl.max(scores, 1, keep_dims=True))
        alpha = tl.exp(m - m_new)
        weights = tl.exp(scores - m_new)
        l = l * alpha + tl.sum(weights, 1, keep_dims=True)
        weights = tl.where(kept(seed, row, start, n_k, threshold, TILE_N), weights, 0.0)
        acc = tl.dot(weights, v, acc * alpha, input_precision=PRECISION)
        m = m_new
    tl.store(out_ptr + row * D + along, acc * (scale / tl.where(l == 0, 1.0, l)), mask=row < n_q)


def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, p: float, seed: int, *, tile_m: int = TILE_M,
              tile_n: int = TILE_N) -> torch.Tensor:
    """dropout(softmax(q @ k.T / sqrt(d))) @ v, (n_q, d), one program for each tile of queries. Given.

    q: (n_q, d), k, v: (n_k, d), float32, contiguous. n_q and n_k may be 0. d, tile_m, tile_n: powers of two from 16.
    Without any key the results are zeros.
    """
    out = torch.empty_like(q)
    threshold, scale = threshold_and_scale(p)
    attention_kernel[(triton.cdiv(len(q), tile_m),)](
        q, k, v, out, len(q), len(k), q.shape[1] ** -0.5, threshold, scale, seed, D=q.shape[1], TILE_M=tile_m,
        TILE_N=tile_n)
    return out
