"""The operators of a kernel, by the names of Python's module operator, as Numba compiles them for a GPU.

Operands are NumPy arrays, one element for each lane, or NumPy scalars; results too. The caller silences NumPy's
warnings. Types: see promotion.py. Values: those of numba-cuda 0.30 on an H200 to the last bit, but a * b + c is
rounded twice here, where the GPU's compiler may fuse it and round once; and a shift by 2**32 or more, of which a
GPU takes the lower 32 bits, shifts everything out. Integers divided by zero give 0: Numba's error model "numpy".
"""

import operator
from collections.abc import Callable
from functools import partial, reduce
from typing import Any, NoReturn

import numpy as np

from tools.sim import floats
from tools.sim.cuda.faults import Refused
from tools.sim.cuda.numbers.arithmetic import floor_quotient, power, remainder
from tools.sim.cuda.numbers.conversion import cast, convert
from tools.sim.cuda.numbers.promotion import (
    BOOL,
    COMPARISONS,
    FLOAT64,
    INT64,
    TYPES,
    UINT64,
    Value,
    common,
    dtype_of,
    is_whole,
    result_type,
    unary_type,
    unify,
)

__all__ = ["cast", "dtype_of", "result_type", "unify"]  # and the operators: for kernels, and for type inference

BINARY = "add sub mul truediv floordiv mod pow lshift rshift and_ or_ xor eq ne lt le gt ge".split()
UNARY = "neg pos invert not_".split()
SYMBOLS = dict(zip([*BINARY, *UNARY], "+ - * / // % ** << >> & | ^ == != < <= > >= - + ~ not".split()))
_UFUNCS = """add subtract multiply true_divide left_shift right_shift bitwise_and bitwise_or bitwise_xor
    equal not_equal less less_equal greater greater_equal"""
OTHERS: dict[str, Callable] = {"floordiv": floor_quotient, "mod": remainder, "pow": power}
UFUNCS = dict(zip((name for name in BINARY if name not in OTHERS), (getattr(np, name) for name in _UFUNCS.split())))
REDUCIBLE = ("add", "sub", "mul", "truediv", *COMPARISONS)  # float64 that may turn out to be float32: see floats.py


class _Table(dict):
    """Entries are made when they are first needed."""

    def __init__(self, make: Callable) -> None:
        self._make = make

    def __missing__(self, key: Any) -> Any:
        entry = self[key] = self._make(key)
        return entry


def _binary(name: str) -> Callable:
    table = _Table(lambda a: _Table(lambda b: _implementation(name, a, b)))

    def operate(a: Any, b: Any) -> Any:
        try:
            return table[a.dtype][b.dtype](a, b)
        except (AttributeError, TypeError):  # something that is no number; to ask before would cost more
            return _of_others(name, a, b)

    operate.__name__ = name
    return operate


def _implementation(name: str, a: np.dtype, b: np.dtype) -> Callable:
    """A function that computes x <name> y for x of type a, y of type b, and counts it where it costs something."""
    result = result_type(name, a, b) if a in TYPES and b in TYPES else None
    if result is None:
        return lambda x, y: _refuse(name, str(a), str(b))
    compute, inside = _plain_implementation(name, a, b, result), common(a, b) if name in COMPARISONS else result
    exponent = name == "pow" and is_whole(b)
    if inside not in floats.WIDE and not any(floats.converts(each, inside) for each in (a, *([b] * (not exponent)))):
        return compute
    return _counted(compute, inside, reducible=name in REDUCIBLE, operands=1 if exponent else 2)


def _counted(compute: Callable, inside: np.dtype, reducible: bool, operands: int) -> Callable:
    """operands: of how many the conversions to `inside` count."""
    return lambda x, y: floats.operated(compute(x, y), (x, y)[:operands], inside, reducible)


def _plain_implementation(name: str, a: np.dtype, b: np.dtype, result: np.dtype) -> Callable:
    if name in OTHERS:
        exponent = name == "pow" and is_whole(b)
        return _converted(OTHERS[name], a, b, result, (UINT64 if b.kind == "u" else INT64) if exponent else result)
    ufunc, plain = UFUNCS[name], getattr(operator, name)
    if name in COMPARISONS:
        exact = {a.kind, b.kind} == {"i", "u"} and unify(a, b) == FLOAT64  # NumPy's way; Numba's is by float64
        return partial(ufunc, signature=(FLOAT64, FLOAT64, BOOL), casting="unsafe") if exact else plain
    return plain if _numpy_type(ufunc, a, b) == result else partial(ufunc, dtype=result, casting="unsafe")


