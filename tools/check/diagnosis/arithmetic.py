"""Counters of float64, of conversions and of barriers, in words: the lines, and what may bring them in."""

import re
from collections.abc import Iterator

from tools.check.diagnosis.asserted import Sides
from tools.check.diagnosis.by_line import MOST_LINES, compared, lines_of, loops_of, worst
from tools.check.terms import by_line
from tools.sim.counters import Counters, Line

DIVIDES = re.compile(r"(?<!/)/(?![/=])")


def float64(counters: Counters, sides: Sides | None) -> Iterator[str]:
    lines = [line for line in lines_of(counters) if line.counts.float64]
    if not lines:
        return
    yield from compared(sides, by_line(counters, "float64").parts)
    yield from worst(
        lines, lambda line: line.counts.float64, lambda counts: f"{counts.float64:,} operations in float64"
    )
    if sides and sides.other:
        yield "Which of these operations does each element need?"
    elif any(line.source.rstrip().endswith((";", "{")) for line in lines):  # the text of a C++ kernel
        yield "Is a double among them, or a constant such as 0.5 without f?"
    elif counters.warps:
        quotient = ", so is / of whole numbers" * any(DIVIDES.search(line.source) for line in lines)
        made = "So is what float32 makes with float64, or with an int."
        yield f"In a kernel 0.0 is float64{quotient}. {made} Where does one come in?"
    else:
        yield "Which dtype has each number of that line?"


def conversions(counters: Counters, sides: Sides | None) -> Iterator[str]:
    lines = [line for line in lines_of(counters) if line.counts.conversions]
    if not lines:
        return
    yield from compared(sides, by_line(counters, "conversions").parts)
    yield from worst(lines, lambda line: line.counts.conversions, lambda counts: f"{counts.conversions:,} conversions")
    told = sorted(lines, key=lambda line: line.counts.conversions, reverse=True)[:MOST_LINES]
    if all(".to(" in line.source for line in told):  # each of them asks for it
        yield "Which conversion does the result not need?"
    else:
        yield "Which two types meet there?"


def barriers(counters: Counters, sides: Sides | None) -> Iterator[str]:
    lines = [line for line in lines_of(counters) if line.kind == "barrier"]
    yield from compared(sides, by_line(counters, "barriers").parts)
    yield from worst(
        lines, lambda line: line.counts.barriers, lambda counts: f"{counts.barriers:,} times that a warp came to it"
    )
    yield _asked_of_barriers(counters, lines, sides)


def _asked_of_barriers(counters: Counters, lines: list[Line], sides: Sides | None) -> str:
    if sides and sides.difference < 0:
        return "Is one missing, or do some warps end, or turn off, before it?"
    loops = [loops_of(counters, line) for line in lines]
    if any(len(around) > 1 for around in loops):
        return "Which loop does each barrier stand in?"
    if sides and sides.other == 0:
        return "Which threads wait for each other: those of a block, or those of one warp?"
    if len(lines) > 1:
        return "Which of them does the kernel need?"
    if loops and loops[0]:
        return f"It stands in the loop of line {loops[0][0].lineno}. Must all threads wait in each of its turns?"
    return "Which threads must wait there, and when?"


def library_float64(counters: Counters, sides: Sides | None) -> Iterator[str]:
    if counters.library_float64:
        yield f"{' and '.join(dict.fromkeys(counters.library_float64))} worked with float64."
        yield "Which of its arguments is float64, and what made it so?"
