"""Control flow as changes of the mask: if, loops, and calls of device functions."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from tools.sim.cuda.faults import Unknown, learner_frame
from tools.sim.cuda.memory.lanes import Lanes
from tools.sim.cuda.numbers.promotion import Value
from tools.sim.cuda.run.endless import question
from tools.sim.cuda.run.phi import Phi
from tools.sim.cuda.run.sequences import element, length
from tools.sim.cuda.run.turns import PATIENCE, same
from tools.sim.cuda.run.values import NUMBER, bounds_of_range, merged, truth

MOST_TURNS = 200_000  # of a loop whose end depends on the lanes
STUCK = 4096  # turns after which a loop is watched: does anything change at all?
DEEPEST = 40  # calls of device functions inside each other


class Frame:
    """One call of the kernel or of a device function. returned: the lanes that are not, or no longer, in it."""

    def __init__(self, returned: np.ndarray) -> None:
        self.returned = returned
        self.loops: list[Any] = []  # Loop, or what stands for one
        self.value = None


class Loop:
    """running: lanes that have another turn. continued: lanes that have left this turn early."""

    reached = True  # there may be others than the active lanes, as in Split

    def __init__(self, entered: np.ndarray, lanes: int) -> None:
        self.entered = self.running = entered
        self.count = self.lanes = lanes  # how many entered, and how many run
        self.broken: np.ndarray | None = None
        self.continued: np.ndarray | None = None
        self.turns = 0


class Split:
    """The two ways of an if. count: lanes that entered; reached: how many came to the end of the first way."""

    reached = 0

    def __init__(self, entered: np.ndarray, count: int, otherwise: np.ndarray, others: int, departures: int) -> None:
        self.entered, self.count, self.departures = entered, count, departures
        self.otherwise, self.others = otherwise, others


class ControlFlow(Lanes):
    """counting: of the launch. departures grows whenever a lane leaves a loop, a turn or a function."""

    def __init__(self, grid: tuple, block: tuple, first: int, blocks: int, counting: Any) -> None:
        super().__init__(grid, block, first, blocks)
        self.counting = counting
        self.departures = 0
        self.frames = [Frame(~self.exists)]

    @property
    def returned(self) -> np.ndarray:
        """Lanes that have left the kernel; the padding counts as such."""
        return self.frames[0].returned

    def step(self) -> None:
        """A statement begins."""
        self.counting.instructions += self.active_warps
        self.counting.lanes += self.active

    def _alive(self, mask: np.ndarray) -> np.ndarray:
        """Those of them that are still in this turn of this loop of this function."""
        frame = self.frames[-1]
        if not frame.loops:
            return mask & ~frame.returned
        loop = frame.loops[-1]
        return mask & loop.running if loop.continued is None else mask & loop.running & ~loop.continued

    def _leave(self) -> None:
        self.departures += 1
        self._set(self.nobody, 0)

    # if ------------------------------------------------------------------------------------------

    def split(self, condition: Any) -> Split:
        """Activate the lanes that go into the body."""
        condition = truth(condition)
        entered, lanes, departures = self.mask, self.active, self.departures
        if not isinstance(condition, np.ndarray):
            if condition:
                return Split(entered, lanes, self.nobody, 0, departures)
            self._set(self.nobody, 0)
            return Split(entered, lanes, entered, lanes, departures)
        self._set(entered & condition)
        otherwise = entered ^ self.mask
        self.counting.branch(self.mask, otherwise)
        return Split(entered, lanes, otherwise, lanes - self.active, departures)

    def other(self, split: Split) -> None:
        """Activate the lanes that go the other way."""
        split.reached = self.active
        self._set(split.otherwise, split.others)

    def join(self, split: Split) -> None:
        """Both ways end here."""
        if self.departures == split.departures:
            self._set(split.entered, split.count)
        else:
            self._set(self._alive(split.entered))

    # Loops ---------------------------------------------------------------------------------------

    def loop(self) -> Loop:
        loop = Loop(self.mask, self.active)
        self.frames[-1].loops.append(loop)
        return loop

    def again(self, loop: Loop) -> bool:
        """Begin a turn. False when no lane is left."""
        loop.continued = None
        loop.turns += 1
        if loop.turns >= STUCK:
            self._watch(loop)
        self._set(loop.running, loop.lanes)
        return self.active > 0

    def test(self, loop: Loop, condition: Any) -> bool:
        """The lanes for which the condition is false leave the loop. False when no lane is left."""
        self.step()
        condition = truth(condition)
        if not isinstance(condition, np.ndarray):
            if not condition:
                self._depart(loop)
            elif self.turns is not None and loop.turns % PATIENCE == 0:
                self.turns.pause(self, loop)
            return condition
        stay = self.mask & condition
        self.counting.branch(stay, self.mask ^ stay)
        loop.running, before = stay, loop.lanes
        self._set(stay)
        loop.lanes = self.active
        self.departures += before != loop.lanes
        if self.turns is not None and self.active and loop.turns % PATIENCE == 0:
            self.turns.pause(self, loop)
        return self.active > 0

    def range(self, loop: Loop, *bounds: Value) -> Iterator:
        """The values of the loop variable, turn by turn."""
        start, stop, step = bounds_of_range(bounds)
        if all(np.ndim(bound) == 0 for bound in (start, stop, step)):
            for value in range(int(start), int(stop), int(step)):
                if not self.again(loop):
                    return
                self.step()
                yield stop.dtype.type(value)
            self._depart(loop)
            return
        if (self.spread(step)[self.mask] == 0).any():
            raise self.fault("endless_loop", "has a range with a step of 0.", lanes=self.mask & (step == 0))
        value, up = start, step > 0
        while self.again(loop) and self.test(loop, np.where(up, value < stop, value > stop)):
            yield self.spread(value)
            value = value + step
        self._depart(loop)

    def load(self, array: Any, index: Any) -> Any:
        """array[index]"""
        raise NotImplementedError

    def elements(self, loop: Loop, values: Any) -> Iterator:
        """The same for a loop over a tuple, an array, or several of them together."""
        for number in self.range(loop, np.int64(length(values))):
            yield element(self, values, number)

    def _depart(self, loop: Loop) -> None:
        """Every lane of this turn has had its last."""
        loop.running = loop.running & ~self.mask
        loop.lanes = int(np.count_nonzero(loop.running))
        self._leave()

    def break_(self) -> None:
        loop = self.frames[-1].loops[-1]
        loop.broken = self.mask if loop.broken is None else loop.broken | self.mask
        self._depart(loop)

    def continue_(self) -> None:
        loop = self.frames[-1].loops[-1]
        loop.continued = self.mask if loop.continued is None else loop.continued | self.mask
        self._leave()

    def otherwise(self, loop: Loop) -> None:
        """The else of a loop: for lanes that did not break out of it."""
        left = loop.entered & ~self.frames[-1].returned
        self._set(left if loop.broken is None else left & ~loop.broken)

    def leave(self, loop: Loop) -> None:
        """All lanes have left the loop."""
        self.frames[-1].loops.pop()
        self._set(self._alive(loop.entered))

    def _watch(self, loop: Loop) -> None:
        """Refuse a loop that will not end: nothing changed in a whole turn, or too many turns."""
        if self.turns is None and loop.turns == STUCK:
            self._seen = self._snapshot(loop)
        stuck = self.turns is None and loop.turns == STUCK + 1 and same(self._seen, self._snapshot(loop))
        if stuck or loop.turns > MOST_TURNS:
            why = "nothing changes from turn to turn" if stuck else f"it has had {MOST_TURNS:,} turns"
            raise self.fault(
                "endless_loop", f"does not leave this loop: {why}.", question(learner_frame()), lanes=loop.running
            )

    def _snapshot(self, loop: Loop) -> list:
        variables = [value for name, value in sorted(learner_frame().f_locals.items()) if isinstance(value, NUMBER)]
        of_lanes = [
            value[loop.running] if isinstance(value, np.ndarray) and value.ndim else value for value in variables
        ]
        return [loop.running, *of_lanes, *self.space.contents()]

    # Functions -----------------------------------------------------------------------------------

    def return_(self, value: Any = None, phi: Phi | None = None) -> None:
        frame = self.frames[-1]
        if value is not None and phi is not None:
            frame.value = merged(self.mask, phi.fit(value), frame.value)
        frame.returned = frame.returned | self.mask
        for loop in frame.loops:
            loop.running = loop.running & ~self.mask
            loop.lanes = int(np.count_nonzero(loop.running))
        self._leave()

    def enter(self, program: Any, arguments: tuple) -> Any:
        """Call a device function."""
        if len(self.frames) > DEEPEST:
            raise Unknown(f"Device functions call each other more than {DEEPEST} deep; the simulator stops there.")
        before = self.mask, self.active
        self.frames.append(Frame(~self.mask))
        self.departures += 1
        program.run(self, *arguments)
        value = self.frames.pop().value
        self._set(*before)
        return value
