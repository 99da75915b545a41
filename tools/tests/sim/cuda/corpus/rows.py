"""Correct kernels that normalise rows: a block or a warp for each."""

import math
from functools import partial

import numpy as np

from tools.sim import cuda
from tools.tests.sim.cuda.corpus.case import Case, correct

CASES: list[Case] = []
case = partial(correct, CASES)
BLOCK = 128
ALL = 0xFFFFFFFF


@cuda.jit
def softmax_rows(x, out):
    s = cuda.shared.array(BLOCK, np.float64)
    t, row = cuda.threadIdx.x, cuda.blockIdx.x
    largest = -math.inf
    for k in range(t, x.shape[1], BLOCK):
        largest = max(largest, x[row, k])
    s[t] = largest
    cuda.syncthreads()
    half = BLOCK // 2
    while half > 0:
        if t < half:
            s[t] = max(s[t], s[t + half])
        cuda.syncthreads()
        half //= 2
    largest = s[0]
    cuda.syncthreads()
    total = 0.0
    for k in range(t, x.shape[1], BLOCK):
        total += math.exp(x[row, k] - largest)
    s[t] = total
    cuda.syncthreads()
    half = BLOCK // 2
    while half > 0:
        if t < half:
            s[t] += s[t + half]
        cuda.syncthreads()
        half //= 2
    for k in range(t, x.shape[1], BLOCK):
        out[row, k] = math.exp(x[row, k] - largest) / s[0]


@case(softmax_rows, 4, BLOCK, rtol=1e-12)
def _(rng):
    x = 5 * rng.standard_normal((4, 200))
    grown = np.exp(x - x.max(1, keepdims=True))
    return (x, np.empty_like(x)), {"out": grown / grown.sum(1, keepdims=True)}


@cuda.jit(device=True)
def warp_sum(value):
    for step in range(5):
        value += cuda.shfl_xor_sync(ALL, value, 16 >> step)
    return value


@cuda.jit
def layernorm_rows(x, weight, bias, out):
    """A warp for each row."""
    row, lane = cuda.blockIdx.x * cuda.blockDim.y + cuda.threadIdx.y, cuda.threadIdx.x
    rows, columns = x.shape
    if row >= rows:
        return
    total = 0.0
    for k in range(lane, columns, 32):
        total += x[row, k]
    mean = warp_sum(total) / columns
    squares = 0.0
    for k in range(lane, columns, 32):
        squares += (x[row, k] - mean) ** 2
    scale = 1.0 / math.sqrt(warp_sum(squares) / columns + 1e-5)
    for k in range(lane, columns, 32):
        out[row, k] = (x[row, k] - mean) * scale * weight[k] + bias[k]


@case(layernorm_rows, 2, (32, 4), rtol=1e-9)
def _(rng):
    x, weight, bias = rng.random((7, 45)), rng.random(45), rng.random(45)
    wanted = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5) * weight + bias
    return (x, weight, bias, np.empty_like(x)), {"out": wanted}
