"""Functions that choose elements: by a condition, by bounds, by their place."""

from functools import partial
from typing import Any

import numpy as np

from tools.sim.cupy.arrays import launches
from tools.sim.cupy.arrays.arguments import require, require_out
from tools.sim.cupy.arrays.ndarray import fresh, ndarray, on_device
from tools.sim.cupy.arrays.shapes import axes_of
from tools.sim.cupy.device import streams
from tools.sim.cupy.dispatch.calls import call
from tools.sim.cupy.dispatch.ufuncs import choose_elements, clip_elements
from tools.sim.cupy.functions.conversion import array
from tools.sim.cupy.functions.indexing import pick


def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """Elements of `x` where the condition holds, else of `y`; with the condition alone: its nonzero places."""
    if (x is None) != (y is None):
        raise ValueError("Must provide both 'x' and 'y' or neither.")
    if x is None:
        return nonzero(condition)
    return choose_elements(condition.astype("?", copy=False), x, y)


def clip(a: Any, a_min: Any = None, a_max: Any = None, out: Any = None) -> ndarray:
    """Each element, or the bound that it passes. None: no bound."""
    if not isinstance(a, ndarray):
        return a.clip(a_min, a_max, out=out)
    low, high = _limits(a.dtype)
    return clip_elements(a, low if a_min is None else a_min, high if a_max is None else a_max, out=out)


def _limits(dtype: np.dtype) -> tuple:
    """The least and the largest number of a type."""
    if dtype.kind == "f":
        return dtype.type("-inf"), dtype.type("inf")
    return (np.iinfo(dtype).min, np.iinfo(dtype).max) if dtype.kind in "iu" else (None, None)


def around(a: Any, decimals: int = 0, out: Any = None) -> ndarray:
    """Rounded to so many decimals, halves to even."""
    a = a if isinstance(a, ndarray) else array(a, copy=None)
    require_out(out)
    with np.errstate(all="ignore"):
        values = np.around(a.elements.astype(np.float16) if a.dtype == bool else a.elements, decimals)
    made = fresh(np.array(values)) if out is None else out  # NumPy may give the argument itself
    launches.elementwise("cupy_round", a.shape, [a], [made], work=lambda: np.copyto(made.elements, values))
    return made


def take(a: Any, indices: Any, axis: Any = None, out: Any = None) -> ndarray:
    """The elements at these places along an axis, or of the flattened array. Places beyond the end wrap around."""
    if not isinstance(a, ndarray):
        return a.take(indices, axis, out)
    if axis is None:
        a, axis = a.reshape(-1), 0
    (axis,) = axes_of(axis, max(a.ndim, 1))
    one: bool = np.isscalar(indices)
    if one and a.size:  # the number travels with the launch
        there = a[(slice(None),) * axis + (int(indices) % a.shape[axis],)]
        _check_taken(a, axis, (), out)
        made = on_device(there.elements.copy()) if out is None else out
        work = partial(np.copyto, made.elements, there.elements.copy())
        launches.elementwise("cupy_take_scalar", made.shape, [there], [made], work)
        return made
    places = indices if isinstance(indices, ndarray) else array(indices, dtype=int)
    _check_taken(a, axis, places.shape, out)
    return pick(a, (slice(None),) * axis + (places,), out)


def _check_taken(a: ndarray, axis: int, shape: tuple[int, ...], out: Any) -> None:
    """Refuse an `out` that does not fit elements taken at places of this shape."""
    require_out(out)
    if out is not None and out.dtype != a.dtype:
        raise TypeError("Output dtype mismatch")
    if out is not None and out.shape != a.shape[:axis] + shape + a.shape[axis + 1 :]:
        raise ValueError("Output shape mismatch")


def nonzero(a: Any) -> tuple[ndarray, ...]:
    """The places of all elements that are not 0, an array for each axis. The host waits for their number."""
    places = argwhere(a)
    if a.ndim == 0:
        raise ValueError("Calling nonzero on 0d arrays is not allowed. Use cp.atleast_1d(scalar).nonzero() instead.")
    return tuple(places[:, axis] for axis in range(a.ndim))


