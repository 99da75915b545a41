"""Calls inside a kernel, and what they mean: an intrinsic, a device function, or one of Python's functions."""

import builtins
import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tools.sim import floats
from tools.sim.cuda.faults import Fault, Refused
from tools.sim.cuda.memory.array import Array
from tools.sim.cuda.numbers import mathematics, operations
from tools.sim.cuda.numbers.promotion import Value
from tools.sim.cuda.run.intrinsic import Intrinsic
from tools.sim.cuda.run.ufuncs import ADVICE, elementwise
from tools.sim.cuda.run.values import NUMBER, strong

FREE = [mathematics.meaning(each) for each in (abs, math.fabs, math.copysign)]  # they change a sign
CASTS = (int, float, bool, np.bool_)
MOST_PRINTED = 4096  # lines of one print statement; a GPU's buffer holds about as many


def meaning(lanes: Any, function: Any) -> Callable:
    """The function to call instead of `function`, with kernel values."""
    if isinstance(function, Intrinsic):
        return function.meaning
    if function is builtins.len:
        return _length
    if function is builtins.print:
        return lambda *values: _print(lanes, values)
    if hasattr(function, "py_func"):
        return lambda *arguments, **named: function.inside(
            lambda *values: lanes.enter(function.program(), values), _bound(function, arguments, named)
        )
    known = mathematics.meaning(function)
    if known is not None and isinstance(function, np.ufunc):
        return _of_array(_counted(known, False), function)
    if known is not None:
        return _counted(known, function in CASTS)
    dtype = operations.dtype_of(function)
    if dtype is not None:
        return lambda value: operations.cast(value, dtype)
    name = getattr(function, "__name__", str(function))
    raise Fault(
        "refused",
        f"It calls {name}, which Numba does not compile for a GPU.",
        "If it is yours: @cuda.jit(device=True) above its def makes it a device function.",
    )


def _length(array: Any) -> Value:
    if isinstance(array, NUMBER):
        raise TypeError(f"len() asks an array or a tuple, and this is one {array.dtype}.")
    return np.int64(len(array))


def _counted(compute: Callable, is_cast: bool) -> Callable:
    """The function; what it costs in float64 and in conversions is counted."""

    def call(*arguments: Any, **named: Any) -> Any:
        result = compute(*arguments, **named)
        if is_cast and isinstance(arguments[0], NUMBER):
            return floats.cast(arguments[0], result)
        return floats.called(result, arguments, compute in FREE)

    return call


def _of_array(compute: Callable, function: np.ufunc) -> Callable:
    """A universal function of NumPy's: of numbers, or of whole arrays into the last argument."""

    def call(*arguments: Any) -> Any:
        if any(isinstance(each, Array) for each in arguments):
            return elementwise(compute, function.__name__, arguments)
        if len(arguments) > function.nin:
            raise Refused(f"np.{function.__name__} of a number gives a number, and fills no array.", ADVICE)
        return compute(*arguments)

    return call


def _bound(function: Any, arguments: tuple, named: dict) -> tuple:
    """One for each parameter of a device function, in their order, defaults included."""
    if not named and len(arguments) == len(function.parameters):
        return arguments
    try:
        bound = inspect.signature(function.py_func).bind(*arguments, **named)
    except TypeError as error:
        raise TypeError(f"{function.__name__}() is called with other arguments than it takes:\n{error}.") from None
    bound.apply_defaults()
    return tuple(map(strong, bound.arguments.values()))


def _print(lanes: Any, values: tuple) -> None:
    """A line from each active thread, in the order of the threads."""
    active = np.flatnonzero(lanes.mask)[:MOST_PRINTED]
    columns = [
        [value] * active.size if isinstance(value, str) else lanes.spread(value)[active].tolist() for value in values
    ]
    for row in zip(*columns):
        print(*row)
