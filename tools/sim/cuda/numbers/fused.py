"""Results with a single rounding: of a * b + c, which NumPy rounds twice, and of functions of short floats.

S. Boldo, G. Melquiond, "Emulation of a FMA and correctly rounded sums: proved algorithms using rounding to odd",
IEEE Transactions on Computers 57(4), 2008. A sum rounded to odd may be rounded again without harm.
"""

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from tools.sim.cuda.numbers.promotion import Value

SPLIT = 2.0**27 + 1  # cuts a float64 into two halves of 26 bits (T. J. Dekker, 1971)
LEAST, MOST = 2.0**-400, 2.0**400  # between them, nothing over- or underflows on the fast way


def rounded_once(operate: Callable) -> Callable:
    """operate, computed in float64 and then rounded to the type of the arguments."""

    def function(*values: Value) -> Value:
        return operate(*(value.astype(np.float64) for value in values)).astype(values[0].dtype)[()]

    return function


def multiply_add(a: Value, b: Value, c: Value) -> Value:
    """a * b + c. a, b, c: of one type, float16, float32 or float64, which is the result's too."""
    dtype = a.dtype
    a, b, c = np.broadcast_arrays(*(np.asarray(each, np.float64) for each in (a, b, c)))
    if dtype != np.float64:
        return _odd_sum(a * b, c).astype(dtype)[()]  # here, the product is exact
    moderate = _moderate(a) & _moderate(b) & (_moderate(c) | (c == 0))
    result = np.where(moderate, _of_doubles(a, b, c), a * b + c)
    extreme = ~moderate & np.isfinite(a) & np.isfinite(b) & (a != 0) & (b != 0)
    result[extreme] = [_of_fractions(*each) for each in zip(a[extreme], b[extreme], c[extreme])]
    return result[()]


def _moderate(x: Value) -> Value:
    return (abs(x) >= LEAST) & (abs(x) <= MOST)


def _of_doubles(a: Value, b: Value, c: Value) -> Value:
    high, low = _product(a, b)
    carried, rest = _sum(c, low)
    total, error = _sum(high, carried)
    return total + _odd_sum(rest, error)


def _of_fractions(a: float, b: float, c: float) -> float:
    if not np.isfinite(c):
        return c
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    try:
        return float(exact)
    except OverflowError:
        return float("inf") if exact > 0 else -float("inf")


def _odd_sum(x: Value, y: Value) -> Value:
    """x + y; where that is not exact, the one of its two neighbours whose last bit is 1."""
    total, error = _sum(x, y)
    even = total.view(np.int64) & 1 == 0
    return np.where(even & (abs(error) > 0), np.nextafter(total, np.copysign(np.inf, error)), total)


def _sum(x: Value, y: Value) -> tuple[Value, Value]:
    """x + y as a rounded sum and its error (D. E. Knuth)."""
    total = x + y
    part = total - x
    return total, (x - (total - part)) + (y - part)


def _product(x: Value, y: Value) -> tuple[Value, Value]:
    """x * y as a rounded product and its error (T. J. Dekker)."""
    product = x * y
    (a, b), (c, d) = _halves(x), _halves(y)
    return product, b * d - (((product - a * c) - b * c) - a * d)


def _halves(x: Value) -> tuple[Value, Value]:
    big = SPLIT * x
    high = big - (big - x)
    return high, x - high
