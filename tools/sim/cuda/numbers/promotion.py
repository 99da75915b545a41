"""Types of results in a CUDA kernel, as Numba finds them from the types of the operands.

The rules were found by asking the type inference of numba-cuda 0.30 for every pair of types; the tests ask it again.
"""

from typing import Any

import numpy as np

from tools.sim.cuda.types import Type

Value = Any  # a number of a kernel: a NumPy array with an element for each lane, or a NumPy scalar for all of them
NAMES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128"
TYPES = tuple(map(np.dtype, NAMES.split()))
BOOL, INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64 = TYPES[:9]
FLOAT16, FLOAT32, FLOAT64, COMPLEX64, COMPLEX128 = TYPES[9:]

HOLDERS = {UINT8: INT16, UINT16: INT32}  # signed types that hold all values of an unsigned one
ORDERED = ("lt", "le", "gt", "ge")
COMPARISONS = ("eq", "ne", *ORDERED)


def select(condition: Value, here: Value, otherwise: Value) -> Value:
    """np.where, which of scalars gives a scalar."""
    return np.asarray(np.where(condition, here, otherwise))[()]


def dtype_of(thing: object) -> np.dtype | None:
    """The type that a NumPy dtype or class, a Numba type or a name such as "float32" stands for; None for others.

    Numba's own types, which this room does not import, are known by their names.
    """
    if isinstance(thing, Type) or type(thing).__module__.startswith("numba."):
        thing = str(thing)
    if not isinstance(thing, (str, np.dtype)) and not (isinstance(thing, type) and issubclass(thing, np.generic)):
        return None
    try:
        dtype = np.dtype(thing)
    except TypeError:
        return None
    return dtype if dtype in TYPES else None


def is_whole(dtype: np.dtype) -> bool:
    """A bool or an integer."""
    return dtype.kind in "biu"


def unify(a: np.dtype, b: np.dtype) -> np.dtype:
    """The type of a variable that has one type here and the other there, as after an if with two branches."""
    return np.promote_types(a, b)


def common(a: np.dtype, b: np.dtype) -> np.dtype:
    """The type to which both operands are converted.

    As `unify`, but beside a float an unsigned integer counts as the signed one that can hold it: float32 and
    uint16 meet in float64, as float32 and int32 do.
    """
    if is_whole(a) != is_whole(b):
        a, b = HOLDERS.get(a, a), HOLDERS.get(b, b)
    return np.promote_types(a, b)


def result_type(operation: str, a: np.dtype, b: np.dtype) -> np.dtype | None:
    """Type of `operation`(x, y), a function of Python's module operator, for x of type a and y of type b.

    None: Numba refuses the pair.
    """
    return _RULES[operation](a, b)


def unary_type(operation: str, a: np.dtype) -> np.dtype | None:
    """The same for neg, pos, invert and not_."""
    if operation == "not_" or (operation == "invert" and a == BOOL):
        return BOOL
    if is_whole(a):
        return UINT64 if a.kind == "u" else INT64
    return None if operation == "invert" else a


def _arithmetic(a: np.dtype, b: np.dtype) -> np.dtype:
    """Integers: always 64 bits, unsigned only if both are."""
    if is_whole(a) and is_whole(b):
        return UINT64 if a.kind == b.kind == "u" else INT64
    return common(a, b)


def _true_quotient(a: np.dtype, b: np.dtype) -> np.dtype:
    return FLOAT64 if is_whole(a) and is_whole(b) else common(a, b)


def _floor_quotient(a: np.dtype, b: np.dtype) -> np.dtype | None:
    result = _at_least_float32(_arithmetic(a, b))
    return None if result.kind == "c" else result


def _power(a: np.dtype, b: np.dtype) -> np.dtype:
    """A float to an integer's power keeps its type."""
    if a == BOOL and b == INT32:
        return FLOAT32  # of all overloads, (float32, int32) fits best
    return _at_least_float32(a if a.kind == "f" and is_whole(b) else _arithmetic(a, b))


def _at_least_float32(dtype: np.dtype) -> np.dtype:
    """For what Numba has no float16 version of."""
    return FLOAT32 if dtype == FLOAT16 else dtype


def _shifted(a: np.dtype, b: np.dtype) -> np.dtype | None:
    """Only the left operand decides."""
    if is_whole(a) and is_whole(b):
        return UINT64 if a.kind == "u" else INT64
    return None


def _bits(a: np.dtype, b: np.dtype) -> np.dtype | None:
    if a == b == BOOL:
        return BOOL
    return _arithmetic(a, b) if is_whole(a) and is_whole(b) else None


def _compared(a: np.dtype, b: np.dtype) -> np.dtype:
    return BOOL


def _ordered(a: np.dtype, b: np.dtype) -> np.dtype | None:
    return None if "c" in (a.kind, b.kind) else BOOL


_RULES = {
    **dict.fromkeys(("add", "sub", "mul"), _arithmetic),
    "truediv": _true_quotient,
    "floordiv": _floor_quotient,
    "mod": _floor_quotient,
    "pow": _power,
    "lshift": _shifted,
    "rshift": _shifted,
    **dict.fromkeys(("and_", "or_", "xor"), _bits),
    "eq": _compared,
    "ne": _compared,
    **dict.fromkeys(ORDERED, _ordered),
}
