"""Arithmetic that rounds in a direction: to nearest (rn), toward zero (rz), down (rd), up (ru).

Each result is found exactly, as a fraction, and then the neighbour of it that the direction asks for. That goes
element by element and is slow.
"""

import math
import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

DIRECTIONS = ("rn", "rz", "rd", "ru")


def rounded(exact: Fraction, dtype: np.dtype, direction: str) -> np.floating:
    """An exact number in a float type."""
    kind = dtype.type
    near = nearest(exact, dtype)
    if direction == "rn":
        return near
    if direction == "rz":
        direction = "rd" if exact > 0 else "ru"
    if direction == "rd":
        return np.nextafter(near, kind(-np.inf)) if np.isinf(near) and near > 0 or _more(near, exact) else near
    return np.nextafter(near, kind(np.inf)) if np.isinf(near) and near < 0 or _more(-near, -exact) else near


def _more(near: np.floating, exact: Fraction) -> bool:
    return bool(np.isfinite(near)) and Fraction(float(near)) > exact


def nearest(exact: Fraction, dtype: np.dtype) -> np.floating:
    """Ties to even; infinity beyond the largest number."""
    if exact == 0:
        return dtype.type(0)
    limits = np.finfo(dtype)
    exponent = max(_exponent(abs(exact)), int(limits.minexp)) - int(limits.nmant)
    steps = round(exact / Fraction(2) ** exponent)  # Python's round takes ties to even, too
    try:
        return dtype.type(math.ldexp(steps, exponent))
    except OverflowError:
        return dtype.type(math.copysign(math.inf, exact))


def _exponent(exact: Fraction) -> int:
    """Of the power of two at or below a positive number."""
    guess = exact.numerator.bit_length() - exact.denominator.bit_length()
    return guess if Fraction(2) ** guess <= exact else guess - 1


def _root(x: Fraction) -> Fraction:
    """The square root of a positive number: exact, or so near that it rounds alike, with the right neighbours."""
    if x < 0:
        raise ValueError("a negative number has no square root")
    scale = 1 << 2 * max(0, 320 - x.numerator.bit_length() + x.denominator.bit_length())
    whole = x.numerator * scale * x.denominator
    root = math.isqrt(whole)
    tiny = 0 if root * root == whole else Fraction(1, 2)
    return (root + tiny) / Fraction(x.denominator * math.isqrt(scale))


def _operation(compute: Callable, plain: Callable, mirror: Callable | None, direction: str) -> Callable:
    """compute: of fractions. plain: of numbers, for what is no fraction: infinity, NaN, a division by zero.

    mirror: arguments of a sum to those of its negative, so that a sum which is zero finds its sign.
    """

    def one(*numbers: np.floating) -> np.floating:
        usual = plain(*numbers)
        if not all(map(np.isfinite, numbers)):
            return usual
        try:
            exact = compute(*(Fraction(float(number)) for number in numbers))
        except (ZeroDivisionError, ValueError):
            return usual
        if exact != 0:
            return rounded(exact, usual.dtype, direction)
        return -plain(*mirror(*numbers)) if mirror and direction == "rd" else usual

    def each(*arguments: np.ndarray) -> np.ndarray:
        arrays = np.broadcast_arrays(*arguments)
        result = np.empty(arrays[0].shape, arrays[0].dtype)
        for place in np.ndindex(result.shape):
            numbers: list[Any] = [array[place] for array in arrays]
            result[place] = one(*numbers)
        return result

    return each


def _fused(x: Any, y: Any, z: Any) -> Any:
    return x * y + z


OPERATIONS: dict[str, tuple[Callable, Callable, Callable | None]] = {
    "add": (operator.add, np.add, lambda x, y: (-x, -y)),
    "sub": (operator.sub, np.subtract, lambda x, y: (-x, -y)),
    "mul": (operator.mul, np.multiply, None),
    "div": (operator.truediv, np.divide, None),
    "rcp": (lambda x: 1 / x, np.reciprocal, None),
    "sqrt": (_root, np.sqrt, None),
    "rsqrt": (lambda x: 1 / _root(x), lambda x: x.dtype.type(1) / np.sqrt(x), None),
}
FUSED = _fused, _fused, lambda x, y, z: (-x, y, -z)

MEANINGS: dict[str, Callable] = {
    **{
        f"{letter}{name}_{direction}": _operation(*how, direction)
        for name, how in OPERATIONS.items()
        for direction in DIRECTIONS
        for letter in "fd"
    },
    **{f"fma{end}_{direction}": _operation(*FUSED, direction) for direction in DIRECTIONS for end in ("", "f")},
    **{f"fma{end}": _operation(*FUSED, "rn") for end in ("", "f")},
}
