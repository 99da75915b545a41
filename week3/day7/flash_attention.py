"""Week 3, day 7: FlashAttention

Challenge
    Write the attention that a network trains with: many heads, any length, 16 bits, gradients, near cuDNN's speed.
    No array of all scores ever exists: in a second sitting, task 3 on, the backward computes them again, by blocks.

        40 queries, 40 keys, causal: query i sees keys 0 to i. A tile has 32 queries and 16 keys.
                          keys 0-15   keys 16-31   keys 32-39
        queries  0-31     mask        mask         skipped
        queries 32-39     whole       whole        mask
        whole: every query sees every key. mask: some see some. skipped: no query sees any key, so none is loaded.

Explore
    ./course python -c "import torch; print(torch.ones(10, 10).tril().int())"
    Draw lines below rows 3 and 7, and right of columns 1, 3, 5 and 7. Which tiles are whole, and which are skipped?

Concept
    Heads: q is (batches, heads, n_q, d), k and v are (batches, kv_heads, n_k, d). GROUP = heads // kv_heads heads of
    queries, one after the other, share a key head: with 6 and 2, heads 0 to 2 use key head 0, heads 3 to 5 key head 1.
    Boxes (TMA, week 2) have four axes here. k_desc.load([batch, key_head, j, 0]).reshape(TILE_N, D) is a tile of keys;
    out_desc.store([batch, head, row, 0], x.reshape(1, 1, TILE_M, D)) stores x. Queries past the last are not stored.
    Past the last key a box holds zeros, and a score of 0 has a weight. So those scores become -inf, as hidden ones
    do, before the maximum is taken. (a < b) & (c <= d) is True where both are.
    Powers of 2: exp(x) = exp2(x * log2(e)), and exp2 is what the hardware has. The kernel's scale has log2(e) in it:
    m_i is the maximum of s * scale, and p = tl.exp2(s * scale - m_i). Where a tile raises it to m_new, l_i and acc
    shrink by alpha = tl.exp2(m_i - m_new) before that tile is added. The log-sum-exp of the scores, lse, is in powers
    of e: (m_i + tl.log2(l_i)) * LN_2. For the week's scores 2 0 1 3 that is 3 + log(1.553) = 3.440.
    No key: m_i begins at LOWEST, the lowest float32. Were it -inf, a tile of -inf would give -inf - -inf: NaN.
    A query that saw no score above -inf ends with l_i = 0: its out is 0, its lse tl.log2(0.0) = -inf.
    tl.max(s, 1) is the maximum of each row of s, tl.maximum(a, b) the larger of two, place by place.
    16 bits: tl.dot(p.to(v.dtype), v, acc) multiplies in 16 bits and adds in float32. m_i, l_i and acc are float32, and
    out is rounded once: .to(out_desc.dtype).
    Two loops, written once: the compiler writes the body of `for masked in tl.static_range(2)` twice. With masked = 0
    it goes from key 0 to `split` and compares nothing; with masked = 1 from `split` to `end`, and hides in the tiles
    from `whole` on. At d = 128 split is 0, since both loops together need more registers than there are.
    On an H100 forwards like it had 0.88 to 0.91 of cuDNN's speed at d = 64, 0.77 to 0.84 at d = 128 (November 2026).
    Gradients of some queries and some keys. With lse the weights come without a maximum and without a sum:
        p  = exp(scale * q @ k.T - lse)    dp    = d_out @ v.T                         dq = scale * ds @ k
        dv = p.T @ d_out                   delta = sum along d of out * d_out          dk = scale * ds.T @ q
                                           ds    = p * (dp - delta)
    The week's query, d_out = (1, 0): dp = 1 0 1 2, delta = 1.612, ds = -.145 -.052 -.053 .250, together 0. lse and
    delta are of all keys, found once for all queries: queries and keys may come in parts then. A key head's gradients
    are sums over the heads that share it.

Code it
    Task 1  key_range: where whole tiles end, and where all that is seen                          (three lines)
    Task 2  hide, weigh, add_tile, and the end of forward_kernel: a tile, and what is stored   (thirteen lines)
    Task 3  block_gradients: the formulas above                                                   (three lines)
    Task 4  attention_backward: block after block; saved_bytes: what waits for it                  (ten lines)
            Then ./course python -m week3.day7.toy_block: a transformer learns with your attention.

Verify
    pytest week3/day7                  then: ./course quiz week3/day7
    Reflect: attention is computed twice to train. What would it take to store the weights at n = 65536?

Simulated without a GPU: results, bytes and tiles are exact, and the compiler is the real one. Time is not simulated.
"""

