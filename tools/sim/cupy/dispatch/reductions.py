"""Sums, extremes, means and running sums: results stay on the device, a single one as an array without axes."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tools.sim.counters import Counts
from tools.sim.cupy.arrays import launches
from tools.sim.cupy.arrays.arguments import require
from tools.sim.cupy.arrays.casts import convert, device_dtype, quietly
from tools.sim.cupy.arrays.ndarray import fresh, ndarray
from tools.sim.cupy.arrays.shapes import axes_of
from tools.sim.cupy.device import streams
from tools.sim.cupy.dispatch.signatures import binder
from tools.sim.floats import WIDE, converts

PARAMETERS = {
    "axis=None, dtype=None, out=None, keepdims=False": "sum product prod mean argmax argmin nansum nanprod nanmean "
    "nanargmax nanargmin",
    "axis=None, out=None, keepdims=False": "max amax min amin ptp all alltrue any sometrue nanmax nanmin",
    "axis=None, dtype=None, out=None, ddof=0, keepdims=False": "var std nanvar nanstd",
    "axis=None, dtype=None, out=None": "cumsum cumprod",
    "axis=None": "count_nonzero",
}
SIGNATURES = {name: f"{name}(a, {names})" for names, of in PARAMETERS.items() for name in of.split()}
# The others CuPy leaves to the method of their argument, also where it is an array of the host.
OF_ARRAYS = {
    *"all alltrue any sometrue cumsum cumprod count_nonzero".split(),
    *(name for name in SIGNATURES if name.startswith("nan")),
}
METHODS = "sum prod mean max min ptp all any argmax argmin var std cumsum cumprod"
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
    if streams.is_capturing():
        out = ndarray(values.shape, values.dtype) if out is None else out
        again = partial(reduce, name, a, axis, dtype, out, **more)
        if streams.captured(f"cupy_{name}", [a.elements, out.elements], again):
            return out
    return _finished(f"cupy_{name}", a, values, out)


def _finished(kernel: str, a: ndarray, values: np.ndarray, out: ndarray | None) -> ndarray:
    """The result, in `out` if there is one, of a kernel that reads all of `a`."""
    work = None
    if out is None:
        out = fresh(values)
    else:
        require("out", out)
        if out.ndim != values.ndim:
            raise ValueError("output parameter for reduction operation has the wrong number of dimensions")
        if out.shape != values.shape:
            raise ValueError("Out shape is mismatched")
        work = partial(_store, out, values)
    launches.launch(kernel, (), [a], [out], work=work, arithmetic=_arithmetic(a, values, out))
    return out


def _store(out: ndarray, values: np.ndarray) -> None:
    np.copyto(out.elements, convert(values, out.dtype))


def _arithmetic(a: ndarray, values: np.ndarray, made: ndarray) -> Counts:
    """As many operations as elements disappear; of a running sum, as it has elements."""
    steps = a.size if values.size == a.size else a.size - values.size
    inside = values.dtype if values.dtype.kind in "fc" else a.dtype
    return Counts(
        float64=steps * (inside in WIDE),
        conversions=a.size * converts(a.dtype, inside) + made.size * converts(values.dtype, made.dtype),
    )


# The functions and the methods of arrays ---------------------------------------------------------


def _method(name: str) -> Callable:
    signature = SIGNATURES[name].replace("dtype=None, out=None", "out=None, dtype=None", name.startswith("arg"))
    bind = binder(signature.replace("(a,", "(self,"))

    def method(self: ndarray, *args: Any, **named: Any) -> ndarray:
        given = bind(self, *args, **named)
        return reduce(name, given.pop("self"), **given)

    return method


def _function(name: str) -> Callable:
    bind, plain = binder(SIGNATURES[name]), ALIASES.get(name, name)

    def function(*args: Any, **named: Any) -> Any:
        given = bind(*args, **named)
        if name not in OF_ARRAYS:
            return getattr(given.pop("a"), plain)(**given)
        if plain in ("all", "any") and not isinstance(given["a"], ndarray):
            raise TypeError(f"'a' must be a cupy.ndarray object, not {type(given['a'])}.")
        return reduce(plain, **given)

    return function


methods = {name: _method(name) for name in METHODS.split()}
functions = {name: _function(name) for name in SIGNATURES}
