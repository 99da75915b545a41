"""Arrays joined side by side, above each other, and behind each other."""

from collections.abc import Iterable
from typing import Any

from tools.sim.cupy.arrays.ndarray import ndarray
from tools.sim.cupy.functions.concatenate import concatenate
from tools.sim.cupy.functions.table import functions


def hstack(tup: Iterable, *, dtype: Any = None, casting: str = "same_kind") -> ndarray:
    arrays = [functions["atleast_1d"](each) for each in tup]
    return concatenate(arrays, int(arrays[0].ndim > 1), dtype=dtype, casting=casting)


def vstack(tup: Iterable, *, dtype: Any = None, casting: str = "same_kind") -> ndarray:
    return concatenate([functions["atleast_2d"](each) for each in tup], 0, dtype=dtype, casting=casting)


def dstack(tup: Iterable) -> ndarray:
    return concatenate([functions["atleast_3d"](each) for each in tup], 2)


def column_stack(tup: Iterable) -> ndarray:
    """Arrays of one axis as the columns of one with two."""
    arrays = list(tup)
    if not all(isinstance(each, ndarray) for each in arrays):
        raise TypeError("Only cupy arrays can be column stacked")
    if not all(each.ndim in (1, 2) for each in arrays):
        raise ValueError("Only 1 or 2 dimensional arrays can be column stacked")
    return concatenate([each.reshape(-1, 1) if each.ndim == 1 else each for each in arrays], 1)
