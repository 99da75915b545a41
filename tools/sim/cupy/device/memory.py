"""Memory of the device as CuPy hands it out: by a pool that keeps what comes back, and counts."""

from collections import deque
from typing import Any

import numpy as np

from tools.sim import device_memory, host
from tools.sim.cupy.device.errors import OutOfMemoryError
from tools.sim.cupy.device.gpu import Device

UNIT = 512  # bytes; the pool rounds every request up to a multiple


class Memory:
    """A piece of the device's memory. ptr: its address. size: its bytes. storage: the array that stands for it.

    pool: that it goes back to; None where it belongs to somebody else, whom `owner` keeps alive.
    """

    device_id = 0

    def __init__(
        self, ptr: int, size: int, storage: np.ndarray, pool: "MemoryPool | None" = None, owner: Any = None
    ) -> None:
        self.ptr, self.size, self.storage, self._pool, self._owner = ptr, size, storage, pool, owner

    def __del__(self) -> None:
        if self._pool is not None:
            self._pool.give_back(self.ptr, self.size)


class MemoryPointer:
    """A place in a piece of memory, `offset` bytes from its start."""

    def __init__(self, mem: Memory, offset: int) -> None:
        self.mem, self.ptr, self.device_id = mem, mem.ptr + offset, mem.device_id

    @property
    def device(self) -> Device:
        return Device(self.device_id)

    def __int__(self) -> int:
        return self.ptr

    def __add__(self, offset: int) -> "MemoryPointer":
        return MemoryPointer(self.mem, self.ptr - self.mem.ptr + offset)

    __radd__ = __add__

    def __sub__(self, offset: int) -> "MemoryPointer":
        return self + -offset

    def __repr__(self) -> str:
        return f"<MemoryPointer 0x{self.ptr:x} device={self.device_id} mem={self.mem!r}>"


class MemoryPool:
    """Hands out memory, and keeps what comes back for the next request that fits.

    A request takes the smallest free block that holds it and leaves the rest free; a block that comes back joins
    its free neighbours. It may come back in the middle of anything, when garbage is collected, and so it waits in a
    queue until somebody asks for memory, or how much there is.
    """

    def __init__(self) -> None:
        self._used = self._total = self._limit = 0
        self._device = host.device().memory
        self._segments: dict[int, int] = {}  # address: bytes, as taken from the device
        self._free: dict[int, int] = {}  # address: bytes, of blocks that lie within segments
        self._came_back: deque[tuple[int, int]] = deque()  # address, bytes

    def malloc(self, size: int) -> MemoryPointer:
        """So many bytes, whatever they hold. Raises OutOfMemoryError."""
        self.admit(size)
        return MemoryPointer(self.hold(np.empty(size, np.uint8)), 0)

    def hold(self, storage: np.ndarray) -> Memory:
        """Memory of the device whose contents this array is. Raises OutOfMemoryError."""
        size = _whole_units(storage.nbytes)
        if not size:
            return Memory(0, 0, storage)
        address, memory_bytes = self._take(size), storage.ravel(order="K").view(np.uint8)
        self._device.hold(memory_bytes, address)
        return Memory(address, size, storage, self, owner=memory_bytes)

    def admit(self, size: int) -> None:
        """Raise OutOfMemoryError if so many bytes do not fit; asked before the host finds memory for them."""
        size = _whole_units(size)
        self._settle()
        if all(block < size for block in self._free.values()) and not self._room(size):
            self.free_all_blocks()
            if not self._room(size):
                raise OutOfMemoryError(size, self._total, self._limit)

    def give_back(self, address: int, size: int) -> None:
        """A block is needed no more."""
        self._came_back.append((address, size))

    def free_all_blocks(self, stream: Any = None) -> None:
        """Give back to the device what no block in use is part of."""
        self._settle()
        for address, size in self._segments.copy().items():
            if self._free.get(address) == size:
                del self._segments[address], self._free[address]
                self._total -= size
                self._device.release(size)

    def is_of(self, device: device_memory.Memory) -> bool:
        """Does it hand out the memory of this device?"""
        return self._device is device

    def used_bytes(self) -> int:
        self._settle()
        return self._used

    def free_bytes(self) -> int:
        return self._total - self.used_bytes()

    def total_bytes(self) -> int:
        return self._total

    def n_free_blocks(self) -> int:
        self._settle()
        return len(self._free)

    def set_limit(self, size: int | None = None, fraction: float | None = None) -> None:
        """The most that the pool may take from the device; 0: no limit."""
        if size is not None and fraction is not None:
            raise ValueError("size and fraction cannot be specified at one time")
        if fraction is not None and not 0 <= fraction <= 1:
            raise ValueError(f"memory limit fraction out of range: {fraction}")
        self._limit = int(size or 0) if fraction is None else int(fraction * self._device.capacity)

    def get_limit(self) -> int:
        return self._limit

    def _settle(self) -> None:
        """Take in what has come back."""
        while self._came_back:
            address, size = self._came_back.popleft()
            self._used -= size
            for start, length in list(self._free.items()):
                if start + length == address or address + size == start:
                    del self._free[start]
                    address, size = min(address, start), size + length
            self._free[address] = size

    def _room(self, size: int) -> bool:
        within = not self._limit or self._total + size <= self._limit
        return within and self._device.used + size <= self._device.capacity

    def _take(self, size: int) -> int:
        """The address of a block of so many bytes."""
        self.admit(size)
        fitting = [(block, address) for address, block in self._free.items() if block >= size]
        if fitting:
            block, address = min(fitting)
            del self._free[address]
        else:
            try:
                block, address = size, self._device.reserve(size)
            except device_memory.OutOfMemory:
                raise OutOfMemoryError(size, self._total, self._limit) from None
            self._segments[address] = size
            self._total += size
        if block > size:
            self._free[address + size] = block - size
        self._used += size
        return address


def _whole_units(size: int) -> int:
    return -(-size // UNIT) * UNIT


_default: MemoryPool | None = None
_current: MemoryPool | None = None


def default_pool() -> MemoryPool:
    """The pool that arrays get their memory from unless another is set; its own for each simulated device."""
    global _default
    if _default is None or not _default.is_of(host.device().memory):
        _default = MemoryPool()
    return _default


def set_allocator(allocator: Any = None) -> None:
    """Set the source of arrays' memory: the `malloc` of a MemoryPool; None: straight from the device."""
    global _current
    pool = MemoryPool() if allocator is None else getattr(allocator, "__self__", None)
    if not isinstance(pool, MemoryPool):
        raise NotImplementedError(
            f"set_allocator({allocator!r}): the simulated CuPy knows None and the malloc of a "
            "MemoryPool.\nUse cupy.cuda.MemoryPool().malloc."
        )
    _current = pool


def current_pool() -> MemoryPool:
    """The pool that arrays get their memory from now; one that was set holds for the device that it was made on."""
    return default_pool() if _current is None or not _current.is_of(host.device().memory) else _current


def get_allocator() -> Any:
    return current_pool().malloc
