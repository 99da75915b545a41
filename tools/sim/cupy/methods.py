"""Operators and methods of arrays, put on the class here, where all that they need is known."""

from typing import Any

import numpy as np

from tools.sim.cupy.arrays.ndarray import ndarray, on_device
from tools.sim.cupy.dispatch import reductions
from tools.sim.cupy.dispatch.calls import call
from tools.sim.cupy.dispatch.signatures import members
from tools.sim.cupy.dispatch.ufuncs import copy_elements, ufunc, ufuncs
from tools.sim.cupy.functions import conversion, creation, indexing, products, selection, sorting, transfers, views

BINARY = dict(
    pair.split("=")
    for pair in """
    add=add sub=subtract mul=multiply truediv=true_divide floordiv=floor_divide mod=remainder pow=power
    lshift=left_shift rshift=right_shift and=bitwise_and or=bitwise_or xor=bitwise_xor divmod=divmod lt=less
    le=less_equal gt=greater ge=greater_equal
""".split()
)
COMPARISONS = ("lt", "le", "gt", "ge")
UNARY = {"neg": "negative", "abs": "absolute", "invert": "invert"}


# Operators ---------------------------------------------------------------------------------------


def _applied(name: str, one: Any, other: Any) -> Any:
    """An operator's function; for arguments that only NumPy can judge, NumPy's, which asks the array in its turn."""
    both = (one, other)
    if any(getattr(each, "__array_ufunc__", ndarray) is None for each in both):
        return NotImplemented
    if any(
        isinstance(each, np.ndarray) or not isinstance(each, (ndarray, np.generic, bool, int, float, complex))
        for each in both
    ):
        return getattr(np, name)(one, other)
    return (products.matmul if name == "matmul" else ufuncs[name])(one, other)


def _put_operators() -> None:
    for symbol, name in {**BINARY, "matmul": "matmul"}.items():
        setattr(ndarray, f"__{symbol}__", lambda self, other, name=name: _applied(name, self, other))
        if symbol not in COMPARISONS:
            setattr(ndarray, f"__r{symbol}__", lambda self, other, name=name: _applied(name, other, self))
        if symbol not in (*COMPARISONS, "divmod", "matmul"):
            setattr(ndarray, f"__i{symbol}__", lambda self, other, name=name: ufuncs[name](self, other, self))
    for symbol, name in UNARY.items():
        setattr(ndarray, f"__{symbol}__", lambda self, name=name: ufuncs[name](self))


def _pos(self: Any) -> Any:
    return self.copy() if self.dtype == bool else ufuncs["positive"](self)


def _pow(self: Any, other: Any, modulo: Any = None) -> Any:
    """Common powers by numbers of Python have kernels of their own."""
    powers = {(int, 2): "square", (float, 0.5): "sqrt", (float, 2.0): "square", (float, -1.0): "reciprocal"}
    name = powers.get((type(other), other)) if type(other) in (int, float) else None
    if name is None:
        return _applied("power", self, other)
    exact = self.dtype.kind in "fc" or type(other) is int and self.dtype.kind == "i"
    return ufuncs[name](self, dtype=None if exact else np.result_type(self.dtype, other))


def _eq(self: Any, other: Any) -> Any:
    if other is None or type(other).__eq__ is object.__eq__:
        return creation.zeros(self.shape, bool)
    return _applied("equal", self, other)


def _ne(self: Any, other: Any) -> Any:
    if other is None or type(other).__eq__ is object.__eq__ and type(other).__ne__ is object.__ne__:
        return creation.ones(self.shape, bool)
    return _applied("not_equal", self, other)


# Methods -----------------------------------------------------------------------------------------


def _reshape(self: Any, *shape: Any, order: str | None = "C", copy: Any = None) -> Any:
    return views.reshape(self, shape[0] if len(shape) == 1 else shape, order, copy=copy)


