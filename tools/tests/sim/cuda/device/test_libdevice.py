"""cuda.libdevice: the functions by name, their types, and what is said of names that are not there."""

import math

import numpy as np
import pytest

from tools.sim import cuda
from tools.sim.cuda.device import libdevice
from tools.sim.cuda.faults import Refused, Unknown
from tools.tests.sim.cuda.device.running import inside, run

POSITIVE = (0.25, 0.5, 0.75, 1.0, 1.5, 2.5, 3.0)
REFERENCES = {
    **{
        name: getattr(math, name)
        for name in (
            "asin",
            "atan",
            "cos",
            "erf",
            "erfc",
            "exp",
            "expm1",
            "floor",
            "ceil",
            "log",
            "log10",
            "log1p",
            "log2",
            "sin",
            "sqrt",
            "tan",
            "tanh",
            "trunc",
            "cosh",
            "sinh",
            "asinh",
            "fabs",
        )
    },
    "tgamma": math.gamma,
    "lgamma": math.lgamma,
    "cbrt": lambda x: x ** (1 / 3),
    "exp2": lambda x: 2**x,
    "exp10": lambda x: 10**x,
    "rsqrt": lambda x: 1 / math.sqrt(x),
    "rcbrt": lambda x: x ** (-1 / 3),
    "rint": round,
    "nearbyint": round,
    "round": lambda x: math.floor(x + 0.5),
}
PAIRS = {
    "atan2": math.atan2,
    "pow": math.pow,
    "hypot": math.hypot,
    "fmod": math.fmod,
    "fmax": max,
    "fmin": min,
    "copysign": math.copysign,
    "remainder": math.remainder,
}


@pytest.mark.parametrize("name", REFERENCES)
def test_a_function_of_one_number(name):
    x = [each for each in POSITIVE if name != "asin" or each <= 1]
    want = list(map(REFERENCES[name], x))
    with inside():
        assert getattr(libdevice, name).meaning(np.array(x)).tolist() == pytest.approx(want, rel=1e-15)
        short = getattr(libdevice, name + "f").meaning(np.array(x))
    assert short.dtype == np.float32 and short.tolist() == pytest.approx(want, rel=2e-7, abs=1e-7)


@pytest.mark.parametrize("name", PAIRS)
def test_a_function_of_two_numbers(name):
    x, y = (each.ravel() for each in np.meshgrid(POSITIVE, [-2.0, 0.5, 3.0]))
    want = list(map(PAIRS[name], x.tolist(), y.tolist()))
    with inside():
        assert getattr(libdevice, name).meaning(x, y).tolist() == pytest.approx(want, rel=1e-15)
        short = getattr(libdevice, name + "f").meaning(x, y)
    assert short.dtype == np.float32 and short.tolist() == pytest.approx(want, rel=2e-7)


@pytest.mark.parametrize(
    "name, arguments, want",
    [
        ("fast_expf", [0.5], math.exp(0.5)),
        ("fast_sinf", [0.5], math.sin(0.5)),
        ("fast_powf", [2, 10], 1024),
        ("fast_fdividef", [1, 4], 0.25),
        ("saturatef", [1.5], 1),
        ("saturatef", [-1.5], 0),
        ("saturatef", [math.nan], 0),
        ("fadd_rn", [1, 2], 3),
        ("dmul_rn", [3, 0.5], 1.5),
        ("ddiv_rn", [1, 3], 1 / 3),
        ("fma", [2, 3, 4], 10),
        ("fmaf", [2, 3, 4], 10),
        ("round", [-2.5], -3),
        ("round", [0.49999999999999994], 0),
        ("rint", [2.5], 2),
        ("float_as_int", [1.0], 0x3F800000),
        ("int_as_float", [0x3F800000], 1.0),
        ("double_as_longlong", [1.0], 1023 << 52),
        ("longlong_as_double", [1023 << 52], 1.0),
        ("byte_perm", [0x44332211, 0x88776655, 0x7531], 0x88664422 - 2**32),
        ("byte_perm", [0x44332211, 0x88776655, 0xF012], 0x88112233 - 2**32),  # of each digit, three bits count
        ("mulhi", [-(2**31), 2**30], -(2**29)),
        ("abs", [-5], 5),
        ("llmin", [-(2**40), 3], -(2**40)),
        ("max", [-1, 1], 1),
    ],
)
def test_other_functions(name, arguments, want):
    with inside():
        got = getattr(libdevice, name).meaning(
            *map(
                np.array([0.0, 0]).dtype.type if any(isinstance(each, float) for each in arguments) else np.int64,
                arguments,
            )
        )
    assert got.tolist() == pytest.approx(want, rel=1e-6)


def polar(x, out):
    i = cuda.grid(1)
    sine, cosine = cuda.libdevice.sincosf(x[i])
    out[i] = sine * sine + cosine * cosine


def test_a_function_with_two_results_gives_a_tuple():
    out = np.zeros(32, np.float32)
    run(polar, 1, 32, np.arange(32, dtype=np.float32), out)
    assert out.tolist() == pytest.approx([1.0] * 32)


def test_a_name_that_is_not_simulated_and_one_that_is_none():
    with pytest.raises(Unknown, match="cuda.libdevice.fadd_rz works on a GPU; this simulator does not know it"):
        cuda.libdevice.fadd_rz
    with pytest.raises(AttributeError, match="cuda.libdevice has no cossine"):
        cuda.libdevice.cossine
    with inside(), pytest.raises(Refused, match="cuda.libdevice.powf takes 2 arguments, not 1"):
        libdevice.powf.meaning(np.float32(1))


def test_names_and_types_are_those_of_numba():
    functions = pytest.importorskip("numba.cuda.libdevicefuncs", reason="needs numba-cuda, to compare with").functions
    ones = np.ones(32)
    for name, function in libdevice.FUNCTIONS.items():
        result, arguments = functions[f"__nv_{name}"]
        with inside():
            got = function.meaning(*[ones for argument in arguments if not argument.is_ptr])
        want = [str(argument.ty) for argument in arguments if argument.is_ptr] or [str(result)]
        assert [str(each.dtype) for each in (got if isinstance(got, tuple) else [got])] == want, name
    for name in {name.removeprefix("__nv_") for name in functions} - set(libdevice.FUNCTIONS):
        with pytest.raises(Unknown):
            getattr(libdevice, name)
    assert all(f"__nv_{name}" in functions for name in libdevice.NOT_SIMULATED)
