"""The functions of math in kernels: near the truth, and where there is none, what the GPU says."""

import math

import numpy as np
import pytest

from tools.sim.cuda.faults import Refused
from tools.sim.cuda.numbers.mathematics import NUMPY, meaning

INF, NAN = math.inf, math.nan


@pytest.fixture(autouse=True)
def as_in_a_kernel():
    with np.errstate(all="ignore"):
        yield


def inputs(low: float, high: float) -> np.ndarray:
    return np.random.default_rng(0).uniform(low, high, 500).astype(np.float32)


# Accuracy: the truth is Python's, in float64 ---------------------------------------------------

ONE = {
    "acos": (-1, 1),
    "acosh": (1, 50),
    "asin": (-1, 1),
    "asinh": (-50, 50),
    "atan": (-50, 50),
    "atanh": (-0.99, 0.99),
    "ceil": (-50, 50),
    "cos": (-50, 50),
    "cosh": (-50, 50),
    "degrees": (-50, 50),
    "erf": (-4, 4),
    "erfc": (-4, 4),
    "exp": (-50, 50),
    "exp2": (-50, 50),
    "expm1": (-5, 5),
    "fabs": (-50, 50),
    "floor": (-50, 50),
    "gamma": (0.1, 30),
    "lgamma": (3, 50),
    "log": (0, 50),
    "log10": (0, 50),
    "log1p": (-0.9, 50),
    "log2": (0, 50),
    "radians": (-500, 500),
    "sin": (-50, 50),
    "sinh": (-50, 50),
    "sqrt": (0, 50),
    "tan": (-50, 50),
    "tanh": (-5, 5),
    "trunc": (-50, 50),
}
UNITS = (np.float32, 0.501), (np.float64, 4)  # in the last place; NumPy with AVX-512 promises 4 of float64
TWO = ("atan2", "copysign", "fmod", "hypot", "remainder")


@pytest.mark.parametrize("name", ONE)
def test_a_function_is_right_to_the_last_place(name):
    x = inputs(*ONE[name])
    truth = np.array([getattr(math, name)(each) for each in x.tolist()])
    for dtype, units in UNITS:
        result = meaning(getattr(math, name))(x.astype(dtype))
        assert result.dtype == dtype
        assert np.all(abs(result - truth) <= units * np.spacing(abs(truth).astype(dtype)))


@pytest.mark.parametrize("name", TWO)
def test_a_function_of_two_is_right_to_the_last_place(name):
    x, y = inputs(-50, 50), inputs(-3, 3)[::-1]
    truth = np.array([getattr(math, name)(a, b) for a, b in zip(x.tolist(), y.tolist())])
    for dtype, units in UNITS:
        result = meaning(getattr(math, name))(x.astype(dtype), y.astype(dtype))
        assert result.dtype == dtype
        assert np.all(abs(result - truth) <= units * np.spacing(abs(truth).astype(dtype)))


@pytest.mark.parametrize("dtype, units", UNITS)
def test_pow_is_right_to_the_last_place(dtype, units):
    x, y = inputs(0, 5).astype(dtype), inputs(-4, 4).astype(dtype)[::-1]
    truth = np.array([math.pow(a, b) for a, b in zip(x.tolist(), y.tolist())])
    assert np.all(abs(meaning(math.pow)(x, y) - truth) <= units * np.spacing(truth.astype(dtype)))


# Values without a truth: measured on an H200 with numba-cuda 0.30 -------------------------------


