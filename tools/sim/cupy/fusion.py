"""cupy.fuse: a function of arrays as one kernel.

It runs with proxies for the arrays, which allow what fusing allows.
"""

import functools
from collections.abc import Callable
from math import prod

import numpy as np

from tools.sim.counters import Counts
from tools.sim.cupy import launches
from tools.sim.cupy.arrays import ndarray
from tools.sim.cupy.shapes import broadcast_shapes

ACCEPTED = (ndarray, np.ndarray, np.generic, int, float, complex, bool, type(None))
OPERATORS = {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "truediv": "true_divide",
    "floordiv": "floor_divide",
    "mod": "remainder",
    "pow": "power",
    "lshift": "left_shift",
    "rshift": "right_shift",
    "and": "bitwise_and",
    "or": "bitwise_or",
    "xor": "bitwise_xor",
}
COMPARISONS = {
    "lt": "less",
    "le": "less_equal",
    "eq": "equal",
    "ne": "not_equal",
    "gt": "greater",
    "ge": "greater_equal",
}
UNARY = {"neg": "negative", "invert": "invert"}
REDUCTIONS = ("sum", "prod", "max", "min", "all", "any")


class _VariableProxy:
    """What the function sees of an array or a number. held: that. trace: of the call that it belongs to."""

    def __init__(self, held, trace: "Trace"):
        self.held, self.trace = held, trace

    dtype = property(lambda self: self.held.dtype if hasattr(self.held, "dtype") else np.dtype(type(self.held)))
    ndim = property(lambda self: getattr(self.held, "ndim", 0))

    @property
    def shape(self):
        raise NotImplementedError("`shape` is not supported, currently.")

    def __bool__(self):
        raise TypeError("Cannot convert to Python scalar in cupy.fuse")

    __int__ = __float__ = __complex__ = __bool__
    __hash__ = None

    def copy(self):
        return self.astype(self.dtype)

    def astype(self, dtype, order=None, casting=None, subok=None, copy=True):
        from tools.sim.cupy.creation import asarray

        return _ArrayProxy(asarray(self.trace.read(self)).astype(dtype), self.trace)


class _ScalarProxy(_VariableProxy):
    """A number."""


class _ArrayProxy(_VariableProxy):
    """An array."""

    def __getitem__(self, index):
        raise NotImplementedError("The simulated cupy.fuse knows no indexing. Index before or after the function.")

    def __setitem__(self, index, value):
        if index is not Ellipsis and index != slice(None):
            raise ValueError("The fusion supports `[...]` or `[:]`.")
        from tools.sim.cupy.ufuncs import copy_elements

        copy_elements(value, out=self)


class Trace:
    """One call of a fused function. loaded, stored: arrays of the caller that it read, and wrote."""

    def __init__(self):
        self.loaded: list[ndarray] = []
        self.stored: list[ndarray] = []

    def read(self, value):
        """The array behind a proxy, read by the kernel."""
        if isinstance(value, _VariableProxy):
            _note(self.loaded, value.held)
            return value.held
        return value


def _note(arrays: list, array) -> None:
    if isinstance(array, ndarray) and all(array is not each for each in arrays):
        arrays.append(array)


def concerns(args: tuple) -> bool:
    """Is one of these arguments part of a function that is being fused?"""
    return any(isinstance(each, _VariableProxy) for each in args)


def traced_ufunc(function: Callable, args: tuple, out, dtype, casting):
    """An elementwise function inside a fused one."""
    trace = next(each for each in (*args, out) if isinstance(each, _VariableProxy)).trace
    inputs, outs = args[: function.nin], args[function.nin :] or (() if out is None else (out,))
    for each in outs:
        _note(trace.stored, each.held)
    options = {} if casting is None else {"casting": casting}
    result = function(*map(trace.read, inputs), *(each.held for each in outs), dtype=dtype, **options)
    if outs:
        return outs[0]
    if isinstance(result, tuple):
        return tuple(_ArrayProxy(each, trace) for each in result)
    return _ArrayProxy(result, trace)


def traced_reduction(name: str, a: _ArrayProxy, **named):
    """A reduction inside a fused function."""
    if name not in REDUCTIONS:
        raise NotImplementedError(f"cupy.{name} cannot be fused; {', '.join(REDUCTIONS)} can.")
    from tools.sim.cupy.reductions import reduce

    return _ArrayProxy(reduce(name, a.trace.read(a), **named), a.trace)


