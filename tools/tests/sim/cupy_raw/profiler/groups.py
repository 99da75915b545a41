"""Cooperative groups, and blocks that come to one result: tiles, coalesced lanes, the whole grid, the last block."""

from collections.abc import Callable, Iterator

import numpy as np

CODE = r"""
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;

extern "C" __global__ void groups_of_8(const float* x, float* out) {
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = cg::reduce(tile, x[i], cg::plus<float>());
    if (tile.thread_rank() == 0) out[i / 8] = sum;
}

extern "C" __global__ void groups_of_a_block(const float* x, float* out) {
    __shared__ float part[32];
    auto block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    float sum = cg::reduce(warp, x[blockIdx.x * blockDim.x + threadIdx.x], cg::plus<float>());
    if (warp.thread_rank() == 0) part[warp.meta_group_rank()] = sum;
    block.sync();
    if (warp.meta_group_rank() == 0) {
        sum = warp.thread_rank() < warp.meta_group_size() ? part[warp.thread_rank()] : 0.0f;
        sum = cg::reduce(warp, sum, cg::plus<float>());
        if (warp.thread_rank() == 0) out[blockIdx.x] = sum;
    }
}

extern "C" __global__ void groups_scan(const int* x, int* out) {
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = cg::inclusive_scan(warp, x[i], cg::plus<int>());
}

extern "C" __global__ void groups_coalesced(const float* x, int* count, int* ranks) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (x[i] > 0.25f) {
        auto group = cg::coalesced_threads();
        if (group.thread_rank() == 0) atomicAdd(count, int(group.size()));
        ranks[i] = group.thread_rank();
    }
}

extern "C" __global__ void groups_whole_grid(const float* x, float* parts, float* out) {
    __shared__ float part[128];
    auto grid = cg::this_grid();
    int t = threadIdx.x;
    part[t] = x[grid.thread_rank()];
    __syncthreads();
    for (int half = 64; half > 0; half /= 2) {
        if (t < half) part[t] += part[t + half];
        __syncthreads();
    }
    if (t == 0) parts[blockIdx.x] = part[0];
    grid.sync();
    out[grid.thread_rank()] = parts[t % gridDim.x];
}

extern "C" __global__ void groups_last_block(const float* x, float* parts, unsigned* done, float* out) {
    __shared__ bool last;
    int t = threadIdx.x;
    if (t == 0) {
        parts[blockIdx.x] = x[blockIdx.x * 32];
        __threadfence();
        last = atomicAdd(done, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (last) {
        __threadfence();
        out[t] = parts[t];
    }
}

extern "C" __global__ void groups_in_turn(const float* x, float* sum, unsigned* turn) {
    int t = threadIdx.x;
    if (t == 0) while (atomicAdd(turn, 0u) != blockIdx.x) { }
    __syncthreads();
    __threadfence();
    sum[t] += x[blockIdx.x * 64 + t];
    __threadfence();
    __syncthreads();
    if (t == 0) atomicExch(turn, blockIdx.x + 1);
}
"""
COOPERATIVE = True


def cases(array: Callable) -> Iterator[tuple[str, int, int, tuple]]:
    """As in atomics.py."""
    n, float32 = 4096, np.float32
    yield "groups_of_8", 16, 256, (array(n), np.zeros(n // 8, float32))
    yield "groups_of_a_block", 16, 256, (array(n), np.zeros(16, float32))
    yield "groups_scan", 16, 256, (array(n, np.int32, 100), np.zeros(n, np.int32))
    yield "groups_coalesced", 16, 256, (array(n), np.zeros(1, np.int32), np.zeros(n, np.int32))
    yield "groups_whole_grid", 16, 128, (array(2048), np.zeros(16, float32), np.zeros(2048, float32))
    yield (
        "groups_last_block",
        32,
        32,
        (array(1024), np.zeros(32, float32), np.zeros(1, np.uint32), np.zeros(32, float32)),
    )
    yield "groups_in_turn", 8, 64, (array(512), np.zeros(64, float32), np.zeros(1, np.uint32))
