"""Undefined elements: those that a mask keeps out of a load without other=. To let a result hang on one is refused.

A tensor handle remembers which of its elements come from there. An operation passes that on, unless its result is
the same whatever they are: tl.where chooses another element, False & x is False, 0 * n is 0. At a store, an address, a
condition or a mask, elements that are used must be defined. Their values are such as to show, too: casts.garbage.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

import numpy as np
import triton.language as tl
from triton.runtime.interpreter import TensorHandle

from tools.sim.triton import memory
from tools.sim.triton.faults import Fault, learner_line, program_name

MARK = "undefined"  # name of the handle's attribute that holds an Undefined

PLACED = (
    "create_reshape",
    "create_trans",
    "create_expand_dims",
    "create_broadcast",
    "create_splat",
    "create_unsplat",
    "create_join",
    "create_cat",
    "create_split",
)
ABSORBING = {"create_and": 0, "create_mul": 0, "create_or": -1}  # what decides over the result alone, if not a float
USES = {  # operation: what happens to elements there, and which arguments are pointers or values, which is the mask
    "create_masked_store": ("stored", (0, 1), 2),
    "create_atomic_rmw": ("stored", (1, 2), 3),
    "create_atomic_cas": ("stored", (0, 1, 2), None),
}
CLAIMS = {"create_assert": "asserted", "create_assume": "assumed"}
UNMARKED = (
    "create_get_program_id",
    "create_get_num_programs",
    "create_make_range",
    "create_print",
    "create_barrier",
    "create_make_block_ptr",
    "create_advance",
    "create_make_tensor_descriptor",
    "create_load",
    "create_store",
    "create_tensor_pointer_load",
    "create_tensor_pointer_store",
    "create_descriptor_load",
    "create_descriptor_store",
    "create_descriptor_gather",
    "create_descriptor_scatter",
    "create_descriptor_reduce",
)


@dataclass
class Undefined:
    """elements: which, a bool array of the handle's shape. line: of the load. name: of the array.

    lacking: what the load is given, and what it is not. mixed: line that first made one element of several, or 0.
    """

    elements: np.ndarray
    line: int
    name: str
    lacking: tuple[str, str]
    mixed: int = 0


def check(handle: Any, what: str, mask: Any = None) -> None:
    """Raise Fault if elements that the mask lets through are undefined. what: happens to them here."""
    mark = getattr(handle, "attr", {}).get(MARK)
    if mark is None:
        return
    wrong = mark.elements if mask is None else mark.elements & mask
    if not wrong.any():
        return
    elsewhere = mark.mixed not in (0, learner_line())
    used = f", and line {mark.mixed} uses it.\n" if elsewhere else ". "
    share = f": {np.count_nonzero(wrong)} of {wrong.size} elements" if wrong.size > 1 else ""
    given, missing = mark.lacking
    raise Fault(
        "undefined",
        f"{program_name()}: line {mark.line} loads {mark.name} with a {given} and no {missing}.\n"
        f"What the {given} keeps out is undefined{used}Here it is {what}{share}.",
        "What must those positions hold, so that they change nothing?",
        array=mark.name,
    )


def patch(interpreter: ModuleType) -> None:
    """Wrap the operations of `InterpreterBuilder`, and reductions and scans."""
    builder = interpreter.InterpreterBuilder
    for name in [each for each in dir(builder) if each.startswith("create_") and each not in UNMARKED]:
        setattr(builder, name, _wrapper(name)(getattr(builder, name)))
    interpreter.ReduceOps.apply_impl = _folding(interpreter.ReduceOps.apply_impl, _reduced)
    interpreter.ScanOps.apply_impl = _folding(interpreter.ScanOps.apply_impl, _scanned)


def _wrapper(name: str) -> Callable[[Callable], Callable]:
    if name in USES:
        return lambda plain: _using(plain, *USES[name])
    if name in CLAIMS:
        return lambda plain: _claiming(plain, CLAIMS[name])
    if name in ABSORBING:
        return lambda plain: _absorbing(plain, ABSORBING[name])
    return {
        "create_masked_load": _loading,
        "create_select": _selecting,
        "create_dot": _multiplying,
        "create_dot_scaled": _multiplying_scaled,
        "create_gather": _gathering,
        "create_histogram": _tallying,
        **dict.fromkeys(PLACED, _placing),
    }.get(name, _each_by_itself)


# Where they come from, and where they may not go -------------------------------------------------


def _loading(plain: Callable) -> Callable:
    def load(self: Any, pointers: Any, mask: Any, other: Any, *rest: Any, **named: Any) -> Any:
        kept = getattr(mask, "data", mask) if not isinstance(mask, np.ndarray) else mask
        check(mask, "a mask")
        check(pointers, "an address", kept)
        result = plain(self, pointers, mask, other, *rest, **named)
        if other is None and not kept.all():
            lacking = ("boundary_check", "padding_option=") if mask is kept else ("mask", "other=")
            result.attr[MARK] = Undefined(~kept, learner_line(), _name(pointers), lacking)
        elif MARK in getattr(other, "attr", {}):
            mark = other.attr[MARK]
            result.attr[MARK] = replace(mark, elements=mark.elements & ~kept)
        return result

    return load


def _name(pointers: Any) -> str:
    view = memory.current.arguments.at(int(pointers.data.ravel()[0]))
    return view.name if view else "something"


def _using(plain: Callable, what: str, values: tuple[int, ...], mask: int | None) -> Callable:
    def use(self: Any, *args: Any, **named: Any) -> Any:
        kept = None
        if mask is not None:
            check(args[mask], "a mask")
            kept = args[mask] if isinstance(args[mask], np.ndarray) else args[mask].data
        pointers = [args[number] for number in values if args[number].dtype.is_ptr()]
        for each in pointers:
            check(each, "an address", kept)
        result = plain(self, *args, **named)  # which refuses places that are nobody's: that comes first
        for number in values:
            check(args[number], what, kept)
        return result

    return use


def _claiming(plain: Callable, what: str) -> Callable:
    def claim(self: Any, condition: Any, *rest: Any) -> Any:
        check(condition, what)
        return plain(self, condition, *rest)

    return claim


# How operations pass it on -----------------------------------------------------------------------


def _marks(values: Iterable[Any]) -> list[Undefined]:
    found = []
    for each in values:
        if type(each) is TensorHandle and MARK in each.attr:
            found.append(each.attr[MARK])
    return found


def _each_by_itself(plain: Callable) -> Callable:
    """An operation on each element."""

    def operate(self: Any, *args: Any, **named: Any) -> Any:
        result = plain(self, *args, **named)
        if marks := _marks(args):
            elements = np.logical_or.reduce(np.broadcast_arrays(*(mark.elements for mark in marks)))
            _mark(result, marks, np.broadcast_to(elements, result.data.shape))
        return result

    return operate


def _absorbing(plain: Callable, decisive: int) -> Callable:
    """The same, but for one operand's value that makes the other one count for nothing."""

    def operate(self: Any, *args: Any) -> Any:
        result = plain(self, *args)
        if marks := _marks(args):
            unknown = [_elements(each) for each in args]
            decided = [
                ~each & (arg.data == np.array(decisive).astype(arg.data.dtype)) for each, arg in zip(unknown, args)
            ]
            _mark(result, marks, (unknown[0] | unknown[1]) & ~decided[0] & ~decided[1])
        return result

    return operate


