"""Eight sums of a block, each better than the one before: what they cost is counted as it would be on a GPU."""

import numpy as np
import pytest

import tools.sim.cupy as cp
from tools.tests.sim.cupy_raw.running import counted, fault_of, needs_compiler, zeros

pytestmark = needs_compiler

CODE = r"""
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

// Neighbours, by a remainder: half of the lanes of each warp take part.
extern "C" __global__ void by_remainder(const int* x, int* out, int n) {
    extern __shared__ int part[];
    auto block = cg::this_thread_block();
    int thread = threadIdx.x, i = blockIdx.x * blockDim.x + thread;
    part[thread] = i < n ? x[i] : 0;
    block.sync();
    for (int step = 1; step < blockDim.x; step *= 2) {
        if (thread % (2 * step) == 0) part[thread] += part[thread + step];
        block.sync();
    }
    if (thread == 0) out[blockIdx.x] = part[0];
}

// The first threads do it all: fewer warps, and strides that hit the same banks.
extern "C" __global__ void by_stride(const int* x, int* out, int n) {
    extern __shared__ int part[];
    auto block = cg::this_thread_block();
    int thread = threadIdx.x, i = blockIdx.x * blockDim.x + thread;
    part[thread] = i < n ? x[i] : 0;
    block.sync();
    for (int step = 1; step < blockDim.x; step *= 2) {
        int first = 2 * step * thread;
        if (first < blockDim.x) part[first] += part[first + step];
        block.sync();
    }
    if (thread == 0) out[blockIdx.x] = part[0];
}

// The upper half is added to the lower one: no bank twice.
extern "C" __global__ void by_halves(const int* x, int* out, int n) {
    extern __shared__ int part[];
    auto block = cg::this_thread_block();
    int thread = threadIdx.x, i = blockIdx.x * blockDim.x + thread;
    part[thread] = i < n ? x[i] : 0;
    block.sync();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (thread < half) part[thread] += part[thread + half];
        block.sync();
    }
    if (thread == 0) out[blockIdx.x] = part[0];
}

// Each thread adds two while it loads.
extern "C" __global__ void two_at_first(const int* x, int* out, int n) {
    extern __shared__ int part[];
    auto block = cg::this_thread_block();
    int thread = threadIdx.x, i = blockIdx.x * 2 * blockDim.x + thread;
    int sum = i < n ? x[i] : 0;
    if (i + blockDim.x < n) sum += x[i + blockDim.x];
    part[thread] = sum;
    block.sync();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (thread < half) part[thread] = sum = sum + part[thread + half];
        block.sync();
    }
    if (thread == 0) out[blockIdx.x] = sum;
}

// The last warp needs neither shared memory nor barriers of the block.
extern "C" __global__ void last_warp_by_shuffles(const int* x, int* out, int n) {
    extern __shared__ int part[];
    auto block = cg::this_thread_block();
    int thread = threadIdx.x, i = blockIdx.x * 2 * blockDim.x + thread;
    int sum = i < n ? x[i] : 0;
    if (i + blockDim.x < n) sum += x[i + blockDim.x];
    part[thread] = sum;
    block.sync();
    for (int half = blockDim.x / 2; half > 32; half /= 2) {
        if (thread < half) part[thread] = sum = sum + part[thread + half];
        block.sync();
    }
    auto warp = cg::tiled_partition<32>(block);
    if (thread < 32) {
        if (blockDim.x >= 64) sum += part[thread + 32];
        for (int delta = 16; delta > 0; delta /= 2) sum += warp.shfl_down(sum, delta);
        if (thread == 0) out[blockIdx.x] = sum;
    }
}

// The size is a constant, and the loop is unrolled.
template <int SIZE> __global__ void unrolled(const int* x, int* out, int n) {
    __shared__ int part[SIZE];
    auto block = cg::this_thread_block();
    int thread = threadIdx.x, i = blockIdx.x * 2 * SIZE + thread;
    int sum = i < n ? x[i] : 0;
    if (i + SIZE < n) sum += x[i + SIZE];
    part[thread] = sum;
    block.sync();
    if (SIZE >= 256) { if (thread < 128) part[thread] = sum = sum + part[thread + 128]; block.sync(); }
    if (SIZE >= 128) { if (thread < 64) part[thread] = sum = sum + part[thread + 64]; block.sync(); }
    auto warp = cg::tiled_partition<32>(block);
    if (thread < 32) {
        if (SIZE >= 64) sum += part[thread + 32];
        for (int delta = 16; delta > 0; delta /= 2) sum += warp.shfl_down(sum, delta);
        if (thread == 0) out[blockIdx.x] = sum;
    }
}

// Each thread walks through the whole array.
template <int SIZE> __global__ void many_each(const int* x, int* out, int n) {
    __shared__ int part[SIZE / 32];
    auto block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    int sum = 0;
    for (int i = blockIdx.x * SIZE + threadIdx.x; i < n; i += SIZE * gridDim.x) sum += x[i];
    sum = cg::reduce(warp, sum, cg::plus<int>());
    if (warp.thread_rank() == 0) part[warp.meta_group_rank()] = sum;
    cg::sync(block);
    if (warp.meta_group_rank() == 0) {
        sum = warp.thread_rank() < warp.meta_group_size() ? part[warp.thread_rank()] : 0;
        sum = cg::reduce(warp, sum, cg::plus<int>());
        if (block.thread_rank() == 0) out[blockIdx.x] = sum;
    }
}

// All blocks wait for each other, and the first one adds what they have: one launch for everything.
extern "C" __global__ void in_one_launch(const int* x, int* out, int n) {
    extern __shared__ int part[];
    auto grid = cg::this_grid();
    auto block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    int sum = 0;
    for (unsigned long long i = grid.thread_rank(); i < n; i += grid.size()) sum += x[i];
    part[block.thread_rank()] = sum;
    cg::sync(block);
    sum = cg::reduce(warp, part[block.thread_rank()], cg::plus<int>());
    if (warp.thread_rank() == 0) part[block.thread_rank()] = sum;
    cg::sync(block);
    if (block.thread_rank() == 0) {
        out[blockIdx.x] = 0;
        for (int other = 0; other < block.size(); other += warp.size()) out[blockIdx.x] += part[other];
    }
    cg::sync(grid);
    if (grid.thread_rank() == 0)
        for (int other = 1; other < gridDim.x; other++) out[0] += out[other];
}

// As it was written before Volta: the last warp goes without __syncwarp, and hopes for the best.
extern "C" __global__ void last_warp_by_hope(const int* x, int* out, int n) {
    extern __shared__ int part[];
    int thread = threadIdx.x;
    part[thread] = x[thread];
    __syncthreads();
    if (thread < 32) {
        volatile int* mine = part;
        mine[thread] += mine[thread + 32];
        mine[thread] += mine[thread + 16]; // here
        mine[thread] += mine[thread + 8];
    }
}
"""
SIZE, COUNT = 128, 1000
PER_BLOCK = {  # elements that a block sums
    "by_remainder": SIZE,
    "by_stride": SIZE,
    "by_halves": SIZE,
    "two_at_first": 2 * SIZE,
    "last_warp_by_shuffles": 2 * SIZE,
    f"unrolled<{SIZE}>": 2 * SIZE,
    f"many_each<{SIZE}>": 4 * SIZE,
}


