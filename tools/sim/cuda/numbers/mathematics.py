"""The functions of Python's module math inside a kernel, those of NumPy that Numba compiles there, and the built-ins.

Types are those of numba-cuda 0.30. Values are computed in float64 and rounded once; a GPU's may be some units in the
last place off (CUDA C++ Programming Guide, Mathematical Functions Appendix). Outside its domain a function gives NaN
or infinity, as there. erf, erfc, gamma, lgamma and remainder, which NumPy lacks, go element by element and are slow.
"""

import math
from collections.abc import Callable

import numpy as np

from tools.sim.cuda.faults import Refused
from tools.sim.cuda.numbers import builtin_functions
from tools.sim.cuda.numbers.conversion import convert, truth
from tools.sim.cuda.numbers.promotion import COMPLEX128, FLOAT16, FLOAT32, FLOAT64, INT32, Value, common, is_whole

# Numba has these for float16 too; it computes the others in float32.
HALF = tuple("ceil cos exp exp2 fabs floor log log10 log2 sin sqrt tanh trunc".split())
NUMPY = tuple("acos acosh asin asinh atan atanh cos cosh log log10 log2 sin sinh tan tanh".split())


def meaning(function: object) -> Callable | None:
    """The meaning of `function` inside a kernel, for NumPy arrays and scalars; None if it is not known here."""
    try:
        return MEANINGS.get(function)
    except TypeError:  # it cannot be a key
        return None


# Types -------------------------------------------------------------------------------------------


def _float(dtype: np.dtype) -> np.dtype:
    """float32 if that holds every value of the type, else float64."""
    return common(dtype, FLOAT32)


def _of_one(name: str, dtype: np.dtype) -> np.dtype:
    if is_whole(dtype):
        return FLOAT64
    return FLOAT32 if dtype == FLOAT16 and name not in HALF else dtype


def _of_two(name: str, a: np.dtype, b: np.dtype) -> np.dtype:
    if name in ("atan2", "hypot") and is_whole(a) and is_whole(b):
        return FLOAT64
    if name == "pow" and (b == INT32 or (a, b) == (FLOAT32, np.uint16)):
        return _float(a)  # the overload for an exponent of int32
    return common(_float(a), _float(b))


def _of_numpy(dtype: np.dtype) -> np.dtype:
    """By size, as NumPy's universal functions choose among float32 and float64."""
    if is_whole(dtype):
        return FLOAT32 if dtype.itemsize < 4 else FLOAT64
    return dtype


def _only_real(name: str, *values: Value) -> None:
    if any(value.dtype.kind == "c" for value in values):
        raise Refused(f"Numba compiles no {name}({', '.join(str(value.dtype) for value in values)}).")


# Functions ---------------------------------------------------------------------------------------


def _unary(name: str, compute: Callable, exact: bool = False) -> Callable:
    """exact: what NumPy computes in the result's own type is right to the last bit."""

    def function(x: Value) -> Value:
        _only_real(f"math.{name}", x)
        dtype = _of_one(name, x.dtype)
        return convert(compute(convert(x, dtype if exact else FLOAT64)), dtype)

    return function


def _binary(name: str, compute: Callable, exact: bool = False) -> Callable:
    def function(x: Value, y: Value) -> Value:
        _only_real(f"math.{name}", x, y)
        dtype = _of_two(name, x.dtype, y.dtype)
        inside = dtype if exact else FLOAT64
        return convert(compute(convert(x, inside), convert(y, inside)), dtype)

    return function


def _test(name: str, compute: np.ufunc) -> Callable:
    def function(x: Value) -> Value:
        _only_real(f"math.{name}", x)
        return compute(x)

    return function


def _of_numpys(name: str) -> Callable:
    def function(x: Value) -> Value:
        if x.dtype == FLOAT16:
            raise Refused(f"Numba compiles no np.{name} of a float16.", "Convert it before: np.float32(x).")
        inside = COMPLEX128 if x.dtype.kind == "c" else FLOAT64
        return convert(getattr(np, name)(convert(x, inside)), _of_numpy(x.dtype))

    return function


def _one_by_one(function: Callable, outside: Callable = lambda *numbers: math.nan) -> Callable:
    """outside: what is due where Python's function raises an error."""

    def safely(*numbers: float) -> float:
        try:
            return function(*numbers)
        except (ValueError, OverflowError):
            return outside(*numbers)

    each = np.vectorize(safely, otypes=[float])
    return lambda *arrays: each(*arrays)[()]


def frexp(x: Value) -> tuple[Value, Value]:
    _only_real("math.frexp", x)
    mantissa, exponent = np.frexp(convert(x, _float(x.dtype)))
    return mantissa, convert(exponent, INT32)


def ldexp(x: Value, exponent: Value) -> Value:
    """Any real exponent is accepted, and cut."""
    _only_real("math.ldexp", x, exponent)
    return np.ldexp(convert(x, _float(x.dtype)), convert(exponent, INT32))


def modf(x: Value) -> tuple[Value, Value]:
    _only_real("math.modf", x)
    return np.modf(x if x.dtype == FLOAT32 else convert(x, FLOAT64))


# Names -------------------------------------------------------------------------------------------

ONE_BY_ONE = {
    "erf": _one_by_one(math.erf),
    "erfc": _one_by_one(math.erfc),
    "remainder": _one_by_one(math.remainder),
    "gamma": _one_by_one(math.gamma, lambda x: math.nan if x <= -1 else math.copysign(math.inf, x)),
    "lgamma": _one_by_one(math.lgamma, lambda x: math.inf),
}
EXACT = ("ceil", "copysign", "fabs", "floor", "fmod", "nextafter", "sqrt", "trunc")
UNARY = {*HALF, *NUMPY, *"degrees erf erfc expm1 gamma lgamma log1p radians".split()}
BINARY = ("atan2", "copysign", "fmod", "hypot", "nextafter", "pow", "remainder")
MEANINGS: dict[object, Callable] = {
    **builtin_functions.MEANINGS,
    np.bool_: truth,
    math.frexp: frexp,
    math.ldexp: ldexp,
    math.modf: modf,
    **{getattr(math, name): _test(name, getattr(np, name)) for name in ("isfinite", "isinf", "isnan")},
    **{getattr(math, name): _unary(name, ONE_BY_ONE.get(name) or getattr(np, name), name in EXACT) for name in UNARY},
    **{getattr(math, name): _binary(name, ONE_BY_ONE.get(name) or getattr(np, name), name in EXACT) for name in BINARY},
    **{getattr(np, name): _of_numpys(name) for name in NUMPY},
}
