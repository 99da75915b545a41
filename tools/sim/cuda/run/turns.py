"""Blocks that wait for each other take turns: each runs until it ends, or until a loop of its gets nowhere.

Each block has a thread of Python's, of which one runs at a time. A GPU begins its blocks in any order; here they begin
in order, and the next one when none of those before it gets any further. When nothing changes in a whole round, none
ever will: that is a deadlock, and the first of them is told so at its line.
"""

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from tools.sim import floats
from tools.sim.cuda.faults import Unknown, learner_frame
from tools.sim.cuda.run.values import NUMBER
from tools.sim.cuda.session import session

PATIENCE = 16  # turns of a loop after which another block has its turn
MOST_WAITING = 512  # blocks
MOST_TURNS = 20_000  # of a loop in which variables change and no memory does
MOST_NOTES = 1000  # changes of memory that are looked at again


class _Ended(BaseException):
    """The launch is over for this block."""


class Block:
    """One of the blocks. done: has it ended? error: with what.

    quiet: did it change no memory in its last turn? idle: nor a variable?
    """

    def __init__(self, number: int, run: Callable[[], None]) -> None:
        self.number, self.done, self.quiet, self.idle = number, False, False, False
        self.error: BaseException | None = None
        self.order = ""  # what it is told when its turn comes: "", "stuck", "end"
        self.loop: Any = None
        self.before: list = []
        self.notes: list[tuple] = []
        self.changes = False
        self.state: tuple = (session.warps, floats.current)
        self._go, self._back = threading.Semaphore(0), threading.Semaphore(0)
        self._thread = threading.Thread(target=self._main, args=(run,), daemon=True)
        self._thread.start()

    def _main(self, run: Callable[[], None]) -> None:
        self._go.acquire()
        try:
            with np.errstate(all="ignore"):
                run()
        except BaseException as error:
            self.error = error
        self.done = True
        self._back.release()

    def resume(self) -> None:
        """Its turn, until it pauses or ends."""
        mine = session.warps, floats.current
        session.warps, floats.current = self.state
        self._go.release()
        self._back.acquire()
        session.warps, floats.current = mine

    def pause(self) -> None:
        """Let another one have its turn. In the block's own thread."""
        self.state = session.warps, floats.current
        self._back.release()
        self._go.acquire()
        if self.order == "end":
            raise _Ended


class Turns:
    """run(block number, turns) for `blocks` blocks, of which the GPU holds `resident` at a time."""

    def __init__(self, blocks: int, resident: int, run: Callable[[int, "Turns"], None]) -> None:
        self.blocks, self.resident, self._run = blocks, resident, run
        self.current: Any = None
        self._waiting: list[Block] = []
        self._begun = 0

    def all(self) -> None:
        """Run them all. Raises what the first of them raises."""
        try:
            while self._waiting or self._begun < self.blocks:
                self._round()
        finally:
            for block in self._waiting:
                block.order = "end"
                block.resume()

    def _round(self) -> None:
        """A turn for each block that waits. Nothing that happens there may help: then others begin."""
        for block in list(self._waiting):
            self._turn(block)
        while all(block.quiet for block in self._waiting) and self._room():
            number = self._begun
            self._begun += 1
            self._waiting.append(Block(number, lambda: self._run(number, self)))
            self._turn(self._waiting[-1])
        if self._waiting and all(block.idle for block in self._waiting):
            self._waiting[0].order = "stuck"

    def _room(self) -> bool:
        """May another block begin?"""
        if self._begun == self.blocks or len(self._waiting) == self.resident:
            return False
        if len(self._waiting) == MOST_WAITING:
            raise Unknown(f"The simulator lets {MOST_WAITING} blocks wait for each other; a GPU may hold more.")
        return True

    def _turn(self, block: Block) -> None:
        self.current = block
        block.resume()
        if block.done:
            self._waiting.remove(block)
            for other in self._waiting:
                other.idle = False  # what it did last may help them
        if block.error is not None:
            raise block.error

    # In the thread of a block ----------------------------------------------------------------------

    def changes(self, storage: Any, keys: Any) -> None:
        """The block that runs is about to change these elements."""
        block = self.current
        if len(block.notes) < MOST_NOTES:
            block.notes.append((storage, keys, storage.flat[keys].copy()))
        else:
            block.changes = True

    def pause(self, lanes: Any, loop: Any) -> None:
        """The block that runs has had some turns of a loop. Raises Fault when no block gets any further."""
        block = self.current
        changes = block.changes or any(map(_differs, block.notes))
        now = _variables(loop)
        same = block.loop is loop and len(now) == len(block.before) and all(map(_equal, block.before, now))
        block.quiet = not changes
        block.idle = block.quiet and (same or loop.turns > MOST_TURNS)
        if changes:
            for other in self._waiting:
                other.idle = False
        block.loop, block.before, block.notes, block.changes = loop, now, [], False
        block.pause()
        if block.order == "stuck":
            raise self._deadlock(lanes, loop)

    def _deadlock(self, lanes: Any, loop: Any) -> Exception:
        missing = self.blocks - self._begun
        if missing:
            return lanes.fault(
                "endless_loop",
                f"does not leave this loop, and {missing:,} blocks have not begun:\n"
                f"the GPU holds {self.resident:,} of them at a time, and those all wait.",
                "A block may wait for one that began before it, not for a later one.",
                lanes=loop.running,
            )
        return lanes.fault(
            "endless_loop",
            "does not leave this loop: nothing changes from turn to turn,\nin any block that is left.",
            "What should end it, and who does that? Here, blocks take turns, not threads.",
            lanes=loop.running,
        )


def _variables(loop: Any) -> list:
    """The kernel's variables, of the lanes that are in the loop."""
    found = [value for _, value in sorted(learner_frame().f_locals.items()) if isinstance(value, NUMBER)]
    return [
        loop.running,
        *(value[loop.running] if isinstance(value, np.ndarray) and value.ndim else value for value in found),
    ]


def _differs(note: tuple) -> bool:
    storage, keys, held = note
    return not _equal(storage.flat[keys], held)


def _equal(one: Any, other: Any) -> bool:
    return one is other or np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