@pytest.fixture(scope="module")
def counts():
    """Of each kernel, what the sum of 1000 numbers in blocks of 128 threads costs."""
    templates = tuple(name for name in PER_BLOCK if "<" in name)
    module, found = cp.RawModule(code=CODE, name_expressions=templates), {}
    x = np.arange(COUNT, dtype=np.int32) % 17
    for name, per_block in PER_BLOCK.items():
        blocks = -(-COUNT // per_block)
        out, shared = zeros(blocks, np.int32), 0 if "<" in name else 4 * SIZE
        arguments = cp.asarray(x), out, np.int32(COUNT)
        found[name] = counted(module.get_function(name), (blocks,), (SIZE,), arguments, shared_mem=shared)
        assert out.get().sum() == x.sum(), name
    return found


def test_each_sum_is_right_and_loads_each_element_once(counts):
    assert {each.bytes_loaded for each in counts.values()} == {4 * COUNT}


def test_fewer_lanes_part_without_a_remainder(counts):
    assert counts["by_stride"].divergent_branches < counts["by_remainder"].divergent_branches


def test_strides_cost_bank_conflicts_and_halves_none(counts):
    assert counts["by_stride"].conflicts > 0 == counts["by_halves"].conflicts == counts["by_remainder"].conflicts


def test_later_steps_need_fewer_barriers_and_less_shared_memory(counts):
    names = list(PER_BLOCK)[2:]
    for before, after in zip(names, names[1:]):
        assert counts[after].barriers <= counts[before].barriers
        assert counts[after].shared_requests <= counts[before].shared_requests
    assert counts[names[-1]].shared_requests < counts["by_halves"].shared_requests / 10


def test_all_blocks_together_need_one_launch():
    x, out = np.arange(COUNT, dtype=np.int32), zeros(4, np.int32)
    kernel = cp.RawKernel(CODE, "in_one_launch", enable_cooperative_groups=True)
    kernel((4,), (SIZE,), (cp.asarray(x), out, np.int32(COUNT)), shared_mem=4 * SIZE)
    assert out.get()[0] == x.sum()


def test_a_warp_without_syncwarp_is_a_race_as_it_is_since_volta():
    x, out = zeros(64, np.int32), zeros(1, np.int32)
    fault = fault_of(cp.RawKernel(CODE, "last_warp_by_hope"), (1,), (64,), (x, out, np.int32(64)), shared_mem=256)
    assert fault.kind == "race" and "Neither a barrier nor a __syncwarp lies between the two." in fault.text
