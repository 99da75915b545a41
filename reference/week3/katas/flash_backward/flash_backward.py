"""Week 3, kata: the backward of FlashAttention

Challenge
    Day 7 finds attention's gradients in PyTorch. Write kernels near cuDNN's speed: one has a tile of queries, for dq;
    one, in a second sitting (task 3), a tile of keys, for dk and dv. Neither stores weights; each sum has one owner.

        q = (1, 2, 0, 1), scale 1/2           key 0         key 1         key 2         key 3
            k                             (2, 1, 5, 0)  (-2, 1, 3, 0)  (1, 0, 0, 1)  (1, 2, 1, 1)
            s  = scale * q . k                  2             0             1             3       lse = 3.440
            p  = exp(s - lse)                 .237          .032          .087          .644      together 1
            v                                (1, 0)        (0, 1)        (1, 1)        (2, 0)     out = (1.612, .119)
            dp = d_out . v                      1             0             1             2       d_out = (1, 0)
            ds = p * (dp - delta)            -.145         -.052         -.053          .250      delta = 1.612

Explore
    ./course python -c "from torch import tensor as t; d = t([1., 0, 1, 2]); print(d - t([2., 0, 1, 3]).softmax(0) @ d)"
    dp less its mean. Which score should rise? If all values were (1, 1), what would be printed, and what is ds then?

Concept
    Day 7's formulas, for some queries and some keys, with lse and delta as columns:
        p = exp(scale * q @ k.T - lse)       dp = d_out @ v.T             dq = scale * ds @ k      a sum over keys
        delta: row sums of out * d_out       ds = p * (dp - delta)        dk = scale * ds.T @ q    a sum over queries
                                                                          dv = p.T @ d_out         a sum over queries
    delta is the mean of dp, weighted with p: .237 * 1 + .032 * 0 + .087 * 1 + .644 * 2 = 1.612. A score with a dp above
    the mean should rise. out . d_out is the same number without any weight; both kernels load delta. In float16 no
    product may be above 65504: first x.to(tl.float32), then tl.sum(x * y, 1), the sum of each row.
    Two kernels: who owns a tile of the result adds it up in registers, and stores it once: always the same bits. The
    price: s and dp are computed in both, and one kernel would compute them once. But that one adds parts of dq to
    memory by atomics: programs wait for each other, and their order differs from run to run. On an H100 it had .61 to
    .69 of cuDNN's speed at d = 128, two kernels like these .77 to .78 (November 2026).
    Turned: the left matrix of tl.dot may stay in registers; in p.T @ d_out it is p.T. So keys_kernel computes p and dp
    turned from the start, with a row for each key: tl.dot(k, q.T) is s.T. lse and delta are rows then: lse[None, :].
    At d = 128 a thread has few registers left: in the order p, dv, ds, dk the fewest tiles are in use at once.
    Heads: GROUP heads of queries, one after the other, share a key head. With GROUP = 3, key head 1 is that of
    heads 3, 4 and 5; dk and dv are sums over the queries of all three. `head` uses key head head // GROUP.
    Hidden keys: p = tl.where(seen, p, 0.0), not p * seen: exp of a score far above lse is infinite, times 0 NaN.
    Past the end, boxes hold zeros. Queries there have p = 0, for of_rows gives them lse = infinity. Keys there have
    s = 0 and p = exp(-lse): at lse = -17 ds can be infinite in float16, and infinity times a key of 0 is NaN. So
    queries_kernel hides these keys; keys_kernel need not, for no store keeps their rows of dk and dv.
    Causal: query i sees keys 0 to i. Tiles that are hidden as a whole are left out. With TILE_M = 32, queries 0 to 79
    see none of keys 80 to 95, and query 80 is in the tile of queries 64 to 95: the loop over queries begins at 64. From
    query 95 on all see all of these keys. You may spare the time of tl.where there by an `if`, as for keys before
    `whole`; no test asks for it. If TILE_M is less than TILE_N, several tiles of queries see a part of a tile of keys.
    Powers of 2: exp(x) is exp2(x * LOG2_E). of_rows has multiplied lse by LOG2_E; s = q @ k.T, without a scale, still
    needs both factors: p = tl.exp2(s * (scale * LOG2_E) - lse[:, None]).
    16 bits: tl.dot(ds.to(k.dtype), k, dq) multiplies in 16 bits and adds to dq in float32. p likewise. Behind the loop
    a sum is multiplied by scale, rounded, and stored as a box of 1 x 1 x TILE_M x D:
    dq_desc.store([batch, head, row, 0], (dq * scale).to(dq_desc.dtype).reshape(1, 1, TILE_M, D)).

Code it
    Task 1  delta_kernel: one number for each query                                               (three lines)
    Task 2  queries_kernel: dq of a tile of queries, key tile after key tile            (ten to thirteen lines)
    Task 3  keys_kernel: dk and dv of a tile of keys, from all heads that share it (sixteen or seventeen lines)
    Task 4  predict_flops, predict_peak: the price and the memory, before you look                  (two lines)

Verify
    pytest week3/katas/flash_backward            then: ./course quiz week3/katas/flash_backward
    Reflect: queries_kernel has d_out in registers. Could it find delta, too? What would be saved, and who waits then?

Simulated without a GPU: results, bytes and tiles are exact, and the compiler is the real one. Time is not simulated.
"""

