"""Arithmetic, bits, conversions, vector types and atomics, each against plain Python or NumPy."""

import ctypes
import math

import numpy as np
import pytest

import tools.sim.cupy as cp
from tools.tests.sim.cupy_raw.running import needs_compiler, zeros

pytestmark = needs_compiler

FLOATS = [0.5, 1.0, 2.25, 10.0, 0.001, 3.75]
UNARY = {  # CUDA's expression: Python's
    "__expf(x)": math.exp,
    "expf(x)": math.exp,
    "exp(x)": math.exp,
    "__exp10f(x)": lambda x: 10**x,
    "__logf(x)": math.log,
    "__log2f(x)": math.log2,
    "__log10f(x)": math.log10,
    "__sinf(x)": math.sin,
    "__cosf(x)": math.cos,
    "__tanf(x)": math.tan,
    "tanhf(x)": math.tanh,
    "__powf(x, 1.5f)": lambda x: x**1.5,
    "powf(x, 2.f)": lambda x: x * x,
    "sqrtf(x)": math.sqrt,
    "sqrt(x)": math.sqrt,
    "__fsqrt_rn(x)": math.sqrt,
    "cbrtf(x)": lambda x: x ** (1 / 3),
    "rsqrtf(x)": lambda x: x**-0.5,
    "float(rsqrt(double(x)))": lambda x: x**-0.5,
    "__frsqrt_rn(x)": lambda x: x**-0.5,
    "rcbrtf(x)": lambda x: x ** (-1 / 3),
    "__frcp_rn(x)": lambda x: 1 / x,
    "sinpif(x)": lambda x: math.sin(math.pi * x),
    "cospif(x)": lambda x: math.cos(math.pi * x),
    "normcdff(x)": lambda x: (1 + math.erf(x / math.sqrt(2))) / 2,
    "erff(x)": math.erf,
    "fmaf(x, 3.f, 1.f)": lambda x: 3 * x + 1,
    "__fmaf_rn(x, 3.f, 1.f)": lambda x: 3 * x + 1,
    "__fadd_rn(x, 1.f)": lambda x: x + 1,
    "__fsub_rn(x, 1.f)": lambda x: x - 1,
    "__fmul_rn(x, 3.f)": lambda x: 3 * x,
    "__fdiv_rn(x, 3.f)": lambda x: x / 3,
    "__fdividef(x, 4.f)": lambda x: x / 4,
    "float(__dmul_rn(x, 2.0))": lambda x: 2 * x,
    "__int2float_rn(7) * x": lambda x: 7 * x,
    "__saturatef(x)": lambda x: min(max(x, 0), 1),
    "floorf(x)": math.floor,
    "hypotf(x, 1.f)": lambda x: math.hypot(x, 1),
    "fminf(x, 1.f)": lambda x: min(x, 1),
    "fmaxf(x, 1.f)": lambda x: max(x, 1),
    "min(x, 1.f)": lambda x: min(x, 1),
    "max(x, 1.0)": lambda x: max(x, 1),
    "min(x, CUDART_NAN_F)": lambda x: x,
    "abs(-x)": lambda x: x,
    "fabsf(-x)": lambda x: x,
    "float(isnan(x - x + CUDART_NAN_F))": lambda x: 1,
}
INTEGERS = [0, 1, -1, 2, 31, 12345, -98765, 0x7FFFFFFF, -0x80000000]


def unsigned(x: int) -> int:
    return x & 0xFFFFFFFF


def signed(x: int) -> int:
    return ctypes.c_int32(x).value


def perm(x: int, y: int, selectors: int) -> int:
    data = list(unsigned(x).to_bytes(4, "little") + unsigned(y).to_bytes(4, "little"))
    picked = [data[selectors >> 4 * place & 7] for place in range(4)]
    return int.from_bytes(bytes(picked), "little")


def signed_bytes(x: int) -> list[int]:
    return [ctypes.c_int8(byte).value for byte in unsigned(x).to_bytes(4, "little")]


