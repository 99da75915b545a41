"""C++'s operators on values that are NumPy arrays or numbers, by C++'s types."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tools.sim import floats
from tools.sim.cupy.arrays.casts import flushed
from tools.sim.cupy.kernels.types import common, is_half, promoted

EQUALITY: dict[str, Callable] = {"==": np.equal, "!=": np.not_equal}
COMPARISONS: dict[str, Callable] = {
    **EQUALITY,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}
BITS = {"&": np.bitwise_and, "|": np.bitwise_or, "^": np.bitwise_xor}
SHIFTS: dict[str, Callable] = {"<<": np.left_shift, ">>": np.right_shift}
PLAIN = {"+": np.add, "-": np.subtract, "*": np.multiply}


class Unfit(Exception):
    """An operator that C++ does not have for operands of these types."""


def binary(operator: str, left: Any, right: Any) -> Any:
    """left operator right. Integers wrap around. A division by the integer 0 gives anything: see `divides_by_zero`."""
    if operator in SHIFTS:
        _need_integers(left, right)
        return SHIFTS[operator](left.astype(promoted(left.dtype)), right.astype(promoted(left.dtype)))
    _check_complex(left.dtype, right.dtype)
    dtype = common(left.dtype, right.dtype)
    if operator in BITS or operator == "%":
        _need_integers(*(each.astype(dtype) for each in (left, right)))
    result = _computed(operator, dtype, flushed(left.astype(dtype)), flushed(right.astype(dtype)))
    return floats.operated(result, (left, right), dtype, reducible=True)


def _computed(operator: str, dtype: np.dtype, left: Any, right: Any) -> Any:
    """The result for operands of one type."""
    if operator in COMPARISONS:
        return COMPARISONS[operator](left, right)
    return flushed(_arithmetic(operator, dtype)(left, right))


def _arithmetic(operator: str, dtype: np.dtype) -> Callable:
    if operator == "/":
        return _quotient if dtype.kind in "iu" else np.divide
    functions: dict[str, Callable] = {**PLAIN, **BITS, "%": _remainder}
    return functions[operator]


def _quotient(left: Any, right: Any) -> Any:
    """Towards zero."""
    down = np.floor_divide(left, right)
    return down + ((down < 0) & (down * right != left))


def _remainder(left: Any, right: Any) -> Any:
    """With the sign of the dividend."""
    return np.fmod(left, right)


def unary(operator: str, operand: Any) -> Any:
    """operator operand"""
    if operator == "!":
        return np.logical_not(truth(operand))
    if operator == "~":
        _need_integers(operand)
    value = operand.astype(promoted(operand.dtype))
    functions: dict[str, Callable] = {"+": np.positive, "-": lambda x: np.negative(flushed(x)), "~": np.invert}
    return floats.same(operand, functions[operator](value))


def truth(value: Any) -> np.ndarray:
    """Is it anything but 0?"""
    if value.dtype.kind == "c":
        raise Unfit
    return floats.cast(value, np.asarray(flushed(value)).astype(bool))


def chosen(yes: Any, no: Any) -> np.dtype:
    """The type of condition ? yes : no."""
    one, other = yes.dtype, no.dtype
    if one == other:
        return one
    if is_half(one) or is_half(other) or one.kind == other.kind == "c":
        raise Unfit
    return common(one, other) if "c" not in (one.kind, other.kind) else one if one.kind == "c" else other


def _check_complex(one: np.dtype, other: np.dtype) -> None:
    """Complex numbers meet only their like, and real numbers of their own precision."""
    for whole, part in ((one, other), (other, one)):
        if whole.kind == "c" and part not in (whole, np.dtype(f"f{whole.itemsize // 2}")):
            raise Unfit


def divides_by_zero(operator: str, left: Any, right: Any) -> np.ndarray | None:
    """A mask of the integers divided by 0, which C++ leaves undefined; None if none are divided."""
    if operator not in ("/", "%") or left.dtype.kind not in "biu" or right.dtype.kind not in "biu":
        return None
    return np.asarray(right == 0)


def _need_integers(*operands: Any) -> None:
    if any(operand.dtype.kind not in "biu" for operand in operands):
        raise Unfit
