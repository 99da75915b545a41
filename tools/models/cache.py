"""A cache's hits and misses: set-associative, least recently used out first, one level or several.

Loads and stores count alike, and nothing is fetched ahead of its use.
"""

from collections import OrderedDict, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike


@dataclass(frozen=True)
class Misses:
    """Why accesses missed: the three causes of Hill and Smith, "Evaluating Associativity in CPU Caches", 1989.

    cold: the line was never used before. capacity: it would be gone from a cache of the same size with one set, too.
    conflict: it would still be there; its own set was full.
    """

    cold: int
    capacity: int
    conflict: int

    @property
    def total(self) -> int:
        return self.cold + self.capacity + self.conflict


@dataclass(frozen=True)
class Cache:
    """capacity, line: bytes. ways: lines in a set. Lines go to the sets in turn, by address."""

    capacity: int
    line: int = 64
    ways: int = 8

    def __post_init__(self) -> None:
        if self.capacity < 1 or self.capacity % (self.line * self.ways):
            raise ValueError(
                f"a cache of {self.capacity} bytes cannot be cut into sets of {self.ways} lines of {self.line} bytes"
            )

    @property
    def sets(self) -> int:
        return self.capacity // (self.line * self.ways)

    def missed(self, addresses: ArrayLike) -> np.ndarray:
        """Which of these accesses miss, as bool[n]; the cache is empty before the first.

        addresses: of bytes, in the order of access; an access lies within one line.
        """
        lines = np.asarray(addresses, np.int64).ravel() // self.line
        new = np.ones(lines.size, bool)
        new[1:] = lines[1:] != lines[:-1]  # a line that was used just before is the most recent one: nothing changes
        missed = np.zeros(lines.size, bool)
        missed[new] = self._fetched(lines[new].tolist())
        return missed

    def misses(self, addresses: ArrayLike) -> Misses:
        """How many of these accesses miss, by cause."""
        missed = self.missed(addresses)
        in_one_set = Cache(self.capacity, self.line, self.capacity // self.line).missed(addresses)
        cold = len(np.unique(np.asarray(addresses, np.int64) // self.line))
        capacity = np.count_nonzero(missed & in_one_set) - cold
        return Misses(cold, int(capacity), int(np.count_nonzero(missed & ~in_one_set)))

    def _fetched(self, lines: list[int]) -> list[bool]:
        """For each use of a line whether it has to be fetched."""
        sets: dict[int, OrderedDict[int, None]] = defaultdict(OrderedDict)  # the lines each holds, the most recent last
        fetched = []
        for line in lines:
            held = sets[line % self.sets]
            fetched.append(line not in held)
            held[line] = None
            held.move_to_end(line)
            if len(held) > self.ways:
                held.popitem(last=False)
        return fetched


def served_by(caches: Sequence[Cache], addresses: ArrayLike) -> np.ndarray:
    """The level that serves each access, as int64[n]: 0 is the first cache, len(caches) is memory.

    A level sees only what missed in the one before it.
    """
    addresses = np.asarray(addresses, np.int64).ravel()
    level = np.zeros(addresses.size, np.int64)
    for number, cache in enumerate(caches):
        asked = np.flatnonzero(level == number)
        level[asked[cache.missed(addresses[asked])]] = number + 1
    return level
