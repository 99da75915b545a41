"""Questions about arrays that the host answers by itself, without a kernel or a wait."""

import sys

import numpy as np

from tools.sim.cupy.arrays.arguments import require
from tools.sim.cupy.arrays.ndarray import ndarray
from tools.sim.cupy.device import memory
from tools.sim.cupy.functions.transfers import asnumpy


def get_array_module(*args):
    """CuPy's module if one of the arguments is an array of the device, else NumPy."""
    return sys.modules["tools.sim.cupy"] if any(isinstance(each, ndarray) for each in args) else np


def is_available() -> bool:
    """There is a device, if only a simulated one."""
    return True


def get_default_memory_pool() -> memory.MemoryPool:
    """The pool that arrays get their memory from, which counts it."""
    return memory.default_pool()


def shape(a) -> tuple[int, ...]:
    return a.shape if isinstance(a, ndarray) else np.shape(a)


def ndim(a) -> int:
    return a.ndim if isinstance(a, ndarray) else np.ndim(a)


def size(a, axis=None) -> int:
    require("a", a)
    return a.size if axis is None else a.shape[axis]


def result_type(*arrays_and_dtypes) -> np.dtype:
    return np.result_type(*(each.dtype if isinstance(each, ndarray) else each for each in arrays_and_dtypes))


def can_cast(from_, to, casting="safe") -> bool:
    return np.can_cast(from_.dtype if isinstance(from_, ndarray) else from_, to, casting)


def common_type(*arrays) -> type:
    return np.common_type(*(np.empty(0, each.dtype) for each in arrays))


def min_scalar_type(a) -> np.dtype:
    return a.dtype if isinstance(a, ndarray) else np.min_scalar_type(a)


def isscalar(element) -> bool:
    return np.isscalar(element)


def iscomplexobj(x) -> bool:
    return np.dtype(getattr(x, "dtype", type(x))).kind == "c"


def isrealobj(x) -> bool:
    return not iscomplexobj(x)


def isfortran(a) -> bool:
    return a.flags.fnc


def may_share_memory(a, b, max_work=None) -> bool:
    require("a", a)
    require("b", b)
    return np.may_share_memory(a.elements, b.elements)


def shares_memory(a, b, max_work=None) -> bool:
    return isinstance(a, ndarray) and isinstance(b, ndarray) and np.shares_memory(a.elements, b.elements)


# These show the elements, and so fetch them ------------------------------------------------------


def array_repr(arr, max_line_width=None, precision=None, suppress_small=None) -> str:
    return np.array_repr(asnumpy(arr), max_line_width, precision, suppress_small)


def array_str(arr, max_line_width=None, precision=None, suppress_small=None) -> str:
    return np.array_str(asnumpy(arr), max_line_width, precision, suppress_small)


def array2string(a, *args, **kwargs) -> str:
    return np.array2string(asnumpy(a), *args, **kwargs)
