"""Week 2, kata: CUDA C++

Challenge
    The libraries that you have raced so far, and most kernels that you will read, are written in CUDA C++. You know
    their ideas from Numba; here you write them in C++, as texts that CuPy compiles at the first launch. The last one,
    task 4, is for a second sitting: it multiplies matrices without tensor cores, and is built to come close to cuBLAS.

        one step of a thread along k, with 2 x 2 outputs in place of 8 x 16
                    right   3   5           it takes 2 + 2 floats from shared memory, left and right,
            left  1         3   5           and adds 2 * 2 products to its sums, which stay in
                  2         6  10           registers: one load for each product. With 8 x 16: 24 for 128

Explore
    ./course count week2/katas/cuda_cpp
    The line of matmul_tiled that takes from a_tile and b_tile: how many bytes pass there for each product of two?

Concept
    Kernel: in CUDA C++ a kernel is a function that returns nothing, __global__ void NAME(...). A variable has a type,
    float x or int i; const float* x is an array that is only read, float* out one to store in. `extern "C"` keeps the
    name as it is written, so that cupy.RawKernel(code, name) finds it. ADD below is a whole kernel.
    Launch: kernel(grid, block, args), with grid and block as tuples of blocks and of threads: x first. CuPy does not
    read the parameters of a kernel; it hands over the bytes of each argument. So a number needs the kernel's type:
    np.int32(n) for int, x.dtype.type(a) for the type of x's elements. A Python float has the bytes of a double.
    Template: template <typename T> in place of `extern "C"` leaves a type open; T then stands where float would.
    Whoever launches it names the type, as in saxpy<float>. A number 2.0 is a double, 2.0f a float: one double in a
    formula makes the whole of it double, and an H100 does half as many of these.
    Loops: for (int i = start; i < stop; i += step) is range(start, stop, step). `sum += x` and `distance /= 2` change
    a variable; && is and. Braces hold what belongs to a loop or an if; a single statement needs none.
    Warps: __shfl_down_sync(0xffffffff, value, distance) gives a lane the `value` of the lane `distance` higher, or its
    own where there is none. 0xffffffff names all 32 lanes, and all of them must come to it. Each lane adds what it is
    given to its own sum: after distances 16, 8, 4, 2 and 1 the sum of all 32 is in lane 0. atomicAdd(out, value) adds
    to out[0] in one step. Numba's names remain: blockIdx.x, blockDim.x, gridDim.x (how many blocks), threadIdx.x.
    Shared memory: __shared__ float tile[32][33]; is one array for the block, and __syncthreads() its barrier. Rows of
    33 put the elements of a column into 32 different banks, where rows of 32 put them all into one.
    Transposing: a block reads 32 x 32 elements row by row into a tile, waits, and stores them with the tile's rows
    and columns exchanged: then both accesses of global memory are of neighbours. Each of its 32 x 8 threads does four
    of them: with y = threadIdx.y those of rows y, y + 8, y + 16 and y + 24. An array in global memory has one index:
    row * columns + column.
    Device function: __device__ void NAME(...), called by kernels, stores its results where a float* points to.
    The address of an element is &x[i] or x + i. copy_four(to, from), below, moves four neighbours by one instruction.
    Register tile: a thread with one output takes two floats from shared memory for each product and is held up by
    them. With 8 x 16 outputs it takes 24 for 128 products. Sums in an array stay in registers if all indices are known
    to the compiler: `#pragma unroll` above a loop asks it to write the turns one after the other. It may do so unasked,
    as NVIDIA's does here; to be sure, both loops of add_products ask for it. Of KERNEL, below, which need not be read
    for task 4: it takes the floats of the next step before it multiplies those of this one. Its tiles come by
    asynchronous copies: threads ask for a tile two tiles ahead of its turn, and multiply while it is on its way.

Code it
    Task 1  saxpy_code, saxpy: a kernel for any type, and its launch                (four lines, and two)
    Task 2  total_code: grid-stride loop, five shuffles, an atomic for each warp           (eight lines)
    Task 3  transpose_code: a tile of 32 x 32 with rows of 33                                (ten lines)
    Task 4  predict_bytes: loaded for each product, from global and from shared memory          (one line)
            products_code: what a thread takes, and its 8 x 16 products                   (thirteen lines)

Verify
    pytest week2/katas/cuda_cpp        then: ./course quiz week2/katas/cuda_cpp
    Reflect: a thread with 16 x 16 outputs would take a third fewer floats for a product. What would it run out of?

Simulated without a GPU: your C++ is compiled for this machine's CPU. Results, types, races, bytes and wavefronts are
exact; time is not simulated. NVIDIA's compiler is the real one.
"""

