"""Shapes, strides and views as numba.cuda checks them, in its words: pure functions of NumPy arrays."""

import math
import operator
from collections.abc import Iterator
from typing import Any

import numpy as np

SCATTERED = """Array contains non-contiguous buffer and cannot be transferred as a single
memory region. Please ensure contiguous buffer with numpy .ascontiguousarray()"""


def described(shape: Any, dtype: Any, strides: Any, order: str) -> tuple[tuple[int, ...], np.dtype, tuple[int, ...]]:
    """An array that is asked for, as (shape, dtype, strides); TypeError, ValueError or OverflowError if it cannot be.

    shape, strides: an integer or several; strides: None for a contiguous array in this order, "C" or "F".
    """
    dtype = np.dtype(dtype)
    if isinstance(shape, float):
        raise TypeError("shape must be an integer or tuple of integers")
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    for length in shape:
        if not isinstance(length, (int, np.integer)):
            raise TypeError(f"shape elements must be integers, got {type(length).__name__}")
        if length < 0:
            raise OverflowError(f"a shape has no negative lengths, as {shape} has")
    if order not in ("C", "F"):
        raise ValueError("must be either C/F order")
    shape = tuple(map(int, shape))
    strides = (strides,) if isinstance(strides, int) else strides
    return shape, dtype, tuple(strides or packed(shape, dtype.itemsize, order))


def like(array: Any) -> dict:
    """Keywords that ask for a contiguous array of the same shape and dtype, with its axes in the same order."""
    asked = {"shape": array.shape, "dtype": array.dtype, "strides": None, "order": "C"}
    if array.flags["C_CONTIGUOUS"] or array.ndim <= 1:
        return asked
    if array.flags["F_CONTIGUOUS"]:
        return asked | {"order": "F"}
    return asked | {"strides": _by_stride(array)}


def packed(shape: tuple[int, ...], itemsize: int, order: str) -> tuple[int, ...]:
    """Strides of a contiguous array."""
    axes = range(len(shape))
    return tuple(itemsize * math.prod(shape[axis + 1 :] if order == "C" else shape[:axis]) for axis in axes)


def extent(shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int) -> int:
    """Bytes from the first to the last element."""
    if 0 in shape:
        return 0
    return sum((length - 1) * abs(stride) for length, stride in zip(shape, strides)) + itemsize


def core(array: np.ndarray) -> np.ndarray:
    """Without the axes along which it repeats itself."""
    if not array.size:
        return array
    return array[(*(0 if stride == 0 else slice(None) for stride in array.strides), ...)]


def contiguous(array: np.ndarray) -> np.ndarray:
    """Its core. Raises ValueError unless that is one region of memory."""
    inner = core(array)
    if not (inner.flags.c_contiguous or inner.flags.f_contiguous):
        raise ValueError(SCATTERED)
    return inner


def must_agree(one: Any, other: Any) -> None:
    """Raise TypeError or ValueError unless bytes can be copied from one to the other as they lie."""
    squeezed, other_squeezed = one.squeeze(), other.squeeze()
    if one.dtype != other.dtype:
        raise TypeError(f"incompatible dtype: {one.dtype} vs. {other.dtype}")
    if squeezed.shape != other_squeezed.shape:
        raise ValueError(f"incompatible shape: {one.shape} vs. {other.shape}")
    if one.size and squeezed.strides != other_squeezed.strides:
        raise ValueError(f"incompatible strides: {one.strides} vs. {other.strides}")


def _by_stride(array: Any) -> tuple[int, ...]:
    """Strides without gaps, the axes in the order of the array's own strides."""
    strides, stride = [0] * array.ndim, array.dtype.itemsize
    for axis in sorted(range(array.ndim), key=lambda axis: array.strides[axis]):
        strides[axis] = stride
        stride *= array.shape[axis]
    return tuple(strides)


def fitted(source: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """The source repeated to fill this shape, as an assignment does. Raises ValueError."""
    if source.ndim > len(shape):
        raise ValueError(f"Can't assign {source.ndim}-D array to {len(shape)}-D self")
    source = source.reshape((1,) * (len(shape) - source.ndim) + source.shape)
    for axis, (mine, theirs) in enumerate(zip(shape, source.shape)):
        if theirs not in (1, mine):
            raise ValueError(f"Can't copy sequence with size {theirs} to array axis {axis} with dimension {mine}")
    return np.broadcast_to(source, shape)


# Views -------------------------------------------------------------------------------------------


def part(array: np.ndarray, item: Any) -> np.ndarray:
    """array[item] for integers and slices, as a view also of one element. Raises IndexError, TypeError."""
    items = item if isinstance(item, tuple) else (item,)
    if len(items) > array.ndim:
        raise IndexError(f"{len(items) - array.ndim} extra indices given")
    return array[(*map(_checked, items, array.shape), ...)]


def _checked(item: Any, length: int) -> int | slice:
    """One index along an axis of this length."""
    if isinstance(item, slice):
        return item
    if isinstance(item, np.ndarray) or not hasattr(item, "__index__"):
        raise TypeError(
            f"An array of the device is indexed by integers and slices, not by {type(item).__name__}.\n"
            "copy_to_host() gives an array that takes more."
        )
    if not -length <= (index := operator.index(item)) < length:
        raise IndexError(f"index {index} is outside an axis of {length} elements")
    return index


def reshaped(array: np.ndarray, shape: tuple[int, ...], order: Any) -> np.ndarray:
    """The same memory in another shape, one length of which may be -1. Raises ValueError, NotImplementedError."""
    _check_order(order)
    shape = _completed(shape, array.size)
    if not (array.flags.c_contiguous or array.flags.f_contiguous):
        raise NotImplementedError("reshape would require copy")
    return array.reshape(-1, order="A").reshape(shape, order=order)


def raveled(array: np.ndarray, order: str) -> np.ndarray:
    """All elements along one axis, without a copy. Raises ValueError, NotImplementedError."""
    _check_order(order)
    if not (order in "CA" and array.flags.c_contiguous or order in "FA" and array.flags.f_contiguous):
        raise NotImplementedError("ravel on non-contiguous array")
    return array.reshape(-1, order="A")


def sections(array: np.ndarray, length: int) -> Iterator[np.ndarray]:
    """Pieces of so many elements; the last one may be shorter. Raises ValueError."""
    if array.ndim != 1:
        raise ValueError("only support 1d array")
    if array.strides[0] != array.itemsize:
        raise ValueError("only support unit stride")
    for first in range(0, array.size, length):
        yield array[first : first + length]


def _check_order(order: str) -> None:
    if order not in ("C", "F", "A"):
        raise ValueError("order not C|F|A")


def _completed(shape: tuple[int, ...], size: int) -> tuple[int, ...]:
    """The shape for so many elements, with one length that was -1 filled in."""
    unknown = [axis for axis, length in enumerate(shape) if length < 0]
    if len(unknown) > 1:
        raise ValueError("can only specify one unknown dimension")
    known = math.prod(length for length in shape if length >= 0)
    if unknown:
        if known == 0 or size % known:
            raise ValueError("cannot infer valid shape for unknown dimension")
        return tuple(size // known if length < 0 else length for length in shape)
    if known != size:
        raise ValueError("reshape changes the size of the array")
    return shape
