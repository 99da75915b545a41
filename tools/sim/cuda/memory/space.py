"""The memory of one batch of blocks: arguments, shared, local and constant arrays."""

import math
import re
from typing import Any, Protocol

import numpy as np

from tools.sim import floats
from tools.sim.cuda.faults import Fault, Refused, Unknown, learner_frame
from tools.sim.cuda.memory.array import Array
from tools.sim.cuda.memory.lanes import Lanes
from tools.sim.cuda.memory.storage import GlobalArray, Storage
from tools.sim.cuda.numbers.operations import dtype_of
from tools.sim.faults import describe, spot

MOST_SHARED = 48 * 1024  # bytes of shared memory in a block; Numba has no way to ask for more
WIDEST = 16  # bytes: the largest element


class Outside(Protocol):
    """What a launch knows of things outside the kernel."""

    def captured(self, thing: Any) -> tuple[GlobalArray, Storage]:
        """An array of the device's that the kernel knows by a name of the module, and its memory."""

    def begins(self, version: Any) -> None:
        """A function runs in this version."""


class Space:
    """dynamic: bytes of dynamic shared memory of a block."""

    def __init__(self, lanes: Lanes, dynamic: int = 0, outside: Outside | None = None) -> None:
        self.lanes, self.outside = lanes, outside
        self.dynamic = dynamic
        self.shared_bytes = dynamic
        self.storages: list[Storage] = []
        self._arrays: dict[tuple, Array] = {}
        self._dynamic: dict[np.dtype, Storage] = {}
        self._dynamic_bytes: np.ndarray | None = None

    def argument(self, value: Any, storage: Any) -> Any:
        """The kernel's side of an argument; storage: of an array, a tuple of them, or None."""
        if storage is None:
            return value
        if isinstance(value, tuple):
            return getattr(type(value), "_make", tuple)(map(self.argument, value, storage))  # a named one stays so
        self.storages.append(storage)
        strides = tuple(stride // value.array.itemsize for stride in value.array.strides)
        return Array(
            self.lanes, storage, tuple(map(np.int64, value.array.shape)), strides, storage.start, value.read_only
        )

    def shared(self, shape: Any, dtype: Any) -> Array:
        """An array that each block has once; the same one whenever this line runs."""
        shape, dtype = self._shape(shape), _dtype(dtype)
        if shape == (0,):
            return self._array("shared", (self.dynamic // dtype.itemsize,), dtype, dynamic=True)
        return self._array("shared", shape, dtype)

    def local(self, shape: Any, dtype: Any) -> Array:
        """An array that each thread has for itself."""
        return self._array("local", self._shape(shape), _dtype(dtype))

    def constant(self, values: np.ndarray) -> Array:
        """NumPy's array as it is now, for all threads to read."""
        key = "constant", id(values)
        if key not in self._arrays:
            values = np.ascontiguousarray(values)
            storage = Storage("a constant array", "constant", values.reshape(-1), values.shape)
            self._arrays[key] = Array(self.lanes, storage, *_contiguous(values.shape), read_only=True)
        return self._arrays[key]

    def captured(self, thing: Any) -> Array:
        """An array of the device's that a name outside the kernel stands for: no copy."""
        key = "captured", id(thing)
        if key not in self._arrays:
            assert self.outside is not None
            self._arrays[key] = self.argument(*self.outside.captured(thing))
        return self._arrays[key]

    def begins(self, version: Any) -> None:
        """A function runs in this version."""
        if self.outside is not None:
            self.outside.begins(version)

    def contents(self) -> list[np.ndarray]:
        """A copy of all that the kernel has stored to."""
        return [storage.flat.copy() for storage in self.storages if storage.changed]

    def _shape(self, shape: Any) -> tuple[int, ...]:
        """In a device function, a parameter is known to Numba if a constant is passed for it."""
        lengths = shape if isinstance(shape, tuple) else (shape,)
        called = len(getattr(self.lanes, "frames", ())) > 1
        if called and not all(map(floats.is_constant, lengths)):
            raise Refused(
                "Numba wants plain whole numbers as a shape; here the caller computes it.",
                "A written number, or a name of the module for one, can be passed on.",
            )
        return _shape(shape)

    def _array(self, kind: str, shape: tuple[int, ...], dtype: np.dtype, dynamic: bool = False) -> Array:
        frame = learner_frame()
        key = frame.f_code, frame.f_lasti, shape, dtype
        if key not in self._arrays:
            name = _variable(describe(spot(frame))[2]) or f"this {kind} array"
            storage = (self._dynamic_storage if dynamic else self._storage)(name, dtype, shape, kind)
            self.storages.append(storage)
            self._arrays[key] = Array(self.lanes, storage, *_contiguous(shape))
        return self._arrays[key]

    def _storage(self, name: str, dtype: np.dtype, shape: tuple[int, ...], kind: str) -> Storage:
        size = math.prod(shape)
        if kind == "shared":
            self._take(size * dtype.itemsize)
        copies = self.lanes.blocks if kind == "shared" else self.lanes.count
        return Storage(name, kind, np.zeros(copies * size, dtype), shape, watched=kind == "shared", empty=True)

    def _dynamic_storage(self, name: str, dtype: np.dtype, shape: tuple[int, ...], kind: str) -> Storage:
        """All dynamic arrays of a block begin at the same place, so those of one type are one array."""
        if dtype not in self._dynamic:
            if self._dynamic_bytes is None:
                self._dynamic_bytes = np.zeros((self.lanes.blocks, -(-self.dynamic // WIDEST) * WIDEST), np.uint8)
            size = self._dynamic_bytes.shape[1] // dtype.itemsize
            flat = self._dynamic_bytes.reshape(-1).view(dtype)
            storage = Storage(name, kind, flat, shape, watched=True, empty=True)
            storage.size = size  # of a block's share, which may be a little more than what was asked for
            others = [other for other in self._dynamic.values() if other.flat.itemsize == dtype.itemsize]
            storage.set = others[0].set if others else storage.set
            self._dynamic[dtype] = storage
        return self._dynamic[dtype]

    def _take(self, size: int) -> None:
        """So many bytes of shared memory more."""
        self.shared_bytes += size
        if self.shared_bytes > MOST_SHARED:
            raise Fault(
                "shared_memory",
                f"Its blocks need {self.shared_bytes:,} bytes of shared memory each; there are {MOST_SHARED:,}.",
                "What must a block hold at one time?",
            )


def _shape(shape: Any) -> tuple[int, ...]:
    """The same for all threads, as the compiler must know it."""
    shape = shape if isinstance(shape, tuple) else (shape,)
    if any(isinstance(length, np.ndarray) for length in shape):
        raise TypeError(
            "The shape of a shared or local array must be known when the kernel is compiled:\n"
            "a number, or a constant of the module."
        )
    if any(length < 0 for length in shape):
        raise TypeError(f"No array has so many elements: {', '.join(map(str, map(int, shape)))}.")
    return tuple(map(int, shape))


def _dtype(thing: Any) -> np.dtype:
    dtype = dtype_of(thing)
    if isinstance(thing, np.dtype) and thing.names:
        raise Unknown(
            "The simulator knows no shared or local arrays of records. A GPU may run it.",
            "Take an array for each field.",
        )
    if dtype is None:
        name = thing.__name__ if isinstance(thing, type) else repr(thing)
        raise TypeError(f"{name} is no type of an array's elements. cuda.float32 or np.float32 is one.")
    return dtype


def _contiguous(shape: tuple[int, ...]) -> tuple[tuple, tuple]:
    """shape and strides, in elements"""
    strides = [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
    return tuple(map(np.int64, shape)), tuple(strides)


def _variable(source: str) -> str:
    """tile, of: tile = cuda.shared.array(...)"""
    match = re.match(r"(\w+)\s*=[^=]", source)
    return match[1] if match else ""
