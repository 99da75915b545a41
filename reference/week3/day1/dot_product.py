"""Week 3, day 1: similarity (the dot product)

Challenge
    A *query* asks and *keys* answer: which key is most like the query? Measure it by hand, in two ways that can
    disagree. Then ask any number of keys by a kernel that reads each once; in a second sitting, task 4, in both ways.

        q  = ( 1, 2, 0, 1)     score: q . key           length     cosine
        k0 = ( 2, 1, 5, 0)      2 + 2 + 0 + 0 = 4        5.48       0.30     program 0
        k1 = (-2, 1, 3, 0)     -2 + 2 + 0 + 0 = 0        3.74       0.00     program 0
        k2 = ( 1, 0, 0, 1)      1 + 0 + 0 + 1 = 2        1.41       0.58     program 1
        k3 = ( 1, 2, 1, 1)      1 + 4 + 0 + 1 = 6        2.65       0.93     program 1

Explore
    ./course python -c "import numpy as np; print(np.array([[2, 1, 5, 0], [1, 0.5, 2.5, 0]]) @ [1, 2, 0, 1])"
    The score of k0, and of half of k0: predict it. What becomes of the cosine when a key is halved?
    ./course week3/day1/explore_dot_product.py    Turn and stretch a key: which others have its score, which its cosine?

Concept
    Dot product: multiply element by element and add up. It is large where two vectors are long and point the same
    way, 0 at a right angle, and negative where they point apart. The score of a key is its dot product with the query.
    Length: the root of a vector's dot product with itself. That of q is sqrt(1 + 4 + 0 + 1) = 2.45.
    Cosine: the score divided by both lengths. Only directions count, and it lies between -1 and 1. For k0 it is
    4 / (2.45 * 5.48) = 0.30. Its score is twice that of k2 because k0 is long; k2 points more the way that q does.
    Zero vectors have no direction: 0 / 0 is an error in Python, and NaN in a kernel. Their cosine is 0 here, by
    agreement. A vector with NaN or infinity in it has the cosine NaN, even with a zero vector: so somebody notices.
    0 * NaN and 0 * infinity are NaN, and the product of both lengths carries it on; a length of 0 alone does not.
    Range: a float ends at 1.8e308. For two vectors of length 1e100 the product of x . x and y . y is 1e400, which is
    infinite, and the root of it too. Take both roots first: 1e100 * 1e100 is harmless. At the other end 1e-400 becomes
    0; and a vector of length 1e-100 is short, but no zero vector. float32 goes from 1.4e-45 to 3.4e38.

    In a kernel: a program has BLOCK_N keys and takes BLOCK_D elements of each at a time, as a tile with a row for each
    key. query[None, :] * keys multiplies every row by the query, and tl.sum(tile, axis=1) adds up each row: one
    number for each key, added to an accumulator of tl.zeros((BLOCK_N,), dtype=tl.float32). A row may be longer than
    any tile can be. In task 4 tl.sum(x) of one vector is one number, and its accumulator begins as 0.0.
    A tile has the places row_begin[:, None] + col[None, :], and the mask rows_exist[:, None] & cols_exist[None, :].
    Places that do not exist, beyond the last key or the last element, are loaded as 0.0 with other=0.0 and add nothing.
    Row stride, keys.stride(0): keys can be a part of something larger, such as every second row. Element [i, p] lies
    at i * row_stride + p. Beyond 2**31 elements that product needs 64 bits: row.to(tl.int64) * row_stride.
    Precision: float16 ends at 65504, and 200 * 400 does not fit. Convert what was loaded, x.to(tl.float32), then
    multiply: on float32 it does nothing. tl.sqrt(x) takes float32; tl.where(condition, a, b) chooses place by place.
    Traffic: one program needs a key, but all need the query. With one key a program it is half of what is loaded.

Code it
    Task 1  dot, cosine, nearest: by hand, with Python's lists                              (six lines)
    Task 2  scores_kernel, scores: a tile of keys against the query, step by step of d   (thirteen lines)
    Task 3  predict_traffic: what the programs load and store                               (two lines)
    Task 4  cosines_kernel, cosines: score and lengths, and still each key is read once    (twenty lines)

Verify
    pytest week3/day1                  then: ./course quiz week3/day1
    Reflect: if all keys had length 1, what would score and cosine still disagree about? Which kernel would you take?

Simulated without a GPU: results, bounds and bytes are exact. The compiler is the real one. Time is not simulated.
"""

import math

import tools.gpu  # a real GPU or a simulated one; before triton

import torch
import triton
import triton.language as tl

BLOCK_N = 64   # keys of a program
BLOCK_D = 64   # elements of a key that a program takes at a time


# Task 1
def dot(x: list[float], y: list[float]) -> float:
    """The dot product of two vectors of one length, 1 or more."""
    return sum(a * b for a, b in zip(x, y))


