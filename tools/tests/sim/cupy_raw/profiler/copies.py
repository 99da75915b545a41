"""Copies from global to shared memory: asynchronous ones of 4 and 16 bytes, in PTX, by a group; and plain ones."""

from collections.abc import Callable, Iterator

import numpy as np

CODE = r"""
#include <cuda_pipeline.h>
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
namespace cg = cooperative_groups;

extern "C" __global__ void copies_plain(const float* x, float* out) {
    __shared__ float tile[256];
    int first = blockIdx.x * 256, t = threadIdx.x;
    tile[t] = x[first + t];
    __syncthreads();
    out[first + t] = tile[255 - t];
}

extern "C" __global__ void copies_of_4_bytes(const float* x, float* out) {
    __shared__ float tile[256];
    int first = blockIdx.x * 256, t = threadIdx.x;
    __pipeline_memcpy_async(&tile[t], &x[first + t], 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[first + t] = tile[255 - t];
}

extern "C" __global__ void copies_of_16_bytes(const float4* x, float4* out) {
    __shared__ float4 tile[128];
    int first = blockIdx.x * 128, t = threadIdx.x;
    __pipeline_memcpy_async(&tile[t], &x[first + t], 16);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[first + t] = tile[127 - t];
}

extern "C" __global__ void copies_strided(const float* x, float* out) {
    __shared__ float tile[256];
    int first = blockIdx.x * 256, t = threadIdx.x;
    __pipeline_memcpy_async(&tile[t * 2 % 256 + t / 128], &x[(first + t) * 3], 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[first + t] = tile[255 - t];
}

extern "C" __global__ void copies_in_ptx(const float* x, float* out, int tiles) {
    __shared__ __align__(16) float tile[2][512];
    int first = blockIdx.x * tiles * 512, t = threadIdx.x;
    unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(&tile[0][4 * t]));
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n" :: "r"(to), "l"(x + first + 4 * t) : "memory");
    asm volatile("cp.async.commit_group;\n" ::);
    for (int k = 0; k < tiles; k++) {
        if (k + 1 < tiles)
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n"
                         :: "r"(to + (k + 1) % 2 * 2048), "l"(x + first + (k + 1) * 512 + 4 * t) : "memory");
        asm volatile("cp.async.commit_group;\n" ::);
        asm volatile("cp.async.wait_group %0;\n" :: "n"(1) : "memory");
        __syncthreads();
        for (int j = 0; j < 4; j++) out[first + k * 512 + j * 128 + t] = tile[k % 2][511 - j * 128 - t];
        __syncthreads();
    }
}

template <int WIDTH> __global__ void copies_to_rows(const float* x, float* out) {
    __shared__ __align__(16) float tile[32][WIDTH];
    int t = threadIdx.x, row = t / 8, column = t % 8 * 4;
    __pipeline_memcpy_async(&tile[row][column], &x[blockIdx.x * 1024 + row * 32 + column], 16);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    for (int j = 0; j < 4; j++) out[blockIdx.x * 1024 + j * 256 + t] = tile[t % 32][t / 32 + 8 * j];
}

extern "C" __global__ void copies_by_a_group(const float* x, float* out) {
    __shared__ __align__(16) float tile[512];
    auto block = cg::this_thread_block();
    cg::memcpy_async(block, tile, x + blockIdx.x * 512, cuda::aligned_size_t<16>(2048));
    cg::wait(block);
    for (int j = 0; j < 4; j++) out[blockIdx.x * 512 + j * 128 + threadIdx.x] = tile[511 - j * 128 - threadIdx.x];
}
"""
NAMES = ("copies_to_rows<32>", "copies_to_rows<36>")


def cases(array: Callable) -> Iterator[tuple[str, int, int, tuple]]:
    """As in atomics.py."""
    n = 4096
    yield "copies_plain", 16, 256, (array(n), np.zeros(n, np.float32))
    yield "copies_of_4_bytes", 16, 256, (array(n), np.zeros(n, np.float32))
    yield "copies_of_16_bytes", 8, 128, (array(n), np.zeros(n, np.float32))
    yield "copies_strided", 16, 256, (array(3 * n), np.zeros(n, np.float32))
    yield "copies_in_ptx", 2, 128, (array(n), np.zeros(n, np.float32), np.int32(4))
    for name in NAMES:
        yield name, 4, 256, (array(n), np.zeros(n, np.float32))
    yield "copies_by_a_group", 8, 128, (array(n), np.zeros(n, np.float32))
