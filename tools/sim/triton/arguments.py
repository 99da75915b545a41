"""The arguments of a launch as its kernel sees them: each in a window of virtual addresses of its own.

A pointer therefore says which argument it came from, however far it strays; and where in real memory a tensor
happens to lie changes no count.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from tools.sim import trace

WINDOW = 48  # bits of an address within its window: whatever an int32 offset does, it stays there
ORIGIN = 1 << 47  # where in a window a storage begins: a multiple of 512 bytes, as on a GPU
FIRST = 1 << 12  # number of the first window: no real address is as high


@dataclass(eq=False)
class View:
    """One tensor that a kernel was given.

    Its bounds are its first and its last element: what lies between the rows of a strided view is inside.
    storage: virtual address where the memory behind it begins.
    """

    name: str
    tensor: Any
    storage: int

    @cached_property
    def shift(self) -> np.uint64:
        """From real to virtual addresses."""
        return np.uint64(self.storage - self.tensor.untyped_storage().data_ptr())

    @cached_property
    def low(self) -> int:
        """Virtual address of its first element."""
        return self.storage + self.tensor.storage_offset() * self.tensor.element_size()

    @cached_property
    def high(self) -> int:
        """Virtual address after its last element; `low` when it has none."""
        if not self.tensor.numel():
            return self.low
        steps = zip(self.tensor.shape, self.tensor.stride())
        last = sum((length - 1) * step for length, step in steps)
        return self.low + (last + 1) * self.tensor.element_size()

    @property
    def distinct(self) -> int:
        """How many of its elements are in memory: an expanded one repeats them, with a stride of 0."""
        return prod(length for length, step in zip(self.tensor.shape, self.tensor.stride()) if step)

    @cached_property
    def traced(self) -> trace.Memory:
        """What a listener is told of it."""
        size = self.tensor.element_size()
        return trace.Memory(
            self.name,
            "global",
            tuple(self.tensor.shape),
            tuple(step * size for step in self.tensor.stride()),
            size,
            self.low,
        )

    @property
    def extent(self) -> str:
        """1025 elements, 3 x 5 elements, no elements"""
        shape = " x ".join(map(str, self.tensor.shape)) or "1"
        return f"{shape if self.tensor.numel() else 'no'} element{'s' * (shape != '1')}"

    def index(self, address: int) -> list[int] | None:
        """Index of the element at an address, outside its bounds too; None where no element would begin."""
        place, rest = divmod(address - self.low, self.tensor.element_size())
        if not self.tensor.dim():
            return None if rest else [place]
        index = [0] * self.tensor.dim()
        for axis in sorted(range(self.tensor.dim()), key=self.tensor.stride, reverse=True):
            if step := self.tensor.stride(axis):
                index[axis], place = divmod(place, step)
        return None if rest or place else index


def is_tensor(thing: Any) -> bool:
    """Is it a tensor, or what triton.reinterpret made of one?"""
    return hasattr(thing, "untyped_storage") or type(thing).__name__ == "TensorWrapper"


class Arguments:
    """All tensors among the arguments of one launch.

    find: the tensor that another thing with a data_ptr() looks at. others: by the id of such a thing, its view.
    """

    def __init__(self, find: Callable[[Any], Any]) -> None:
        self.views: list[View] = []
        self.find = find
        self.others: dict[int, View] = {}

    def add(self, name: str, value: Any) -> None:
        """Take in one argument: a tensor, a descriptor of one, a tuple of such, or something else."""
        if isinstance(value, tuple):
            for number, part in enumerate(value):
                self.add(f"{name}[{number}]", part)
        elif hasattr(value, "data_ptr"):
            name = name.removesuffix("_ptr")
            if is_tensor(value):
                self.take(value, name)
            else:
                self.others[id(value)] = self.take(self.find(value), name)
        elif hasattr(value, "block_shape"):
            self.add(name, value.base)

    def address(self, tensor: Any) -> int:
        """The virtual address of a tensor's first element, or of what something else points to."""
        if is_tensor(tensor):
            return self.take(tensor, "a tensor").low
        return tensor.data_ptr() + int(self.others[id(tensor)].shift)

    def at(self, address: int) -> View | None:
        """The argument in whose window an address lies."""
        number = (address >> WINDOW) - FIRST
        return self.views[number] if 0 <= number < len(self.views) else None

    def take(self, tensor: Any, name: str) -> View:
        """The window of a tensor, a new one if it has none yet."""
        tensor = getattr(tensor, "base", tensor)  # what triton.reinterpret made looks at a tensor
        known = next((view for view in self.views if view.tensor is tensor), None)
        if known:
            return known
        view = View(name, tensor, (FIRST + len(self.views) << WINDOW) + ORIGIN)
        self.views.append(view)
        return view
