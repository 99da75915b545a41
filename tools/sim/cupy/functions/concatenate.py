"""Arrays joined into one: a copying kernel for each, or one for all of many small ones."""

from collections.abc import Iterable
from math import prod
from typing import Any

import numpy as np

from tools.sim.cupy.arrays import launches
from tools.sim.cupy.arrays.arguments import check_cast, operand, require
from tools.sim.cupy.arrays.casts import device_dtype
from tools.sim.cupy.arrays.ndarray import ndarray, on_device
from tools.sim.cupy.arrays.shapes import axes_of
from tools.sim.cupy.dispatch.ufuncs import copy_elements

FEW, SMALL = 8, 2 << 20  # more arrays than that, of fewer bytes on average, are joined by one kernel


def concatenate(
    tup: Iterable, axis: Any = 0, out: ndarray | None = None, *, dtype: Any = None, casting: str = "same_kind"
) -> ndarray:
    """The arrays one after the other along an axis that they have."""
    if axis is None:
        tup, axis = [each.ravel() for each in tup], 0
    arrays = [operand(each) for each in tup]
    axis = _check(arrays, axis)
    if out is not None and dtype is not None:
        raise TypeError("concatenate() only takes `out` or `dtype` as an argument, but both were provided.")
    dtype = (
        out.dtype
        if out is not None
        else np.result_type(*(each.dtype for each in arrays))
        if dtype is None
        else device_dtype(dtype)
    )
    for each in arrays:
        check_cast(each.dtype, dtype, casting)
    shape = tuple(
        sum(each.shape[axis] for each in arrays) if along == axis else length
        for along, length in enumerate(arrays[0].shape)
    )
    if out is None:
        out = on_device(np.empty(shape, dtype))
    elif out.ndim != len(shape):
        raise ValueError("Output array has wrong dimensionality")
    elif out.shape != shape:
        raise ValueError("Output array is the wrong shape")
    _join(arrays, axis, out)
    return out


def _check(arrays: list, axis: int) -> int:
    """The axis, counted from the front. Raises TypeError, ValueError, AxisError."""
    if not arrays:
        raise ValueError("Cannot concatenate from empty tuple")
    if not all(isinstance(each, ndarray) for each in arrays):
        raise TypeError("Only cupy arrays can be concatenated")
    if not all(each.ndim for each in arrays):
        raise TypeError("zero-dimensional arrays cannot be concatenated")
    if len({each.ndim for each in arrays}) > 1:
        raise ValueError("All arrays to concatenate must have the same ndim")
    (axis,) = axes_of(axis, arrays[0].ndim)
    if len({each.shape[:axis] + each.shape[axis + 1 :] for each in arrays}) > 1:
        raise ValueError("All arrays must have same shape except the axis to concatenate")
    return axis


def _join(arrays: list[ndarray], axis: int, out: ndarray) -> None:
    if len(arrays) > FEW and {each.dtype for each in arrays} == {out.dtype} and out.nbytes < SMALL * len(arrays):

        def joined() -> None:
            np.concatenate([each.elements for each in arrays], axis, out=out.elements)

        launches.launch("cupy_concatenate", launches.blocks(prod(out.shape)), arrays, [out], work=joined)
        return
    start = 0
    for each in arrays:
        end = start + each.shape[axis]
        copy_elements(each, on_device(out.elements[(slice(None),) * axis + (slice(start, end),)], out))
        start = end


def stack(
    tup: Iterable, axis: Any = 0, out: ndarray | None = None, *, dtype: Any = None, casting: str = "same_kind"
) -> ndarray:
    """The arrays one after the other along a new axis."""
    arrays = list(tup)
    for each in arrays:
        require("a", each)
    longer = [on_device(np.expand_dims(each.elements, axis), each) for each in arrays]
    return concatenate(longer, axis, out, dtype=dtype, casting=casting)
