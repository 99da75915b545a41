"""Atomics: all lanes at one address, scattered, put together by hand; in global and in shared memory."""

from collections.abc import Callable, Iterator

import numpy as np

CODE = r"""
#include <cuda_fp16.h>

extern "C" __global__ void atomics_contended(const int* x, int* total) {
    atomicAdd(total, x[blockIdx.x * blockDim.x + threadIdx.x]);
}

extern "C" __global__ void atomics_contended_returned(const int* x, int* total, int* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = atomicAdd(&total[i % 8], x[i]);
}

extern "C" __global__ void atomics_scattered(const int* keys, int* bins) {
    atomicAdd(&bins[keys[blockIdx.x * blockDim.x + threadIdx.x]], 1);
}

extern "C" __global__ void atomics_float(const int* keys, const float* x, float* bins) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&bins[keys[i]], x[i]);
}

extern "C" __global__ void atomics_neighbours(const float* x, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&out[i], x[i]);
}

extern "C" __global__ void atomics_largest(const int* keys, const int* x, int* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicMax(&out[keys[i] % 64], x[i]);
}

extern "C" __global__ void atomics_swapped(const int* x, int* out, int* was) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    was[i] = atomicCAS(&out[i], 0, x[i]);
}

extern "C" __global__ void atomics_of_pairs(const int* keys, const half2* x, half2* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&out[keys[i] % 128], x[i]);
}

extern "C" __global__ void atomics_by_warp(const float* x, int* count, int* places) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    bool keep = x[i] > 0.5f;
    unsigned kept = __ballot_sync(0xffffffff, keep);
    int first = 0;
    if (lane == 0) first = atomicAdd(count, __popc(kept));
    first = __shfl_sync(0xffffffff, first, 0);
    if (keep) places[i] = __popc(kept & ((1u << lane) - 1)) >= 0 && first >= 0;
}

extern "C" __global__ void atomics_shared_contended(const int* x, int* out) {
    __shared__ int total[4];
    if (threadIdx.x < 4) total[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&total[threadIdx.x % 4], x[blockIdx.x * blockDim.x + threadIdx.x]);
    __syncthreads();
    if (threadIdx.x < 4) atomicAdd(&out[threadIdx.x], total[threadIdx.x]);
}

extern "C" __global__ void atomics_shared_scattered(const int* keys, const int* x, int* out) {
    __shared__ int bins[256];
    bins[threadIdx.x] = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&bins[keys[i] % 256], x[i]);
    __syncthreads();
    out[i] = bins[threadIdx.x];
}

extern "C" __global__ void atomics_shared_float(const int* keys, const float* x, float* out) {
    __shared__ float bins[256];
    bins[threadIdx.x] = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&bins[keys[i] % 256], x[i]);
    __syncthreads();
    out[i] = bins[threadIdx.x];
}
"""

Row = tuple[str, int | tuple[int, ...], int, tuple]


def cases(array: Callable) -> Iterator[Row]:
    """Kernel, grid, block, arguments. array(shape, dtype, high): whole numbers below `high` where one is given."""
    n, int32 = 4096, np.int32
    keys, x = array(n, int32, 1024), array(n, int32, 50)
    zeros = np.zeros(1024, int32)
    yield "atomics_contended", 16, 256, (x, np.zeros(1, int32))
    yield "atomics_contended_returned", 16, 256, (x, np.zeros(8, int32), np.zeros(n, int32))
    yield "atomics_scattered", 16, 256, (keys, zeros)
    yield "atomics_float", 16, 256, (keys, array(n), np.zeros(1024, np.float32))
    yield "atomics_neighbours", 16, 256, (array(n), np.zeros(n, np.float32))
    yield "atomics_largest", 16, 256, (keys, x, zeros[:64].copy())
    yield "atomics_swapped", 16, 256, (x, np.zeros(n, int32), np.zeros(n, int32))
    yield "atomics_of_pairs", 16, 256, (keys, array((n, 2), np.float16), np.zeros((128, 2), np.float16))
    yield "atomics_by_warp", 16, 256, (array(n), np.zeros(1, int32), np.zeros(n, int32))
    yield "atomics_shared_contended", 16, 256, (x, np.zeros(4, int32))
    yield "atomics_shared_scattered", 16, 256, (keys, x, np.zeros(n, int32))
    yield "atomics_shared_float", 16, 256, (keys, array(n), np.zeros(n, np.float32))
