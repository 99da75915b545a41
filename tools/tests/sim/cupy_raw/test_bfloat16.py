"""Numbers of 16 bits of both kinds, by names that cuda_fp16.h and cuda_bf16.h share, against NumPy and ml_dtypes."""

from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest

import tools.sim.cupy as cp
from tools.tests.sim.cupy_raw.running import counted, fault_of, needs_compiler, per_line, zeros

pytestmark = needs_compiler

TYPES = {"half": np.dtype(np.float16), "bfloat16": np.dtype(ml_dtypes.bfloat16)}
FRACTION = {"half": 10, "bfloat16": 7}
IN_CPP = {"half": ("half", "half2"), "bfloat16": ("__nv_bfloat16", "__nv_bfloat162")}

# Expressions of x and y, and what they are in float64, which is rounded to 16 bits.
OF_TWO = {
    "x + y": lambda x, y: x + y,
    "__hsub(x, y)": lambda x, y: x - y,
    "x * y": lambda x, y: x * y,
    "__hdiv(x, y)": lambda x, y: x / y,
    "__hadd_sat(x, y)": lambda x, y: np.clip(x + y, 0, 1),
    "__hmul_sat(x, y)": lambda x, y: np.clip(x * y, 0, 1),
    "__hmin(x, y)": np.minimum,
    "__hmax_nan(x, y)": np.maximum,
    "__hneg(x)": lambda x, y: -x,
    "__hcopysign(x, y)": np.copysign,
    "T(__hlt(x, y))": lambda x, y: x < y,
    "T(__hne(x, x))": lambda x, y: x != x,
    "hsqrt(__habs(x))": lambda x, y: np.sqrt(np.abs(x)),
    "hexp(__hmin(x, T(4)))": lambda x, y: np.exp(np.minimum(x, 4)),
    "hrcp(x)": lambda x, y: 1 / x,
    "htrunc(x)": lambda x, y: np.trunc(x),
    "hrint(x)": lambda x, y: np.rint(x),
    "__hadd2(T2{x, y}, T2{y, y}).x": lambda x, y: x + y,
    "__hmul2(T2{x, y}, T2{y, y}).y": lambda x, y: y * y,
    "__hmax2(T2{x, x}, T2{y, x}).x": np.maximum,
    "(T2{x, y} - T2{y, x}).y": lambda x, y: y - x,
    "__hneg2(T2{x, y}).y": lambda x, y: -y,
    "__heq2(T2{x, y}, T2{x, x}).x": lambda x, y: x == x,
    "T(__hbge2(T2{x, y}, T2{x, x}))": lambda x, y: (x >= x) & (y >= x),
    "h2sqrt(T2{x, __habs(y)}).y": lambda x, y: np.sqrt(np.abs(y)),
    "__lowhigh2highlow(T2{x, y}).x": lambda x, y: y,
    "T(__low2float(T2{x, y}) + __high2float(T2{x, y}))": lambda x, y: x.astype("f4") + y.astype("f4"),
}

CODE = """
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#define FUSED(NAME, T) extern "C" __global__ void fused_##NAME(const T* x, const T* y, const T* z, T* out) { \\
    int i = blockIdx.x * blockDim.x + threadIdx.x; \\
    out[i] = __hfma(x[i], y[i], z[i]); \\
}
#define ROUND(NAME, T) extern "C" __global__ void round_##NAME(const float* x, T* out, int n) { \\
    int i = blockIdx.x * blockDim.x + threadIdx.x; \\
    if (i >= n) return; \\
    out[i] = __float2##NAME(x[i]); \\
    out[n + i] = __float2##NAME##_rz(x[i]); \\
    out[2 * n + i] = __float2##NAME##_rd(x[i]); \\
    out[3 * n + i] = __float2##NAME##_ru(x[i]); \\
}
FUSED(half, half)
FUSED(bfloat16, __nv_bfloat16)
ROUND(half, half)
ROUND(bfloat16, __nv_bfloat16)
extern "C" __global__ void widen(const __nv_bfloat16* x, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = __bfloat162float(x[i]);
}
extern "C" __global__ void whole(const __nv_bfloat16* x, int* out) {
    int i = threadIdx.x;
    out[i] = __bfloat162int_rn(x[i]);
    out[32 + i] = __bfloat162int_rz(x[i]);
    out[64 + i] = __half2short_rz(half(float(x[i])));
}
extern "C" __global__ void sum(const __nv_bfloat162* x, float* out) {
    int i = threadIdx.x;
    __nv_bfloat162 v = x[i];
    float2 wide = __bfloat1622float2(v);
    float both = wide.x + wide.y;
    for (int away = 16; away; away /= 2) both += __shfl_xor_sync(0xffffffff, both, away);
    out[i] = both;
}
extern "C" __global__ void add(__nv_bfloat16* x) {
    atomicAdd(x, __float2bfloat16(1.0f));
}
extern "C" __global__ void beyond(const __nv_bfloat16* x, float* out) {
    out[threadIdx.x] = x[threadIdx.x]; // here
}
""" + "\n".join(
    f'extern "C" __global__ void binary_{name}(const {one}* in, const {one}* other, {one}* out) {{\n'
    f"    using T = {one}; using T2 = {two};\n    T x = in[threadIdx.x], y = other[threadIdx.x];\n"
    + "\n".join(f"    out[{number} * blockDim.x + threadIdx.x] = {text};" for number, text in enumerate(OF_TWO))
    + "\n}\n"
    for name, (one, two) in IN_CPP.items()
)