import tools.gpu  # a real GPU or a simulated one; before triton

from collections.abc import Iterator

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor
from week3.day7 import toy_block

LOG2_E = 1.4426950408889634                      # exp(x) = exp2(x * LOG2_E)
LN_2 = tl.constexpr(0.6931471805599453)          # log(x) = log2(x) * LN_2
LOWEST = tl.constexpr(-3.4028234663852886e38)    # of float32
DTYPES = torch.float16, torch.bfloat16           # of the kernel
CONFIGS = {64: {"TILE_M": 128, "TILE_N": 64, "TWO_LOOPS": True, "num_warps": 4, "num_stages": 3},
           128: {"TILE_M": 128, "TILE_N": 64, "TWO_LOOPS": False, "num_warps": 4, "num_stages": 2}}  # by d
ROWS = 64                                        # queries of a block of the backward


# Task 1
@triton.jit
def key_range(row, n_k, TILE_M: tl.constexpr, TILE_N: tl.constexpr, CAUSAL: tl.constexpr):
    """(whole, end) for the queries row to row + TILE_M - 1: the tiles before key `whole` need no mask, and from key
    `end` on none is seen. Without CAUSAL every query sees all n_k keys. min(a, b) works in a kernel."""
    pass  # end: what some query sees; whole: what all of them see, in whole tiles


@triton.jit
def range_kernel(out_ptr, row, n_k, TILE_M: tl.constexpr, TILE_N: tl.constexpr, CAUSAL: tl.constexpr):
    whole, end = key_range(row, n_k, TILE_M, TILE_N, CAUSAL)
    tl.store(out_ptr, whole)
    tl.store(out_ptr + 1, end)


def keys_of(row: int, n_k: int, tile_m: int, tile_n: int, causal: bool) -> tuple[int, int]:
    """What key_range returns."""
    out = torch.empty(2, dtype=torch.int32, device=tools.gpu.device)
    range_kernel[(1,)](out, row, n_k, TILE_M=tile_m, TILE_N=tile_n, CAUSAL=causal)
    return tuple(out.tolist())


# Task 2
@triton.jit
def hide(s, j, rows, n_k, CAUSAL: tl.constexpr, TILE_N: tl.constexpr):
    """s, but -inf where a query does not see the key. s: (TILE_M, TILE_N), of the queries `rows` and the keys from j
    on. CAUSAL: query i sees keys 0 to i; no key is n_k or higher. tl.where(seen, s, -float("inf"))."""
    pass  # which keys; which of them each query sees


@triton.jit
def weigh(s, m_i, scale):
    """(m_new, p, alpha): the larger of m_i and the maximum of s * scale, s: the tile's scores; their weights; what l_i
    and acc shrink by. scale is above 0."""
    pass


@triton.jit
def add_tile(p, alpha, v, l_i, acc):
    """(l_i, acc) with the weights p and the values v of one more tile. l_i adds p as it is, not rounded to 16 bits."""
    pass


