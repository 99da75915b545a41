"""Other shapes of the same memory; where the memory's order allows no such view, a copy."""

from typing import Any

import numpy as np

from tools.sim.cupy.arrays.arguments import require
from tools.sim.cupy.arrays.casts import device_dtype
from tools.sim.cupy.arrays.ndarray import is_view, ndarray, on_device
from tools.sim.cupy.arrays.shapes import axes_of, infer, one_order
from tools.sim.cupy.functions.conversion import array


def reshape(a: Any, newshape: Any, order: Any = "C", *, copy: Any = None) -> ndarray:
    """The elements in another shape; -1: whatever length is left. copy: None copies where needed, False never."""
    if not isinstance(a, ndarray):
        return a.reshape(newshape, order=order)
    if isinstance(copy, str):
        raise ValueError("strings are not allowed for 'copy' keyword. Use True/False/None instead.")
    order = one_order(order)
    if order == "K":
        raise ValueError("order 'K' is not permitted")
    order = ("F" if a.elements.flags.fnc else "C") if order == "A" else order
    shape = infer(newshape if np.iterable(newshape) else (newshape,), a.size)
    reshaped = np.reshape(a.elements, shape, order=order)
    if is_view(reshaped, a) and not copy:
        return on_device(reshaped, a)
    if copy is not None and not copy:
        raise ValueError("Unable to avoid creating a copy while reshaping.")
    return _copied(a, shape, order)


def ravel(a: ndarray, order: str | None = "C") -> ndarray:
    """All elements along one axis: a view where their order in memory allows."""
    order = one_order(order)
    if order == "K":
        return reshape(transpose(a, _by_stride(a.strides)), -1)
    return reshape(a, -1, order)


def _by_stride(strides: tuple[int, ...]) -> list[int]:
    """The axes from the longest stride to the shortest. Those of stride 0 stay where they are, as NumPy has it."""
    axes: list[int] = []
    for axis, stride in enumerate(strides):
        at = len(axes)
        for place in reversed(range(len(axes))):
            other = strides[axes[place]]
            if stride and other and abs(other) >= abs(stride):
                break
            if stride and other:
                at = place
        axes.insert(at, axis)
    return axes


def flatten(a: ndarray, order: str | None = "C") -> ndarray:
    """All elements along one axis, copied."""
    order = one_order(order)
    if order == "K":
        return ravel(array(a, order="K"), "K")
    order = ("F" if a.elements.flags.fnc else "C") if order == "A" else order
    return _copied(a, (a.size,), order)


def _copied(a: ndarray, shape: tuple[int, ...], order: Any) -> ndarray:
    """A kernel's copy of the elements, in another shape."""
    made = array(a, order=order)
    made.elements = made.elements.reshape(shape, order=order)
    return made


def transpose(a: ndarray, axes: Any = None) -> ndarray:
    """The axes in another order; None: the reverse."""
    if axes is None or not len(axes):
        return on_device(a.elements.T, a)
    if len(axes) != a.ndim:
        raise ValueError("axes don't match array")
    for axis in axes:
        axes_of(axis, a.ndim)
    if len({axis % a.ndim for axis in axes}) < a.ndim:
        raise ValueError("repeated axis in transpose")
    return on_device(a.elements.transpose(axes), a)


def swapaxes(a: ndarray, axis1: Any, axis2: Any) -> ndarray:
    if not (-a.ndim <= axis1 < a.ndim and -a.ndim <= axis2 < a.ndim):
        raise ValueError("Axis out of range")
    return on_device(a.elements.swapaxes(axis1, axis2), a)


def rollaxis(a: Any, axis: Any, start: int = 0) -> ndarray:
    """An axis moved to before another one."""
    require("a", a)
    axis, start = (axis + a.ndim if axis < 0 else axis), (start + a.ndim if start < 0 else start)
    if not (0 <= axis < a.ndim and 0 <= start <= a.ndim):
        raise ValueError("Axis out of range")
    return on_device(np.rollaxis(a.elements, axis, start), a)


def moveaxis(a: Any, source: Any, destination: Any) -> ndarray:
    """Axes moved to other places."""
    require("a", a)
    source, destination = axes_of(source, a.ndim), axes_of(destination, a.ndim)
    if len(source) != len(destination):
        raise ValueError("`source` and `destination` arguments must have the same number of elements")
    return on_device(np.moveaxis(a.elements, source, destination), a)


def squeeze(a: ndarray, axis: Any = None) -> ndarray:
    """Without axes of length 1."""
    if axis is not None and a.ndim:
        axis = axes_of(axis, a.ndim)
    return on_device(a.elements.squeeze(axis), a)


def diagonal(a: ndarray, offset: int = 0, axis1: int = 0, axis2: int = 1) -> ndarray:
    if not all(-a.ndim <= axis < a.ndim for axis in (axis1, axis2)):
        raise np.exceptions.AxisError(f"axis1(={axis1}) and axis2(={axis2}) must be within range (ndim={a.ndim})")
    return on_device(a.elements.diagonal(offset, axis1, axis2), a)


def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[ndarray]:
    """Views of equal parts, or of those between the indices."""
    require("ary", ary)
    if not -ary.ndim <= axis < ary.ndim:
        raise IndexError("Axis exceeds ndim")
    if np.isscalar(indices_or_sections) and ary.shape[axis] % indices_or_sections:
        raise ValueError(
            "indices_or_sections must divide the size along the axes.\nIf you want to split the array "
            "into non-equally-sized arrays, use array_split instead."
        )
    return [on_device(part, ary) for part in np.split(ary.elements, indices_or_sections, axis)]


def broadcast_to(array: Any, shape: Any) -> ndarray:
    """The array stretched to a shape; no element is copied."""
    require("array", array)
    shape = tuple(shape) if np.iterable(shape) else (shape,)
    if array.ndim > len(shape):
        raise ValueError("input operand has more dimensions than allowed by the axis remapping")
    try:
        return on_device(np.broadcast_to(array.elements, shape), array)
    except ValueError:
        raise ValueError(
            f"operands could not be broadcast together with shape {array.shape} and requested shape {shape}"
        ) from None


def view(a: ndarray, dtype: Any = None, type: Any = None) -> ndarray:
    """The same memory, read as another type."""
    if type is not None and type is not ndarray:
        raise ValueError("Type must be a sub-type of ndarray type")
    if dtype is None or dtype is ndarray:
        return on_device(a.elements.view(), a)
    dtype, shape, strides = device_dtype(dtype), a.shape, a.strides
    if dtype.itemsize != a.itemsize:
        if not shape:
            raise ValueError("Changing the dtype of a 0d array is only supported if the itemsize is unchanged")
        if shape[-1] != 1 and a.size and strides[-1] != a.itemsize:
            raise ValueError("To change to a dtype of a different size, the last axis must be contiguous")
        if shape[-1] * a.itemsize % dtype.itemsize:
            raise ValueError(
                "When changing to a larger dtype, its size must be a divisor of the total size in bytes "
                "of the last axis of the array."
            )
    return on_device(a.elements.view(dtype), a)
