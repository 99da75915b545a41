"""Week 2, kata: WMMA

Challenge
    Triton's tl.dot becomes tensor core instructions by itself. In CUDA C++ you ask for them, by the functions of
    nvcuda::wmma. Multiply one tile with one warp, then whole matrices, then matrices with edges; and write the heart
    of a fast kernel, in which eight warps share what they load.

        one warp, one mma_sync: 16 x 16 x 16 products
        a: half                 b: half                      out: float
        2 0 0 ... 0              0   1   2 ...  15             0   2   4 ...  30
        0 2 0 ... 0             16  17  18 ...  31            32  34  36 ...  62
        . . .                    .   .   .                     .   .   .
        0 0 0 ... 2            240 241 242 ... 255           480 482 484 ... 510

Explore
    ./course python -c "import numpy as np; x = np.ones(4096, np.half); print(int(sum(x)), int(x.sum(0, np.float32)))"
    Both add up 4096 ones, the first in float16 from beginning to end. Why are the sums of a product kept in float32?

Concept
    Fragment: a matrix in the registers of one warp. Each of its 32 lanes holds a part; CUDA does not say which, and a
    kernel need not know. half is the name of float16 in CUDA C++. The three of a product:
        wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> right;
        wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums;
    The three numbers are m, n and k of the product. FRAGMENTS gives the types short names, for tasks 2 to 5.
    Functions: all lanes of a warp call them together, with the same arguments.
        wmma::fill_fragment(sums, 0.0f)                   every element is 0
        wmma::load_matrix_sync(left, address, stride)     from global or shared memory, also for right
        wmma::mma_sync(sums, left, right, sums)           the last sums, and left @ right added to them
        wmma::store_matrix_sync(address, sums, stride, wmma::mem_row_major)
    Stride: the elements from one row to the next: of a matrix in global memory the columns that it has, however few of
    them are loaded. The address must be a multiple of 32 bytes, the stride a multiple of 8 halves or of 4 floats.
    Whole matrices: a warp for each 16 x 16 outputs goes along k in steps of 16 and stores once. 16 halves of a and 16
    of b serve 16 * 16 products: a quarter of a byte for each. A block of 128 x 256 outputs that loads a tile of each
    matrix into shared memory gets by with a tenth of that from global memory.
    Edges: a fragment has no mask. Where a matrix ends, it is loaded from a tile in shared memory that is filled up with
    zeros, half(0): products with them add nothing. The sums go into a tile too, and from there to out, as far as out
    goes. `exists ? x[i] : half(0)` is x[i] if exists is true, else the zero.
    Wavefronts: a fragment of halves is loaded from shared memory in four parts of 8 rows and 8 columns, 16 bytes a row.
    A wavefront serves 128 bytes, eight groups of 16. Row r (0 to 7) of the first part is in group r * stride // 8 % 8.
    A part takes as many wavefronts as the fullest group has rows; a load takes four times that. With eight rows in
    eight groups, a part takes one. So tiles get rows that are longer than what they hold: padding.
    Reuse: a fragment can be multiplied more than once. A warp with 64 x 64 outputs, 4 x 4 fragments of sums, loads four
    fragments of a and four of b for sixteen calls of mma_sync. Arrays of fragments are like arrays of floats.
    On an H100 wmma becomes mma, HMMA in machine code, two for each 16 x 16 x 16; it has no way to the faster wgmma.

Code it
    Task 1  tile_code: a kernel of one warp and one product                        (a dozen lines of C++)
    Task 2  warps_code: a warp for each 16 x 16 outputs, along all of k            (a dozen)
    Task 3  edges_code: what load_tile puts into a tile, what store_tile takes out (a dozen)
    Task 4  wavefronts, padded: which rows have no bank conflicts                  (five lines of Python)
    Task 5  multiply_code: eight fragments, sixteen products                       (ten lines of C++)

Verify
    pytest week2/katas/wmma            then: ./course quiz week2/katas/wmma
    Reflect: with 128 x 128 outputs a warp would load still less for each product. Where would their sums stand?

Simulated without a GPU: results, bytes, races, bank conflicts and flops are exactly those that the code asks for; a
compiler may find a load that it can leave out. Sums are rounded once, where a tensor core drops a few of their last
bits. Time is not simulated.
"""

import functools
import os

import numpy as np

from tools.gpu import cupy

TOOLKIT = os.environ.get("CUDA_PATH", "/usr/local/cuda")
OPTIONS = (f"-I{TOOLKIT}/include",)  # mma.h needs parts that a CUDA toolkit has, and CuPy's own headers have not
FRAGMENTS = r"""
#include <mma.h>
using namespace nvcuda;

using Left = wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major>;
using Right = wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major>;
using Sums = wmma::fragment<wmma::accumulator, 16, 16, 16, float>;
"""


