"""Elements of memory at addresses: loaded and stored by NumPy, which is quicker for a tile than the interpreter's loop.

All addresses are those of elements that exist: memory.py has seen to that, and to their alignment.
"""

import numpy as np
from triton._C.libtriton import interpreter

MANY = 512  # elements; for fewer the interpreter's loop, in C++, is the quicker one


class _Memory:
    """So many elements from an address on, as NumPy takes the memory of others."""

    def __init__(self, address: int, elements: int, dtype: np.dtype) -> None:
        self.__array_interface__ = {"data": (address, False), "shape": (elements,), "typestr": dtype.str, "version": 3}


def load(addresses: np.ndarray, mask: np.ndarray, instead: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """The elements at the addresses; where the mask is False, those of `instead`. All of one shape."""
    if addresses.size < MANY:
        return interpreter.load(addresses, mask, instead, dtype)
    if mask.all():
        memory, places = _at(addresses.ravel(), dtype)
        return memory[places].reshape(addresses.shape)
    loaded = instead.copy()
    if mask.any():
        memory, places = _at(addresses[mask], dtype)
        loaded[mask] = memory[places]
    return loaded


def store(addresses: np.ndarray, values: np.ndarray, mask: np.ndarray) -> None:
    """Store where the mask is True; of several values for one address the last one stays. All of one shape."""
    if addresses.size < MANY:
        interpreter.store(addresses, values, mask)
    elif mask.any():
        memory, places = _at(addresses[mask], values.dtype)
        memory[places] = values[mask]


def _at(addresses: np.ndarray, dtype: np.dtype) -> tuple[np.ndarray, np.ndarray]:
    """Memory from the first of these addresses on, and the place of each in it."""
    first = addresses.min()
    places = (addresses - first).view(np.int64) // dtype.itemsize
    return np.asarray(_Memory(int(first), int(places.max()) + 1, dtype)), places
