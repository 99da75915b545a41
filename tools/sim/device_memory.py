"""Memory of the simulated GPU: pieces that have addresses, filled so that reading before writing shows."""

import itertools
import weakref
from typing import Any

import numpy as np

UNIT = 512  # bytes: each piece begins at a multiple, and takes a multiple
WINDOW = 40  # bits of an address within its piece: a wild pointer still says which piece it came from
FIRST = 127  # number of the first window, so that addresses look as they do on a GPU: 0x7f0000000000
POISON = 0xFF  # in each byte: NaN in every float format, -1 or the largest in every integer


class OutOfMemory(MemoryError):
    """More than the GPU has. wanted, free: bytes."""

    def __init__(self, wanted: int, free: int) -> None:
        self.wanted, self.free = wanted, free
        super().__init__(f"{wanted:,} bytes were asked for, and the GPU has {free:,} left")


class Piece:
    """Allocated memory. storage: its bytes, uint8. address: where a GPU would have them.

    It is given back when neither it nor an array within it is in use any more.
    """

    def __init__(self, storage: np.ndarray, address: int) -> None:
        self.storage, self.address = storage, address

    def array(self, shape: Any, dtype: Any, strides: Any = None, offset: int = 0) -> np.ndarray:
        """An array of this shape in it, `offset` bytes from its start."""
        return np.ndarray(shape, dtype, self.storage, offset, strides)

    def address_of(self, array: np.ndarray) -> int:
        """Where the first element of an array within it is; 0 for one without elements, as in CUDA."""
        return self.address + pointer(array) - pointer(self.storage) if array.size else 0


class Memory:
    """What a GPU of so many bytes has handed out. used: bytes.

    A piece may go at any moment, when garbage is collected: whoever looks through all of them takes a copy.
    """

    def __init__(self, capacity: int) -> None:
        self.capacity, self.used = capacity, 0
        self._windows = itertools.count(FIRST)
        self._storages: dict[int, weakref.ref] = {}
        self._pinned: dict[int, int] = {}  # first byte of the host's memory: the byte after the last one
        self._adopted: dict[int, int] = {}

    def reserve(self, size: int) -> int:
        """Addresses for so many bytes; gives the first. Raises OutOfMemory."""
        size = _whole_units(size)
        if size > self.capacity - self.used:
            raise OutOfMemory(size, self.capacity - self.used)
        self.used += size
        return next(self._windows) << WINDOW

    def release(self, size: int) -> None:
        """So many reserved bytes are needed no more."""
        size = _whole_units(size)
        self.used -= size  # nothing may go between reading and writing it

    def allocate(self, size: int) -> Piece:
        """So many bytes of the GPU's memory. Raises OutOfMemory."""
        address = self.reserve(size)
        storage = poisoned(size)
        self.hold(storage, address)
        weakref.finalize(storage, self.release, size)
        return Piece(storage, address)

    def map(self, storage: np.ndarray) -> Piece:
        """These bytes of the host's memory are pinned now, and the GPU can reach them as well."""
        piece = Piece(storage, next(self._windows) << WINDOW)
        self.hold(storage, piece.address)
        self.pin(storage)
        return piece

    # Which memory is this?

    def hold(self, storage: np.ndarray, address: int) -> None:
        """These bytes stand for the memory at this address as long as they exist."""
        self._storages[address] = weakref.ref(storage, lambda _: self._storages.pop(address, None))

    def at(self, address: int) -> Piece | None:
        """The piece that an address lies in."""
        storages = self._storages.copy()
        start = max((start for start in storages if start <= address), default=None)
        storage = None if start is None else storages[start]()
        if start is None or storage is None or address >= start + max(storage.nbytes, 1):
            return None
        return Piece(storage, start)

    def adopt(self, first_byte: int) -> int:
        """An address for memory of the host that stands for a GPU's; always the same for the same first byte."""
        if first_byte not in self._adopted:
            self._adopted[first_byte] = next(self._windows) << WINDOW
        return self._adopted[first_byte]

    # Pinned memory of the host, which copy engines reach directly

    def pin(self, array: np.ndarray) -> None:
        """This memory is pinned as long as it exists, or until it is unpinned."""
        first, end = np.lib.array_utils.byte_bounds(array)
        self._pinned[first] = end
        weakref.finalize(array, self._pinned.pop, first, None)

    def unpin(self, array: np.ndarray) -> None:
        self._pinned.pop(np.lib.array_utils.byte_bounds(array)[0], None)

    def is_pinned(self, array: np.ndarray) -> bool:
        """Does all of it lie in pinned memory of the host?"""
        low, high = np.lib.array_utils.byte_bounds(array)
        return any(first <= low and high <= end for first, end in self._pinned.copy().items())


def pointer(array: np.ndarray) -> int:
    """Where the first element is in this machine's memory."""
    return array.__array_interface__["data"][0]


def poisoned(size: int) -> np.ndarray:
    """So many bytes that nobody has written to."""
    return np.full(size, POISON, np.uint8)


def _whole_units(size: int) -> int:
    return -(-size // UNIT) * UNIT
