"""Kernels whose counts can be checked by hand: copies, transposes, trees, products, and shared memory by strides."""

import numpy as np

from tools.gpu import cuda

TILE = 16
float32 = np.float32


@cuda.jit
def copy_strided(x, out, n, stride):
    i = cuda.grid(1)
    if i < n:
        out[i] = x[i * stride]


@cuda.jit
def copy_shifted(x, out, n, shift):
    i = cuda.grid(1)
    if i < n:
        out[i] = x[i + shift]


@cuda.jit
def transpose_naive(a, out):
    column, row = cuda.grid(2)
    if column < a.shape[1] and row < a.shape[0]:
        out[column, row] = a[row, column]


@cuda.jit
def transpose_shared(a, out):
    tile = cuda.shared.array((32, 32), float32)
    column, row = cuda.grid(2)
    tile[cuda.threadIdx.y, cuda.threadIdx.x] = a[row, column]
    cuda.syncthreads()
    out_column = cuda.blockIdx.y * 32 + cuda.threadIdx.x
    out_row = cuda.blockIdx.x * 32 + cuda.threadIdx.y
    out[out_row, out_column] = tile[cuda.threadIdx.x, cuda.threadIdx.y]


@cuda.jit
def transpose_padded(a, out):
    tile = cuda.shared.array((32, 33), float32)
    column, row = cuda.grid(2)
    tile[cuda.threadIdx.y, cuda.threadIdx.x] = a[row, column]
    cuda.syncthreads()
    out_column = cuda.blockIdx.y * 32 + cuda.threadIdx.x
    out_row = cuda.blockIdx.x * 32 + cuda.threadIdx.y
    out[out_row, out_column] = tile[cuda.threadIdx.x, cuda.threadIdx.y]


@cuda.jit
def sum_sequential(x, out, n):
    part = cuda.shared.array(256, float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    part[t] = x[i] if i < n else float32(0)
    cuda.syncthreads()
    half = 128
    while half > 0:
        if t < half:
            part[t] += part[t + half]
        cuda.syncthreads()
        half //= 2
    if t == 0:
        out[cuda.blockIdx.x] = part[0]


@cuda.jit
def sum_interleaved(x, out, n):
    part = cuda.shared.array(256, float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    part[t] = x[i] if i < n else float32(0)
    cuda.syncthreads()
    step = 1
    while step < 256:
        first = 2 * step * t
        if first < 256:
            part[first] += part[first + step]
        cuda.syncthreads()
        step *= 2
    if t == 0:
        out[cuda.blockIdx.x] = part[0]


@cuda.jit
def matmul_naive(a, b, out):
    column, row = cuda.grid(2)
    if row < out.shape[0] and column < out.shape[1]:
        acc = float32(0)
        for k in range(a.shape[1]):
            acc += a[row, k] * b[k, column]
        out[row, column] = acc


@cuda.jit
def matmul_swapped(a, b, out):
    row, column = cuda.grid(2)
    if row < out.shape[0] and column < out.shape[1]:
        acc = float32(0)
        for k in range(a.shape[1]):
            acc += a[row, k] * b[k, column]
        out[row, column] = acc


@cuda.jit
def matmul_tiled(a, b, out):
    a_tile = cuda.shared.array((TILE, TILE), float32)
    b_tile = cuda.shared.array((TILE, TILE), float32)
    column, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    acc = float32(0)
    for first in range(0, a.shape[1], TILE):
        a_tile[ty, tx] = a[row, first + tx]
        b_tile[ty, tx] = b[first + ty, column]
        cuda.syncthreads()
        for k in range(TILE):
            acc += a_tile[ty, k] * b_tile[k, tx]
        cuda.syncthreads()
    out[row, column] = acc


@cuda.jit
def odd_and_even(x, out, n):
    i = cuda.grid(1)
    if i < n:
        if i % 2 == 0:
            out[i] = x[i] * float32(2)
        else:
            out[i] = x[i] + float32(1)


@cuda.jit
def shared_strided(x, out, stride):
    line = cuda.shared.array(1024, float32)
    t = cuda.threadIdx.x
    for k in range(32):
        line[t + 32 * k] = x[t + 32 * k]
    cuda.syncthreads()
    out[t] = line[t * stride]


def cases(array):
    """name -> (kernel, grid, block, arguments). array(shape, dtype): random contents, or zeros to be written."""
    n, side = 16384, 256
    for stride in (1, 2, 4, 8, 32):
        yield f"copy_stride_{stride}", copy_strided, n // 256, 256, (array(n * stride), array(n), n, stride)
    for shift in (1, 4, 8):
        yield f"copy_shift_{shift}", copy_shifted, n // 256, 256, (array(n + shift), array(n), n, shift)
    for kernel in (transpose_naive, transpose_shared, transpose_padded):
        yield kernel.__name__, kernel, (8, 8), (32, 32), (array((side, side)), array((side, side)))
    for kernel in (sum_sequential, sum_interleaved):
        yield kernel.__name__, kernel, 40, 256, (array(10_000), array(40), 10_000)
    for kernel in (matmul_naive, matmul_swapped, matmul_tiled):
        yield kernel.__name__, kernel, (4, 4), (16, 16), tuple(array((64, 64)) for _ in range(3))
    yield "odd_and_even", odd_and_even, 40, 256, (array(10_000), array(10_000), 10_000)
    for stride in (1, 2, 3, 8, 16, 32):
        yield f"shared_stride_{stride}", shared_strided, 1, 32, (array(1024), array(32), stride)
