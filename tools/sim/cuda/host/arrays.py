"""Arrays in the simulated GPU's memory: what numba.cuda lets the host do with them, and no more."""

import copy as shallow
import ctypes
from collections.abc import Iterator
from typing import Any, Self

import numpy as np

from tools.sim import host
from tools.sim.cuda.host import layouts
from tools.sim.cuda.host.allocation import allocated, described, interface, is_cuda_array, values_of
from tools.sim.cuda.host.streams import Stream, number
from tools.sim.cuda.numbers.conversion import convert
from tools.sim.cuda.numbers.promotion import TYPES
from tools.sim.device_memory import Piece, pointer


class _OnDevice:
    """Arrays and records, as far as they are alike. elements: NumPy's view of the memory, for this package alone."""

    __cuda_memory__ = __cuda_ndarray__ = True

    def __init__(self, piece: Piece, elements: np.ndarray, stream: Stream | int = 0) -> None:
        self.piece, self.elements, self.stream = piece, elements, stream

    shape = property(lambda self: self.elements.shape)
    strides = property(lambda self: self.elements.strides)
    dtype = property(lambda self: self.elements.dtype)
    ndim = property(lambda self: self.elements.ndim)
    size = property(lambda self: self.elements.size)
    nbytes = property(lambda self: self.elements.nbytes)
    alloc_size = property(lambda self: layouts.extent(self.shape, self.strides, self.dtype.itemsize))
    address = property(lambda self: self.piece.address_of(self.elements))
    device_ctypes_pointer = property(lambda self: ctypes.c_void_p(self.address))

    @property
    def flags(self) -> dict[str, bool]:
        return {"C_CONTIGUOUS": self.elements.flags.c_contiguous, "F_CONTIGUOUS": self.elements.flags.f_contiguous}

    @property
    def __cuda_array_interface__(self) -> dict:
        return interface(self.elements, self.address, int(self.stream) if self.stream else None)

    def bind(self, stream: Stream | int = 0) -> Self:
        """The same memory, whose transfers go to this stream when none is named."""
        bound = shallow.copy(self)
        bound.stream = stream
        return bound

    # Transfers

    def copy_to_host(self, ary: np.ndarray | None = None, stream: Stream | int = 0) -> np.ndarray:
        """Its elements in the host's memory, in `ary` if given. With a stream, nobody waits for pinned memory."""
        if any(stride < 0 for stride in self.strides):
            raise NotImplementedError(f"D->H copy not implemented for negative strides: {self.strides}")
        stream = stream or self.stream
        if ary is None:
            source = self._region()
            target = np.empty(source.size, np.uint8)
            result = np.ndarray(self.shape, self.dtype, target, strides=self.strides)
        else:
            layouts.must_agree(self.elements, ary)
            source, target, result = self.elements.reshape(ary.shape), ary, ary
            if not ary.flags.writeable:
                raise ValueError("copy_to_host was given a read-only array")
        host.device().download(target, source, number(stream), wait=not stream)
        return result

    def copy_to_device(self, ary: Any, stream: Stream | int = 0) -> None:
        """Fill it from an array of the host or of the device, of the same shape and dtype."""
        if ary.size == 0:
            return
        mine, stream = layouts.contiguous(self.elements), stream or self.stream
        if getattr(ary, "__cuda_memory__", False):
            theirs = layouts.contiguous(elements_of(ary))
            layouts.must_agree(mine, theirs)
            host.device().copy(mine, theirs.reshape(mine.shape), number(stream))
        else:
            theirs = np.asarray(layouts.core(ary), order="C" if mine.flags.c_contiguous else "F")
            layouts.must_agree(mine, theirs)
            host.device().upload(mine, theirs.reshape(mine.shape), number(stream), wait=not stream)

    def _region(self) -> np.ndarray:
        """Its bytes from the first element to the last, whatever lies between."""
        first = pointer(self.elements) - pointer(self.piece.storage) if self.size else 0
        return self.piece.storage[first : first + self.alloc_size]

    # Parts

    def _part(self, item: Any) -> np.ndarray:
        """A view of these elements."""
        raise NotImplementedError

    def getitem(self, item: Any, stream: Stream | int = 0) -> Any:
        """self[item], on a stream: a view, or one number in the host's memory."""
        part, stream = self._part(item), stream or self.stream
        if part.ndim:
            return DeviceNDArray(self.piece, part, stream)
        if part.dtype.names is not None:
            return DeviceRecord(self.piece, part, stream)
        value = np.empty((), part.dtype)
        host.device().download(value, part, number(stream))
        return value[()]

    def setitem(self, item: Any, value: Any, stream: Stream | int = 0) -> None:
        """self[item] = value, on a stream. A value of the host crosses over; then the device converts and copies."""
        target, stream = self._part(item), stream or self.stream
        source = layouts.fitted(elements_of(to_device(value, stream=stream)), target.shape)
        host.device().copy(target, _converted(source, target.dtype), number(stream))
        if not stream:
            host.device().synchronize(number(stream))

    def __getitem__(self, item: Any) -> Any:
        return self.getitem(item)

    def __setitem__(self, item: Any, value: Any) -> None:
        self.setitem(item, value)


class DeviceRecord(_OnDevice):
    """One record in the device's memory: record["field"] reads, record["field"] = value stores."""

    def _part(self, field: str) -> np.ndarray:
        return self.elements[field]


