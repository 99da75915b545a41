"""Arrays filled on the device: with one number, with a range, or not at all."""

import math
from functools import partial
from typing import Any

import numpy as np

from tools.sim.cupy.arrays import launches
from tools.sim.cupy.arrays.arguments import elements
from tools.sim.cupy.arrays.casts import device_dtype
from tools.sim.cupy.arrays.ndarray import ndarray, on_device, poison
from tools.sim.cupy.arrays.shapes import one_order
from tools.sim.cupy.device import streams
from tools.sim.cupy.dispatch.ufuncs import choose_elements, copy_elements, ufuncs
from tools.sim.cupy.functions.conversion import array, asarray, astype


def empty(shape: Any, dtype: Any = float, order: str | None = "C") -> ndarray:
    """Elements that nobody has written yet: NaN, -1 or the like, so that it shows when they are read."""
    return ndarray(shape, dtype, order=order)


def zeros(shape: Any, dtype: Any = float, order: str | None = "C") -> ndarray:
    return fill(ndarray(shape, dtype, order=order), 0)


def ones(shape: Any, dtype: Any = float, order: str | None = "C") -> ndarray:
    return fill(ndarray(shape, dtype, order=order), 1)


def full(shape: Any, fill_value: Any, dtype: Any = None, order: str | None = "C") -> ndarray:
    made = ndarray(shape, _type_of(fill_value) if dtype is None else dtype, order=order)
    copyto(made, fill_value, casting="unsafe")
    return made


def empty_like(
    prototype: ndarray, dtype: Any = None, order: str | None = "K", subok: Any = None, shape: Any = None
) -> ndarray:
    if subok is not None:
        raise TypeError("subok is not supported yet")
    like: Any = getattr(prototype, "elements", prototype)
    dtype = like.dtype if dtype is None else device_dtype(dtype)
    made: np.ndarray = np.empty_like(like, dtype, order=one_order(order), shape=shape)
    poison(made)
    return on_device(made)


def zeros_like(a: ndarray, dtype: Any = None, order: str | None = "K", subok: Any = None, shape: Any = None) -> ndarray:
    return fill(empty_like(a, dtype, order, subok, shape), 0)


def ones_like(a: ndarray, dtype: Any = None, order: str | None = "K", subok: Any = None, shape: Any = None) -> ndarray:
    return fill(empty_like(a, dtype, order, subok, shape), 1)


def full_like(
    a: ndarray, fill_value: Any, dtype: Any = None, order: str | None = "K", subok: Any = None, shape: Any = None
) -> ndarray:
    made = empty_like(a, dtype, order, subok, shape)
    copyto(made, fill_value, casting="unsafe")
    return made


def _type_of(value: Any) -> np.dtype:
    return value.dtype if isinstance(value, ndarray) else np.array(value).dtype


def fill(array: ndarray, value: Any) -> ndarray:
    """Put one number in every element. Zeros need no kernel where the memory is contiguous."""
    if isinstance(value, ndarray):
        if value.ndim:
            raise ValueError("non-scalar cupy.ndarray cannot be used for fill")
        value = astype(value, array.dtype, copy=None)
    else:
        value = np.asarray(value, dtype=array.dtype)
        if value.ndim:
            raise ValueError("non-scalar numpy.ndarray cannot be used for fill")
    if streams.is_capturing():
        read = [value.elements] if isinstance(value, ndarray) else []
        if streams.captured("cupy_fill", [*read, array.elements], partial(fill, array, value)):
            return array
    if value == 0 and array.elements.flags.c_contiguous:  # the host fetches a value that is on the device
        launches.clear(array)
    else:
        loads, work = [value] if isinstance(value, ndarray) else (), partial(np.copyto, array.elements, elements(value))
        launches.elementwise("cupy_fill", array.shape, loads, [array], work)
    return array