OF_BITS = {  # of an int x; the results modulo 2**32
    "__popc(x)": lambda x: bin(unsigned(x)).count("1"),
    "__popcll((long long)x)": lambda x: bin(x & (1 << 64) - 1).count("1"),
    "__clz(x)": lambda x: 32 - unsigned(x).bit_length(),
    "__clzll(unsigned(x))": lambda x: 64 - unsigned(x).bit_length(),
    "__ffs(x)": lambda x: (x & -x).bit_length(),
    "__ffsll((long long)x << 20)": lambda x: (x << 20 & -(x << 20)).bit_length(),
    "__brev(x)": lambda x: int(f"{unsigned(x):032b}"[::-1], 2),
    "__brevll(unsigned(x)) >> 32": lambda x: int(f"{unsigned(x):032b}"[::-1], 2),
    "__byte_perm(x, 0x44332211, 0x3614)": lambda x: perm(x, 0x44332211, 0x3614),
    "__byte_perm(x, 0x84332211, 0xfb90)": lambda x: perm(x, 0x84332211, 0xFB90),
    "__funnelshift_l(x, 0x12345678, 8)": lambda x: 0x34567800 | unsigned(x) >> 24,
    "__funnelshift_r(x, 0x12345678, 8)": lambda x: 0x78000000 | unsigned(x) >> 8,
    "__mulhi(x, 77777)": lambda x: x * 77777 >> 32,
    "__umulhi(x, 77777)": lambda x: unsigned(x) * 77777 >> 32,
    "__mul64hi((long long)x << 32, 77777)": lambda x: (x << 32) * 77777 >> 64,
    "__umul64hi((unsigned long long)unsigned(x) << 32, 77777)": lambda x: (unsigned(x) << 32) * 77777 >> 64,
    "__mul24(x, 3)": lambda x: 3 * (signed(unsigned(x) << 8 & 0xFFFFFFFF) >> 8),
    "__umul24(x, 3)": lambda x: 3 * (x & 0xFFFFFF),
    "__sad(x, 5, 9)": lambda x: abs(x - 5) + 9,
    "__usad(x, 5, 9)": lambda x: abs(unsigned(x) - 5) + 9,
    "__dp4a(x, 0x01ff02fe, 10)": lambda x: sum(a * b for a, b in zip(signed_bytes(x), (-2, 2, -1, 1))) + 10,
    "__dp4a(unsigned(x), 0x01ff02feu, 10u)": lambda x: (
        sum(a * b for a, b in zip(unsigned(x).to_bytes(4, "little"), (0xFE, 2, 0xFF, 1))) + 10
    ),
    "__float_as_int(__int_as_float(x & 0x7f7fffff))": lambda x: x & 0x7F7FFFFF,
    "__float_as_uint(__uint_as_float(x & 0x7f7fffff))": lambda x: x & 0x7F7FFFFF,
    "(int)__double_as_longlong(__longlong_as_double(x))": lambda x: x,
    "min(x, 3)": lambda x: min(x, 3),
    "max(x, 3u)": lambda x: max(unsigned(x), 3),
    "abs(x)": abs,
}
CONVERSIONS = {  # of a float x
    "__float2int_rn(x)": round,
    "__float2int_rz(x)": math.trunc,
    "__float2int_rd(x)": math.floor,
    "__float2int_ru(x)": math.ceil,
    "__double2int_rn(x)": round,
}
CONVERTED = [0.5, 1.5, 2.5, -0.5, -1.5, 2.4, -2.6, 100.0]

VECTORS = r"""
struct Pair { float2 a; int b; };
__device__ float4 operator+(float4 a, float4 b) { return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w); }
extern "C" __global__ void vectors(const float4* x, float4* out, int* sizes) {
    int i = threadIdx.x;
    float4 one = {1, 2, 3, 4}, none = {}, first = {5.f};
    union { float4 v; float f[4]; } both;
    both.v = x[i];
    out[i] = x[i] + one + none + first;
    out[i].w = both.f[3];
    sizes[0] = sizeof(float2); sizes[1] = sizeof(float3); sizes[2] = sizeof(double4); sizes[3] = sizeof(uchar4);
    sizes[4] = alignof(float4); sizes[5] = alignof(float3); sizes[6] = alignof(int2); sizes[7] = sizeof(Pair);
    short4 s = make_short4(1, 2, 3, 4); longlong2 l = make_longlong2(1, 2); uint3 u = make_uint3(7, 8, 9);
    sizes[8] = s.w + l.y + u.z;
}
"""

ATOMICS = {  # CUDA's call with the operand v: the new value from the old one and v, as unsigned numbers of 32 bits
    "atomicAdd": lambda old, v: old + v,
    "atomicSub": lambda old, v: old - v,
    "atomicExch": lambda old, v: v,
    "atomicMin": min,
    "atomicMax": max,
    "atomicAnd": lambda old, v: old & v,
    "atomicOr": lambda old, v: old | v,
    "atomicXor": lambda old, v: old ^ v,
    "atomicInc": lambda old, v: 0 if old >= v else old + 1,
    "atomicDec": lambda old, v: v if old == 0 or old > v else old - 1,
}


