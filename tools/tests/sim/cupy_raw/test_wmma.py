"""Tensor cores in CUDA C++: what wmma computes, what it costs in memory, and how its misuse is named."""

import ml_dtypes
import numpy as np
import pytest

import tools.sim.cupy as cp
from tools.sim.cupy.device.errors import CompileException
from tools.tests.sim.cupy_raw.running import counted, fault_of, needs_compiler, per_line

pytestmark = needs_compiler

ONE_TILE = """
#include <mma.h>
using namespace nvcuda;

template <bool BY_ROWS> struct Order { using type = wmma::row_major; };
template <> struct Order<false> { using type = wmma::col_major; };

template <class T, class Stored, class Sum, int M, int N, int K, bool A_BY_ROWS, bool B_BY_ROWS, bool BY_ROWS>
__global__ void one_tile(const Stored* a, const Stored* b, const Sum* c, Sum* out) {
    wmma::fragment<wmma::matrix_a, M, N, K, T, typename Order<A_BY_ROWS>::type> left;
    wmma::fragment<wmma::matrix_b, M, N, K, T, typename Order<B_BY_ROWS>::type> right;
    wmma::fragment<wmma::accumulator, M, N, K, Sum> sum;
    const wmma::layout_t order = BY_ROWS ? wmma::mem_row_major : wmma::mem_col_major;
    wmma::load_matrix_sync(left, a, A_BY_ROWS ? K : M);
    wmma::load_matrix_sync(right, b, B_BY_ROWS ? N : K);
    wmma::load_matrix_sync(sum, c, BY_ROWS ? N : M, order);
    wmma::mma_sync(sum, left, right, sum);
    wmma::store_matrix_sync(out, sum, BY_ROWS ? N : M, order);
}
"""

TYPES = {  # of a fragment: what is stored, the sum, and the shapes
    "half": (np.float16, "half", "float"),
    "half, in half": (np.float16, "half", "half"),
    "__nv_bfloat16": (ml_dtypes.bfloat16, "__nv_bfloat16", "float"),
    "wmma::precision::tf32": (np.float32, "float", "float"),
    "signed char": (np.int8, "signed char", "int"),
    "unsigned char": (np.uint8, "unsigned char", "int"),
    "double": (np.float64, "double", "double"),
}
SUMS = {"float": np.float32, "half": np.float16, "int": np.int32, "double": np.float64}
CASES = [
    (name, (m, n, k), orders)
    for name in TYPES
    for m, n, k in (
        {"wmma::precision::tf32": [(16, 16, 8)], "double": [(8, 8, 4)]}.get(
            name, [(16, 16, 16), (32, 8, 16), (8, 32, 16)]
        )
    )
    for orders in (
        ((True, True, True), (False, False, False))
        if (m, n) != (16, 16)
        else ((True, True, True), (False, True, True), (True, False, False))
    )
]


def expression(case) -> str:
    name, (m, n, k), orders = case
    _, stored, sums = TYPES[name]
    flags = ", ".join(str(each).lower() for each in orders)
    return f"one_tile<{name.partition(',')[0]}, {stored}, {sums}, {m}, {n}, {k}, {flags}>"


@pytest.fixture(scope="module")
def module():
    return cp.RawModule(code=ONE_TILE, name_expressions=[expression(case) for case in CASES])


def laid_out(matrix: np.ndarray, by_rows: bool) -> cp.ndarray:
    return cp.asarray(np.ascontiguousarray(matrix if by_rows else matrix.T))


def numbers(name: str, *shape: int) -> np.ndarray:
    rng, (dtype, *_) = np.random.default_rng([*shape]), TYPES[name]
    if np.dtype(dtype).kind in "iu":
        return rng.integers(-100 if np.dtype(dtype).kind == "i" else 0, 100, shape).astype(dtype)
    values = rng.normal(size=shape).astype(np.float32).astype(dtype)
    if name == "wmma::precision::tf32":
        values = (values.view(np.uint32) & 0xFFFFE000).view(np.float32)
    return values


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_product_of_one_tile(module, case):
    name, (m, n, k), (a_by_rows, b_by_rows, by_rows) = case
    sums = SUMS[TYPES[name][2]]
    a, b = numbers(name, m, k), numbers(name, k, n)
    c = np.arange(m * n).reshape(m, n).astype(sums)
    out = cp.asarray(np.zeros((m, n) if by_rows else (n, m), sums))
    counters = counted(
        module.get_function(expression(case)),
        (1,),
        (32,),
        (laid_out(a, a_by_rows), laid_out(b, b_by_rows), laid_out(c, by_rows), out),
    )
    got = out.get() if by_rows else out.get().T
    want = (a.astype("f8") @ b.astype("f8") + c.astype("f8")).astype(sums)
    assert (got == want).all() if sums != np.float32 else np.allclose(got, want, rtol=1e-6)
    assert counters.flops == 2 * m * n * k
    (dot,) = per_line(counters, "dot")
    assert dot.source == "wmma::mma_sync(sum, left, right, sum);" and dot.counts.flops == counters.flops
    assert counters.bytes_loaded == a.nbytes + b.nbytes + c.nbytes and counters.bytes_stored == c.nbytes


