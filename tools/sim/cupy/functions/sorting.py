"""Sorting: a library's work (Thrust, CUB), on the record by name."""

from typing import Any

import numpy as np

from tools.sim.cupy.arrays.ndarray import ndarray
from tools.sim.cupy.arrays.shapes import axes_of
from tools.sim.cupy.dispatch.calls import call


def sort(a: Any, axis: Any = -1, kind: Any = None) -> Any:
    """A sorted copy."""
    made = a.flatten() if axis is None else a.copy()
    made.sort(-1 if axis is None else axis, kind=kind)
    return made


def argsort(a: Any, axis: Any = -1, kind: Any = None) -> Any:
    """The places of the elements in sorted order."""
    return a.argsort(axis, kind=kind)


def places(a: ndarray, axis: Any = -1, kind: Any = None) -> ndarray:
    """The method argsort of arrays."""
    _check_kind(kind)
    if axis is None:
        a, axis = a.ravel(), -1
    axes_of(axis, max(a.ndim, 1))
    return call("argsort", a, axis=axis, kind="stable")


def sort_in_place(a: ndarray, axis: Any = -1, kind: Any = None) -> None:
    """The method sort of arrays."""
    _check_kind(kind)
    if a.ndim == 0:
        raise np.exceptions.AxisError("Sorting arrays with the rank of zero is not supported")
    if not a.elements.flags.c_contiguous:
        raise NotImplementedError("Sorting non-contiguous array is not supported.")
    (axis,) = axes_of(axis, a.ndim)
    call("sort", a, function=lambda elements: elements.sort(axis, kind="stable"))


def _check_kind(kind: Any) -> None:
    if kind not in (None, "stable"):
        raise ValueError("kind can only be None or 'stable'")
