"""The term of a sum that is missing, or counted more than once, where the oracle names them (tools/check/terms.py)."""

import math
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from tools.check.diagnosis.symptoms import ENOUGH_BITS, Symptoms
from tools.check.diagnosis.words import BINARY, Cause, cause, factor_text
from tools.words import listed

MOST_NAMES = 3  # of equal terms
ENOUGH_CALLS = 4  # that agree on a factor
FEW = 8  # numbers of a result that has terms
TIMES = (0, 2, 1 / 2, 3, 4, 1 / 4, 8, 1 / 8, 32, 1 / 32, 1000, 1 / 1000, *BINARY)  # that a term is counted by mistake


class Sum(NamedTuple):
    """One number that came back beside the terms of the one that was wanted."""

    got: float
    parts: Mapping[str, float]

    @property
    def off(self) -> float:
        return self.got - sum(self.parts.values())


def one_term_off(symptoms: Symptoms) -> Cause | None:
    """One term, always the same one, is counted so many times in place of once."""
    if not symptoms.comparable or symptoms.here.got.size > FEW or symptoms.parts_of(symptoms.args, 0) is None:
        return None
    for place in range(symptoms.here.got.size):
        sums = list(_sums(symptoms, place))
        if sums and sums[0].off and sum(map(_bits, sums)) >= ENOUGH_BITS and (found := odd_term(sums, TIMES)):
            times, names = found
            asks = f"What is there to count for {' or '.join(names)}?"
            return cause("one_term_off", said_of(sums[0], times, names), asks)
    return None


def one_term_scaled(symptoms: Symptoms) -> Cause | None:
    """One term, always the same one, has a number of the call for a factor too many, or lacks it: logits of `size`
    bytes in place of 4."""
    if not symptoms.comparable or symptoms.here.got.size != 1 or not symptoms.parts_of(symptoms.args, 0):
        return None
    calls, sums = list(symptoms.calls), list(_sums(symptoms, 0))
    if len(sums) < ENOUGH_CALLS or len(sums) != len(calls) or sum(map(_bits, sums)) < ENOUGH_BITS:
        return None
    numbers = {
        symptoms.name_of(i): [call.args[i] for call in calls]
        for i, arg in enumerate(symptoms.args)
        if type(arg) is int and all(call.args[i] > 0 for call in calls)
    }
    found = [
        (name, number, power, factor)
        for name in sums[0].parts
        for number, values in numbers.items()
        for power in (1, -1)
        if len(set(values)) > 2 and (factor := _constant(sums, name, [value**power for value in values]))
    ]
    if len(found) != 1:
        return None
    name, number, power, factor = found[0]
    constant = round(factor**-power)
    if not math.isclose(factor**-power, constant, rel_tol=1e-9):
        return None
    if constant == 1:
        seen = f"As if {name} were {'multiplied' if power > 0 else 'not multiplied'} by {number}."
    else:
        has, should = (number, constant) if power > 0 else (constant, number)
        seen = f"As if {name} had the factor {has} in place of {should}."
    return cause("one_term_scaled", seen, f"What has {number} to do with {name}?")


def _constant(sums: list[Sum], name: str, values: list[float]) -> float | None:
    """By which factor this term is counted more often than so many times, the same for each call."""
    if not all(each.parts.get(name) for each in sums):
        return None
    factors = [(1 + each.off / each.parts[name]) / value for each, value in zip(sums, values)]
    same = all(math.isclose(factor, factors[0], rel_tol=1e-9) for factor in factors)
    return factors[0] if same and factors[0] > 0 else None


def told_apart(symptoms: Symptoms) -> Cause | None:
    """All the terms of what is wanted, where none of them alone explains what came back."""
    if not symptoms.comparable or symptoms.here.got.size != 1 or not (parts := symptoms.parts_of(symptoms.args, 0)):
        return None
    if not 2 <= len(parts) <= MOST_NAMES:
        return None
    each = listed(
        [f"{part:,.6g} for {name}" if part % 1 else f"{part:,.0f} for {name}" for name, part in parts.items()]
    )
    return cause("terms_told", f"Wanted is {each}.", "Which of them do you count otherwise?")


def _sums(symptoms: Symptoms, place: int) -> Iterator[Sum]:
    for call in symptoms.calls:
        parts = symptoms.parts_of(call.args, place)
        if parts is None:
            return
        yield Sum(float(call.got.flat[place]), parts)


def _bits(each: Sum) -> float:
    return math.log2(1 + abs(each.off))


def odd_term(sums: list[Sum], most: tuple[float, ...]) -> tuple[float, list[str]] | None:
    """How many times one term was counted, and its name; two or three names where nothing tells these terms apart."""
    found = [
        (times, name)
        for times in most
        for name in sums[0].parts
        if all(_is_counted(each, name, times) for each in sums)
    ]
    names = [name for _, name in found]
    alike = all(each.parts[name] == each.parts[names[0]] for each in sums for name in names)
    equally_often = len({times for times, _ in found}) == 1
    return (found[0][0], names) if equally_often and alike and len(names) <= MOST_NAMES else None


def _is_counted(each: Sum, name: str, times: float) -> bool:
    part = each.parts.get(name)
    if not part:  # a call in which there is nothing to count tells nothing
        return part == 0 == each.off
    return math.isclose(each.off, (times - 1) * part, rel_tol=1e-9)


def said_of(each: Sum, times: float, names: list[str]) -> str:
    whose, off = " or ".join(names), abs(each.off)
    by = f"{off:,.0f}" if off == round(off) else f"{off:.6g}"
    if times == 0:
        return f"It is {by} short: as much as {whose} should add."
    if times == 2:
        return f"It is {by} too much: as if {whose} were added twice."
    return f"As if {whose} counted {factor_text(times).removesuffix(' of')}."
