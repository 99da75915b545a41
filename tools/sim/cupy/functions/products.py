"""Products of matrices and vectors: a library's work (cuBLAS), on the record by name."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tools.sim.cupy.arrays import launches
from tools.sim.cupy.arrays.arguments import require, require_out
from tools.sim.cupy.arrays.casts import quietly
from tools.sim.cupy.arrays.ndarray import fresh, is_view, ndarray, on_device
from tools.sim.cupy.dispatch.ufuncs import copy_elements, ufuncs


def dot(a: Any, b: Any, out: Any = None) -> Any:
    """The product over the last axis of `a` and the last but one of `b`."""
    if not isinstance(a, ndarray):
        return a.dot(b, out)
    require("b", b)
    require_out(out)
    if out is not None:
        if np.result_type(a.dtype, b.dtype) != out.dtype:
            raise ValueError("Not supported dtype combination.")
        if not out.elements.flags.c_contiguous:
            raise ValueError("Output array must be C-contiguous")
    if a.ndim == 0 or b.ndim == 0:
        return ufuncs["multiply"](a, b, out=out)
    if a.shape[-1] != b.shape[max(0, b.ndim - 2)]:
        raise ValueError("Axis dimension mismatch")
    return _product("dot", np.dot, out, a, b)


def matmul(a: Any, b: Any, out: ndarray | None = None) -> ndarray:
    """a @ b"""
    require("a", a)
    require("b", b)
    require_out(out)
    if a.ndim == 0 or b.ndim == 0:
        raise ValueError("Scalar operands are not allowed, use '*' instead")
    if max(a.ndim, b.ndim) > 2:
        _check_batches(a, b)
    elif a.shape[-1] != b.shape[max(0, b.ndim - 2)]:
        raise ValueError("Axis dimension mismatch")
    if out is not None and out.dtype != np.promote_types(a.dtype, b.dtype):
        copy_elements(_product("matmul", np.matmul, None, a, b), out)
        return out
    return _product("matmul", np.matmul, out, a, b)


def _check_batches(a: ndarray, b: ndarray) -> None:
    for one, other in zip(a.shape[-3::-1], b.shape[-3::-1]):
        if one != other and 1 not in (one, other):
            raise ValueError("operands could not be broadcast together with remapped shapes")
    if a.shape[-1] != b.shape[max(0, b.ndim - 2)]:
        shapes = (",".join(map(str, each.shape)) for each in (a, b))
        raise ValueError("shapes ({}) and ({}) not aligned".format(*shapes))


def vdot(a: Any, b: Any) -> ndarray:
    """The sum of the products of all elements, those of `a` conjugated."""
    require("a", a)
    require("b", b)
    if a.size != b.size:
        raise ValueError("Axis dimension mismatch")
    return _product("vdot", np.vdot, None, a, b)


def inner(a: Any, b: Any) -> ndarray:
    """The product over the last axes."""
    require("a", a)
    require("b", b)
    if a.ndim == 0 or b.ndim == 0:
        return ufuncs["multiply"](a, b)
    if a.shape[-1] != b.shape[-1]:
        raise ValueError("Axis dimension mismatch")
    return _product("inner", np.inner, None, a, b)


def outer(a: Any, b: Any, out: ndarray | None = None) -> ndarray:
    """Every element of `a` times every element of `b`: an elementwise kernel."""
    return ufuncs["multiply"](a.ravel()[:, None], b.ravel()[None, :], out=out)


def tensordot(a: Any, b: Any, axes: Any = 2) -> ndarray:
    """The product over several axes."""
    require("a", a)
    require("b", b)
    if a.ndim == 0 or b.ndim == 0:
        if axes != 0 and axes != ((), ()):
            raise ValueError("An input is zero-dim while axes has dimensions")
        return ufuncs["multiply"](a, b)
    if isinstance(axes, Sequence):
        if len(axes) != 2:
            raise ValueError("Axes must consist of two arrays.")
        pairs: Any = [(each,) if np.isscalar(each) else tuple(each) for each in axes]
    else:
        pairs = [tuple(range(a.ndim - axes, a.ndim)), tuple(range(axes))]
    if len(pairs[0]) != len(pairs[1]):
        raise ValueError("Axes length mismatch")
    if any(a.shape[one] != b.shape[other] for one, other in zip(*pairs)):
        raise ValueError("Axis dimension mismatch")
    return _product("tensordot", lambda a, b: np.tensordot(a, b, pairs), None, a, b)


def kron(a: Any, b: Any) -> ndarray:
    """Kronecker's product."""
    require("a", a)
    require("b", b)
    return _product("kron", np.kron, None, a, b)


def einsum(*operands: Any, **named: Any) -> ndarray:
    """Products and sums by Einstein's notation."""
    if not isinstance(operands[0], str):
        raise NotImplementedError("einsum: the stand-in knows the notation with a string, as in einsum('ij,jk', a, b).")
    subscripts, *arrays = operands
    out = named.pop("out", None)
    require_out(out)
    named.pop("optimize", None)
    for each in arrays:
        if not isinstance(each, ndarray):
            raise TypeError(f"Unsupported type {type(each)}")
    if out is None and len(arrays) == 1 and not named:
        view = np.einsum(subscripts, arrays[0].elements)
        if isinstance(view, np.ndarray) and is_view(view, arrays[0]):
            return on_device(view, arrays[0])
    return _product("einsum", lambda *arrays: np.einsum(subscripts, *arrays, **named), out, *arrays)


def _product(name: str, function: Any, out: ndarray | None, *arrays: ndarray) -> ndarray:
    """The result of NumPy's function, in an array of its own or in `out`."""
    with quietly():
        values = np.asarray(function(*(each.elements for each in arrays)))
    if out is None:
        out = fresh(values)
    elif out.shape != values.shape:
        raise ValueError("Output array has an invalid size")
    launches.library(f"cupy.{name}", [*arrays, out], work=lambda: np.copyto(out.elements, values, casting="unsafe"))
    return out
