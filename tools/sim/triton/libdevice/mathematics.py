"""Functions of floats: computed in float64, rounded once to the type of the argument.

A name ends in f where it is the function of float32; both mean the same here. What neither Python nor NumPy has is
made from what they have; functions that go element by element are slow.
"""

import math
from collections.abc import Callable
from functools import reduce
from statistics import NormalDist

import numpy as np


def one_by_one(function: Callable, outside: Callable = lambda *numbers: math.nan) -> Callable:
    """A function of arrays from one of numbers. outside: what is due where Python's function raises an error."""

    def safely(*numbers: float) -> float:
        if any(map(math.isnan, numbers)):
            return math.nan
        try:
            return function(*numbers)
        except (ValueError, OverflowError, ZeroDivisionError):
            return outside(*numbers)

    return np.vectorize(safely, otypes=[np.float64])


def _of_gamma(x: float) -> float:
    """Where Python refuses gamma(x): 0 gives infinity of its sign, -1, -2, ... nothing; beyond 171 it is too large."""
    return math.nan if x < 0 else math.copysign(math.inf, x)


def _inverse_erf(y: float) -> float:
    if abs(y) >= 1:
        return math.copysign(math.inf, y) if abs(y) == 1 else math.nan
    return _inverse_erfc(1 - y) if abs(y) > 0.5 else _newton(math.erf, y, y * math.sqrt(math.pi) / 2, 1)


def _inverse_erfc(y: float) -> float:
    if not 0 < y < 2:
        return math.inf if y == 0 else -math.inf if y == 2 else math.nan
    if y > 1:
        return -_inverse_erfc(2 - y)
    start = -NormalDist().inv_cdf(y / 2) / math.sqrt(2) if y > 1e-300 else 26.0
    return _newton(math.erfc, y, start, -1)


def _newton(function: Callable, y: float, x: float, sign: int) -> float:
    """x with function(x) = y, of erf or erfc, whose slope is sign * 2 / sqrt(pi) * exp(-x * x). Halley's steps."""
    for _ in range(4):
        slope = sign * 2 / math.sqrt(math.pi) * math.exp(-x * x)
        if slope == 0:
            break
        step = (function(x) - y) / slope
        x -= step / (1 + x * step)
    return x


def _inverse_normal(y: np.ndarray) -> np.ndarray:
    return -math.sqrt(2) * INVERSE_ERFC(2 * y)


def _norm(*parts: np.ndarray) -> np.ndarray:
    return reduce(np.hypot, parts)


def _of_pi(function: Callable) -> Callable:
    """sin(pi * x) or cos(pi * x): halves are met exactly."""

    def of(x: np.ndarray) -> np.ndarray:
        turned = np.remainder(x, 2)
        quarters = np.round(2 * turned)
        rest = np.pi * (turned - quarters / 2)
        quarter = quarters + (1 if function is np.sin else 2)  # cos(x) = sin(x + pi / 2)
        value = [-np.cos(rest), np.sin(rest), np.cos(rest), -np.sin(rest)]
        chosen = np.select([quarter % 4 == number for number in range(4)], value, np.nan)
        return np.where(np.isfinite(x), chosen, np.nan)

    return of


def away(x: np.ndarray) -> np.ndarray:
    """Halves away from zero."""
    whole = np.trunc(x)
    return whole + np.where(np.abs(x - whole) >= 0.5, np.copysign(1, x), 0)


def exponent(x: np.ndarray) -> np.ndarray:
    """That of the power of two below |x|."""
    special = np.where(x == 0, -np.inf, np.abs(x))
    return np.where(np.isfinite(x) & (x != 0), np.frexp(x)[1] - 1.0, special)


def _power(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.power(x, y.astype(np.float64))


def _scaled(x: np.ndarray, power: np.ndarray) -> np.ndarray:
    return np.ldexp(x, np.clip(power, -5000, 5000).astype(np.int32))


INVERSE_ERFC = one_by_one(_inverse_erfc)
ERFC = one_by_one(math.erfc)

OF_FLOAT64: dict[str, Callable] = {
    **{
        name: getattr(np, name)
        for name in "cos cosh exp2 expm1 fmod hypot log log10 log1p log2 rint sin sinh sqrt tan tanh".split()
    },
    **{f"a{name}": getattr(np, f"arc{name}") for name in "cos cosh sin sinh tan tanh tan2".split()},
    "exp": np.exp,
    "exp10": lambda x: np.power(10.0, x),
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "cbrt": np.cbrt,
    "rcbrt": lambda x: 1 / np.cbrt(x),
    "pow": _power,
    "powi": _power,
    "sinpi": _of_pi(np.sin),
    "cospi": _of_pi(np.cos),
    "erf": one_by_one(math.erf),
    "erfc": ERFC,
    "erfinv": one_by_one(_inverse_erf),
    "erfcinv": INVERSE_ERFC,
    "normcdf": lambda x: ERFC(-x / math.sqrt(2)) / 2,
    "normcdfinv": _inverse_normal,
    "lgamma": one_by_one(math.lgamma, lambda x: math.inf),
    "tgamma": one_by_one(math.gamma, _of_gamma),
    "rhypot": lambda x, y: 1 / np.hypot(x, y),
    "norm3d": _norm,
    "norm4d": _norm,
    "rnorm3d": lambda *parts: 1 / _norm(*parts),
    "rnorm4d": lambda *parts: 1 / _norm(*parts),
    "remainder": one_by_one(math.remainder),
    "fdim": lambda x, y: np.where(x > y, x - y, np.where(np.isnan(x) | np.isnan(y), np.nan, 0.0)),
    "ldexp": _scaled,
    "scalbn": _scaled,
    "logb": exponent,
    "saturate": lambda x: np.fmin(np.fmax(x, 0.0), 1.0),  # NaN becomes 0
    "nearbyint": np.rint,
    "round": away,
}
FAST = "sinf cosf log2f logf expf tanf exp10f log10f powf".split()

EXACT: dict[str, Callable] = {  # computed in the type of the arguments, because the result is exact or hangs on it
    "fabs": np.abs,
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "copysign": np.copysign,
    "nextafter": np.nextafter,
}


def _in_float64(compute: Callable) -> Callable:
    return lambda *arguments: compute(
        *(each.astype(np.float64) if each.dtype.kind == "f" else each for each in arguments)
    )


def _test(compute: Callable) -> Callable:
    """A test gives an int32, 1 or 0."""
    return lambda x: compute(x).astype(np.int32)


MEANINGS: dict[str, Callable] = {
    **{name + end: _in_float64(compute) for name, compute in OF_FLOAT64.items() for end in ("", "f")},
    **{f"fast_{name}": _in_float64(OF_FLOAT64[name[:-1]]) for name in FAST},
    "fast_fdividef": lambda x, y: np.where(np.abs(y) > np.float32(2.0**126), x * np.float32(0), x / y),
    **{name + end: compute for name, compute in EXACT.items() for end in ("", "f")},
    **{f"isnan{end}": _test(np.isnan) for end in "fd"},
    **{f"isinf{end}": _test(np.isinf) for end in "fd"},
    **{f"signbit{end}": _test(np.signbit) for end in "fd"},
    "finitef": _test(np.isfinite),
    "isfinited": _test(np.isfinite),
}
