"""One thread of a launch, followed alone: with cuda.debug(block=0, thread=5): kernel[grid, block](...)

The launch runs as always, and what the watched thread gets from memory and from its neighbours is noted. Then the
kernel runs once more for that thread alone: its variables are plain numbers, print prints its lines only, and
breakpoint() opens Python's debugger at the learner's line.
"""

import builtins
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from tools.sim.cuda.faults import position
from tools.sim.cuda.intrinsic import Intrinsic
from tools.sim.cuda.lanes import Lanes
from tools.sim.cuda.memory import Array, Record

FROM_MEMORY = Array, Record

_wanted: list[tuple] = []


@contextmanager
def debug(block: int | tuple = 0, thread: int | tuple = 0) -> Iterator[None]:
    """Follow this thread of this block in the launches inside. A tuple: (x, y) or (x, y, z)."""
    _wanted.append((block, thread))
    try:
        yield
    finally:
        _wanted.pop()


def lanes_for(grid: tuple, block: tuple, first: int, blocks: int, counting) -> Lanes:
    """Lanes for a batch; Watched ones when the thread that `debug` asked for is among them."""
    if _wanted:
        wanted_block = _number(_wanted[-1][0], grid, "block")
        wanted_thread = _number(_wanted[-1][1], block, "thread")
        if first <= wanted_block < first + blocks:
            return Watched(grid, block, first, blocks, counting, wanted_block, wanted_thread)
    return Lanes(grid, block, first, blocks, counting)


def _number(place: int | tuple, sizes: tuple, what: str) -> int:
    place = (place,) if isinstance(place, int) else tuple(place)
    x, y, z = place + (0,) * (3 - len(place))
    if not (0 <= x < sizes[0] and 0 <= y < sizes[1] and 0 <= z < sizes[2]):
        raise ValueError(f"cuda.debug: there is no {what} {place if len(place) > 1 else place[0]}; "
                         f"the launch has {sizes} of them.")
    return x + sizes[0] * (y + sizes[1] * z)


class Watched(Lanes):
    """Notes what one lane gets."""

    def __init__(self, grid, block, first, blocks, counting, wanted_block: int, wanted_thread: int):
        super().__init__(grid, block, first, blocks, counting)
        self.wanted = wanted_block, wanted_thread
        self.watched = (wanted_block - first) * self.width + wanted_thread
        self.notes: list = []

    def load(self, array, index):
        value = super().load(array, index)
        return self._note(value) if isinstance(array, FROM_MEMORY) else value

    def attribute(self, thing, name):
        value = super().attribute(thing, name)
        return self._note(value) if isinstance(thing, FROM_MEMORY) else value

    def call(self, function, *arguments, **named):
        if function is builtins.print:
            return None
        value = super().call(function, *arguments, **named)
        return self._note(value) if isinstance(function, Intrinsic) else value

    def stops(self) -> bool:
        return False

    def _note(self, value):
        if self.mask[self.watched]:
            self.notes.append(self._own(value))
        return value

    def _own(self, value):
        """The part of a value that belongs to the watched lane."""
        if isinstance(value, tuple):
            return tuple(map(self._own, value))
        return value[self.watched] if isinstance(value, np.ndarray) and value.ndim else value

    def replay(self, program, arguments: list) -> None:
        """Run the kernel for the watched thread. It ends early where the launch did."""
        try:
            program.run(Replay(self), *arguments)
        except EndOfNotes:
            pass


class EndOfNotes(Exception):
    """The launch went no further."""


class Replay(Lanes):
    """One thread alone, which gets from everywhere what it got in the launch."""

    def __init__(self, watched: Watched):
        block, thread = watched.wanted
        super().__init__(watched.grid, watched.block, block, 1, watched.counting)
        self.notes = iter(watched.notes)
        self.thread_index = tuple(map(np.int64, position(thread, watched.block)))
        self.block_index = tuple(map(np.int64, position(block, watched.grid)))
        self.lane = np.int64(thread % 32)
        self.frames[0].returned = self.thread != thread
        self._set(self.thread == thread)

    def step(self) -> None:
        """Was counted before."""

    def load(self, array, index):
        return self._next() if isinstance(array, FROM_MEMORY) else super().load(array, index)

    def attribute(self, thing, name):
        return self._next() if isinstance(thing, FROM_MEMORY) else super().attribute(thing, name)

    def store(self, array, index, value) -> None:
        """Was done before."""

    def call(self, function, *arguments, **named):
        return self._next() if isinstance(function, Intrinsic) else super().call(function, *arguments, **named)

    def stops(self) -> bool:
        return True

    def _next(self):
        for value in self.notes:
            return value
        raise EndOfNotes
