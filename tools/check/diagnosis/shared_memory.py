"""Counters of shared memory in words: requests, wavefronts, and what makes them conflict."""

from collections.abc import Iterator

from tools.check.diagnosis.asserted import Sides
from tools.check.diagnosis.banks import worst_request
from tools.check.diagnosis.by_line import compared, lines_of, worst
from tools.sim.counters import Counters, Line

WORD = 4  # bytes that each of 32 threads can move in one wavefront


def shared(counters: Counters, sides: Sides | None) -> Iterator[str]:
    yield from compared(sides, {})
    lines = [line for line in lines_of(counters) if line.counts.shared_requests]
    yield from worst(
        lines,
        lambda line: line.counts.shared_requests,
        lambda counts: f"{counts.bytes_shared:,} bytes in {counts.shared_requests:,} requests",
    )
    if lines:
        yield "Which threads ask shared memory for something there, and how often?"
    else:
        yield "No line asks shared memory for anything. What do the threads of a block share?"


def conflicts(counters: Counters, sides: Sides | None) -> Iterator[str]:
    yield from worst(
        lines_of(counters),
        lambda line: line.counts.conflicts,
        lambda counts: f"{counts.conflicts:,} of {counts.wavefronts:,} wavefronts are conflicts",
    )
    yield from _asked_of_banks(counters)


def _asked_of_banks(counters: Counters) -> Iterator[str]:
    """Of the line with most conflicts: atomics of one word wait for each other too."""
    most = max(lines_of(counters), key=lambda line: line.counts.conflicts, default=None)
    if most and 2 * most.counts.same_word > most.counts.conflicts:
        yield "How many threads of a warp update the same word there, one after the other?"
        return
    if most and (request := worst_request(counters, most)):
        yield str(request)
    yield "In which of the 32 banks does each thread of a warp find its element?"


def wavefronts(counters: Counters, sides: Sides | None) -> Iterator[str]:
    yield from compared(sides, {f"line {line.line}": line.counts.wavefronts for line in lines_of(counters)})
    yield from worst(
        lines_of(counters),
        lambda line: line.counts.wavefronts,
        lambda counts: f"{counts.wavefronts:,} wavefronts for {counts.shared_requests:,} requests",
    )
    if wide := [line for line in lines_of(counters) if line.counts.wavefronts and _is_wide(line)]:
        size = wide[0].counts.bytes_shared // wide[0].counts.lanes
        yield f"Each element there has {size} bytes, and a wavefront brings {WORD} to each of 32 threads."
        yield "Which dtype has the shared array?"
    elif any(line.counts.conflicts for line in lines_of(counters)):
        yield from _asked_of_banks(counters)
    elif alone := _one_by_one(lines_of(counters), sides):
        yield f"In line {alone.line} one thread of a warp asks at a time."
        yield "How many could do it together, and for which element each?"
    else:
        yield "Which warps ask shared memory for something there, and how often?"


def _is_wide(line: Line) -> bool:
    lanes = line.counts.warps.lanes if line.counts.warps else 0
    return lanes > 0 and line.counts.bytes_shared > WORD * lanes


def _one_by_one(lines: list[Line], sides: Sides | None) -> Line | None:
    """The line whose requests are each one thread's, where these are as many as there are too many."""
    difference = sides.difference if sides else 0
    alone = [line for line in lines if line.counts.warps and line.counts.shared_requests == line.counts.lanes > 1]
    return next((line for line in alone if 0 < difference <= line.counts.wavefronts), None)
