"""The indices that a kernel gives for an array: whole numbers, inside of it."""

from typing import Any

import numpy as np

from tools.sim.cuda.faults import Fault, Unknown
from tools.sim.cuda.numbers.promotion import Value

SIGNED = np.dtype(np.int64)

OF_ALL = "Which threads have an element? The others must not touch the array."
OF_A_BLOCK = "Which element of its block's own array is this thread's, if any?"


def complete(index: Any, axes: int) -> tuple:
    """An index for each axis that it names; `...` stands for as many full slices as are missing."""
    index = index if isinstance(index, tuple) else (index,)
    for place, each in enumerate(index):
        if each is Ellipsis:
            return index[:place] + (slice(None),) * (axes - len(index) + 1) + index[place + 1 :]
    return index


def checked(array: Any, position: Any, length: Any, axis: int, index: tuple, verb: str) -> Any:
    """One index of each lane as int64; what is outside is a fault, unless no active lane asks for it."""
    if isinstance(position, np.ndarray):
        if position.dtype != SIGNED:
            position = _whole(array, position, verb)
        outside = (
            (position.view(np.uint64) >= np.uint64(length))
            if not np.ndim(length)
            else ((position < 0) | (position >= length))
        )
        if not outside.any():
            return position
        wrong = outside & array.lanes.mask
        if wrong.any():
            raise _outside(array, wrong, length, axis, index, verb)
        return np.where(outside, 0, position)
    position = _whole(array, position, verb)
    if -int(np.max(length)) <= position < 0 and not np.ndim(length):
        return position + length  # one number for all, as in x[-1]: from the end, as Python counts
    wrong = array.lanes.mask & ((position < 0) | (position >= length))
    if wrong.any():
        raise _outside(array, wrong, length, axis, index, verb)
    return position


def _whole(array: Any, position: Any, verb: str) -> Value:
    kind: Any = getattr(position, "dtype", None)  # which a variable without a value refuses to tell
    if not isinstance(position, (np.ndarray, np.generic)):
        found = getattr(position, "described", f"a {type(position).__name__}")
        raise TypeError(f"An index of {array.name} is {found}, not a whole number.")
    if kind.kind not in "iub":
        refused = (
            "Numba's atomics cut it off, and it refuses that elsewhere" if verb == "updates" else "Numba refuses that"
        )
        raise TypeError(f"An index of {array.name} is {kind}, not a whole number.\n{refused}. Is a / meant to be a //?")
    return position.astype(np.int64)


def _outside(array: Any, wrong: np.ndarray, length: Any, axis: int, index: tuple, verb: str) -> Fault:
    lane = int(np.flatnonzero(wrong)[0])
    place = tuple(int(array.lanes.spread(each)[lane]) for each in index)
    length = int(array.lanes.spread(length)[lane])
    shown = place[0] if len(place) == 1 else list(place)
    extent = f"it has {length}" if len(place) == 1 else f"axis {axis} has {length}"
    if place[axis] < 0:
        return array.fault(
            "negative_index",
            f"{verb} element {shown} of {{name}}; {extent}.\n"
            "On a GPU it passes, for Numba counts from the end; refused, as few mean that.",
            "A computed index below 0 counts from the end in Numba, leaves the array in C++.",
            wrong,
            place,
        )
    return array.fault(
        "out_of_bounds",
        f"{verb} element {shown} of {{name}}; {extent}.",
        OF_A_BLOCK if array.kind == "shared" else OF_ALL,
        wrong,
        place,
    )


def bounds_of_slice(piece: slice, length: Any) -> tuple:
    """First index, length and step of a slice, with Python's rules. Raises Unknown for a step that threads compute."""
    if np.ndim(piece.step) or piece.step == 0:
        raise Unknown("The simulator knows slices whose step is a number. A GPU may know others.", "Write a loop.")
    step = 1 if piece.step is None else int(piece.step)
    first, last = (np.int64(0), length) if step > 0 else (length - 1, np.int64(-1))
    least = 0 if step > 0 else -1
    begin, end = (
        _clipped(bound, length, default, least) for bound, default in ((piece.start, first), (piece.stop, last))
    )
    return begin, np.maximum(0, -(-(end - begin) // step)), step


def _clipped(bound: Any, length: Any, default: Any, least: int) -> Any:
    """Inside the array; least: -1 where the slice goes down, and may end before the first element."""
    if bound is None:
        return default
    return np.clip(np.where(bound < 0, bound + length, bound), least, length + least)[()]
