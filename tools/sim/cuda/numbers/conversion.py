"""Values of one type as another, as the conversion instructions of a GPU (cvt) make them."""

from collections.abc import Callable
from typing import NoReturn

import numpy as np

from tools.sim import floats
from tools.sim.cuda.faults import Refused
from tools.sim.cuda.numbers.promotion import (
    BOOL,
    FLOAT16,
    FLOAT64,
    INT8,
    INT16,
    TYPES,
    UINT8,
    UINT16,
    Value,
    is_whole,
    select,
)

REGISTER = {INT8: INT16, UINT8: UINT16}  # a float32 or float64 is converted to no smaller integer


def convert(value: Value, dtype: np.dtype) -> Value:
    """`value`, a NumPy array or scalar, as `dtype`: as Numba casts, and as it stores to an array of that type.

    Integers wrap. Floats are rounded to nearest even. A float that becomes an integer is cut (a float16 is rounded)
    and saturates. Raises Refused for a complex number that would become real, and for a float16 as a bool.
    """
    change = _CHANGES[value.dtype][dtype]
    return value if change is None else change(value)


def cast(value: Value, dtype: np.dtype) -> Value:
    """The same where a kernel asks for it: what that costs the GPU is counted."""
    change = _CHANGES[value.dtype][dtype]
    if change is None:
        return value
    return change(value) if floats.current is None else floats.current.cast(value, change(value))


def truth(value: Value) -> Value:
    """bool(value), which unlike `convert` also takes complex numbers."""
    return value != 0 if value.dtype.kind == "c" else convert(value, BOOL)


def _change(old: np.dtype, new: np.dtype) -> Callable[[Value], Value] | None:
    """The function that converts; None where there is nothing to do."""
    if old == new:
        return None
    if old.kind == "c" and new.kind != "c":
        return lambda value: _refuse(f"Numba converts no {old} to {new}.", "Take its .real, its .imag or its abs().")
    if new == BOOL and old == FLOAT16:
        return lambda value: _refuse("Numba compiles no float16 as a condition.", "Compare it with something: x != 0.")
    if new == BOOL:
        return lambda value: value != 0
    if old.kind == "f" and is_whole(new):
        return lambda value: _cut(value, new)
    return lambda value: value.astype(new)


def _cut(value: Value, dtype: np.dtype) -> Value:
    """cvt.rzi; cvt.rni for float16."""
    register = REGISTER.get(dtype, dtype)
    if value.dtype == FLOAT16:
        register, value = dtype, np.rint(value)
    limits = np.iinfo(register)
    low, high = (value.min(), value.max()) if isinstance(value, np.ndarray) else (value, value)
    if low > float(limits.min) - 1 and high < float(limits.max) + 1:  # false if one is NaN
        return value.astype(register).astype(dtype, copy=False)
    return _saturated(value, register, limits).astype(dtype)


def _saturated(value: Value, register: np.dtype, limits: np.iinfo) -> Value:
    below, above = value <= float(limits.min), value >= float(limits.max)
    result = np.where(below | above | np.isnan(value), 0, value).astype(register)
    result = np.where(below, limits.min, np.where(above, limits.max, result))
    return select(np.isnan(value), _from_nan(value.dtype, register), result)


def _from_nan(old: np.dtype, register: np.dtype) -> Value:
    """The integer that NaN becomes (PTX ISA, cvt): 0, but with 64 bits on either side only the highest bit set."""
    if old != FLOAT64 and register.itemsize < 8:
        return register.type(0)
    return np.array(1, register) << (8 * register.itemsize - 1)


def _refuse(reason: str, advice: str) -> NoReturn:
    raise Refused(reason, advice)


_CHANGES = {old: {new: _change(old, new) for new in TYPES} for old in TYPES}