class DeviceNDArray(_OnDevice):
    """An array in the device's memory. Slices share it; an element that is read crosses over to the host."""

    def is_c_contiguous(self) -> bool:
        return self.flags["C_CONTIGUOUS"]

    def is_f_contiguous(self) -> bool:
        return self.flags["F_CONTIGUOUS"]

    def __len__(self) -> int:
        return self.shape[0]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError("`copy=False` is not supported. A copy is always created.")
        return self.copy_to_host().astype(dtype or self.dtype, copy=False)

    def _part(self, item: Any) -> np.ndarray:
        return layouts.part(self.elements, item)

    # Other views of the same memory

    def reshape(self, *shape: Any, order: str = "C", **others: Any) -> "DeviceNDArray":
        """The same memory in another shape, one length of which may be -1; only of contiguous arrays."""
        if others:
            raise TypeError(f"unknown keyword arguments {others.keys()}")
        new = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
        return self._viewed(layouts.reshaped(self.elements, tuple(new), order))

    def ravel(self, order: str = "C", stream: Stream | int = 0) -> "DeviceNDArray":
        """All elements along one axis; only of arrays that are contiguous in this order."""
        return self._viewed(layouts.raveled(self.elements, order), stream)

    def squeeze(self, axis: Any = None, stream: Stream | int = 0) -> "DeviceNDArray":
        """Without the axes of length 1, or without those named. Raises ValueError."""
        return self._viewed(self.elements.squeeze(axis), stream)

    def view(self, dtype: Any) -> "DeviceNDArray":
        """The same bytes as another dtype. Raises ValueError."""
        if np.dtype(dtype).itemsize != self.dtype.itemsize and not self.is_c_contiguous():
            raise ValueError("To change to a dtype of a different size, the array must be C-contiguous")
        return self._viewed(self.elements.view(dtype))

    def split(self, section: int, stream: Stream | int = 0) -> Iterator["DeviceNDArray"]:
        """Pieces of so many elements; the last one may be shorter. Raises ValueError."""
        for piece in layouts.sections(self.elements, section):
            yield self._viewed(piece, stream)

    def transpose(self, axes: Any = None) -> "DeviceNDArray":
        """A transposed copy, as Numba makes one; of two axes only."""
        if axes and tuple(axes) == tuple(range(self.ndim)):
            return self
        if self.ndim != 2:
            raise NotImplementedError("transposing a non-2D DeviceNDArray isn't supported")
        if axes is not None and set(axes) != {0, 1}:
            raise ValueError(f"invalid axes list {axes!r}")
        transposed = device_array(self.shape[::-1], self.dtype)
        host.device().copy(transposed.elements, self.elements.T, number(self.stream))
        return transposed

    T = property(transpose)

    def _viewed(self, elements: np.ndarray, stream: Stream | int = 0) -> "DeviceNDArray":
        return DeviceNDArray(self.piece, elements, stream or self.stream)


# Making them -------------------------------------------------------------------------------------


def device_array(
    shape: Any, dtype: Any = np.float64, strides: Any = None, order: str = "C", stream: Stream | int = 0
) -> DeviceNDArray:
    """An array on the device. Its elements have no value yet, and show it: NaN, -1, or the largest unsigned."""
    return DeviceNDArray(*allocated(*layouts.described(shape, dtype, strides, order)), stream)


def device_array_like(ary: Any, stream: Stream | int = 0) -> DeviceNDArray:
    """The same with the shape, the dtype and the order of another array, and without its gaps."""
    return device_array(stream=stream, **layouts.like(ary))


def to_device(obj: Any, stream: Stream | int = 0, copy: bool = True, to: Any = None) -> Any:
    """An array or a record with these values on the device; what is there already is given back as it is."""
    if to is None and (there := on_device(obj)) is not None:
        return there
    values = values_of(obj)
    if to is None:
        layouts.contiguous(values)
        kind = DeviceRecord if isinstance(obj, np.void) else DeviceNDArray
        to = kind(*allocated(values.shape, values.dtype, values.strides), stream)
    if copy:
        to.copy_to_device(values, stream=stream)
    return to


def on_device(obj: Any, sync: bool = True) -> Any:
    """An array that lives on the device already, whichever library's it is, as this module knows it; else None.

    sync: wait for the stream that works on it, if it names one.
    """
    if getattr(obj, "__cuda_memory__", False):
        return obj
    return as_cuda_array(obj, sync) if is_cuda_array(obj) else None


def as_cuda_array(obj: Any, sync: bool = True) -> DeviceNDArray:
    """The same memory as an array of this module. Raises TypeError for what is not on the device."""
    if not is_cuda_array(obj):
        raise TypeError("*obj* doesn't implement the cuda array interface.")
    return from_cuda_array_interface(obj.__cuda_array_interface__, obj, sync)


def from_cuda_array_interface(desc: dict, owner: object = None, sync: bool = True) -> DeviceNDArray:
    """A view of memory that another library describes. Raises ValueError when the device knows no such memory."""
    return DeviceNDArray(*described(desc, sync))


def _converted(values: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """As a kernel would store them. Raises TypeError."""
    if values.dtype == dtype or not values.size:
        return values.astype(dtype, copy=False)
    if not {values.dtype, dtype} <= set(TYPES):
        raise TypeError(f"{values.dtype} cannot be stored in an array of {dtype}.")
    with np.errstate(all="ignore"):
        return convert(values, dtype)


def elements_of(array: Any) -> np.ndarray:
    """NumPy's view of device memory; mapped and managed arrays are such views themselves."""
    return getattr(array, "elements", array)
