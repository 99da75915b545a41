"""Numbers of 16 bits, as cuda_fp16.h has them, against NumPy's float16."""

import numpy as np
import pytest

import tools.sim.cupy as cp
from tools.tests.sim.cupy_raw.running import counted, fault_of, needs_compiler, per_line, zeros

pytestmark = needs_compiler

BINARY = {
    "x + y": np.add,
    "x - y": np.subtract,
    "x * y": np.multiply,
    "x / y": np.divide,
    "__hadd(x, y)": np.add,
    "__hsub(x, y)": np.subtract,
    "__hmul(x, y)": np.multiply,
    "__hdiv(x, y)": np.divide,
    "__hmin(x, y)": np.minimum,
    "__hmax(x, y)": np.maximum,
    "__hneg(x)": lambda x, y: -x,
    "-x": lambda x, y: -x,
    "__habs(x)": lambda x, y: np.abs(x),
    "hsqrt(__habs(x))": lambda x, y: np.sqrt(np.abs(x)),
    "half(x < y)": np.less,
    "half(__hge(x, y))": np.greater_equal,
    "half(x == y)": np.equal,
    "half(__hisnan(x))": lambda x, y: np.isnan(x),
    "__int2half_rn(7)": lambda x, y: np.full_like(x, 7),
    "__float2half(2 * __half2float(x))": lambda x, y: x + x,
    "half(float(x) + 1.0f)": lambda x, y: x + np.float16(1),
    "__ushort_as_half(__half_as_ushort(x))": lambda x, y: x,
    "__low2half(__hadd2(make_half2(x, y), __half2half2(y)))": np.add,
    "__high2half(__hmul2(__halves2half2(x, y), make_half2(y, y)))": lambda x, y: y * y,
    "__float2half(__half22float2(make_half2(x, y)).y)": lambda x, y: y,
}

CODE = (
    r"""
#include <cuda_fp16.h>

extern "C" __global__ void from_float(const float* x, half* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = __float2half(x[i]);
}
extern "C" __global__ void to_float(const half* x, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = __half2float(x[i]);
}
extern "C" __global__ void fused(const half* x, const half* y, const half* z, half* out) {
    int i = threadIdx.x;
    out[i] = __hfma(x[i], y[i], z[i]);
}
extern "C" __global__ void in_memory(const half* x, const half2* pairs, half* out, half2* out_pairs) {
    __shared__ half tile[32];
    int i = threadIdx.x;
    tile[i] = x[i];
    __syncthreads();
    half value = tile[31 - i];
    value += tile[i];
    out[i] = value;
    out_pairs[i] += pairs[i];
    __syncthreads();
    atomicAdd(out, half(1));
}
extern "C" __global__ void shuffled(const half* x, half* out) {
    out[threadIdx.x] = __shfl_xor_sync(0xffffffff, x[threadIdx.x], 1);
}
extern "C" __global__ void beyond(const half* x, float* out) {
    out[threadIdx.x] = x[threadIdx.x]; // here
}
extern "C" __global__ void binary(const half* in, const half* other, half* out) {
    half x = in[threadIdx.x], y = other[threadIdx.x];
"""
    + "\n".join(
        f"    out[{number} * blockDim.x + threadIdx.x] = {expression};" for number, expression in enumerate(BINARY)
    )
    + "\n}\n"
)


@pytest.fixture(scope="module")
def module():
    return cp.RawModule(code=CODE)


def same(got: np.ndarray, want: np.ndarray) -> bool:
    return bool(((got == want) | np.isnan(got) & np.isnan(want)).all())


def test_every_half_becomes_its_float(module):
    x = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    out = zeros(x.size)
    module.get_function("to_float")((64,), (1024,), (cp.asarray(x), out))
    assert same(out.get(), x.astype(np.float32))


def test_floats_are_rounded_to_the_nearest_half_ties_to_even(module):
    halves = np.arange(0x7C00, dtype=np.uint16).view(np.float16).astype(np.float32)
    between = (halves[1:] + halves[:-1]) / 2
    near = np.concatenate(
        [
            between,
            np.nextafter(between, np.float32(0)),
            np.nextafter(between, np.float32(np.inf)),
            [65519, 65520, 1e30, np.inf, np.nan, 1e-30, 0.0],
        ]
    ).astype(np.float32)
    x = np.concatenate([near, -near])
    out = zeros(x.size, np.float16)
    module.get_function("from_float")((-(-x.size // 256),), (256,), (cp.asarray(x), out, x.size))
    with np.errstate(over="ignore"):
        assert same(out.get(), x.astype(np.float16))


def test_arithmetic_is_rounded_once(module):
    rng = np.random.default_rng(5)
    x, y = (rng.integers(0, 1 << 16, 1024).astype(np.uint16).view(np.float16) for _ in range(2))
    out = zeros(x.size * len(BINARY), np.float16)
    module.get_function("binary")((1,), (x.size,), (cp.asarray(x), cp.asarray(y), out))
    number = ~np.isnan(x) & ~np.isnan(y)
    with np.errstate(all="ignore"):
        for (expression, meaning), row in zip(BINARY.items(), out.get().reshape(len(BINARY), -1)):
            want = np.asarray(meaning(x, y)).astype(np.float16)
            assert same(row[number], want[number]), expression


def test_a_fused_product_and_sum(module):
    rng = np.random.default_rng(6)
    x, y, z = (rng.normal(0, 4, 512).astype(np.float16) for _ in range(3))
    out = zeros(512, np.float16)
    module.get_function("fused")((1,), (512,), (*map(cp.asarray, (x, y, z)), out))
    exact = x.astype(np.float64) * y.astype(np.float64) + z.astype(np.float64)
    assert same(out.get(), exact.astype(np.float16))


def test_halves_in_memory_are_counted_at_their_lines(module):
    x, pairs = np.arange(32, dtype=np.float16), np.arange(64, dtype=np.float16)
    out, out_pairs = zeros(32, np.float16), cp.asarray(np.ones(64, np.float16))
    counters = counted(
        module.get_function("in_memory"),
        (1,),
        (32,),
        (cp.asarray(x), cp.asarray(pairs.view(np.int32)), out, cp.asarray(out_pairs.view(np.int32))),
    )
    assert out.get().tolist() == [31 + 32, *[31] * 31]
    assert [line.counts.bytes_loaded for line in per_line(counters, "load")] == [64, 256]
    assert [line.counts.bytes_shared for line in per_line(counters, "shared load")] == [64, 64]
    assert per_line(counters, "atomic")[0].counts.bytes_atomic == 64


def test_halves_are_shuffled(module):
    x, out = np.arange(32, dtype=np.float16), zeros(32, np.float16)
    module.get_function("shuffled")((1,), (32,), (cp.asarray(x), out))
    assert out.get().tolist() == x.reshape(16, 2)[:, ::-1].ravel().tolist()


def test_a_half_past_the_end(module):
    fault = fault_of(module.get_function("beyond"), (1,), (32,), (cp.asarray(np.zeros(20, np.float16)), zeros(32)))
    assert fault.source.endswith("// here") and fault.index == 20 and fault.array == "x"
