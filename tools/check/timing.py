"""speed_ratio: how many times as fast as a baseline, measured in turns, with its uncertainty.

A single time means little: clocks change, other work comes and goes. Both functions therefore run right after
each other, in random order, again and again: what slows the machine down slows both of a pair, and each pair
gives one ratio. The verdict is about the median ratio, and only where its bootstrap interval leaves no doubt.
"""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tools import worker
from tools.check import notes
from tools.worker import Prepared

BATCH = 5e-3  # seconds that a batch of calls lasts at least: the clock's own error is far below
MOST_CALLS = 10**6  # in a batch
ROUNDS = (11, 101)  # fewest and most pairs
AT_LEAST = 3  # pairs that are made even when time is up
BUDGET = 3.0  # seconds for all pairs together
NARROW = 0.03  # an interval of +-3 % is narrow enough to stop
CONFIDENCE = 95  # per cent, of the interval
RESAMPLES = 2000  # of the bootstrap


class Undecided(Exception):
    """A speed was measured, but not well enough to say on which side of the wanted ratio it lies."""


@dataclass(frozen=True)
class Ratio:
    """Baseline time over function time: above 1, the function is the faster one.

    low, high: the interval of `value`. seconds, baseline_seconds: medians for one call.
    pairs: what was measured, seconds of the function and of the baseline.
    `ratio >= x` is True, False, or raises Undecided where the interval holds x.
    """

    value: float
    low: float
    high: float
    seconds: float
    baseline_seconds: float
    rounds: int
    pairs: tuple[tuple[float, float], ...] = ()

    def __ge__(self, wanted: float) -> bool:
        if self.low >= wanted:
            return True
        if self.high < wanted:
            return False
        raise Undecided(
            f"Measured {self}, wanted {times(wanted)}: too close or too noisy to call.\n"
            f"{self.text}\n"
            "Is other work running on this machine? Run this test again by itself."
        )

    def __str__(self) -> str:
        return f"{times(self.value)} ({times(self.low)[:-1]} to {times(self.high)[:-1]})"

    __repr__ = __str__

    @property
    def text(self) -> str:
        """Both times, for a failure: 'One call takes 5.2 ms, the baseline 5.1 ms (median of 41 pairs).'"""
        return (
            f"One call takes {duration(self.seconds)}, the baseline {duration(self.baseline_seconds)} "
            f"(medians of {self.rounds} pairs)."
        )


def speed_ratio(function: Callable, baseline: Callable, *args: object, **kwargs: object) -> Ratio:
    """How many times as fast as baseline(*args, **kwargs) is the function? Takes about three seconds at most.

    Neither the way into a worker process nor the first call (compilation, caches) counts.
    """
    with worker.prepare(function, args, kwargs) as first, worker.prepare(baseline, args, kwargs) as second:
        ratio = measure(first, second)
    notes.taken.append(str(ratio))
    return ratio


def measure(function: Prepared, baseline: Prepared, clock: Callable[[], float] = time.perf_counter) -> Ratio:
    """The ratio of two prepared functions, by any clock."""
    both = [Timed(function, clock), Timed(baseline, clock)]
    order = random.Random(0)
    start = clock()
    ratios: list[float] = []
    while not enough(ratios, clock() - start):
        for timed in order.sample(both, 2):
            timed.batch()
        ratios.append(both[1].seconds[-1] / both[0].seconds[-1])
    pairs = tuple(zip(both[0].seconds, both[1].seconds))
    own, other = (float(np.median(timed.seconds)) for timed in both)
    return Ratio(float(np.median(ratios)), *median_interval(ratios), own, other, len(ratios), pairs)


class Timed:
    """A prepared function, called once, and how many calls fill a batch. `seconds`: of one call, batch by batch."""

    def __init__(self, prepared: Prepared, clock: Callable[[], float]):
        self.prepared, self.clock, self.calls = prepared, clock, 1
        self.seconds: list[float] = []
        self.measured()  # a first call may compile for seconds, and says nothing of the next

    def batch(self) -> None:
        while (seconds := self.measured()) < BATCH and self.calls < MOST_CALLS:
            self.calls *= 10 if seconds * 10 < BATCH else 2
        self.seconds.append(seconds / self.calls)

    def measured(self) -> float:
        start = self.clock()
        self.prepared.run(self.calls)
        return self.clock() - start


def enough(ratios: list[float], seconds: float) -> bool:
    if len(ratios) < ROUNDS[0]:
        return seconds >= BUDGET and len(ratios) >= AT_LEAST
    if seconds >= BUDGET or len(ratios) >= ROUNDS[1]:
        return True
    low, high = median_interval(ratios)
    return high - low <= NARROW * (high + low)


def median_interval(ratios: list[float]) -> tuple[float, float]:
    """Bootstrap interval of the median: where the medians of samples drawn from the ratios themselves lie."""
    draws = np.random.default_rng(0).choice(ratios, (RESAMPLES, len(ratios)))
    tail = (100 - CONFIDENCE) / 2
    low, high = np.percentile(np.median(draws, axis=1), [tail, 100 - tail])
    return float(low), float(high)


def times(value: float) -> str:
    if value >= 10:
        return f"{value:.0f}x"
    return f"{value:.2f}x" if value >= 0.1 else f"{value:.2g}x"


def duration(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"
