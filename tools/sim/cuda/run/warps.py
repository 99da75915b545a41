"""All threads of a batch of blocks, in lockstep: what a rewritten kernel asks for while it runs.

A value is a vector with one element for each lane, or, where all lanes agree, a NumPy scalar. What the vector holds
for a lane that is not active has no meaning.
"""

import enum
from collections.abc import Callable
from typing import Any

import numpy as np

from tools.sim import floats
from tools.sim.cuda.faults import Unknown, learner_spot
from tools.sim.cuda.memory.array import Array, Record
from tools.sim.cuda.numbers import operations
from tools.sim.cuda.run import calls
from tools.sim.cuda.run.attributes import attribute
from tools.sim.cuda.run.control_flow import ControlFlow
from tools.sim.cuda.run.intrinsic import Register
from tools.sim.cuda.run.missed import Missed
from tools.sim.cuda.run.phi import Phi
from tools.sim.cuda.run.sequences import item, together
from tools.sim.cuda.run.values import NUMBER, merged, strong, truth
from tools.sim.cuda.session import session


def current() -> "Warps":
    """The warps that run now."""
    if session.warps is None:
        raise RuntimeError("This has a meaning only inside a kernel, where each thread has its own.")
    return session.warps


class Warps(ControlFlow):
    """operations: what the operators of a kernel stand for. missed: a barrier to which some never came."""

    operations: Any = operations
    missed: Missed | None = None

    def __init__(self, grid: tuple, block: tuple, first: int, blocks: int, counting: Any) -> None:
        super().__init__(grid, block, first, blocks, counting)
        self._meanings: dict = {}

    # Values ---------------------------------------------------------------------------------------------

    def value(self, thing: Any) -> Any:
        """The value of a name outside the function."""
        if type(thing) is Register:
            return thing.read(self)
        if isinstance(thing, enum.Enum):
            member = f"{type(thing).__name__}.{thing.name}"
            raise Unknown(
                f"The simulator does not know {member}, a member of an enumeration.\nA GPU may run it.",
                f"{member}.value is a number everywhere.",
            )
        if isinstance(thing, np.ndarray):
            return self.space.constant(thing)
        if hasattr(thing, "__cuda_array_interface__"):
            return self.space.captured(thing)
        return _constant(strong(thing))

    def constant(self, value: Any) -> Any:
        """A value that is computed from constants alone."""
        return floats.constant(value) if isinstance(value, np.generic) else value

    def attribute(self, thing: Any, name: str) -> Any:
        """thing.name, where `thing` is a value of the kernel: an array, a complex number, cuda.threadIdx."""
        part = attribute(thing, name)
        return part if isinstance(part, NUMBER) else self.value(part)

    def fit(self, value: Any, phi: Phi) -> Any:
        """A variable before a loop that changes it, in the type that it has in the loop."""
        return _settled(phi.fit(value))

    def typed(self, value: Any, phi: Phi) -> Any:
        """The result of an operation, in its type."""
        return phi.fit(value)

    def merge(self, here: Any, other: Any, place: Any, phi: Phi) -> Any:
        """A variable where ways meet: `here` for the active lanes, `other` for the rest. place: a split or a loop."""
        if not place.reached or self.active == place.count:
            return phi.fit(here)
        if not self.active:
            return phi.fit(other)
        return merged(self.mask, phi.fit(here), phi.fit(other))

    def turn(self, here: Any, other: Any, place: Any, phi: Phi) -> Any:
        """The same at the end of a loop's turn."""
        return _settled(self.merge(here, other, place, phi))

    def unpack(self, values: Any, count: int) -> Any:
        """For a, b = values."""
        if isinstance(values, Array):
            values = tuple(values.load(np.int64(number)) for number in range(int(values.shape[0])))
        if not isinstance(values, tuple) or len(values) != count:
            raise TypeError(f"{count} variables need a tuple of {count} values.")
        return values

    def together(self, name: str, *values: Any) -> Any:
        """zip(...) or enumerate(...), as a for loop goes through it."""
        return together(name, values)

    def call(self, function: Any, *arguments: Any, **named: Any) -> Any:
        """A call in the kernel: an intrinsic, a device function, or one of Python's functions that kernels know."""
        try:
            meaning = self._meanings.get(function)
        except TypeError:  # it cannot be a key, so it is none of those
            meaning = None
        if meaning is None:
            meaning = self._meanings[function] = calls.meaning(self, function)
        return meaning(*arguments, **named)

    def begins(self, version: Any) -> None:
        """A function begins to run, in the version for its arguments."""
        self.space.begins(version)

    def stops(self) -> bool:
        """Should breakpoint() stop here?"""
        raise RuntimeError(
            "breakpoint() stops one thread, so say which one:\nwith cuda.debug(block=0, thread=5): around the launch."
        )

    # Expressions ---------------------------------------------------------------------------------

    def known(self, condition: Any, surely: Any = True) -> Any:
        """A condition that Numba decides while it compiles, if `surely`."""
        return condition

    def and_(self, left: Any, right: Callable, phi: Phi | None = None) -> Any:
        """left and right(): the second is evaluated only for lanes that need it. phi: of the value, if that is used."""
        return self._either(left, right, True, phi)

    def or_(self, left: Any, right: Callable, phi: Phi | None = None) -> Any:
        return self._either(left, right, False, phi)

    def _either(self, left: Any, right: Callable, needed: bool, phi: Phi | None) -> Any:
        condition = truth(left)
        if not isinstance(condition, np.ndarray):
            value = right() if condition == needed else left
            return value if phi is None else phi.fit(value)
        decides = condition if needed else ~condition
        with self.only(decides):
            value = right() if self.active else left
        if phi is None:
            return np.where(decides, truth(value), condition)
        return merged(decides, phi.fit(value), phi.fit(left))

    def choose(self, condition: Any, first: Callable, second: Callable, phi: Phi) -> Any:
        """first() if condition else second(): each is evaluated only for the lanes that take it."""
        condition = truth(condition)
        if not isinstance(condition, np.ndarray):
            return phi.fit(first() if condition else second())
        with self.only(condition):
            yes = first() if self.active else None
        with self.only(~condition):
            no = second() if self.active else None
        return merged(condition, phi.fit(yes), phi.fit(no))

    def load(self, array: Any, index: Any) -> Any:
        """array[index]"""
        if isinstance(array, tuple):
            return item(self, array, index)
        if not isinstance(array, (Array, Record)):
            raise TypeError(f"{type(array).__name__} cannot be indexed: it is no array.")
        return array.load(index)

    def guess(self, array: Any, index: Any) -> Any:
        """array[index], which a compare-and-swap of that element checks afterwards."""
        self.guesses = True
        try:
            return self.load(array, index)
        finally:
            self.guesses = False

    def store(self, array: Any, index: Any, value: Any) -> None:
        """array[index] = value"""
        if not isinstance(array, (Array, Record)):
            raise TypeError(f"{type(array).__name__} has no elements to assign to: it is no array.")
        array.store(index, value)

    def check(self, condition: Any, message: str = "") -> None:
        """assert condition, message"""
        wrong = self.mask & ~self.spread(truth(condition))
        if wrong.any():
            raise self.fault("assertion", f"finds that this is not so{f': {message}' if message else '.'}", lanes=wrong)

    def raise_(self, text: str) -> None:
        """raise ..., for the active lanes"""
        raise self.fault("raised", f"raises {text}.")

    # Synchronisation -----------------------------------------------------------------------------

    def barrier(self) -> None:
        """syncthreads: every thread of the block that has not left the kernel must be here."""
        if self.missed is not None:
            self._tell_missed(meet=True)
        here, there = (np.count_nonzero(each.reshape(self.blocks, -1), axis=1) for each in (self.mask, ~self.returned))
        late = (here > 0) & (here < there)
        if late.any():
            of_block = self.block_of == int(np.flatnonzero(late)[0])
            self.missed = Missed(self, self.mask & of_block, ~self.mask & ~self.returned & of_block)
            if self.turns is not None or len(self.frames) > 1:
                self._tell_missed()
            self.return_()  # only the others go on: see missed.py
            return
        self.counting.barrier(self)
        self.races.barrier(here > 0, there > 0)

    def _tell_missed(self, meet: bool = False) -> None:
        assert self.missed is not None
        fault, self.missed = self.missed.fault(meet), None
        raise fault

    def grid_barrier(self) -> None:
        """sync of the whole grid: every thread that has not left the kernel must be here."""
        self.barrier()
        if not self.mask[~self.returned].all():
            raise self.fault(
                "divergent_barrier",
                "waits here for all blocks, but some never come.",
                "Which condition keeps them from it?",
            )
        if self.turns is None:
            self.races.grid_barrier()
        else:
            self.races.settle()
            self.turns.meet(self)

    def warp_barrier(self, named: np.ndarray) -> None:
        """syncwarp: of each active lane, the lanes that see from now on what each other wrote: sync_masks.members."""
        active, there = self.warps(self.mask), self.warps(~self.returned)
        everyone = np.packbits(there, axis=1, bitorder="little").view("<u4")
        named = np.where(active, named, np.uint32(0))
        whole, some = ((named == everyone) | ~there).all(axis=1), active.any(axis=1)
        self.races.passes(learner_spot(), "syncwarp")
        self.races.warp_barrier(whole & some)
        if (some & ~whole).any():
            self.races.meet(learner_spot(), np.where(whole[:, None], np.uint32(0), named))

    def fence(self, name: str) -> None:
        """threadfence or its like: what the active lanes wrote is for other blocks to read from now on."""
        self.races.passes(learner_spot(), name)
        if name != "threadfence_block":
            self.races.fence(np.unique(np.flatnonzero(self.mask) // self.width))


def _constant(value: Any) -> Any:
    """Numbers, and whole numbers in tuples, as those that a compiler knows."""
    if isinstance(value, np.generic):
        return floats.constant(value)
    if type(value) is tuple:
        return tuple(_constant(each) if isinstance(each, np.integer) else each for each in value)
    return value


def _settled(value: Any) -> Any:
    return value if floats.current is None else floats.current.settled(value)
