"""Week 3, day 6: tiled attention

Challenge
    Compute attention without ever having all scores. Keys come in *tiles*, a few at a time. After each tile, the state
    of a query is m, its largest score so far; l, the sum of exp(score - m); and acc, the sum of exp(score - m) * value.
    First in PyTorch. In a second sitting, task 3 on, in one kernel, which leaves out tiles that a *causal* mask hides.

        q = (1, 2, 0, 1)      tile 0: keys 0, 1        tile 1: keys 2, 3
        scores                  2     0                  1     3
        m                       2                        3            alpha = exp(2 - 3) = .368
        exp(score - m)          1    .135               .135   1
        l                       1.135                   .368 * 1.135 + 1.135 = 1.553
        values                (1, 0) (0, 1)            (1, 1) (2, 0)
        acc                   (1, .135)                 .368 * (1, .135) + (2.135, .135) = (2.503, .185)
                                                        out = acc / l = (1.612, .119)

Explore
    ./course python -c "from math import exp; print(exp(2 - 2) + exp(0 - 2), exp(2 - 3) + exp(0 - 3))"
    l of tile 0, with m = 2 and with m = 3. Divide the second by the first: which number of the picture is it?
    ./course week3/day6/explore_tiled_attention.py    Which tiles does a causal mask spare?

Concept
    Attention: out = softmax(scores) @ v, with scores = scale * q @ k.T. One head today: q is (n_q, d), k is (n_k, d).
    State: m and l are columns, (n_q, 1), and acc is (n_q, d_v). When a larger score comes, m grows to m_new, and l and
    acc are multiplied by alpha = exp(m - m_new), as on day 5. x.amax(-1, keepdim=True) is the maximum of each row as a
    column, x.sum(-1, keepdim=True) the sum; a row and a column would make a matrix. torch.maximum(a, b) takes the
    larger of each two numbers, torch.exp(x) is exp of each. Divide by l once, at the end.
    Lowest: m begins with LOWEST, the lowest float32. If it began with -inf, a tile whose scores are all -inf would make
    -inf - -inf: NaN. A query whose scores are all -inf ends with l = 0; l.masked_fill(l == 0, 1.0) is l with 1 there,
    and out is 0. In a kernel tl.where(l == 0, 1.0, l) is the same.
    Memory: 8192 x 8192 scores in float32 take 268 MB. With 64 keys in a tile they take 8192 * 64 * 4 bytes = 2 MB.
    In a kernel they take none: a tile of scores stays in registers, until the next one takes its place.
    Kernel: a program has TILE_M queries, and walks over all keys, TILE_N in a tile. q, m, l and acc stay in registers.
    tl.max(x, 1, keep_dims=True) and tl.sum(...) give columns; tl.maximum(a, b) and tl.exp(x) are as in PyTorch. k.T
    turns a tile, tl.full(shape, value, tl.float32) fills one. tl.dot(p, v, acc * alpha, input_precision=PRECISION) adds
    the product to acc * alpha. PRECISION is "tf32x3", nearly float32: both products need it.
    Beyond the last key, v needs other=0.0: p is 0 there, but 0 times NaN is NaN. With other=0.0 for k, a score there is
    0, and its exp is not: tl.where(seen, scores, -float("inf")) hides it, before the maximum. seen, which scores count,
    is a row, (1, TILE_N); the mask of the loads is a column, (TILE_N, 1), of the same positions.
    Causal: query i sees keys 0 to i. 48 queries and 48 keys are 3 x 3 tiles of 16 x 16. The first queries need 16 keys,
    the next 32, the last 48: 6 tiles of 9. The loop of a program ends there, or with the last key or query if one
    comes first (min(a, b, c) works in a kernel), and the mask of its loads too: of 64 keys the first queries load 16. A
    key counts if it exists, as before, and a row of keys compared with a column of queries makes seen (TILE_M, TILE_N).
    Bytes: scores are never moved, out is stored once. But each program loads its keys and values: with 512 of each,
    d = 64 and TILE_M = 16, each of 32 programs loads 2 * 512 * 64 * 4 bytes, 8.4 MB in all; with TILE_M = 64, 8
    programs load 2.1 MB. Fewer bytes took longer: a kernel of this kind needed 20 microseconds with TILE_M = 16 and 40
    with 64, on an H100 (25 November 2026). 8 programs use 8 of its 132 SMs.

Code it
    Task 1  add_tile: the state of some queries after one tile more                      (four lines)
    Task 2  attention_by_tiles: all keys, in PyTorch                                      (six lines)
    Task 3  attention_kernel and attention: all keys, in Triton                       (twenty lines)
    Task 4  key_ends, and CAUSAL in the kernel: skip what is hidden as a whole           (four lines)
    Task 5  tiles_multiplied, predict_traffic: what the tests count                       (two lines)

Verify
    pytest week3/day6                  then: ./course quiz week3/day6
    Reflect: with CAUSAL every tile is compared and masked. Which tiles of a program hold no hidden score?

Simulated without a GPU: results, bytes and tiles are exact, and the compiler is the real one. Time is not simulated.
"""

