"""Types of arguments that numba-cuda 0.30 takes, and those that it turns them into."""

import numpy as np

from tools.sim.cuda.faults import Refused
from tools.sim.cuda.numbers.conversion import cast
from tools.sim.cuda.numbers.promotion import Value, common

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float32", "float64")


def only(function: str, argument: str, value: Value, types: tuple[str, ...]) -> None:
    """Refuse a value of any other type. function, argument: their names."""
    found = type_of(function, argument, value)
    if found not in types:
        raise Refused(f"{argument} is {found}; {function} takes {listed(types)}.", "Convert it before the call.")


def converted(function: str, types: tuple[str, ...], *values: Value) -> list:
    """The values in one type: their own if it is among these, else the first that can hold them, else the first."""
    found = {type_of(function, "an argument", value) for value in values}
    own = tuple(found & set(types)) if len(found) == 1 else ()
    fitting = [
        dtype for dtype in map(np.dtype, own + types) if all(common(np.dtype(each), dtype) == dtype for each in found)
    ]
    return [cast(value, (fitting or [np.dtype(types[0])])[0]) for value in values]


def type_of(function: str, argument: str, value: Value) -> str:
    """int32, and so on. Refuses arrays, tuples and whatever else is no number."""
    dtype = getattr(value, "dtype", None)  # of a variable without a value, this says so
    if not isinstance(value, (np.ndarray, np.generic)):
        raise Refused(f"{function} takes numbers; {argument} is of type {type(value).__name__}.")
    return str(dtype)


def listed(types: tuple[str, ...]) -> str:
    """int32, int64 or float32; all integers in one word"""
    if types[: len(INTEGERS)] == INTEGERS:
        types = ("integers", *types[len(INTEGERS) :])
    return " or ".join(filter(None, [", ".join(types[:-1]), types[-1]]))