@pytest.mark.parametrize(
    "name, orders, requests",
    [  # of a, of b and of c: instructions that nvcc makes of it for compute capability 9.0
        ("half", (True, True, True), (4, 4, 4)),
        ("half", (True, False, False), (4, 4, 8)),
        ("half, in half", (True, True, True), (4, 4, 4)),
        ("half, in half", (True, False, False), (4, 4, 4)),
        ("__nv_bfloat16", (False, True, True), (4, 4, 4)),
        ("wmma::precision::tf32", (True, True, True), (4, 4, 4)),
        ("signed char", (True, True, True), (2, 8, 4)),
        ("signed char", (False, True, True), (8, 8, 4)),
    ],
)
def test_loads_of_fragments_are_those_of_the_compiler(module, name, orders, requests):
    shape = (16, 16, 8) if "tf32" in name else (16, 16, 16)
    case = (name, shape, orders)
    a, b, c = (cp.asarray(np.zeros(256, TYPES[name][0])) for _ in "abc")
    c = cp.asarray(np.zeros(256, SUMS[TYPES[name][2]]))
    counters = counted(module.get_function(expression(case)), (1,), (32,), (a, b, c, c))
    assert tuple(line.counts.requests for line in per_line(counters, "load")) == requests


TILED = """
#include <mma.h>
#include <cuda_fp16.h>
using namespace nvcuda;
#define TILE 16
#define PADDED 24

extern "C" __global__ void tiled(const half* a, const half* b, float* c, int n) {
    __shared__ __align__(32) half a_tile[2][TILE][PADDED], b_tile[2][TILE][PADDED];
    int warp = threadIdx.x / 32, row = blockIdx.y * 32, column = blockIdx.x * 32;
    wmma::fragment<wmma::accumulator, TILE, TILE, TILE, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int first = 0; first < n; first += TILE) {
        for (int i = threadIdx.x; i < 2 * TILE * TILE; i += blockDim.x) {
            int y = i / TILE, x = i % TILE;
            a_tile[y / TILE][y % TILE][x] = a[(row + y) * n + first + x];
            b_tile[y / TILE][x][y % TILE] = b[(first + x) * n + column + y];
        }
        __syncthreads();
        wmma::fragment<wmma::matrix_a, TILE, TILE, TILE, half, wmma::row_major> left;
        wmma::fragment<wmma::matrix_b, TILE, TILE, TILE, half, wmma::row_major> right;
        wmma::load_matrix_sync(left, &a_tile[warp / 2][0][0], PADDED);
        wmma::load_matrix_sync(right, &b_tile[warp % 2][0][0], PADDED);
        wmma::mma_sync(sum, left, right, sum);
        __syncthreads();
    }
    for (int i = 0; i < sum.num_elements; i++) sum.x[i] = sum.x[i] * 2.0f;
    wmma::store_matrix_sync(c + (row + warp / 2 * TILE) * n + column + warp % 2 * TILE, sum, n, wmma::mem_row_major);
}
"""


def test_a_tiled_product_through_shared_memory():
    n = 64
    rng = np.random.default_rng(1)
    a, b = (rng.normal(size=(n, n)).astype(np.float16) for _ in "ab")
    c = cp.asarray(np.zeros((n, n), np.float32))
    counters = counted(cp.RawKernel(TILED, "tiled"), (2, 2), (128,), (cp.asarray(a), cp.asarray(b), c, np.int32(n)))
    assert np.allclose(c.get(), 2 * (a.astype("f4") @ b.astype("f4")), atol=1e-4)
    assert counters.flops == 2 * n**3 and "524,288 flops" in str(counters)
    left, right = [line for line in per_line(counters, "shared load") if "load_matrix" in line.source]
    assert left.counts.shared_requests == 4 * 4 * 4  # blocks, warps, steps: one ldmatrix each
    assert left.counts.wavefronts == 4 * 64 and left.counts.conflicts == 0  # rows of 48 bytes lie in other banks
    assert right.counts.wavefronts == 4 * 64


