"""Week 3, day 5: online softmax

Challenge
    A softmax takes the maximum off each score, and knows it only at the end of the row. Read the row once all the same.
    Of the keys that have passed, keep the largest score m, the sum l of exp(score - m), and the sum acc of
    exp(score - m) * value; and mend l and acc when a larger score comes. By hand first; in a second sitting on a GPU.

        score    value        m    alpha        l                               acc
                            -inf                0                           (    0,    0)
          2     (1, 0)        2        0        0 *    0 +    1 =     1     (    1,    0)
          0     (0, 1)        2        1        1 *    1 + .135 = 1.135     (    1, .135)
          1     (1, 1)        2        1    1.135 *    1 + .368 = 1.503     (1.368, .503)
          3     (2, 0)        3     .368    1.503 * .368 +    1 = 1.553     (2.503, .185)
        output: acc / l = (1.612, .119)    log-sum-exp: m + log(l) = 3 + log(1.553) = 3.440

Explore
    ./course week3/day5/explore_online_softmax.py    In which order of the scores is l never rescaled?
    ./course python -c "from math import exp; print(exp(2-3)+exp(0-3)+exp(1-3), (1 + exp(0-2) + exp(1-2)) * exp(2-3))"
    The scores 2 0 1 with 3 taken off, summed in two ways. Which of the two can do without the scores?

Concept
    State: (m, l) or (m, l, acc), of any keys. For the scores 2 and 0, m = 2 and l = 1 + exp(-2) = 1.135. Its results
    are the output, the sum of all values weighted by the softmax, and the log-sum-exp, here log(exp(2) + exp(0)).
    Rescaling: exp(score - m_new) is exp(score - m) * exp(m - m_new). The last factor, alpha, is the same for all keys,
    so l * alpha and acc * alpha are the sums with m_new taken off. alpha is at most 1: nothing overflows.
    Merge: of two parts, m is the larger of m_a and m_b. Each part's l and acc are multiplied by a factor of its own,
    exp(m_a - m) or exp(m_b - m), and added. (2, 1.135) and (3, 1.135) make (3, 1.135 * .368 + 1.135 * 1) = (3, 1.553).
    But for rounding, merge is *associative*: merge(merge(a, b), c) equals merge(a, merge(b, c)); and *commutative*:
    merge(a, b) equals merge(b, a). So a row may be cut anywhere, and its parts be computed and merged in any order.
    Nothing has the state (-inf, 0, zeros), and what is merged with it stays what it is. A score of -inf hides its key,
    and keys that are all hidden count as nothing. Then take off 0, not m: -inf - -inf is NaN, exp(-inf - 0) is 0.
    At the end, l = 0 says that no key was seen: the output is zeros, and the log-sum-exp -inf, by agreement.
    NumPy: np.exp, np.log, p.sum(); scores.max(initial=-np.inf) is -inf without scores; p @ values adds up p * values.
    In a kernel: a loop over blocks of scores s carries m, l and acc. They begin as -float("inf"), 0.0 (0 would be an
    integer) and tl.zeros((BLOCK_D,), dtype=tl.float32). tl.max(s) is one number, tl.maximum(x, y) the larger of two.
    So m_new is one number for a block; one for each place would cost another exponential a score. p = tl.exp(s - m_new)
    needs no factor, the sum so far does: l * alpha + tl.sum(p). Here too take off 0 where m_new is -inf: tl.where.
    With v, a tile with a row for each key, tl.sum(p[:, None] * v, axis=0) is p @ v. Places beyond the row hold -inf in
    s, 0 in v: p is 0 there, but 0 * NaN is NaN. s and v, loaded in their dtypes, become float32 by .to(tl.float32).
    Divide by l once, at the end; where l == 0, by 1. Do not ask l > 0: NaN > 0 is False. tl.log(0.0) is -inf.
    Reads: maximum, sum and weights, one by one, read a row three times; m and l together read it once, and
    exp(score - m) / l once more. Not exp(score - lse): rounded in float32, an lse of 1000 is off by up to 3e-5.
    Cache: read first to last both times. In a tl.load eviction_policy="evict_last" asks L2 to keep what is read, as the
    first read does, and "evict_first" to throw it out soon, as the second does. A plain cache throws out what is *least
    recently used*: with room for 3 of a row's 5 scores it is left with 2 3 4. Read again first to last, score 0 pushes
    out score 2, ...: none is found; last to first, 4 3 2 are. L2, which many rows share, is no plain cache. On an H100,
    2048 rows of 131072 float16 reach .88 of a copy's speed first to last, .86 last to first, .73 without policies; rows
    of 200000 .68 and .72 with them: 132 SMs, a program each, have 53 MB under way, and L2 has 50 MB.

Code it
    Task 1  part, logsumexp, output: the state of some keys, and its results               (seven lines)
    Task 2  merge, walk: one state of two; a row, block after block                         (nine lines)
    Task 3  attend_kernel: output and log-sum-exp in one read                            (fifteen lines)
    Task 4  softmax_kernel: rows of any width in two reads                               (thirteen lines)

Verify
    pytest week3/day5                  then: ./course quiz week3/day5
    Reflect: one query, a million keys: attend lets one program work. How could 132 share it, and with which function?

Simulated without a GPU: results and bytes are exact, and the compiler is the real one. Time is not simulated.
"""