def _selecting(plain: Callable) -> Callable:
    """tl.where"""

    def select(self: Any, condition: Any, *values: Any) -> Any:
        result = plain(self, condition, *values)
        if marks := _marks((condition, *values)):
            chosen = np.where(condition.data, *map(_elements, values))
            _mark(result, marks, chosen | _elements(condition))
        return result

    return select


def _placing(plain: Callable) -> Callable:
    """An operation that places elements anew: what is undefined is placed by the same operation."""

    def place(self: Any, *args: Any) -> Any:
        result = plain(self, *args)
        if marks := _marks(args):
            placed = plain(self, *(type(arg)(_elements(arg), tl.int1) if hasattr(arg, "attr") else arg for arg in args))
            for each, elements in zip(*((each,) if hasattr(each, "attr") else each for each in (result, placed))):
                _mark(each, marks, elements.data)
        return result

    return place


def _gathering(plain: Callable) -> Callable:
    """tl.gather"""

    def gather(self: Any, source: Any, indices: Any, axis: Any) -> Any:
        check(indices, "an index")
        result = plain(self, source, indices, axis)
        for mark in _marks([source]):
            _mark(result, [mark], np.take_along_axis(mark.elements, indices.data, axis=axis))
        return result

    return gather


def _tallying(plain: Callable) -> Callable:
    """tl.histogram"""

    def tally(self: Any, values: Any, bins: Any, mask: Any) -> Any:
        check(values, "counted", None if mask is None else mask.data)
        return plain(self, values, bins, mask)

    return tally


