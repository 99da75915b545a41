"""The memory that arrays lie in: global, or a copy for each block (shared) or each lane (local)."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from tools.sim.cuda.faults import Unknown
from tools.sim.cuda.memory.lanes import Lanes
from tools.sim.cuda.numbers.promotion import TYPES
from tools.sim.faults import ranges
from tools.words import plural

LONGEST = 52  # letters, so that they fit into a line of the fault


@dataclass(frozen=True)
class GlobalArray:
    """An array argument: NumPy's view of its memory, and where a GPU would have it (bytes)."""

    name: str
    array: np.ndarray
    address: int
    read_only: bool = False


class Storage:
    """Memory that one or several arrays lie in.

    flat: its elements, one copy after another where each block (shared) or each lane (local) has its own.
    shape: of the array that it is; size: elements in a copy; start: the place of its first element.
    address: of flat[0], in bytes; pitch: from there to flat[1]. strides: of the array, in elements; none when its
    rows lie one after the other. watched: look for races.
    set: which elements hold a value; None: all do. fields: of an array of records, each as a storage.
    """

    def __init__(
        self,
        name: str,
        kind: str,
        flat: np.ndarray,
        shape: tuple[int, ...],
        *,
        address: int = 0,
        start: int = 0,
        strides: tuple[int, ...] = (),
        watched: bool = False,
        empty: bool = False,
    ) -> None:
        self.name, self.kind, self.flat, self.shape = name, kind, flat, shape
        self.size = math.prod(shape)
        self.address, self.start, self.strides = address, start, strides
        self.pitch = flat.strides[0]
        self.fields: dict[str, Storage] = {}
        self.watched = watched
        self.set = np.zeros(flat.size, bool) if empty else None
        self.changed = False
        self.owners: Any = None  # for Races
        self.first_owner = 1

    def field(self, name: str) -> "Storage":
        """One field of all records."""
        if name not in (self.flat.dtype.names or ()):
            raise TypeError(f"The records of {self.name} have no field {name!r}.")
        if name not in self.fields:
            fields: Any = self.flat.dtype.fields
            dtype, offset = fields[name][:2]
            if dtype not in TYPES:
                raise Unknown(
                    f"{self.name}.{name} is an array or a record inside a record.\n"
                    "The simulator does not know that. A GPU may run it.",
                    "Give each part a field.",
                )
            field = Storage(
                f"{self.name}.{name}",
                self.kind,
                self.flat[name],
                self.shape,
                address=self.address + offset,
                start=self.start,
                strides=self.strides,
                watched=self.watched,
            )
            field.set, field.size = self.set, self.size
            self.fields[name] = field
        return self.fields[name]

    def element(self, key: int) -> str:
        """element 5, or element [1, 2]"""
        offset = key % self.size if self.kind in ("shared", "local") else key
        index = np.unravel_index(offset, self.shape) if len(self.shape) > 1 else (offset,)
        return f"element {list(map(int, index)) if len(index) > 1 else int(index[0])} of {self.name}"

    def stored_beside(self, key: int) -> str:
        """Which elements of the block's array hold a value, where one of a shared array without rows does not."""
        if self.kind != "shared" or len(self.shape) > 1 or self.set is None:
            return ""
        first = key - key % self.size
        there = np.flatnonzero(self.set[first : first + self.size])
        if not there.size:
            return ", nor to any other element"
        told = f". Only {plural('element', there.size)} {ranges(there)} {'was' if there.size == 1 else 'were'} stored"
        return told if len(told) <= LONGEST else ""

    def unfilled(self, key: int, lanes: Any) -> tuple[str, str]:
        """What is known of an element that holds no value, and a question: perhaps who should store it has ended."""
        ended = lanes.exists & lanes.returned & (lanes.block_of == key // self.size)
        if self.kind == "shared" and ended.any():
            count = int(np.count_nonzero(ended))
            have = "1 thread of its block has" if count == 1 else f"{count:,} threads of its block have"
            return f"{have} ended: {ranges(lanes.thread[ended])}.", "Is the thread among them that should fill it?"
        chance = "A GPU reads what lies there by chance: refused even if it is not used."
        return chance, "Which thread fills it, and when? Or should this one not read?"

    def keys(self, lanes: Lanes, offsets: Any) -> Any:
        """Where in `flat` the active lanes find their elements. offsets: one for each lane, or one for all."""
        active = lanes.indices
        if np.ndim(offsets) and active is not None:
            offsets = offsets[active]
        if self.kind == "shared":
            block = lanes.block_of if active is None else lanes.block_of[active]
            return block * self.size + offsets
        if self.kind == "local":
            return (np.arange(lanes.count) if active is None else active) * self.size + offsets
        return offsets
