"""Comparisons and functions of numbers as Numba knows them; each function is given the type of its first argument."""

import math

from tools.tests.sim.cuda.fuzz.scalars import Undefined, convert, is_integer, rounded, unified


def extreme(pick, type_: str, values: list):
    """min or max of all. Undefined for zeros of both signs, of which either may come back."""
    values = [convert(type_, value) for value in values]
    if not is_integer(type_) and len({math.copysign(1.0, value) for value in values if value == 0}) > 1:
        raise Undefined("zeros of both signs")
    return pick(values)


def comparable(a: str, b: str) -> str:
    """The type in which Numba compares; "" for integers, which are compared as the numbers they are.

    int64 and uint64 have no integer in common: they are compared as float64.
    """
    common = "int64" if "bool" in (a, b) else unified(a, b)
    return common if not is_integer(common) else ""


def _square_root(type_: str, value) -> float:
    if value < 0:
        raise Undefined("square root of a negative number")
    return rounded(type_, math.sqrt(value))


def _unsigned(type_: str, value: int) -> tuple[int, int]:
    bits = 64 if type_.endswith("64") else 32
    return value & ((1 << bits) - 1), bits


def _leading_zeros(type_: str, value: int) -> int:
    value, bits = _unsigned(type_, value)
    return bits - value.bit_length()


def _integral(function):
    return lambda type_, value: math.copysign(function(value), value) if math.isfinite(value) else value


FUNCTIONS = {
    "abs": lambda type_, value: abs(value),
    "math.fabs": lambda type_, value: abs(float(value)),
    "math.sqrt": _square_root,
    "math.floor": _integral(math.floor),
    "math.ceil": _integral(math.ceil),
    "cuda.popc": lambda type_, value: _unsigned(type_, value)[0].bit_count(),
    "cuda.clz": _leading_zeros,
    "cuda.ffs": lambda type_, value: (value & -value).bit_length(),
    "cuda.brev": lambda type_, value: int(f"{value:032b}"[::-1], 2),
}
