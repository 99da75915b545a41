"""The GPU by its number, and how much of its memory is free."""

from typing import Any

from tools.sim import host
from tools.sim.cupy.device import graphs
from tools.sim.cupy.device.errors import CUDARuntimeError


def check_device(device: int) -> None:
    """Raise CUDARuntimeError for any device but 0, the only one."""
    if device != 0:
        raise CUDARuntimeError(101, "cudaErrorInvalidDevice: invalid device ordinal")


def memory_info() -> tuple[int, int]:
    """Bytes of the device's memory that are free, and in all."""
    memory = host.device().memory
    return memory.capacity - memory.used, memory.capacity


class Device:
    """A GPU by its number. There is one, 0."""

    def __init__(self, device: "int | Device | None" = None) -> None:
        self.id = 0 if device is None else int(device)

    def __int__(self) -> int:
        return self.id

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, Device) and self.id == other.id

    def __hash__(self) -> int:
        return self.id

    def __repr__(self) -> str:
        return f"<CUDA Device {self.id}>"

    def use(self) -> "Device":
        check_device(self.id)
        return self

    def __enter__(self) -> "Device":
        return self.use()

    def __exit__(self, *exception: Any) -> None:
        pass

    def synchronize(self) -> None:
        """The host waits for all work."""
        graphs.forbid_waiting()
        host.device().synchronize()

    @property
    def compute_capability(self) -> str:
        return str(host.device().chip.capability)

    @property
    def mem_info(self) -> tuple[int, int]:
        """Bytes free, and in all."""
        return memory_info()

    @property
    def pci_bus_id(self) -> str:
        return "0000:00:00.0"