def argwhere(a: Any) -> ndarray:
    """The places of all elements that are not 0, a row for each."""
    _require(a)
    places = on_device(np.argwhere(a.elements))
    if a.size:
        streams.fetch(4)
        launches.elementwise("cupy_nonzero_kernel", a.shape, [a])
    return places


def flatnonzero(a: Any) -> ndarray:
    """The places in the flattened array."""
    _require(a)
    return a.ravel().nonzero()[0]


def _require(a: Any) -> None:
    if not isinstance(a, ndarray):
        raise TypeError(f"'a' must be a cupy.ndarray object, not {type(a)}.")


def repeat(a: Any, repeats: Any, axis: Any = None) -> Any:
    """Each element so often: a number for all, or one for each."""
    if not isinstance(a, ndarray):
        return a.repeat(repeats, axis)
    if isinstance(repeats, np.ndarray):
        raise TypeError("'repeats' does not accept numpy.ndarray; convert with cupy.array() first")
    if isinstance(repeats, ndarray):
        streams.fetch(repeats.itemsize)  # how long the result is
    elif isinstance(repeats, (int, np.integer)) and repeats < 0:
        raise ValueError(f"'repeats' should not be negative: {repeats}")
    return call("repeat", a, repeats, axis)


def bincount(x: ndarray, weights: Any = None, minlength: Any = None) -> ndarray:
    """How often each whole number occurs. The host fetches the least and the largest."""
    require("x", x)
    if x.ndim != 1:
        raise ValueError(f"object {'too deep' if x.ndim else 'of too small depth'} for desired array")
    if x.dtype.kind == "f":
        raise TypeError("x must be int array")
    streams.fetch(1)
    if (x.elements < 0).any():
        raise ValueError("The first argument of bincount must be non-negative")
    if weights is not None and x.shape != weights.shape:
        raise ValueError("The weights and list don't have the same length.")
    streams.fetch(x.itemsize)
    return call("bincount", x, weights, minlength or 0)


def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> ndarray:
    """The place that each of `v` would have among the sorted elements of `a`."""
    if not isinstance(a, ndarray):
        raise NotImplementedError("Only int or ndarray are supported for a")
    if not isinstance(v, (ndarray, int, float, complex)):
        raise NotImplementedError("Only python scalars or ndarrays are supported for v")
    return call("searchsorted", a, v, side, sorter)


def compress(condition: Any, a: Any, axis: Any = None, out: Any = None) -> ndarray:
    """The elements along an axis for which the condition holds."""
    if not isinstance(a, ndarray):
        return a.compress(condition, axis, out)
    if not isinstance(condition, ndarray):
        condition = array(condition, dtype=int)
        if condition.ndim != 1:
            raise ValueError("condition must be a 1-d array")
    return take(a, nonzero(condition)[0], axis, out)


def extract(condition: Any, a: Any) -> ndarray:
    """The elements of the flattened array for which the condition holds."""
    if not isinstance(a, ndarray):
        raise TypeError("extract requires input array to be cupy.ndarray")
    condition = condition if isinstance(condition, ndarray) else array(condition)
    return take(a.ravel(), condition.ravel().nonzero()[0])


def put(a: Any, ind: Any, v: Any, mode: str = "wrap") -> None:
    """Replace the elements at these places of the flattened array."""
    if mode not in ("raise", "wrap", "clip"):
        raise ValueError("clipmode not understood")
    ind = ind if isinstance(ind, ndarray) else array(ind)
    v = v if isinstance(v, ndarray) else array(v, dtype=a.dtype)
    if mode == "raise":
        streams.fetch(1)
        if ((ind.elements < -a.size) | (ind.elements >= a.size)).any():
            raise IndexError("invalid entry in indices array")
    places = np.clip(ind.elements, 0, a.size - 1) if mode == "clip" else ind.elements % a.size
    stored = launches.Scattered(a, places.reshape(-1), np.arange(places.size))
    work = partial(np.put, a.elements, places, v.elements)
    launches.launch(f"cupy_put_{mode}", launches.blocks(ind.size), [ind], [stored], work=work)
