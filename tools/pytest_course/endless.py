"""The place where a call was ended: its line, the loop around it, and what that loop's names held."""

import ast
import os
import textwrap
import traceback
from collections.abc import Sequence
from types import TracebackType
from typing import Any

from tools import ROOT
from tools.check.diagnosis.source import Loop, Source
from tools.check.show import WIDTH
from tools.worker import Frame

MOST = 4  # names of a loop whose values are told


def line_of(frames: Sequence[Frame]) -> str:
    """The line of the lesson that ran, if that is known, below the text."""
    return f"\n{frames[-1].file}, line {frames[-1].line}: {frames[-1].source}" if frames else ""


def place(frames: Sequence[Frame], trace: TracebackType | None) -> str:
    """line_of, and below it the loop that went on there. trace: where the values are, if it ran in this process."""
    found = _loop(frames)
    if found is None:
        return line_of(frames)
    frame, loop, head = found
    told = [f"{name} is {value}" for name, value in _values(loop, _names_of(frame, trace))]
    lines = [f"It is in the loop of line {loop.lineno}:  {head}"] if loop.lineno != frames[-1].line else []
    lines += [f"There {', '.join(told)}."] if told else []
    return "\n".join([line_of(frames), *(textwrap.shorten(line, 2 * WIDTH, placeholder=" ...") for line in lines)])


def _loop(frames: Sequence[Frame]) -> tuple[Frame, Loop, str] | None:
    """The innermost `while` around these lines, else the innermost `for`: that ends by itself, only perhaps too late.

    None where there is no loop, or one whose condition names nothing.
    """
    for kind in (ast.While, ast.For):
        for frame in reversed(frames):
            text = _text(frame.file)
            loops = _source(text, frame.function).loops_around(frame.line, heads=True)
            loop = next((each for each in reversed(loops) if isinstance(each, kind)), None)
            if loop is not None and _names(loop):
                return frame, loop, text.splitlines()[loop.lineno - 1].strip()
    return None


def _text(file: str) -> str:
    try:
        return (ROOT / file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""


def _source(text: str, function: str) -> Source:
    try:
        return Source(text, function)
    except (SyntaxError, ValueError):  # it was changed while it ran
        return Source("", function)


def _names(loop: Loop) -> list[str]:
    """The names in a loop's head, in the order in which they stand there, each once."""
    heads = [loop.test] if isinstance(loop, ast.While) else [loop.target, loop.iter]
    return list(dict.fromkeys(node.id for head in heads for node in ast.walk(head) if isinstance(node, ast.Name)))


def _names_of(frame: Frame, trace: TracebackType | None) -> dict[str, Any]:
    """The variables of the live frame that this one tells of; none if it ran in another process."""
    for live, line in traceback.walk_tb(trace):
        same = (line, live.f_code.co_name) == (frame.line, frame.function)
        if same and os.path.realpath(live.f_code.co_filename) == os.path.realpath(ROOT / frame.file):
            return dict(live.f_locals)
    return {}


def _values(loop: Loop, names: dict[str, Any]) -> list[tuple[str, str]]:
    shown = [(name, _shown(names[name])) for name in _names(loop) if name in names]
    return [(name, value) for name, value in shown if value][:MOST]


def _shown(value: Any) -> str:
    """A single number, of Python, NumPy, or a kernel; "" for all else."""
    data = getattr(getattr(value, "handle", None), "data", value)  # of a number in a simulated kernel
    try:
        if getattr(data, "size", 1) != 1:
            return ""
        number = data.item() if hasattr(data, "item") else data
    except Exception:  # a lesson's own object may have any `size` and `item`
        return ""
    return f"{number:.6g}" if isinstance(number, float) else str(number) if isinstance(number, int) else ""
