"""What counters say of numbers in float64, of conversions and of barriers: the lines, and what may bring them in."""

from collections.abc import Iterator

from tools.check.diagnosis.asserted import Sides
from tools.check.diagnosis.by_line import compared, lines_of, worst
from tools.sim.counters import Counters, Line


def float64(counters: Counters, sides: Sides | None) -> Iterator[str]:
    lines = [line for line in lines_of(counters) if line.counts.float64]
    if not lines:
        return
    yield from compared(sides, _parts(lines, "float64"))
    yield from worst(lines, lambda line: line.counts.float64,
                     lambda counts: f"{counts.float64} operations in float64")
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
    yield from compared(sides, _parts(lines, "conversions"))
    yield from worst(lines, lambda line: line.counts.conversions,
                     lambda counts: f"{counts.conversions} conversions")
    yield "Which two types meet there?"


def barriers(counters: Counters, sides: Sides | None) -> Iterator[str]:
    lines = [line for line in lines_of(counters) if line.kind == "barrier"]
    yield from compared(sides, {f"line {line.line}": line.counts.barriers for line in lines})
    yield from worst(lines, lambda line: line.counts.barriers,
                     lambda counts: f"{counts.barriers} times that a warp came to it")
    yield "Which loop does each barrier stand in?" if lines else "Which threads wait for each other, and where?"


def library_float64(counters: Counters, sides: Sides | None) -> Iterator[str]:
    if counters.library_float64:
        yield f"{' and '.join(dict.fromkeys(counters.library_float64))} worked with float64."
        yield "Which of its arguments is float64, and what made it so?"


def _parts(lines: list[Line], figure: str) -> dict[str, int]:
    parts: dict[str, int] = {}
    for line in lines:
        parts[f"line {line.line}"] = parts.get(f"line {line.line}", 0) + getattr(line.counts, figure)
    return parts
