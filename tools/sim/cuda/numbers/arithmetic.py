"""Floor division, remainder and power of operands that have the result's type, as an H200 computes them.

Checked there against numba-cuda 0.30, bit by bit. Each function takes and gives NumPy arrays or scalars.
"""

from collections.abc import Callable

import numpy as np

from tools.sim.cuda.numbers.conversion import convert
from tools.sim.cuda.numbers.fused import multiply_add
from tools.sim.cuda.numbers.promotion import FLOAT64, Value, select

LEAST = np.iinfo(np.int64).min
LONGEST = 0x10000  # the largest exponent for which Numba multiplies


def floor_quotient(x: Value, y: Value) -> Value:
    """x // y. Integers: 0 for a division by 0, and for the one quotient that overflows."""
    if x.dtype.kind == "f":
        return _float_floor_quotient(x, y)
    quotient, turned = x // y, y == -1
    if turned.any() if isinstance(turned, np.ndarray) else turned:
        return select(turned & (quotient == LEAST), 0, quotient)
    return quotient


def remainder(x: Value, y: Value) -> Value:
    """x % y, with the sign of y. Integers: 0 for y = 0."""
    if x.dtype.kind != "f":
        return x % y
    rest = _rest(x, y)
    moved = np.where((rest != 0) & ((y < 0) != (rest < 0)), rest + y, rest)
    moved = np.where(rest == 0, np.where(y < 0, x.dtype.type(-0.0), x.dtype.type(0.0)), moved)
    return select(y == 0, rest, moved)


def _rest(x: Value, y: Value) -> Value:
    """LLVM's frem for NVIDIA's GPUs. Unlike C's fmod it is not exact: when the rounded quotient is off
    by one or more, so is the rest by as many times y; and it is NaN for an infinite y."""
    rest = multiply_add(-np.floor(abs(x) / abs(y)), abs(y), abs(x))
    return np.where(x < 0, -rest, rest)


def _float_floor_quotient(x: Value, y: Value) -> Value:
    """CPython's algorithm (float_floor_div), with the remainder of a GPU."""
    rest = _rest(x, y)
    quotient = (x - rest) / y
    quotient = np.where((rest != 0) & ((y < 0) != (rest < 0)), quotient - 1, quotient)
    whole = np.floor(quotient)
    whole = np.where(quotient - whole > 0.5, whole + 1, whole)
    whole = np.where(quotient == 0, abs(quotient) * x / y, whole)  # a zero with the sign of x / y
    return select(y == 0, x / y, whole)


def power(x: Value, y: Value) -> Value:
    """x ** y. y: of the type of x, or an integer."""
    if y.dtype.kind == "c":
        return x**y
    if y.dtype.kind == "f":
        return convert(convert(x, FLOAT64) ** convert(y, FLOAT64), x.dtype)
    if x.dtype.kind == "f":
        return _power(_by_squaring, x, y, abs(y) > LONGEST)
    return _power(_whole_power, x, y, y > LONGEST)


def _power(usual: Callable, x: Value, y: Value, far: Value) -> Value:
    """far: where Numba calls pow of float64 instead of multiplying."""
    if not far.any():
        return usual(x, y)
    distant = convert(convert(x, FLOAT64) ** convert(y, FLOAT64), x.dtype)
    return select(far, distant, usual(x, np.where(far, 0, y)))


def _by_squaring(x: Value, y: Value) -> Value:
    """x: floats. Rounds as Numba's loop does."""
    left, factor, result = abs(y), x, x.dtype.type(1)
    while left.any():
        odd = left & 1 == 1
        if isinstance(odd, np.ndarray):
            result = np.where(odd, result * factor, result)
        elif odd:
            result = result * factor
        left, factor = left >> 1, factor * factor
    return np.where(y < 0, 1 / result, result)[()] if (y < 0).any() else result


def _whole_power(x: Value, y: Value) -> Value:
    """Wraps. To a negative power: 1 and -1 stay what they are, 0 gives the least integer, all others 0."""
    negative = y < 0
    if not negative.any():
        return x ** y.astype(x.dtype)
    inverse = np.where(abs(x) == 1, np.where(y & 1, x, 1), np.where(x == 0, LEAST, 0))
    return select(negative, inverse, x ** np.where(negative, 0, y).astype(x.dtype))
