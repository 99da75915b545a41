"""The array on the device: a wrapper that NumPy cannot look through, so that every crossing is asked for."""

import sys
from collections.abc import Iterator
from functools import reduce as fold
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from tools.sim.cupy.arrays.casts import device_dtype
from tools.sim.cupy.arrays.shapes import as_shape, infer, one_order
from tools.sim.cupy.device import memory
from tools.sim.cupy.device.memory import Memory, MemoryPointer

COMPARISONS = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
OPERANDS = (np.ndarray, np.generic, bool, int, float, complex)  # beside arrays of the device


class ndarray:
    """cupy.ndarray(shape, dtype=float, memptr=None, strides=None, order="C"): its elements are not initialised.

    elements: the NumPy array that stands for its memory; only the stand-in itself may look at it.
    memory: the piece of device memory that it lies in. base: the array of which it is a view, or None.
    """

    __module__ = "cupy"
    __slots__ = ("elements", "memory", "base", "__weakref__")
    __array_priority__ = 100

    if TYPE_CHECKING:  # `methods` puts the rest on the class

        def __getattr__(self, name: str) -> Any: ...
        def __getitem__(self, index: Any) -> "ndarray": ...
        def __mul__(self, other: Any) -> "ndarray": ...

    def __init__(
        self, shape: Any, dtype: Any = float, memptr: MemoryPointer | None = None, strides: Any = None, order: Any = "C"
    ) -> None:
        shape, dtype, order = as_shape(shape), device_dtype(dtype), one_order(order)
        if memptr is None:
            memory.current_pool().admit(prod(shape) * dtype.itemsize)
            storage = np.empty(shape, dtype, order)
            poison(storage)
            elements = storage if strides is None else np.ndarray(shape, dtype, storage, 0, strides)
            self._hold(elements, memory.current_pool().hold(storage), None)
        else:
            storage = memptr.mem.storage.ravel(order="K").view(np.uint8)
            offset = memptr.ptr - memptr.mem.ptr
            self._hold(np.ndarray(shape, dtype, storage, offset, strides, order), memptr.mem, None)

    def _hold(self, elements: np.ndarray, mem: Memory, base: "ndarray | None") -> None:
        self.elements, self.memory, self.base = elements, mem, base

    # What it is ----------------------------------------------------------------------------------

    dtype = property(lambda self: self.elements.dtype)
    ndim = property(lambda self: self.elements.ndim)
    size = property(lambda self: self.elements.size)
    itemsize = property(lambda self: self.elements.itemsize)
    nbytes = property(lambda self: self.elements.nbytes)
    strides = property(lambda self: self.elements.strides)
    flags = property(lambda self: Flags(self))
    device = property(lambda self: self.data.device)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.elements.shape

    @shape.setter
    def shape(self, shape: Any) -> None:
        shape = infer(shape if np.iterable(shape) else (shape,), self.size)
        reshaped = self.elements.reshape(shape)
        if not is_view(reshaped, self):
            raise AttributeError(
                "Incompatible shape for in-place modification. Use `.reshape()` to make a copy with the desired shape."
            )
        self.elements = reshaped

    @property
    def data(self) -> MemoryPointer:
        """A pointer to its first element."""
        return MemoryPointer(self.memory, address(self.elements) - address(self.memory.storage) if self.size else 0)

    @property
    def __cuda_array_interface__(self) -> dict:
        return {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "descr": self.dtype.descr,
            "version": 3,
            "stream": 1,
            "strides": None if self.elements.flags.c_contiguous else self.strides,
            "data": (self.data.ptr if self.size else 0, False),
        }

    # What Python and NumPy ask of it -------------------------------------------------------------

    def __array__(self, dtype: Any = None, copy: Any = None) -> None:
        raise TypeError(
            "Implicit conversion to a NumPy array is not allowed. Please use `.get()` to construct a "
            "NumPy array explicitly."
        )

    def __array_ufunc__(self, ufunc: Any, method: Any, *inputs: Any, out: Any = (None,), **named: Any) -> Any:
        if len(out) != 1:
            raise ValueError("The 'out' parameter must have exactly one array value")
        function = _counterpart(ufunc.__name__)
        if method != "__call__":
            function = getattr(function, method, None)
        if ufunc.__name__ in COMPARISONS:
            inputs = tuple(each.item() if isinstance(each, np.ndarray) and not each.ndim else each for each in inputs)
        operands = inputs if out[0] is None else (*inputs, *out)
        if function is None or not all(isinstance(each, (ndarray, *OPERANDS)) for each in operands):
            return NotImplemented
        return function(*inputs, **named, **({} if out[0] is None else {"out": out[0]}))

    def __array_function__(self, function: Any, types: Any, args: Any, named: Any) -> Any:
        ours = _counterpart(*function.__module__.split(".")[1:], function.__name__)
        if ours in (None, function) or not all(issubclass(each, (ndarray, np.ndarray)) for each in types):
            return NotImplemented
        return ours(*args, **named)

    def __bool__(self) -> bool:
        if self.size > 1:
            raise ValueError(
                "The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()"
            )
        return bool(self.get()) if self.size else False

    def __len__(self) -> int:
        if self.ndim == 0:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __iter__(self) -> Iterator["ndarray"]:
        if self.ndim == 0:
            raise TypeError("iteration over a 0-d array")
        return (self[i] for i in range(self.shape[0]))

    def item(self) -> Any:
        if self.size != 1:
            raise ValueError("can only convert an array of size 1 to a Python scalar")
        return self.get().item()

    def tolist(self) -> Any:
        return self.get().tolist()

    def tobytes(self, order: Any = "C") -> bytes:
        return self.get().tobytes(order)

    def __format__(self, specification: Any) -> str:
        return format(self.get(), specification)


