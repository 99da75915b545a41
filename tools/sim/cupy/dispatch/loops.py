"""The types that each of CuPy's elementwise functions takes and gives, and its choice among them.

Types are NumPy's characters: ? is bool, bBhHiIlLqQ are integers, e E f d floating point (E: bfloat16), F D complex.
"""

from functools import cache
from typing import Any

import numpy as np

INTEGERS, REALS = "bBhHiIlLqQ", "eEfd"
WEAK = {int: np.dtype(np.int64), float: np.dtype(np.float64), complex: np.dtype(np.complex128)}
RANKS = {"b": 0, "u": 1, "i": 1, "f": 2, "c": 2}  # of the kinds of dtypes; 3: any other

# Types that all operands and the result share, or "types->result": the functions of one, then of two operands.
UNARY = {
    REALS + "FD": "arccos arccosh arcsin arcsinh arctan arctanh cos cosh exp exp2 expm1 i0 log log10 log1p log2 rint "
    "sin sinc sinh sqrt tan tanh",
    REALS: "cbrt deg2rad rad2deg fabs",
    INTEGERS + REALS + "FD": "conjugate reciprocal sign square",
    "?" + INTEGERS + REALS + "FD": "negative positive copy",
    "?" + INTEGERS + REALS: "ceil fix floor trunc",
    "?" + INTEGERS: "invert",
    REALS + "FD->?": "isfinite isinf isnan",
    REALS + "->?": "signbit",
    "?" + INTEGERS + "efd->?": "logical_not",
    INTEGERS + "->B": "bitwise_count",
}
BINARY = {
    "?" + INTEGERS + REALS + "FD": "add fmax fmin maximum minimum multiply subtract",
    REALS + "FD": "arctan2 copysign hypot nextafter",
    "?" + INTEGERS: "bitwise_and bitwise_or bitwise_xor gcd lcm",
    INTEGERS: "left_shift right_shift",
    INTEGERS + REALS: "floor_divide fmod remainder",
    REALS: "heaviside logaddexp logaddexp2",
    "?" + INTEGERS + "efd->?": "logical_xor",
}
WHOLE = ("??->?", "qq->?", "QQ->?", "qQ->?", "Qq->?")  # integers of any size are compared as 64 bits
COMPARISONS = ("greater", "greater_equal", "less", "less_equal", "equal", "not_equal")
LOGICAL = ("logical_and", "logical_or")
OTHERS = {
    **dict.fromkeys(COMPARISONS, (*WHOLE, *(f"{t}{t}->?" for t in REALS + "FD"))),
    **dict.fromkeys(LOGICAL, (*WHOLE, *(f"{t}{t}->?" for t in REALS))),
    "absolute": (*(f"{t}->{t}" for t in "?" + INTEGERS + REALS), "F->f", "D->d"),
    "true_divide": ("qq->d", "qQ->d", "Qq->d", "QQ->d", *(f"{t}{t}->{t}" for t in REALS + "FD")),
    "power": ("??->b", *(f"{t}{t}->{t}" for t in INTEGERS + REALS + "FD")),
    "float_power": ("dd->d", "FF->D", "DD->D"),
    "divmod": tuple(f"{t}{t}->{t}{t}" for t in INTEGERS + "efd"),
    "modf": tuple(f"{t}->{t}{t}" for t in REALS),
    "frexp": tuple(f"{t}->{t}i" for t in REALS),
    "where": tuple(f"?{t}{t}->{t}" for t in "?" + INTEGERS + REALS + "FD"),
    "clip": tuple(f"{t}{t}{t}->{t}" for t in "?" + INTEGERS + "efd"),
    "ldexp": ("ei->e", "Ei->E", "fi->f", "el->e", "El->E", "fl->f", "di->d", "dq->d"),
}

Loop = tuple[tuple[np.dtype, ...], tuple[np.dtype, ...]]  # the types of the operands and of the results


def _signatures() -> dict[str, tuple[str, ...]]:
    table = dict(OTHERS)
    for operands, functions in ((1, UNARY), (2, BINARY)):
        for types, names in functions.items():
            types, _, result = types.partition("->")
            signatures = tuple(f"{each * operands}->{result or each}" for each in types)
            table.update(dict.fromkeys(names.split(), signatures))
    return table


SIGNATURES = _signatures()  # for each function the types that it is compiled for, in the order of preference


@cache
def loops(name: str) -> tuple[Loop, ...]:
    """The loops of one function, as dtypes."""
    return tuple(map(_loop, SIGNATURES[name]))


def _loop(signature: str) -> Loop:
    operands, results = signature.split("->")
    return tuple(map(_dtype, operands)), tuple(map(_dtype, results))


@cache
def _dtype(character: str) -> np.dtype:
    if character == "E":
        import ml_dtypes

        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype(character)


@cache
def choose(name: str, operands: tuple) -> Loop | None:
    """The first loop that can take these operands without loss.

    operands: a dtype each; int, float or complex for a number of Python, which takes the arrays' type where its
        kind ranks no higher than theirs (NEP 50), and else has the widest type. A whole number that is
        compared with integers always has.
    """
    if name in COMPARISONS + LOGICAL and any(getattr(each, "kind", None) in ("i", "u") for each in operands):
        operands = tuple(WEAK[int] if each is int else each for each in operands)
    strong = [RANKS.get(each.kind, 3) for each in operands if each not in WEAK]
    weak = [RANKS[WEAK[each].kind] for each in operands if each in WEAK]
    if not strong or not weak or max(strong) < max(weak):
        operands = tuple(WEAK.get(each, each) for each in operands)
    return next((loop for loop in loops(name) if all(map(_fits, operands, loop[0]))), None)


def _fits(operand: Any, wanted: np.dtype) -> bool:
    if operand not in WEAK:
        return np.can_cast(operand, wanted)
    if np.can_cast(WEAK[operand], wanted):
        return True
    try:
        return np.result_type(operand(0), wanted) == wanted
    except TypeError:
        return False
