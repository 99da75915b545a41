"""Week 3, day 3: a stable softmax

Challenge
    Yesterday's softmax broke on large scores, although only their differences count. Take a row's largest score off
    first, tasks 1 and 2. In a second sitting put it all into one kernel, which reads and writes each row once.

                 scores            m        score - m          exp(score - m)         l      m + log(l)
              2    0    1    3     3     -1  -3  -2   0     .368  .050  .135  1     1.553       3.440
            102  100  101  103   103     -1  -3  -2   0     .368  .050  .135  1     1.553     103.440
           -198 -200 -199 -197  -197     -1  -3  -2   0     .368  .050  .135  1     1.553    -196.560
           -inf -inf -inf -inf  -inf    (take off 0 here)      0     0     0  0       0         -inf

    The weights are exp(score - m) / l: .237 .032 .087 .644 three times. In the last row no key counts: 0 0 0 0.

Explore
    ./course python -c "import numpy as np; s = np.float32([102, 100, 101, 103]); print(np.exp(s), np.exp(s - 103))"
    NumPy warns of what overflows. What would 90 in place of 103 give? 300, -inf? Which numbers are safe for every row?
    ./course week3/day3/explore_stable_softmax.py    Try them out: what you take off cancels, as long as all fits.

Concept
    Row maximum m: exp(score) is exp(m) * exp(score - m), and exp(m) cancels in a weight. exp(score - m) is at most 1,
    so nothing overflows. For the largest score it is 1, so the sum l lies between 1 and n, the length of the row.
    Log-sum-exp: log(sum of exp(score)) is m + log(l). For 102 100 101 103 it is 103 + log(1.553) = 103.440, while
    exp(103) is no float32. It tells how large a row is: at least m, at most m + log(n).
    All scores -inf: then m is -inf, and -inf - -inf is NaN. Take 0 off instead: each exponential is 0, and so is l.
    The log-sum-exp needs no more: np.log(0) is -inf, right, though NumPy warns. A softmax divides by 1 where l is 0.
    A score of inf: its log-sum-exp is inf, but inf - inf is NaN. So the guards differ: logsumexp takes 0 off unless
    np.isfinite(m), a softmax only where m is -inf. A row with inf then has weights NaN, as has one with NaN.
    NumPy: scores.max(axis=-1, keepdims=True, initial=-np.inf) is m of each row, as a column; -inf where a row has no
    score. np.where(condition, a, b) chooses element by element; a plain 1 in it has the dtype of the other, np.ones(3)
    is float64. x.squeeze(-1) drops the last axis, of length 1; x.squeeze() would drop every axis of length 1.

    In a kernel a program has one row, in one block: col = tl.arange(0, BLOCK_N). triton.next_power_of_2(5) is 8. Where
    n is 5, the 3 places too many are loaded as other=float("-inf"): never the maximum, and nothing in the sum.
    tl.max(x, axis=0) and tl.sum(x, axis=0) are one number; tl.exp, tl.log and tl.where work as in NumPy.
    tl.max passes over a NaN: of -inf, NaN, -inf it is -inf, but l is NaN. So l, not m, tells which rows have weights 0.
    Precision: float16 has three digits. x.to(tl.float32) after the load makes float32 of all that follows. Write it,
    though here m would do so too: tl.max makes float32 of float16, tl.sum does not. A tl.store rounds by itself.
    Row stride: row i begins at i * row_stride, scores.stride(0); out has its own. Beyond 2**31 elements that product
    needs 64 bits, and so does one of its factors: tl.program_id(0).to(tl.int64) * row_stride.
    Registers hold a row from load to store. With 32 numbers a thread has enough of them: warps_for(block_n), given, is
    the number of warps for it, by the block's length, not the row's. num_warps=8 in a launch asks for 8. Beyond 32768
    some numbers of a row have no register and go through memory: slower, still right. Day 5 cuts such rows into blocks.
    Log-softmax: log(weight) is (score - m) - log(l), with both guards. Not the logarithm of the weight: exp(-200) is 0,
    and log(0) -inf. Not score - lse either: at 10003.44 the numbers of float32 are 0.001 apart, and lse is rounded.
    Traffic: as five operations (maximum, difference, exp, sum, quotient), each a launch that reads its operands and
    writes its result, a softmax moves 8 numbers for each score, and some for each row. One kernel: once in, once out.

Code it
    Task 1  logsumexp: of any scores, in NumPy                                              (four lines)
    Task 2  stable_softmax: rows of weights, in NumPy                                       (four lines)
    Task 3  softmax_kernel, launch_rows: the same, a program for each row                 (eleven lines)
    Task 4  log_softmax_kernel: logarithms of weights, without losing any                  (eight lines)
    Task 5  predict_traffic, predict_separate: one kernel against five                      (two lines)

Verify
    pytest week3/day3                  then: ./course quiz week3/day3
    Reflect: a row arrives in two halves. Which two numbers of each half do you need for the log-sum-exp of the whole?

Simulated without a GPU: results, bounds and bytes are exact. The compiler is the real one. Time is not simulated.
"""