@pytest.fixture(scope="module")
def module():
    return cp.RawModule(code=CODE)


def same(got: np.ndarray, want: np.ndarray) -> np.ndarray:
    """Equal bits, whatever kind of NaN."""
    nan = np.isnan(got.astype(np.float64)) & np.isnan(want.astype(np.float64))
    return nan | (got.view(np.uint16) == want.view(np.uint16))


def any_bits(name: str, size: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 1 << 16, size).astype(np.uint16).view(TYPES[name])


def test_every_bfloat16_becomes_its_float(module):
    x = np.arange(1 << 14, dtype=np.uint16) * 4 + 1
    out = zeros(x.size)
    module.get_function("widen")((16,), (1024,), (cp.asarray(x.view(TYPES["bfloat16"])), out))
    want = (x.astype(np.uint32) << 16).view(np.float32)
    assert ((out.get() == want) | np.isnan(want) & np.isnan(out.get())).all()


@pytest.mark.parametrize("name", TYPES)
def test_functions_of_two_numbers_round_once(module, name):
    x, y = any_bits(name, 1024, 1), any_bits(name, 1024, 2)
    out = cp.asarray(np.zeros(1024 * len(OF_TWO), TYPES[name]))
    module.get_function(f"binary_{name}")((1,), (1024,), (cp.asarray(x), cp.asarray(y), out))
    number = ~np.isnan(x.astype("f8")) & ~np.isnan(y.astype("f8"))
    with np.errstate(all="ignore"):
        for (text, meaning), row in zip(OF_TWO.items(), out.get().reshape(len(OF_TWO), -1)):
            exact = np.asarray(meaning(x.astype("f8"), y.astype("f8"))).astype("f8")
            right = same(row, exact.astype(TYPES[name]))
            zero = exact == 0  # of minima and sums of zeros, C++ and NumPy may give either
            assert (right | zero)[number].all(), text