# Task 1
def tile_code() -> str:
    """C++ of a kernel: out = a @ b, by one warp.

        extern "C" __global__ void tile(const half* a, const half* b, float* out)

    All three are 16 x 16, row by row. The code stands alone: it begins with the include and the using namespace of
    FRAGMENTS, and names the types of its fragments in full.
    """
    return r"""
    #include <mma.h>
    using namespace nvcuda;

    extern "C" __global__ void tile(const half* a, const half* b, float* out) {
        wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> right;
        wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums;
        wmma::fill_fragment(sums, 0.0f);
        wmma::load_matrix_sync(left, a, 16);
        wmma::load_matrix_sync(right, b, 16);
        wmma::mma_sync(sums, left, right, sums);
        wmma::store_matrix_sync(out, sums, 16, wmma::mem_row_major);
    }
    """


@functools.cache
def tile_kernel() -> cupy.RawKernel:
    return cupy.RawKernel(tile_code(), "tile", OPTIONS)


def multiply_tile(a: cupy.ndarray, b: cupy.ndarray, *, out: cupy.ndarray | None = None) -> cupy.ndarray:
    """a @ b by tile_code(). Given. a, b: (16, 16) float16. out: (16, 16) float32, allocated if not given."""
    out = cupy.empty((16, 16), np.float32) if out is None else out
    tile_kernel()((1,), (32,), (a, b, out))
    return out


# Task 2
def warps_code() -> str:
    """C++ of a kernel: out = a @ b.

        extern "C" __global__ void warps(const half* a, const half* b, float* out, int n, int k)

    It follows FRAGMENTS. A block is one warp; it has the 16 x 16 outputs from row 16 * blockIdx.y and column
    16 * blockIdx.x on. a: (m, k), b: (k, n), out: (m, n), row by row; m, n and k are multiples of 16.
    Here and in task 3 each matrix has fewer than 2**31 elements, so that an int can say where one lies.
    """
    return r"""
    extern "C" __global__ void warps(const half* a, const half* b, float* out, int n, int k) {
        int row = 16 * blockIdx.y, column = 16 * blockIdx.x;
        Left left;
        Right right;
        Sums sums;
        wmma::fill_fragment(sums, 0.0f);
        for (int first = 0; first < k; first += 16) {
            wmma::load_matrix_sync(left, a + row * k + first, k);
            wmma::load_matrix_sync(right, b + first * n + column, n);
            wmma::mma_sync(sums, left, right, sums);
        }
        wmma::store_matrix_sync(out + row * n + column, sums, n, wmma::mem_row_major);
    }
    """


@functools.cache
def warps_kernel() -> cupy.RawKernel:
    return cupy.RawKernel(FRAGMENTS + warps_code(), "warps", OPTIONS)


