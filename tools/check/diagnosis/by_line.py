"""The source lines behind a figure: which of them cost most, and what a prediction makes of them."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import combinations

from tools.check.diagnosis.asserted import Sides
from tools.check.diagnosis.parts import Sum, odd_term, said_of
from tools.check.diagnosis.source import Loop, source_of
from tools.check.show import cut
from tools.sim.counters import Counters, Line
from tools.words import listed

MOST_LINES = 3


def lines_of(counters: Counters) -> list[Line]:
    """The lines of all launches; what one did in the same way in several of them is added up."""
    found: dict[tuple, Line] = {}
    for line in (line for launch in counters.launches for line in launch.lines):
        key = line.file, line.line, line.kind
        found[key] = replace(line, counts=found[key].counts + line.counts) if key in found else line
    return list(found.values())


def worst(lines: Iterable[Line], cost: Callable, fact: Callable) -> Iterator[str]:
    """The source lines that cost most, with their figures; those that cost nothing are left out."""
    costly = sorted(filter(cost, lines), key=cost, reverse=True)
    facts: dict[tuple, dict[str, list[str]]] = {}  # of a place, the kinds; where it loads and stores alike, both
    for line in costly:
        facts.setdefault((line.file, line.line), {}).setdefault(fact(line.counts), []).append(line.kind)
    told = [
        f"line {line.line}{_kinds(kinds, said)}: {short(line)}  {said}{' each' if len(kinds[said]) > 1 else ''}"
        for line in costly
        for kinds, said in [(facts[line.file, line.line], fact(line.counts))]
    ]
    yield from list(dict.fromkeys(told))[:MOST_LINES]


def _kinds(kinds: Mapping[str, list[str]], said: str) -> str:
    """What a line does as it is said, where it does several things."""
    alike = kinds[said]
    if len(alike) > 1:
        return f", {listed([kind.removeprefix('shared ') for kind in alike])}"
    return f", {alike[0]}" if len(kinds) > 1 else ""


def short(line: Line) -> str:
    return cut(line.source.partition("  #")[0], 32)


def loops_of(counters: Counters, line: Line) -> list[Loop]:
    """The loops of the lesson that this line stands in, the outermost first; none where nothing can tell."""
    source = source_of(counters.call.function) if hasattr(counters, "call") else None
    return source.loops_around(line.line) if source and source.holds(line.line, line.source) else []


def compared(sides: Sides | None, parts: Mapping[str, float]) -> Iterator[str]:
    """Both sides; of a prediction also the line that makes the difference, if there is one such."""
    if sides is None:
        return
    yield str(sides)
    parts = {name: count for name, count in parts.items() if count}
    if sides.is_prediction and sides.both_numbers and sum(parts.values()) == sides.counted:
        predicted = Sum(sides.other, parts)
        found = odd_term([predicted], (0, 2))
        if found and _only_one(found[1][0], parts):
            yield said_of(predicted, *found)


def _only_one(name: str, parts: Mapping[str, float]) -> bool:
    """Does no other line, and no group of lines, come to as much as this one?"""
    groups = (group for count in range(1, len(parts) + 1) for group in combinations(parts, count))
    return sum(sum(parts[each] for each in group) == parts[name] for group in groups) == 1