@pytest.mark.parametrize("name", TYPES)
def test_floats_are_rounded_in_four_ways(module, name):
    bits = np.random.default_rng(3).integers(0, 1 << 32, 2000, dtype=np.uint32)
    near = any_bits(name, 2000, 4).astype(np.float32)
    ends = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 65504, 65519.9, 65520, 3.39e38, -3.39e38, 1e-45], np.float32)
    with np.errstate(all="ignore"):
        x = np.concatenate([bits.view(np.float32), near, np.nextafter(near, np.float32(9)), ends])
    out = cp.asarray(np.zeros(4 * x.size, TYPES[name]))
    module.get_function(f"round_{name}")((-(-x.size // 256),), (256,), (cp.asarray(x), out, x.size))
    nearest, to_zero, down, up = out.get().reshape(4, -1)
    with np.errstate(all="ignore"):
        assert same(nearest, x.astype(TYPES[name])).all()
    exact = x.astype("f8")
    number = ~np.isnan(exact)
    below, above = down.astype("f8")[number], up.astype("f8")[number]
    assert (below <= exact[number]).all() and (above >= exact[number]).all()
    between = nearest.astype("f8")[number]
    assert ((between == below) | (between == above)).all()
    assert same(to_zero, np.where(x < 0, up, down)).all()


@pytest.mark.parametrize("name", TYPES)
def test_a_fused_product_and_sum_rounds_the_exact_result(module, name):
    rng = np.random.default_rng(6)
    x, y, z = (any_bits(name, 2048, seed) for seed in (7, 8, 9))
    one = (1 + rng.integers(0, 1 << FRACTION[name], 1024) / (1 << FRACTION[name])).astype(TYPES[name])
    x[:1024], y[:1024] = one, rng.permutation(one)  # products that lie between two numbers, and next to nothing added
    z[:1024] = (rng.choice([-1, 1], 1024) * np.finfo("f4").tiny * 4).astype(TYPES[name])
    with np.errstate(all="ignore"):
        fits = np.isfinite(x.astype("f8")) & np.isfinite(y.astype("f8")) & np.isfinite(z.astype("f8"))
    out = cp.asarray(np.zeros(2048, TYPES[name]))
    module.get_function(f"fused_{name}")((2,), (1024,), (*map(cp.asarray, (x, y, z)), out))
    for a, b, c, got in zip(*(each[fits].astype("f8") for each in (x, y, z, out.get()))):
        assert is_nearest(name, Fraction(a) * Fraction(b) + Fraction(c), got), (a, b, c, got)


def is_nearest(name: str, exact: Fraction, got: float) -> bool:
    """Is there no number of this type that is nearer, or as near and even?"""
    largest = float(ml_dtypes.finfo(TYPES[name]).max)
    if not np.isfinite(got):
        step = Fraction(largest) - Fraction(float(np.nextafter(TYPES[name].type(largest), TYPES[name].type(0))))
        return abs(exact) >= Fraction(largest) + step / 2 and (got > 0) == (exact > 0)
    value = TYPES[name].type(got)
    for direction in (-np.inf, np.inf):
        other = float(np.nextafter(value, TYPES[name].type(direction)))
        if not np.isfinite(other):
            continue
        nearer, mine = abs(exact - Fraction(other)), abs(exact - Fraction(got))
        if nearer < mine or (nearer == mine and value.view(np.uint16) % 2):
            return False
    return True


def test_integers_of_bfloat16(module):
    x = np.array([0.5, 1.5, 2.5, -0.5, -1.5, 3e9, -3e9, np.nan, *range(24)], np.float32).astype(TYPES["bfloat16"])
    out = zeros(96, np.int32)
    module.get_function("whole")((1,), (32,), (cp.asarray(x), out))
    nearest, to_zero, short = out.get().reshape(3, 32)
    assert nearest[:8].tolist() == [0, 2, 2, 0, -2, 2**31 - 1, -(2**31), 0]
    assert to_zero[:8].tolist() == [0, 1, 2, 0, -1, 2**31 - 1, -(2**31), 0]
    assert short[:8].tolist() == [0, 1, 2, 0, -1, 32767, -32768, 0]
    assert nearest[8:].tolist() == list(range(24))


def test_pairs_of_bfloat16_are_loaded_as_one_word(module):
    x = np.arange(64, dtype=np.float32).astype(TYPES["bfloat16"])
    out = zeros(32)
    counters = counted(module.get_function("sum"), (1,), (32,), (cp.asarray(x.view(np.int32)), out))
    (load,) = per_line(counters, "load")
    assert out.get().tolist() == [2016.0] * 32
    assert (load.counts.bytes_loaded, load.counts.sectors, load.counts.requests) == (128, 4, 1)


def test_atomic_sums_in_bfloat16(module):
    x = cp.asarray(np.zeros(1, TYPES["bfloat16"]))
    counters = counted(module.get_function("add"), (2,), (64,), (x,))
    assert float(x.get()[0]) == 128.0 and per_line(counters, "atomic")[0].counts.bytes_atomic == 256


def test_a_bfloat16_past_the_end(module):
    x = cp.asarray(np.zeros(20, TYPES["bfloat16"]))
    fault = fault_of(module.get_function("beyond"), (1,), (32,), (x, zeros(32)))
    assert fault.source.endswith("// here") and fault.index == 20 and fault.array == "x"
