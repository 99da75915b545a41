"""NumPy's universal functions on whole arrays in a kernel: np.sin(x, out). Every thread goes through all elements."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tools.sim.cuda.faults import Refused, Unknown
from tools.sim.cuda.memory.array import Array
from tools.sim.cuda.run.values import NUMBER


def elementwise(compute: Callable, name: str, arguments: tuple) -> None:
    """compute(elements of the first, ...) into the last of the arguments, an array; the others are arrays or numbers.

    Raises Refused where Numba wants an array to fill, Unknown for shapes that differ.
    """
    *values, out = arguments
    if not isinstance(out, Array) or not values:
        raise Refused(f"np.{name} of an array makes an array, and nothing allocates memory on a GPU.", ADVICE)
    shapes = [tuple(map(_length, each.shape)) for each in arguments if isinstance(each, Array)]
    if len(set(shapes)) > 1:
        raise Unknown(
            f"The simulator knows np.{name} of arrays of one shape. A GPU may know others.", "Write a loop over them."
        )
    for index in np.ndindex(*shapes[0]):
        place = tuple(map(np.int64, index))
        out.store(place, compute(*(each.load(place) if isinstance(each, Array) else each for each in values)))


ADVICE = "np.sin(x, out) fills an array that is given; np.sin(x[i]) is one element."


def _length(length: Any) -> int:
    if isinstance(length, NUMBER) and np.ndim(length):
        raise Unknown("The simulator knows no functions of arrays whose sizes differ between threads.", ADVICE)
    return int(length)