def test_tf32_drops_the_bits_that_were_not_rounded_away():
    code = """
#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void f(const float* x, float* out, bool round) {
    wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> c;
    wmma::load_matrix_sync(a, x, 8);
    wmma::fill_fragment(b, 1.0f);
    wmma::fill_fragment(c, 0.0f);
    if (round) for (int i = 0; i < a.num_elements; i++) a.x[i] = wmma::__float_to_tf32(a.x[i]);
    wmma::mma_sync(c, a, b, c);
    wmma::store_matrix_sync(out, c, 16, wmma::mem_row_major);
}
"""
    x = np.zeros((16, 8), np.float32)
    x[:, 0] = 1 + np.arange(16) * 2.0**-13  # a tf32 has steps of 2**-10 there
    kernel, out = cp.RawKernel(code, "f"), cp.asarray(np.zeros((16, 16), np.float32))
    for rounded in (False, True):
        kernel((1,), (32,), (cp.asarray(x), out, rounded))
        eighths = np.arange(16) / 8
        steps = np.floor(eighths + 0.5) if rounded else np.floor(eighths)
        assert out.get()[:, 0].tolist() == (1 + steps * 2.0**-10).tolist()


MISUSED = """
#include <mma.h>
using namespace nvcuda;
__device__ void product(const half* x, float* out, int lanes, int ldm, int offset, int of_lane) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a, empty;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
    if (threadIdx.x < lanes)
        wmma::load_matrix_sync(a, x + offset + of_lane * threadIdx.x, ldm); // load
    wmma::fill_fragment(b, half(1));
    wmma::fill_fragment(c, 0.0f);
    wmma::mma_sync(c, ldm == 32 ? empty : a, b, c); // product
    wmma::store_matrix_sync(out, c, 16, wmma::mem_row_major);
}
extern "C" __global__ void f(const half* x, float* out, int lanes, int ldm, int offset, int of_lane) {
    product(x, out, lanes, ldm, offset, of_lane);
}
"""


@pytest.mark.parametrize(
    "threads, arguments, here, says",
    [
        (32, (16, 16, 0, 0), "load", "all 32 lanes of a warp call together; lanes 16 to 31 did not come"),
        (40, (64, 16, 0, 0), "load", "all 32 lanes of a warp call together; lanes 8 to 31 did not come"),
        (32, (32, 16, 0, 16), "load", "another address or another stride"),
        (32, (32, 16, 8, 0), "load", "no multiple of 32 bytes"),
        (32, (32, 12, 0, 0), "load", "a stride to wmma whose bytes are no multiple of 16"),
        (32, (32, 32, 0, 0), "product", "a fragment to wmma::mma_sync in which nothing was put"),
        (32, (32, 64, 0, 0), "load", "of x; it has 512"),
    ],
)
def test_misuse_is_named(threads, arguments, here, says):
    x, out = cp.asarray(np.zeros(512, np.float16)), cp.asarray(np.zeros(256, np.float32))
    fault = fault_of(cp.RawKernel(MISUSED, "f"), (1,), (threads,), (x, out, *map(np.int32, arguments)))
    assert fault.source.endswith(f"// {here}") and says in " ".join(fault.text.split())


FRAGMENT = """
#include <mma.h>
using namespace nvcuda;
template <class Layout> __global__ void f(const half* x, bool shared, int first, int stride) {
    __shared__ __align__(32) half tile[16 * 24];
    for (int i = threadIdx.x; i < 256; i += 32) tile[i / 16 * 24 + i % 16] = x[i];
    __syncwarp();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, Layout> a;
    wmma::load_matrix_sync(a, (shared ? tile : x) + first, stride);
}
"""


@pytest.mark.parametrize(
    "layout, shared, first, stride, says",
    [
        ("row", False, 0, 32, "begins at element 0; the stride is 32. How many elements of x lie in one row?"),
        ("col", False, 0, 32, "begins at element 0; the stride is 32. How many elements of x lie in one column?"),
        ("row", False, 16, 16, "at element 16; the stride is 16. Which of the two is wrong, the address or the"),
        ("row", False, 528, 32, "the stride 32, row 16, column 16. That is not in x. In which row and column"),
        ("col", False, 528, 32, "the stride 32, column 16, row 16. That is not in x. In which column and row"),
        ("row", False, -16, 16, "begins at element -16: with the stride 16, row -1, column 0. That is not in x."),
        ("row", True, 16, 16, "Its fragment begins at element 16; the stride is 16. Should it begin there, with that"),
        ("col", True, 0, 16, "to which nothing was stored. Its fragment begins at element 0; the stride is 16. Should"),
        ("row", True, 0, 32, "of tile; it has 384. Its fragment begins at element 0; the stride is 32."),
    ],
)
def test_a_fault_of_a_load_says_where_its_fragment_begins(layout, shared, first, stride, says):
    name = f"f<wmma::{layout}_major>"
    kernel = cp.RawModule(code=FRAGMENT, name_expressions=[name]).get_function(name)
    x = cp.asarray(np.zeros(256, np.float16))
    fault = fault_of(kernel, (1,), (32,), (x, shared, np.int32(first), np.int32(stride)))
    assert says in " ".join(fault.text.split())
    assert max(map(len, fault.text.splitlines())) <= 80


