"""Counts that are one too high or one too low: an end that is counted twice or left out, or a quotient rounded down."""

from collections.abc import Iterator

import numpy as np

from tools.check.diagnosis.symptoms import Call, Symptoms
from tools.check.diagnosis.values import FEW, chooses, which_of
from tools.check.diagnosis.whole_numbers import LEFT_AFTER, left_after_whole_blocks
from tools.check.diagnosis.words import Cause, cause

LARGE = 8  # a whole number that is no flag and no phase
SCALED, MOST_SCALED = 8, 2**14  # numbers of further calls that make it larger


def off_by_one(symptoms: Symptoms) -> Cause | None:
    """Whole numbers, all one too high or all one too low, and never by more in other calls."""
    got, want = symptoms.here.got, symptoms.here.want
    if not symptoms.comparable or got.dtype.kind != "i" or want.dtype.kind != "i" or not got.size:
        return None
    if np.asarray(symptoms.want).dtype == np.bool_:
        return None
    steps = np.unique(got - want)
    by = int(steps[np.argmax(np.abs(steps))])
    if abs(by) != 1 or not np.isin(steps, (0, by)).all():
        return None
    few = 0 in steps and got.size <= FEW  # one of two or three, if it is that one alone elsewhere too
    if (0 in steps and not few) or any(not np.isin(call.got - call.want, (0, by)).all() for call in symptoms.elsewhere):
        return None
    if few and not symptoms.elsewhere:
        return None
    which = which_of(got != want) if got.size <= FEW else "Every number"
    rounded = by < 0 and left_after_whole_blocks(symptoms)
    if not rounded and (not _is_count(symptoms, by) or chooses(symptoms)):
        return None
    return cause(
        "off_by_one",
        f"{which} is exactly one too {'high' if by > 0 else 'low'}.",
        LEFT_AFTER if rounded else "Which end is counted twice, or left out?",
    )


def _is_count(symptoms: Symptoms, by: int) -> bool:
    """Is it so where the number is larger too? What stays small may be a flag, a phase, or a place of a few."""
    calls = [*symptoms.calls, *_with_larger_numbers(symptoms)]
    if not all(np.isin(call.got - call.want, (0, by)).all() for call in calls):
        return False
    many = symptoms.here.got.size > FEW and len(np.unique(symptoms.here.want)) >= FEW
    return many or any((np.abs(call.want[call.got != call.want]) >= LARGE).any() for call in calls)


def _with_larger_numbers(symptoms: Symptoms) -> Iterator[Call]:
    """Further calls, in each of which one whole number is larger by far."""
    for i, arg in enumerate(symptoms.args if symptoms.elsewhere else ()):
        if type(arg) is int and 0 < arg < MOST_SCALED:
            call = symptoms.compare((*symptoms.args[:i], SCALED * arg, *symptoms.args[i + 1 :]))
            if call.got is not None and call.want is not None and call.got.shape == call.want.shape:
                yield call
