"""Runs through all ways of a kernel instead of those that threads take: for what holds whichever way is taken."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from tools.models.units import WARP
from tools.sim.cuda.run.phi import Phi
from tools.sim.cuda.run.warps import Warps
from tools.sim.cuda.translate.stand_ins import NoCounting, NoSpace


class Decided:
    """A condition that Numba decides while it compiles: the other way is none."""

    def __init__(self, value: bool) -> None:
        self.value = value


class Fork:
    """An if, or a loop. reached: can the end of its first way be reached? others: is there another way?

    broken: is there a break? turns: how many were begun.
    """

    reached: int = True
    others: int = False
    broken = False
    turns = 0


class AbstractWarps(Warps):
    """One warp, of which no lane is active: nothing is counted, stored or waited for, and nothing can go wrong.

    active: can this place be reached? A loop has one turn.
    """

    indices = np.zeros(1, np.int64)  # where NumPy needs a lane, the first one is meant

    def __init__(self) -> None:
        super().__init__((1, 1, 1), (WARP, 1, 1), 0, 1, NoCounting())
        self.space = NoSpace(self)

    def begin(self) -> None:
        """At the start of the kernel."""
        self._set(self.nobody, True)

    # if ------------------------------------------------------------------------------------------

    def split(self, condition: Any) -> Any:
        fork = Fork()
        taken = condition.value if isinstance(condition, Decided) else None
        fork.others, self.active = self.active and taken is not True, self.active and taken is not False
        return fork

    def other(self, split: Any) -> None:
        split.reached, self.active = self.active, split.others

    def join(self, split: Any) -> None:
        self.active = self.active or split.reached

    # Loops ---------------------------------------------------------------------------------------

    def loop(self) -> Any:
        self.frames[-1].loops.append(Fork())
        return self.frames[-1].loops[-1]

    def again(self, loop: Any) -> bool:
        loop.turns += 1
        if loop.turns == 2:
            self.active = loop.others
        return loop.turns == 1

    def test(self, loop: Any, condition: Any) -> bool:
        stays = condition.value if isinstance(condition, Decided) else None
        loop.others = stays is not True
        return stays is not False

    def through(self, value: Any) -> Iterator:
        """A for loop, whose variable gets this value."""
        yield value
        self.active = True

    def break_(self) -> None:
        self.frames[-1].loops[-1].broken = True
        self.active = False

    def continue_(self) -> None:
        self.active = False

    def otherwise(self, loop: Any) -> None:
        """The else of a loop follows its end anyway."""

    def leave(self, loop: Any) -> None:
        self.frames[-1].loops.pop()
        self.active = self.active or loop.broken

    def return_(self, value: Any = None, phi: Phi | None = None) -> None:
        self.active = False

    # What has no effect --------------------------------------------------------------------------

    def raise_(self, text: str) -> None:
        self.active = False

    def stops(self) -> bool:
        return False

    def _nothing(self, *_: object) -> None:
        """Nobody counts, checks or waits."""

    step = check = barrier = grid_barrier = warp_barrier = fence = begins = _nothing  # type: ignore[assignment]