import tools.gpu  # a real GPU or a simulated one; before triton

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

LOG2_E = tl.constexpr(1.4426950408889634)  # exp(x) = exp2(x * LOG2_E)
CONFIG = {"TILE_M": 64, "TILE_N": 64, "num_warps": 4, "num_stages": 2}  # TILE_M queries, TILE_N keys
LONGER = CONFIG | {"TILE_M": 128}                                       # of queries_kernel where d is 64


# Given: the forward
def attention_forward(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool, scale: float
                      ) -> tuple[torch.Tensor, torch.Tensor]:
    """(out, lse) as a FlashAttention kernel returns them; here with all scores in memory.

    q: (batches, heads, n_q, d), k, v: (batches, kv_heads, n_k, d). out: like q. lse: (batches, heads, n_q) float32.
    A query whose scores are all -inf, or that sees no key: out 0, lse -inf.
    """
    k, v = (x.repeat_interleave(q.shape[1] // k.shape[1], 1).float() for x in (k, v))
    s = scale * q.float() @ k.mT
    if causal:
        query, key = (torch.arange(n, device=q.device) for n in s.shape[2:])
        s = s.masked_fill(key > query[:, None], -torch.inf)
    lse = s.logsumexp(-1)
    p = torch.exp(s - lse.masked_fill(lse == -torch.inf, 0.0)[..., None])
    return (p @ v).to(q.dtype), lse


def boxes(x: torch.Tensor, rows: int) -> TensorDescriptor:
    """Boxes of so many rows of x, or of a copy of it where its strides are none that the copy engine takes."""
    apart = [stride * x.element_size() for stride in x.stride()[:-1]]
    legal = x.stride(-1) == 1 and x.data_ptr() % 16 == 0 and all(step > 0 and step % 16 == 0 for step in apart)
    x = x if legal else x.clone(memory_format=torch.contiguous_format)
    return TensorDescriptor.from_tensor(x, [1, 1, rows, x.shape[-1]])


# Task 1
@triton.jit
def delta_kernel(out_desc, d_out_desc, delta_ptr, n_q, D: tl.constexpr, TILE_M: tl.constexpr):
    row, head, batch = tl.program_id(0) * TILE_M, tl.program_id(1), tl.program_id(2)
    rows = row + tl.arange(0, TILE_M)
    delta_ptr += (batch * tl.num_programs(1) + head).to(tl.int64) * n_q  # of this head; int32 ends at 2**31
    out = out_desc.load([batch, head, row, 0]).reshape(TILE_M, D).to(tl.float32)
    d_out = d_out_desc.load([batch, head, row, 0]).reshape(TILE_M, D).to(tl.float32)
    tl.store(delta_ptr + rows, tl.sum(out * d_out, 1), mask=rows < n_q)


def find_delta(o: torch.Tensor, d_out: torch.Tensor, *, tile_m: int = 64) -> torch.Tensor:
    """delta, (batches, heads, n_q) float32, by delta_kernel. o, d_out: (batches, heads, n_q, d) in 16 bits. Given."""
    batches, heads, n_q, d = o.shape
    delta = torch.empty(o.shape[:3], dtype=torch.float32, device=o.device)
    if o.numel():  # no descriptor has a length of 0
        delta_kernel[(triton.cdiv(n_q, tile_m), heads, batches)](
            boxes(o, tile_m), boxes(d_out, tile_m), delta, n_q, D=d, TILE_M=tile_m)
    return delta


# Task 2
@triton.jit
def of_rows(lse_ptr, delta_ptr, head, rows, n_q):
    """(lse in powers of 2, delta) of these queries; head counts through all batches. Given.

    Past the last query, and where no score is above -inf, lse is infinite: exp2(s - infinity) is 0.
    """
    places = head.to(tl.int64) * n_q + rows  # int32 ends at 2**31
    lse = tl.load(lse_ptr + places, mask=rows < n_q, other=float("inf"))
    lse = tl.where(lse == -float("inf"), float("inf"), lse)
    return lse * LOG2_E, tl.load(delta_ptr + places, mask=rows < n_q, other=0.0)


@triton.jit
def queries_kernel(q_desc, k_desc, v_desc, d_out_desc, dq_desc, lse_ptr, delta_ptr, n_q, n_k, scale,
                   GROUP: tl.constexpr, CAUSAL: tl.constexpr, D: tl.constexpr, TILE_M: tl.constexpr,
                   TILE_N: tl.constexpr):
    """dq of a tile of queries of one head."""
    row = (tl.num_programs(0) - 1 - tl.program_id(0)) * TILE_M  # the last rows first: causal, they take longest
    head, batch = tl.program_id(1), tl.program_id(2)
    rows = row + tl.arange(0, TILE_M)
    lse, delta = of_rows(lse_ptr, delta_ptr, batch * tl.num_programs(1) + head, rows, n_q)
    q = q_desc.load([batch, head, row, 0]).reshape(TILE_M, D)
    d_out = d_out_desc.load([batch, head, row, 0]).reshape(TILE_M, D)
    end = min(n_k, row + TILE_M) if CAUSAL else n_k  # no query of the tile sees a key from here on
    whole = min(n_k, row + 1) if CAUSAL else n_k     # each of them sees all keys before this one
    dq = tl.zeros((TILE_M, D), tl.float32)
    for col in range(0, end, TILE_N):
        k = k_desc.load([batch, head // GROUP, col, 0]).reshape(TILE_N, D)
        v = v_desc.load([batch, head // GROUP, col, 0]).reshape(TILE_N, D)
        p = tl.exp2(tl.dot(q, k.T) * (scale * LOG2_E) - lse[:, None])
        if col + TILE_N > whole:
            cols = col + tl.arange(0, TILE_N)[None, :]
            p = tl.where((cols < n_k) & (cols <= rows[:, None]) if CAUSAL else cols < n_k, p, 0.0)
        ds = p * (tl.dot(d_out, v.T) - delta[:, None])
        dq = tl.dot(ds.to(k.dtype), k, dq)
    dq_desc.store([batch, head, row, 0], (dq * scale).to(dq_desc.dtype).reshape(1, 1, TILE_M, D))


def find_dq(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, d_out: torch.Tensor, lse: torch.Tensor,
            delta: torch.Tensor, causal: bool, scale: float, *, tiles: tuple[int, int] | None = None) -> torch.Tensor:
    """dq by queries_kernel, like q. Arguments as those of attention_backward; tiles: (TILE_M, TILE_N). Given."""
    (batches, heads, n_q, d), (_, kv_heads, n_k, _) = q.shape, k.shape
    dq = torch.empty(q.shape, dtype=q.dtype, device=q.device)
    if dq.numel() == 0 or n_k == 0:
        return dq.zero_()
    config = (LONGER if d == 64 else CONFIG) | (dict(zip(("TILE_M", "TILE_N"), tiles)) if tiles else {})
    m, n = config["TILE_M"], config["TILE_N"]
    queries_kernel[(triton.cdiv(n_q, m), heads, batches)](
        boxes(q, m), boxes(k, n), boxes(v, n), boxes(d_out, m), boxes(dq, m), lse, delta, n_q, n_k, scale,
        GROUP=heads // kv_heads, CAUSAL=causal, D=d, **config)
    return dq


# Task 3
@triton.jit
def keys_kernel(q_desc, k_desc, v_desc, d_out_desc, dk_desc, dv_desc, lse_ptr, delta_ptr, n_q, scale,
                GROUP: tl.constexpr, CAUSAL: tl.constexpr, D: tl.constexpr, TILE_M: tl.constexpr,
                TILE_N: tl.constexpr):
    """dk and dv of a tile of keys of one key head, from the queries of the GROUP heads that share it."""
    col, kv_head, batch = tl.program_id(0) * TILE_N, tl.program_id(1), tl.program_id(2)
    heads = tl.num_programs(1) * GROUP  # of queries; of_rows takes batch * heads + head
    cols = col + tl.arange(0, TILE_N)
    k = k_desc.load([batch, kv_head, col, 0]).reshape(TILE_N, D)
    v = v_desc.load([batch, kv_head, col, 0]).reshape(TILE_N, D)
    dk = tl.zeros((TILE_N, D), tl.float32)
    dv = tl.zeros((TILE_N, D), tl.float32)
    first = col // TILE_M * TILE_M if CAUSAL else 0
    for head in range(kv_head * GROUP, kv_head * GROUP + GROUP):
        for row in range(first, n_q, TILE_M):
            rows = row + tl.arange(0, TILE_M)
            lse, delta = of_rows(lse_ptr, delta_ptr, batch * heads + head, rows, n_q)
            q = q_desc.load([batch, head, row, 0]).reshape(TILE_M, D)
            d_out = d_out_desc.load([batch, head, row, 0]).reshape(TILE_M, D)
            p = tl.exp2(tl.dot(k, q.T) * (scale * LOG2_E) - lse[None, :])
            if CAUSAL:
                if row < col + TILE_N:
                    p = tl.where(cols[:, None] <= rows[None, :], p, 0.0)
            dv = tl.dot(p.to(q.dtype), d_out, dv)
            ds = p * (tl.dot(v, d_out.T) - delta[None, :])
            dk = tl.dot(ds.to(q.dtype), q, dk)
    dk_desc.store([batch, kv_head, col, 0], (dk * scale).to(dk_desc.dtype).reshape(1, 1, TILE_N, D))
    dv_desc.store([batch, kv_head, col, 0], dv.to(dv_desc.dtype).reshape(1, 1, TILE_N, D))


def find_dk_dv(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, d_out: torch.Tensor, lse: torch.Tensor,
               delta: torch.Tensor, causal: bool, scale: float, *, tiles: tuple[int, int] | None = None
               ) -> tuple[torch.Tensor, torch.Tensor]:
    """(dk, dv) by keys_kernel, like k and v. Arguments as those of find_dq. Given."""
    (batches, heads, n_q, d), (_, kv_heads, n_k, _) = q.shape, k.shape
    dk, dv = (torch.empty(k.shape, dtype=q.dtype, device=q.device) for _ in range(2))
    if dk.numel() == 0 or n_q == 0:
        return dk.zero_(), dv.zero_()
    config = CONFIG | (dict(zip(("TILE_M", "TILE_N"), tiles)) if tiles else {})
    m, n = config["TILE_M"], config["TILE_N"]
    keys_kernel[(triton.cdiv(n_k, n), kv_heads, batches)](
        boxes(q, m), boxes(k, n), boxes(v, n), boxes(d_out, m), boxes(dk, n), boxes(dv, n), lse, delta, n_q, scale,
        GROUP=heads // kv_heads, CAUSAL=causal, D=d, **config)
    return dk, dv


# Given: all three, for autograd
def attention_backward(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, o: torch.Tensor, lse: torch.Tensor,
                       d_out: torch.Tensor, causal: bool, scale: float
                       ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """(dq, dk, dv), of the shapes and dtype of q, k and v.

    q, k, v, d_out: float16 or bfloat16, of any strides; d: 64 or 128; n_q, n_k: 0 or more; heads: a multiple of
    kv_heads. o, lse: what attention_forward returned. causal: query i sees keys 0 to i.
    A query without any weight (lse -inf) adds nothing. NaN in a query reaches dk and dv of all keys that it sees.
    """
    delta = find_delta(o, d_out)
    return (find_dq(q, k, v, d_out, lse, delta, causal, scale),
            *find_dk_dv(q, k, v, d_out, lse, delta, causal, scale))


class FlashAttention(torch.autograd.Function):
    """flash_attention for autograd."""

    @staticmethod
    def forward(ctx, q, k, v, causal, scale):
        out, lse = attention_forward(q, k, v, causal, scale)
        ctx.save_for_backward(q, k, v, out, lse)
        ctx.causal, ctx.scale = causal, scale
        return out

    @staticmethod
    def backward(ctx, d_out):
        return *attention_backward(*ctx.saved_tensors, d_out, ctx.causal, ctx.scale), None, None


def flash_attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool = False,
                    scale: float | None = None) -> torch.Tensor:
    """Attention with gradients. Arguments as those of attention_forward; scale: 1 / sqrt(d) if None."""
    return FlashAttention.apply(q, k, v, causal, q.shape[-1] ** -0.5 if scale is None else scale)


# Task 4
def predict_flops(batches: int, heads: int, n_q: int, n_k: int, d: int) -> int:
    """Multiplications and additions of all products in queries_kernel and keys_kernel, without a causal mask.

    n_q and n_k are multiples of the tiles. A product of an m x k and a k x n matrix takes 2 * m * n * k.
    """
    return 7 * batches * heads * 2 * n_q * n_k * d


def predict_peak(batches: int, heads: int, kv_heads: int, n_q: int, n_k: int, d: int) -> int:
    """Most bytes that attention_backward itself allocates at a time, for legal strides: 2 a number, 4 for float32.

    It is given o and lse, which do not count; delta lives until it returns.
    """
    return 2 * batches * d * (heads * n_q + 2 * kv_heads * n_k) + 4 * batches * heads * n_q
