"""Neighbouring threads that ask for elements far apart: the call is made again, and each access of one line heard."""

from typing import NamedTuple

import numpy as np

from tools.check.diagnosis.repeated import DOES, MOST, heard
from tools.models.units import WARP
from tools.sim.counters import Counters, Line
from tools.sim.faults import describe
from tools.sim.trace import Access, Memory
from tools.words import plural

MANY = 8  # of so many pairs of neighbours one lies apart: rows of four do, rows of eight floats fill whole sectors


class Apart(NamedTuple):
    """Two neighbouring threads of a block, the elements that they ask for at one time, and bytes between these."""

    line: int
    kind: str
    memory: Memory
    threads: tuple[int, int]
    addresses: tuple[int, int]

    def __str__(self) -> str:
        """At one time threads 0 and 1 of a block store [0, 0] and [1, 0] of out, 64 elements (256 bytes) apart."""
        does, (one, other) = DOES[self.kind].removesuffix("s"), self.threads
        size = abs(self.addresses[1] - self.addresses[0])
        elements, rest = divmod(size, self.memory.itemsize)
        apart = f"{size} bytes" if rest else f"{elements} {plural('element', elements)} ({size} bytes)"
        places = [_place(self.memory, address) for address in self.addresses]
        which = f" {places[0]} and {places[1]} of" if all(places) else " elements of"
        start = f"At one time threads {one} and {other} of a block {does} in line {self.line}"
        return f"{start}{which} {self.memory.name}, {apart} apart."


def _place(memory: Memory, address: int) -> list[int]:
    """Of the element at this address along each axis; [] where strides do not tell."""
    left, place = address - memory.address, [0] * len(memory.shape)
    for axis in sorted(range(len(memory.shape)), key=lambda axis: -memory.strides[axis]):
        if memory.shape[axis] > 1:
            if memory.strides[axis] <= 0:
                return []
            place[axis], left = divmod(left, memory.strides[axis])
    inside = all(0 <= index < length for index, length in zip(place, memory.shape))
    return place if inside and not left else []


class Hearing:
    """The first access of one line in which many neighbours lie apart: a Listener of tools/sim/trace.py."""

    def __init__(self, line: Line) -> None:
        self.line = line
        self.found: Apart | None = None
        self.accesses = 0

    def launch(self, kernel: str, grid: tuple[int, int, int], block: tuple[int, int, int] | None) -> None:
        pass

    def access(self, access: Access) -> None:
        self.accesses += len(access.addresses)
        if self.found or access.memory.space != "global" or access.threads is None or self.accesses > MOST:
            return
        if (*describe(access.spot)[:2], access.kind) != (self.line.file, self.line.line, self.line.kind):
            return
        order = np.lexsort((access.threads, access.programs))
        programs, threads, addresses = (each[order] for each in (access.programs, access.threads, access.addresses))
        beside = (np.diff(threads) == 1) & (np.diff(programs) == 0) & (threads[1:] % WARP > 0)
        apart = beside & (np.abs(np.diff(addresses)) > access.size)
        if MANY * np.count_nonzero(apart) > np.count_nonzero(beside):
            first = int(np.argmax(apart))
            pair = slice(first, first + 2)
            one, other = threads[pair].tolist()
            here, there = addresses[pair].tolist()
            self.found = Apart(self.line.line, self.line.kind, access.memory, (one, other), (here, there))


def neighbours_apart(counters: Counters, line: Line) -> Apart | None:
    """The call of these counters, made once more; None where that cannot be done, or would take long."""
    hearing = Hearing(line)
    return hearing.found if heard(counters, hearing) else None