import tools.gpu  # a real GPU or a simulated one; before triton

import numpy as np
import torch
import triton
import triton.language as tl

BLOCK_N = 64    # keys that a program of attend takes at a time
BLOCK = 32768   # scores that a program of softmax takes at a time: an SM has room for one such program

State = tuple   # (m, l), or (m, l, acc)


# Task 1
def part(scores: np.ndarray, values: np.ndarray | None = None) -> State:
    """The state of some keys, computed at once: (m, l), and if there are values (m, l, acc).

    scores: (n,) float64, each finite or -inf. values: (n, d_v) float64, finite; acc is (d_v,). n may be 0.
    No score, or none above -inf: m is -inf, l is 0, and acc is zeros.
    """
    raise NotImplementedError("week3/day5 task 1: part")


def logsumexp(state: State) -> float:
    """The logarithm of the sum of exp(score); -inf where l is 0."""
    raise NotImplementedError("week3/day5 task 1: logsumexp")


def output(state: State) -> np.ndarray:
    """The values, summed with the softmax of the scores as weights: (d_v,), from (m, l, acc); zeros where l is 0."""
    raise NotImplementedError("week3/day5 task 1: output")


# Task 2
def merge(a: State, b: State) -> State:
    """The state of the keys of both parts, from their states alone; (m, l) of two (m, l), (m, l, acc) of two of these.

    Either or both may be the state of nothing, or of scores that are all -inf. Both stay as they are.
    """
    raise NotImplementedError("week3/day5 task 2: merge")


def walk(scores: np.ndarray, values: np.ndarray, block: int) -> list[State]:
    """The states (m, l, acc) on the way: of nothing, then of the first block keys, of the first 2 * block, ..., of all.

    scores, values: as for part. block: 1 or more; the last block may be shorter. Each score is looked at once.
    Where n is 0, there is one state, that of nothing.
    """
    raise NotImplementedError("week3/day5 task 2: walk")


# Task 3
@triton.jit
def attend_kernel(scores_ptr, values_ptr, out_ptr, lse_ptr, n, d_v, BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    col = tl.arange(0, BLOCK_D)
    pass  # m, l, acc; blocks of keys; two stores


def attend(scores: torch.Tensor, values: torch.Tensor, *, block_n: int = BLOCK_N) -> tuple[torch.Tensor, torch.Tensor]:
    """For each row: its values, summed with the softmax of its scores as weights, and its log-sum-exp. A program a row.

    Contiguous, each float32, float16 or bfloat16: scores (rows, n), values (rows, n, d_v), d_v at least 1, and n * d_v
    below 2**31. rows and n may be 0. A row without a score above -inf: zeros and -inf. A NaN or inf among its scores:
    NaN and NaN. inf needs no line of its own: inf - inf is NaN, and so is l. (Day 3 has a log-sum-exp of inf there.)
    block_n: a power of two. Returns out, (rows, d_v), in the dtype of values, and lse, (rows,) float32.
    """
    rows, n, d_v = values.shape
    out = torch.empty((rows, d_v), dtype=values.dtype, device=values.device)
    lse = torch.empty(rows, dtype=torch.float32, device=values.device)
    attend_kernel[(rows,)](scores, values, out, lse, n, d_v, BLOCK_N=block_n, BLOCK_D=triton.next_power_of_2(d_v))
    return out, lse


# Task 4
@triton.jit
def softmax_kernel(x_ptr, out_ptr, n, x_row_stride, out_row_stride, BLOCK: tl.constexpr):
    x_ptr += tl.program_id(0).to(tl.int64) * x_row_stride
    out_ptr += tl.program_id(0).to(tl.int64) * out_row_stride
    pass  # first read: m, l; second read: the weights


def softmax(x: torch.Tensor, *, block: int = BLOCK, out: torch.Tensor | None = None) -> torch.Tensor:
    """The softmax of each row of x by softmax_kernel, a program a row; computed in float32.

    x: (rows, n), float32, float16 or bfloat16, rows of any stride, the scores of a row side by side; rows and n may be
    0. A row of -inf alone becomes zeros. A NaN or inf makes its own row NaN. block: a power of two.
    out: likewise, in the dtype of x, allocated if not given. The first read loads with "evict_last" (LDG.E.EL in
    machine code), the second, in whichever order, with "evict_first" (LDG.E.EF).
    """
    rows, n = x.shape
    out = torch.empty((rows, n), dtype=x.dtype, device=x.device) if out is None else out
    softmax_kernel[(rows,)](x, out, n, x.stride(0), out.stride(0), BLOCK=block, num_warps=32)
    return out
