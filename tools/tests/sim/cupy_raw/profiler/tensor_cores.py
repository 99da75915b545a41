"""Products by tensor cores: of four types, with operands in global and in shared memory."""

from collections.abc import Callable, Iterator

import ml_dtypes
import numpy as np

CODE = r"""
#include <mma.h>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
using namespace nvcuda;

template <bool BY_ROWS> struct Order { using type = wmma::row_major; };
template <> struct Order<false> { using type = wmma::col_major; };

// Each warp makes one tile of c (64 x 64) of a (64 x k) and b (k x 64).
template <class T, class Stored, class Sum, int K, bool BY_ROWS>
__global__ void products(const Stored* a, const Stored* b, Sum* c, int k) {
    int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, row = warp / 4 * 16, column = warp % 4 * 16;
    wmma::fragment<wmma::matrix_a, 16, 16, K, T, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, K, T, typename Order<BY_ROWS>::type> right;
    wmma::fragment<wmma::accumulator, 16, 16, K, Sum> sum;
    wmma::fill_fragment(sum, Sum(0));
    for (int i = 0; i < k; i += K) {
        wmma::load_matrix_sync(left, a + row * k + i, k);
        wmma::load_matrix_sync(right, BY_ROWS ? b + i * 64 + column : b + column * k + i, BY_ROWS ? 64 : k);
        wmma::mma_sync(sum, left, right, sum);
    }
    wmma::store_matrix_sync(c + row * 64 + column, sum, 64, wmma::mem_row_major);
}

// Bytes, 16 x 16 of them after each other: rows of 64 would begin between two pieces of 32 bytes.
template <bool BY_ROWS> __global__ void products_of_bytes(const signed char* a, const signed char* b, int* c) {
    int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, row = warp / 4, column = warp % 4;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, typename Order<BY_ROWS>::type> right;
    wmma::fragment<wmma::accumulator, 16, 16, 16, int> sum;
    wmma::fill_fragment(sum, 0);
    for (int i = 0; i < 4; i++) {
        wmma::load_matrix_sync(left, a + (row * 4 + i) * 256, 16);
        wmma::load_matrix_sync(right, b + (i * 4 + column) * 256, 16);
        wmma::mma_sync(sum, left, right, sum);
    }
    wmma::store_matrix_sync(c + row * 16 * 64 + column * 16, sum, 64, wmma::mem_row_major);
}

template <int WIDTH> __global__ void products_of_shared(const half* a, const half* b, float* c) {
    __shared__ __align__(32) half left_tile[64][WIDTH], right_tile[64][WIDTH];
    int warp = threadIdx.x / 32, row = warp / 4 * 16, column = warp % 4 * 16;
    for (int i = threadIdx.x; i < 4096; i += blockDim.x) {
        left_tile[i / 64][i % 64] = a[i];
        right_tile[i / 64][i % 64] = b[i];
    }
    __syncthreads();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int i = 0; i < 64; i += 16) {
        wmma::load_matrix_sync(left, &left_tile[row][i], WIDTH);
        wmma::load_matrix_sync(right, &right_tile[i][column], WIDTH);
        wmma::mma_sync(sum, left, right, sum);
    }
    wmma::store_matrix_sync(c + row * 64 + column, sum, 64, wmma::mem_row_major);
}

extern "C" __global__ void products_to_shared(const half* a, const half* b, float* c) {
    __shared__ __align__(32) float tile[16][16];
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 1.0f);
    wmma::load_matrix_sync(left, a + blockIdx.x * 256, 16);
    wmma::load_matrix_sync(right, b, 16);
    wmma::mma_sync(sum, left, right, sum);
    wmma::store_matrix_sync(&tile[0][0], sum, 16, wmma::mem_row_major);
    __syncwarp();
    for (int i = threadIdx.x; i < 256; i += 32) c[blockIdx.x * 256 + i] = tile[i % 16][i / 16];
}
"""

TYPES = {
    "half": ("half, half, float, 16", np.float16, np.float32),
    "half in half": ("half, half, half, 16", np.float16, np.float16),
    "bfloat16": ("__nv_bfloat16, __nv_bfloat16, float, 16", ml_dtypes.bfloat16, np.float32),
    "tf32": ("wmma::precision::tf32, float, float, 8", np.float32, np.float32),
}
GLOBAL = {
    f"products<{types}, {by_rows}>": (stored, sums)
    for types, stored, sums in TYPES.values()
    for by_rows in ("true", "false")
}
SHARED = ("products_of_shared<64>", "products_of_shared<72>")
BYTES = ("products_of_bytes<true>", "products_of_bytes<false>")
NAMES = (*GLOBAL, *BYTES, *SHARED)


def small(array: Callable, dtype: type) -> np.ndarray:
    """64 x 64 whole numbers, so small that no sum is rounded."""
    return (array((64, 64), np.int32, 8) - 4).astype(dtype)


def cases(array: Callable) -> Iterator[tuple[str, int, int, tuple]]:
    """As in atomics.py."""
    for name, (stored, sums) in GLOBAL.items():
        matrix = small(array, stored)
        yield name, 4, 128, (matrix, matrix.T.copy(), np.zeros((64, 64), sums), np.int32(64))
    matrix = small(array, np.int8)
    for name in BYTES:
        yield name, 4, 128, (matrix, matrix.T.copy(), np.zeros((64, 64), np.int32))
    matrix = small(array, np.float16)
    for name in SHARED:
        yield name, 1, 512, (matrix, matrix.T.copy(), np.zeros((64, 64), np.float32))
    yield "products_to_shared", 8, 32, (matrix, matrix.T.copy(), np.zeros(2048, np.float32))
