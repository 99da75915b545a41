"""Arrays in the host's memory that the GPU reaches: pinned, mapped and managed ones.

The model of time has copies of pinned memory at the full speed of the link; a kernel that touches mapped memory
takes as long as all of it needs to cross the link. Managed memory counts as the device's: its pages move at no cost.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from tools.sim import host
from tools.sim.cuda.host import layouts
from tools.sim.cuda.host.allocation import allocated, interface
from tools.sim.cuda.host.arrays import DeviceNDArray
from tools.sim.cuda.host.streams import Stream
from tools.sim.device_memory import Piece, poisoned


class _Shared(np.ndarray):
    """NumPy's array for the host, whose memory the device knows too. piece: None for its slices, as in Numba."""

    __cuda_memory__ = __cuda_ndarray__ = True
    piece: Piece | None = None
    stream: Stream | int = 0

    @property
    def address(self) -> int:
        """Of its first element, for the device. Raises TypeError for a part of an array."""
        if self.piece is None:
            raise TypeError(
                f"a kernel takes a {type(self).__name__} as a whole, not a part of it:\n"
                "numba.cuda knows no address of the part"
            )
        return self.piece.address_of(self)

    @property
    def __cuda_array_interface__(self) -> dict:
        return interface(self, self.address, None)


class MappedNDArray(_Shared):
    """Pinned memory of the host that kernels reach over the link."""


class ManagedNDArray(_Shared):
    """Memory whose pages move to whoever touches them."""


def pinned_array(shape: Any, dtype: Any = np.float64, strides: Any = None, order: str = "C") -> np.ndarray:
    """An array of the host whose memory is pinned; its elements have no value yet."""
    shape, dtype, strides = layouts.described(shape, dtype, strides, order)
    storage = poisoned(layouts.extent(shape, strides, dtype.itemsize))
    host.device().memory.pin(storage)
    return np.ndarray(shape, dtype, storage, strides=strides)


def mapped_array(
    shape: Any,
    dtype: Any = np.float64,
    strides: Any = None,
    order: str = "C",
    stream: Stream | int = 0,
    portable: bool = False,
    wc: bool = False,
) -> MappedNDArray:
    """An array of the host that kernels reach where it is. portable, wc: make no difference here."""
    shape, dtype, strides = layouts.described(shape, dtype, strides, order)
    piece = host.device().memory.map(poisoned(layouts.extent(shape, strides, dtype.itemsize)))
    return _shared(MappedNDArray, piece, piece.array(shape, dtype, strides), stream)


def managed_array(
    shape: Any,
    dtype: Any = np.float64,
    strides: Any = None,
    order: str = "C",
    stream: Stream | int = 0,
    attach_global: bool = True,
) -> ManagedNDArray:
    """An array that host and device both use. attach_global: makes no difference here."""
    return _shared(ManagedNDArray, *allocated(*layouts.described(shape, dtype, strides, order)), stream)


def pinned_array_like(ary: Any) -> np.ndarray:
    """The same with the shape, the dtype and the order of another array."""
    return pinned_array(**layouts.like(ary))


def mapped_array_like(ary: Any, stream: Stream | int = 0, portable: bool = False, wc: bool = False) -> MappedNDArray:
    """The same with the shape, the dtype and the order of another array."""
    return mapped_array(stream=stream, **layouts.like(ary))


@contextmanager
def pinned(*arrays: np.ndarray) -> Iterator[None]:
    """The memory of these arrays is pinned inside."""
    memory = host.device().memory
    for array in arrays:
        memory.pin(array)
    try:
        yield
    finally:
        for array in arrays:
            memory.unpin(array)


@contextmanager
def mapped(*arrays: np.ndarray, stream: Stream | int = 0) -> Iterator[DeviceNDArray | list[DeviceNDArray]]:
    """Arrays of the device with the very memory of these, one or a list of them."""
    memory, given = host.device().memory, []
    for array in arrays:
        storage = layouts.contiguous(array).reshape(-1, order="A").view(np.uint8)
        piece = memory.map(storage)
        given.append(DeviceNDArray(piece, piece.array(array.shape, array.dtype, array.strides), stream))
    try:
        yield given[0] if len(given) == 1 else given
    finally:
        for each in given:
            memory.unpin(each.piece.storage)


def _shared(kind: type, piece: Piece, elements: np.ndarray, stream: Stream | int) -> Any:
    array: Any = elements.view(kind)
    array.piece, array.stream = piece, stream
    return array
