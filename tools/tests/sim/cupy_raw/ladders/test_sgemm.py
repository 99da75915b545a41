"""Six matrix products, each faster than the one before: sectors, requests and conflicts tell why."""

import numpy as np
import pytest

import tools.sim.cupy as cp
from tools.tests.sim.cupy_raw.running import counted, needs_compiler, zeros

pytestmark = needs_compiler

CODE = r"""
// A warp walks down the rows: 32 rows of a, 32 rows of c at a time.
extern "C" __global__ void naive(int n, const float* a, const float* b, float* c) {
    int row = blockIdx.x * blockDim.x + threadIdx.x, column = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= n || column >= n) return;
    float sum = 0;
    for (int k = 0; k < n; k++) sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
}

// A warp walks along a row: its lanes' elements of b and c are neighbours.
extern "C" __global__ void coalesced(int n, const float* a, const float* b, float* c) {
    int row = blockIdx.x * 32 + threadIdx.x / 32, column = blockIdx.y * 32 + threadIdx.x % 32;
    if (row >= n || column >= n) return;
    float sum = 0;
    for (int k = 0; k < n; k++) sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
}

// A tile of each is loaded once for the block.
extern "C" __global__ void tiled(int n, const float* a, const float* b, float* c) {
    __shared__ float tile_a[32 * 32], tile_b[32 * 32];
    int y = threadIdx.x / 32, x = threadIdx.x % 32;
    a += blockIdx.x * 32 * n, b += blockIdx.y * 32, c += blockIdx.x * 32 * n + blockIdx.y * 32;
    float sum = 0;
    for (int first = 0; first < n; first += 32, a += 32, b += 32 * n) {
        tile_a[y * 32 + x] = a[y * n + x];
        tile_b[y * 32 + x] = b[y * n + x];
        __syncthreads();
        for (int k = 0; k < 32; k++) sum += tile_a[y * 32 + k] * tile_b[k * 32 + x];
        __syncthreads();
    }
    c[y * n + x] = sum;
}

// Each thread computes a column of eight: what it takes of b serves eight times.
extern "C" __global__ void column_each(int n, const float* a, const float* b, float* c) {
    constexpr int M = 64, N = 64, K = 8, EACH = 8;
    __shared__ float tile_a[M * K], tile_b[K * N];
    int x = threadIdx.x % N, y = threadIdx.x / N;
    a += blockIdx.y * M * n, b += blockIdx.x * N, c += blockIdx.y * M * n + blockIdx.x * N;
    float sums[EACH] = {};
    for (int first = 0; first < n; first += K, a += K, b += K * n) {
        tile_a[threadIdx.x] = a[threadIdx.x / K * n + threadIdx.x % K];
        tile_b[threadIdx.x] = b[threadIdx.x / N * n + threadIdx.x % N];
        __syncthreads();
        for (int k = 0; k < K; k++) {
            float of_b = tile_b[k * N + x];
            for (int i = 0; i < EACH; i++) sums[i] += tile_a[(y * EACH + i) * K + k] * of_b;
        }
        __syncthreads();
    }
    for (int i = 0; i < EACH; i++) c[(y * EACH + i) * n + x] = sums[i];
}

// Each thread computes a square of 8 x 8, from registers; VECTORS: it loads and stores four at a time.
template <bool VECTORS> __global__ void square_each(int n, float* a, float* b, float* c) {
    constexpr int M = 64, N = 64, K = 8, EACH = 8, THREADS = M * N / EACH / EACH;
    __shared__ float tile_a[K * M], tile_b[K * N];  // the first one turned over, if VECTORS
    int x = threadIdx.x % (N / EACH), y = threadIdx.x / (N / EACH);
    a += blockIdx.y * M * n, b += blockIdx.x * N, c += blockIdx.y * M * n + blockIdx.x * N;
    float sums[EACH][EACH] = {}, of_a[EACH], of_b[EACH];
    for (int first = 0; first < n; first += K, a += K, b += K * n) {
        if (VECTORS) {
            for (int i = threadIdx.x; i < M * K / 4; i += THREADS) {
                int row = i / (K / 4), column = i % (K / 4) * 4;
                float4 four = reinterpret_cast<float4*>(&a[row * n + column])[0];
                tile_a[column * M + row] = four.x;
                tile_a[(column + 1) * M + row] = four.y;
                tile_a[(column + 2) * M + row] = four.z;
                tile_a[(column + 3) * M + row] = four.w;
            }
            for (int i = threadIdx.x; i < K * N / 4; i += THREADS)
                reinterpret_cast<float4*>(tile_b)[i] =
                    reinterpret_cast<float4*>(&b[i / (N / 4) * n + i % (N / 4) * 4])[0];
        } else {
            for (int i = threadIdx.x; i < M * K; i += THREADS) tile_a[i] = a[i / K * n + i % K];
            for (int i = threadIdx.x; i < K * N; i += THREADS) tile_b[i] = b[i / N * n + i % N];
        }
        __syncthreads();
        for (int k = 0; k < K; k++) {
            for (int i = 0; i < EACH; i++)
                of_a[i] = VECTORS ? tile_a[k * M + y * EACH + i] : tile_a[(y * EACH + i) * K + k];
            for (int i = 0; i < EACH; i++) of_b[i] = tile_b[k * N + x * EACH + i];
            for (int i = 0; i < EACH; i++)
                for (int j = 0; j < EACH; j++) sums[i][j] += of_a[i] * of_b[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < EACH; i++)
        for (int j = 0; j < EACH; j += VECTORS ? 4 : 1) {
            float* at = &c[(y * EACH + i) * n + x * EACH + j];
            if (VECTORS)
                reinterpret_cast<float4*>(at)[0] =
                    make_float4(sums[i][j], sums[i][j + 1], sums[i][j + 2], sums[i][j + 3]);
            else
                *at = sums[i][j];
        }
}
"""
N = 64
SHAPES = {  # kernel: grid, block
    "naive": ((2, 2), (32, 32)),
    "coalesced": ((2, 2), (1024,)),
    "tiled": ((2, 2), (1024,)),
    "column_each": ((1, 1), (512,)),
    "square_each<false>": ((1, 1), (64,)),
    "square_each<true>": ((1, 1), (64,)),
}


