"""Which term of a sum is missing, or counted more than once: where the oracle gives them names (tools/check/terms.py)."""

import math
from collections.abc import Iterator
from typing import NamedTuple

from tools.check.diagnosis.evidence import ENOUGH_BITS, Evidence
from tools.check.diagnosis.words import Cause, cause, factor_text

FEW = 8  # numbers of a result that has terms
TIMES = (0, 2, 1 / 2, 3, 4, 1 / 4, 8, 1 / 8, 32, 1 / 32)  # that a term may be counted by mistake


class Sum(NamedTuple):
    """One number that came back beside the terms of the one that was wanted."""

    got: float
    parts: dict[str, float]

    @property
    def off(self) -> float:
        return self.got - sum(self.parts.values())


def one_term_off(evidence: Evidence) -> Cause | None:
    """One term, always the same one, is counted so many times in place of once."""
    if not evidence.comparable or evidence.here.got.size > FEW or evidence.parts_of(evidence.args, 0) is None:
        return None
    for place in range(evidence.here.got.size):
        sums = list(_sums(evidence, place))
        if not sums or not sums[0].off or sum(map(_bits, sums)) < ENOUGH_BITS:
            continue
        found = [(times, name) for times in TIMES for name in sums[0].parts
                 if all(_is_counted(each, name, times) for each in sums)]
        same = len({times for times, _ in found}) == 1 and _alike(sums, [name for _, name in found])
        if same:
            return _said(evidence, sums[0], found[0][0], [name for _, name in found])
    return None


def _sums(evidence: Evidence, place: int) -> Iterator[Sum]:
    for case in evidence.cases:
        parts = evidence.parts_of(case.args, place)
        if parts is None:
            return
        yield Sum(float(case.got.flat[place]), parts)


def _bits(each: Sum) -> float:
    return math.log2(1 + abs(each.off))


def _is_counted(each: Sum, name: str, times: float) -> bool:
    return name in each.parts and math.isclose(each.off, (times - 1) * each.parts[name], rel_tol=1e-9)


def _alike(sums: list[Sum], names: list[str]) -> bool:
    """No telling these terms apart, as they are always equal; one is always told from itself."""
    return all(each.parts[name] == each.parts[names[0]] for each in sums for name in names)


def _said(evidence: Evidence, here: Sum, times: float, names: list[str]) -> Cause:
    whose, off = " or ".join(names[:2]), abs(here.off)
    by = f"{off:,.0f}" if off == round(off) else f"{off:.6g}"
    if times == 0:
        seen = f"It is {by} short: as much as {whose} should add."
    elif times == 2:
        seen = f"It is {by} too much: as if {whose} were added twice."
    else:
        seen = f"As if {whose} counted {factor_text(times).removesuffix(' of')}."
    return cause("one_term_off", seen, f"What is there to count for {whose}?")