def kernel_of(name: str, expressions, of: str, to: str) -> str:
    """A kernel in which thread i stores, of each expression in turn, what it makes of x[i]."""
    lines = [
        f"    out[{number} * blockDim.x + threadIdx.x] = {expression};" for number, expression in enumerate(expressions)
    ]
    return "\n".join(
        [
            f'extern "C" __global__ void {name}(const {of}* in, {to}* out) {{',
            f"    {of} x = in[threadIdx.x];",
            *lines,
            "}",
        ]
    )


CODE = "\n".join(
    [
        "#include <math_constants.h>",
        VECTORS,
        kernel_of("unary", UNARY, "float", "float"),
        kernel_of("bits", OF_BITS, "int", "unsigned"),
        kernel_of("conversions", CONVERSIONS, "float", "int"),
        kernel_of(
            "saturating", ["__float2int_rn(x)", "__float2uint_rz(x)", "(int)(__float2ll_rn(x) >> 32)"], "float", "int"
        ),
        *(
            f'extern "C" __global__ void one_{name}(unsigned* at, const unsigned* v, unsigned* old) '
            f"{{ old[threadIdx.x] = {name}(at, v[threadIdx.x]); }}"
            for name in ATOMICS
        ),
        """
template <typename T> __global__ void sum(T* total, const T* x) { atomicAdd(total, x[threadIdx.x]); }
extern "C" __global__ void extremes(int* at, const int* x) {
    atomicMin(at, x[threadIdx.x]);
    atomicMax(at + 1, x[threadIdx.x]);
}
extern "C" __global__ void swap(float* at, const float* x) { x += threadIdx.x; atomicExch(at, *x); }
extern "C" __global__ void lock(int* locked, int* count) {
    bool done = false;
    while (!done)
        if (atomicCAS(locked, 0, 1) == 0) {
            *count = *count + 1;
            __threadfence();
            atomicExch(locked, 0);
            done = true;
        }
}
extern "C" __global__ void compare(unsigned long long* at) {
    atomicCAS(at, 5ull, 6ull);
    atomicCAS(at + 1, 5ull, 6ull);
}
extern "C" __global__ void scopes(int* at) { atomicAdd_block(at, 1); atomicAdd_system(at, 1); }
extern "C" __global__ void constants(float* out) {
    out[0] = CUDART_INF_F; out[1] = CUDART_PI_F; out[2] = CUDART_NAN_F; out[3] = -CUDART_INF;
}
""",
    ]
)


@pytest.fixture(scope="module")
def module():
    types = ("int", "float", "double", "unsigned long long")
    return cp.RawModule(code=CODE, name_expressions=[f"sum<{each}>" for each in types])


def test_functions_of_a_float(module):
    out = zeros(len(UNARY) * len(FLOATS))
    module.get_function("unary")((1,), (len(FLOATS),), (cp.asarray(np.array(FLOATS, np.float32)), out))
    for (expression, meaning), row in zip(UNARY.items(), out.get().reshape(len(UNARY), -1)):
        assert row == pytest.approx([meaning(x) for x in FLOATS], rel=2e-6, abs=1e-6), expression


def test_functions_of_bits(module):
    out = zeros(len(OF_BITS) * len(INTEGERS), np.uint32)
    module.get_function("bits")((1,), (len(INTEGERS),), (cp.asarray(np.array(INTEGERS, np.int32)), out))
    for (expression, meaning), row in zip(OF_BITS.items(), out.get().reshape(len(OF_BITS), -1)):
        assert row.tolist() == [unsigned(meaning(x)) for x in INTEGERS], expression


def test_conversions_round_as_they_are_called(module):
    out = zeros(len(CONVERSIONS) * len(CONVERTED), np.int32)
    module.get_function("conversions")((1,), (len(CONVERTED),), (cp.asarray(np.array(CONVERTED, np.float32)), out))
    for (expression, meaning), row in zip(CONVERSIONS.items(), out.get().reshape(len(CONVERSIONS), -1)):
        assert row.tolist() == [meaning(x) for x in CONVERTED], expression


def test_conversions_of_what_does_not_fit_stop_at_the_ends(module):
    x = np.array([3e9, -3e9, np.nan, np.inf], np.float32)
    out = zeros(12, np.int32)
    module.get_function("saturating")((1,), (4,), (cp.asarray(x), out))
    assert out.get().tolist() == [
        2**31 - 1,
        -(2**31),
        0,
        2**31 - 1,
        signed(3000000000),
        0,
        0,
        -1,
        0,
        -1,
        -(2**31),
        2**31 - 1,
    ]


