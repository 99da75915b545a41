"""The CUDA C++ of kernels.py."""

VECTOR_ADD = r"""
extern "C" __global__ void vector_add(const float* x, const float* y, int n, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = x[i] + y[i];
}
"""

STRIDED_COPY = r"""
extern "C" __global__ void strided_copy(const float* x, int stride, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = x[i * stride];
}
"""

VECTOR_COPY = r"""
extern "C" __global__ void vector_copy(const float4* x, float4* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 v = __ldg(&x[i]);
    out[i] = make_float4(v.x, v.y, v.z, v.w);
}
"""

TRANSPOSE = r"""
template <int PADDING> __global__ void transpose(const float* x, int rows, int columns, float* out) {
    __shared__ float tile[32][32 + PADDING];
    int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8) tile[threadIdx.y + i][threadIdx.x] = x[(row + i) * columns + column];
    __syncthreads();
    column = blockIdx.y * 32 + threadIdx.x, row = blockIdx.x * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8) out[(row + i) * rows + column] = tile[threadIdx.x][threadIdx.y + i];
}
"""

TREE_SUM = r"""
extern "C" __global__ void tree_sum(const float* x, float* out) {
    extern __shared__ float part[];
    int i = threadIdx.x;
    part[i] = x[blockIdx.x * blockDim.x + i];
    __syncthreads();
    for (int step = 1; step < blockDim.x; step *= 2) {
        if (i % (2 * step) == 0) part[i] += part[i + step];
        __syncthreads();
    }
    if (i == 0) out[blockIdx.x] = part[0];
}
"""

SHUFFLE_SUM = r"""
__inline__ __device__ float warp_sum(float value) {
    for (int delta = warpSize / 2; delta > 0; delta /= 2) value += __shfl_down_sync(0xffffffff, value, delta);
    return value;
}
extern "C" __global__ void __launch_bounds__(192) shuffle_sum(const float* __restrict__ x, int n, float* out) {
    __shared__ float parts[32];
    float value = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) value += x[i];
    value = warp_sum(value);
    int lane = threadIdx.x % warpSize, warp = threadIdx.x / warpSize;
    if (lane == 0) parts[warp] = value;
    __syncthreads();
    if (warp == 0) {
        value = warp_sum(lane < blockDim.x / warpSize ? parts[lane] : 0.f);
        if (lane == 0) atomicAdd(out, value);
    }
}
"""

HISTOGRAM = r"""
extern "C" __global__ void histogram(const int* x, int n, unsigned* counts) {
    __shared__ unsigned mine[64];
    for (int bin = threadIdx.x; bin < 64; bin += blockDim.x) mine[bin] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&mine[x[i]], 1u);
    __syncthreads();
    for (int bin = threadIdx.x; bin < 64; bin += blockDim.x) atomicAdd(&counts[bin], mine[bin]);
}
"""

TILED_MATMUL = r"""
#define SIDE 16
extern "C" __global__ void tiled_matmul(const float* a, const float* b, int m, int n, int k, float* c) {
    __shared__ float tile_a[SIDE][SIDE], tile_b[SIDE][SIDE];
    int row = blockIdx.y * SIDE + threadIdx.y, column = blockIdx.x * SIDE + threadIdx.x;
    float sum = 0;
    for (int first = 0; first < k; first += SIDE) {
        int along = first + threadIdx.x, down = first + threadIdx.y;
        tile_a[threadIdx.y][threadIdx.x] = row < m && along < k ? a[row * k + along] : 0.f;
        tile_b[threadIdx.y][threadIdx.x] = down < k && column < n ? b[down * n + column] : 0.f;
        __syncthreads();
        #pragma unroll
        for (int i = 0; i < SIDE; i++) sum += tile_a[threadIdx.y][i] * tile_b[i][threadIdx.x];
        __syncthreads();
    }
    if (row < m && column < n) c[row * n + column] = sum;
}
"""

REGISTER_TILED_MATMUL = r"""
template <int TILE, int DEPTH, int EACH>
__global__ void register_tiled_matmul(const float* a, const float* b, int n, int k, float* c) {
    __shared__ float tile_a[TILE][DEPTH], tile_b[DEPTH][TILE];
    constexpr int THREADS = (TILE / EACH) * (TILE / EACH);
    int thread = threadIdx.y * blockDim.x + threadIdx.x;
    float sums[EACH][EACH] = {};
    for (int first = 0; first < k; first += DEPTH) {
        for (int i = thread; i < TILE * DEPTH; i += THREADS) {
            tile_a[i / DEPTH][i % DEPTH] = a[(blockIdx.y * TILE + i / DEPTH) * k + first + i % DEPTH];
            tile_b[i / TILE][i % TILE] = b[(first + i / TILE) * n + blockIdx.x * TILE + i % TILE];
        }
        __syncthreads();
        for (int d = 0; d < DEPTH; d++) {
            float of_a[EACH], of_b[EACH];
            for (int i = 0; i < EACH; i++) {
                of_a[i] = tile_a[threadIdx.y * EACH + i][d];
                of_b[i] = tile_b[d][threadIdx.x * EACH + i];
            }
            for (int i = 0; i < EACH; i++)
                for (int j = 0; j < EACH; j++) sums[i][j] = fmaf(of_a[i], of_b[j], sums[i][j]);
        }
        __syncthreads();
    }
    for (int i = 0; i < EACH; i++)
        for (int j = 0; j < EACH; j++)
            c[(blockIdx.y * TILE + threadIdx.y * EACH + i) * n + blockIdx.x * TILE + threadIdx.x * EACH + j]
                = sums[i][j];
}
"""