def _numpy_type(ufunc: np.ufunc, a: np.dtype, b: np.dtype) -> np.dtype | None:
    try:
        return ufunc.resolve_dtypes((a, b, None))[-1]
    except TypeError:  # NumPy has no such operation
        return None


def _converted(compute: Callable, a: np.dtype, b: np.dtype, left: np.dtype, right: np.dtype) -> Callable:
    """compute, of operands that are converted before."""
    if (a, b) == (left, right):
        return compute
    return lambda x, y: compute(convert(x, left), convert(y, right))


def _unary(name: str, compute: Callable) -> Callable:
    table = _Table(lambda a: _unary_implementation(name, compute, a))

    def operate(a: Any) -> Any:
        try:
            return table[a.dtype](a)
        except (AttributeError, TypeError):
            return _of_others(name, a)

    operate.__name__ = name
    return operate


def _unary_implementation(name: str, compute: Callable, a: np.dtype) -> Callable:
    """Numba computes in the type of x and converts then: -np.uint8(3) is 253. Only a bool becomes a number first."""
    result = unary_type(name, a) if a in TYPES else None
    if result is None:
        return lambda x: _refuse(name, str(a))
    if a == result == FLOAT64 and name != "not_":
        return lambda x: floats.same(x, compute(x))
    if a == result or name == "not_":
        return compute
    if a == BOOL:
        return lambda x: compute(convert(x, result))
    return lambda x: convert(compute(x), result)


def _of_others(name: str, *operands: Any) -> Any:
    """Tuples are joined and compared. Arrays, Numba refuses. Called while the error for numbers is handled."""
    if all(map(_is_number, operands)):
        raise
    if len(operands) == 2 and all(isinstance(each, tuple) for each in operands):
        if name == "add":
            return operands[0] + operands[1]
        if name in ("eq", "ne"):
            return _tuples_equal(*operands) if name == "eq" else not_(_tuples_equal(*operands))
    _refuse(name, *map(_described, operands))


def _tuples_equal(a: tuple, b: tuple) -> Value:
    return reduce(and_, map(eq, a, b), np.bool_(True)) if len(a) == len(b) else np.bool_(False)


def _described(operand: Any) -> str:
    if _is_number(operand):
        return str(operand.dtype)
    if hasattr(operand, "dtype"):
        return "an array"
    return getattr(operand, "described", f"a {type(operand).__name__}")


def _refuse(name: str, *types: str) -> NoReturn:
    advice = "An operator works on elements: x[i], not x." if "an array" in types else ""
    whole = [each.split()[0] for each in types if each.endswith(".z")]
    if whole:
        raise Refused(
            f"Numba compiles no {SYMBOLS[name]} of {' and '.join(dict.fromkeys(whole))} as a whole.",
            f"Which axis is meant: {whole[0]}.x, .y or .z?",
        )
    raise Refused(f"Numba compiles no {SYMBOLS[name]} of {' and '.join(types)}.", advice)


add, sub, mul, truediv, floordiv, mod, pow = map(_binary, ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"))
lshift, rshift, and_, or_, xor = map(_binary, ("lshift", "rshift", "and_", "or_", "xor"))
eq, ne, lt, le, gt, ge = map(_binary, COMPARISONS)
neg, pos, invert = (_unary(name, getattr(operator, name)) for name in ("neg", "pos", "invert"))
not_ = _unary("not_", lambda x: x == 0)


def is_(a: Any, b: Any) -> Any:
    """a is b: numbers are compared if they are of one type, and differ if they are not."""
    if _is_number(a) and _is_number(b):
        return eq(a, b) if a.dtype == b.dtype else np.bool_(False)
    return np.bool_(a is b)


def is_not(a: Any, b: Any) -> Any:
    return not_(is_(a, b))


def _is_number(value: object) -> bool:
    return isinstance(value, (np.ndarray, np.generic))
