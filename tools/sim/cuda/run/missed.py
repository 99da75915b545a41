"""A barrier to which some threads of a block never come: those that wait there are put aside, and the others go on
until they wait at another barrier, or end. Then it is told, with the line where they are."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tools.sim.cuda.faults import Fault, learner_spot
from tools.sim.faults import ranges


class Missed:
    """waiting, missing: masks of the threads of one block that are at the barrier, and of those that are not."""

    def __init__(self, lanes: Any, waiting: np.ndarray, missing: np.ndarray) -> None:
        self._lanes, self._waiting, self.missing, self._spot = lanes, waiting, missing, learner_spot()

    def fault(self, meet: bool = False) -> Fault:
        """Of the barrier. meet: has one been come to by now? Then it says where the others are, if all are there."""
        lanes, count = self._lanes, int(np.count_nonzero(self.missing))
        here, there = (np.any(lanes.warps(mask), axis=1) for mask in (self._waiting, self.missing))
        may_pass = not (here & there).any()
        come = "1 thread of its block never comes" if count == 1 else f"{count} threads of its block never come"
        what = f"waits here, but {come}: {ranges(lanes.thread[self.missing])}."
        question = "A barrier is for all threads of a block. Which condition keeps some from it?"
        line = learner_spot().line
        if meet and lanes.mask[self.missing].all() and line != self._spot.line:
            they, wait = ("It", "waits") if count == 1 else ("They", "wait")
            what += f"\n{they} {wait} in line {line}, and two lines are two barriers."
            what += "\nA GPU may let it pass; CUDA promises nothing." * may_pass
        elif may_pass:
            what += "\nA GPU may let it pass if they wait at another barrier; CUDA promises nothing."
        return lanes.fault("divergent_barrier", what, question, lanes=self._waiting, spot=self._spot)


def run(lanes: Any, kernel: Callable[[], None]) -> None:
    """Run the kernel. Raises the fault of a barrier that was missed, whatever became of the others."""
    try:
        kernel()
    except Exception:
        if lanes.missed is None:
            raise
    if lanes.missed is not None:
        raise lanes.missed.fault() from None