def test_an_access_after_a_fragment_is_a_threads_own():
    code = """
#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void f(const half* x, float* out) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
    wmma::load_matrix_sync(a, x, 16);
    out[threadIdx.x] = a.x[0]; // out
}
"""
    x, out = cp.asarray(np.zeros(256, np.float16)), cp.asarray(np.zeros(16, np.float32))
    fault = fault_of(cp.RawKernel(code, "f"), (1,), (32,), (x, out))
    assert "of out; it has 16." in fault.text and "fragment" not in fault.text


def test_fragments_that_tensor_cores_do_not_have():
    code = """
#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void f(float* out) {
    wmma::fragment<wmma::accumulator, 16, 8, 16, float> c;
    wmma::fill_fragment(c, 0.0f);
}
"""
    with pytest.raises(CompileException, match="tensor cores have no fragment of this shape and type"):
        cp.RawKernel(code, "f")((1,), (32,), (cp.asarray(np.zeros(1, np.float32)),))


def test_a_fragment_stored_and_read_by_other_lanes_needs_a_barrier():
    code = """
#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void f(float* out, bool wait) {
    __shared__ __align__(32) float tile[256];
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
    wmma::fill_fragment(c, 3.0f);
    wmma::store_matrix_sync(tile, c, 16, wmma::mem_row_major);
    if (wait) __syncwarp();
    out[threadIdx.x] = tile[threadIdx.x * 8]; // read
}
"""
    kernel, out = cp.RawKernel(code, "f"), cp.asarray(np.zeros(32, np.float32))
    kernel((1,), (32,), (out, True))
    assert out.get().tolist() == [3.0] * 32
    fault = fault_of(kernel, (1,), (32,), (out, False))
    assert fault.kind == "race" and "line" in fault.text


HELD = """
#include <mma.h>
using namespace nvcuda;
template <class Use, int M, int N, int K, class T, class Stored, class Layout>
__global__ void held(const Stored* from, float* out, int ldm) {
    wmma::fragment<Use, M, N, K, T, Layout> part;
    wmma::load_matrix_sync(part, from, ldm);
    for (int i = 0; i < part.num_elements; i++) out[threadIdx.x * part.num_elements + i] = float(part.x[i]);
}
"""
# Of lane 5, as an H100 gave them with CUDA 13 on 2026-11-23: numbers of the elements in memory.
OF_LANE_5 = {
    ("matrix_a, 16, 16, 16, half, half", "row", 16): [18, 19, 146, 147, 26, 27, 154, 155] * 2,
    ("matrix_b, 16, 16, 16, half, half", "row", 16): [33, 49, 161, 177, 41, 57, 169, 185] * 2,
    ("matrix_b, 8, 32, 16, __nv_bfloat16, __nv_bfloat16", "col", 16): [
        *(18, 19, 146, 147, 26, 27, 154, 155),
        *(18, 19, 146, 147, 26, 27, 154, 155),  # 256 is 0 there
    ],
    ("matrix_a, 16, 16, 16, unsigned char, unsigned char", "row", 16): [20, 21, 22, 23, 148, 149, 150, 151],
    ("matrix_a, 16, 16, 8, wmma::precision::tf32, float", "row", 8): [9, 73, 13, 77],
}


def test_lanes_hold_the_elements_that_an_h100_gives_them():
    names = [f"held<wmma::{which}, wmma::{order}_major>" for which, order, _ in OF_LANE_5]
    module = cp.RawModule(code=HELD, name_expressions=names)
    for name, ((which, _, ldm), wanted) in zip(names, OF_LANE_5.items()):
        dtype = {"half": np.float16, "float": np.float32, "unsigned char": np.uint8}.get(
            which.rpartition(", ")[2], ml_dtypes.bfloat16
        )
        numbers = (np.arange(512) % 256).astype(np.float32).astype(dtype)
        out = cp.asarray(np.zeros(32 * len(wanted), np.float32))
        module.get_function(name)((1,), (32,), (cp.asarray(numbers), out, np.int32(ldm)))
        assert out.get().reshape(32, -1)[5].tolist() == wanted, name
