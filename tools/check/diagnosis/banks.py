"""A request with bank conflicts in numbers: the call is made again, and each access of one line heard."""

from typing import NamedTuple

import numpy as np

from tools.check.diagnosis.repeated import MOST, heard
from tools.models import banks
from tools.models.units import BANKS, WARP, WORD
from tools.sim.counters import Counters, Line
from tools.sim.faults import describe
from tools.sim.trace import Access, Memory


class Request(NamedTuple):
    """What one warp asks of an array in shared memory at one time. elements: two that lie in one bank, or none."""

    memory: Memory
    elements: tuple[int, ...]
    bank: int
    conflicts: int

    def __str__(self) -> str:
        """tile is (33, 32), rows of 32. Elements 1 and 33 of tile are both in bank 1."""
        name, shape = self.memory.name, self.memory.shape
        rows = f", rows of {shape[-1]}" if len(shape) > 1 else ""
        told = f"{name} is {shape}{rows}."
        if len(self.elements) == 2:
            bank = f"bank {self.bank}" if self.memory.address % banks.ROW == 0 else "one bank"
            told += " Elements {} and {} of {} are both in {}.".format(*self.elements, name, bank)
        return told


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
            two = _two_of_one_bank(addresses[most], access.size, active[most], access.kind)
            elements = tuple((address - access.memory.address) // access.memory.itemsize for address in two)
            bank = two[0] // WORD % BANKS if two else 0
            self.worst = Request(access.memory, elements, bank, int(conflicts[most]))


def _two_of_one_bank(addresses: np.ndarray, size: int, active: np.ndarray, kind: str) -> tuple[int, ...]:
    """The addresses of the first lane that a bank keeps waiting, and of the lane before it that it waits for."""
    together = int(banks.lanes_together(addresses[None], size, active[None], kind)[0])
    word = max(WORD, size)
    first: dict[tuple[int, int], int] = {}  # of each bank, for each group of lanes that are served together
    for lane in np.flatnonzero(active).tolist():
        address = int(addresses[lane])
        before = first.setdefault((lane // together, address // word % (banks.ROW // word)), address)
        if address // word != before // word:
            return before, address
    return ()


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
    hearing = Hearing(line)
    return hearing.worst if heard(counters, hearing) else None
