"""A time taken with a fake clock: which reading of its intervals gives what came back.

A misreading is an entry of MISREADINGS: the seconds that it makes of the intervals of all calls, of which the first
`warmup` were not to count.
"""

import statistics
from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

from tools.check.diagnosis.symptoms import Symptoms
from tools.check.diagnosis.words import Cause, cause
from tools.check.given import FakeClock
from tools.sim import tables

NEAR = 1e-9
UNITS = (1, 1e3, 1e6, 1e9)  # seconds, milliseconds ... of a time; all else is taken for a rate


@dataclass(frozen=True)
class Misreading:
    """seconds: of the intervals that count, and of those before them; an interval has the parts of its calls."""

    seen: str
    asks: str
    seconds: Callable[[list[list[float]], list[list[float]]], float | None]


def clock_not_read(symptoms: Symptoms) -> Cause | None:
    """The clock that was handed over stood still for all that the lesson knows."""
    for name, clock in symptoms.used.items():
        if isinstance(clock, FakeClock) and symptoms.kind == "values" and not clock.readings:
            return cause("clock_not_read", f"{name} was never read.", "Which clock does it read instead?")
    return None


def work_not_done(symptoms: Symptoms) -> Cause | None:
    """The work that is timed was called more often than warmup and repeats ask for, or less."""
    if (timed := _timed(symptoms)) is None or timed.clock.calls == timed.asked:
        return None
    ran = tables.quantity(timed.clock.calls, "time") + " together" * (timed.parts > 1)
    of_each = " of each" * (timed.parts > 1)
    seen = f"{' and '.join(timed.works)} ran {ran}; {timed.warmup} + {timed.repeats}{of_each} make {timed.asked}."
    return cause("work_not_done", seen, "Which call is missing, or one too many?")


def clock_misread(symptoms: Symptoms) -> Cause | None:
    """One entry of MISREADINGS fits exactly, and no other."""
    timed = _timed(symptoms)
    if timed is None or timed.clock.calls != timed.asked:
        return None
    last = len(timed.clock.durations) - 1
    parts = [timed.clock.durations[min(number, last)] for number in range(timed.asked)]
    intervals = [parts[start : start + timed.parts] for start in range(0, len(parts), timed.parts)]
    counted, before = intervals[timed.warmup :], intervals[: timed.warmup]
    right = statistics.median(map(sum, counted))
    taken = _seconds(symptoms.got, symptoms.want, right)
    fitting = [each for each in MISREADINGS if _near(_try(each, counted, before), taken)]
    if len({each.seen for each in fitting}) != 1 or _near(right, taken):
        return None
    return cause("clock_misread", fitting[0].seen, fitting[0].asks)


class Timed(NamedTuple):
    """A clock, the names of the arguments that let its time pass, and how often they should be called."""

    clock: FakeClock
    works: list[str]
    warmup: int
    repeats: int

    @property
    def parts(self) -> int:
        """Of the time of one call."""
        return len(self.works)

    @property
    def asked(self) -> int:
        return self.parts * (self.warmup + self.repeats)


def _timed(symptoms: Symptoms) -> Timed | None:
    clock = next((each for each in symptoms.used.values() if isinstance(each, FakeClock)), None)
    arguments = dict(zip(symptoms.names, symptoms.args)) | symptoms.keywords
    works = [name for name, value in arguments.items() if isinstance(getattr(value, "__self__", None), FakeClock)]
    warmup, repeats = (symptoms.keywords.get(name) for name in ("warmup", "repeats"))
    if clock is None or not works or not (_are_numbers(symptoms) or _took_no_time(symptoms)):
        return None
    if type(warmup) is not int or type(repeats) is not int:
        return None
    return Timed(clock, works, warmup, repeats) if repeats > 0 else None


def _took_no_time(symptoms: Symptoms) -> bool:
    """Did it divide by a time of 0, or ask for the median of no times?"""
    return symptoms.kind == "raised" and symptoms.outcome.error.type_name in ("ZeroDivisionError", "StatisticsError")


def _are_numbers(symptoms: Symptoms) -> bool:
    return symptoms.kind == "values" and isinstance(symptoms.got, float) and isinstance(symptoms.want, float)