def cosine(x: list[float], y: list[float]) -> float:
    """The cosine of the angle between two vectors of one length; 0.0 if one of them, or both, are zero vectors.

    Lengths may be anything from 1e-100 to 1e100. If one has NaN or infinity in it, the cosine is NaN in any case.
    """
    lengths = math.sqrt(dot(x, x)) * math.sqrt(dot(y, y))
    return dot(x, y) / lengths if lengths else 0.0


def nearest(query: list[float], keys: list[list[float]]) -> tuple[int, int]:
    """The number of the key with the largest score, and that of the key with the largest cosine.

    There is at least one key. Of equal ones the first counts.
    """
    numbers = range(len(keys))
    return (max(numbers, key=lambda i: dot(query, keys[i])), max(numbers, key=lambda i: cosine(query, keys[i])))


# Task 2
@triton.jit
def scores_kernel(query_ptr, keys_ptr, out_ptr, n, d, row_stride, BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr):
    row = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    begin = row.to(tl.int64) * row_stride
    score = tl.zeros((BLOCK_N,), dtype=tl.float32)
    for start in range(0, d, BLOCK_D):
        col = start + tl.arange(0, BLOCK_D)
        query = tl.load(query_ptr + col, mask=col < d, other=0.0).to(tl.float32)
        exists = (row < n)[:, None] & (col < d)[None, :]
        keys = tl.load(keys_ptr + begin[:, None] + col[None, :], mask=exists, other=0.0).to(tl.float32)
        score += tl.sum(query[None, :] * keys, axis=1)
    tl.store(out_ptr + row, score, mask=row < n)


def scores(query: torch.Tensor, keys: torch.Tensor, *, block_n: int = BLOCK_N, block_d: int = BLOCK_D,
           out: torch.Tensor | None = None) -> torch.Tensor:
    """The score of each key by scores_kernel, one program for `block_n` keys; computed in float32.

    query: (d,), contiguous. keys: (n, d), rows of any stride, the elements of a row side by side; not copied.
    Both float32, both float16 or both bfloat16; n or d may be 0, and the score of nothing is 0. A grid of 0 programs
    may be launched.
    block_n, block_d: powers of two. out: (n,) float32, contiguous, allocated if not given.
    """
    n, d = keys.shape
    out = torch.empty(n, dtype=torch.float32, device=keys.device) if out is None else out
    scores_kernel[(triton.cdiv(n, block_n),)](query, keys, out, n, d, keys.stride(0), BLOCK_N=block_n, BLOCK_D=block_d)
    return out


# Task 3
def predict_traffic(n: int, d: int, itemsize: int, block_n: int) -> int:
    """Bytes that the programs of scores load and store; those of cosines, in task 4, load and store as many.

    n: keys, which may be 0. d: elements of a key. itemsize: bytes of such an element; scores are float32.
    """
    programs = triton.cdiv(n, block_n)
    return itemsize * (n * d + programs * d) + 4 * n


# Task 4
@triton.jit
def cosines_kernel(query_ptr, keys_ptr, out_ptr, n, d, row_stride, BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr):
    row = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    begin = row.to(tl.int64) * row_stride
    score = tl.zeros((BLOCK_N,), dtype=tl.float32)
    keys_squared = tl.zeros((BLOCK_N,), dtype=tl.float32)
    query_squared = 0.0
    for start in range(0, d, BLOCK_D):
        col = start + tl.arange(0, BLOCK_D)
        query = tl.load(query_ptr + col, mask=col < d, other=0.0).to(tl.float32)
        exists = (row < n)[:, None] & (col < d)[None, :]
        keys = tl.load(keys_ptr + begin[:, None] + col[None, :], mask=exists, other=0.0).to(tl.float32)
        score += tl.sum(query[None, :] * keys, axis=1)
        keys_squared += tl.sum(keys * keys, axis=1)
        query_squared += tl.sum(query * query)
    lengths = tl.sqrt(query_squared) * tl.sqrt(keys_squared)
    cosine = tl.where(lengths == 0, 0.0, score / lengths)  # not lengths > 0: that would hide NaN
    tl.store(out_ptr + row, cosine, mask=row < n)


def cosines(query: torch.Tensor, keys: torch.Tensor, *, block_n: int = BLOCK_N, block_d: int = BLOCK_D,
            out: torch.Tensor | None = None) -> torch.Tensor:
    """The cosine of each key and the query by cosines_kernel; 0 where one of the two is a zero vector.

    Arguments as for scores. Squares of lengths are 0, or lie between 1e-37 and 1e37. If the query or a key has NaN or
    infinity in it, their cosine is NaN in any case.
    """
    n, d = keys.shape
    out = torch.empty(n, dtype=torch.float32, device=keys.device) if out is None else out
    cosines_kernel[(triton.cdiv(n, block_n),)](query, keys, out, n, d, keys.stride(0), BLOCK_N=block_n, BLOCK_D=block_d)
    return out