import tools.gpu  # a real GPU or a simulated one; before triton

from collections.abc import Callable

import numpy as np
import torch
import triton
import triton.language as tl


# Task 1
def logsumexp(scores: np.ndarray) -> np.ndarray:
    """The log-sum-exp of each row, (...), in the dtype of scores.

    scores: (..., n), float32 or float64; a row lies along the last axis. There may be no row. A row of no score, or of
    -inf alone, gives -inf; a row with inf gives inf, one with NaN gives NaN.
    Each call of NumPy takes all rows, in the dtype of scores. Exponentials, maxima and sums are computed once each.
    """
    raise NotImplementedError("week3/day3 task 1: logsumexp")


# Task 2
def stable_softmax(scores: np.ndarray) -> np.ndarray:
    """The weights of each row, (..., n), in the dtype of scores.

    scores: as for logsumexp; n may be 0 here too. A row of -inf alone has weights 0; one with inf or NaN, weights NaN.
    NumPy is called as there: for all rows, in their dtype, for each number once.
    """
    raise NotImplementedError("week3/day3 task 2: stable_softmax")


# Task 3
@triton.jit
def softmax_kernel(scores_ptr, out_ptr, n, row_stride, out_row_stride, BLOCK_N: tl.constexpr):
    pass  # the row of this program; load it; largest score, exponentials, sum; store the weights


def warps_for(block_n: int) -> int:
    """Warps of a program with a block of so many numbers: 32 for each thread, but at least 4 warps, at most 32. Given.

    4 is also what a launch takes that names no number of warps.
    """
    return min(max(block_n // (32 * 32), 4), 32)


def launch_rows(kernel: Callable, scores: torch.Tensor, out: torch.Tensor | None) -> torch.Tensor:
    """What `kernel` makes of each row: a program a row, in a block of the next power of two, in warps_for it.

    scores: (rows, n) float16, bfloat16 or float32, n >= 1, rows of any stride, the scores of a row side by side; not
    copied. rows may be 0: a grid of 0 programs launches nothing. out: like scores, with a row stride of its own;
    allocated if not given.
    """
    rows, n = scores.shape
    out = torch.empty((rows, n), dtype=scores.dtype, device=scores.device) if out is None else out
    raise NotImplementedError("week3/day3 task 3: launch_rows")


def row_softmax(scores: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    """The weights of each row by softmax_kernel, computed in float32. Given; arguments as for launch_rows.

    A row of -inf alone has weights 0; one with inf or NaN has weights NaN.
    """
    return launch_rows(softmax_kernel, scores, out)


# Task 4
@triton.jit
def log_softmax_kernel(scores_ptr, out_ptr, n, row_stride, out_row_stride, BLOCK_N: tl.constexpr):
    pass  # as in softmax_kernel, up to the sum; then the logarithms


def row_log_softmax(scores: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    """The logarithm of each weight by log_softmax_kernel, computed in float32. Given; arguments as for launch_rows.

    A row of -inf alone has -inf; one with inf or NaN has NaN.
    """
    return launch_rows(log_softmax_kernel, scores, out)


# Task 5
def predict_traffic(rows: int, n: int, itemsize: int) -> int:
    """Bytes that the programs of row_softmax load and store. itemsize: bytes of a score."""
    raise NotImplementedError("week3/day3 task 5: predict_traffic")


def predict_separate(rows: int, n: int, itemsize: int) -> int:
    """Bytes that the five operations of the lesson read and write, from the scores to the weights.

    The maximum and the sum of a row are one number each, as large as a score.
    """
    raise NotImplementedError("week3/day3 task 5: predict_separate")
