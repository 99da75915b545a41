"""Vector clocks: the order among the programs of a launch, as atomics that release and acquire make it.

A release publishes what one thread of its program did, the thread that makes scalar accesses and atomics: Triton puts
no barrier before it. What the program's other threads did in accesses to blocks is published by a release that comes
after `tl.debug_barrier()`, or after an earlier scalar atomic for whose result all threads waited. So a program has two
rows in a clock: SCALAR and BLOCK. An acquire is taken to hold for the whole program.
"""

from typing import NamedTuple

import numpy as np

from tools.sim.triton.races.shadow import Shadow

SCALAR, BLOCK = 0, 1  # rows of a clock
KEPT = 4096  # clocks at least, before those are dropped that no place holds any more


class Event(NamedTuple):
    """An atomic that acquires or releases.

    epochs: up to which scalar accesses, and which to blocks, of the program a release publishes. place: the memory it
    went to; addresses: of its elements; written: those of them that it wrote, or whether it wrote all.
    """

    program: int
    epochs: tuple[int, int]
    acquires: bool
    releases: bool
    place: Shadow
    addresses: np.ndarray
    written: np.ndarray | bool


class Clocks:
    """What the programs of a launch know of each other. Events are kept as they are until somebody asks."""

    def __init__(self, programs: int) -> None:
        self.programs = programs
        self._waiting: list[Event] = []
        self._known: dict[int, np.ndarray] = {}  # by program; without acquires it knows of itself alone
        self._published = [np.zeros((2, programs), np.int32)]  # the first, of an element that nobody released: nothing
        self._most = KEPT
        self._at: dict[Shadow, np.ndarray] = {}  # by place, for each element: a number in `_published`

    def add(self, event: Event) -> None:
        """The next event of the launch, in the order in which they happen."""
        self._waiting.append(event)

    def known(self, program: int) -> np.ndarray | None:
        """How far this program knows each program to be, by row and program: int32 [2, programs]; None: nothing."""
        for event in self._waiting:
            self._happen(event)
        self._waiting.clear()
        return self._known.get(program)

    def _happen(self, event: Event) -> None:
        if event.place not in self._at:
            self._at[event.place] = np.zeros(event.place.elements, np.int32)
        at, index = self._at[event.place], event.place.index(event.addresses)
        numbers = set(at[index].tolist()) - {0}
        if event.acquires and numbers:
            self._known[event.program] = self._merged(self._known.get(event.program), numbers)
        written = index[np.broadcast_to(event.written, index.shape)]
        if event.releases and written.size:
            own = self._merged(self._known.get(event.program), set(at[written].tolist()) - {0}).copy()
            own[:, event.program] = np.maximum(own[:, event.program], event.epochs)
            if len(self._published) >= self._most:
                self._drop()
            at[written] = len(self._published)
            self._published.append(own)

    def _merged(self, known: np.ndarray | None, numbers: set[int]) -> np.ndarray:
        clock = np.zeros((2, self.programs), np.int32) if known is None else known
        for number in numbers:
            clock = np.maximum(clock, self._published[number])
        return clock

    def _drop(self) -> None:
        """Forget the clocks that no element holds, and number the others anew."""
        held = np.unique(np.concatenate([[0], *(np.unique(at) for at in self._at.values())])).astype(np.int32)
        for place, at in self._at.items():
            self._at[place] = np.searchsorted(held, at).astype(np.int32)
        self._published = [self._published[number] for number in held]
        self._most = max(KEPT, 2 * len(held))
