"""The order of blocks, which only fences and atomic updates make: one block stores, fences and updates a flag; another
updates the flag after that, and what it does from then on comes after what the first did before its fence.

The second block needs no fence of its own here, as in the CUDA C++ Programming Guide's sum by the last block.
"""

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np


class Chains:
    """Fences and atomic updates of global memory in one launch, by their moment. now: the moment that it is.

    used: has a block fenced? Before that, nothing is put in order, and no update matters.
    """

    def __init__(self) -> None:
        self.now = 0
        self._fences: dict[int, list[int]] = {}
        self._updates: dict[int, list[tuple[int, int, Hashable]]] = {}  # of a block: (moment, turn, element)
        self._changes: dict[Hashable, list[tuple[int, int, int]]] = {}  # of an element: (moment, turn, block)
        self._seen: dict[int, tuple[int, dict[int, int]]] = {}

    @property
    def used(self) -> bool:
        return bool(self._fences)

    def fence(self, blocks: Iterable[int]) -> None:
        """These blocks pass a fence."""
        self.now += 1
        for block in blocks:
            self._fences.setdefault(int(block), []).append(self.now)
        self.now += 1

    def update(self, storage: Any, keys: np.ndarray, blocks: np.ndarray, found: np.ndarray) -> None:
        """Atomic updates of these elements by these blocks, in turn, with what each found there.

        One that leaves the value as it is, as an update by 0, looks at what others did and shows nothing of its own.
        """
        self.now += 1
        after: dict[int, Any] = {}
        changes = []
        for key, value in zip(keys.tolist()[::-1], found.tolist()[::-1]):
            changes.append(after.get(key, storage.flat[key]) != value)
            after[key] = value
        for turn, (key, block, changed) in enumerate(zip(keys.tolist(), blocks.tolist(), changes[::-1])):
            element = id(storage), key
            self._updates.setdefault(block, []).append((self.now, turn, element))
            if changed:
                self._changes.setdefault(element, []).append((self.now, turn, block))
        self.now += 1

    def seen_by(self, block: int) -> dict[int, int]:
        """Other blocks, and the moment up to which all that they did comes before what this block does now."""
        moment, seen = self._seen.get(block, (-1, {}))
        if moment != self.now:
            seen = self._search(block)
            self._seen[block] = self.now, seen
        return seen

    def _search(self, block: int) -> dict[int, int]:
        """Back along the chains: updates of the same element, then the fence before each, and what came before that."""
        seen = {block: self.now}
        waiting = [(block, self.now)]
        while waiting:
            receiver, until = waiting.pop()
            latest: dict[Hashable, tuple[int, int]] = {}
            for moment, turn, element in self._updates.get(receiver, ()):
                if moment < until:
                    latest[element] = moment, turn
            for element, before in latest.items():
                for moment, turn, sender in self._changes.get(element, ()):
                    if (moment, turn) >= before:
                        break
                    fence = max((each for each in self._fences.get(sender, ()) if each < moment), default=-1)
                    if fence > seen.get(sender, -1):
                        seen[sender] = fence
                        waiting.append((sender, fence))
        return seen