@pytest.mark.parametrize(
    "name, x, result",
    [
        ("sqrt", -1, NAN),
        ("log", -1, NAN),
        ("log", 0, -INF),
        ("log2", -0.0, -INF),
        ("log1p", -1, -INF),
        ("log1p", -2, NAN),
        ("acos", 2, NAN),
        ("asin", -2, NAN),
        ("acosh", 0.5, NAN),
        ("atanh", 1, INF),
        ("atanh", -2, NAN),
        ("sin", INF, NAN),
        ("exp", 710, INF),
        ("exp", -750, 0),
        ("expm1", -INF, -1),
        ("cosh", -750, INF),
        ("erf", -INF, -1),
        ("erfc", -INF, 2),
        ("gamma", 0.0, INF),
        ("gamma", -0.0, -INF),
        ("gamma", -1, NAN),
        ("gamma", -INF, NAN),
        ("gamma", 172, INF),
        ("gamma", 1e300, INF),
        ("lgamma", 0, INF),
        ("lgamma", -2, INF),
        ("lgamma", -INF, INF),
        ("lgamma", INF, INF),
        ("floor", -0.0, -0.0),
        ("floor", INF, INF),
        ("ceil", -0.5, -0.0),
        ("trunc", NAN, NAN),
        ("fabs", -INF, INF),
    ],
)
def test_outside_its_domain_a_function_gives_what_the_gpu_gives(name, x, result):
    found = meaning(getattr(math, name))(np.float64(x))
    assert np.array_equal(found, result, equal_nan=True)
    assert np.isnan(found) or np.signbit(found) == np.signbit(result)
    several = meaning(getattr(math, name))(np.array([x, x], np.float32))
    assert np.array_equal(several, np.array([result] * 2, np.float32), equal_nan=True)


@pytest.mark.parametrize(
    "name, x, y, result",
    [
        ("fmod", 1, 0, NAN),
        ("fmod", 5, INF, 5),
        ("remainder", 1, 0, NAN),
        ("remainder", INF, 2, NAN),
        ("pow", 0, -1, INF),
        ("pow", -8, 1 / 3, NAN),
        ("hypot", INF, NAN, INF),
        ("atan2", 0, -1, math.pi),
    ],
)
def test_outside_its_domain_a_function_of_two_gives_nan_or_infinity(name, x, y, result):
    assert np.array_equal(meaning(getattr(math, name))(np.float64(x), np.float64(y)), result, equal_nan=True)


# Types -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name, x, dtype",
    [
        ("floor", np.float32(2.5), "float32"),
        ("floor", np.float64(2.5), "float64"),
        ("sqrt", np.int32(4), "float64"),
        ("sqrt", np.float16(4), "float16"),
        ("erf", np.float16(1), "float32"),
        ("isnan", np.int64(1), "bool"),
    ],
)
def test_a_function_has_the_type_that_numba_gives_it(name, x, dtype):
    assert meaning(getattr(math, name))(x).dtype == dtype


def test_functions_with_two_results():
    mantissa, exponent = meaning(math.frexp)(np.array([12.0, -0.3], np.float32))
    assert mantissa.tolist() == [0.75, float(np.float32(-0.3)) * 2] and exponent.tolist() == [4, -1]
    assert (mantissa.dtype, exponent.dtype) == (np.float32, np.int32)
    fraction, whole = meaning(math.modf)(np.float64(-2.5))
    assert (fraction, whole) == (-0.5, -2)


def test_ldexp_cuts_its_exponent():
    assert meaning(math.ldexp)(np.float32(3), np.float64(2.9)) == 12


def test_nextafter_counts_in_its_own_type():
    assert meaning(math.nextafter)(np.float32(1), np.float32(2)) == np.float32(1) + np.finfo(np.float32).eps


@pytest.mark.parametrize("name", NUMPY)
def test_numpys_functions_are_those_of_numpy(name):
    x = inputs(1.1, 3) if name == "acosh" else inputs(0.1, 0.9)
    result = meaning(getattr(np, name))(x)
    assert result.dtype == np.float32
    assert np.allclose(result, getattr(np, name)(x.astype(np.float64)), rtol=1e-7, atol=0)
    assert meaning(getattr(np, name))(np.int16(1)).dtype == np.float32
    assert meaning(getattr(np, name))(x.astype(np.complex64)).dtype == np.complex64


@pytest.mark.parametrize(
    "function, values",
    [
        (math.sin, [np.complex64(1)]),
        (math.pow, [np.complex64(1), np.int64(1)]),
        (math.isnan, [np.complex64(1)]),
        (math.frexp, [np.complex64(1)]),
        (np.sin, [np.float16(1)]),
    ],
)
def test_types_without_an_overload_are_refused(function, values):
    with pytest.raises(Refused, match="Numba compiles no (math|np)"):
        meaning(function)(*values)


@pytest.mark.parametrize("thing", [math.factorial, np.sqrt, print, "sin", [], 3])
def test_other_things_have_no_meaning(thing):
    assert meaning(thing) is None
