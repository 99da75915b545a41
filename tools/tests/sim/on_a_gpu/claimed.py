"""Kernels of claims.py."""

import numpy as np

NUMBERS = [np.nan, np.inf, -np.inf, 3e9, -3e9, 1e19, 2e19, -2e19, 2.5, -2.5]
CONVERSIONS = """
__float2int_rn(x) __float2uint_rn(x) __float2ll_rn(x) __float2ull_rn(x) __double2int_rn(x) __double2uint_rn(x)
__double2ll_rn(x) __double2ull_rn(x) (int)(x) (unsigned)(x) (longlong)(x) (ulonglong)(x) (int)(float)(x)
(unsigned)(float)(x) (longlong)(float)(x) (ulonglong)(float)(x) __half2int_rn(__float2half(x))
__half2uint_rn(__float2half(x))
__half2short_rn(__float2half(x)) __half2ushort_rn(__float2half(x))
""".split()
CONVERT = (
    "#include <cuda_fp16.h>\ntypedef long long longlong; typedef unsigned long long ulonglong;\n"
    'extern "C" __global__ void convert(const double* in, long long* out) {\n    double x = in[threadIdx.x];\n'
    + "".join(f"    out[{number} * blockDim.x + threadIdx.x] = {text};\n" for number, text in enumerate(CONVERSIONS))
    + "}\n"
)
LEAVE = r"""
extern "C" __global__ void leave_lane_by_lane(const float* x, float* out) {
    for (int turn = 0; turn < 64; turn++) {
        __syncthreads();
        out[threadIdx.x] = turn;
        if (turn == threadIdx.x) return;
    }
}
extern "C" __global__ void leave_warp_by_warp(const float* x, float* out) {
    for (int turn = 0; turn < 64; turn++) {
        __syncthreads();
        out[threadIdx.x] = turn;
        if (turn == threadIdx.x / 32) return;
    }
}
extern "C" __global__ void leave_half_by_half(const float* x, float* out) {
    for (int turn = 0; turn < 64; turn++) {
        __syncthreads();
        out[threadIdx.x] = turn;
        if (turn == threadIdx.x / 16) return;
    }
}
extern "C" __global__ void leave_early(int* out, int n) {
    int t = threadIdx.x;
    if (t >= n) return;
    for (int turn = 0; turn < 4; turn++) {
        __syncthreads();
        out[t] = turn;
    }
}
"""
BRANCHES = r"""
extern "C" __global__ void branches(const int* x, int* out) {
    __shared__ int tile[64];
    tile[threadIdx.x] = x[threadIdx.x];
    if (threadIdx.x < 32) __syncthreads();
    else __syncthreads();
    out[threadIdx.x] = tile[63 - threadIdx.x];
}
"""
OF_A_BLOCK = r"""
extern "C" __global__ void of_a_block(int* out) {
    for (int i = 0; i < 100; i++) atomicAdd_block(out, 1);
}
"""
GRID = r"""
#include <cooperative_groups.h>
extern "C" __global__ void grid_sync(int* out) {
    out[blockIdx.x] = 1;
    cooperative_groups::this_grid().sync();
    out[blockIdx.x] += 1;
}
"""
MANY = r"""
extern "C" __global__ void many(const float* x, float* out) {
    float v[96];
    #pragma unroll
    for (int i = 0; i < 96; i++) v[i] = x[i * 1024 + threadIdx.x];
    #pragma unroll
    for (int k = 0; k < 96; k++)
        #pragma unroll
        for (int i = 0; i < 96; i++) v[i] = v[i] * v[(i + k) % 96] + v[(i + 1) % 96];
    float sum = 0;
    #pragma unroll
    for (int i = 0; i < 96; i++) sum += v[i];
    out[threadIdx.x] = sum;
}
"""
ALIGNED = r"""
#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void aligned(const half* a, float* c, int offset, int stride) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    wmma::load_matrix_sync(left, a + offset, stride);
    wmma::load_matrix_sync(right, a + offset, stride);
    wmma::mma_sync(sum, left, right, sum);
    wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);
}
"""