import tools.gpu  # a real GPU or a simulated one; before triton

import torch
import triton
import triton.language as tl

LOWEST = tl.constexpr(-3.4028234663852886e38)  # of float32; LOWEST.value is the number outside of kernels
PRECISION = tl.constexpr("tf32x3")             # of both products: on tensor cores, nearly float32
TILE_M, TILE_N = 16, 64                        # queries of a program, keys of a tile


# Task 1
def before_any_key(n_q: int, d_v: int, like: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The state (m, l, acc) of n_q queries that have met no key yet, in the dtype of `like`."""
    m = torch.full((n_q, 1), LOWEST.value, dtype=like.dtype, device=like.device)
    return m, torch.zeros_like(m), torch.zeros((n_q, d_v), dtype=like.dtype, device=like.device)


def add_tile(m: torch.Tensor, l: torch.Tensor, acc: torch.Tensor, scores: torch.Tensor, v: torch.Tensor
             ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The new (m, l, acc), after the keys of one tile. The arguments stay as they are.

    m, l: (n_q, 1), acc: (n_q, d_v), the state before. scores: (n_q, keys), scaled. v: (keys, d_v), values of the tile.
    All float32; keys at least 1. Scores may be large, or -inf; a row of nothing but -inf keeps its state. A NaN or
    +inf makes l and acc of its own row NaN, whatever m is then. At most two calls of exp.
    """
    raise NotImplementedError("week3/day6 task 1: add_tile")


# Task 2
def attention_by_tiles(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *, scale: float | None = None,
                       tile_n: int = TILE_N) -> torch.Tensor:
    """softmax(scale * q @ k.T) @ v, (n_q, d_v), with tile_n keys in a tile; the last tile may have fewer.

    q: (n_q, d), k: (n_k, d), v: (n_k, d_v), float32. n_q and n_k may be 0. scale: 1 / sqrt(d) if None.
    A query whose scores are all -inf, or that has no key, gets zeros. At no time is there memory for more scores than
    those of a tile: twice as many keys take no byte more. q is scaled once, and the result divided once.
    """
    scale = q.shape[1] ** -0.5 if scale is None else scale
    raise NotImplementedError("week3/day6 task 2: attention_by_tiles")


# Task 3
@triton.jit
def attention_kernel(q_ptr, k_ptr, v_ptr, out_ptr, n_q, n_k, scale, CAUSAL: tl.constexpr, D: tl.constexpr,
                     TILE_M: tl.constexpr, TILE_N: tl.constexpr):
    """A tile of queries against all keys that at least one of them sees; task 3 without CAUSAL, task 4 with it.

    As in task 2, q is scaled once, and the result divided once: neither in each turn of the loop.
    """
    first = tl.program_id(0) * TILE_M
    row = first + tl.arange(0, TILE_M)[:, None]
    along = tl.arange(0, D)[None, :]  # element [row, along] of q lies at q_ptr + row * D + along
    q = tl.load(q_ptr + row * D + along, mask=row < n_q, other=0.0) * scale
    pass  # the state; all tiles of keys; divide and store


def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *, causal: bool = False, scale: float | None = None,
              tile_m: int = TILE_M, tile_n: int = TILE_N, out: torch.Tensor | None = None) -> torch.Tensor:
    """The same by attention_kernel, one program for each tile of queries: (n_q, d). Only out is allocated.

    q: (n_q, d), k, v: (n_k, d), float32, contiguous. n_q and n_k may be 0: a grid of 0 programs launches none, and
    needs no `if`.
    d, tile_m, tile_n: powers of two from 16.
    causal: query i sees keys 0 to i; all, if not. scale: 1 / sqrt(d) if None. out: like q, allocated if not given.
    """
    scale = q.shape[1] ** -0.5 if scale is None else scale
    out = torch.empty_like(q) if out is None else out
    raise NotImplementedError("week3/day6 task 3: attention")


# Task 4
def key_ends(n_q: int, n_k: int, tile_m: int, causal: bool) -> list[int]:
    """For each tile of queries, how many keys, from key 0 on, at least one of its queries sees.

    Of the last tile only the queries below n_q exist. n_q and n_k may be 0. They may differ, with causal too: of keys
    0 to i, query i sees those that exist.
    """
    raise NotImplementedError("week3/day6 task 4: key_ends")


# Task 5
def tiles_multiplied(n_q: int, n_k: int, tile_m: int, tile_n: int, causal: bool) -> int:
    """Pairs of a tile of queries and a tile of keys whose scores attention computes."""
    raise NotImplementedError("week3/day6 task 5: tiles_multiplied")


def predict_traffic(n_q: int, n_k: int, d: int, tile_m: int, causal: bool) -> int:
    """Bytes that the programs of attention load and store. What no query of a tile sees is not loaded."""
    raise NotImplementedError("week3/day6 task 5: predict_traffic")
