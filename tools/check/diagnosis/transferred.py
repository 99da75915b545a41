"""Counters of what crosses between host and GPU in words, and of how often the host waits."""

from collections.abc import Iterator

from tools.check.diagnosis.asserted import Sides
from tools.check.diagnosis.by_line import compared
from tools.sim import tables
from tools.sim.counters import Counters


def transfers(counters: Counters, sides: Sides | None) -> list[str]:
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
    if not any(vars(counters.transfers).values()):
        return "Between host and GPU: nothing crossed, and the host never waited."
    return f"Between host and GPU: {tables.transfers(counters.transfers)}."
