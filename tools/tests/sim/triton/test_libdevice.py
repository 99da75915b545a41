"""The functions of libdevice: values, rounding, types, and what is not simulated."""

import inspect
import math
import re
from fractions import Fraction

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice
from triton.language.extra.cuda import libdevice as of_cuda

import tools.gpu
from tools.sim.recording import record
from tools.sim.triton.faults import Fault
from tools.sim.triton.libdevice import MEANINGS, evaluated

pytestmark = pytest.mark.skipif(tools.gpu.card() is not None, reason="tests the simulator: run it with --sim")

NOT_SIMULATED = {"j0", "j1", "jn", "y0", "y1", "yn", "cyl_bessel_i0", "cyl_bessel_i1", "erfcx", "rcp64h"}


def test_each_function_has_a_meaning_or_is_known_to_have_none():
    symbols = set(re.findall(r'"__nv_(\w+)"', inspect.getsource(of_cuda)))
    missing = symbols - set(MEANINGS)
    assert len(symbols) > 300 and {name.removesuffix("f") for name in missing} == NOT_SIMULATED


# In a kernel -------------------------------------------------------------------------------------


@triton.jit
def by_each_name(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + i, libdevice.tanh(x))
    tl.store(out_ptr + N + i, of_cuda.tanh(x))
    tl.store(out_ptr + 2 * N + i, tl.extra.libdevice.tanh(x))
    tl.store(out_ptr + 3 * N + i, tl.extra.cuda.libdevice.tanh(x))


def test_a_kernel_reaches_them_by_each_of_their_names():
    x, out = torch.linspace(-3, 3, 16), torch.empty(4, 16)
    by_each_name[(1,)](x, out, N=16)
    torch.testing.assert_close(out, x.tanh().expand(4, 16), rtol=2e-7, atol=0)


@triton.jit
def powers(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + i, libdevice.pow(x, 2.0))
    tl.store(out_ptr + N + i, libdevice.pow(x, 3))
    tl.store(out_ptr + 2 * N + i, tl.where(libdevice.isnan(x), 0.0, x))


def test_a_number_is_an_argument_too_and_a_test_is_a_condition():
    x, out = torch.tensor([-2.0, 0.5, math.nan, 3.0]), torch.empty(3, 4)
    powers[(1,)](x, out, N=4)
    assert out[0, [0, 1, 3]].tolist() == [4, 0.25, 9] and out[1, [0, 1, 3]].tolist() == [-8, 0.125, 27]
    assert out[2].tolist() == [-2, 0.5, 0, 3]


