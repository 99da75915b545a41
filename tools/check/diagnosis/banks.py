"""A request with bank conflicts in numbers: the call is made again, and each access of one line heard."""

from typing import NamedTuple

import numpy as np

from tools.check.diagnosis.repeated import MOST
from tools.check.patience import SLOW_REPEAT, allowed
from tools.models import banks
from tools.models.units import WARP
from tools.sim.counters import Counters, Line
from tools.sim.faults import describe
from tools.sim.trace import Access, Memory

SHOWN = 4  # elements of a request


class Request(NamedTuple):
    """What one warp asks of an array in shared memory at one time. elements: of its active lanes, in their order."""

    memory: Memory
    elements: tuple[int, ...]
    conflicts: int

    def __str__(self) -> str:
        """tile is (32, 33), rows of 33. The first threads of a warp ask for its elements 0, 34, 68, 102."""
        name, shape = self.memory.name, self.memory.shape
        rows = f", rows of {shape[-1]}" if len(shape) > 1 else ""
        shown = ", ".join(map(str, self.elements[:SHOWN]))
        return f"{name} is {shape}{rows}. The first threads of a warp ask for its elements {shown}."


class Hearing:
    """The request of one line that has most conflicts: a Listener of tools/sim/trace.py."""

    def __init__(self, line: Line) -> None:
        self.line, self.kind = line, line.kind.removeprefix("shared ")
        self.worst: Request | None = None
        self.accesses = 0

    def launch(self, kernel: str, grid: tuple[int, int, int], block: tuple[int, int, int] | None) -> None:
        pass

    def access(self, access: Access) -> None:
        self.accesses += len(access.addresses)
        if access.memory.space != "shared" or access.threads is None or self.accesses > MOST:
            return
        if (*describe(access.spot)[:2], access.kind) != (self.line.file, self.line.line, self.kind):
            return
        addresses, active = _by_warp(access)
        conflicts = banks.conflicts(addresses, access.size, active, access.kind)
        most = int(np.argmax(conflicts))
        if conflicts[most] > (self.worst.conflicts if self.worst else 0):
            own = addresses[most][active[most]] - access.memory.address
            elements = tuple((own // access.memory.itemsize).tolist())
            self.worst = Request(access.memory, elements, int(conflicts[most]))


def _by_warp(access: Access) -> tuple[np.ndarray, np.ndarray]:
    """The addresses of each request, [requests, 32], and which of its lanes are active."""
    assert access.threads is not None
    warps = np.stack([access.programs, access.threads // WARP])
    request = np.unique(warps, axis=1, return_inverse=True)[1].reshape(-1)
    addresses = np.zeros((int(request.max(initial=-1)) + 1, WARP), np.int64)
    active = np.zeros(addresses.shape, bool)
    addresses[request, access.threads % WARP] = access.addresses
    active[request, access.threads % WARP] = True
    return addresses, active


def worst_request(counters: Counters, line: Line) -> Request | None:
    """The call of these counters, made once more; None where that cannot be done, or would take long."""
    call = getattr(counters, "call", None)
    if call is None or call.seconds >= allowed(SLOW_REPEAT):
        return None
    hearing = Hearing(line)
    return hearing.worst if call.made_again(hearing) and hearing.accesses <= MOST else None
