"""Counters of float64, of conversions and of barriers, in words: the lines, and what may bring them in."""

from collections.abc import Iterator

from tools.check.diagnosis.asserted import Sides
from tools.check.diagnosis.by_line import compared, lines_of, worst
from tools.check.terms import by_line
from tools.sim.counters import Counters


def float64(counters: Counters, sides: Sides | None) -> Iterator[str]:
    lines = [line for line in lines_of(counters) if line.counts.float64]
    if not lines:
        return
    yield from compared(sides, by_line(counters, "float64").parts)
    yield from worst(lines, lambda line: line.counts.float64, lambda counts: f"{counts.float64} operations in float64")
    if any(line.source.rstrip().endswith((";", "{")) for line in lines):  # the text of a C++ kernel
        yield "Is a double among them, or a constant such as 0.5 without f?"
    elif counters.warps:
        yield "In a kernel 0.0 is float64, and so is all that it is added to. Where does one come in?"
    else:
        yield "Which dtype has each number of that line?"


def conversions(counters: Counters, sides: Sides | None) -> Iterator[str]:
    lines = [line for line in lines_of(counters) if line.counts.conversions]
    if not lines:
        return
    yield from compared(sides, by_line(counters, "conversions").parts)
    yield from worst(lines, lambda line: line.counts.conversions, lambda counts: f"{counts.conversions} conversions")
    yield "Which two types meet there?"


def barriers(counters: Counters, sides: Sides | None) -> Iterator[str]:
    lines = [line for line in lines_of(counters) if line.kind == "barrier"]
    yield from compared(sides, by_line(counters, "barriers").parts)
    yield from worst(
        lines, lambda line: line.counts.barriers, lambda counts: f"{counts.barriers} times that a warp came to it"
    )
    needed = sides.other if sides and sides.both_numbers else 0
    if len(lines) > 1 and all(line.counts.barriers <= needed for line in lines):  # none of them is in a loop
        yield "Which of them does the kernel need?"
    else:
        yield "Which loop does each barrier stand in?" if lines else "Which threads wait for each other, and where?"


def library_float64(counters: Counters, sides: Sides | None) -> Iterator[str]:
    if counters.library_float64:
        yield f"{' and '.join(dict.fromkeys(counters.library_float64))} worked with float64."
        yield "Which of its arguments is float64, and what made it so?"