def test_what_is_no_number_becomes_what_the_instruction_makes_of_it(module):
    to = {"float2int": 0, "float2uint": 0, "float2ll": -(1 << 63), "double2int": -(1 << 31), "double2uint": 1 << 31}
    to["double2ull"] = -(1 << 63)  # as a long long
    lines = "".join(f"out[{number}] = __{name}_rz(x);" for number, name in enumerate(to))
    out = cp.asarray(np.zeros(len(to), np.int64))
    code = f'extern "C" __global__ void f(double x, long long* out) {{ {lines} }}'
    cp.RawKernel(code, "f")((1,), (1,), (float("nan"), out))
    assert out.get().tolist() == list(to.values())


def test_half_turns_are_exact(module):
    code = 'extern "C" __global__ void f(double* x) { int i = threadIdx.x; x[i] = i % 2 ? cospi(x[i]) : sinpi(x[i]); }'
    x = cp.asarray(np.array([1.0, 0.5, -3.0, 1.5, 1e9, 1.0, 0.5, -2.0, -0.5, 1.25]))
    cp.RawKernel(code, "f")((1,), (10,), (x,))
    assert x.get().tolist() == [0, 0, 0, 0, 0, -1, 1, 1, -1, pytest.approx(-(0.5**0.5), rel=1e-15)]


def test_vector_types(module):
    x, out, sizes = np.arange(32, dtype=np.float32).reshape(8, 4), zeros(32), zeros(9, np.int32)
    module.get_function("vectors")((1,), (1,), (cp.asarray(x), out, sizes))
    assert out.get()[:4].tolist() == [0 + 1 + 5, 1 + 2, 2 + 3, 3]
    assert sizes.get().tolist() == [8, 12, 32, 4, 16, 4, 8, 16, 4 + 2 + 9]


@pytest.mark.parametrize("name", ATOMICS)
def test_an_atomic_changes_memory_and_gives_the_old_value(module, name):
    values = [3, 1, 4, 1, 5, 9, 2, 6, 7, 7]
    at, old = cp.asarray(np.array([4], np.uint32)), zeros(len(values), np.uint32)
    module.get_function(f"one_{name}")((1,), (len(values),), (at, cp.asarray(np.array(values, np.uint32)), old))
    # Whatever the order of the threads, each got the value that the one before it left.
    given, current = old.get().tolist(), 4
    waiting = list(range(len(values)))
    while waiting:
        mine = next(each for each in waiting if given[each] == current)
        current = unsigned(ATOMICS[name](current, values[mine]))
        waiting.remove(mine)
    assert at.get()[0] == current


@pytest.mark.parametrize(
    "name, dtype", [("int", np.int32), ("float", np.float32), ("double", np.float64), ("unsigned long long", np.uint64)]
)
def test_atomic_sums_of_every_type(module, name, dtype):
    total = zeros(1, dtype)
    module.get_function(f"sum<{name}>")((1,), (100,), (total, cp.asarray(np.arange(100).astype(dtype))))
    assert total.get()[0] == 4950


def test_atomic_extremes_are_signed(module):
    at = cp.asarray(np.array([0, 0], np.int32))
    module.get_function("extremes")((1,), (3,), (at, cp.asarray(np.array([-7, 5, 3], np.int32))))
    assert at.get().tolist() == [-7, 5]


def test_a_float_can_be_exchanged(module):
    at = zeros(1)
    module.get_function("swap")((1,), (1,), (at, cp.asarray(np.array([2.5], np.float32))))
    assert at.get()[0] == 2.5


def test_a_lock_of_compare_and_swap(module):
    count = zeros(1, np.int32)
    module.get_function("lock")((3,), (70,), (zeros(1, np.int32), count))
    assert count.get()[0] == 210


def test_compare_and_swap_changes_what_is_equal_only(module):
    at = cp.asarray(np.array([5, 4], np.uint64))
    module.get_function("compare")((1,), (1,), (at,))
    assert at.get().tolist() == [6, 4]


def test_scopes_of_atomics(module):
    at = zeros(1, np.int32)
    module.get_function("scopes")((2,), (10,), (at,))
    assert at.get()[0] == 40


def test_constants_of_math_constants(module):
    out = zeros(4)
    module.get_function("constants")((1,), (1,), (out,))
    assert out.get()[[0, 3]].tolist() == [np.inf, -np.inf] and np.isnan(out.get()[2])
    assert out.get()[1] == np.float32(np.pi)
