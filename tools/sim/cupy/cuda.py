"""cupy.cuda: the device, streams and events, memory, and the part of the runtime that lessons ask."""

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import numpy as np

from tools.models.launch import MOST_BLOCK, MOST_GRID, MOST_THREADS
from tools.models.units import WARP
from tools.sim import host
from tools.sim.cupy.arrays.ndarray import address
from tools.sim.cupy.device.errors import CompileException, CUDADriverError, CUDARuntimeError, OutOfMemoryError
from tools.sim.cupy.device.gpu import Device as Device
from tools.sim.cupy.device.gpu import check_device, memory_info
from tools.sim.cupy.device.graphs import Graph as Graph
from tools.sim.cupy.device.memory import MemoryPointer, MemoryPool, current_pool, get_allocator, set_allocator
from tools.sim.cupy.device.streams import Event, ExternalStream, Stream, get_current_stream, get_elapsed_time
from tools.sim.cupy.raw import resources

VERSION = 13000  # CUDA 13.0, of the runtime and the driver
PROPERTIES = {  # of every chip of the table: CUDA C++ Programming Guide 13, Compute Capabilities
    "warpSize": WARP,
    "maxThreadsPerBlock": MOST_THREADS,
    "maxThreadsDim": MOST_BLOCK,
    "maxGridSize": MOST_GRID,
    "sharedMemPerBlock": 48 * 1024,
    "regsPerBlock": 65536,
    "totalConstMem": 64 * 1024,
}


def get_device_id() -> int:
    return 0


def is_available() -> bool:
    return True


def alloc(size: int) -> MemoryPointer:
    """So many bytes of the device's memory."""
    return current_pool().malloc(size)


@contextmanager
def using_allocator(allocator: Any = None) -> Iterator[None]:
    """Another allocator inside."""
    before = get_allocator()
    set_allocator(allocator)
    try:
        yield
    finally:
        set_allocator(before)


class PinnedMemoryPointer(bytearray):
    """Pinned memory of the host, for numpy.frombuffer. ptr: where it lies."""

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self._array = np.frombuffer(self, np.uint8)
        self.ptr, self.mem = address(self._array), self
        host.device().memory.pin(self._array)

    def size(self) -> int:
        return len(self)


def alloc_pinned_memory(size: int) -> PinnedMemoryPointer:
    """So many bytes that copy engines reach while the host goes on."""
    return PinnedMemoryPointer(size)


# The runtime -------------------------------------------------------------------------------------


def _get_device_properties(device: int) -> dict:
    """The device's properties under the names of cudaDeviceProp."""
    check_device(device)
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
        "maxThreadsPerMultiProcessor": chip.limits.warps * WARP,
        "maxBlocksPerMultiProcessor": chip.limits.blocks,
        "regsPerMultiprocessor": chip.limits.registers,
        "sharedMemPerMultiprocessor": chip.limits.shared,
        "sharedMemPerBlockOptin": chip.limits.shared_per_block,
        "reservedSharedMemPerBlock": chip.limits.shared_reserved,
    }


runtime = SimpleNamespace(
    CUDARuntimeError=CUDARuntimeError,
    getDeviceCount=lambda: 1,
    getDevice=lambda: 0,
    setDevice=check_device,
    getDeviceProperties=_get_device_properties,
    memGetInfo=memory_info,
    runtimeGetVersion=lambda: VERSION,
    driverGetVersion=lambda: VERSION,
    deviceSynchronize=lambda: Device().synchronize(),
    streamSynchronize=lambda ptr: ExternalStream(ptr).synchronize(),
    is_hip=False,
)
driver = SimpleNamespace(
    CUDADriverError=CUDADriverError,
    get_build_version=lambda: VERSION,
    occupancyMaxActiveBlocksPerMultiprocessor=resources.max_active_blocks,
    occupancyMaxPotentialBlockSize=resources.max_potential_block_size,
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
