"""Deadlines for a lesson, here or in a process of its own, and what is raised when one passes."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from tools.worker.raised import Frame

LONGEST_WAIT = 600.0  # seconds for one request when no deadline is set
MOST = 6.0  # times its limit a call may take by the clock on the wall, however busy the machine
AGAIN = 1.0  # seconds for a function that was ended before

hung: set[tuple[str, str]] = set()  # (file, function) of a lesson's functions that were ended in this run
_deadlines: list["Deadline"] = []  # around us


class Deadline:
    """Own seconds that are left of so many, and the moment after which it is too late in any case."""

    def __init__(self, seconds: float) -> None:
        self.seconds = self.left = seconds
        self.end = time.monotonic() + MOST * seconds

    @property
    def passed(self) -> bool:
        return self.left <= 0 or time.monotonic() > self.end


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """Requests to a lesson's process inside must be answered within `seconds` of its own from now; see TooSlow."""
    _deadlines.append(Deadline(seconds))
    try:
        yield
    finally:
        _deadlines.pop()


def around() -> list[Deadline]:
    """The deadlines that hold here."""
    return _deadlines[:] or [Deadline(LONGEST_WAIT)]


class NoAnswer(Exception):
    """A lesson's process gave no answer, and is gone; the next call starts a new one.

    reason: what happened. printed: the last of what it printed.
    frames: where in the lesson it was, the innermost last, as far as Python could tell.
    """

    def __init__(self, reason: str, printed: str = "", frames: tuple[Frame, ...] = ()) -> None:
        self.reason, self.printed, self.frames = reason, printed, frames
        last = printed.strip().splitlines()[-3:]
        super().__init__("\n".join([reason, *(["Last printed:"] if last else []), *last]))


class Died(NoAnswer):
    """It crashed, ended itself, or wrote something that is no answer."""


class TooSlow(NoAnswer):
    """The deadline passed, so it was ended. again: at once, in a function in which it had been ended before."""

    def __init__(self, seconds: float, printed: str = "", frames: tuple[Frame, ...] = (), again: bool = False) -> None:
        self.seconds, self.again = seconds, again
        super().__init__(f"no answer within {seconds:g} s", printed, frames)