def _multiplying(plain: Callable) -> Callable:
    """tl.dot: an undefined element spoils its row or its column."""

    def multiply(self: Any, a: Any, b: Any, accumulator: Any, *rest: Any) -> Any:
        return _product(plain(self, a, b, accumulator, *rest), [a], [(b, -2)], accumulator)

    return multiply


def _multiplying_scaled(plain: Callable) -> Callable:
    def multiply(self: Any, *args: Any) -> Any:
        a, a_scale, _, b, b_scale, *_, accumulator = args
        return _product(plain(self, *args), [a, a_scale], [(b, -2), (b_scale, -1)], accumulator)

    return multiply


def _product(result: Any, rows: list, columns: list, accumulator: Any) -> Any:
    if marks := _marks([*rows, *(each for each, _ in columns), accumulator]):
        elements = np.broadcast_to(_elements(accumulator), result.data.shape)
        for mark in _marks(rows):
            elements = elements | np.expand_dims(mark.elements.any(axis=-1), -1)
        for each, axis in columns:
            for mark in _marks([each]):
                elements = elements | np.expand_dims(mark.elements.any(axis=axis), -2)
        _mark(result, marks, elements, mixes=True)
    return result


def _folding(plain: Callable, fold: Callable) -> Callable:
    """A reduction or a scan. fold(self, elements): which of its results hang on undefined ones."""

    def apply(self: Any, inputs: Any) -> Any:
        results = plain(self, inputs)
        if marks := _marks(tensor.handle for tensor in inputs):
            elements = fold(self, np.logical_or.reduce([mark.elements for mark in marks]))
            for each in results if isinstance(results, (list, tuple)) else [results]:
                _mark(each.handle, marks, elements.reshape(each.handle.data.shape), mixes=True)
        return results

    return apply


def _reduced(self: Any, elements: np.ndarray) -> np.ndarray:
    return np.asarray(elements.any(axis=self.axis))


def _scanned(self: Any, elements: np.ndarray) -> np.ndarray:
    if self.reverse:
        return np.flip(np.logical_or.accumulate(np.flip(elements, self.axis), self.axis), self.axis)
    return np.logical_or.accumulate(elements, self.axis)


def _elements(handle: Any) -> np.ndarray:
    mark = handle.attr.get(MARK)
    return np.zeros(handle.data.shape, bool) if mark is None else mark.elements


def _mark(result: Any, marks: list[Undefined], elements: np.ndarray, mixes: bool = False) -> None:
    """The result hangs on undefined elements, through these marks."""
    if elements.any():
        mark = next((each for each in marks if each.mixed), marks[0])
        mixed = mark.mixed or (learner_line() if mixes else 0)
        result.attr[MARK] = replace(mark, elements=elements, mixed=mixed)
