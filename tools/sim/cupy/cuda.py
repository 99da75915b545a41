"""cupy.cuda: the device, streams and events, memory, and the part of the runtime that lessons ask."""

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np

from tools.sim import host
from tools.sim.cupy.kernels.refusal import CompileException
from tools.sim.cupy.memory import (
    MemoryPointer,
    MemoryPool,
    OutOfMemoryError,
    current_pool,
    get_allocator,
    set_allocator,
)
from tools.sim.cupy.streams import CUDARuntimeError, Event, ExternalStream, Stream, get_current_stream, get_elapsed_time

VERSION = 13000  # CUDA 13.0, of the runtime and the driver
PROPERTIES = {  # of every chip of the table: CUDA C++ Programming Guide 13, Compute Capabilities
    "warpSize": 32,
    "maxThreadsPerBlock": 1024,
    "maxThreadsDim": (1024, 1024, 64),
    "maxGridSize": (2**31 - 1, 65535, 65535),
    "sharedMemPerBlock": 48 * 1024,
    "regsPerBlock": 65536,
    "totalConstMem": 64 * 1024,
}


class Device:
    """A GPU by its number. There is one, 0."""

    def __init__(self, device: "int | Device | None" = None):
        self.id = 0 if device is None else int(device)

    def __int__(self):
        return self.id

    def __eq__(self, other):
        return isinstance(other, Device) and self.id == other.id

    def __hash__(self):
        return self.id

    def __repr__(self):
        return f"<CUDA Device {self.id}>"

    def use(self) -> "Device":
        _set_device(self.id)
        return self

    def __enter__(self) -> "Device":
        return self.use()

    def __exit__(self, *exception) -> None:
        pass

    def synchronize(self) -> None:
        """The host waits for all work."""
        host.device().synchronize()

    @property
    def compute_capability(self) -> str:
        return str(host.device().chip.capability)

    @property
    def mem_info(self) -> tuple[int, int]:
        """Bytes free, and in all."""
        return _mem_get_info()

    @property
    def pci_bus_id(self) -> str:
        return "0000:00:00.0"


def get_device_id() -> int:
    return 0


def is_available() -> bool:
    return True


def alloc(size: int) -> MemoryPointer:
    """So many bytes of the device's memory."""
    return current_pool().malloc(size)


@contextmanager
def using_allocator(allocator=None) -> Iterator[None]:
    """Another allocator inside."""
    before = get_allocator()
    set_allocator(allocator)
    try:
        yield
    finally:
        set_allocator(before)


class PinnedMemoryPointer(bytearray):
    """Pinned memory of the host, for numpy.frombuffer. ptr: where it lies."""

    def __init__(self, size: int):
        super().__init__(size)
        self._array = np.frombuffer(self, np.uint8)
        self.ptr, self.mem = self._array.__array_interface__["data"][0], self
        host.device().memory.pin(self._array)

    def size(self) -> int:
        return len(self)


def alloc_pinned_memory(size: int) -> PinnedMemoryPointer:
    """So many bytes that copy engines reach while the host goes on."""
    return PinnedMemoryPointer(size)


# The runtime -------------------------------------------------------------------------------------


def _check_device(device: int) -> None:
    if device != 0:
        raise CUDARuntimeError(101, "cudaErrorInvalidDevice: invalid device ordinal")


def _set_device(device: int) -> None:
    _check_device(device)


def _get_device_properties(device: int) -> dict:
    """What a program may want to know about the device, under the names of cudaDeviceProp."""
    _check_device(device)
    chip = host.device().chip
    major, minor = divmod(chip.capability, 10)
    return PROPERTIES | {
        "name": (chip.cards[0] if chip.cards else chip.name).encode(),
        "major": major,
        "minor": minor,
        "totalGlobalMem": host.device().memory.capacity,
        "multiProcessorCount": chip.multiprocessors,
        "clockRate": chip.boost_mhz * 1000,
        "l2CacheSize": chip.l2,
        "maxThreadsPerMultiProcessor": chip.limits.warps * 32,
        "maxBlocksPerMultiProcessor": chip.limits.blocks,
        "regsPerMultiprocessor": chip.limits.registers,
        "sharedMemPerMultiprocessor": chip.limits.shared,
        "sharedMemPerBlockOptin": chip.limits.shared_per_block,
        "reservedSharedMemPerBlock": chip.limits.shared_reserved,
    }


def _mem_get_info() -> tuple[int, int]:
    memory = host.device().memory
    return memory.capacity - memory.used, memory.capacity


runtime = SimpleNamespace(
    CUDARuntimeError=CUDARuntimeError,
    getDeviceCount=lambda: 1,
    getDevice=lambda: 0,
    setDevice=_set_device,
    getDeviceProperties=_get_device_properties,
    memGetInfo=_mem_get_info,
    runtimeGetVersion=lambda: VERSION,
    driverGetVersion=lambda: VERSION,
    deviceSynchronize=lambda: host.device().synchronize(),
    streamSynchronize=lambda ptr: ExternalStream(ptr).synchronize(),
    is_hip=False,
)
compiler = SimpleNamespace(CompileException=CompileException)
memory = SimpleNamespace(OutOfMemoryError=OutOfMemoryError, MemoryPool=MemoryPool)
stream = SimpleNamespace(
    Stream=Stream, Event=Event, get_current_stream=get_current_stream, get_elapsed_time=get_elapsed_time
)


@contextmanager
def profile() -> Iterator[None]:
    """For a profiler, of which there is none here."""
    yield


profiler = SimpleNamespace(start=lambda: None, stop=lambda: None)
nvtx = SimpleNamespace(
    RangePush=lambda message, id_color=-1: None, RangePop=lambda: None, Mark=lambda message, id_color=-1: None
)
