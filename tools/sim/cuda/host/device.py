"""The simulated device as numba.cuda shows it: its attributes and its context."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, NamedTuple

from tools.models.chips import Chip
from tools.models.launch import MOST_BLOCK, MOST_GRID, MOST_THREADS
from tools.models.units import WARP
from tools.sim import host
from tools.sim.cuda.host.limits import CONSTANT, MOST_SHARED
from tools.sim.cuda.host.resources import Overload
from tools.sim.cuda.host.streams import synchronize


class ComputeCapability(NamedTuple):
    major: int
    minor: int


class MemoryInfo(NamedTuple):
    """Bytes of the device's memory."""

    free: int
    total: int


class Device:
    """cuda.get_current_device(). Attributes in capitals are the driver's, as WARP_SIZE."""

    id = 0

    def __init__(self, chip: Chip) -> None:
        self._attributes = _attributes(chip)
        self.name = chip.cards[0] if chip.cards else chip.name
        self.compute_capability = ComputeCapability(*divmod(chip.capability, 10))
        self.uuid = "GPU-00000000-0000-0000-0000-000000000000"
        self.supports_float16 = True
        self.supports_bfloat16 = chip.capability >= 80
        self.supports_fp8 = chip.capability >= 89

    def __getattr__(self, name: str) -> int:
        if name.startswith("_") or name not in self._attributes:
            raise AttributeError(
                f"The simulated GPU has no figure for {name}.\ndir() of the device lists those it has."
            )
        return self._attributes[name]

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._attributes]

    def __repr__(self) -> str:
        return f"<CUDA device {self.id} '{self.name}'>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and self.id == other.id

    def __hash__(self) -> int:
        return hash(self.id)


def _attributes(chip: Chip) -> dict[str, int]:
    """By the names of the driver API's CUdevice_attribute; bytes, bits of the bus, and kHz."""
    limits = chip.limits
    named = {
        "WARP_SIZE": WARP,
        "MULTIPROCESSOR_COUNT": chip.multiprocessors,
        "MAX_THREADS_PER_BLOCK": MOST_THREADS,
        "MAX_THREADS_PER_MULTIPROCESSOR": limits.warps * WARP,
        "MAX_BLOCKS_PER_MULTIPROCESSOR": limits.blocks,
        "MAX_SHARED_MEMORY_PER_BLOCK": MOST_SHARED,
        "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": limits.shared_per_block,
        "MAX_SHARED_MEMORY_PER_MULTIPROCESSOR": limits.shared,
        "RESERVED_SHARED_MEMORY_PER_BLOCK": limits.shared_reserved,
        "TOTAL_CONSTANT_MEMORY": CONSTANT,
        "MAX_REGISTERS_PER_BLOCK": limits.registers,
        "MAX_REGISTERS_PER_MULTIPROCESSOR": limits.registers,
        "L2_CACHE_SIZE": chip.l2,
        "CLOCK_RATE": 1000 * chip.boost_mhz,
        "GLOBAL_MEMORY_BUS_WIDTH": chip.bus_bits,
        "MEMORY_CLOCK_RATE": 1000 * chip.memory_mhz,
        "COMPUTE_CAPABILITY_MAJOR": chip.capability // 10,
        "COMPUTE_CAPABILITY_MINOR": chip.capability % 10,
        "COOPERATIVE_LAUNCH": 1,
        "UNIFIED_ADDRESSING": 1,
        "MANAGED_MEMORY": 1,
        "CAN_MAP_HOST_MEMORY": 1,
    }
    for kind, most in (("BLOCK", MOST_BLOCK), ("GRID", MOST_GRID)):
        named |= {f"MAX_{kind}_DIM_{axis}": length for axis, length in zip("XYZ", most)}
    return named


class Context:
    """cuda.current_context(): what belongs to the device while a program uses it."""

    device = property(lambda self: get_current_device())

    def get_memory_info(self) -> MemoryInfo:
        memory = host.device().memory
        return MemoryInfo(memory.capacity - memory.used, memory.capacity)

    def synchronize(self) -> None:
        synchronize()

    def get_active_blocks_per_multiprocessor(
        self, func: Overload, blocksize: int, memsize: int, flags: int | None = None
    ) -> int:
        """Blocks of so many threads, with memsize bytes of dynamic shared memory, that one multiprocessor holds."""
        return func.resident(blocksize, memsize)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Context)

    def __hash__(self) -> int:
        return hash(self.device)

    def __repr__(self) -> str:
        return "<CUDA context of device 0>"


class _Managed:
    """A device in cuda.gpus, which `with` makes the current one: there is one."""

    def __getattr__(self, name: str) -> Any:
        return getattr(get_current_device(), name)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: object) -> None:
        pass

    def __str__(self) -> str:
        return "<Managed Device 0>"


class _DeviceList(list):
    """cuda.gpus: a list of one device."""

    current = property(lambda self: self[0])

    def __str__(self) -> str:
        return ", ".join(map(str, self))


gpus = _DeviceList([_Managed()])


def list_devices() -> _DeviceList:
    return gpus


def get_current_device() -> Device:
    return Device(host.device().chip)


def current_context(devnum: int | None = None) -> Context:
    """Raises IndexError for a device that there is not."""
    gpus[devnum or 0]
    return Context()


def select_device(device_id: int) -> Device:
    """Raises IndexError for a device that there is not."""
    return current_context(device_id).device


def close() -> None:
    """Let go of the device. The next use begins with a new one, whose clock is at 0."""
    host.reset()


def is_available() -> bool:
    """Always: this one is simulated."""
    return True


is_supported_version = is_available


def cuda_error() -> None:
    """No error kept the device from starting."""


def is_float16_supported() -> bool:
    return get_current_device().supports_float16


def is_bfloat16_supported() -> bool:
    return get_current_device().supports_bfloat16


def is_fp8_supported() -> bool:
    return get_current_device().supports_fp8


def detect() -> bool:
    """Print what there is; True, because there is something."""
    device = get_current_device()
    print(f"Found {len(gpus)} CUDA devices")
    print(f"id {device.id}    {device.name}, simulated    [SUPPORTED]")
    print(f"    Compute Capability: {device.compute_capability.major}.{device.compute_capability.minor}")
    print("Summary:\n\t1/1 devices are supported")
    return True


def profile_start() -> None:
    """Nothing is profiled here: tools.check.count gives the figures."""


profile_stop = profile_start


@contextmanager
def profiling() -> Iterator[None]:
    """As profile_start and profile_stop."""
    yield


def defer_cleanup() -> AbstractContextManager[None]:
    """Memory is given back at once here, at no cost."""
    return nullcontext()
