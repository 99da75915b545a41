"""The dispatcher: NumPy's function on the elements, the work on the record, the result on the device.

A result that is a view costs nothing; one with memory of its own is on the record as a library operation: how many
kernels CuPy launches for it is not modelled.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from tools.sim.cupy.arrays import launches
from tools.sim.cupy.arrays.casts import quietly
from tools.sim.cupy.arrays.ndarray import ndarray, on_device
from tools.sim.cupy.device import streams

# What the host must fetch before it knows how long the result is, or whether the arguments are right.
WAITING = frozenset(
    """
    delete digitize histogram histogram2d histogramdd intersect1d setdiff1d setxor1d trim_zeros union1d unique
    unique_all unique_counts unique_inverse unique_values unravel_index
""".split()
)
OTHER_NAMES: dict[str, Callable] = {"in1d": np.isin, "msort": lambda a: np.sort(a, axis=0)}  # which NumPy has no more


def call(name: str, *args: Any, function: Callable | None = None, **named: Any) -> Any:
    """NumPy's function of this name, or another, with arrays of the device for arguments and results."""
    sources: list[ndarray] = []
    plain = [_plain(each, sources) for each in args]
    plain_named = {key: _plain(each, sources) for key, each in named.items()}
    with quietly():
        result = (function or numpy_function(name))(*plain, **plain_named)
    if name in WAITING:
        streams.fetch(4)
    fresh: list[ndarray] = []
    result = _wrapped(result, sources, fresh)
    if fresh or result is None:
        launches.library(f"cupy.{name}", [*sources, *fresh])
    return result


def numpy_function(name: str) -> Callable:
    """The function of NumPy that has this name, or does what one that is gone did."""
    return OTHER_NAMES[name] if name in OTHER_NAMES else getattr(np, name)


def _plain(value: Any, sources: list[ndarray]) -> Any:
    """An argument for NumPy. TypeError for an array of the host."""
    if isinstance(value, ndarray):
        sources.append(value)
        return value.elements
    if isinstance(value, np.ndarray):
        raise TypeError(f"Unsupported type {type(value)}")
    if type(value) in (list, tuple):
        return type(value)(_plain(each, sources) for each in value)
    return value


def _wrapped(result: Any, sources: list[ndarray], fresh: list[ndarray]) -> Any:
    """NumPy's result on the device; `fresh` takes arrays that have memory of their own."""
    for source in sources:
        if result is source.elements:
            return source
    if isinstance(result, (np.ndarray, np.generic)):
        made = on_device(result, *sources)
        if made.base is None:
            if not made.elements.flags.c_contiguous:
                made = on_device(made.elements.copy())
            fresh.append(made)
        return made
    if isinstance(result, tuple) and hasattr(result, "_fields"):
        return type(result)(*(_wrapped(each, sources, fresh) for each in result))
    if isinstance(result, (list, tuple)):
        return type(result)(_wrapped(each, sources, fresh) for each in result)
    return on_device(np.asarray(result)) if isinstance(result, bool) else result
