"""thing.name in a kernel: a record's field, what an array says of itself, a part of a complex number."""

from typing import Any

import numpy as np

from tools.sim.cuda.faults import Refused, Unknown
from tools.sim.cuda.memory.array import Array, Record
from tools.sim.cuda.numbers.promotion import Value
from tools.sim.cuda.run.values import NUMBER

OF_ARRAYS = {
    "shape": lambda array: array.shape,
    "strides": lambda array: tuple(np.int64(stride * array.storage.pitch) for stride in array.strides),
    "ndim": lambda array: array.ndim,
    "size": lambda array: array.size,
    "itemsize": lambda array: np.int64(array.dtype.itemsize),
    "nbytes": lambda array: array.size * np.int64(array.dtype.itemsize),
    "dtype": lambda array: array.dtype,
}
REFUSED = {  # methods that allocate memory
    "astype": "Convert element by element: np.float32(x[i]).",
    "copy": "Copy element by element.",
    "flatten": "An index for each axis reaches every element.",
    "ravel": "An index for each axis reaches every element.",
}


def attribute(thing: Any, name: str) -> Any:
    """Raises TypeError for what Numba does not know, Unknown for what this simulator does not."""
    if isinstance(thing, Record):
        return thing.load(name)
    if isinstance(thing, Array):
        return _of_array(thing, name)
    if isinstance(thing, NUMBER):
        return _of_number(thing, name)
    try:
        return getattr(thing, name)
    except AttributeError:
        raise TypeError(f"A {type(thing).__name__} has no attribute {name!r} in a kernel.") from None


def _of_array(array: Array, name: str) -> Any:
    if name in (array.dtype.names or ()):
        return array.field(name)
    if name in OF_ARRAYS:
        return OF_ARRAYS[name](array)
    if name in REFUSED:
        raise Refused(f"Numba compiles no {array.name}.{name} for a GPU.", REFUSED[name])
    if hasattr(np.ndarray, name):
        raise Unknown(
            f"The simulator does not know {array.name}.{name}. A GPU may run it.",
            "Indices, slices and loops are known.",
        )
    raise TypeError(f"{array.name} has no attribute {name!r}: it is an array.")


def _of_number(number: Value, name: str) -> Value:
    if name == "conjugate":
        raise Unknown(
            "The simulator does not know .conjugate(). A GPU may run it.", "complex(z.real, -z.imag) is the same."
        )
    if name not in ("real", "imag"):
        advice = "\nnp.float32(x) converts a number." if name == "astype" else ""
        raise TypeError(f"A number has no attribute {name!r} in a kernel.{advice}")
    return getattr(number, name)
