"""Small programs that every course of CUDA has: sorting, counting, scanning and filtering."""

import numpy as np
import pytest

import tools.sim.cupy as cp
from tools.tests.sim.cupy_raw.running import counted, fault_of, needs_compiler, zeros

pytestmark = needs_compiler

CODE = r"""
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__device__ void order(int& first, int& second, bool upwards) {
    if ((first > second) == upwards) {
        int kept = first;
        first = second;
        second = kept;
    }
}

// A bitonic network in shared memory: pairs that are ever further apart, upwards and downwards.
extern "C" __global__ void sort_of_a_block(int* keys, int n) {
    extern __shared__ int mine[];
    auto block = cg::this_thread_block();
    int thread = block.thread_rank();
    keys += blockIdx.x * n;
    mine[thread] = keys[thread];
    mine[thread + n / 2] = keys[thread + n / 2];
    for (int size = 2; size <= n; size *= 2)
        for (int stride = size / 2; stride > 0; stride /= 2) {
            block.sync();
            int at = 2 * thread - (thread & (stride - 1));
            order(mine[at], mine[at + stride], (thread & size / 2) == 0 || size == n);
        }
    block.sync();
    keys[thread] = mine[thread];
    keys[thread + n / 2] = mine[thread + n / 2];
}

// A histogram for each warp in shared memory; then one for the block.
extern "C" __global__ void histogram(const unsigned* data, int words, unsigned* counts) {
    __shared__ unsigned of_warps[4][64];
    auto block = cg::this_thread_block();
    unsigned* mine = of_warps[threadIdx.x / 32];
    for (int bin = threadIdx.x % 32; bin < 64; bin += 32) mine[bin] = 0;
    cg::sync(cg::tiled_partition<32>(block));
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < words; i += gridDim.x * blockDim.x)
        for (unsigned word = data[i], byte = 0; byte < 4; byte++, word >>= 8) atomicAdd(&mine[word >> 2 & 63], 1u);
    cg::sync(block);
    if (threadIdx.x < 64) {
        unsigned sum = 0;
        for (int warp = 0; warp < 4; warp++) sum += of_warps[warp][threadIdx.x];
        atomicAdd(&counts[threadIdx.x], sum);
    }
}

extern "C" __global__ void histogram_without_atomics(const unsigned* data, int words, unsigned* counts) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < words) counts[data[i] & 63] += 1; // here
}

// Two sums at once, with the neighbours at ever greater distances; the array is held twice.
extern "C" __global__ void scan_of_a_block(const int* x, int* out) {
    __shared__ int twice[2][128];
    auto block = cg::this_thread_block();
    int thread = threadIdx.x, now = 0, i = blockIdx.x * blockDim.x + thread;
    twice[0][thread] = x[i];
    for (int distance = 1; distance < blockDim.x; distance *= 2, now ^= 1) {
        cg::sync(block);
        int own = twice[now][thread];
        twice[now ^ 1][thread] = thread >= distance ? own + twice[now][thread - distance] : own;
    }
    out[i] = twice[now][thread];
}

// Up and down a tree, in place (G. Blelloch): two elements for each thread.
extern "C" __global__ void scan_by_a_tree(const int* x, int* out) {
    __shared__ int tree[128];
    int thread = threadIdx.x, n = 2 * blockDim.x, distance = 1;
    tree[2 * thread] = x[2 * thread];
    tree[2 * thread + 1] = x[2 * thread + 1];
    for (int pairs = n / 2; pairs > 0; pairs /= 2, distance *= 2) {
        __syncthreads();
        if (thread < pairs) tree[distance * (2 * thread + 2) - 1] += tree[distance * (2 * thread + 1) - 1];
    }
    if (thread == 0) tree[n - 1] = 0;
    for (int pairs = 1; pairs < n; pairs *= 2) {
        distance /= 2;
        __syncthreads();
        if (thread < pairs) {
            int low = distance * (2 * thread + 1) - 1, high = distance * (2 * thread + 2) - 1, kept = tree[low];
            tree[low] = tree[high];
            tree[high] += kept;
        }
    }
    __syncthreads();
    out[2 * thread] = tree[2 * thread];
    out[2 * thread + 1] = tree[2 * thread + 1];
}

// A filter along the rows: a tile, and halos at both sides.
__constant__ float taps[2 * 4 + 1];
extern "C" __global__ void filtered_rows(const float* x, float* out, int width, int pitch) {
    constexpr int RADIUS = 4, EACH = 2, TILE = 16;
    __shared__ float tile[4][(EACH + 2) * TILE];
    auto block = cg::this_thread_block();
    int start = (blockIdx.x * EACH - 1) * TILE + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y;
    x += y * pitch, out += y * pitch;
    for (int part = 0; part < EACH + 2; part++) {
        int column = start + part * TILE;
        tile[threadIdx.y][threadIdx.x + part * TILE] = column >= 0 && column < width ? x[column] : 0;
    }
    cg::sync(block);
    for (int part = 1; part <= EACH; part++) {
        float sum = 0;
        for (int tap = -RADIUS; tap <= RADIUS; tap++)
            sum += taps[RADIUS - tap] * tile[threadIdx.y][threadIdx.x + part * TILE + tap];
        if (start + part * TILE < width) out[start + part * TILE] = sum;
    }
}

// Lanes whose values pass put them together with one atomic for all of them.
extern "C" __global__ void kept_together(const int* x, int n, int* out, int* count) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        if (x[i] % 3 == 0) {
            auto group = cg::coalesced_threads();
            int first = 0;
            if (group.thread_rank() == 0) first = atomicAdd(count, int(group.size()));
            out[group.shfl(first, 0) + group.thread_rank()] = x[i];
        }
}
"""


