"""CUDA kernels that Numba compiles and some that it rejects, and functions that launch them as lessons do."""

import numpy as np

from tools.gpu import cuda

TILE = 16
float32 = cuda.float32


@cuda.jit
def add_kernel(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] + y[i]


@cuda.jit
def matmul_kernel(a, b, c):
    a_tile = cuda.shared.array((TILE, TILE), float32)
    b_tile = cuda.shared.array((TILE, TILE), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    acc = float32(0)
    for k in range(0, a.shape[1], TILE):
        a_tile[y, x] = a[row, k + x]
        b_tile[y, x] = b[k + y, col]
        cuda.syncthreads()
        for n in range(TILE):
            acc += a_tile[y, n] * b_tile[n, x]
        cuda.syncthreads()
    c[row, col] = acc


@cuda.jit
def scale_kernel(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = x[i] * 0.1 + 0.7


@cuda.jit
def scale_in_float32_kernel(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = x[i] * float32(0.1) + float32(0.7)


@cuda.jit(device=True)
def weight(x, i):
    return x[i] / float32(x.size)


@cuda.jit("float32(float32)", device=True)
def in_single(value):
    return value + 0.25


@cuda.jit
def device_function_kernel(x, out):
    i = cuda.grid(1)
    if i < out.size:
        cuda.atomic.add(out, 0, in_single(weight(x, i)))


@cuda.jit
def dynamic_kernel(x):
    tile = cuda.shared.array(0, float32)
    tile[cuda.threadIdx.x] = x[cuda.threadIdx.x]
    cuda.syncthreads()
    x[cuda.threadIdx.x] = tile[cuda.blockDim.x - 1 - cuda.threadIdx.x]


@cuda.jit
def too_much_static_kernel(x):
    tile = cuda.shared.array((128, 128), float32)
    tile[0, cuda.threadIdx.x] = x[cuda.threadIdx.x]
    cuda.syncthreads()
    x[0] = tile[0, 1]


@cuda.jit
def much_shared_kernel(x):
    tile, rest = cuda.shared.array(10_000, float32), cuda.shared.array(0, float32)
    tile[cuda.threadIdx.x] = rest[cuda.threadIdx.x] = x[cuda.threadIdx.x]
    cuda.syncthreads()
    x[0] = tile[1] + rest[2]


def hold_many(x):
    """Needs all values of a thread at once."""
    i = cuda.grid(1)
    held = cuda.local.array(96, float32)
    for j in range(96):
        held[j] = x[i + j]
    cuda.syncthreads()
    for j in range(96):
        x[i + j] = held[95 - j]


many_registers_kernel, few_registers_kernel = cuda.jit(hold_many), cuda.jit(max_registers=64)(hold_many)


# What Numba rejects ------------------------------------------------------------------------------


@cuda.jit
def float_index(x):
    i = cuda.grid(1)
    x[i / 2] = 1.0


@cuda.jit
def unknown_name(x):
    x[0] = scales[0]  # noqa: F821


@cuda.jit
def two_types(x):
    if x[0] > 1.0:
        part = x
    else:
        part = 1.0
    x[0] = part[0]


@cuda.jit(device=True)
def wrong_helper(value):
    return value.amount


@cuda.jit
def mistake_in_a_device_function(x):
    x[0] = wrong_helper(x[1])


@cuda.jit
def unknown_attribute(x):
    x[0] = x.length


@cuda.jit
def too_few_arguments(x):
    x[0] = cuda.shfl_down_sync(0xFFFFFFFF, x[0])


@cuda.jit
def file_in_a_kernel(x):
    with open("x"):
        x[0] = 1.0


# Launches ----------------------------------------------------------------------------------------


def vector_add(x, y):
    there = cuda.to_device(x), cuda.to_device(y)
    out = cuda.device_array_like(x)
    add_kernel[(x.size + 127) // 128, 128](*there, out)
    return out.copy_to_host()


def vector_add_twice(x, y):
    vector_add(x, y)
    vector_add(x.astype(np.float64), y.astype(np.float64))
    return vector_add(x, y)


def matmul(a, b):
    c = cuda.device_array((a.shape[0], b.shape[1]), np.float32)
    matmul_kernel[(c.shape[1] // TILE, c.shape[0] // TILE), (TILE, TILE)](cuda.to_device(a), cuda.to_device(b), c)
    return c.copy_to_host()


def launch(name, x, block=128, shared=0):
    globals()[name][1, block, 0, shared](x)


def sum_of_weights(x):
    out = np.zeros(1, np.float32)
    device_function_kernel[1, 128](x, out)
    return out


def scale_by(factor, x):
    @cuda.jit
    def kernel(x):
        x[cuda.grid(1)] *= factor

    kernel[1, x.size](x)
