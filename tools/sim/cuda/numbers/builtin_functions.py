"""Python's built-in functions inside a kernel, with the types and values of numba-cuda 0.30 on an H200.

Arguments and results are NumPy arrays or scalars. Each function raises Refused for types that Numba refuses.
"""

from collections.abc import Callable
from functools import reduce
from typing import Any, NoReturn

import numpy as np

from tools.sim.cuda.faults import Refused
from tools.sim.cuda.numbers import operations
from tools.sim.cuda.numbers.arithmetic import power
from tools.sim.cuda.numbers.conversion import convert, truth
from tools.sim.cuda.numbers.promotion import (
    BOOL,
    COMPLEX64,
    COMPLEX128,
    FLOAT16,
    FLOAT32,
    FLOAT64,
    INT8,
    INT64,
    UINT64,
    Value,
    common,
    is_whole,
    select,
    unify,
)


def minimum(*values: Any) -> Value:
    """min. Of two floats, the other one if one is NaN (0.0 and -0.0 count as equal); of more, as Python compares."""
    return _extreme("min", np.fmin, operations.lt, values)


def maximum(*values: Value) -> Value:
    """max, likewise."""
    return _extreme("max", np.fmax, operations.gt, values)


def _extreme(name: str, of_floats: np.ufunc, better: Callable, values: tuple) -> Value:
    values = values[0] if len(values) == 1 and isinstance(values[0], tuple) else values
    kinds = {value.dtype.kind for value in values}
    if "c" in kinds or ("b" in kinds and (kinds != {"b"} or len(values) > 2)):
        _refuse(name, values)
    if len(values) == 2 and all(value.dtype in (FLOAT32, FLOAT64) for value in values):
        return of_floats(*values)
    return reduce(lambda best, value: _better(better, best, value), values)


def _better(better: Callable, best: Value, value: Value) -> Value:
    dtype = unify(best.dtype, value.dtype)
    best, value = convert(best, dtype), convert(value, dtype)
    return select(better(value, best), value, best)


def absolute(value: Value) -> Value:
    """abs"""
    return abs(convert(value, INT8) if value.dtype == BOOL else value)


def to_int(value: Value) -> Value:
    """int: floats are cut, and saturate as int64. Integers keep their type."""
    if value.dtype.kind == "c":
        _refuse("int", [value])
    return value if value.dtype.kind in "iu" else convert(value, INT64)


def to_float(value: Any) -> Value:
    """float: integers become float64, floats keep their type. float("inf") is a float64."""
    if isinstance(value, str):
        return np.float64(value)
    if value.dtype.kind in "bc":
        _refuse("float", [value])
    return convert(value, FLOAT64) if is_whole(value.dtype) else value


def to_complex(*parts: Value) -> Value:
    """complex: of float32 alone a complex64, else a complex128."""
    halves = len(parts) == 2
    if any(part.dtype in (BOOL, FLOAT16) or (halves and part.dtype.kind == "c") for part in parts):
        _refuse("complex", parts)
    dtype = COMPLEX64 if all(part.dtype == FLOAT32 for part in parts) else COMPLEX128
    if not halves:
        return convert(parts[0], dtype)
    whole = np.empty(np.broadcast_shapes(*map(np.shape, parts)), dtype)
    whole.real, whole.imag = parts
    return whole[()]


def rounded(value: Value, digits: Any = None) -> Value:
    """round: to nearest even, an int64. With digits: a float, by way of an int64 that saturates."""
    if value.dtype.kind == "c":
        _refuse("round", [value])
    if digits is None:
        return convert(np.rint(convert(value, FLOAT64)), INT64)
    dtype, digits = common(value.dtype, FLOAT32), convert(digits, INT64)
    x = convert(convert(value, dtype), FLOAT64)
    scale = power(FLOAT64.type(10), abs(digits))
    scaled = np.where(digits < 0, x / scale, x * scale)
    whole = convert(convert(np.rint(scaled), INT64), FLOAT64)
    result = np.where(digits < 0, whole * scale, whole / scale)
    return select(np.isfinite(scaled), result, x).astype(dtype)


def quotient_and_remainder(a: Value, b: Value) -> tuple[Value, Value]:
    """divmod"""
    dtype = common(a.dtype, b.dtype)
    if dtype.kind == "c":
        _refuse("divmod", [a, b])
    if is_whole(dtype):
        dtype = UINT64 if dtype.kind == "u" else INT64
    a, b = convert(a, dtype), convert(b, dtype)
    return operations.floordiv(a, b), operations.mod(a, b)


def _refuse(name: str, values: Value) -> NoReturn:
    types = ", ".join(str(value.dtype) for value in values)
    raise Refused(f"Numba compiles no {name}({types}).")


MEANINGS = {
    min: minimum,
    max: maximum,
    abs: absolute,
    int: to_int,
    float: to_float,
    bool: truth,
    complex: to_complex,
    round: rounded,
    divmod: quotient_and_remainder,
    pow: operations.pow,
}
