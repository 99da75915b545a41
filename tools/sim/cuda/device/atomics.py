"""cuda.atomic: updates that no other thread can come between, with the names and types of numba-cuda 0.30.

Each function gives every lane what it found, as if the lanes took turns: the blocks in order, then their threads.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tools.sim import floats
from tools.sim.cuda.device.atomic_order import exchange, fold, one_by_one
from tools.sim.cuda.faults import Refused
from tools.sim.cuda.memory.array import Array
from tools.sim.cuda.numbers.conversion import cast
from tools.sim.cuda.numbers.promotion import Value
from tools.sim.cuda.numbers.signatures import listed
from tools.sim.cuda.run.intrinsic import Intrinsic, intrinsic
from tools.sim.cuda.run.warps import current

UNSIGNED = ("uint32", "uint64")
INTEGERS = ("int32", "int64", *UNSIGNED)
NUMBERS = (*INTEGERS, "float32", "float64")


def _atomic(name: str, types: tuple[str, ...], update: Callable, meaning: str) -> Intrinsic:
    """cuda.atomic.name(array, index, value). update: as in `_apply`."""

    def function(array: Array, index: Any, value: Value) -> np.ndarray:
        return _apply(name, types, update, array, index, value)

    function.__name__, function.__doc__ = name, f"{meaning} Gives the value before."
    function.__qualname__ = f"cuda.atomic.{name}"  # which Python names if arguments are missing
    return intrinsic(function, name=function.__qualname__)


def _apply(name: str, types: tuple[str, ...], update: Callable, array: Array, index: Any, *values: Value) -> np.ndarray:
    """The values found by the lanes before update(memory, places, values) changed memory: see atomic_order.py."""
    _admit(name, types, array)
    offsets = array.locate(index)
    array.touch(offsets, "atomic")
    memory, places = array.storage_and_keys(offsets)
    lanes, operands = current(), [cast(each, memory.dtype) for each in values]
    active = slice(None) if lanes.indices is None else lanes.indices
    found = np.zeros(lanes.count, memory.dtype)
    found[active] = update(memory, places[active], *(lanes.spread(each)[active] for each in operands))
    if array.kind == "global" and array.storage.watched:
        lanes.races.updated(array.storage, places[active], found[active])
    return floats.called(found, operands)


def _admit(name: str, types: tuple[str, ...], array: Any) -> None:
    """Refuse what Numba refuses, and what the hardware cannot do."""
    if not isinstance(array, Array):
        raise Refused(f"cuda.atomic.{name} updates an element of an array.", f"cuda.atomic.{name}(array, index, ...)")
    if str(array.dtype) not in types:
        raise Refused(f"cuda.atomic.{name} updates arrays of {listed(types)};\n{array.name} is of {array.dtype}.")
    if array.kind == "local":
        raise current().fault(
            "local_atomic",
            f"updates {array.name} atomically, an array of its own.",
            "Nobody else sees a local array. Would an ordinary update do?",
            array=array.name,
        )
    if array.read_only:
        raise array.is_read_only("updates")


# What a cell becomes, in Python's numbers, where NumPy has no ufunc for it
STEPS: dict[str, Callable] = {
    "inc": lambda old, last: 0 if old >= last else old + 1,
    "dec": lambda old, first: first if old == 0 or old > first else old - 1,
    "cas": lambda old, expected, new: new if old == expected else old,
    "max": lambda old, new: new if new > old else old,  # nothing changes where one of them is NaN
    "min": lambda old, new: new if new < old else old,
    "nanmax": lambda old, new: old if old >= new or new != new else new,  # NaN gives way, and never comes in
    "nanmin": lambda old, new: old if old <= new or new != new else new,
}


def _by_type(integers: np.ufunc, floats: Callable) -> Callable:
    """An update for both kinds of numbers."""

    def update(memory: np.ndarray, places: np.ndarray, values: np.ndarray) -> np.ndarray:
        if memory.dtype.kind == "f":
            return one_by_one(floats, memory, places, values)
        return fold(integers, memory, places, values)

    return update


add = _atomic("add", NUMBERS, partial(fold, np.add), "array[index] += value.")
sub = _atomic("sub", NUMBERS, partial(fold, np.subtract), "array[index] -= value.")
and_ = _atomic("and_", INTEGERS, partial(fold, np.bitwise_and), "array[index] &= value.")
or_ = _atomic("or_", INTEGERS, partial(fold, np.bitwise_or), "array[index] |= value.")
xor = _atomic("xor", INTEGERS, partial(fold, np.bitwise_xor), "array[index] ^= value.")
exch = _atomic("exch", INTEGERS, exchange, "array[index] = value.")
inc = _atomic("inc", UNSIGNED, partial(one_by_one, STEPS["inc"]), "One more; from `value` or beyond, 0.")
dec = _atomic("dec", UNSIGNED, partial(one_by_one, STEPS["dec"]), "One less; from 0 or beyond `value`, `value`.")
max = _atomic("max", NUMBERS, _by_type(np.maximum, STEPS["max"]), "The larger stays; a NaN changes nothing.")
min = _atomic("min", NUMBERS, _by_type(np.minimum, STEPS["min"]), "The smaller stays; a NaN changes nothing.")
nanmax = _atomic("nanmax", NUMBERS, _by_type(np.maximum, STEPS["nanmax"]), "The larger stays, any number before NaN.")
nanmin = _atomic("nanmin", NUMBERS, _by_type(np.minimum, STEPS["nanmin"]), "The smaller stays, any number before NaN.")


@intrinsic(name="cuda.atomic.cas")
def cas(array: Array, index: Any, old: Value, value: Value) -> np.ndarray:
    """array[index] = value where array[index] == old. Gives the value before: `old` means that it took place."""
    return _apply("cas", INTEGERS, partial(one_by_one, STEPS["cas"]), array, index, old, value)


@intrinsic(name="cuda.atomic.compare_and_swap")
def compare_and_swap(array: Array, old: Value, value: Value) -> np.ndarray:
    """cas on element 0 of an array of one dimension."""
    return _apply("compare_and_swap", INTEGERS, partial(one_by_one, STEPS["cas"]), array, np.int64(0), old, value)
