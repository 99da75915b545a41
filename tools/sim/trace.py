"""Each access of a kernel as it happens, handed to whoever listens: pictures are made of them.

Nobody listens unless asked to; then an access costs one comparison more, and no count changes.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple, Protocol

import numpy as np

from tools.sim.faults import Spot


class Memory(NamedTuple):
    """The array that an access goes to. space: "global" or "shared". strides: in bytes.

    address: of its element [0, ..., 0], in bytes; of shared memory, within a block's copy.
    """

    name: str
    space: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    itemsize: int
    address: int


class Access(NamedTuple):
    """What programs or threads ask for at one time, without what is masked off.

    kind: "load", "store" or "atomic". addresses: int64 [n], in bytes; size: bytes at each.
    programs: number of the program or block behind each, int64 [n]; the first axis of the grid counts fastest.
    threads: number of the thread in its block, int64 [n], x first; None where there are no threads.
    """

    spot: Spot
    kind: str
    memory: Memory
    addresses: np.ndarray
    size: int
    programs: np.ndarray
    threads: np.ndarray | None


class Listener(Protocol):
    def launch(self, kernel: str, grid: tuple[int, int, int], block: tuple[int, int, int] | None) -> None:
        """A kernel begins; block: threads, None for Triton's."""

    def access(self, access: Access) -> None:
        """It loads, stores or updates."""


listener: Listener | None = None


@contextmanager
def heard_by(who: Listener | None) -> Iterator[None]:
    """Inside, this one listens and no other; None: nobody."""
    global listener
    before, listener = listener, who
    try:
        yield
    finally:
        listener = before


def number(place: tuple[int, ...], sizes: tuple[int, ...]) -> int:
    """Of a program at this place of a grid; the first axis counts fastest."""
    x, y, z = (*place, 0, 0)[:3]
    along, across, _ = (*sizes, 1, 1)[:3]
    return x + along * (y + across * z)
