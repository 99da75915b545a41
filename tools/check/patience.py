"""The patience of a diagnosis: for how long it may call a lesson again, while the learner waits for the failure text.

All are own seconds: see tools/worker/own_time.py.
"""

from collections.abc import Iterator
from contextlib import contextmanager

SLOW_CALL = 2.0  # of a call beyond which no further call is made to explain it
SLOW_REPEAT = 0.3  # of a call beyond which it is not repeated with other arguments
ALL_CALLS = 1.5  # of further calls of lesson and oracle together

_times = 1.0


def allowed(seconds: float) -> float:
    """One of these limits, as it is now."""
    return seconds * _times


@contextmanager
def patient(times: float) -> Iterator[None]:
    """In this block diagnoses may take so many times as long: nobody waits."""
    global _times
    before, _times = _times, times
    try:
        yield
    finally:
        _times = before
