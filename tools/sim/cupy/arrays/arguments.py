"""Checks of the arguments of CuPy's functions, with its words for those that it refuses."""

from typing import Any

import numpy as np

from tools.sim.cupy.arrays.ndarray import ndarray


def operand(value: Any) -> Any:
    """The value, if a kernel may be given it: an array of the device or a plain number. TypeError for all else."""
    if isinstance(value, (ndarray, bool, int, float, complex)):
        return value
    if isinstance(value, np.generic) and value.dtype.kind in "biufcV":
        return value
    raise TypeError(f"Unsupported type {type(value)}")


def type_of(value: Any) -> Any:
    """The dtype of an operand; int, float or complex for a plain number."""
    if isinstance(value, (ndarray, np.generic)):
        return value.dtype
    return np.dtype(bool) if isinstance(value, bool) else type(value)


def elements(value: Any) -> Any:
    """The operand as NumPy takes it."""
    return value.elements if isinstance(value, ndarray) else value


def require(name: str, value: Any) -> None:
    """TypeError, in the words of CuPy's compiled functions, unless it is an array of the device."""
    if not isinstance(value, ndarray):
        module, kind = type(value).__module__, type(value).__qualname__
        kind = kind if module == "builtins" else f"{module}.{kind}"
        on_host = isinstance(value, np.ndarray)
        advice = "\nIt lies in the host's memory: cupy.asarray() copies it to the GPU's." if on_host else ""
        raise TypeError(
            f"Argument {name!r} has incorrect type (expected cupy._core.core._ndarray_base, got {kind})" + advice
        )


def require_out(out: Any) -> None:
    """TypeError unless the place for a result is an array of the device; None is no place."""
    if out is not None:
        require("out", out)


def check_cast(given: np.dtype, wanted: np.dtype, casting: Any, what: str = "array data") -> None:
    """TypeError if this rule does not let the one become the other."""
    if not (casting == "same_kind" and given.kind == wanted.kind or np.can_cast(given, wanted, casting)):
        raise TypeError(f"Cannot cast {what} from {given!r} to {wanted!r} according to the rule '{casting}'")
