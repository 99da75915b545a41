"""Faults of CUDA kernels, said with the block and the thread that did it; and what Numba or the simulator refuses."""

import functools
import os
import textwrap
from typing import Any

from tools import sim
from tools.sim import faults

WIDTH = 76  # columns that a failed test has room for
HERE = os.path.dirname(sim.__file__) + os.sep


class Fault(faults.ThreadFault):
    """At the line of the kernel that runs now, unless another spot is given."""

    def __init__(
        self, kind: str, what: str, question: str = "", *, spot: faults.Spot | None = None, **where: Any
    ) -> None:
        if any(len(line) > WIDTH for line in what.splitlines()):  # names and numbers may be long
            what = textwrap.fill(" ".join(what.split()), WIDTH)
        super().__init__(spot or learner_spot(), kind, what, question, **where)


class Refused(Fault):
    """A fault of kind "refused". reason: why Numba does not compile it. advice: what to write instead, or "".

    spot: where; without it, the line of the kernel that runs now.
    """

    def __init__(self, reason: str, advice: str = "", spot: faults.Spot | None = None) -> None:
        self.reason, self.advice = reason, advice
        super().__init__("refused", reason, advice, spot=spot)


class Unknown(Exception):
    """Something that a GPU would run and this simulator does not know. advice: what to write instead, or "".

    At the line of the kernel that runs now, or of the launch, unless another spot is given.
    """

    def __init__(self, what: str, advice: str = "", spot: faults.Spot | None = None) -> None:
        super().__init__(faults.Fault(spot or learner_spot(), "unknown", what, advice).text)


def learner_frame() -> Any:
    """The kernel's: the innermost frame outside the simulator; None where there is none."""
    return faults.innermost(_is_inner)


def learner_spot() -> faults.Spot:
    """The line of the kernel that runs now."""
    frame = learner_frame()  # of a conditional expression's part it is a function within the kernel
    spot = faults.spot(frame)
    return spot._replace(function=_function(frame)) if frame else spot


def calling_spot() -> faults.Spot:
    """In a device function: the line of the kernel, or of another device function, that called it."""
    frame, own = learner_frame(), learner_spot().function
    while frame is not None and (_is_inner(frame.f_code.co_filename) or _function(frame) == own):
        frame = frame.f_back
    spot = faults.spot(frame)
    return spot._replace(function=_function(frame)) if frame else spot


def _function(frame: Any) -> str:
    return str(frame.f_code.co_qualname.partition(".")[0])


@functools.cache
def _is_inner(file: str) -> bool:
    return file.startswith(HERE)


def position(number: Any, sizes: tuple[int, int, int]) -> tuple:
    """x, y, z of a thread or a block by its number, or of many by theirs: x counts first."""
    x, y, _ = sizes
    return number % x, number // x % y, number // (x * y)
