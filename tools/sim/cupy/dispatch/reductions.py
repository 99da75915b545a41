"""Sums, extremes, means and running sums: results stay on the device, a single one as an array without axes."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tools.sim.counters import Counts
from tools.sim.cupy.arrays import launches
from tools.sim.cupy.arrays.arguments import require
from tools.sim.cupy.arrays.casts import convert, device_dtype, quietly
from tools.sim.cupy.arrays.ndarray import ndarray, on_device
from tools.sim.cupy.arrays.shapes import axes_of
from tools.sim.cupy.dispatch.signatures import table
from tools.sim.floats import WIDE, converts

METHODS = """
    sum(self, axis=None, dtype=None, out=None, keepdims=False)
    prod(self, axis=None, dtype=None, out=None, keepdims=False)
    mean(self, axis=None, dtype=None, out=None, keepdims=False)
    max(self, axis=None, out=None, keepdims=False)
    min(self, axis=None, out=None, keepdims=False)
    ptp(self, axis=None, out=None, keepdims=False)
    all(self, axis=None, out=None, keepdims=False)
    any(self, axis=None, out=None, keepdims=False)
    argmax(self, axis=None, out=None, dtype=None, keepdims=False)
    argmin(self, axis=None, out=None, dtype=None, keepdims=False)
    var(self, axis=None, dtype=None, out=None, ddof=0, keepdims=False)
    std(self, axis=None, dtype=None, out=None, ddof=0, keepdims=False)
    cumsum(self, axis=None, dtype=None, out=None)
    cumprod(self, axis=None, dtype=None, out=None)
"""
FORWARDED = """
    sum(a, axis=None, dtype=None, out=None, keepdims=False)
    product(a, axis=None, dtype=None, out=None, keepdims=False)
    prod(a, axis=None, dtype=None, out=None, keepdims=False)
    mean(a, axis=None, dtype=None, out=None, keepdims=False)
    max(a, axis=None, out=None, keepdims=False)
    amax(a, axis=None, out=None, keepdims=False)
    min(a, axis=None, out=None, keepdims=False)
    amin(a, axis=None, out=None, keepdims=False)
    ptp(a, axis=None, out=None, keepdims=False)
    argmax(a, axis=None, dtype=None, out=None, keepdims=False)
    argmin(a, axis=None, dtype=None, out=None, keepdims=False)
    var(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False)
    std(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False)
"""
OF_ARRAYS = """
    all(a, axis=None, out=None, keepdims=False)
    alltrue(a, axis=None, out=None, keepdims=False)
    any(a, axis=None, out=None, keepdims=False)
    sometrue(a, axis=None, out=None, keepdims=False)
    cumsum(a, axis=None, dtype=None, out=None)
    cumprod(a, axis=None, dtype=None, out=None)
    nansum(a, axis=None, dtype=None, out=None, keepdims=False)
    nanprod(a, axis=None, dtype=None, out=None, keepdims=False)
    nanmean(a, axis=None, dtype=None, out=None, keepdims=False)
    nanmax(a, axis=None, out=None, keepdims=False)
    nanmin(a, axis=None, out=None, keepdims=False)
    nanargmax(a, axis=None, dtype=None, out=None, keepdims=False)
    nanargmin(a, axis=None, dtype=None, out=None, keepdims=False)
    nanvar(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False)
    nanstd(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False)
    count_nonzero(a, axis=None)
"""
ALIASES = {"amax": "max", "amin": "min", "product": "prod", "alltrue": "all", "sometrue": "any"}
NO_IDENTITY = ("max", "min", "argmax", "argmin", "ptp")


def reduce(
    name: str, a: ndarray, axis: Any = None, dtype: Any = None, out: ndarray | None = None, **more: Any
) -> ndarray:
    """NumPy's function of this name, in one launch: a reduction, or a sum or product that runs along an axis."""
    require("a", a)
    axes = axes_of(axis, a.ndim)
    bare, kept = name.removeprefix("nan"), [a.shape[each] for each in range(a.ndim) if each not in axes]
    if bare in NO_IDENTITY and a.size == 0 and 0 not in kept:
        kernel = f"CUPY_CUB_{name.upper()}" if axis is None and name != "ptp" else f"cupy_{name}"
        raise ValueError(f"zero-size array to reduction operation {kernel} which has no identity")
    places, running = bare.startswith("arg"), bare.startswith("cum")
    if axis is not None:
        axis = axes[0] if places or running else axes
    if dtype is not None and not places:
        more["dtype"] = device_dtype(dtype)
    with quietly():
        values = np.asarray(getattr(np, name)(a.elements, axis=axis, **more))
    if places and dtype is not None:
        values = values.astype(dtype)
    if name in ("var", "std") and a.size and a.size // values.size <= more["ddof"]:
        values = np.full_like(values, np.nan)
    return _finished(f"cupy_{name}", a, values, out)


def _finished(kernel: str, a: ndarray, values: np.ndarray, out: ndarray | None) -> ndarray:
    """The result, in `out` if there is one, of a kernel that reads all of `a`."""
    if out is None:
        made = on_device(values if values.flags.c_contiguous else values.copy())
        launches.launch(kernel, (), [a], [made], arithmetic=_arithmetic(a, values, made))
        return made
    require("out", out)
    if out.ndim != values.ndim:
        raise ValueError("output parameter for reduction operation has the wrong number of dimensions")
    if out.shape != values.shape:
        raise ValueError("Out shape is mismatched")
    launches.launch(
        kernel,
        (),
        [a],
        [out],
        work=lambda: np.copyto(out.elements, convert(values, out.dtype)),
        arithmetic=_arithmetic(a, values, out),
    )
    return out


def _arithmetic(a: ndarray, values: np.ndarray, made: ndarray) -> Counts:
    """As many operations as elements disappear; of a running sum, as it has elements."""
    steps = a.size if values.size == a.size else a.size - values.size
    inside = values.dtype if values.dtype.kind in "fc" else a.dtype
    return Counts(
        float64=steps * (inside in WIDE),
        conversions=a.size * converts(a.dtype, inside) + made.size * converts(values.dtype, made.dtype),
    )


# The functions and the methods of arrays ---------------------------------------------------------


def _method(name: str, bind: Callable) -> Callable:
    def method(self: Any, *args: Any, **named: Any) -> Any:
        given = bind(self, *args, **named)
        return reduce(name, given.pop("self"), **given)

    return method


def _forwarded(name: str, bind: Callable) -> Callable:
    """CuPy leaves these to the argument's own method, also where it is an array of the host."""

    def function(*args: Any, **named: Any) -> Any:
        given = bind(*args, **named)
        a = given.pop("a")
        return getattr(a, name)(**given)

    return function


def _of_arrays(name: str, bind: Callable) -> Callable:
    def function(*args: Any, **named: Any) -> Any:
        given = bind(*args, **named)
        a = given.pop("a")
        if name in ("all", "any") and not isinstance(a, ndarray):
            raise TypeError(f"'a' must be a cupy.ndarray object, not {type(a)}.")
        return reduce(name, a, **given)

    return function


methods = {name: _method(name, bind) for name, bind in table(METHODS)}
functions = {
    name: make(ALIASES.get(name, name), bind)
    for make, text in ((_forwarded, FORWARDED), (_of_arrays, OF_ARRAYS))
    for name, bind in table(text)
}
