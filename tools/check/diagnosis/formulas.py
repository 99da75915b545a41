"""Results of a formula with one mistake in it: how such a claim is tested, and how it is said.

A family (softmax, attention, norms, ...) finds out whether what is wanted is its formula, of which arguments, and asks
each of its MISTAKES what would have come back. These are tried in order, and the first that reproduces every element
is believed.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tools.check.diagnosis.numbers import differ, is_float
from tools.check.diagnosis.symptoms import ENOUGH_BITS, Call, Symptoms
from tools.check.diagnosis.words import Cause, cause

MOST_ELEMENTS = 1_000_000  # of an argument, beyond which no formula is computed
FEW = 16  # rows that show whether a formula may be the one that is wanted, before it is computed for all


@dataclass(frozen=True)
class Mistake:
    """result: what comes back when it is made, from what the family found; None where it makes no difference.

    seen, asks: with the family's {names} filled in.
    """

    name: str
    result: Callable[..., np.ndarray | None]
    seen: str
    asks: str

    def said(self, **names: object) -> Cause:
        return cause(self.name, self.seen.format(**names), self.asks.format(**names))


def float_arguments(symptoms: Symptoms) -> list[int]:
    """The places of the arguments that are arrays of floats, none of them too large."""
    return [
        i
        for i, arg in enumerate(symptoms.args)
        if isinstance(arg, np.ndarray) and is_float(arg.dtype) and 0 < arg.size <= MOST_ELEMENTS
    ]


def wide(array: Any) -> np.ndarray:
    return np.asarray(array).astype(np.float64)


def few_rows(array: np.ndarray) -> np.ndarray:
    """Some rows, (rows, n), of an array whose rows lie along its last axis; the same ones of each such array."""
    rows = array.reshape(-1, array.shape[-1])
    return rows[:: max(1, len(rows) // FEW)]


def nearly(said: np.ndarray, want: np.ndarray, slack: float) -> bool:
    """Are few rows equal up to rounding? Their typical size is not that of all."""
    return said.shape == want.shape and not differ(said, want, 4 * slack)


def same(one: np.ndarray | None, other: np.ndarray, slack: float) -> bool:
    """Are they equal up to rounding?"""
    return one is not None and one.shape == other.shape and not differ(one, other, slack)


def reproduces(symptoms: Symptoms, claim: Callable[[Call], np.ndarray | None]) -> bool:
    """Whether `claim(call)` is what came back: every element, and too telling for luck.

    Of NaN and infinity the places tell, not the values. All else is as in `Symptoms.holds`.
    """
    got, want = symptoms.here.got, symptoms.here.want
    said = symptoms.budget.call(claim, symptoms.here)
    if said is None or not same(got, said, symptoms.slack) or not symptoms.telling(said, want).any():
        return False
    finite = np.isfinite(said)
    if finite.all():
        return symptoms.holds(claim)
    total = symptoms.telling_bits(np.where(finite, said, want), want) + bits_of_pattern(~finite & np.isfinite(want))
    return total >= ENOUGH_BITS


def bits_of_pattern(marked: np.ndarray) -> float:
    """How unlikely it is that just these places are marked, in bits: none where all of them are."""
    count, size = int(np.count_nonzero(marked)), marked.size
    return (math.lgamma(size + 1) - math.lgamma(count + 1) - math.lgamma(size - count + 1)) / math.log(2)