import functools
import os

import numpy as np

from tools.gpu import cupy

THREADS = 256
C_TYPES = {"float32": "float", "float64": "double"}  # names of types in C++
ADD = r"""
extern "C" __global__ void add(const float* x, const float* y, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = x[i] + y[i];
}
"""


# Given: a kernel and its launch
@functools.cache
def add_kernel() -> cupy.RawKernel:
    return cupy.RawKernel(ADD, "add")


def blocks_for(n: int) -> int:
    """Blocks of THREADS threads with a thread for each of n elements; at least one."""
    return max(1, -(-n // THREADS))


def add(x: cupy.ndarray, y: cupy.ndarray, *, out: cupy.ndarray | None = None) -> cupy.ndarray:
    """x + y. x, y: float32 of one length. out: likewise, allocated if not given."""
    out = cupy.empty_like(x) if out is None else out
    n = x.size
    add_kernel()((blocks_for(n),), (THREADS,), (x, y, out, np.int32(n)))
    return out


# Task 1
def saxpy_code() -> str:
    """C++ of the kernel template saxpy(T a, const T* x, const T* y, T* out, int n): out[i] = a * x[i] + y[i].

    Whole blocks with a thread for each element, so the last may have more threads than elements. The arrays have n
    elements of the type T.
    """
    raise NotImplementedError("week2/katas/cuda_cpp task 1: saxpy_code")


@functools.cache
def saxpy_kernel(dtype: str) -> cupy.RawKernel:
    """The kernel of saxpy_code() for "float32" or "float64". Given."""
    name = f"saxpy<{C_TYPES[dtype]}>"
    return cupy.RawModule(code=saxpy_code(), name_expressions=[name]).get_function(name)


def saxpy(a: float, x: cupy.ndarray, y: cupy.ndarray, *, out: cupy.ndarray | None = None) -> cupy.ndarray:
    """a * x + y in one launch of saxpy_kernel(x.dtype.name), in as many blocks as blocks_for says.

    The kernel stores in out itself, and the host does not wait for it.

    x, y: float32 or float64, both alike, of any one length below 2**31. out: likewise, allocated if not given.
    """
    out = cupy.empty_like(x) if out is None else out
    n = x.size
    raise NotImplementedError("week2/katas/cuda_cpp task 1: saxpy")


# Task 2
def total_code() -> str:
    """C++ of the kernel extern "C" total(const float* x, float* out, int n): it adds the sum of x to out[0].

    Any number of blocks of whole warps. Each thread takes every gridDim.x * blockDim.x-th element.
    """
    raise NotImplementedError("week2/katas/cuda_cpp task 2: total_code")


@functools.cache
def total_kernel() -> cupy.RawKernel:
    return cupy.RawKernel(total_code(), "total")


def total(x: cupy.ndarray, *, blocks: int = 1056, out: cupy.ndarray | None = None) -> cupy.ndarray:
    """The sum of x by total_code(), in the given number of blocks or fewer. Given.

    x: float32, fewer than 2**30 elements. out: (1,) float32, allocated if not given; what it held does not count.
    """
    out = cupy.empty(1, np.float32) if out is None else out
    out.fill(0)
    total_kernel()((min(blocks, blocks_for(x.size)),), (THREADS,), (x, out, np.int32(x.size)))
    return out


# Task 3
def transpose_code() -> str:
    """C++ of the kernel extern "C" transpose(const float* x, float* out, int rows, int columns): out is x transposed.

    Blocks of 32 x 8 threads, each for the 32 x 32 elements from row 32 * blockIdx.y and column 32 * blockIdx.x of x
    on, as far as they exist. x: rows x columns elements; out: columns x rows.
    """
    raise NotImplementedError("week2/katas/cuda_cpp task 3: transpose_code")


@functools.cache
def transpose_kernel() -> cupy.RawKernel:
    return cupy.RawKernel(transpose_code(), "transpose")


def transpose(x: cupy.ndarray, *, out: cupy.ndarray | None = None) -> cupy.ndarray:
    """x transposed, in memory too, by transpose_code(). Given.

    x: (rows, columns) float32, fewer than 2**31 elements. out: (columns, rows), allocated if not given.
    """
    rows, columns = x.shape
    out = cupy.empty((columns, rows), x.dtype) if out is None else out
    grid = max(1, -(-columns // 32)), max(1, -(-rows // 32))
    transpose_kernel()(grid, (32, 8), (x, out, np.int32(rows), np.int32(columns)))
    return out


# Task 4
TILED = r"""
extern "C" __global__ void tiled(const float* a, const float* b, float* out, int n, int k) {
    __shared__ float a_tile[32][32], b_tile[32][32];
    int x = threadIdx.x, y = threadIdx.y, row = 32 * blockIdx.y + y, column = 32 * blockIdx.x + x;
    float sum = 0;
    for (int first = 0; first < k; first += 32) {
        a_tile[y][x] = a[row * k + first + x];
        b_tile[y][x] = b[(first + y) * n + column];
        __syncthreads();
        for (int step = 0; step < 32; step++)
            sum += a_tile[y][step] * b_tile[step][x];
        __syncthreads();
    }
    out[row * n + column] = sum;
}
"""
HEAD = r"""
__device__ void copy_four(float* to, const float* from) {  // both at an address that 16 divides
    *(float4*)to = *(const float4*)from;
}
"""
KERNEL = r"""
#include <cuda_pipeline.h>

const int ROWS = 128, COLUMNS = 256, STEP = 16, STAGES = 3;  // outputs of a block; step along k; tiles at a time

// A tile of each matrix. That of a is transposed, with its row r in column r ^ 8 * (step / 4): so the 32 floats that a
// warp copies at a time go to 32 banks.
struct Stage {
    float a[STEP][ROWS], b[STEP][COLUMNS];
};

// Asks for 8 floats of a and 16 of b, which arrive later. a, b: where this thread's first are.
__device__ void ask(Stage& stage, const float* a, const float* b, int n, int k) {
    int t = threadIdx.x;
    for (int row = 0; row < ROWS; row += 64)
        for (int i = 0; i < 4; i++)
            __pipeline_memcpy_async(&stage.a[4 * (t % 4) + i][(row + t / 4) ^ 8 * (t % 4)], a + (size_t)row * k + i, 4);
    for (int step = 0; step < STEP; step += 4)
        __pipeline_memcpy_async(&stage.b[step + t / 64][4 * (t % 64)], b + (size_t)step * n, 16);
}

extern "C" __global__ __launch_bounds__(256, 1) void matmul(const float* a, const float* b, float* out, int n, int k) {
    extern __shared__ __align__(16) Stage stages[];
    float left[2][8], right[2][16], sums[8][16] = {};
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    // Of the thread's first output. The 8 x 4 lanes are so ordered that each take of a warp needs two wavefronts.
    int row = 64 * (warp / 4) + 4 * (lane / 8 * 2 + lane / 2 % 2);
    int column = 64 * (warp % 4) + 4 * (lane / 4 % 2 * 2 + lane % 2);
    a += ((size_t)blockIdx.y * ROWS + threadIdx.x / 4) * k + 4 * (threadIdx.x % 4);
    b += (size_t)(threadIdx.x / 64) * n + blockIdx.x * COLUMNS + 4 * (threadIdx.x % 64);
    for (int stage = 0; stage < STAGES - 1; stage++) {
        if (stage * STEP < k)
            ask(stages[stage], a + stage * STEP, b + (size_t)stage * STEP * n, n, k);
        __pipeline_commit();
    }
    __pipeline_wait_prior(STAGES - 2);  // until all copies have arrived but those of the last commit
    __syncthreads();
    take(stages[0].a[0], stages[0].b[0], row, column, left[0], right[0]);
    for (int first = 0, now = 0; first < k; first += STEP) {
        int later = first + (STAGES - 1) * STEP;
        #pragma unroll
        for (int step = 0; step < STEP; step++) {
            int then = (step + 1) % STEP, side = then % 2;  // where the floats of the next step go
            if (then == 0) {
                __pipeline_wait_prior(STAGES - 2);
                __syncthreads();
                now = (now + 1) % STAGES;
            }
            if (then > 0 || first + STEP < k)
                take(stages[now].a[then], stages[now].b[then], row ^ 8 * (then / 4), column, left[side], right[side]);
            if (step == 0) {
                if (later < k)
                    ask(stages[(now + STAGES - 1) % STAGES], a + later, b + (size_t)later * n, n, k);
                __pipeline_commit();
            }
            add_products(left[1 - side], right[1 - side], sums);
        }
    }
    out += ((size_t)blockIdx.y * ROWS + row) * n + blockIdx.x * COLUMNS + column;
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 16; j += 4)
            copy_four(out + (size_t)(i + i / 4 * 28) * n + 4 * j, &sums[i][j]);
}
"""
SHARED = 3 * 4 * 16 * (128 + 256)  # bytes of stages
# Where cuda_pipeline.h is, if CuPy's own headers have it not
OPTIONS = (f"-I{os.environ.get('CUDA_PATH', '/usr/local/cuda')}/include",)


def predict_bytes(tile: tuple[int, int], each: tuple[int, int]) -> tuple[float, float]:
    """Bytes that a @ b in float32 loads for each product of two floats: from global memory, then from shared memory.

    tile: rows and columns of a block's outputs; each: of a thread's. The whole of a @ b makes m * n * k products. For
    each k a block loads the floats of its rows and of its columns from global memory once, and a thread loads those of
    its own rows and columns from shared memory.
    """
    raise NotImplementedError("week2/katas/cuda_cpp task 4: predict_bytes")


def products_code() -> str:
    """C++ of two device functions, which KERNEL below calls for each step along k.

    void take(const float* a, const float* b, int row, int column, float* left, float* right)
        left: a[row] to a[row + 3] and a[row + 32] to a[row + 35]; right: b[column] to b[column + 3], and the same from
        column + 16, + 32 and + 48 on. These 8 rows and 16 columns of the block's outputs are the thread's.
        row and column are multiples of 4; all four arrays begin at an address that 16 divides.
    void add_products(const float* left, const float* right, float sums[8][16])
        adds left[i] * right[j] to sums[i][j].
    """
    raise NotImplementedError("week2/katas/cuda_cpp task 4: products_code")


@functools.cache
def tiled_kernel() -> cupy.RawKernel:
    return cupy.RawKernel(TILED, "tiled")


@functools.cache
def matmul_kernel() -> cupy.RawKernel:
    kernel = cupy.RawKernel(HEAD + products_code() + KERNEL, "matmul", OPTIONS)
    kernel.max_dynamic_shared_size_bytes = SHARED  # more than 48 KiB have to be asked for
    return kernel


def product(kernel: cupy.RawKernel, tile: tuple, step: int, block: tuple, a: cupy.ndarray, b: cupy.ndarray,
            out: cupy.ndarray | None, shared: int = 0) -> cupy.ndarray:
    """a @ b by a kernel whose blocks have a tile of outputs, rows and columns, and go along k in steps.

    shared: bytes of dynamic shared memory.
    """
    (m, k), n, (rows, columns) = a.shape, b.shape[1], tile
    if m % rows or n % columns or k % step or k == 0:
        raise ValueError(f"m must be a multiple of {rows}, n of {columns} and k of {step}, not {m}, {n} and {k}")
    out = cupy.empty((m, n), np.float32) if out is None else out
    kernel((n // columns, m // rows), block, (a, b, out, np.int32(n), np.int32(k)), shared_mem=shared)
    return out


def matmul_tiled(a: cupy.ndarray, b: cupy.ndarray, *, out: cupy.ndarray | None = None) -> cupy.ndarray:
    """a @ b by TILED, one output a thread. Given. float32, contiguous; all lengths are multiples of 32."""
    return product(tiled_kernel(), (32, 32), 32, (32, 32), a, b, out)


def matmul(a: cupy.ndarray, b: cupy.ndarray, *, out: cupy.ndarray | None = None) -> cupy.ndarray:
    """a @ b by KERNEL, 8 x 16 outputs a thread. Given. float32, contiguous; m a multiple of 128, n of 256, k of 16."""
    return product(matmul_kernel(), (128, 256), 16, (256,), a, b, out, SHARED)