def _transpose(self: Any, *axes: Any) -> Any:
    return views.transpose(self, axes[0] if len(axes) == 1 and (axes[0] is None or np.iterable(axes[0])) else axes)


def _astype(
    self: Any, dtype: Any, order: str | None = "K", casting: Any = None, subok: Any = None, copy: bool = True
) -> Any:
    return conversion.astype(self, dtype, order, casting, subok, copy=True if copy else None)


def _copy(self: Any, order: str | None = "C") -> Any:
    return conversion.astype(self, self.dtype, order)


def _fill(self: Any, value: Any) -> None:
    creation.fill(self, value)


def _round(self: Any, decimals: int = 0, out: Any = None) -> Any:
    return selection.around(self, decimals, out)


def _conj(self: Any) -> Any:
    return ufuncs["conjugate"](self) if self.dtype.kind == "c" else self


def _real(self: Any) -> Any:
    return on_device(self.elements.real, self) if self.dtype.kind == "c" else self


def _imag(self: Any) -> Any:
    return on_device(self.elements.imag, self) if self.dtype.kind == "c" else creation.zeros_like(self)


def _set_imag(self: Any, value: Any) -> None:
    if self.dtype.kind != "c":
        raise TypeError("cupy.ndarray does not have imaginary part to set")
    copy_elements(value, _imag(self))


def _matrix_transpose(self: Any) -> Any:
    if self.ndim < 2:
        raise ValueError("matrix transpose with ndim < 2 is undefined")
    return views.swapaxes(self, -1, -2)


def _called(name: str) -> Any:
    return lambda self, *args, **named: call(name, self, *args, **named)


def _partition(self: Any, kth: Any, axis: Any = -1) -> None:
    call("partition", self, function=lambda elements: elements.partition(kth, axis))


METHODS = {
    **reductions.methods,
    **{name: _called(name) for name in ("argpartition", "choose", "trace")},
    "__getitem__": indexing.getitem,
    "__setitem__": indexing.setitem,
    "__pos__": _pos,
    "__pow__": _pow,
    "__eq__": _eq,
    "__ne__": _ne,
    "__hash__": None,
    "__copy__": _copy,
    "__deepcopy__": lambda self, memo: self.copy(),
    **members(transfers, "get set"),
    **{"astype": _astype, "copy": _copy, "fill": _fill, "reshape": _reshape, "transpose": _transpose},
    **members(views, "view ravel flatten swapaxes squeeze diagonal"),
    **members(selection, "repeat searchsorted take put clip nonzero"),
    "round": _round,
    "compress": lambda self, condition, axis=None, out=None: selection.compress(condition, self, axis, out),
    "sort": sorting.sort_in_place,
    "argsort": sorting.places,
    "partition": _partition,
    "dot": products.dot,
    "conj": _conj,
    "conjugate": _conj,
    "T": property(lambda self: views.transpose(self) if self.ndim > 1 else self),
    "mT": property(_matrix_transpose),
    "real": property(_real, lambda self, value: copy_elements(value, _real(self))),
    "imag": property(_imag, _set_imag),
}


# Of elementwise functions -----------------------------------------------------------------------


def _outer(self: ufunc, a: Any, b: Any, **named: Any) -> ndarray:
    a, b = conversion.array(a, copy=None), conversion.array(b, copy=None)
    return self(a.reshape(a.shape + (1,) * b.ndim), b.reshape((1,) * a.ndim + b.shape), **named)


def _at(self: ufunc, a: ndarray, indices: Any, b: Any = None) -> None:
    operation = next((name for name, word in indexing.WORDS.items() if word == self.key), None)
    if operation is None:
        raise NotImplementedError(f"`{self.name}.at` is not supported yet")
    indexing.scatter(a, indices, b, operation)


def complete() -> None:
    """Give the classes ndarray and ufunc their operators and methods."""
    ufunc.outer, ufunc.at = _outer, _at
    _put_operators()
    for name, method in METHODS.items():
        setattr(ndarray, name, method)
