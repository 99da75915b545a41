"""Wrong answers judged by assert_matches itself; the symptoms that it hands to the recognisers, and what they say."""

import copy
import inspect
from collections.abc import Callable
from contextlib import contextmanager
from unittest import mock

import numpy as np

from tools.check import Mismatch, arrays, assert_matches, diagnosis
from tools.check.diagnosis import Cause, Symptoms
from tools.check.tolerances import Tolerance

LIMIT = {"float64": 1e-12, "float32": 1e-5, "float16": 2e-3}  # of the sums and means here


def examine(right: Callable, wrong: Callable, args: tuple) -> Mismatch | None:
    """What a check says to `wrong` on these arguments, or None if nothing is wrong with what it does."""
    try:
        with np.errstate(all="ignore"):
            assert_matches(wrong, *copy.deepcopy(args), oracle=right, tolerance=tolerance_for(args))
    except Mismatch as found:
        return found
    return None


def tolerance_for(args: tuple) -> Tolerance | None:
    floats = [arg.dtype.name for arg in args if isinstance(arg, np.ndarray) and arg.dtype.kind == "f"]
    return Tolerance(LIMIT[floats[0]], "sums of random numbers") if floats else None


def symptoms_of(right: Callable, wrong: Callable, args: tuple) -> Symptoms | None:
    """What is handed to the recognisers; None where nothing is wrong, or the discrepancy says it all."""
    with handed_over() as seen:
        examine(right, wrong, args)
    return seen[-1] if seen else None


@contextmanager
def handed_over():
    """The symptoms of each discrepancy in the block, which nobody looks at."""
    seen = []
    with mock.patch.object(diagnosis, "diagnose", lambda symptoms: seen.append(symptoms)):
        yield seen


def told(
    got: object,
    want: object,
    *args: object,
    names: tuple[str, ...] = (),
    oracle: Callable | None = None,
    again: Callable | None = None,
    keywords: dict | None = None,
    tolerance: float | None = 1e-9,
) -> Cause | None:
    """The cause that a check names for a lesson that returns `got` where `want` is right.

    again: the lesson for other arguments, of which it knows nothing else. oracle: gives `want`, and what is right for
    other arguments. names: those of the arguments. tolerance: None where equal means equal.
    """
    lesson = lesson_of(got, args, names, keywords or {}, again)
    right = oracle or (lambda *args, **keywords: want)
    limit = tolerance and Tolerance(tolerance, "a guess", arrays.dtype_name(got.dtype) if is_float(got) else None)
    said = []
    diagnose = diagnosis.diagnose
    with mock.patch.object(diagnosis, "diagnose", lambda symptoms: said.append(diagnose(symptoms)) or said[-1]):
        try:
            assert_matches(lesson, *args, oracle=right, exact=not limit, tolerance=limit, **keywords or {})
        except Mismatch:
            pass
    return said[-1] if said else None


def is_float(value: object) -> bool:
    return isinstance(value, np.ndarray) and arrays.is_float(value)


def lesson_of(got: object, args: tuple, names: tuple[str, ...], keywords: dict, again: Callable | None) -> Callable:
    """A function that returns `got` for these arguments, and for others what `again` does."""
    names = names or tuple(f"argument_{number}" for number in range(1, len(args) + 1))

    def lesson(*given, **named):
        if named == keywords and all(map(same, given, args)):
            return got
        if again is None:
            raise LookupError("nobody knows")
        return again(*given, **named)

    parameters = [inspect.Parameter(each, inspect.Parameter.POSITIONAL_OR_KEYWORD) for each in (*names, *keywords)]
    lesson.__signature__ = inspect.Signature(parameters)
    return lesson


def same(one: object, other: object) -> bool:
    if not isinstance(one, np.ndarray):
        return one == other
    return one.shape == other.shape and np.array_equal(one, other, equal_nan=one.dtype.kind == "f")


def name(got, want, *args, **more) -> str | None:
    found = told(got, want, *args, **more)
    return found and found.name
