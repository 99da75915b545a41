"""The lanes of a batch of blocks: who they are, and which of them are active."""

import contextlib
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

from tools.models.units import WARP
from tools.sim.cuda.faults import Fault, position
from tools.sim.cuda.numbers.promotion import Value
from tools.sim.faults import shown


class Lanes:
    """All threads of `blocks` blocks, the first of them number `first`. grid, block: x, y, z.

    count = blocks * width lanes; the lanes of a block are padded to whole warps. exists: False for padding.
    mask: the active lanes; active: how many.
    counting, races, space: what is kept of the launch and of this batch; whoever launches sets the last two.
    guesses: are the values that are read now only guesses, which a compare-and-swap checks?
    turns: with which its block and others take turns, or None.
    """

    guesses = False
    turns: Any = None

    counting: Any
    races: Any
    space: Any
    _indices: np.ndarray | None
    _active_warps: int | None

    def __init__(self, grid: tuple, block: tuple, first: int, blocks: int) -> None:
        self.grid, self.block, self.first, self.blocks = grid, block, first, blocks
        self.threads = block[0] * block[1] * block[2]
        self.width = -(-self.threads // WARP) * WARP
        self.count = blocks * self.width
        self.thread = np.tile(np.arange(self.width), blocks)
        self.exists = self.thread < self.threads
        self.nobody = np.zeros(self.count, bool)
        self._set(self.exists)

    # Who is who ----------------------------------------------------------------------------------

    @cached_property
    def block_of(self) -> np.ndarray:
        return np.repeat(np.arange(self.blocks), self.width)

    @cached_property
    def lane(self) -> Any:
        return self.thread % WARP

    @cached_property
    def thread_index(self) -> tuple:
        return position(self.thread, self.block)

    @cached_property
    def block_index(self) -> tuple:
        return tuple(np.repeat(axis, self.width) for axis in position(self.first + np.arange(self.blocks), self.grid))

    def spread(self, value: Value) -> np.ndarray:
        """One element for each lane."""
        return value if np.ndim(value) else np.broadcast_to(value, self.count)

    def warps(self, values: np.ndarray) -> np.ndarray:
        """The same with a row for each warp."""
        return values.reshape(-1, WARP)

    def name(self, lane: int) -> str:
        """thread 5 of block 2, as people say it"""
        block, thread = self.place(lane)
        return f"thread {shown(thread, self.block)} of block {shown(block, self.grid)}"

    def place(self, lane: int) -> tuple:
        """Its block and its thread, each as (x, y, z)."""
        block = position(self.first + lane // self.width, self.grid)
        return block, position(lane % self.width, self.block)

    def fault(self, kind: str, what: str, question: str = "", lanes: np.ndarray | None = None, **where: Any) -> Fault:
        """`what` begins with a verb; its subject is the first of these lanes (a mask), or of the active ones."""
        guilty = np.flatnonzero(self.mask if lanes is None else lanes)
        block, thread = self.place(int(guilty[0]))
        others = guilty.size - 1
        also = f" (and {others} more)" if others else ""
        return Fault(kind, f"{self.name(int(guilty[0]))}{also} {what}", question, block=block, thread=thread, **where)

    def overwrites(self, storage: Any, keys: Any) -> None:
        """Called before elements change; whoever follows a thread notes what they held."""
        if self.turns is not None:
            self.turns.changes(storage, keys)

    def seen(self, array: Any) -> np.ndarray | None:
        """An array as one thread, followed alone, finds it; None where no thread is followed."""
        return None

    # The mask ------------------------------------------------------------------------------------

    def _set(self, mask: np.ndarray, active: int | None = None) -> None:
        self.mask = mask
        self.active = int(np.count_nonzero(mask)) if active is None else active
        self._indices = self._active_warps = None

    @property
    def indices(self) -> np.ndarray | None:
        """Numbers of the active lanes; None when that is all."""
        if self._indices is None and self.active != self.count:
            self._indices = np.flatnonzero(self.mask)
        return self._indices

    @property
    def active_warps(self) -> int:
        """Warps with at least one active lane."""
        if self._active_warps is None:
            self._active_warps = int(np.count_nonzero(any_in_warps(self.mask)))
        return self._active_warps

    @contextlib.contextmanager
    def only(self, lanes: np.ndarray) -> Iterator[None]:
        """Inside, only these of the active lanes are active."""
        before = self.mask, self.active
        self._set(self.mask & lanes)
        yield
        self._set(*before)


def any_in_warps(mask: np.ndarray) -> np.ndarray:
    """For each warp: is one of its lanes among them? Eight lanes at a time."""
    words = mask.view(np.uint64)
    return np.bitwise_or.reduce(words.reshape(-1, WARP // 8), axis=1) != 0
