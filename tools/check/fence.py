"""An `out` array full of poison, with margins on both sides that nobody may write to."""

import numpy as np

from tools.check import arrays
from tools.check.arrays import Array

MARGIN = 4096  # elements: more than one block of any lesson, so that a forgotten mask hits the margin
SENTINEL = 3  # every number format of the course holds it exactly


class Fence:
    """`window` is a contiguous array in the shape, dtype and device of `like`, inside a larger one."""

    def __init__(self, like: Array, fill: object):
        count = arrays.size(like)
        self.memory = arrays.full(like, (count + 2 * MARGIN,), SENTINEL)
        self.sentinel = arrays.to_numpy(self.memory[:1]).copy()  # True where the array holds bools
        self.window = self.memory[MARGIN : MARGIN + count].reshape(like.shape)
        self.window[...] = fill

    def broken(self) -> str | None:
        """'before' or 'after' (the window), where something was written; None if the margins are whole."""
        memory = arrays.to_numpy(self.memory)
        if not np.all(memory[:MARGIN] == self.sentinel):
            return "before"
        return None if np.all(memory[-MARGIN:] == self.sentinel) else "after"