def copyto(dst: ndarray, src: Any, casting: Any = "same_kind", where: Any = None) -> None:
    """Copy the elements of `src`, stretched, to `dst`; where: only those marked. A host's array is refused."""
    if isinstance(src, np.ndarray):
        if src.size != 1:
            raise ValueError("non-scalar numpy.ndarray cannot be used for copyto")
        src = src.reshape(())[()]
    if isinstance(src, (bool, int, float, complex)):
        np.copyto(np.empty((), dst.dtype), src, casting=casting)
    elif not np.can_cast(src.dtype, dst.dtype, casting):
        raise TypeError(f"Cannot cast {src.dtype} to {dst.dtype} in {casting} casting mode")
    if isinstance(src, ndarray) and src.ndim > dst.ndim and not any(n - 1 for n in src.shape[: src.ndim - dst.ndim]):
        src = src.reshape(src.shape[src.ndim - dst.ndim :])
    if where is not None:
        src = choose_elements(where.astype("?", copy=False), src, dst)
    if isinstance(src, ndarray):
        copy_elements(src, dst)
    else:
        fill(dst, src)


# Ranges and matrices -----------------------------------------------------------------------------


def arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = None) -> ndarray:
    if dtype is None:
        dtype = float if any(np.dtype(type(each)).kind == "f" for each in (start, stop, step)) else int
    start, stop = (0, start) if stop is None else (start, stop)
    step = 1 if step is None else step
    dtype, size = device_dtype(dtype), max(0, math.ceil((stop - start) / step))
    if dtype == bool and size > 2:
        raise TypeError("arange() is only supported for booleans when the result has at most length 2.")
    first, width = (np.array(each).astype(dtype) for each in (start, step))
    values = np.arange(size, dtype=np.int64).astype(dtype) * width + first
    return _launched("cupy_arange", values.astype(dtype))


def linspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, retstep: bool = False, dtype: Any = None, axis: Any = 0
) -> Any:
    if num < 0:
        raise ValueError("linspace with num<0 is not supported")
    steps = num - 1 if endpoint else num
    numbers: bool = np.isscalar(start) and np.isscalar(stop)
    if not numbers:
        start, stop = (asarray(each) * 1.0 for each in (start, stop))
        values = np.linspace(start.elements, stop.elements, num, endpoint, axis=axis)
        made = _launched("cupy_linspace", np.ascontiguousarray(values))
        if dtype is not None and np.dtype(dtype).kind in "iu":
            ufuncs["floor"](made, out=made)
        made = made if dtype is None else astype(made, dtype, copy=None)
        return (made, (stop - start) / steps) if retstep else made
    natural = np.result_type(start, stop, float(num))
    step = float(stop - start) / steps if steps > 0 else math.nan
    made = _launched("cupy_linspace", np.linspace(start, stop, num, endpoint, dtype=natural))
    if dtype is not None and np.dtype(dtype).kind in "iu":
        ufuncs["floor"](made, out=made)
    made = made if dtype is None else astype(made, dtype, copy=None)
    return (made, step) if retstep else made


def eye(N: Any, M: Any = None, k: int = 0, dtype: Any = float, order: str | None = "C") -> ndarray:
    made = zeros((N, N if M is None else M), dtype, order)
    if -N < k < made.shape[1]:
        fill(made.diagonal(k), 1)
    return made


def identity(n: Any, dtype: Any = float) -> ndarray:
    return eye(n, dtype=dtype)


def tri(N: Any, M: Any = None, k: int = 0, dtype: Any = float) -> ndarray:
    return _launched("cupy_tri", np.tri(N, M, k, dtype))


def diag(v: Any, k: int = 0) -> ndarray:
    """A square array with this diagonal, or the diagonal of an array of two axes, copied."""
    v = v if isinstance(v, ndarray) else array(v)
    if v.ndim == 2:
        return array(v.diagonal(k))
    if v.ndim != 1:
        raise ValueError("Input must be 1- or 2-d.")
    made = zeros((v.size + abs(k),) * 2, v.dtype)
    made.diagonal(k)[:] = v
    return made


def _launched(kernel: str, values: np.ndarray) -> ndarray:
    """The array that a kernel of this name wrote."""
    made = on_device(values)
    if made.size:
        launches.elementwise(kernel, made.shape, stores=[made])
    return made