@pytest.fixture(scope="module")
def module():
    return cp.RawModule(code=CODE)


@pytest.fixture(scope="module")
def rng():
    return np.random.default_rng(11)


def test_bitonic_sort(module, rng):
    keys = rng.integers(-50, 50, (2, 128)).astype(np.int32)
    sorted_here = cp.asarray(keys)
    module.get_function("sort_of_a_block")((2,), (64,), (sorted_here, np.int32(128)), shared_mem=512)
    assert (sorted_here.get() == np.sort(keys, axis=1)).all()


def test_histogram_of_warps(module, rng):
    data, counts = rng.integers(0, 1 << 32, 300).astype(np.uint32), zeros(64, np.uint32)
    counters = counted(module.get_function("histogram"), (2,), (128,), (cp.asarray(data), np.int32(300), counts))
    assert (counts.get() == np.bincount(data.view(np.uint8) >> 2, minlength=64)).all()
    assert counters.bytes_atomic == 2 * 64 * 4


def test_a_histogram_without_atomics_is_a_race(module, rng):
    data = rng.integers(0, 64, 300).astype(np.uint32)
    kernel = module.get_function("histogram_without_atomics")
    fault = fault_of(kernel, (3,), (128,), (cp.asarray(data), np.int32(300), zeros(64, np.uint32)))
    assert fault.kind == "race" and fault.source.endswith("// here")


def test_scans(module, rng):
    x, out = rng.integers(0, 9, (3, 128)).astype(np.int32), zeros(384, np.int32)
    module.get_function("scan_of_a_block")((3,), (128,), (cp.asarray(x), out))
    assert (out.get().reshape(3, 128) == np.cumsum(x, axis=1)).all()
    module.get_function("scan_by_a_tree")((1,), (64,), (cp.asarray(x[0]), out))
    assert out.get()[:128].tolist() == [0, *np.cumsum(x[0])[:-1]]


@pytest.mark.parametrize("width", [32, 45])
def test_a_filter_with_halos(module, rng, width):
    x, taps = rng.standard_normal((4, width)).astype(np.float32), rng.standard_normal(9).astype(np.float32)
    cp.ndarray(9, np.float32, module.get_global("taps"))[...] = cp.asarray(taps)
    out = zeros((4, width))
    module.get_function("filtered_rows")((2, 1), (16, 4), (cp.asarray(x), out, np.int32(width), np.int32(width)))
    wanted = np.stack([np.convolve(row, taps, "same") for row in x])
    np.testing.assert_allclose(out.get(), wanted, atol=1e-5)


def test_lanes_share_one_atomic(module, rng):
    x, out, count = rng.integers(0, 99, 500).astype(np.int32), zeros(500, np.int32), zeros(1, np.int32)
    kernel = module.get_function("kept_together")
    counters = counted(kernel, (2,), (64,), (cp.asarray(x), np.int32(500), out, count))
    kept = np.sort(x[x % 3 == 0])
    assert count.get()[0] == kept.size and (np.sort(out.get()[: kept.size]) == kept).all()
    assert counters.bytes_atomic == 4 * 16  # one for each warp and turn