@pytest.fixture(scope="module")
def counts():
    rng = np.random.default_rng(1)
    a, b = (rng.standard_normal((N, N)).astype(np.float32) for _ in range(2))
    module = cp.RawModule(code=CODE, name_expressions=tuple(name for name in SHAPES if "<" in name))
    found = {}
    for name, (grid, block) in SHAPES.items():
        c = zeros((N, N))
        found[name] = counted(
            module.get_function(name), grid, block, (np.int32(N), cp.asarray(a), cp.asarray(b), c)
        ).launches[0]
        np.testing.assert_allclose(c.get(), a @ b, rtol=0, atol=1e-4, err_msg=name)
    return {name: launch.counts for name, launch in found.items()}


def test_neighbouring_lanes_on_neighbouring_elements_save_sectors(counts):
    # naive: a warp's load of a touches 32 sectors, its load of b one; coalesced: 1 and 4; 128 warps, 64 steps
    assert counts["naive"].sectors == 128 * (64 * 33 + 32)
    assert counts["coalesced"].sectors == 128 * (64 * 5 + 4)


def test_tiles_load_each_element_once_for_each_block_that_needs_it(counts):
    assert counts["tiled"].bytes_loaded == 4 * 2 * 2 * N * N
    assert counts["tiled"].sectors == 128 * (2 * 2 * 4 + 4)


def test_larger_tiles_are_loaded_once(counts):
    for name in ("column_each", "square_each<false>", "square_each<true>"):
        assert counts[name].bytes_loaded == 4 * 2 * N * N and counts[name].bytes_stored == 4 * N * N


def test_registers_take_the_load_off_shared_memory(counts):
    requests = [counts[name].shared_requests for name in ("tiled", "column_each", "square_each<false>")]
    assert requests == sorted(requests, reverse=True) and requests[-1] < requests[0] / 3


def test_vectors_need_a_quarter_of_the_requests(counts):
    assert 4 * counts["square_each<true>"].requests == counts["square_each<false>"].requests
