"""Numba's errors for the learner: their line, and the reason in the compiler's words without what surrounds them."""

import linecache
import re
import traceback
from collections.abc import Callable, Iterator
from typing import Any

from tools import ROOT
from tools.compiler import CompileError
from tools.compiler.diagnostics import rejection
from tools.compiler.numba.code import Rejected
from tools.models.chips import Chip

_PLACE = re.compile(r"(?:at|from) (\S+\.py) \((\d+)\)")
_STEP = re.compile(r"Failed in \w+ mode pipeline|During: |File \"|^\s*$")
_LACKING = re.compile(r"No implementation of function .* found for signature:\s*>>> (.*)")
_PRECISE = re.compile(r"^\s*(\w+Error: .*)", re.M)
_COMPLAINT = re.compile(r"error\s*: (.*)")
_MANGLED = re.compile(r" '_Z\w+'")
MOST_DECORATORS = 100  # lines
_BLOCKS = ("FunctionIR", "Block", "Scope")  # they know where the function begins, and not what is wrong


def rejected(error: Exception, function: Callable, chip: Chip) -> Exception:
    """What to tell about an error of the compiler."""
    if type(error).__name__ == "CCSupportError":
        return ValueError(f"numba-cuda's compiler makes no code for {chip.key}: {error}")
    head = f"{function.__name__} does not compile for {chip.key}"
    return rejection(head, *(_place(error) or definition(function)), _reason(error))


def refused(error: Any, chip: Chip) -> CompileError:
    """What to tell about a kernel that the stand-in refused, which knows what Numba does not compile."""
    head = f"{error.function} does not compile for {chip.key}"
    return rejection(head, str(ROOT / error.file), error.line, f"{error.reason}\n{error.advice}")


def unlaunchable(function: Callable, chip: Chip, reason: str) -> CompileError:
    """A kernel that compiles and that the chip has no room for."""
    head = f"{function.__name__} compiles, but cannot be launched on {chip.key}"
    return rejection(head, *definition(function), reason)


def definition(function: Callable) -> tuple[str, int]:
    """File and line of its def, which stands below the decorators."""
    file, first = function.__code__.co_filename, function.__code__.co_firstlineno
    below = range(first, first + MOST_DECORATORS)
    return file, next((line for line in below if linecache.getline(file, line).lstrip().startswith("def ")), first)


def _place(error: BaseException) -> tuple[str, int] | None:
    """The first place that the message names is the innermost; else the innermost that the compiler was at."""
    if found := _PLACE.search(str(error)):
        return found[1], int(found[2])
    return next(_places(error), None)


def _places(error: BaseException) -> Iterator[tuple[str, int]]:
    for frame, _ in reversed(list(traceback.walk_tb(error.__traceback__))):
        for value in frame.f_locals.values():
            place: Any = value if type(value).__name__ == "Loc" else getattr(value, "loc", None)
            if type(place).__name__ == "Loc" and type(value).__name__ not in _BLOCKS:
                yield place.filename, place.line


def _reason(error: Exception) -> str:
    text = str(error)
    if isinstance(error, Rejected):
        complaint = _COMPLAINT.search(text)
        return "The assembler says: " + _MANGLED.sub("", complaint[1] if complaint else text.strip())
    if type(error).__module__ == "builtins":
        return f"The compiler cannot read this line: {type(error).__name__}: {text}"
    if lacking := _LACKING.search(text):
        return "\n".join([f"Numba has no {lacking[1]}.", *_PRECISE.findall(text)[:1]])
    told = [line for line in text.splitlines() if not _STEP.match(line)]
    return told[0] if told else type(error).__name__
