"""Tensors as Python's operators meet them in a kernel, and plain words for what they refuse."""

import operator
from types import ModuleType
from typing import Any

import numpy as np
import triton.language as tl

from tools.sim.triton import undefined


def patch(interpreter: ModuleType) -> None:
    """Replace methods of tl.tensor. After the language is in place."""
    tensor, plain = tl.tensor, tl.tensor.__getitem__

    def getitem(self: Any, slices: Any, *args: Any, **named: Any) -> Any:
        """x[:, None]"""
        given = slices if isinstance(slices, (tuple, tl.tuple)) else (slices,)
        if any(_is_number(each) for each in given):
            if self.dtype.is_ptr():
                raise TypeError("A pointer has no elements in a kernel: tl.load(pointer + number) reads one.")
            raise TypeError(
                f"{_described(self)}, and a kernel takes no single elements out of it.\n"
                "tl.sum of a tl.where can; or load that element alone."
            )
        return plain(self, slices, *args, **named)

    def iterate(self: Any) -> None:
        raise TypeError(
            f"{_described(self)}, and a kernel does not loop over it:\n"
            "an operation works on all of its elements at once."
        )

    tensor.__getitem__, tensor.__iter__ = getitem, iterate
    tensor.__index__, tensor.__str__, tensor.__repr__ = _index, _str, _repr
    tensor.__float__, tensor.__array_ufunc__ = _float, _of_numpy


def _is_number(thing: object) -> bool:
    value = getattr(thing, "value", thing)
    return isinstance(value, (int, np.integer, tl.tensor)) and not isinstance(value, bool)


def _described(tensor: Any) -> str:
    return "This is a pointer" if tensor.dtype.is_ptr() else f"This is a tensor of {tensor.handle.data.size}"


def _float(self: Any) -> float:
    raise TypeError(
        "Python's float and the functions of math take no tensors.\n"
        "x.to(tl.float32) converts one; tl.exp, tl.sqrt and others compute."
    )


def _of_numpy(self: Any, ufunc: Any, *_: Any, **__: Any) -> None:
    name = ufunc.__name__
    here = f"tl.{name} does." if hasattr(tl, name) else "Numbers of a kernel are Python's or Triton's."
    raise TypeError(f"np.{name} takes no tensors. {here}")


def _index(self: Any) -> int:
    undefined.check(self.handle, "taken as a number")
    if self.handle.data.size > 1:
        raise TypeError(f"{_described(self)}, and Python wants one whole number here.")
    return operator.index(self.handle.data.item())


def _str(self: Any) -> str:
    return str(self.handle.data if self.type.is_block() else self.handle.data.item())


def _repr(self: Any) -> str:
    """[0 1 2 3]: int32[4]"""
    shape = ",".join(str(int(length)) for length in self.shape)
    return f"{self}: {self.dtype}" + (f"[{shape}]" if shape else "")
