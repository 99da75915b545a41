"""The place of a kernel's source: the Python file with the string that holds it, or else a file of its own."""

import linecache
from dataclasses import dataclass, replace
from types import FrameType

from tools.sim.faults import Spot


@dataclass(frozen=True)
class Origin:
    """file: path. above: how many of its lines stand above the first line of the source.

    joined: of a source that was put together from strings of one file, that file; lines: its line for each of the
    source's, by their numbers.
    """

    file: str
    above: int
    joined: str = ""
    lines: tuple[tuple[int, int], ...] = ()

    def spot(self, line: int, function: str) -> Spot:
        """The place of the source's line of this number."""
        there = dict(self.lines).get(line)
        return Spot(self.joined, there, function) if there else Spot(self.file, self.above + line, function)


def find(code: str, name: str, frame: FrameType | None) -> Origin:
    """The origin of the source: the innermost caller's file in which it stands letter by letter.

    If none has it, lines are those of NAME.cu; but those of the caller's file where all of them stand in it, as in a
    source that was put together from strings.
    """
    caller = frame
    while frame is not None:
        file = frame.f_code.co_filename
        before, found, _ = "".join(linecache.getlines(file)).partition(code)
        if found:
            return Origin(file, before.count("\n"))
        frame = frame.f_back
    joined = caller.f_code.co_filename if caller else ""
    return replace(_of_its_own(code, name), joined=joined, lines=_pieces(code, linecache.getlines(joined)))


def _pieces(code: str, there: list[str]) -> tuple[tuple[int, int], ...]:
    """For each line that is not blank its number, and the one among the lines `there`: where the one before it goes on,
    else where the most lines follow. None at all if a line does not stand there."""
    ours, theirs = [line.rstrip() for line in code.split("\n")], [line.rstrip() for line in there]
    found: list[tuple[int, int]] = []
    shift = 0
    for number, line in enumerate(ours):
        if not line:
            continue
        if theirs[number + shift : number + shift + 1] != [line]:
            places = [place for place, other in enumerate(theirs) if other == line]
            if not places:
                return ()
            shift = max(places, key=lambda place: _alike(ours[number:], theirs[place:])) - number
        found.append((number + 1, number + shift + 1))
    return tuple(found)


def _alike(one: list[str], other: list[str]) -> int:
    """How many lines of both are the same, from the first on."""
    return next((i for i, (a, b) in enumerate(zip(one, other)) if a != b), min(len(one), len(other)))


def _of_its_own(code: str, name: str) -> Origin:
    """A file that exists only for those who ask for lines; it lies outside of the course."""
    file = f"/{name}.cu"
    linecache.cache[file] = len(code), None, code.splitlines(keepends=True), file
    return Origin(file, 0)
