"""cuda.fp16: every operation on every kind of half-precision number, against float64."""

import math
from fractions import Fraction

import numpy as np
import pytest

from tools.sim import cuda
from tools.sim.cuda.device import fp16
from tools.sim.cuda.faults import Refused
from tools.tests.sim.cuda.device.running import inside, run

KINDS = np.array(
    [0.0, -0.0, 1.0, -1.5, 2.0**-24, -(2.0**-15), 0.333, 65504.0, -65504.0, 7.0, 1000.0, np.inf, -np.inf, np.nan],
    np.float16,
)
A, B = (x.ravel() for x in np.meshgrid(KINDS, KINDS))


def same(got, want) -> bool:
    """Bit for bit, any NaN being like any other."""
    got, want = np.asarray(got), np.asarray(want)
    return got.dtype == want.dtype and np.array_equal(
        np.where(got != got, 0x7E00, got.view(np.uint16)), np.where(want != want, 0x7E00, want.view(np.uint16))
    )


@pytest.mark.parametrize(
    "name, operate", [("hadd", np.add), ("hsub", np.subtract), ("hmul", np.multiply), ("hdiv", np.divide)]
)
def test_arithmetic_rounds_the_exact_result(name, operate):
    with inside():
        got = getattr(fp16, name).meaning(A, B)
        assert same(got, operate(A.astype(np.float64), B.astype(np.float64)).astype(np.float16))


def test_a_multiply_add_rounds_the_exact_result():
    rng = np.random.default_rng(0)
    a, b, c = (rng.choice(KINDS[:-3], 500) * np.float16(rng.uniform(0.5, 1, 500)) for _ in range(3))
    with inside():
        got = fp16.hfma.meaning(a, b, c)
    for x, y, z, result in zip(a, b, c, got):
        exact = Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z))
        if abs(exact) < 65504:
            below, above = np.nextafter(result, np.float16(-np.inf)), np.nextafter(result, np.float16(np.inf))
            assert abs(Fraction(float(result)) - exact) <= min(
                abs(Fraction(float(other)) - exact) for other in (below, above) if np.isfinite(other)
            )


@pytest.mark.parametrize(
    "name, holds",
    [
        ("heq", lambda a, b: a == b),
        ("hne", lambda a, b: a < b or a > b),
        ("hlt", lambda a, b: a < b),
        ("hle", lambda a, b: a <= b),
        ("hgt", lambda a, b: a > b),
        ("hge", lambda a, b: a >= b),
    ],
)
def test_no_comparison_holds_for_nan(name, holds):
    with inside():
        got = getattr(fp16, name).meaning(A, B)
    assert got.dtype == bool
    assert got.tolist() == [holds(a, b) for a, b in zip(A.tolist(), B.tolist())]


@pytest.mark.parametrize("name, sign", [("hmax", 1), ("hmin", -1)])
def test_an_extreme_is_a_number_if_one_is_and_tells_the_zeros_apart(name, sign):
    def extreme(a, b):
        if math.isnan(a) or math.isnan(b):
            return b if math.isnan(a) else a
        return max((a, b), key=lambda x: (sign * x, sign * math.copysign(1, x)))

    with inside():
        assert same(getattr(fp16, name).meaning(A, B), np.array(list(map(extreme, A.tolist(), B.tolist())), np.float16))


@pytest.mark.parametrize(
    "name, function",
    [
        ("hneg", lambda x: -x),
        ("habs", np.abs),
        ("hceil", np.ceil),
        ("hfloor", np.floor),
        ("htrunc", np.trunc),
        ("hrint", np.rint),
        ("hsqrt", np.sqrt),
        ("hrsqrt", lambda x: x**-0.5),
        ("hrcp", lambda x: 1 / x),
        ("hexp", np.exp),
        ("hexp2", np.exp2),
        ("hexp10", lambda x: 10**x),
        ("hlog", np.log),
        ("hlog2", np.log2),
        ("hlog10", np.log10),
        ("hsin", np.sin),
        ("hcos", np.cos),
        ("htanh", np.tanh),
        ("htanh_approx", np.tanh),
    ],
)
def test_a_function_rounds_what_float64_gives(name, function):
    finite = KINDS[(KINDS != 0) & np.isfinite(KINDS)]  # at the others, x**-0.5 is not what hrsqrt is
    with inside():
        assert same(getattr(fp16, name).meaning(finite), function(finite.astype(np.float64)).astype(np.float16))


def test_the_functions_go_to_infinity_where_they_should():
    with inside():
        assert fp16.hrcp.meaning(KINDS[:2]).tolist() == [np.inf, -np.inf]
        assert fp16.hrsqrt.meaning(KINDS[:1]).tolist() == [np.inf]
        assert fp16.hexp.meaning(np.float16(12)) == np.inf and fp16.hlog.meaning(np.float16(0)) == -np.inf


def axpy(a, x, y):
    i = cuda.grid(1)
    y[i] = cuda.fp16.hfma(a, x[i], y[i])


def test_any_number_becomes_a_half_first():
    x, y = np.arange(32, dtype=np.float16), np.ones(32, np.float16)
    run(axpy, 1, 32, np.int64(3), x, y)
    assert y.tolist() == [3 * i + 1 for i in range(32)]
    with inside(), pytest.raises(Refused, match="cuda.fp16.hadd takes 2 arguments, not 1"):
        fp16.hadd.meaning(np.float16(1))
