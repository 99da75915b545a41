"""The `while` loops of a program that runs: has a round changed nothing, and seen nothing new?"""

from types import FrameType
from typing import Any, NamedTuple

from tools.sim.triton.arguments import View

LOOKED = 64  # places that a loop is said to wait for, at most
LARGEST = 1 << 16  # bytes of a value that is compared, not taken for another one


class Place(NamedTuple):
    """An element that a loop looks at: the view, its virtual address there, and its size in bytes."""

    view: View
    address: int


class Loop:
    """A loop that has begun. seen, before: hashes of what its accesses found in this round and the one before.

    looked: places that it looked at in this round. changed: has this round changed any memory? asks: has it ever looked
    in a way that others can answer, by an atomic or a volatile load?
    """

    def __init__(self) -> None:
        self.seen = self.before = 0
        self.looked: dict[int, Place] = {}
        self.changed = self.asks = False
        self._values: Any = None

    def observe(self, what: int, places: list[Place], asks: bool) -> None:
        """One access of this round, as a hash of what it is and finds."""
        self.asks |= asks
        self.seen = hash((self.seen, what))
        if len(self.looked) < LOOKED:
            self.looked.update((each.address, each) for each in places)

    def next_round(self, frame: FrameType) -> tuple[bool, bool]:
        """A round ends and another one begins. Was it idle, and are the kernel's variables as they were, too?"""
        idle = not self.changed and self.seen == self.before
        values = _values(frame) if idle else None
        same = idle and values == self._values
        self.before, self.seen, self.changed, self._values = self.seen, 0, False, values
        return idle, same


def _values(frame: FrameType) -> dict[str, Any]:
    return {name: _value(value) for name, value in frame.f_locals.items()}


def _value(value: Any) -> Any:
    data = getattr(getattr(value, "handle", None), "data", None)
    if data is None:
        return value if isinstance(value, (int, float, str, bool)) else id(value)
    return data.tobytes() if data.nbytes <= LARGEST else id(data)
