"""One thread of a launch, followed alone: with cuda.debug(block=0, thread=5): kernel[grid, block](...)

The launch runs as always, and what the watched thread gets from memory and from its neighbours is noted. Then the
kernel runs once more for that thread alone: its variables are plain numbers, print prints its lines only, and
breakpoint() opens Python's debugger at the learner's line. Memory goes back in time with it: an array shows what it
held when the thread had come so far in the launch.
"""

import builtins
import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from tools.models.units import WARP
from tools.sim.cuda.faults import position
from tools.sim.cuda.memory.array import Array, Record
from tools.sim.cuda.memory.counting import Counting
from tools.sim.cuda.memory.storage import Storage
from tools.sim.cuda.run.intrinsic import Intrinsic
from tools.sim.cuda.run.warps import Warps
from tools.sim.cuda.session import session

FROM_MEMORY = Array, Record


@contextmanager
def debug(block: int | tuple = 0, thread: int | tuple = 0) -> Iterator[None]:
    """Follow this thread of this block in the launches inside. A tuple: (x, y) or (x, y, z)."""
    with session.having(followed=(block, thread)):
        yield


def warps_for(grid: tuple, block: tuple, first: int, blocks: int, counting: Counting) -> Warps:
    """Warps for a batch; Watched ones when the thread that `debug` asked for is among them."""
    if session.followed:
        wanted_block = _number(session.followed[0], grid, "block")
        wanted_thread = _number(session.followed[1], block, "thread")
        if first <= wanted_block < first + blocks:
            return Watched(grid, block, first, blocks, counting, wanted_block, wanted_thread)
    return Warps(grid, block, first, blocks, counting)


def _number(place: int | tuple, sizes: tuple, what: str) -> int:
    place = (place,) if isinstance(place, int) else tuple(place)
    x, y, z = place + (0,) * (3 - len(place))
    if not (0 <= x < sizes[0] and 0 <= y < sizes[1] and 0 <= z < sizes[2]):
        raise ValueError(
            f"cuda.debug: there is no {what} {place if len(place) > 1 else place[0]}; the launch has {sizes} of them."
        )
    return x + sizes[0] * (y + sizes[1] * z)


class Watched(Warps):
    """Notes what one lane gets."""

    def __init__(
        self,
        grid: tuple,
        block: tuple,
        first: int,
        blocks: int,
        counting: Counting,
        wanted_block: int,
        wanted_thread: int,
    ) -> None:
        super().__init__(grid, block, first, blocks, counting)
        self.wanted = wanted_block, wanted_thread
        self.watched = (wanted_block - first) * self.width + wanted_thread
        self.notes: list = []
        self.stores = 0  # of the watched lane
        self.past: list[tuple] = []  # (moment, storage, keys, what they held), one for each change of memory

    @property
    def moment(self) -> int:
        """How often the watched lane has used memory or heard from its neighbours."""
        return len(self.notes) + self.stores

    def store(self, array: Any, index: Any, value: Any) -> None:
        self.stores += bool(self.mask[self.watched])
        super().store(array, index, value)

    def overwrites(self, storage: Storage, keys: Any) -> None:
        super().overwrites(storage, keys)
        self.past.append((self.moment, storage, keys, storage.flat[keys].copy()))

    def seen(self, array: Array) -> np.ndarray:
        shape = [int(self._own(length)) for length in array.shape]
        offsets = self._own(array.start)
        for axis, stride in enumerate(array.strides):
            steps = np.arange(shape[axis]).reshape(-1, *[1] * (len(shape) - axis - 1))
            offsets = offsets + steps * self._own(stride)
        copies = {"shared": self.block_of[self.watched], "local": self.watched}
        return array.storage.flat[copies.get(array.kind, 0) * array.storage.size + offsets]

    def load(self, array: Any, index: Any) -> Any:
        value = super().load(array, index)
        return self._note(value) if isinstance(array, FROM_MEMORY) else value

    def attribute(self, thing: Any, name: str) -> Any:
        value = super().attribute(thing, name)
        return self._note(value) if isinstance(thing, FROM_MEMORY) else value

    def call(self, function: Any, *arguments: Any, **named: Any) -> Any:
        if function is builtins.print:
            return None
        value = super().call(function, *arguments, **named)
        return self._note(value) if isinstance(function, Intrinsic) else value

    def stops(self) -> bool:
        return False

    def _note(self, value: Any) -> Any:
        if self.mask[self.watched]:
            self.notes.append(self._own(value))
        return value

    def _own(self, value: Any) -> Any:
        """The part of a value that belongs to the watched lane."""
        if isinstance(value, tuple):
            return tuple(map(self._own, value))
        return value[self.watched] if isinstance(value, np.ndarray) and value.ndim else value

    def replay(self, program: Any, arguments: list) -> None:
        """Run the kernel for the watched thread. It ends early where the launch did."""
        again = Replay(self)
        try:
            program.run(again, *arguments)
        except EndOfNotes:
            pass
        finally:
            again.catch_up()


class EndOfNotes(Exception):
    """The launch went no further."""


class Replay(Warps):
    """One thread alone, which gets from everywhere what it got in the launch."""

    def __init__(self, watched: Watched) -> None:
        block, thread = watched.wanted
        super().__init__(watched.grid, watched.block, block, 1, watched.counting)
        self.notes = iter(watched.notes)
        self.moment, self.ahead = 0, _undone(watched.past)
        self.catch_up(0)
        self.thread_index = tuple(map(np.int64, position(thread, watched.block)))
        self.block_index = tuple(map(np.int64, position(block, watched.grid)))
        self.lane = np.int64(thread % WARP)
        self.frames[0].returned = self.thread != thread
        self._set(self.thread == thread)

    def step(self) -> None:
        """Was counted before."""

    def begins(self, version: Any) -> None:
        """What there is to say of it was said before."""

    def load(self, array: Any, index: Any) -> Any:
        return self._next() if isinstance(array, FROM_MEMORY) else super().load(array, index)

    def attribute(self, thing: Any, name: str) -> Any:
        return self._next() if isinstance(thing, FROM_MEMORY) else super().attribute(thing, name)

    def store(self, array: Any, index: Any, value: Any) -> None:
        """Was done before, and is done again in memory."""
        self._passes()

    def catch_up(self, moment: float = math.inf) -> None:
        """Change memory as it was changed up to this moment."""
        while self.ahead and self.ahead[-1][0] <= moment:
            _, storage, keys, values = self.ahead.pop()
            storage.flat[keys] = values

    def _passes(self) -> None:
        self.moment += 1
        self.catch_up(self.moment)

    def call(self, function: Any, *arguments: Any, **named: Any) -> Any:
        return self._next() if isinstance(function, Intrinsic) else super().call(function, *arguments, **named)

    def stops(self) -> bool:
        return True

    def _next(self) -> Any:
        for value in self.notes:
            self._passes()
            return value
        raise EndOfNotes


def _undone(past: list[tuple]) -> list[tuple]:
    """Undo these changes of memory, the last first, and give them back with what they wrote, the first at the end."""
    ahead = []
    for moment, storage, keys, held in reversed(past):
        ahead.append((moment, storage, keys, storage.flat[keys].copy()))
        storage.flat[keys] = held
    return ahead
