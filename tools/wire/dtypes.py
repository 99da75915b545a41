"""The names under which dtypes cross the wire. Only known names are accepted."""

import sys
from typing import Any

import numpy as np

_NATIVE = [np.dtype(code) for code in "?" + np.typecodes["AllInteger"] + np.typecodes["AllFloat"]]
_NUMPY_DTYPES = {name: np.dtype(name) for dtype in _NATIVE for name in (dtype.str, dtype.newbyteorder().str)}
_NUMPY_SCALARS = {dtype.type: dtype.str for dtype in _NATIVE}  # int64 and longlong have one name


def dtype_name(dtype: np.dtype) -> str | None:
    """The name of a NumPy dtype of numbers, such as "<f4" or "bfloat16"; None for any other dtype."""
    if dtype.str in _NUMPY_DTYPES:
        return dtype.str
    return scalar_type_name(dtype.type)


def scalar_type_name(kind: type) -> str | None:
    """The dtype name of a NumPy scalar class, such as np.float32; None for any other class."""
    if kind in _NUMPY_SCALARS:
        return _NUMPY_SCALARS[kind]
    ml_dtypes = sys.modules.get("ml_dtypes")  # without it nothing is one of its dtypes
    is_low_precision = issubclass(kind, np.generic) and getattr(ml_dtypes, kind.__name__, None) is kind
    return kind.__name__ if is_low_precision else None


def dtype_named(name: str) -> np.dtype:
    """The NumPy dtype of that name. An exception for any other name."""
    if name in _NUMPY_DTYPES:
        return _NUMPY_DTYPES[name]
    import ml_dtypes

    dtype = np.dtype(getattr(ml_dtypes, name))
    if dtype.name != name:  # ml_dtypes also has attributes that are no dtypes
        raise ValueError(f"no dtype is called {name!r}")
    return dtype


def torch_dtype_name(dtype: Any) -> str:
    return str(dtype).removeprefix("torch.")


def torch_dtype_named(name: str) -> Any:
    """The torch dtype of that name, such as "float32". ValueError for any other name."""
    import torch

    dtype = getattr(torch, name, None)
    if not isinstance(dtype, torch.dtype):
        raise ValueError(f"torch has no dtype {name!r}")
    return dtype
