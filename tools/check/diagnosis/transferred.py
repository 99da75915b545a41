"""Counters of what crosses between host and GPU in words, and of how often the host waits."""

from collections.abc import Iterator
from dataclasses import replace

from tools.check.diagnosis.asserted import Sides
from tools.check.diagnosis.by_line import compared
from tools.sim import tables
from tools.sim.counters import Counters


def transfers(counters: Counters, sides: Sides | None) -> list[str]:
    if sides and "copie" in sides.asked:
        return [_between(counters), "Which line copies within the GPU's memory, and what for?"]
    too_few = sides is not None and sides.difference < 0
    asks = "Which line should move it?" if too_few else "Which line moves the rest?"
    return [_between(counters), f"What must cross, and how often? {asks}"]


def waits(counters: Counters, sides: Sides | None) -> Iterator[str]:
    """Of synchronizations alone: what crosses is as it should be, or is asked for elsewhere."""
    yield _between(counters)
    yield from compared(sides, {})
    if sides and sides.difference < 0:
        yield "Where must the host wait for the GPU, and for what?"
    else:
        yield "Which calls make the host wait for the GPU, and how often do they run?"


def _between(counters: Counters) -> str:
    moved = counters.transfers
    within = f" Within the GPU: {tables.quantity(moved.copies, 'copy')} ({moved.bytes_copied:,} bytes)."
    crossed = tables.transfers(replace(moved, copies=0, bytes_copied=0))
    if not (moved.uploads or moved.downloads or moved.synchronizations):
        crossed = "nothing crossed, and the host never waited"
    return f"Between host and GPU: {crossed}.{within * bool(moved.copies)}"