def _seconds(got: float, want: float, right: float) -> float | None:
    """The time that came back, in whatever unit; of a rate, the time that makes it."""
    if not (got >= 0 and want > 0 and right > 0):
        return None
    if any(_near(want, right * unit) for unit in UNITS):
        return right * got / want
    return right * want / got if got else None


def _try(misreading: Misreading, counted: list, before: list) -> float | None:
    try:
        return misreading.seconds(counted, before)
    except (statistics.StatisticsError, IndexError, ValueError, ZeroDivisionError):
        return None


def _near(one: float | None, other: float | None) -> bool:
    return one is not None and other is not None and abs(one - other) <= NEAR * max(abs(one), abs(other))


def _median(intervals: list[list[float]]) -> float:
    return statistics.median(map(sum, intervals))


def _median_since_the_first(intervals: list[list[float]], left_out: int) -> float:
    return statistics.median(list(accumulate(map(sum, intervals)))[left_out:])


READ_ONCE = "As if each call began when the first one did."
CALLS_TIMED = "Which calls stand between the two readings of the clock?"
MISREADINGS = (
    Misreading(
        "That is the mean of the calls, not the median.",
        "Which of them does one slow call move?",
        lambda counted, before: statistics.mean(map(sum, counted)),
    ),
    Misreading(
        "That is the time of all calls together.",
        "How long did one of them take?",
        lambda counted, before: sum(map(sum, counted)),
    ),
    Misreading(
        "That is the fastest of the calls, not the median.",
        "Which one lies in the middle?",
        lambda counted, before: min(map(sum, counted)),
    ),
    Misreading(
        "That is the slowest of the calls, not the median.",
        "Which one lies in the middle?",
        lambda counted, before: max(map(sum, counted)),
    ),
    Misreading(
        "That is the median of the rates, not the rate of the median time.",
        "Of which numbers is it taken?",
        lambda counted, before: 1 / statistics.median(1 / sum(parts) for parts in counted),
    ),
    Misreading(
        "That is the lower of the two calls in the middle.",
        "What is the median of an even number of calls?",
        lambda counted, before: statistics.median_low(map(sum, counted)),
    ),
    Misreading(
        "That is the higher of the two calls in the middle.",
        "What is the median of an even number of calls?",
        lambda counted, before: statistics.median_high(map(sum, counted)),
    ),
    Misreading(
        "That is the median with the warm-up calls among them.",
        CALLS_TIMED,
        lambda counted, before: _median(before + counted) if before else None,
    ),
    Misreading(
        "That is the mean with the warm-up calls among them.",
        CALLS_TIMED,
        lambda counted, before: statistics.mean(map(sum, before + counted)) if before else None,
    ),
    Misreading(
        "That is the time of all calls together, the warm-up among them.",
        CALLS_TIMED,
        lambda counted, before: sum(map(sum, before + counted)) if before else None,
    ),
    Misreading(
        "That is the time of the first call of all.", CALLS_TIMED, lambda counted, before: sum((before + counted)[0])
    ),
    Misreading("That is the time of the last call alone.", CALLS_TIMED, lambda counted, before: sum(counted[-1])),
    Misreading(
        "That is the time to ask for the work, without the wait for it.",
        "When is the clock read the second time?",
        lambda counted, before: statistics.median([parts[0] for parts in counted if len(parts) > 1]),
    ),
    Misreading(
        "That is the wait alone, without the time to ask for the work.",
        "When is the clock read the first time?",
        lambda counted, before: statistics.median([sum(parts[1:]) for parts in counted if len(parts) > 1]),
    ),
    Misreading(
        "That is the time of all calls and the warm-up, divided by repeats.",
        CALLS_TIMED,
        lambda counted, before: sum(map(sum, before + counted)) / len(counted) if before else None,
    ),
    Misreading(
        READ_ONCE,
        "Which call should each of the two readings enclose?",
        lambda counted, before: _median_since_the_first(before + counted, len(before)),
    ),
    Misreading(
        READ_ONCE,
        "Which call should each of the two readings enclose?",
        lambda counted, before: _median_since_the_first(counted, 0),
    ),
    Misreading("No call lies between the two readings of the clock.", CALLS_TIMED, lambda counted, before: 0.0),
)
