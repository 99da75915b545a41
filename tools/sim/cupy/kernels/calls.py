"""The functions of CUDA C++ that a kernel may call, and the type that each gives.

Their last bits are NumPy's: a GPU's sin or exp may differ by a few units in the last place.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tools.sim.cupy.arrays.casts import flushed
from tools.sim.cupy.kernels.types import common, is_half, promoted

FLOAT, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)


class Ambiguous(Exception):
    """Arguments for which the compiler finds no function, or several. what: a sentence about it."""

    def __init__(self, what: str) -> None:
        self.what = what


def _round(x: Any) -> Any:
    """Halves away from zero."""
    whole = np.trunc(x)
    return np.where(np.abs(x - whole) >= 0.5, whole + np.copysign(x.dtype.type(1), x), whole)


def _each(function: Callable[[float], float], at_poles: float) -> Callable:
    """Python's function for every number, with what C gives where Python raises."""

    def value(x: float) -> float:
        try:
            return function(x)
        except ValueError:
            return at_poles
        except OverflowError:
            return math.inf

    return np.vectorize(value, [float])


def _fma(x: Any, y: Any, z: Any) -> Any:
    """Rounded once where they are floats."""
    if x.dtype == FLOAT:
        x, y, z = (each.astype(DOUBLE) for each in (x, y, z))
    return x * y + z


def _of_numpy(names: str) -> dict[str, Callable]:
    return {name: getattr(np, name) for name in names.split()}


