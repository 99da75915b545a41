"""Counters of global memory in words: bytes and sectors line by line, and what the requests of warps ask for."""

from collections.abc import Callable, Iterator

from tools.check.diagnosis.asserted import Sides
from tools.check.diagnosis.by_line import compared, lines_of, loops_of, worst
from tools.check.diagnosis.loaded_back import loaded_back
from tools.check.diagnosis.neighbours import neighbours_apart
from tools.check.diagnosis.repeated import hear, moved_again
from tools.check.diagnosis.unused import unused_keyword
from tools.models.units import SECTOR
from tools.sim.counters import Counters, Line
from tools.words import plural

LANES = 32  # of a warp
WORTH = 1.25  # times the bytes: what is touched beyond that is wasted
UNKNOWN = "What is moved more than once, or not at all?"  # where nothing tells what went wrong
KINDS = {"bytes_loaded": "load", "bytes_stored": "store", "bytes_atomic": "atomic"}  # figure -> kind of the lines


def figure(name: str) -> Callable:
    """A teller of bytes or sectors: both sides, the lines that the figure is the sum of, and what the difference is."""

    def tell(counters: Counters, sides: Sides | None) -> Iterator[str]:
        lines = _by_line(counters, name)
        if not lines and sides is None:
            return
        yield from compared(sides, {f"line {line.line}": getattr(line.counts, name) for line in lines})
        yield from worst(
            lines,
            lambda line: getattr(line.counts, name),
            lambda counts: f"{counts.bytes:,} bytes in {counts.sectors:,} {plural('sector', counts.sectors)}",
        )
        yield unused_keyword(counters) or _asked_of_memory(counters, sides, name, lines)

    return tell


def _by_line(counters: Counters, name: str) -> list[Line]:
    return [
        line for line in lines_of(counters) if getattr(line.counts, name) and line.kind == KINDS.get(name, line.kind)
    ]


def _asked_of_memory(counters: Counters, sides: Sides | None, name: str, lines: list[Line]) -> str:
    more = sides.difference if sides else 1
    if sides and sides.is_prediction:
        again = moved_again(hearing, lines) if more > 0 and (hearing := hear(counters)) else None
        return f"{again or ''} What does the prediction leave out, or count twice?".strip()
    if name == "sectors" and sides and more > 0 and _would_do(counters.bytes, sides.other):
        return f"A sector holds {SECTOR} bytes. {_asked_of_neighbours(counters, lines)}"
    if more < 0:
        return "What is not moved, or in larger pieces than it should be?"
    hearing = hear(counters)
    surplus = more if sides and name in ("bytes", "bytes_loaded") else None
    if back := loaded_back(hearing, lines, surplus) if hearing else None:
        return f"{back} Where else could that {back.who} keep a value in between?"
    again = moved_again(hearing, lines) if hearing else None
    if again:
        return f"{again} How often should that be?"
    if again is not None and sides:
        return f"Nothing is moved twice. Which elements {'lie too far apart' if name == 'sectors' else 'are too many'}?"
    if len(lines) == 1:
        return "How often does that line run, and for which elements?"
    if name == "sectors" and sides:
        return "What is moved more than once, or lies farther apart than it should?"
    return UNKNOWN


def _would_do(moved: int, sectors: float) -> bool:
    """Would so few sectors hold all bytes that are moved, and hardly more? Then no byte is one too many."""
    return moved <= SECTOR * sectors <= WORTH * moved


def _asked_of_neighbours(counters: Counters, lines: list[Line]) -> str:
    """Of elements that each cost a sector: they lie apart, or a loop moves one after the other."""
    if counters.warps:
        return "How far apart are the elements that the threads of a warp move at one time?"
    if loops := loops_of(counters, lines[0]):
        return (
            f"How many elements does one turn of the loop in line {loops[-1].lineno} move, and how far apart are they?"
        )
    return "How far apart in memory are the neighbours of a block?"


def requests(counters: Counters, sides: Sides | None) -> Iterator[str]:
    """How many there are, line by line."""
    yield from compared(sides, {})
    yield from worst(
        lines_of(counters), lambda line: line.counts.requests, lambda counts: f"{counts.requests:,} requests"
    )
    yield "Which warps ask for something there, and how often?"


def scattered(counters: Counters, sides: Sides | None) -> list[str]:
    """How many sectors a request touches, line by line."""
    if sides and sides.asked.endswith("sectors_per_request") and sides.difference < 0:
        few = worst(
            lines_of(counters),
            lambda line: line.counts.accesses and line.counts.requests and _idle(line),
            lambda counts: f"{counts.accesses / counts.requests:.1f} of {LANES} threads ask in a request",
        )
        if told := list(few):
            return [str(sides), *told, "Why do the other threads of the warp not ask?"]
    lines = lines_of(counters)
    asked = worst(lines, _touched, lambda counts: f"{counts.sectors_per_request:.1f} sectors a request")
    apart = neighbours_apart(counters, max(lines, key=_touched)) if lines else None
    if apart:
        return [*asked, str(apart), "What changes there from one thread to the next, and what should?"]
    return [*asked, "Which addresses do the 32 threads of a warp ask for, and how far apart are they?"]


def _touched(line: Line) -> float:
    """Sectors of a request; 0 of a line that asks for nothing."""
    return line.counts.requests and line.counts.sectors_per_request


def _idle(line: Line) -> float:
    """Of the lanes of a warp, those that do not take part in an average request of global memory."""
    return max(0.0, LANES - line.counts.accesses / line.counts.requests)