class Fusion:
    """A fused function. func: as it was written. name: of its kernel."""

    def __init__(self, func: Callable, name: str | None = None):
        self.func, self.name = func, name or func.__name__

    def __repr__(self):
        return f"<Fusion {self.name!r}>"

    def __call__(self, *args):
        if concerns(args) or not any(isinstance(each, ndarray) for each in args):
            return self.func(*args)
        if not all(isinstance(each, ACCEPTED) for each in args):
            kinds = ", ".join(repr(type(each)) for each in args)
            raise TypeError(f"Invalid argument type for {self.name!r}: ({kinds})")
        if any(isinstance(each, np.ndarray) for each in args):
            raise AssertionError("a fused function takes no host array beside device arrays; use cupy.asarray()")
        trace, made, arrays = Trace(), [], [each for each in args if isinstance(each, ndarray)]
        arithmetic = Counts()
        shape = _common_shape(arrays)

        def run():
            with launches.one_kernel() as inside:
                made.append(_unwrapped(self.func(*(_proxy(each, trace) for each in args))))
            arithmetic.include(inside)
            if not self.name.isidentifier():
                from tools.sim.cupy.kernels.refusal import CompileException  # here, for nobody else needs kernels

                raise CompileException(
                    "the kernel gets the name of its function, and a lambda has none.\n"
                    "Write the function with def, or give fuse a kernel_name."
                )
            for each in made[0] if isinstance(made[0], tuple) else made:
                _note(trace.stored, each)
            loaded = [each for each in trace.loaded if any(each is argument for argument in args)]
            if shape is not None:
                loaded = [launches.stretched(each, shape) for each in loaded]
            return [("bytes_loaded", loaded), ("bytes_stored", trace.stored)]

        launches.execute(
            self.name, () if shape is None else (-(-prod(shape) // launches.BLOCK),), arrays, run, arithmetic=arithmetic
        )
        return made[0]

    def clear_cache(self) -> None:
        """Nothing is kept."""


def _common_shape(arrays: list[ndarray]) -> tuple[int, ...] | None:
    """The shape that the kernel has a thread for each element of; None where the arrays have none in common."""
    try:
        return broadcast_shapes(*(each.shape for each in arrays))
    except ValueError:
        return None


def _proxy(argument, trace: Trace):
    if argument is None:
        return None
    return (_ArrayProxy if isinstance(argument, ndarray) else _ScalarProxy)(argument, trace)


def _unwrapped(result):
    if isinstance(result, _VariableProxy):
        return result.held
    return tuple(map(_unwrapped, result)) if isinstance(result, (tuple, list)) else result


def fuse(*args, **kwargs):
    """Decorator: all elementwise work of the function, and at most one reduction, in one launch."""

    def wrap(function: Callable, kernel_name: str | None = None):
        return functools.update_wrapper(Fusion(function, kernel_name), function)

    if len(args) == 1 and not kwargs and callable(args[0]):
        return wrap(args[0])
    return lambda function: wrap(function, *args, **kwargs)


def _operator(name: str, reflected=False):
    def operate(*operands):
        from tools.sim.cupy.ufuncs import ufuncs

        return ufuncs[name](*(operands[::-1] if reflected else operands))

    return operate


def _in_place(name: str):
    def operate(self, other):
        from tools.sim.cupy.ufuncs import ufuncs

        return ufuncs[name](self, other, self)

    return operate


def _reduction(name: str):
    def reduced(self, *args, **named):
        from tools.sim.cupy.reductions import functions

        return functions[name](self, *args, **named)

    return reduced


for _symbol, _name in OPERATORS.items():
    setattr(_VariableProxy, f"__{_symbol}__", _operator(_name))
    setattr(_VariableProxy, f"__r{_symbol}__", _operator(_name, reflected=True))
    setattr(_ArrayProxy, f"__i{_symbol}__", _in_place(_name))
for _symbol, _name in COMPARISONS.items():
    setattr(_VariableProxy, f"__{_symbol}__", _operator(_name))
for _symbol, _name in UNARY.items():
    setattr(_VariableProxy, f"__{_symbol}__", _operator(_name))
for _name in REDUCTIONS:
    setattr(_VariableProxy, _name, _reduction(_name))
