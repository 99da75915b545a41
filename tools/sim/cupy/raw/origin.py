"""The place of a kernel's source: the Python file with the string that holds it, or else a file of its own."""

import linecache
from dataclasses import dataclass
from types import FrameType

from tools.sim.faults import Spot


@dataclass(frozen=True)
class Origin:
    """file: path. above: how many of its lines stand above the first line of the source."""

    file: str
    above: int

    def spot(self, line: int, function: str) -> Spot:
        """The place of the source's line of this number."""
        return Spot(self.file, self.above + line, function)


def find(code: str, name: str, frame: FrameType | None) -> Origin:
    """The origin of the source: the innermost caller's file in which it stands letter by letter.

    If none has it, because the string has escapes or was put together, lines are those of NAME.cu.
    """
    while frame is not None:
        file = frame.f_code.co_filename
        before, found, _ = "".join(linecache.getlines(file)).partition(code)
        if found:
            return Origin(file, before.count("\n"))
        frame = frame.f_back
    return _of_its_own(code, name)


def _of_its_own(code: str, name: str) -> Origin:
    """A file that exists only for those who ask for lines; it lies outside of the course."""
    file = f"/{name}.cu"
    linecache.cache[file] = len(code), None, code.splitlines(keepends=True), file
    return Origin(file, 0)
