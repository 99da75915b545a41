"""Numba's numbers in plain Python: every integer wraps and every float32 is rounded after each step.

Types are those of numba-cuda 0.30: integers compute in 64 bits, int64 unless both are unsigned; float32 stays
float32 beside integers of up to 16 bits and becomes float64 beside wider ones.
"""

import math
from ctypes import c_float
from fractions import Fraction

BITS = {"int8": 8, "uint8": 8, "int16": 16, "int32": 32, "uint32": 32, "int64": 64, "uint64": 64}
LARGEST = 2.0**62  # a float beyond it is not converted to an integer
EXACT = 2**53  # up to here every integer is a float64


class Undefined(Exception):
    """The kernel does what has no defined result; such a kernel is thrown away."""


def is_integer(type_: str) -> bool:
    return type_ in BITS


def is_signed(type_: str) -> bool:
    return not type_.startswith("u")


# Types of results --------------------------------------------------------------------------------


def arithmetic(operator: str, a: str, b: str) -> str:
    """Type of `a operator b`. A bool beside an integer counts as an int64."""
    a, b = _wide(a), _wide(b)
    if operator in ("<<", ">>"):
        return _of_64(is_signed(a))
    if is_integer(a) and is_integer(b):
        return "float64" if operator == "/" else _of_64(is_signed(a) or is_signed(b))
    return unified(a, b)


def unified(a: str, b: str) -> str:
    """The type of a variable that is an `a` here and a `b` there; also of min, max and `x if c else y`."""
    if a == b:
        return a
    if is_integer(a) and is_integer(b):
        return _unified_integers(a, b)
    narrow = [BITS[each] for each in (a, b) if is_integer(each)]
    return "float32" if "float64" not in (a, b) and all(bits <= 16 for bits in narrow) else "float64"


def _unified_integers(a: str, b: str) -> str:
    a, b = sorted((a, b), key=BITS.get)
    if is_signed(a) == is_signed(b) or (is_signed(b) and BITS[a] < BITS[b]):
        return b
    return "float64" if BITS[b] == 64 else f"int{2 * BITS[b]}"


def _wide(type_: str) -> str:
    return "int64" if type_ == "bool" else type_


def _of_64(signed: bool) -> str:
    return "int64" if signed else "uint64"


# Values ------------------------------------------------------------------------------------------


def convert(type_: str, value):
    """`value` as a value of that type, as a C cast does it. Undefined for a float that does not fit."""
    if type_ == "bool":
        return bool(value)
    if is_integer(type_):
        return _as_integer(type_, value)
    return to_float32(value) if type_ == "float32" else float(value)


def _as_integer(type_: str, value) -> int:
    bits, signed = BITS[type_], is_signed(type_)
    if isinstance(value, float):
        low, high = (-(2.0 ** (bits - 1)), 2.0 ** (bits - 1)) if signed else (0.0, 2.0**bits)
        if not low <= value < min(high, LARGEST):
            raise Undefined(f"{value} as {type_}")
    value = int(value) & ((1 << bits) - 1)
    return value - (1 << bits) if signed and value >> (bits - 1) else value


def to_float32(value) -> float:
    """The nearest float32; an integer is rounded once only."""
    if isinstance(value, int) and abs(value) > EXACT:  # keep the bits that count, the rest as one odd bit
        shift = value.bit_length() - 40
        value = ((value >> shift) | (value & ((1 << shift) - 1) != 0)) << shift
    return c_float(value).value


def rounded(type_: str, value: float) -> float:
    """The result of one float operation. Undefined for NaN: its bits, and what min makes of it, are nobody's word."""
    if value != value:
        raise Undefined("not a number")
    return c_float(value).value if type_ == "float32" else value


def operate(operator: str, type_: str, a, b):
    """`a operator b` in arithmetic of `type_`."""
    a, b = convert(type_, a), convert(type_, b)
    if is_integer(type_):
        if operator in ("//", "%") and b == 0:
            raise Undefined("integer division by zero")
        if operator in ("<<", ">>") and not 0 <= b < 64:
            raise Undefined("shift by more than there is")
        if operator == "//" and b == -1 and a == -(2**63):
            raise Undefined("the one quotient that does not fit")
        return convert(type_, INTEGER[operator](a, b))
    return FLOAT[operator](type_, a, b)


INTEGER = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "//": lambda a, b: a // b,
    "%": lambda a, b: a % b,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "<<": lambda a, b: a << b,
    ">>": lambda a, b: a >> b,
}


def _divide(type_: str, a: float, b: float) -> float:
    if b:
        return rounded(type_, a / b)
    return rounded(type_, math.copysign(math.inf, a) * math.copysign(1.0, b) if a and a == a else math.nan)


def _remainder(type_: str, a: float, b: float) -> float:
    if not b or math.isinf(a) or math.isinf(b):
        raise Undefined("a remainder of or by infinity or zero")
    quotient = rounded(type_, abs(a) / abs(b))
    if math.isinf(quotient) or math.floor(quotient) != abs(Fraction(a)) // abs(Fraction(b)):
        raise Undefined("a remainder that a GPU, which begins with the rounded quotient, gets wrong")
    rest = math.fmod(a, b)
    if not rest:
        return math.copysign(0.0, b)
    return rounded(type_, rest + b) if (rest < 0) != (b < 0) else rest


def _floor_divide(type_: str, a: float, b: float) -> float:
    """Python's own steps, each rounded."""
    rest = math.copysign(abs(_remainder(type_, abs(a), abs(b))), a)
    quotient = rounded(type_, rounded(type_, a - rest) / b)
    if rest and (rest < 0) != (b < 0):
        quotient = rounded(type_, quotient - 1.0)
    if not quotient:
        return math.copysign(0.0, a) * math.copysign(1.0, b)
    floor = math.floor(quotient)
    return rounded(type_, float(floor + (quotient - floor > 0.5)))


FLOAT = {
    "+": lambda type_, a, b: rounded(type_, a + b),
    "-": lambda type_, a, b: rounded(type_, a - b),
    "*": lambda type_, a, b: rounded(type_, a * b),
    "/": _divide,
    "//": _floor_divide,
    "%": _remainder,
}


def power(type_: str, base, exponent: int):
    """base ** exponent for a small literal exponent: multiplied out."""
    result = base = convert(type_, base)
    for _ in range(exponent - 1):
        result = operate("*", type_, result, base)
    return result