STENCIL = r"""
__device__ __forceinline__ float at(const float* x, int rows, int columns, int row, int column) {
    return row >= 0 && row < rows && column >= 0 && column < columns ? x[row * columns + column] : 0.f;
}
extern "C" __global__ void stencil(const float* x, int rows, int columns, float* out) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows || column >= columns) return;
    float sum = at(x, rows, columns, row - 1, column) + at(x, rows, columns, row + 1, column)
              + at(x, rows, columns, row, column - 1) + at(x, rows, columns, row, column + 1);
    out[row * columns + column] = sum - 4 * x[row * columns + column];
}
"""

SOFTMAX = r"""
#include <math_constants.h>
extern "C" __global__ void softmax(const float* x, int rows, int columns, float* out) {
    int row = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
    if (row >= rows) return;
    float largest = -CUDART_INF_F, sum = 0;
    for (int i = lane; i < columns; i += 32) largest = fmaxf(largest, x[row * columns + i]);
    for (int bits = 16; bits > 0; bits /= 2) largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, bits));
    for (int i = lane; i < columns; i += 32) sum += expf(x[row * columns + i] - largest);
    for (int bits = 16; bits > 0; bits /= 2) sum += __shfl_xor_sync(0xffffffff, sum, bits);
    for (int i = lane; i < columns; i += 32) out[row * columns + i] = __expf(x[row * columns + i] - largest) / sum;
}
"""

SCAN = r"""
extern "C" __global__ void scan(const int* x, int* out) {
    __shared__ int totals[4];
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int value = x[i];
    for (int delta = 1; delta < 32; delta *= 2) {
        int before = __shfl_up_sync(0xffffffff, value, delta);
        if (lane >= delta) value += before;
    }
    if (lane == 31) totals[warp] = value;
    __syncthreads();
    for (int other = 0; other < warp; other++) value += totals[other];
    out[i] = value;
}
"""

HALVES = r"""
#include <cuda_fp16.h>
extern "C" __global__ void halves(float a, const __half2* x, __half2* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = __hfma2(__float2half2_rn(a), x[i], y[i]);
}
"""

FILTERED = r"""
__constant__ float weights[7];
extern "C" __global__ void filtered(const float* x, int n, float* out) {
    __shared__ float near[128 + 6];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int place = threadIdx.x; place < 134; place += blockDim.x) {
        int from = blockIdx.x * blockDim.x + place - 3;
        near[place] = from >= 0 && from < n ? x[from] : 0.f;
    }
    __syncthreads();
    if (i >= n) return;
    float sum = 0;
    for (int tap = 0; tap < 7; tap++) sum += weights[tap] * near[threadIdx.x + tap];
    out[i] = sum;
}
"""

COMPACTED = r"""
extern "C" __global__ void compacted(const int* x, int* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    int value = x[i];
    unsigned kept = __ballot_sync(0xffffffff, value % 3 == 0);
    int place = __popc(kept & ((1u << lane) - 1));
    if (value % 3 == 0) out[i - lane + place] = value;
}
"""

SPARSE_ROWS = r"""
extern "C" __global__ void sparse_rows(const int* starts, const int* columns, const float* values, const float* x,
                                       int rows, float* out) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sum = 0;
    for (int i = starts[row]; i < starts[row + 1]; i++) sum += values[i] * x[columns[i]];
    out[row] = sum;
}
"""

LARGEST = r"""
extern "C" __global__ void largest(const int* x, int n, unsigned long long* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicMax(out, (unsigned long long)x[i] << 32 | (unsigned)(n - 1 - i));
}
"""

PAIRS = r"""
struct __align__(8) Pair { float first, second; };
struct Four { Pair low, high; };
__device__ Four mirrored(const Four& from) {
    return {{from.high.second * 2, from.high.first * 2}, {from.low.second * 2, from.low.first * 2}};
}
extern "C" __global__ void pairs(const Four* x, Four* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Four mine = mirrored(x[i]);
    out[i] = mine;
}
"""