@triton.jit
def forward_kernel(q_desc, k_desc, v_desc, out_desc, lse_ptr, n_q, n_k, scale, GROUP: tl.constexpr,
                   CAUSAL: tl.constexpr, D: tl.constexpr, TILE_M: tl.constexpr, TILE_N: tl.constexpr,
                   TWO_LOOPS: tl.constexpr):
    """A tile of queries of one head: its out and its lse. scale: with log2(e). lse_ptr: (batches, heads, n_q)."""
    row = (tl.num_programs(0) - 1 - tl.program_id(0)) * TILE_M  # the last rows first: causal, they take longest
    head, batch = tl.program_id(1), tl.program_id(2)
    rows = row + tl.arange(0, TILE_M)
    lse_ptr += (batch * tl.num_programs(1) + head).to(tl.int64) * n_q  # of this head; int32 ends at 2**31
    q = q_desc.load([batch, head, row, 0]).reshape(TILE_M, D)
    m_i = tl.full((TILE_M,), LOWEST, tl.float32)
    l_i = tl.zeros((TILE_M,), tl.float32)
    acc = tl.zeros((TILE_M, D), tl.float32)
    whole, end = key_range(row, n_k, TILE_M, TILE_N, CAUSAL)
    split = whole if TWO_LOOPS else 0  # where the loop without masks ends
    start, stop = 0, split
    for masked in tl.static_range(2):
        for j in range(start, stop, TILE_N):
            k = k_desc.load([batch, head // GROUP, j, 0]).reshape(TILE_N, D)
            if TWO_LOOPS:  # v beside k at D = 64, after the weights at 128: so it was measured to be the faster
                v = v_desc.load([batch, head // GROUP, j, 0]).reshape(TILE_N, D)
            s = tl.dot(q, k.T)
            if masked:
                if j >= whole:
                    s = hide(s, j, rows, n_k, CAUSAL, TILE_N)
            m_i, p, alpha = weigh(s, m_i, scale)
            if not TWO_LOOPS:
                v = v_desc.load([batch, head // GROUP, j, 0]).reshape(TILE_N, D)
            l_i, acc = add_tile(p, alpha, v, l_i, acc)
        start, stop = split, end
    pass  # out, not divided by 0; its store; the store of lse


def in_boxes(x: torch.Tensor) -> torch.Tensor:
    """x itself if the copy engine can take boxes of it, else a copy."""
    apart = [stride * x.element_size() for stride in x.stride()[:-1]]
    legal = x.stride(-1) == 1 and x.data_ptr() % 16 == 0 and all(step > 0 and step % 16 == 0 for step in apart)
    return x if legal else x.clone(memory_format=torch.contiguous_format)


def attention_forward(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool, scale: float, *,
                      tiles: tuple[int, int] | None = None) -> tuple[torch.Tensor, torch.Tensor]:
    """(out, lse) by forward_kernel: attention, and the log-sum-exp of each query's scores, q . k * scale.

    q: (batch, heads, n_q, d), k, v: (batch, kv_heads, n_k, d), of one of DTYPES and any strides. d: 64 or 128.
    n_q, n_k: 0 or more. heads: a multiple of kv_heads. causal: query i sees keys 0 to i, else all. scale: above 0.
    A query that sees no key, or whose scores are all -inf: out 0, lse -inf. NaN in a score: NaN in out and lse.
    tiles: TILE_M and TILE_N, if not those of CONFIGS. out: the shape and dtype of q. lse: (batch, heads, n_q) float32.
    """
    (batches, heads, n_q, d), (_, kv_heads, n_k, _) = q.shape, k.shape
    out = torch.empty(q.shape, dtype=q.dtype, device=q.device)
    lse = torch.empty(q.shape[:3], dtype=torch.float32, device=q.device)
    if out.numel() == 0 or n_k == 0:  # no descriptor has a length of 0
        return out.zero_(), lse.fill_(-torch.inf)
    config = CONFIGS[d] | (dict(zip(("TILE_M", "TILE_N"), tiles)) if tiles else {})
    boxes = [TensorDescriptor.from_tensor(in_boxes(x), [1, 1, config[side], d])
             for x, side in ((q, "TILE_M"), (k, "TILE_N"), (v, "TILE_N"), (out, "TILE_M"))]
    forward_kernel[(triton.cdiv(n_q, config["TILE_M"]), heads, batches)](
        *boxes, lse, n_q, n_k, scale * LOG2_E, GROUP=heads // kv_heads, CAUSAL=causal, D=d, **config)
    return out, lse


# Task 3
def block_gradients(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, d_out: torch.Tensor, lse: torch.Tensor,
                    delta: torch.Tensor, hidden: torch.Tensor, scale: float) -> tuple[torch.Tensor, ...]:
    """(dq, dk, dv): what some keys add to the gradients of some queries, and these queries to those of the keys.

    q, d_out: (..., rows, d), k, v: (..., keys, d), lse, delta: (..., rows, 1). hidden: (rows, keys), True where a query
    does not see a key: its weight is 0. x.mT swaps the last two axes; x.masked_fill(hidden, 0.0) is x with zeros there.
    """
    raise NotImplementedError("week3/day7 task 3: block_gradients")


# Task 4
def blocks(n_q: int, n_k: int, rows: int, causal: bool, device: torch.device) -> Iterator[tuple]:
    """For each block of `rows` queries: the slice of queries, the slice of keys that one of them sees, hidden."""
    for first in range(0, n_q, rows):
        last = min(first + rows, n_q)
        end = min(last, n_k) if causal else n_k
        query, key = torch.arange(first, last, device=device), torch.arange(end, device=device)
        yield slice(first, last), slice(end), (key > query[:, None]) & causal


def attention_backward(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, o: torch.Tensor, lse: torch.Tensor,
                       d_out: torch.Tensor, causal: bool, scale: float, *, rows: int = ROWS
                       ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """(dq, dk, dv), of the shapes and dtype of q, k and v, `rows` queries at a time.

    Arguments as those of attention_forward, of any float dtype; o, lse: what it returned. d_out: the gradient of o.
    A query whose scores are all -inf, with lse -inf, may get NaN: only infinite numbers in q or k can make one.
    Given: all in float32 at least, k and v repeated for each query head, gradients of zeros. x.unflatten(1, (2, 3))
    makes an axis of 2 and one of 3 of axis 1, which had 6: index 4 becomes [1, 1]. x[..., None]: one more axis, of 1.
    """
    group, dtype = q.shape[1] // k.shape[1], q.dtype
    q, k, v, o, d_out = (x.to(torch.promote_types(dtype, torch.float32)) for x in (q, k, v, o, d_out))
    k, v = (x.repeat_interleave(group, 1) for x in (k, v))
    dq, dk, dv = (torch.zeros_like(x) for x in (q, k, v))
    raise NotImplementedError("week3/day7 task 4: attention_backward")


def saved_bytes(batches: int, heads: int, n_q: int) -> int:
    """Bytes that flash_attention saves for its backward, beside q, k, v and the result."""
    raise NotImplementedError("week3/day7 task 4: saved_bytes")


class FlashAttention(torch.autograd.Function):
    """flash_attention for autograd."""

    @staticmethod
    def forward(ctx, q, k, v, causal, scale):
        """The attention alone. What the backward needs is saved: save_for_backward keeps tensors, ctx the rest."""
        attention = attention_forward if q.dtype in DTYPES else toy_block.forward_in_pytorch
        out, lse = attention(q, k, v, causal, scale)
        ctx.save_for_backward(q, k, v, out, lse)
        ctx.causal, ctx.scale = causal, scale
        return out

    @staticmethod
    def backward(ctx, d_out):
        """A gradient for each argument of forward, None for causal and scale."""
        return *attention_backward(*ctx.saved_tensors, d_out, ctx.causal, ctx.scale), None, None


def flash_attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool = False,
                    scale: float | None = None) -> torch.Tensor:
    """Attention with gradients. Arguments as those of attention_forward; scale: 1 / sqrt(d) if None."""
    return FlashAttention.apply(q, k, v, causal, q.shape[-1] ** -0.5 if scale is None else scale)


def loss_curve(steps: int, *, eager: bool = False) -> list[float]:
    """The loss of each step of toy_block's training, with flash_attention or with attention that stores its scores."""
    return toy_block.losses(toy_block.eager_attention if eager else flash_attention, steps)