# Of floating-point numbers. sinf(x) takes and gives float; sin(x) is there for float and for double.
ONE: dict[str, Callable] = {
    **_of_numpy(
        "sin cos tan sinh cosh tanh exp exp2 expm1 log log2 log10 log1p sqrt cbrt floor ceil trunc rint fabs "
        "asin acos atan asinh acosh atanh"
    ),
    "nearbyint": np.rint,
    "round": _round,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "exp10": lambda x: np.power(10, x),
    "sinpi": lambda x: np.sin(np.pi * x),
    "cospi": lambda x: np.cos(np.pi * x),
    "erf": np.vectorize(math.erf, [float]),
    "erfc": np.vectorize(math.erfc, [float]),
    "tgamma": _each(math.gamma, math.nan),
    "lgamma": _each(math.lgamma, math.inf),
}
TWO: dict[str, Callable] = {"pow": np.power, "atan2": np.arctan2, **_of_numpy("fmod hypot fmin fmax nextafter")}
THREE: dict[str, Callable] = {"fma": _fma}
FLOATING: dict[int, dict[str, Callable]] = {1: ONE, 2: TWO, 3: THREE}
OF_HALVES = ("fmin", "fmax", "nextafter")  # that CuPy has for float16 as well
ONLY_FLOAT: dict[int, dict[str, Callable]] = {  # the first ones are less exact on a GPU
    1: {f"__{name}f": ONE[name] for name in ("sin", "cos", "tan", "exp", "exp10", "log", "log2", "log10")},
    2: {"__powf": np.power, "__fdividef": np.divide, "fdividef": np.divide, "copysignf": np.copysign},
}
ABOUT: dict[str, Callable] = {"isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite, "signbit": np.signbit}
WHOLE: dict[str, Callable] = {"llrint": np.rint, "lrint": np.rint, "llround": _round, "lround": _round}
EITHER: dict[str, Callable] = {"min": np.fmin, "max": np.fmax, "copysign": np.copysign}  # of two of one type
COMPLEX: dict[str, Callable] = {
    **{"abs": np.abs, "arg": np.angle, "conj": np.conj, "norm": lambda z: np.abs(z) ** 2},
    **_of_numpy("real imag exp log log10 sqrt sin cos tan sinh cosh tanh asin acos atan asinh acosh atanh"),
}
FREE = ("abs", "fabs", "fabsf", "copysign", "copysignf")  # they change a sign
ATOMIC = {
    "atomicAdd": np.add,
    "atomicSub": np.subtract,
    "atomicMax": np.maximum,
    "atomicMin": np.minimum,
    "atomicAnd": np.bitwise_and,
    "atomicOr": np.bitwise_or,
    "atomicXor": np.bitwise_xor,
}
KNOWN = [
    *(name for of in (*FLOATING.values(), *ONLY_FLOAT.values(), ABOUT, WHOLE, EITHER, COMPLEX) for name in of),
    *(f"{name}f" for of in FLOATING.values() for name in of),
]


def call(name: str, values: list) -> Any:
    """The result of a function for values of C++'s types; None if the translation knows no such function.

    Raises Ambiguous where the compiler would not know which one is meant.
    """
    types = [value.dtype for value in values]
    if any(dtype.kind == "c" for dtype in types):
        return COMPLEX[name](values[0]) if len(values) == 1 and name in COMPLEX else None
    if len(values) == 2 and name in EITHER:
        dtype, flush = _one_type(name, *types), flushed if name != "copysign" else np.asarray
        return EITHER[name](*map(flush, _as(dtype, values)))
    if len(values) == 1 and name == "abs":
        return np.abs(flushed(*_as(_signed(types[0]), values)))
    if len(values) == 1 and name in ABOUT:
        return ABOUT[name](*_as(_floating(name, types), values)).astype(np.int32)
    if len(values) == 1 and name in WHOLE:
        return WHOLE[name](*_as(_floating(name, types), values)).astype(np.int64)
    return _floats(name, values, types)


def _floats(name: str, values: list, types: list[np.dtype]) -> Any:
    functions, only_float = FLOATING.get(len(values), {}), ONLY_FLOAT.get(len(values), {})
    if name in functions:
        function, dtype = functions[name], _floating(name, types)
    elif name in only_float:
        function, dtype = only_float[name], FLOAT
    elif name.endswith("f") and name[:-1] in functions:
        function, dtype = functions[name[:-1]], FLOAT
    else:
        return None
    return flushed(np.asarray(function(*map(flushed, _as(dtype, values)))).astype(dtype))


def _floating(name: str, types: list[np.dtype]) -> np.dtype:
    """float or double: what those arguments have that are floating point."""
    if name in OF_HALVES and any(map(is_half, types)):
        if types[0] == types[1]:
            return types[0]
        raise Ambiguous(f"{name} is there for two float16, but not for {_named(types)}. Convert one of them.")
    found = {FLOAT if is_half(dtype) else dtype for dtype in types if dtype.kind not in "biu"}
    if name == "pow" and types[1].kind in "iu" and promoted(types[1]) != np.int32:
        found.clear()
    if len(found) != 1:
        raise Ambiguous(
            f"{name} is there for float and for double. Which one is meant for {_named(types)}?\n"
            "Convert to one of them, as in (float)x."
        )
    return found.pop()


def _one_type(name: str, one: np.dtype, other: np.dtype) -> np.dtype:
    """The type of a function that is there for two of each type."""
    whole = one.kind in "biu" and other.kind in "biu" and name != "copysign"
    if one == other and (whole or one.kind not in "biu"):
        return promoted(one) if whole else one
    if whole and promoted(one).itemsize == promoted(other).itemsize or {one, other} == {FLOAT, DOUBLE}:
        return common(one, other)
    raise Ambiguous(f"{name} takes two of one type, not {_named([one, other])}. Convert one of them.")


def _signed(dtype: np.dtype) -> np.dtype:
    dtype = promoted(dtype)
    if dtype.kind == "u":
        raise Ambiguous(
            f"abs is there for int, long long, float and double. Which one is meant for {dtype}?\n"
            "Convert to one of them, as in (int)x."
        )
    return dtype


def _named(types: list[np.dtype]) -> str:
    return " and ".join(map(str, types))


def _as(dtype: np.dtype, values: list) -> list:
    return [value.astype(dtype) for value in values]