@triton.jit
def tanh(x_ptr, n, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(x_ptr + i, libdevice.tanh(x))


def test_of_an_undefined_element_the_result_is_undefined():
    with pytest.raises(Fault, match="What the mask keeps out is undefined"):
        tanh[(1,)](torch.zeros(8), 5, N=8)


def test_a_type_without_an_overload_is_refused_by_name():
    with pytest.raises(TypeError, match=r"libdevice has no tanh\(fp16\): its functions take few types"):
        tanh[(1,)](torch.zeros(8).half(), 8, N=8)


def test_operations_in_float64_are_counted():
    with record() as recording:
        tanh[(1,)](torch.zeros(8).double(), 8, N=8)
    assert recording.launches[0].counts.float64 == 8


@triton.jit
def bessel(x_ptr):
    tl.store(x_ptr, libdevice.j0(tl.load(x_ptr)))


def test_a_function_that_is_not_simulated_says_so_at_its_line():
    with pytest.raises(Fault, match="The function j0f of libdevice is not simulated here; a GPU has it") as caught:
        bessel[(1,)](torch.zeros(1))
    assert caught.value.function == "bessel" and "j0" in caught.value.source


# Values ------------------------------------------------------------------------------------------


def value(name: str, *numbers: float, dtype: str = "f4") -> np.generic:
    with np.errstate(all="ignore"):  # as in a kernel
        return evaluated(name, [np.array([each], dtype) for each in numbers], np.dtype(dtype))[0]


OF_TORCH = {
    "erfinv": (torch.erfinv, (-0.999, 0.999)),
    "normcdf": (torch.special.ndtr, (-5, 5)),
    "normcdfinv": (torch.special.ndtri, (1e-6, 1 - 1e-6)),
    "lgamma": (torch.lgamma, (0.1, 30)),
    "expm1": (torch.expm1, (-2, 2)),
    "sinpi": (lambda x: torch.sin(torch.pi * x), (-3.3, 3.3)),
    "cospi": (lambda x: torch.cos(torch.pi * x), (-3.3, 3.3)),
    "erfc": (torch.erfc, (-3, 20)),
    "cbrt": (lambda x: x.sign() * x.abs() ** (1 / 3), (-9, 9)),
}


@pytest.mark.parametrize("name", OF_TORCH)
def test_values_are_those_of_pytorch(name):
    compute, (low, high) = OF_TORCH[name]
    x = torch.linspace(low, high, 301, dtype=torch.float64)
    got = evaluated(name, [x.numpy()], np.dtype(np.float64))
    np.testing.assert_allclose(got, compute(x).numpy(), rtol=3e-9, atol=2e-15)


@pytest.mark.parametrize("y", [1e-30, 0.3, 1 - 2.0**-24, 1e-300])
def test_inverses_of_the_error_functions_undo_them(y):
    assert value("erfcinv", y, dtype="f8") == pytest.approx(value("erfcinv", y, dtype="f8"))
    assert math.erfc(value("erfcinv", y, dtype="f8")) == pytest.approx(y, rel=1e-10)
    assert math.erf(value("erfinv", y, dtype="f8")) == pytest.approx(y, rel=1e-14)


def test_special_values():
    assert math.isnan(value("erfinvf", 1.5)) and value("erfinvf", -1) == -math.inf
    assert value("tgammaf", 0.0) == math.inf and math.isnan(value("tgammaf", -2.0))
    assert value("lgammaf", -3.0) == math.inf and math.isnan(value("remainderf", 1.0, 0.0))
    assert value("saturatef", math.nan) == 0 and value("saturatef", 7.0) == 1
    assert value("fast_fdividef", 1.0, 2.0**127) == 0
    assert [value("roundf", x) for x in (0.5, -2.5, 0.49999997, 8388609.0)] == [1, -3, 0, 8388609]
    assert [value("rintf", x) for x in (0.5, 2.5, 3.5)] == [0, 2, 4]
    assert value("logbf", 0.75) == -1 and value("logbf", 0.0) == -math.inf
    assert value("ldexpf", 1.5, 4) == 24 and value("nextafterf", 1.0, 2.0) == 1 + 2.0**-23


# Rounding in a direction -------------------------------------------------------------------------

EXACT = {"add": lambda x, y: x + y, "sub": lambda x, y: x - y, "mul": lambda x, y: x * y, "div": lambda x, y: x / y}


@pytest.mark.parametrize("letter", ["f", "d"])
@pytest.mark.parametrize("name", EXACT)
def test_a_result_is_the_neighbour_that_the_direction_asks_for(name, letter, rng):
    dtype = {"f": "f4", "d": "f8"}[letter]
    numbers = rng.standard_normal((2, 40)) * np.exp2(rng.integers(-30, 30, (2, 40)))
    x, y = numbers.astype(dtype)
    near, zero, down, up = (evaluated(f"{letter}{name}_{way}", [x, y], x.dtype) for way in ("rn", "rz", "rd", "ru"))
    exact = [EXACT[name](Fraction(float(a)), Fraction(float(b))) for a, b in zip(x, y)]
    assert all(a <= Fraction(float(b)) for a, b in zip(exact, up)) and all(
        Fraction(float(a)) <= b for a, b in zip(down, exact)
    )
    assert (np.nextafter(down, np.inf, dtype=dtype) >= up).all()
    np.testing.assert_array_equal(near, {"add": x + y, "sub": x - y, "mul": x * y, "div": x / y}[name])
    np.testing.assert_array_equal(zero, np.where(np.array([each > 0 for each in exact]), down, up))


def test_roots_and_reciprocals_round_in_a_direction_too():
    two, three = np.float32(2), np.float32(3)
    down, up = value("fsqrt_rd", 2), value("fsqrt_ru", 2)
    assert Fraction(float(down)) ** 2 < 2 < Fraction(float(up)) ** 2 and np.nextafter(down, two) == up
    assert value("fsqrt_ru", 4) == value("fsqrt_rd", 4) == 2 and math.isnan(value("fsqrt_rd", -1))
    assert value("frcp_rd", three) < value("frcp_ru", three) and value("frsqrt_rn", 4.0) == 0.5
    assert value("fma_rn", 1 + 2.0**-52, 1 + 2.0**-52, -1, dtype="f8") == 2.0**-51 + 2.0**-104


def test_what_overflows_and_what_cancels_follows_the_direction():
    most = float(np.finfo(np.float32).max)
    assert value("fadd_rz", most, most) == most and value("fadd_ru", most, most) == math.inf
    assert value("fmul_rd", -most, 2) == -math.inf and value("fmul_ru", -most, 2) == -most
    assert math.copysign(1, value("fadd_rd", 1, -1)) == -1 and math.copysign(1, value("fadd_rn", 1, -1)) == 1
    assert math.copysign(1, value("fmul_rd", 0.0, 5)) == 1 and value("fmul_ru", 1e-40, 1e-40) == np.float32(1e-45)


# Whole numbers and bits --------------------------------------------------------------------------


def whole(name: str, *numbers: int, dtype: str = "i4", result: str = "i4") -> int:
    arrays = [np.array([each]).astype(dtype) for each in numbers]
    return int(evaluated(name, arrays, np.dtype(result))[0])


def test_functions_of_bits():
    assert [whole("clz", x) for x in (0, 1, -1, 255)] == [32, 31, 0, 24]
    assert [whole("ffs", x) for x in (0, 1, 12, -(2**31))] == [0, 1, 3, 32]
    assert whole("popc", -1) == 32 and whole("clzll", 1, dtype="i8") == 63
    assert whole("brev", 1) == -(2**31) and whole("byte_perm", 0x03020100, 0x07060504, 0x7531) == 0x07050301
    assert whole("mulhi", -3, 5) == -1 and whole("umulhi", -1, -1, dtype="u4", result="u4") == 2**32 - 2
    assert whole("mul24", 0x01FFFFFF, 2) == -2 and whole("sad", -5, 3, 10, result="i4") == 18
    assert whole("hadd", 3, 4) == 3 and whole("rhadd", 3, 4) == 4
    assert whole("hadd", 2**31 - 1, 2**31 - 1) == 2**31 - 1


def test_conversions_round_saturate_and_make_zero_of_nan():
    x = np.array([2.5, -2.5, 1e20, np.nan], np.float32)
    got = {way: evaluated(f"float2int_{way}", [x], np.dtype("i4")).tolist() for way in ("rn", "rz", "rd", "ru")}
    ends = [2**31 - 1, 0]
    assert got == {"rn": [2, -2, *ends], "rz": [2, -2, *ends], "rd": [2, -3, *ends], "ru": [3, -2, *ends]}
    big = np.array([2**24 + 1, -(2**24) - 1], np.int32)
    down, up = (evaluated(f"int2float_{way}", [big], np.dtype("f4")).tolist() for way in ("rd", "ru"))
    assert down == [2**24, -(2**24) - 2] and up == [2**24 + 2, -(2**24)]
    assert evaluated("float_as_int", [np.array([1.0], "f4")], np.dtype("i4"))[0] == 0x3F800000
    x = np.array([0.75, -8, 0, np.inf], np.float32)
    assert evaluated("ilogbf", [x], np.dtype("i4")).tolist() == [-1, 3, -(2**31), 2**31 - 1]
    assert evaluated("llroundf", [np.array([2.5], "f4")], np.dtype("i8"))[0] == 3