for _conversion in (int, float, complex, bytes, repr, str):  # each brings the elements to the host
    setattr(ndarray, f"__{_conversion.__name__}__", lambda self, convert=_conversion: convert(self.get()))


class Flags:
    """The memory layout of an array: as attributes, and under NumPy's names in capitals."""

    def __init__(self, array: ndarray) -> None:
        flags = array.elements.flags
        self.c_contiguous, self.f_contiguous = flags.c_contiguous, flags.f_contiguous
        self.owndata, self.fnc, self.forc = array.base is None, flags.fnc, flags.forc

    def __getitem__(self, name: str) -> bool:
        if name not in ("C_CONTIGUOUS", "F_CONTIGUOUS", "OWNDATA"):
            raise KeyError(f"{name} is not defined for cupy.ndarray.flags")
        return getattr(self, name.lower())

    def __repr__(self) -> str:
        return "\n".join(f"  {name} : {self[name]}" for name in ("C_CONTIGUOUS", "F_CONTIGUOUS", "OWNDATA"))


def on_device(elements: Any, *sources: ndarray) -> ndarray:
    """An array of the device with these elements: a view, where its memory is that of one of the `sources`."""
    elements = np.asarray(elements)
    array = object.__new__(ndarray)
    for source in sources:
        if is_view(elements, source):
            if not elements.flags.writeable:  # as some of NumPy's views are; the device's never
                elements = elements.view()
                elements.flags.writeable = True
            array._hold(elements, source.memory, source if source.base is None else source.base)
            return array
    if not elements.flags.owndata:
        elements = elements.copy(order="K")
    array._hold(elements, memory.current_pool().hold(elements), None)
    return array


def fresh(values: Any) -> ndarray:
    """An array of the device with these values, in C order and in memory of its own."""
    values = np.asarray(values)
    return on_device(values if values.flags.c_contiguous else values.copy())


def is_view(elements: np.ndarray, source: ndarray) -> bool:
    """Do these elements lie in the memory of that array?"""
    return owner(elements) is owner(source.memory.storage)


def owner(elements: np.ndarray) -> np.ndarray:
    """The array of which this one is a view, directly or not; itself, where it is none."""
    while isinstance(elements.base, np.ndarray):
        elements = elements.base
    return elements


def poison(elements: np.ndarray) -> None:
    """Make plain that nobody has written these elements: NaN, -1, the largest unsigned number, True."""
    if elements.dtype == bool:
        elements[...] = True
    elif elements.size:
        elements.reshape(-1, order="A").view(np.uint8)[...] = 255


def address(elements: np.ndarray) -> int:
    """The address of the first element in the host's memory."""
    return elements.__array_interface__["data"][0]


def _counterpart(*path: str) -> Any:
    """The stand-in's function of this name, or None."""
    try:
        return fold(getattr, path, sys.modules["tools.sim.cupy"])
    except AttributeError:
        return None
