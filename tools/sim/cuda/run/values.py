"""Values of a kernel's variables: numbers, as vectors with an element for each lane or as NumPy scalars where
all lanes agree; arrays; and tuples of these."""

from collections.abc import Iterable
from functools import partial
from typing import Any, NamedTuple, NoReturn

import numpy as np

from tools.sim import floats
from tools.sim.cuda.faults import Fault, Unknown
from tools.sim.cuda.memory.array import Array, Record

NUMBER = np.ndarray, np.generic
STRONG = {bool: np.bool_, int: np.int64, float: np.float64, complex: np.complex128}


class Undefined:
    """The value of a variable before its first assignment: whoever asks anything of it, is told."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> NoReturn:
        raise Fault(
            "undefined",
            f"{self._name} is used before it is given a value.\n"
            "No thread that got here went through a line that sets it.",
        )


class OfArray(NamedTuple):
    """The type of an array, or of a record (what: "array" or "record")."""

    what: str
    dtype: np.dtype
    ndim: int


def strong(value: object) -> object:
    """A Python number as a NumPy scalar of the type that Numba gives it; tuples element by element."""
    if type(value) is tuple:
        return tuple(map(strong, value))
    if type(value) is int and not -(2**63) <= value < 2**63:
        return np.uint64(value)
    kind = STRONG.get(type(value))
    return value if kind is None else kind(value)


def type_of(value: Any) -> Any:
    """A value's type, which decides over the types of all that is computed from it: a dtype for a number. Hashable."""
    if isinstance(value, NUMBER):
        return value.dtype
    if isinstance(value, tuple):
        return (type(value), *map(type_of, value))  # a named tuple is a type of its own
    if isinstance(value, Array):
        return OfArray("array", value.dtype, len(value.shape))
    if isinstance(value, Record):
        return OfArray("record", value.array.dtype, 0)
    return value if value is None or callable(value) else type(value)


def merged(mask: np.ndarray, here: Any, other: Any) -> Any:
    """`here` for the lanes of the mask (bool[N]), `other` for the rest. Raises Unknown for arrays."""
    if here is other or other is None or type(other) is Undefined:
        return here
    if here is None or type(here) is Undefined:
        return other
    if isinstance(here, tuple) and isinstance(other, tuple):
        return rebuilt(here, map(partial(merged, mask), here, other))
    if isinstance(here, NUMBER):
        return floats.chosen(mask, here, other)
    raise Unknown(
        "A variable stands for one array in some threads and for another in others.\n"
        "The simulator does not know that. A GPU may run it.",
        "Can each have a name of its own?",
    )


def rebuilt(model: tuple, parts: Iterable) -> tuple:
    """A tuple of these parts; named as `model`, if that is."""
    return getattr(type(model), "_make", tuple)(parts)
