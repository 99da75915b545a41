"""Between the host and the device: the only ways across, each counted."""

from typing import Any

import numpy as np

from tools.sim import host
from tools.sim.cupy.arrays.ndarray import ndarray
from tools.sim.cupy.device import streams
from tools.sim.cupy.functions.conversion import array, astype


def get(
    a: ndarray, stream: Any = None, order: Any = "C", out: np.ndarray | None = None, blocking: bool = True
) -> np.ndarray:
    """A copy on the host, which waits for it, and so for all work before it, unless told not to."""
    if out is None:
        order = ("F" if a.elements.flags.f_contiguous else "C") if order.upper() == "A" else order.upper()
        if order not in ("C", "F"):
            raise ValueError(f"unsupported order: {order}")
        out = np.empty(a.shape, a.dtype, order)
    elif not isinstance(out, np.ndarray):
        raise TypeError("Only numpy.ndarray can be obtained fromcupy.ndarray")
    elif a.dtype != out.dtype:
        raise TypeError(f"{out.dtype} array cannot be obtained from {a.dtype} array")
    elif a.shape != out.shape:
        raise ValueError(f"Shape mismatch. Expected shape: {a.shape}, actual shape: {out.shape}")
    elif not out.flags.forc:
        raise RuntimeError("`out` cannot be specified when copying to non-contiguous ndarray")
    if a.size:
        source = astype(a, a.dtype, "C" if out.flags.c_contiguous else "F", copy=None)  # in one piece
        host.device().download(out, source.elements, streams.number(stream), wait=blocking)
    return out


def set(a: ndarray, arr: np.ndarray, stream: Any = None) -> None:
    """Fill the array with one of the host that has its type and shape."""
    if not isinstance(arr, np.ndarray):
        raise TypeError("Only numpy.ndarray can be set to cupy.ndarray")
    if a.dtype != arr.dtype:
        raise TypeError(f"{arr.dtype} array cannot be set to {a.dtype} array")
    if a.shape != arr.shape:
        raise ValueError(f"Shape mismatch. Old shape: {a.shape}, new shape: {arr.shape}")
    if not a.elements.flags.forc:
        raise RuntimeError("Cannot set to non-contiguous array")
    host.device().upload(a.elements, arr, streams.number(stream), wait=False)


def asnumpy(
    a: Any, stream: Any = None, order: Any = "C", out: np.ndarray | None = None, *, blocking: bool = True
) -> np.ndarray:
    """An array of the host, whatever it was."""
    if isinstance(a, ndarray) or hasattr(a, "__cuda_array_interface__"):
        return get(array(a, copy=None), stream, order, out, blocking)
    a = np.asarray(a, order=order)
    if out is None:
        return a
    out[...] = a
    return out
