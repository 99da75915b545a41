"""Arguments that change nothing: found by further calls with others, near, and so far away that nothing hides them."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from tools.check.diagnosis.numbers import differ, is_float, varied
from tools.check.diagnosis.symptoms import Symptoms

STEPS = 3, 8, 13  # of arguments nearby
FAR = 2.0**10, 2.0**60  # times a float: what is so large or so small is hidden by no other term, and no other bound
LARGER = 2, 4, 16  # times a whole number, which may be rounded away in a smaller one,
LARGEST = 2**16  # but no larger than this: it may be a length
ENOUGH = 3  # calls in which the same comes back; in one of them at least something else is wanted


def is_ignored(symptoms: Symptoms, which: int | str) -> bool:
    """Does the same come back whatever this argument is, though something else is wanted? which: its place, or its
    keyword. False where no call can tell; a call that is refused is used by what refuses it."""
    if not symptoms.comparable or symptoms.is_slow:
        return False
    told = same = 0
    for other in _others(symptoms.args[which] if isinstance(which, int) else symptoms.keywords[which]):
        if isinstance(which, int):
            call = symptoms.compare((*symptoms.args[:which], other, *symptoms.args[which + 1 :]))
        else:
            call = symptoms.compare(symptoms.args, **{which: other})
        if call.want is None:
            continue
        if call.got is None or not np.array_equal(call.got, symptoms.here.got):
            return False
        same += 1
        here = symptoms.here.want
        told += call.want.shape != here.shape or differ(call.want, here, symptoms.slack)
    return told > 0 and same >= ENOUGH


def _others(value: Any) -> Iterator[Any]:
    """Other values that are legal where this one is."""
    if type(value) in (int, float) or isinstance(value, np.ndarray):
        yield from (varied(value, by) for by in STEPS)
    if type(value) is int:
        yield from (value * times + 1 for times in LARGER if 0 < value * times < LARGEST)
        yield from {1, value // 2, 2 * value} - {0, value}  # of a size that must divide others
    elif is_float(np.asarray(value).dtype):
        for far in (value * FAR[0], value / FAR[0], value * FAR[1], value / FAR[1]):
            yield far.astype(value.dtype) if isinstance(value, np.ndarray) else far
