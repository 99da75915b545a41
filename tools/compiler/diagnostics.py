"""The compiler's errors for the learner: their file, their line, and the reason in the compiler's words."""

import gc
import linecache
import os
import re
import sys
import tempfile
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from triton.compiler.errors import CompilationError
from triton.errors import TritonError
from triton.runtime.errors import PTXASError
from triton.runtime.jit import JITCallable, JITFunction, get_jit_fn_file_line

from tools import ROOT
from tools.compiler import CompileError
from tools.compiler.locations import is_tritons
from tools.models.chips import Chip

WIDTH = 80
LINES = 6  # of a whole text
_TOLD_ELSEWHERE = ("PassManager", "error encountered during parsing")  # the reason is on standard error
_COMPLAINT = re.compile(r"(?P<file>[^\s:][^:]*):(?P<line>\d+):\d+: error: (?P<reason>.*?)\.?$")
_FAILED_PASS = re.compile(r"Pipeline failed while executing \[`(\w+)`")
_SAYS_NOTHING = (AttributeError, KeyError, IndexError, NotImplementedError)  # by itself


@contextmanager
def complaints() -> Iterator[list[str]]:
    """What libraries write to standard error in this block, as lines, once it has ended; nothing of it is shown."""
    said: list[str] = []
    sys.stderr.flush()
    kept = os.dup(2)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 2)
        try:
            yield said
        finally:
            os.dup2(kept, 2)
            os.close(kept)
            file.seek(0)
            said += file.read().decode(errors="replace").splitlines()


def rejected(error: Exception, kernel: JITFunction, chip: Chip, said: Sequence[str] = ()) -> CompileError | None:
    """What to tell about an error of a launch; None when it is not the compiler's. said: on standard error."""
    head = f"{kernel.__name__} does not compile for {chip.key}"
    if isinstance(error, RuntimeError) and any(words in str(error) for words in _TOLD_ELSEWHERE):
        return _told_elsewhere(head, kernel, error, said)
    if not isinstance(error, TritonError):
        return None
    file, line = _place(error, kernel)
    return rejection(head, file, line, _reason(error))


def _told_elsewhere(head: str, kernel: JITFunction, error: Exception, said: Sequence[str]) -> CompileError:
    complaint = next(filter(None, map(_COMPLAINT.match, said)), None)
    failed = next(filter(None, map(_FAILED_PASS.search, said)), None)
    reason = f"The compiler says: {complaint['reason'] if complaint else error}."
    if failed:
        reason = f"The compiler's pass {failed[1]} fails on it and does not say why."
    file, line = get_jit_fn_file_line(kernel)
    if complaint:
        file, line = complaint["file"], int(complaint["line"])
    return rejection(head, file, line, reason)


def too_large(kernel: JITFunction, chip: Chip, metadata: Any) -> CompileError | None:
    """The error of a launch that the chip has no room for, None when it has."""
    limits = chip.limits
    columns = getattr(metadata, "tmem_size", None) or 0
    for what, needs, has in (
        ("bytes of shared memory", metadata.shared, limits.shared_per_block),
        ("columns of tensor memory", columns, limits.tensor_memory),
    ):
        if needs > has:
            head = f"{kernel.__name__} compiles, but cannot be launched on {chip.key}"
            reason = f"It needs {needs} {what}, {chip.key} has {has}. What decides how much is held at once?"
            file, line = get_jit_fn_file_line(kernel)
            return rejection(head, file, line, reason)
    return None


def shown(file: str) -> str:
    """A file's name as the learner knows it."""
    path = os.path.realpath(file)
    return os.path.relpath(path, ROOT) if path.startswith(str(ROOT) + os.sep) else os.path.basename(path)


def rejection(head: str, file: str, line: int, reason: str) -> CompileError:
    """head: which kernel, and what about it. file, line: of the learner's source. reason: why."""
    lines = [f"{head}: {shown(file)}, line {line}"]
    source = linecache.getline(file, line).strip()
    if source:
        lines.append(f"    {source if len(source) <= WIDTH - 4 else source[: WIDTH - 8] + ' ...'}")
    for each in reason.splitlines():
        lines += textwrap.wrap(each, WIDTH, break_on_hyphens=False)
    return CompileError("\n".join(lines[:LINES]))


def _chain(error: BaseException) -> list[BaseException]:
    """The error and what it came from, back to the first. Triton hides that one, which has plain words."""
    chain: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in chain:
        chain.append(cause)
        cause = cause.__cause__ or cause.__context__
    return chain


def _place(error: BaseException, kernel: JITFunction) -> tuple[str, int]:
    """The innermost line that is not Triton's own."""
    for each in reversed(_chain(error)):
        line = getattr(getattr(each, "node", None), "lineno", None)
        for function in _functions_with(getattr(each, "src", None)) if line else []:
            file, first = get_jit_fn_file_line(function)
            if not is_tritons(file):
                return file, first + line - 1
    return get_jit_fn_file_line(kernel)


def _functions_with(source: str | None) -> list[JITCallable]:
    """An error knows only its function's text. Functions are few, so all are looked at."""
    # isinstance would ask lazy modules for their __class__, and some of them answer with a warning
    functions = [thing for thing in gc.get_objects() if issubclass(type(thing), JITCallable)]
    return [function for function in functions if function.src == source]


def _reason(error: BaseException) -> str:
    if isinstance(error, PTXASError):
        complaints = re.findall(r"; error\s*: (.*)", str(error)) or [str(error)]
        return "The assembler says: " + "\n".join(dict.fromkeys(complaints))
    innermost = _chain(error)[-1]
    if isinstance(innermost, CompilationError):
        return innermost.error_message or "The compiler gives no reason."
    message = str(innermost).strip() or type(innermost).__name__
    if isinstance(innermost, _SAYS_NOTHING):
        return f"The compiler cannot read this line: {type(innermost).__name__}: {message}"
    return message
