"""The record of what the blocks of one launch did to global memory, also of those that ran before: nothing orders two
blocks but chains of fences and atomic updates."""

from typing import NamedTuple

import numpy as np

from tools.sim.cuda.memory.accesses import Access
from tools.sim.cuda.memory.chains import Chains
from tools.sim.cuda.memory.storage import Storage

NOBODY, SEVERAL = -1, -2  # instead of a block's number
CONFLICTS = {  # of each operation with earlier ones
    "load": ("store", "atomic"),
    "guess": ("store",),
    "store": ("load", "guess", "store", "atomic"),
    "atomic": ("load", "store"),
}


class Conflict(NamedTuple):
    """place: of the lane in the access. operation, block: of the earlier access; block may be SEVERAL."""

    place: int
    operation: str
    block: int


class Between:
    """touched: for each array, who did what to its elements. fences: may the kernel have fences?"""

    def __init__(self, fences: bool) -> None:
        self.chains, self.fences = Chains(), fences
        self.touched: dict[Storage, Touched] = {}

    def conflict(self, storage: Storage, access: Access, blocks: np.ndarray) -> Conflict | None:
        """Of an access, by these blocks, with what other blocks did before."""
        touched = self._of(storage)
        for operation in CONFLICTS[access.operation]:
            foreign = touched.foreign(operation, access.keys, blocks)
            for place in foreign:
                if not self._in_order(touched, operation, int(access.keys[place]), int(blocks[place])):
                    return Conflict(int(place), operation, int(touched.blocks(operation)[access.keys[place]]))
        return None

    def note(self, storage: Storage, access: Access, blocks: np.ndarray) -> None:
        """Remember an access."""
        touched = self._of(storage)
        touched.note(access.operation, access.keys, blocks, self.chains.now, self.fences)

    def clear(self) -> None:
        """All blocks have waited for each other."""
        self.touched.clear()

    def _of(self, storage: Storage) -> "Touched":
        return self.touched.setdefault(storage, Touched(storage.flat.size))

    def _in_order(self, touched: "Touched", operation: str, key: int, block: int) -> bool:
        """Does all that others did to this element come before what the block does now?"""
        if not self.chains.used:
            return False
        seen = self.chains.seen_by(block)
        return all(moment <= seen.get(other, -1) for other, moment in touched.moments(operation, key) if other != block)


class Touched:
    """For each element of global memory, which block has read it, written it, updated it, and when."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._blocks: dict[str, np.ndarray] = {}
        self._history: dict[str, list[tuple[np.ndarray, np.ndarray, int]]] = {}

    def blocks(self, operation: str) -> np.ndarray:
        """The block that did it to each element, NOBODY or SEVERAL."""
        if operation not in self._blocks:
            self._blocks[operation] = np.full(self._size, NOBODY, np.int32)
        return self._blocks[operation]

    def foreign(self, operation: str, keys: np.ndarray, blocks: np.ndarray) -> np.ndarray:
        """Places in `keys` of elements to which another block did it."""
        if operation not in self._blocks:
            return np.empty(0, np.int64)
        by = self._blocks[operation][keys]
        return np.flatnonzero((by != NOBODY) & (by != blocks))

    def note(self, operation: str, keys: np.ndarray, blocks: np.ndarray, moment: int, keep: bool) -> None:
        """keep: also the moment."""
        by = self.blocks(operation)
        before = by[keys]
        by[keys] = blocks
        several = (by[keys] != blocks) | ((before != NOBODY) & (before != blocks))
        by[keys[several]] = SEVERAL
        if keep:
            self._history.setdefault(operation, []).append((keys, blocks, moment))

    def moments(self, operation: str, key: int) -> list[tuple[int, int]]:
        """Each block that did it to this element, and when."""
        found = []
        for keys, blocks, moment in self._history.get(operation, ()):
            found += [(int(block), moment) for block in np.unique(blocks[keys == key])]
        return found
