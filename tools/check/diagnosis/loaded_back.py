"""Elements that a kernel loads although the same thread, or program, stored them itself."""

from typing import NamedTuple

import numpy as np

from tools.check.diagnosis.repeated import WORTH, Hearing
from tools.models.launch import MOST_THREADS
from tools.sim.counters import Line
from tools.sim.faults import describe
from tools.sim.trace import Access
from tools.words import quantity


class Back(NamedTuple):
    """What a line loads back of one array. stored: the line that stored it first. elements, accesses: how many."""

    line: int
    array: str
    stored: int
    who: str
    elements: int
    accesses: int
    bytes: int

    def __str__(self) -> str:
        """Line 235 loads 1,536 elements of out that the same thread stored in line 234."""
        times = f", {self.accesses:,} times in all," if self.accesses > self.elements else ""
        elements = f"{quantity(self.elements, 'element')} of {self.array}"
        return f"Line {self.line} loads {elements}{times} that the same {self.who} stored in line {self.stored}."


def loaded_back(hearing: Hearing, lines: list[Line], surplus: float | None) -> Back | None:
    """Which of these lines loads most of what its own thread stored in that launch; None where that explains nothing.

    surplus: bytes that are moved too many, where that is known. What is loaded back must be half of them or more, and
    not more than they are, since then its loads may be those wanted.
    """
    own = {(line.file, line.line) for line in lines if line.kind == "load"}
    found = [back for launch in hearing.launches for back in _of_launch(launch, own)]
    most = max(found, key=lambda back: back.bytes, default=None)
    if most is None:
        return None
    if surplus is not None:
        return most if surplus / 2 <= most.bytes <= surplus else None
    return most if most.accesses >= WORTH * sum(line.counts.accesses for line in lines) else None


def _of_launch(launch: list[Access], own: set[tuple[str, int]]) -> list[Back]:
    stores = [access for access in launch if access.kind == "store"]
    if not stores:
        return []
    sizes = [len(access.addresses) for access in launch]
    time = np.repeat(np.arange(len(launch)), sizes)
    whose = np.unique(np.concatenate([_owners(access) for access in launch]), return_inverse=True)[1]
    where = np.unique(np.concatenate([access.addresses for access in launch]), return_inverse=True)[1]
    key = where * (int(whose.max(initial=0)) + 1) + whose
    stored = np.repeat([access.kind == "store" for access in launch], sizes)
    kept, first = np.unique(key[stored], return_index=True)  # the first store of each
    place = np.minimum(np.searchsorted(kept, key), len(kept) - 1)
    since = time[stored][first][place]
    back = ~stored & (kept[place] == key) & (since < time)
    return _by_line(launch, own, time[back], since[back], where[back])


def _owners(access: Access) -> np.ndarray:
    """A number for the thread behind each address, or for the program where there are no threads."""
    return access.programs * MOST_THREADS + (0 if access.threads is None else access.threads)


def _by_line(
    launch: list[Access], own: set[tuple[str, int]], time: np.ndarray, since: np.ndarray, where: np.ndarray
) -> list[Back]:
    """time: of each load among the accesses of the launch; since: of the store before it; where: its element."""
    loads: dict[tuple[str, int, str], list[int]] = {}
    for each in np.unique(time).tolist():
        file, line, _ = describe(launch[each].spot)
        if (file, line) in own:
            loads.setdefault((file, line, launch[each].memory.name), []).append(each)
    found = []
    for (_, line, array), times in loads.items():
        mine = np.isin(time, times)
        access, store = launch[times[0]], launch[int(since[mine][0])]
        who = "program" if access.threads is None else "thread"
        count = int(np.count_nonzero(mine))
        elements = len(np.unique(where[mine]))
        found.append(Back(line, array, describe(store.spot)[1], who, elements, count, count * access.size))
    return found
