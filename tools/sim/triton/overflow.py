"""Signed arithmetic that leaves its range wraps around, as on a GPU; to use an address made of it is refused.

A tensor handle remembers which of its elements come from a signed sum, difference or product that overflowed.
Casts, shapes and tl.where pass that on. Division, remainder, comparison and operations on bits do not: a hash
wraps on purpose, and then brings itself back into range.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

import numpy as np
import triton.language as tl

from tools.sim.triton import memory
from tools.sim.triton.faults import Fault, learner_line
from tools.sim.triton.language import this_program

MARK = "overflow"  # name of the handle's attribute that holds an Overflow

ARITHMETIC = {"create_add": np.add, "create_sub": np.subtract, "create_mul": np.multiply}
SHAPES = (
    "create_reshape",
    "create_trans",
    "create_expand_dims",
    "create_broadcast",
    "create_splat",
    "create_join",
    "create_cat",
    "create_select",
)
ACCESSES = {  # operation, and which argument is the pointer, which the mask
    "create_masked_load": ("load", 0, 1),
    "create_masked_store": ("store", 0, 2),
    "create_atomic_rmw": ("atomic", 1, 3),
    "create_atomic_cas": ("atomic", 0, None),
    "create_make_block_ptr": (None, 0, None),
    "create_make_tensor_descriptor": (None, 0, None),
}


@dataclass
class Overflow:
    """elements: which, a bool array of the handle's shape. line: where the first of them left the range of `dtype`."""

    elements: np.ndarray
    line: int
    dtype: np.dtype


def patch(interpreter: ModuleType) -> None:
    """Wrap the operations of `InterpreterBuilder` that make, pass on, or use such values."""
    builder = interpreter.InterpreterBuilder
    wrappers = {name: _calculating(operation) for name, operation in ARITHMETIC.items()}
    wrappers |= {"create_addptr": _passing_on, "create_int_cast": _passing_on}
    wrappers |= {name: _reshaping(interpreter.TensorHandle) for name in SHAPES}
    wrappers |= {name: _accessing(*how) for name, how in ACCESSES.items()}
    for name, wrapper in wrappers.items():
        setattr(builder, name, wrapper(getattr(builder, name)))


def _calculating(operation: Callable) -> Callable:
    """A sum, difference or product of integers."""

    def wrapper(plain: Any) -> Any:
        def calculate(self: Any, left: Any, right: Any) -> Any:
            result = plain(self, left, right)
            if result.dtype.is_int_signed() and result.data.itemsize < 8:
                elements = operation(left.data, right.data, dtype=np.int64) != result.data
                if elements.any():
                    result.attr[MARK] = Overflow(elements, learner_line(), result.data.dtype)
            return _marked(result, left, right)

        return calculate

    return wrapper


def _passing_on(plain: Callable) -> Callable:
    """An operation on each element by itself."""
    return lambda self, source, *rest: _marked(plain(self, source, *rest), source, *rest)


def _marked(result: Any, *sources: Any) -> Any:
    """The result of sources of its shape, with their marks added to its own."""
    for source in sources:
        attr = getattr(source, "attr", None)  # of almost all an empty dict
        if attr and (mark := attr.get(MARK)):
            own = result.attr.get(MARK)
            elements = mark.elements | own.elements if own else mark.elements
            result.attr[MARK] = replace(mark, elements=elements)
    return result


def _reshaping(handle: Any) -> Callable:
    """An operation that places elements anew: the marks are placed by the same operation."""

    def wrapper(plain: Any) -> Any:
        def place(self: Any, *args: Any) -> Any:
            result = plain(self, *args)
            marks = [arg.attr[MARK] for arg in args if type(arg) is handle and MARK in arg.attr]
            if marks:
                result.attr[MARK] = replace(marks[0], elements=plain(self, *map(elements, args)).data)
            return result

        return place

    def elements(arg: Any) -> Any:
        if not isinstance(arg, handle) or arg.data.dtype == bool:
            return arg  # a shape, an axis, or the condition of tl.where
        none = np.zeros(arg.data.shape, bool)
        return handle(arg.attr[MARK].elements if MARK in arg.attr else none, tl.int1)

    return wrapper


def _accessing(operation: str | None, pointer: int, mask: int | None) -> Callable:
    """A load, store or atomic; or a block pointer or descriptor, whose base must be right in any case."""

    def wrapper(plain: Any) -> Any:
        def access(self: Any, *args: Any, **named: Any) -> Any:
            if mark := args[pointer].attr.get(MARK):
                wrong = mark.elements & _array(args[mask]) if mask is not None else mark.elements
                if wrong.any():
                    raise _fault(operation, args[pointer].data, wrong, mark)
            return plain(self, *args, **named)

        return access

    return wrapper


def _array(mask: Any) -> np.ndarray:
    return mask if isinstance(mask, np.ndarray) else mask.data


def _fault(operation: str | None, addresses: np.ndarray, wrong: np.ndarray, mark: Overflow) -> Fault:
    view = memory.current.arguments.at(int(addresses[wrong][0]))
    of = f"{np.count_nonzero(wrong)} of {wrong.size} offsets" if wrong.size > 1 else "the offset"
    into = f" into {view.name}" if view else ""
    return Fault(
        "overflow",
        f"{this_program()}: {of}{into} left the range of {mark.dtype} in line {mark.line} and wrapped around.",
        f"Which number is larger than {np.iinfo(mark.dtype).max} there, and in which type is it computed?",
        array=view.name if view else None,
        operation=operation,
    )
