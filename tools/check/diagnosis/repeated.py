"""Elements that a kernel moves more than once: the call is made again, and each access heard."""

from itertools import combinations
from typing import NamedTuple, Protocol

import numpy as np

from tools.check.patience import SLOW_REPEAT, allowed
from tools.sim.counters import Counters, Line
from tools.sim.faults import describe
from tools.sim.trace import Access, Listener
from tools.words import plural

DOES = {"load": "loads", "store": "stores", "atomic": "updates"}
WORTH = 1 / 8  # of all that is moved: what a line moves again is told if it is as much
MOST = 1 << 21  # accesses that are heard; of a call with more nothing is told


class Repeated(NamedTuple):
    """What a line does to one array. elements: how many it touches, `accesses` times in all; most: one of them."""

    line: int
    kind: str
    array: str
    elements: int
    accesses: int
    most: int

    @property
    def again(self) -> int:
        """Accesses beyond the first of each element."""
        return self.accesses - self.elements

    def __str__(self) -> str:
        """Line 145 stores each of 37 elements of shares 11 times. Line 94 loads 60 elements of y, 178 times in all."""
        does, elements = f"Line {self.line} {DOES[self.kind]}", plural("element", self.elements)
        if self.accesses == self.most * self.elements:
            each = "each of " if self.elements > 1 else ""
            return f"{does} {each}{self.elements} {elements} of {self.array} {self.most} times."
        return f"{does} {self.elements} {elements} of {self.array}, {self.accesses} times in all."


class Hearing:
    """The addresses of all accesses of global memory, by line, kind and array: a Listener of tools/sim/trace.py."""

    def __init__(self) -> None:
        self.heard: dict[tuple[str, int, str, str], list[np.ndarray]] = {}
        self.accesses = 0
        self.launches: list[list[Access]] = []  # loads and stores of each, in their order

    def launch(self, kernel: str, grid: tuple[int, int, int], block: tuple[int, int, int] | None) -> None:
        self.launches.append([])

    def access(self, access: Access) -> None:
        if access.memory.space != "global" or self.accesses > MOST:
            return
        self.accesses += len(access.addresses)
        if access.kind in ("load", "store") and self.launches:
            self.launches[-1].append(access)
        file, line, _ = describe(access.spot)
        self.heard.setdefault((file, line, access.kind, access.memory.name), []).append(access.addresses)

    def of(self, line: Line) -> list[Repeated]:
        """What this line does to each array that it touches."""
        found = []
        for (file, number, kind, array), addresses in self.heard.items():
            if (file, number, kind) == (line.file, line.line, line.kind):
                each = np.unique(np.concatenate(addresses), return_counts=True)[1]
                found.append(Repeated(number, kind, array, len(each), int(each.sum()), int(each.max(initial=0))))
        return found

    def of_several(self, lines: list[Line], all_of_them: bool) -> str:
        """Two of these lines that load, store or update the same elements, and all others that do; else "".

        all_of_them: neither may touch any other element of that array.
        """
        wanted = {(line.file, line.line, line.kind) for line in lines}
        for (one, these), (other, those) in combinations(self.heard.items(), 2):
            if one[2:] == other[2:] and {one[:3], other[:3]} <= wanted:
                same, either = _same(np.concatenate(these), np.concatenate(those))
                if len(same) and (len(same) == either or not all_of_them):
                    numbers = [
                        str(key[1])
                        for key, places in self.heard.items()
                        if key[2:] == one[2:] and key[:3] in wanted and np.isin(same, np.concatenate(places)).all()
                    ]
                    named = f"{', '.join(numbers[:-1])} and {numbers[-1]}"
                    return f"Lines {named} {DOES[one[2]].removesuffix('s')} the same {len(same)} elements of {one[3]}."
        return ""


def _same(these: np.ndarray, those: np.ndarray) -> tuple[np.ndarray, int]:
    """The addresses that are in both, and how many are in either."""
    return np.intersect1d(these, those), len(np.union1d(these, those))


class Counting(Listener, Protocol):
    accesses: int  # how many were heard


def heard(counters: Counters, who: Counting) -> bool:
    """Make the call of these counters once more while this one listens; False where that is impossible or slow."""
    call = getattr(counters, "call", None)
    if call is None or call.seconds >= allowed(SLOW_REPEAT):
        return False
    return call.made_again(who) and who.accesses <= MOST


def hear(counters: Counters) -> Hearing | None:
    """What the call of these counters does in global memory; None where nothing is heard."""
    hearing = Hearing()
    return hearing if heard(counters, hearing) and hearing.accesses else None


def moved_again(hearing: Hearing, lines: list[Line]) -> str | None:
    """What these lines move more than once, several of them together or one alone; "" where nothing is.

    None where it is so little, beside all that they move, that it explains nothing.
    """
    if alike := hearing.of_several(lines, all_of_them=True):
        return alike
    found = [each for line in lines for each in hearing.of(line)]
    worst = max(found, key=lambda each: each.again, default=None)
    if worst is None or not worst.again:
        return hearing.of_several(lines, all_of_them=False)
    return str(worst) if worst.again >= WORTH * sum(each.accesses for each in found) else None
