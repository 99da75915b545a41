"""Wrong answers judged by assert_matches itself, and the evidence that it would hand to the recognisers."""

import copy
from collections.abc import Callable
from contextlib import contextmanager
from unittest import mock

import numpy as np

from tools.check import Mismatch, assert_matches, diagnosis
from tools.check.compare import Rule, contents, form
from tools.check.diagnosis import Cause, Evidence
from tools.check.explain import wrong_of
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


def evidence_of(right: Callable, wrong: Callable, args: tuple) -> Evidence | None:
    """What is handed to the recognisers; None where nothing is wrong, or the fault says it all."""
    with handed_over() as seen:
        examine(right, wrong, args)
    return seen[-1] if seen else None


@contextmanager
def handed_over():
    """The evidence of each fault in the block, which nobody looks at."""
    seen = []
    with mock.patch.object(diagnosis, "diagnose", lambda evidence: seen.append(evidence)):
        yield seen


def told(got, want, *args, tolerance: float | None = 1e-9, **more) -> Cause | None:
    """What the recognisers say of a result, without a call; more: further fields of the evidence."""
    limit = tolerance and Tolerance(tolerance, "a guess")
    rule = Rule(exact=not limit, tolerance=limit, dtype=getattr(getattr(got, "dtype", None), "name", None))
    fault = form(got, want, rule) or contents(got, want, rule)
    if fault is None:
        return None
    return diagnosis.diagnose(
        Evidence(
            fault.name,
            got,
            want,
            wrong_of(fault),
            args=args,
            dtype=rule.dtype,
            tolerance=fault.tolerance.relative if fault.tolerance else 0.0,
            **more,
        )
    )


def name(got, want, *args, **more) -> str | None:
    found = told(got, want, *args, **more)
    return found and found.name
