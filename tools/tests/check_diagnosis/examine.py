"""Wrong answers judged by assert_matches itself, and the symptoms that it would hand to the recognisers."""

import copy
from collections.abc import Callable
from contextlib import contextmanager
from unittest import mock

import numpy as np

from tools.check import Mismatch, assert_matches, diagnosis
from tools.check.compare import Rule, contents, form, wrong_elements
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


def told(got, want, *args, tolerance: float | None = 1e-9, **more) -> Cause | None:
    """What the recognisers say of a result, without a call; more: further fields of the symptoms."""
    limit = tolerance and Tolerance(tolerance, "a guess")
    rule = Rule(exact=not limit, tolerance=limit, dtype=getattr(getattr(got, "dtype", None), "name", None))
    discrepancy = form(got, want, rule) or contents(got, want, rule)
    if discrepancy is None:
        return None
    return diagnosis.diagnose(
        Symptoms(
            discrepancy.kind,
            got,
            want,
            wrong_elements(discrepancy),
            args=args,
            dtype=rule.dtype,
            tolerance=discrepancy.tolerance.relative if discrepancy.tolerance else 0.0,
            **more,
        )
    )


def name(got, want, *args, **more) -> str | None:
    found = told(got, want, *args, **more)
    return found and found.name
