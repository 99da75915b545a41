"""Sequences of a kernel: tuples, arrays, zip and enumerate that a for loop goes through, tuples by a varying number."""

from typing import Any

import numpy as np

from tools.sim.cuda.faults import Refused, Unknown
from tools.sim.cuda.memory.array import Array
from tools.sim.cuda.run.values import NUMBER, bounds_of_range, type_of


class Range:
    """A range inside zip or enumerate. bounds: start, stop, step, the same for all threads."""

    def __init__(self, bounds: tuple) -> None:
        self.bounds = bounds_of_range(bounds)
        if any(map(np.ndim, self.bounds)):
            raise Unknown(
                "The simulator knows no zip of a range that differs between threads. A GPU may run it.",
                "Write a loop over range(n), and index the others.",
            )


class Together:
    """zip or enumerate (name) of values: tuples, arrays, ranges, or more of these; enumerate may have a start."""

    def __init__(self, name: str, values: tuple) -> None:
        self.name, self.values = name, values


def together(name: str, values: tuple) -> Any:
    """range, zip or enumerate of these."""
    if name == "range":
        return Range(values)
    if name == "enumerate" and len(values) not in (1, 2):
        raise Refused("enumerate takes an array or a tuple, and maybe where to start.")
    return Together(name, values)


def length(values: Any) -> int:
    """How many turns a loop has. Raises Unknown for what the simulator does not loop over."""
    if isinstance(values, Together):
        parts = values.values if values.name == "zip" else values.values[:1]
        return min(map(length, parts), default=0)
    if isinstance(values, Range):
        return len(range(*map(int, values.bounds)))
    if isinstance(values, tuple):
        return len(values)
    if not isinstance(values, Array):
        raise Unknown("The simulator knows loops over range, tuples, arrays, zip and enumerate. A GPU may know others.")
    return int(values.shape[0])


def element(lanes: Any, values: Any, number: Any) -> Any:
    """What the loop variable gets in this turn."""
    if isinstance(values, Range):
        start, _, step = values.bounds
        return start + start.dtype.type(number) * step
    if not isinstance(values, Together):
        return lanes.load(values, number)
    if values.name == "zip":
        return tuple(element(lanes, each, number) for each in values.values)
    start = values.values[1] if len(values.values) == 2 else np.int64(0)
    return start + number, element(lanes, values.values[0], number)


def item(lanes: Any, values: tuple, index: Any) -> Any:
    """values[index] of a tuple. Raises Refused where Numba does, Unknown for what is not simulated."""
    if isinstance(index, slice):
        raise Unknown("The simulator does not know slices of tuples. A GPU may run it.", "Take the values by number.")
    if not np.ndim(index):
        return values[int(index)]
    if len(set(map(type_of, values))) > 1:
        raise Refused(
            "Numba indexes a tuple by a variable only if its values are of one type.", "Take them by number: t[0]."
        )
    if not all(isinstance(each, NUMBER) for each in values):
        raise Unknown(
            "A tuple of arrays is indexed by a number that differs between threads.\n"
            "The simulator does not know that. A GPU may run it.",
            "Can each have a name of its own?",
        )
    outside = lanes.mask & ((index < -len(values)) | (index >= len(values)))
    if outside.any():
        raise lanes.fault(
            "out_of_bounds", f"takes a value that a tuple of {len(values)} has not.", "Which?", lanes=outside
        )
    place = np.where(lanes.mask, index, 0).astype(np.int64) % len(values)
    return np.stack([lanes.spread(each) for each in values])[place, np.arange(lanes.count)]
