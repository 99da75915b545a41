"""The type of a variable where several ways of a kernel meet: as in Numba, one for all of them.

Compilers call such a place a phi. Its type follows from the types of the kernel's arguments: see inference.py.
"""

import operator
from typing import Any

import numpy as np

from tools.sim.cuda.faults import Refused
from tools.sim.cuda.numbers.conversion import cast
from tools.sim.cuda.numbers.promotion import unify
from tools.sim.cuda.run.values import NUMBER, OfArray, rebuilt, type_of


class Phi:
    """name: of the variable. type: as from `type_of`; None while it is not known."""

    def __init__(self, name: str) -> None:
        self.name, self.type = name, None

    def widen(self, value: Any) -> bool:
        """One of the ways brings this value: does that change the type? Raises Refused where Numba finds none."""
        before, found = self.type, type_of(value)
        try:
            self.type = _unified(before, found)
        except TypeError:
            raise Refused(
                f"{self.name or 'This'} is {_shown(before)} on one way to here, {_shown(found)} on another.",
                "Numba wants one type where ways meet. Are these two variables?",
            ) from None
        return self.type is not before

    def fit(self, value: Any) -> Any:
        """The value in this type."""
        return _fitted(value, self.type)


def _unified(a: Any, b: Any) -> Any:
    """`a` itself if b adds nothing. Nothing beside a number is the number, as Numba uses its optional types."""
    if a is b or b is None:
        return a
    if a is None:
        return b
    if isinstance(a, np.dtype) and isinstance(b, np.dtype):
        return a if a == b else unify(a, b)
    if type(a) is type(b) is tuple and len(a) == len(b) and a[0] is b[0]:
        parts = a[0], *map(_unified, a[1:], b[1:])
        return a if all(map(operator.is_, parts, a)) else parts
    if type(a) is type(b) and a == b:
        return a
    raise TypeError


def _fitted(value: Any, wanted: Any) -> Any:
    if isinstance(value, NUMBER):
        return cast(value, wanted) if isinstance(wanted, np.dtype) else value
    if isinstance(value, tuple) and type(wanted) is tuple:
        return rebuilt(value, map(_fitted, value, wanted[1:]))
    return value


def _shown(kind: Any) -> str:
    if isinstance(kind, OfArray):
        return f"an array of {kind.dtype}" if kind.what == "array" else "a record"
    return "a tuple" if type(kind) is tuple else str(kind) if isinstance(kind, np.dtype) else "something else"
