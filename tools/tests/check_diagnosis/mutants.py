"""Random mutants of plain array functions: how many are named, unnamed, and wrongly named.

"named" is a cause that was expected of the mutation. "otherwise" is one that was not, but is literally true
of what came back by the independent check in truths.py (0 * x is all zeros, whatever the mutation meant).

    python -m tools.tests.check_diagnosis.mutants [seed]     prints the table
"""

import sys
from collections import Counter
from dataclasses import dataclass

import numpy as np

from tools.check import Mismatch
from tools.tests.check_diagnosis.examine import examine, symptoms_of
from tools.tests.check_diagnosis.functions import FUNCTIONS
from tools.tests.check_diagnosis.operators import OPERATORS, NotApplicable
from tools.tests.check_diagnosis.truths import literally_true

OUTCOMES = ("named", "otherwise", "unnamed", "wrongly named")
SINGLE = 0.85  # share of mutants with one mistake; the rest have two


@dataclass(frozen=True)
class Verdict:
    """What was said about one mutant. causes: those that may be named."""

    function: str
    mutation: str
    causes: frozenset[str]
    found: Mismatch
    outcome: str  # one of OUTCOMES


def judge_mutants(seed: int, count: int = 500) -> list[Verdict]:
    """Verdicts on `count` mutants that a check would reject, drawn with this seed."""
    rng = np.random.default_rng(seed)
    verdicts = []
    while len(verdicts) < count:
        verdict = judge_one(rng)
        if verdict is not None:
            verdicts.append(verdict)
    return verdicts


def judge_one(rng) -> Verdict | None:
    """One random mutant; None if the mutation does not apply, changes nothing or makes it crash."""
    plain = FUNCTIONS[rng.integers(len(FUNCTIONS))]
    args = plain.inputs(rng)
    try:
        wrong, mutation, causes = mutate(rng, plain, args)
        found = examine(plain.right, wrong, args)
    except (NotApplicable, ValueError, TypeError, IndexError, AttributeError, AssertionError):
        return None  # a crash is reported as a crash: there is no result to diagnose
    if found is None or found.cause == "raised":  # then nothing came back
        return None
    if found.cause in (None, "never_written"):
        outcome = "unnamed"
    elif found.cause in causes:
        outcome = "named"
    else:
        symptoms = symptoms_of(plain.right, wrong, args)  # None where the judge says all: that is certain
        outcome = "wrongly named" if symptoms and not literally_true(found.cause, symptoms) else "otherwise"
    return Verdict(plain.right.__name__, mutation, causes, found, outcome)


def mutate(rng, plain, args):
    """(wrong function, what was done, causes). Of two mistakes either may be named: both are there."""
    names = list(OPERATORS)
    first = names[rng.integers(len(names))]
    wrong, causes = OPERATORS[first](rng, plain, args)
    if rng.random() < SINGLE:
        return wrong, first, frozenset(causes.split())
    second = names[rng.integers(len(names))]
    again = type(plain)(named_like(plain.right, wrong), plain.inputs, plain.copies, plain.instead)
    wrong, more = OPERATORS[second](rng, again, args)
    return wrong, "two mistakes", frozenset(causes.split() + more.split())


def named_like(right, wrong):
    """`wrong` under the name of the right function: some operators look at it."""

    def function(*args):
        return wrong(*args)

    function.__name__ = right.__name__
    return function


def table(verdicts: list[Verdict]) -> str:
    """Outcomes by mutation, and their sum."""
    rows = {}
    for verdict in verdicts:
        rows.setdefault(verdict.mutation, Counter())[verdict.outcome] += 1
    total = sum(rows.values(), Counter())
    lines = [f"{'mutation':<28}" + "".join(f"{outcome:>15}" for outcome in OUTCOMES)]
    for name, row in [*sorted(rows.items()), ("all", total)]:
        lines.append(f"{name:<28}" + "".join(f"{row[outcome]:>15}" for outcome in OUTCOMES))
    return "\n".join(lines)


if __name__ == "__main__":
    found = judge_mutants(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
    print(table(found))
    for each in found:
        if each.outcome == "wrongly named":
            print(f"\n{each.function}, {each.mutation}: {each.found.cause}, acceptable: {sorted(each.causes)}")
            print(each.found.text)
