"""Numbers as people write them: 2,147,483,648, 2**31, 1/3, 1.5e9. Exact, and nothing but arithmetic is ever done."""

import ast
import operator
import re
import warnings
from collections.abc import Callable
from fractions import Fraction
from typing import Any

LONGEST = 100  # letters
POWER = 1024  # the largest exponent, and as many bits may its base have
OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
}
GROUPED = re.compile(r"(?<![\d.,_])\d{1,3}(,\d{3})+(?![\d,_])")


def value(text: str) -> Fraction:
    """The number that the text comes to. Raises ValueError where it is no number, nor arithmetic with some."""
    plain = GROUPED.sub(lambda number: number[0].replace(",", ""), text.strip()).replace("^", "**")
    if len(plain) > LONGEST:
        raise ValueError(f"more than {LONGEST} letters")
    try:
        with warnings.catch_warnings():  # of "1or 2", which is none anyway
            warnings.simplefilter("ignore")
            return _value(ast.parse(plain, mode="eval").body)
    except (SyntaxError, ZeroDivisionError, OverflowError, RecursionError, MemoryError):
        raise ValueError(f"no number: {text}") from None


def _value(node: ast.expr) -> Fraction:
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return Fraction(str(number))  # of a float what was written, not the nearest binary one; inf is refused
        case ast.UnaryOp(op, operand) if type(op) in OPERATORS:
            return OPERATORS[type(op)](_value(operand))
        case ast.BinOp(left, ast.Pow(), right):
            return _power(_value(left), _value(right))
        case ast.BinOp(left, op, right) if type(op) in OPERATORS:
            return Fraction(OPERATORS[type(op)](_value(left), _value(right)))
    raise ValueError("neither a number nor + - * / // **")


def _power(base: Fraction, exponent: Fraction) -> Fraction:
    size = max(base.numerator.bit_length(), base.denominator.bit_length())
    if exponent.denominator != 1 or abs(exponent) > POWER or size > POWER:
        raise ValueError("a power that is too large, or a root")
    return base**exponent.numerator