def matmul_warps(a: cupy.ndarray, b: cupy.ndarray, *, out: cupy.ndarray | None = None) -> cupy.ndarray:
    """a @ b by warps_code(). Given.

    a: (m, k), b: (k, n), float16, contiguous, all multiples of 16. out: (m, n) float32, allocated if not given.
    """
    (m, k), n = a.shape, b.shape[1]
    out = cupy.empty((m, n), np.float32) if out is None else out
    warps_kernel()((n // 16, m // 16), (32,), (a, b, out, np.int32(n), np.int32(k)))
    return out


# Task 3
EDGES = r"""
extern "C" __global__ void edges(const half* a, const half* b, float* out, int m, int n, int k) {
    __shared__ __align__(32) half a_tile[16][24], b_tile[16][24];
    __shared__ __align__(32) float out_tile[16][24];
    int row = 16 * blockIdx.y, column = 16 * blockIdx.x;
    Left left;
    Right right;
    Sums sums;
    wmma::fill_fragment(sums, 0.0f);
    for (int first = 0; first < k; first += 16) {
        load_tile(a_tile, a, row, first, m, k);
        load_tile(b_tile, b, first, column, k, n);
        __syncwarp();  // a barrier for the lanes of one warp, as the block has only one
        wmma::load_matrix_sync(left, &a_tile[0][0], 24);
        wmma::load_matrix_sync(right, &b_tile[0][0], 24);
        wmma::mma_sync(sums, left, right, sums);
        __syncwarp();
    }
    wmma::store_matrix_sync(&out_tile[0][0], sums, 24, wmma::mem_row_major);
    __syncwarp();
    store_tile(out, out_tile, row, column, m, n);
}
"""


def edges_code() -> str:
    """C++ of two functions for the one warp of EDGES, above. Lane threadIdx.x takes every 32nd element.

    __device__ void load_tile(half tile[16][24], const half* x, int row, int column, int rows, int columns)
        fills 16 x 16 elements of the tile with those of x, which has rows x columns elements, from this row and column
        on, and with zeros beyond its last row and beyond its last column. Columns 16 to 23 of the tile are padding,
        which no fragment reads.
    __device__ void store_tile(float* x, const float tile[16][24], int row, int column, int rows, int columns)
        stores the 16 x 16 elements of the tile to x, from this row and column on, as far as they exist there.
    """
    return r"""
    __device__ void load_tile(half tile[16][24], const half* x, int row, int column, int rows, int columns) {
        for (int i = threadIdx.x; i < 256; i += 32) {
            int down = i / 16, right = i % 16;
            bool exists = row + down < rows && column + right < columns;
            tile[down][right] = exists ? x[(row + down) * columns + column + right] : half(0);
        }
    }

    __device__ void store_tile(float* x, const float tile[16][24], int row, int column, int rows, int columns) {
        for (int i = threadIdx.x; i < 256; i += 32) {
            int down = i / 16, right = i % 16;
            if (row + down < rows && column + right < columns)
                x[(row + down) * columns + column + right] = tile[down][right];
        }
    }
    """


@functools.cache
def edges_kernel() -> cupy.RawKernel:
    return cupy.RawKernel(FRAGMENTS + edges_code() + EDGES, "edges", OPTIONS)


def matmul_edges(a: cupy.ndarray, b: cupy.ndarray, *, out: cupy.ndarray | None = None) -> cupy.ndarray:
    """a @ b by edges_code(). Given. As matmul_warps, for any m, n and k."""
    (m, k), n = a.shape, b.shape[1]
    out = cupy.empty((m, n), np.float32) if out is None else out
    grid = max(1, -(-n // 16)), max(1, -(-m // 16))
    edges_kernel()(grid, (32,), (a, b, out, *map(np.int32, (m, n, k))))
    return out


# Task 4
def wavefronts(stride: int) -> int:
    """Wavefronts that one load_matrix_sync of 16 x 16 halves takes from shared memory.

    stride: halves from one row to the next, a multiple of 8. The first row begins at a multiple of 128 bytes.
    """
    groups = [row * stride // 8 % 8 for row in range(8)]
    return 4 * max(groups.count(group) for group in groups)


def padded(columns: int) -> int:
    """The least stride, of at least `columns` halves and a multiple of 8, for which a load takes four wavefronts.

    columns: a multiple of 8.
    """
    while wavefronts(columns) > 4:
        columns += 8
    return columns


PROBE = r"""
extern "C" __global__ void probe(float* out, int stride) {
    extern __shared__ __align__(128) half rows[];
    for (int i = threadIdx.x; i < 16 * stride; i += 32)
        rows[i] = half(1);
    __syncwarp();
    Left left;
    wmma::load_matrix_sync(left, rows, stride);
    out[threadIdx.x] = left.x[0];  // without a use the compiler would leave the load out
}
"""


@functools.cache
def probe_kernel() -> cupy.RawKernel:
    return cupy.RawKernel(FRAGMENTS + PROBE, "probe", OPTIONS)


def load_once(stride: int) -> cupy.ndarray:
    """One load_matrix_sync from shared memory, to be counted. Given. Returns 32 ones, one from each lane."""
    out = cupy.empty(32, np.float32)
    probe_kernel()((1,), (32,), (out, np.int32(stride)), shared_mem=2 * 16 * stride)
    return out


# Task 5
MATMUL = r"""
#include <cuda_pipeline.h>

const int ROWS = 128, COLUMNS = 256, STEP = 32, STAGES = 3;  // outputs of a block; along k; tiles that are on their way
const int A_TILE = ROWS * A_STRIDE, B_TILE = STEP * B_STRIDE;  // halves

// Asks for the tiles of a and b from `first` along k on, 16 bytes at a time; they arrive in shared memory later.
__device__ void ask(half* a_tile, half* b_tile, const half* a, const half* b, int first, int n, int k) {
    for (int i = threadIdx.x; i < ROWS * STEP / 8; i += 256) {
        int row = i / (STEP / 8), column = i % (STEP / 8) * 8;
        __pipeline_memcpy_async(a_tile + row * A_STRIDE + column, a + (size_t)row * k + first + column, 16);
    }
    for (int i = threadIdx.x; i < STEP * COLUMNS / 8; i += 256) {
        int row = i / (COLUMNS / 8), column = i % (COLUMNS / 8) * 8;
        __pipeline_memcpy_async(b_tile + row * B_STRIDE + column, b + (size_t)(first + row) * n + column, 16);
    }
}

extern "C" __global__ __launch_bounds__(256) void matmul(const half* a, const half* b, float* out, int n, int k) {
    extern __shared__ __align__(128) half shared[];
    half *a_tiles = shared, *b_tiles = shared + STAGES * A_TILE;
    int row = threadIdx.x / 128 * 64, column = threadIdx.x / 32 % 4 * 64;  // of the first output of this warp
    a += (size_t)blockIdx.y * ROWS * k;  // an int would end at 2**31
    b += blockIdx.x * COLUMNS;
    Sums sums[4][4];
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            wmma::fill_fragment(sums[i][j], 0.0f);
    for (int stage = 0; stage < STAGES - 1; stage++) {
        if (stage * STEP < k)
            ask(a_tiles + stage * A_TILE, b_tiles + stage * B_TILE, a, b, stage * STEP, n, k);
        __pipeline_commit();
    }
    for (int first = 0, now = 0; first < k; first += STEP, now = (now + 1) % STAGES) {
        __pipeline_wait_prior(STAGES - 2);  // until all but the last tiles that were asked for are there
        __syncthreads();
        int later = first + (STAGES - 1) * STEP, free = (now + STAGES - 1) % STAGES;
        if (later < k)
            ask(a_tiles + free * A_TILE, b_tiles + free * B_TILE, a, b, later, n, k);
        __pipeline_commit();
        const half *a_now = a_tiles + now * A_TILE + row * A_STRIDE, *b_now = b_tiles + now * B_TILE + column;
        for (int step = 0; step < STEP; step += 16)
            multiply(a_now + step, b_now + step * B_STRIDE, sums);
    }
    out += ((size_t)blockIdx.y * ROWS + row) * n + blockIdx.x * COLUMNS + column;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            wmma::store_matrix_sync(out + (size_t)16 * i * n + 16 * j, sums[i][j], n, wmma::mem_row_major);
}
"""


def multiply_code() -> str:
    """C++ of a function that MATMUL calls.

        __device__ void multiply(const half* a, const half* b, Sums sums[4][4])

    a: the first of 64 rows of 16 halves, A_STRIDE from row to row. b: the first of 16 rows of 64 halves, B_STRIDE from
    row to row. Both lie in shared memory. To sums[i][j] it adds rows 16 * i to 16 * i + 15 of a, multiplied by columns
    16 * j to 16 * j + 15 of b.
    """
    return r"""
    __device__ void multiply(const half* a, const half* b, Sums sums[4][4]) {
        Left left[4];
        Right right[4];
        for (int i = 0; i < 4; i++)
            wmma::load_matrix_sync(left[i], a + 16 * i * A_STRIDE, A_STRIDE);
        for (int j = 0; j < 4; j++)
            wmma::load_matrix_sync(right[j], b + 16 * j, B_STRIDE);
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++)
                wmma::mma_sync(sums[i][j], left[i], right[j], sums[i][j]);
    }
    """


@functools.cache
def matmul_kernel() -> tuple[cupy.RawKernel, int]:
    """The kernel, compiled with the strides that padded() gives, and its bytes of shared memory."""
    a_stride, b_stride = padded(32), padded(256)
    options = (*OPTIONS, f"-DA_STRIDE={a_stride}", f"-DB_STRIDE={b_stride}")
    kernel = cupy.RawKernel(FRAGMENTS + multiply_code() + MATMUL, "matmul", options)
    shared = 2 * 3 * (128 * a_stride + 32 * b_stride)
    kernel.max_dynamic_shared_size_bytes = shared  # more than 48 KiB have to be asked for
    return kernel, shared


def matmul(a: cupy.ndarray, b: cupy.ndarray, *, out: cupy.ndarray | None = None) -> cupy.ndarray:
    """a @ b by multiply_code(), eight warps a block. Given.

    As matmul_warps, with m a multiple of 128, n of 256 and k of 32.
    """
    (m, k), n = a.shape, b.shape[1]
    if m % 128 or n % 256 or k % 32:
        raise ValueError(f"m must be a multiple of 128, n of 256 and k of 32, not {m}, {n} and {k}")
    out = cupy.empty((m, n), np.float32) if out is None else out
    kernel, shared = matmul_kernel()
    kernel((n // 256, m // 128), (256,), (a, b, out, np.int32(n), np.int32(k)), shared_mem=shared)
    return out
