"""An exception of a lesson, as plain facts that look the same wherever it ran."""

import builtins
import linecache
import os
import re
import traceback
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools import ROOT
from tools.sim.faults import Fault

LONGEST_MESSAGE = 2000  # characters
REFUSALS = "Fault", "ThreadFault", "Refused"  # what a GPU, or its compiler, would refuse, and a simulator does
# What NumPy, CuPy, PyTorch and Triton say of shapes that do not go together, or of one that is too large
MISFIT = re.compile(
    r"could not be broadcast|must match|incompatible dimensions|not aligned|shapes cannot be multiplied"
    r"|to have shape|exceeds triton maximum"
)
MOST_SHAPES = 4


@dataclass(frozen=True)
class Frame:
    """One line of a lesson on the way to an error.

    file: relative to the root, or only its name when it lies elsewhere.
    """

    file: str
    line: int
    function: str
    source: str  # the line itself, without its indentation


@dataclass(frozen=True)
class Raised:
    """An exception as plain facts: `frames` only of lesson files, the innermost last."""

    type_name: str
    message: str
    frames: tuple[Frame, ...]


class LessonError(Exception):
    """Stands for what a lesson in another process raised, when that type is not to be had here.

    raised: the facts.
    """

    def __init__(self, raised: Raised) -> None:
        super().__init__(f"{raised.type_name}: {raised.message}")
        self.raised = raised


def raised_from(exception: BaseException, files: Iterable[str | Path]) -> Raised:
    """The facts of `exception`, with those frames of its traceback whose code stands in one of `files`."""
    files = {os.path.realpath(file) for file in files}
    walked = [
        (frame, line)
        for frame, line in traceback.walk_tb(exception.__traceback__)
        if os.path.realpath(frame.f_code.co_filename) in files
    ]
    frames = tuple(frame_at(frame.f_code.co_filename, line, frame.f_code.co_name) for frame, line in walked)
    message = _message(exception)
    if frames and MISFIT.search(message):
        message += shapes_in(frames[-1].source, walked[-1][0].f_locals)
    if isinstance(exception, SyntaxError) and exception.filename and os.path.realpath(exception.filename) in files:
        frames += (frame_at(exception.filename, exception.lineno or 0, ""),)  # a file that never ran has no frame
    return Raised(_name(type(exception)), message, frames)


def _name(kind: type) -> str:
    """Of an exception's class. What a simulator raises is known by its name, so nobody else's class may have that."""
    borrowed = kind.__name__ in REFUSALS and not issubclass(kind, Fault)
    return f"{kind.__module__.rpartition('.')[2]}.{kind.__name__}" if borrowed else kind.__name__


def shapes_in(source: str, names: Mapping[str, Any]) -> str:
    """The arrays that a line of a lesson names, on a line of their own: place is [2, 4], ends is [2]. "" for none."""
    words = re.findall(r"(?<![.\w])[A-Za-z_]\w*", source)
    found = {name: shape for name in words if (shape := _shape(names.get(name)))}
    told = [f"{name} is {shape}" for name, shape in list(found.items())[:MOST_SHAPES]]
    return f"\n{', '.join(told)}" if told else ""


def _shape(value: Any) -> str:
    """[2, 4], of an array, a tensor or a block of a kernel; "" for all else, also for a single number."""
    try:
        return str([int(getattr(length, "value", length)) for length in value.shape]) if len(value.shape) else ""
    except Exception:  # no array
        return ""


def stack_in(report: str) -> list[tuple[str, int, str]]:
    """File, line and function of each step in what faulthandler wrote, the innermost first."""
    steps = re.findall(r'(?m)^  File "(.+)", line (\d+) in (.+)$', report)
    return [(file, int(line), function) for file, line, function in steps]


def frame_at(file: str, line: int, function: str) -> Frame:
    path = Path(os.path.realpath(file))
    shown = path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.name
    return Frame(shown, line, function, linecache.getline(file, line).strip())


def as_exception(raised: Raised) -> Exception:
    """An exception to raise again: of the same type when that is a builtin one, else a LessonError."""
    kind: Any = getattr(builtins, raised.type_name, None)
    try:
        error = kind(raised.message) if issubclass(kind, Exception) else None
    except TypeError:  # no class, or one that wants more than a message
        error = None
    if error is None:
        return LessonError(raised)
    error.raised = raised
    return error


def _message(exception: BaseException) -> str:
    try:
        message = exception.msg if isinstance(exception, SyntaxError) else str(exception)
    except Exception:  # a lesson's own exception may fail to describe itself
        message = ""
    if not message and isinstance(exception, AssertionError) and exception.__traceback__:
        message = _asserted(exception)
    return str(message)[:LONGEST_MESSAGE]


def _asserted(exception: BaseException) -> str:
    """The assertion itself, as it stands in the line that raised it: of a library it is all that tells the reason."""
    frame, line = list(traceback.walk_tb(exception.__traceback__))[-1]
    source = linecache.getline(frame.f_code.co_filename, line).strip()
    return source.removeprefix("assert ") if source.startswith("assert ") else ""
