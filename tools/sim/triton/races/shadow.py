"""For each element of a launch's memory: who stored, loaded and updated it last."""

from collections.abc import Iterator

import numpy as np

LOAD, PEEK, STORE, UPDATE = range(4)  # PEEK: a volatile load, or an atomic that adds nothing, which compiles to a load
MEETS = {  # kinds that an access has to be in order with
    LOAD: (STORE, UPDATE),
    PEEK: (STORE,),
    STORE: (STORE, UPDATE, LOAD, PEEK),
    UPDATE: (STORE, LOAD),
}
MET = {kind: sum(1 << each for each in others) for kind, others in MEETS.items()}  # the same as bits


class Stamps:
    """The accesses of a launch that differ by program, site, kind or epoch; their numbers begin at 1."""

    COLUMNS = PROGRAM, ROW, EPOCH, SITE, KIND = range(5)

    def __init__(self) -> None:
        self._table = np.array([[-1, 0, 0, 0, 0]], np.int32)
        self._new: list[tuple[int, ...]] = []  # not in the table yet
        self.count = 1

    def add(self, *what: int) -> int:
        """A new one: program, row, epoch, site, kind. Gives its number."""
        self._new.append(what)
        self.count += 1
        return self.count - 1

    def __getitem__(self, which: tuple) -> np.ndarray:
        """stamps[numbers, column]"""
        if self._new:
            end = self.count - len(self._new)
            if self.count > len(self._table):
                self._table = np.concatenate([self._table, np.zeros((self.count, len(self.COLUMNS)), np.int32)])
            self._table[end : self.count] = self._new
            self._new.clear()
        return self._table[which]


class Shadow:
    """What happened to each element of `size` bytes of one storage.

    As long as all accesses are loads, or all are updates, nothing can go wrong: they are only kept, and entered when a
    first access of another kind comes. Of millions of loads the earlier ones are forgotten by then. Of each kind the
    last access to an element is known, and of loads and updates the last one by another program before it: who comes
    later may be in order with one of the two only.
    """

    def __init__(self, storage: int, elements: int, size: int, stamps: Stamps) -> None:
        self.storage, self.elements, self._shift = np.uint64(storage), elements, np.uint64(size.bit_length() - 1)
        self._stamps = stamps
        self._kinds = 0  # one bit for each
        self._pending: list[tuple[int, int, np.ndarray]] = []
        self._last: dict[int, np.ndarray] = {}
        self._earlier: dict[int, np.ndarray] = {}

    def index(self, addresses: np.ndarray) -> np.ndarray:
        """Numbers of the elements at these virtual addresses."""
        return ((addresses - self.storage) >> self._shift).view(np.int64)

    def is_harmless(self, kind: int) -> bool:
        """Has nothing happened that an access of this kind has to be in order with?"""
        return not self._kinds & MET[kind]

    def keep(self, kind: int, stamp: int, addresses: np.ndarray) -> None:
        """Take in an access that met nothing. addresses: stay as they are until `enter_kept`."""
        self._kinds |= 1 << kind
        self._pending.append((kind, stamp, addresses))

    def make_room(self) -> None:
        """Give up the addresses that are kept: loads of what nobody has changed by now are forgotten."""
        if self._kinds & ~(1 << LOAD | 1 << PEEK):
            self.enter_kept()
        self._pending.clear()

    def met(self, kind: int, index: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
        """What an access of this kind has to be in order with: kinds, and a stamp for each of its elements or 0."""
        if self._pending:
            self.enter_kept()
        for each in MEETS[kind]:
            for table in (self._last, self._earlier):
                if each in table:
                    yield each, table[each][index]

    def enter(self, kind: int, stamp: int, index: np.ndarray) -> None:
        """An access to these elements happened."""
        self._kinds |= 1 << kind
        last = self._table(self._last, kind)
        if kind != STORE:
            before = last[index]
            if before.any():
                program = self._stamps[stamp, Stamps.PROGRAM]
                others = (before != 0) & (self._stamps[before, Stamps.PROGRAM] != program)
                if others.any():
                    self._table(self._earlier, kind)[index[others]] = before[others]
        last[index] = stamp

    def enter_kept(self) -> None:
        """Enter the accesses that were only kept so far."""
        for kind, stamp, addresses in self._pending:
            self.enter(kind, stamp, self.index(addresses))
        self._pending.clear()

    def _table(self, tables: dict[int, np.ndarray], kind: int) -> np.ndarray:
        if kind not in tables:
            tables[kind] = np.zeros(self.elements, np.int32)
        return tables[kind]
