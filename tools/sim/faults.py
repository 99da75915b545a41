"""Faults: an exception, which says who and where, for what the hardware would refuse or get wrong without a word."""

import linecache
import os
import sys
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import numpy as np

from tools import ROOT

WIDTH = 80  # columns


class Spot(NamedTuple):
    """A line of code: the file's path, the line's number, and the function that it belongs to."""

    file: str
    line: int
    function: str


class Fault(Exception):
    """A kernel did what must not be done; raised at the line that does it.

    kind: "out_of_bounds", "race", "misaligned", ...
    what: sentences about it, at most three lines. question: one line that points to the cause.
    file (relative to the root), line, function, source: where.
    array: name of the kernel's array that it happened to. operation: "load", "store" or "atomic".
    text: all of it in at most six lines; it is also the exception's message.
    """

    def __init__(
        self,
        spot: Spot,
        kind: str,
        what: str,
        question: str = "",
        *,
        array: str | None = None,
        operation: str | None = None,
    ) -> None:
        self.kind, self.what, self.question = kind, what, question
        self.array, self.operation = array, operation
        self.file, self.line, self.source = describe(spot)
        self.function = spot.function
        head = f"{self.function}, line {self.line}:  {self.source}"
        head = head if len(head) <= WIDTH else head[: WIDTH - 3] + "..."
        self.text = "\n".join([head, what, *(["", question] if question else [])])
        super().__init__(self.text)

    def add(self, words: str) -> None:
        """One more line of at most 80 columns, in the place of the empty one: under what circumstances it happened."""
        words = words if len(words) <= WIDTH else words[: WIDTH - 3] + "..."
        parts = [self.text.split("\n")[0], self.what, words, *([self.question] if self.question else [])]
        self.text = "\n".join(parts)
        self.args = (self.text,)


class ThreadFault(Fault):
    """A fault of a CUDA kernel; block, thread: who did it first, as (x, y, z). index: in the array."""

    def __init__(
        self,
        spot: Spot,
        kind: str,
        what: str,
        question: str = "",
        *,
        block: Any = None,
        thread: Any = None,
        index: Any = None,
        **where: str | None,
    ) -> None:
        self.block, self.thread, self.index = block, thread, index
        super().__init__(spot, kind, what, question, **where)


def innermost(is_inner: Callable[[str], bool]) -> FrameType | None:
    """The innermost frame of a file for which `is_inner` is false: the learner's line."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and is_inner(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


def spot(frame: FrameType | None) -> Spot:
    """Where a frame is at present. Of a lambda or a comprehension, which has no name, in the function around it."""
    if frame is None:
        return Spot("", 0, "")
    named = [name for name in frame.f_code.co_qualname.split(".") if not name.startswith("<")]
    return Spot(frame.f_code.co_filename, frame.f_lineno, named[-1] if named else frame.f_code.co_name)


def describe(spot: Spot) -> tuple[str, int, str]:
    """File relative to the root (its name if it lies elsewhere), line number, and the line itself."""
    return _shown(spot.file), spot.line, linecache.getline(spot.file, spot.line).strip()


@lru_cache(maxsize=1024)  # asked for each line that a launch counts: a twentieth of the time of a day of CUDA
def _shown(file: str) -> str:
    path = Path(os.path.realpath(file))
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.name


def position(number: int, grid: tuple[int, ...]) -> tuple[int, ...]:
    """Where a program stands in a grid: numbers count along the last axis first."""
    place = []
    for size in reversed(grid):
        number, along = divmod(number, size)
        place.append(along)
    return tuple(reversed(place))


def shown(place: tuple[int, int, int], sizes: tuple[int, int, int]) -> str:
    """A thread's or a block's place: 3, or (3, 1), in as many dimensions as are used."""
    used = max([axis for axis, size in enumerate(sizes, start=1) if size > 1], default=1)
    return str(place[0]) if used == 1 else str(place[:used])


def ranges(numbers: Any) -> str:
    """0 to 31, 40: consecutive numbers drawn together, the first three pieces."""
    numbers = np.asarray(numbers)
    pieces = np.split(numbers, np.flatnonzero(np.diff(numbers) != 1) + 1)
    texts = [str(piece[0]) if piece.size == 1 else f"{piece[0]} to {piece[-1]}" for piece in pieces[:3]]
    return ", ".join(texts) + (" and more" if len(pieces) > 3 else "")
