"""Arrays made from others: uploaded from the host, or copied and converted on the device."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from tools.sim import host
from tools.sim.cupy.arrays import launches
from tools.sim.cupy.arrays.arguments import require
from tools.sim.cupy.arrays.casts import device_dtype
from tools.sim.cupy.arrays.ndarray import ndarray, on_device
from tools.sim.cupy.arrays.shapes import one_order
from tools.sim.cupy.device import streams
from tools.sim.cupy.device.memory import Memory, MemoryPointer
from tools.sim.cupy.dispatch.ufuncs import copy_elements
from tools.sim.cupy.functions.concatenate import stack


def array(
    obj: Any,
    dtype: Any = None,
    copy: bool | None = True,
    order: str | None = "K",
    subok: bool = False,
    ndmin: int = 0,
    *,
    blocking: bool = False,
) -> ndarray:
    """A new array with these elements. A host's array, list or number is uploaded; a copy on the device stays there."""
    if subok:
        raise NotImplementedError
    if not isinstance(obj, ndarray) and hasattr(obj, "__cuda_array_interface__"):
        obj = _of_another_library(obj.__cuda_array_interface__, obj)
    if isinstance(obj, ndarray):
        made = astype(obj, obj.dtype if dtype is None else dtype, order or "K", copy=copy)
    elif isinstance(obj, (list, tuple)) and any(isinstance(each, ndarray) for each in _leaves(obj)):
        made = _joined(obj, dtype)
    else:
        made = _uploaded(obj, dtype, one_order(order, "K"), blocking)
    if made.ndim < ndmin:
        made = on_device(made.elements.reshape((1,) * (ndmin - made.ndim) + made.shape), made)
    return made


def asarray(
    a: Any, dtype: Any = None, order: str | None = None, *, copy: Any = None, blocking: bool = False
) -> ndarray:
    """The array itself if it lies on the device as asked for; else like `array`."""
    return array(a, dtype, copy, order, blocking=blocking)


asanyarray = asarray


def _uploaded(obj: Any, dtype: Any, order: str, blocking: bool) -> ndarray:
    values = np.array(obj, dtype=dtype, copy=None)
    values = values.astype(values.dtype.newbyteorder("="), copy=False)
    made = on_device(np.empty(values.shape, device_dtype(values.dtype), "F" if _keeps_f(obj, order) else "C"))
    if not made.ndim:  # one number travels with a launch
        launches.elementwise("cupy_fill", (), stores=[made], work=lambda: np.copyto(made.elements, values))
    elif made.size:
        host.device().upload(made.elements, values, streams.number(), wait=False)
    if blocking:
        host.device().synchronize(streams.number())
    return made


def _of_another_library(interface: dict, owner: Any) -> ndarray:
    """The array that another library has on the device, without a copy."""
    dtype, shape = np.dtype(interface["typestr"]), interface["shape"]
    if interface.get("mask") is not None:
        raise ValueError("mask is currently not supported.")  # nor by CuPy
    if 0 in shape:  # which lies nowhere
        return on_device(np.empty(shape, device_dtype(dtype)))
    address = interface["data"][0]
    piece = host.device().memory.at(address)
    if piece is None:
        raise ValueError(f"no memory of the simulated GPU has the address {address:#x}: is the array's owner gone?")
    memory = Memory(piece.address, piece.storage.nbytes, piece.storage, owner=owner)
    return ndarray(shape, dtype, MemoryPointer(memory, address - piece.address), interface.get("strides"))


def _keeps_f(obj: Any, order: str) -> bool:
    return order == "F" or order in "KA" and isinstance(obj, np.ndarray) and obj.flags.fnc


def _leaves(nested: Any) -> Iterator:
    for each in nested:
        yield from _leaves(each) if isinstance(each, (list, tuple)) else (each,)


def _joined(nested: Any, dtype: Any) -> ndarray:
    """One array of the device from a nested list of such arrays."""
    arrays = [_joined(each, None) if isinstance(each, (list, tuple)) else each for each in nested]
    arrays = [
        each if isinstance(each, ndarray) else np.asarray(nested) for each in arrays
    ]  # NumPy says what is wrong with a mixed list
    made = stack(arrays)
    return made if dtype is None else astype(made, dtype, copy=None)


def astype(
    x: ndarray, dtype: Any, order: Any = "K", casting: Any = None, subok: Any = None, copy: bool | None = True
) -> ndarray:
    """The elements in another type. copy: True always copies, None where needed, False raises where needed."""
    if not isinstance(x, ndarray):
        raise TypeError(f"Input should be a CuPy array. It is a {type(x)} instead.")
    for name, given in (("casting", casting), ("subok", subok)):
        if given is not None:
            raise TypeError(f"{name} is not supported yet")
    dtype, order = np.dtype(dtype), one_order(order, "K")
    flags = x.elements.flags
    fits = {"K": True, "A": flags.forc, "C": flags.c_contiguous, "F": flags.f_contiguous}[order]
    if not copy and fits and dtype == x.dtype:
        return x
    if copy is False:
        raise ValueError("Unable to avoid copy while creating an array as requested.")
    made = on_device(np.empty_like(x.elements, device_dtype(dtype), order))
    copy_elements(x, made)
    return made


def copy(a: ndarray, order: str | None = "K") -> ndarray:
    """A copy on the device."""
    return a.copy(order=order)


def ascontiguousarray(a: ndarray, dtype: Any = None) -> ndarray:
    """The array in C order, with at least one axis; itself if it is so already."""
    require("a", a)
    made = astype(a, a.dtype if dtype is None else dtype, "C", copy=None)
    return made if made.ndim else made.reshape(1)


def asfortranarray(a: ndarray, dtype: Any = None) -> ndarray:
    """The array in Fortran's order, with at least one axis; itself if it is so already."""
    require("a", a)
    made = astype(a, a.dtype if dtype is None else dtype, "F", copy=None)
    return made if made.ndim else made.reshape(1)
