"""Waves: how a grid of blocks fills a GPU round by round, and what its last round leaves idle."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Waves:
    """A grid on a GPU whose blocks all take the same time.

    slots: blocks that run at one time. full: rounds that fill all of them.
    tail: blocks of a last round that does not, 0 when there is none.
    """

    blocks: int
    slots: int

    @property
    def full(self) -> int:
        return self.blocks // self.slots

    @property
    def tail(self) -> int:
        return self.blocks % self.slots

    @property
    def count(self) -> int:
        """Rounds in all."""
        return -(-self.blocks // self.slots)

    @property
    def efficiency(self) -> float:
        """Of the slots of all rounds, the share that has a block; 1.0 for an empty grid."""
        return self.blocks / (self.count * self.slots) if self.blocks else 1.0


def waves(blocks: int, multiprocessors: int, resident: int) -> Waves:
    """The rounds of a grid. resident: blocks on one multiprocessor at a time (`occupancy(...).blocks`).

    ValueError when no block fits.
    """
    if resident < 1:
        raise ValueError(
            "no block of this kernel fits on a multiprocessor;\n"
            "give it fewer threads, fewer registers or less shared memory"
        )
    return Waves(blocks, multiprocessors * resident)
