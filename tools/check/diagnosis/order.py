"""The right elements in the wrong order: transposed, reversed, shifted, summed on, or anyhow."""

from itertools import combinations

import numpy as np

from tools.check.diagnosis.numbers import SAMPLE, differ, sample
from tools.check.diagnosis.symptoms import ENOUGH_BITS, Symptoms
from tools.check.diagnosis.words import Cause, cause

FEW = 8  # numbers of a tuple or list, which stand for different things
WHERE_TO = "How is the position of an element computed?"


def transposed(symptoms: Symptoms) -> Cause | None:
    want = symptoms.here.want
    for p, q in combinations(range(0 if want is None else want.ndim), 2):
        if symptoms.holds(lambda call: call.want.swapaxes(p, q)):
            axes = "" if want.ndim == 2 else f" (axes {p} and {q})"
            return cause(
                "transposed", f"What came back is the wanted array transposed{axes}.", "Which index runs along a row?"
            )
        if symptoms.holds(lambda call: call.want.swapaxes(p, q).reshape(call.want.shape)):
            return cause("transposed", "The wanted elements, but laid out column by column.", WHERE_TO)
    return None


def exchanged_pair(symptoms: Symptoms) -> Cause | None:
    """Two plain numbers, each where the other should be."""
    want = symptoms.want
    if not isinstance(want, (tuple, list)) or len(want) != 2 or not symptoms.holds(lambda call: np.flip(call.want)):
        return None
    names = symptoms.source.pair if symptoms.source else None
    seen = f"The two are exchanged: wanted is ({', '.join(names)})." if names else "The two are the other way round."
    return cause("exchanged_pair", seen, "Which comes first?")


def reversed_order(symptoms: Symptoms) -> Cause | None:
    ndim = getattr(symptoms.here.want, "ndim", 0)
    for axis in [*range(ndim), None] if ndim else []:
        if symptoms.holds(lambda call: np.flip(call.want, axis)):
            if isinstance(symptoms.want, (tuple, list)) and len(symptoms.want) <= FEW:
                return cause("reversed", "The wanted numbers in reverse order.", "Which comes first?")
            along = f" along axis {axis}" if ndim > 1 and axis is not None else ""
            return cause("reversed", f"The wanted elements in reverse order{along}:", "at which end does it start?")
    return None


def shifted(symptoms: Symptoms) -> Cause | None:
    """Along some axis, element i holds what is wanted in element i + by. What is pushed out is left aside."""
    if not symptoms.comparable:
        return None
    for axis in range(symptoms.here.want.ndim):
        got, want = (np.moveaxis(array, axis, 0) for array in (symptoms.here.got, symptoms.here.want))
        for by in _possible_shifts(got, want):
            if _agree_when_shifted(symptoms, got, want, by):
                unit = {1: ["element"], 2: ["row", "column"]}.get(want.ndim, ["slice"] * want.ndim)[axis]
                held, meant = f"{unit.capitalize()} {max(0, -by)}", f"{unit} {max(0, by)}"
                return cause(
                    "shifted",
                    f"{held} holds what is wanted in {meant}, and so on to the end.",
                    "With which index does it start?",
                )
    return None


def _possible_shifts(got: np.ndarray, want: np.ndarray) -> list[int]:
    """Distances at which the middle row of `want` turns up in `got`, nearest first, at most four."""
    middle = len(want) // 2
    if len(want) < 5 or not want[0].size:
        return []
    probe, firsts = want[middle].reshape(-1)[0], got.reshape(len(got), -1)[:, 0]
    found = middle - np.flatnonzero(np.abs(firsts - probe) <= 1e-4 * abs(probe))
    return sorted((int(by) for by in found if 0 < abs(by) <= min(middle, len(want) - 4)), key=abs)[:4]


def _agree_when_shifted(symptoms: Symptoms, got: np.ndarray, want: np.ndarray, by: int) -> bool:
    """Compares only the rows that have a counterpart."""
    held, meant = (slice(None, -by), slice(by, None)) if by > 0 else (slice(-by, None), slice(None, by))
    if differ(got[held], want[meant], symptoms.slack):
        return False
    return symptoms.telling_bits(want[meant], want[held]) >= ENOUGH_BITS


def not_reset(symptoms: Symptoms) -> Cause | None:
    """Running sums of the wanted elements: over all of them, or along one axis."""
    want = symptoms.here.want
    if not symptoms.comparable or want.size < 3 or symptoms.is_of_tests:
        return None
    for axis in [None, *range(want.ndim)] if want.ndim > 1 else [None] * want.ndim:
        if not _begins_like_sums(symptoms, axis):
            continue
        if symptoms.holds(lambda call: np.cumsum(call.want, axis).reshape(call.want.shape)):
            where = "" if axis is None else f" along axis {axis}"
            return cause(
                "not_reset",
                f"What came back is the running sum of the wanted elements{where}.",
                "Where does each sum start?",
            )
    return None


def _begins_like_sums(symptoms: Symptoms, axis: int | None) -> bool:
    """A quick look at one line of the result before all of it is summed."""
    got, want = symptoms.here.got, symptoms.here.want
    if axis is None:
        got, want = got.reshape(-1), want.reshape(-1)
    line = tuple(slice(64) if k == (axis or 0) else 0 for k in range(want.ndim))
    return not differ(got[line], np.cumsum(want[line]), 100 * symptoms.slack)


def _extremes(array: np.ndarray) -> np.ndarray:
    """Much quicker than sorting, and seldom equal where sorting would not give the same."""
    return np.array([array.min(), array.max()])


def wrong_places(symptoms: Symptoms) -> Cause | None:
    """Every wanted number is there once, somewhere else: all are distinct, and far from where they belong."""
    if not symptoms.comparable:
        return None
    got, want = symptoms.here.got, symptoms.here.want
    if not got.size or differ(_extremes(got), _extremes(want), symptoms.slack):
        return None
    wrong = symptoms.wrong
    some, moved = want[wrong][:SAMPLE], int(wrong.sum())
    if moved < 4 or np.median(sample(symptoms.excess[wrong])) < 100 or len(np.unique(some)) < 0.9 * len(some):
        return None
    if differ(np.sort(got, axis=None), np.sort(want, axis=None), symptoms.slack):
        return None
    if symptoms.telling_bits(got, want) < ENOUGH_BITS:
        return None
    seen = f"Every wanted number came back, but {moved} of {want.size} in another place."
    return cause("wrong_places", seen, WHERE_TO)
