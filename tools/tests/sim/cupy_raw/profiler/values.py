"""Numbers of 16 bits, alone and in pairs, and structures: in arrays, by value, and as results of functions."""

from collections.abc import Callable, Iterator

import numpy as np

CODE = r"""
#include <cuda_fp16.h>
#include <cuda_bf16.h>

extern "C" __global__ void values_halves(const half* x, const half* y, half* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = __hfma(x[i], __float2half(2.0f), y[i]);
}

extern "C" __global__ void values_pairs(const half2* x, const half2* y, half2* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = __hfma2(x[i], __float2half2_rn(2.0f), y[i]);
}

extern "C" __global__ void values_pairs_in_shared(const half2* x, half2* out, int stride) {
    __shared__ half2 tile[1024];
    int t = threadIdx.x;
    for (int k = 0; k < 1024; k += 128) tile[t + k] = x[t + k];
    __syncthreads();
    half2 mine = tile[t * stride % 1024];
    out[t] = __lowhigh2highlow(mine);
}

struct __align__(16) Matrix { float at[16]; };

extern "C" __global__ void values_by_value(Matrix m, const float4* x, float4* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 v = x[i];
    out[i] = make_float4(m.at[0] * v.x + m.at[1] * v.y, m.at[5] * v.y + m.at[6] * v.z, m.at[10] * v.z, m.at[15] * v.w);
}

struct Point { float x, y, z; };
__device__ Point moved(Point p, float by) { return {p.x + by, p.y - by, p.z}; }

extern "C" __global__ void values_of_12_bytes(const Point* x, Point* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = moved(x[i], 1.0f);
}

struct __align__(16) Wide { float x, y, z, w; };
__device__ Wide turned(Wide p) { return {p.w, p.x, p.y, p.z}; }

extern "C" __global__ void values_of_16_bytes(const Wide* x, Wide* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = turned(x[i]);
}

extern "C" __global__ void values_one_field(const Wide* x, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = x[i].z;
}
"""


def cases(array: Callable) -> Iterator[tuple[str, int, int, tuple]]:
    """As in atomics.py."""
    n, half = 4096, np.float16
    yield "values_halves", 16, 256, (array(n, half), array(n, half)[::-1].copy(), np.zeros(n, half))
    yield "values_pairs", 8, 256, (array(n, half), array(n, half)[::-1].copy(), np.zeros(n, half))
    for stride in (1, 2, 8):
        yield "values_pairs_in_shared", 1, 128, (array(2048, half), np.zeros(256, half), np.int32(stride))
    matrix = np.arange(16, dtype=np.float32).view(np.dtype([("at", np.float32, 16)]))
    yield "values_by_value", 8, 128, (matrix, array(n), np.zeros(n, np.float32))
    yield "values_of_12_bytes", 16, 64, (array(3 * 1024), np.zeros(3 * 1024, np.float32))
    yield "values_of_16_bytes", 16, 64, (array(n), np.zeros(n, np.float32))
    yield "values_one_field", 16, 64, (array(n), np.zeros(1024, np.float32))
