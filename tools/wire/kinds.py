"""The kinds of array that cross: NumPy's, PyTorch's and CuPy's, and where the memory behind one lies."""

import sys
from types import ModuleType
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds

from tools.wire.dtypes import dtype_name

CUPY = ("cupy", "tools.sim.cupy")  # the real one, and its stand-in


def is_tensor(value: Any) -> bool:
    """True for a plain torch tensor with strides. Never imports torch: without it nothing is a tensor."""
    torch = sys.modules.get("torch")
    return torch is not None and type(value) is torch.Tensor and value.layout is torch.strided


def cupy_of(value: Any) -> ModuleType | None:
    """The module whose array this is, CuPy or its stand-in; None for any other value."""
    modules = (sys.modules.get(name) for name in CUPY)
    return next((module for module in modules if type(value) is getattr(module, "ndarray", None)), None)


def is_array(value: Any) -> bool:
    """True for what crosses as an array: a NumPy or CuPy array of numbers, a tensor in CPU or CUDA memory."""
    if is_tensor(value):
        return value.device.type in ("cpu", "cuda")
    return (type(value) is np.ndarray or cupy_of(value) is not None) and dtype_name(value.dtype) is not None


def extent(array: Any) -> tuple[str, int, int]:
    """Whose memory is behind an array ("cpu", "cuda" for PyTorch's, "cupy"), its first address and its end.

    It is all of what the array is a view of.
    """
    if is_tensor(array):
        storage = array.untyped_storage()
        return array.device.type, storage.data_ptr(), storage.data_ptr() + storage.nbytes()
    if cupy_of(array):
        bounds = [_cupy_bounds(each) for each in (array, array.base) if each is not None]
        return "cupy", min(low for low, _ in bounds), max(high for _, high in bounds)
    low, high = byte_bounds(array)
    base = array.base
    while base is not None:  # also past the object that as_strided puts between a view and its owner
        if isinstance(base, np.ndarray):
            base_low, base_high = byte_bounds(base)
            low, high = min(low, base_low), max(high, base_high)
        base = getattr(base, "base", None)
    return "cpu", low, high


def address(array: Any) -> int:
    """Of its first element."""
    if is_tensor(array):  # data_ptr() of an empty tensor is 0, whatever its offset
        return array.untyped_storage().data_ptr() + array.storage_offset() * array.itemsize
    return array.data.ptr if cupy_of(array) else array.__array_interface__["data"][0]


def reach(shape: Any, strides: Any, itemsize: int) -> tuple[int, int]:
    """The first byte of an array and its end, counted from its first element. All sizes are in bytes."""
    steps = [stride * (length - 1) for stride, length in zip(strides, shape)]
    return sum(step for step in steps if step < 0), sum(step for step in steps if step > 0) + itemsize


def _cupy_bounds(array: Any) -> tuple[int, int]:
    low, high = reach(array.shape, array.strides, array.itemsize) if array.size else (0, 0)
    return array.data.ptr + low, array.data.ptr + high
