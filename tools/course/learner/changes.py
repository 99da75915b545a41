"""Changes from the first to the last record of a function in the journal, under the same conditions."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from tools.course.learner.history import Bench, Traffic, counts, every_bench, every_count, every_traffic
from tools.course.learner.journal import Entry

CHANGING = (
    "sectors",
    "lines",
    "bytes_loaded",
    "bytes_stored",
    "bytes_atomic",
    "accesses",
    "requests",
    "wavefronts",
    "conflicts",
    "divergent_branches",
)  # of these, fewer are better for the same result
SECONDS, IN_SECTORS = "seconds", "bytes_in_sectors"


@dataclass(frozen=True)
class Change:
    """One quantity of one function, first and last time, under the same conditions. Less of it is better."""

    unit: str
    function: str
    quantity: str  # SECONDS, IN_SECTORS, or one of CHANGING
    where: str  # "4096 x 4096 float32, NVIDIA H200"
    first: float
    last: float
    began: date
    ended: date

    @property
    def factor(self) -> float:
        """The number of times that it became less; below 1 it became more."""
        return self.first / self.last if self.last else float("inf")


def changes_of(unit: str, entries: Iterable[Entry]) -> tuple[Change, ...]:
    """Differences between the first and the last record of a function under the same conditions."""
    entries = list(entries)
    return (*_faster(unit, every_bench(entries)), *_fewer(unit, entries), *_nearer(unit, every_traffic(entries)))


def _faster(unit: str, benches: list[Bench]) -> list[Change]:
    """First and last time of each function at the largest shape that two files of the learner's were timed at, on one
    machine. A simulator's time says nothing, so it is no time here."""
    found: dict[str, Change] = {}
    real = [bench for bench in benches if not bench.simulated]
    for last in sorted(real, key=lambda bench: bench.size):
        same = [b for b in real if (b.function, b.shape, b.machine) == (last.function, last.shape, last.machine)]
        first, last = same[0], same[-1]
        if first.lesson != last.lesson:
            found[last.function] = Change(
                unit,
                last.function,
                SECONDS,
                f"{last.shape}, {last.machine}",
                first.own.seconds,
                last.own.seconds,
                first.when,
                last.when,
            )
    return list(found.values())


def _fewer(unit: str, entries: Iterable[Entry]) -> list[Change]:
    """Differences of two counts of a function: the first and the last of those at the size last used."""
    every = every_count(entries)
    found = []
    for last in counts(entries):
        first = next(count for count in every if count.conditions == last.conditions)
        where = last.shape or ("" if last.size is None else f"size {last.size:,}")
        found += [
            Change(unit, last.function, name, where, first.totals[name], last.totals[name], first.when, last.when)
            for name in CHANGING
            if name in first.totals and name in last.totals and first.totals[name] != last.totals[name]
        ]
    return found


def _nearer(unit: str, traffic: list[Traffic]) -> list[Change]:
    """First and last traffic of each function at one shape."""
    last = {(each.function, each.shape): each for each in traffic}
    first = {(each.function, each.shape): each for each in reversed(traffic)}
    return [
        Change(
            unit, now.function, IN_SECTORS, now.shape, first[key].in_sectors, now.in_sectors, first[key].when, now.when
        )
        for key, now in last.items()
        if first[key].in_sectors != now.in_sectors
    ]
