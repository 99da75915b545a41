"""Questions about arrays that the host answers by itself, without a kernel or a wait."""

import sys
from typing import Any

import numpy as np

from tools.sim.cupy.arrays.arguments import require
from tools.sim.cupy.arrays.ndarray import ndarray
from tools.sim.cupy.device import memory
from tools.sim.cupy.functions.transfers import asnumpy


def get_array_module(*args: Any) -> Any:
    """CuPy's module if one of the arguments is an array of the device, else NumPy."""
    return sys.modules["tools.sim.cupy"] if any(isinstance(each, ndarray) for each in args) else np


def is_available() -> bool:
    """There is a device, if only a simulated one."""
    return True


def get_default_memory_pool() -> memory.MemoryPool:
    """The pool that arrays get their memory from, which counts it."""
    return memory.default_pool()


def shape(a: Any) -> tuple[int, ...]:
    return a.shape if isinstance(a, ndarray) else np.shape(a)


def ndim(a: Any) -> int:
    return a.ndim if isinstance(a, ndarray) else np.ndim(a)


def size(a: Any, axis: Any = None) -> int:
    require("a", a)
    return a.size if axis is None else a.shape[axis]


def result_type(*arrays_and_dtypes: Any) -> np.dtype:
    return np.result_type(*(each.dtype if isinstance(each, ndarray) else each for each in arrays_and_dtypes))


def can_cast(from_: Any, to: Any, casting: Any = "safe") -> bool:
    return np.can_cast(from_.dtype if isinstance(from_, ndarray) else from_, to, casting)


def common_type(*arrays: Any) -> type:
    return np.common_type(*(np.empty(0, each.dtype) for each in arrays))


def min_scalar_type(a: Any) -> np.dtype:
    return a.dtype if isinstance(a, ndarray) else np.min_scalar_type(a)


def isscalar(element: Any) -> bool:
    return np.isscalar(element)


def iscomplexobj(x: Any) -> bool:
    return x.dtype.kind == "c" if isinstance(x, ndarray) else np.iscomplexobj(x)


def isrealobj(x: Any) -> bool:
    return not iscomplexobj(x)


def isfortran(a: Any) -> bool:
    return a.flags.fnc


def may_share_memory(a: Any, b: Any, max_work: Any = None) -> bool:
    require("a", a)
    require("b", b)
    return np.may_share_memory(a.elements, b.elements)


def shares_memory(a: Any, b: Any, max_work: Any = None) -> bool:
    return isinstance(a, ndarray) and isinstance(b, ndarray) and np.shares_memory(a.elements, b.elements)


# These show the elements, and so fetch them ------------------------------------------------------


def array_repr(arr: Any, max_line_width: Any = None, precision: Any = None, suppress_small: Any = None) -> str:
    return np.array_repr(asnumpy(arr), max_line_width, precision, suppress_small)


def array_str(arr: Any, max_line_width: Any = None, precision: Any = None, suppress_small: Any = None) -> str:
    return np.array_str(asnumpy(arr), max_line_width, precision, suppress_small)


def array2string(a: Any, *args: Any, **kwargs: Any) -> str:
    return np.array2string(asnumpy(a), *args, **kwargs)
