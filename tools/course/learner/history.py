"""What the journal tells of a function's counts and times: the last of each, and what changed from the first.

The learner can edit the journal: facts of another form than bench and count write are left out.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from typing import TypeGuard

from tools.course.learner import journal
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
YOURS = "yours"  # the learner's row of a benchmark


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
        """How many times less it became; below 1 it became more."""
        return self.first / self.last if self.last else float("inf")


@dataclass(frozen=True)
class Count:
    """What a function did to memory, by the last count of it."""

    function: str
    size: int | None
    shape: str  # that size in words; "" where it was not written down
    simulated: bool  # counted by a simulator; else by a profiler on a GPU
    totals: dict[str, float]
    when: date


@dataclass(frozen=True)
class Row:
    """Somebody's figures in a benchmark: the learner's are called YOURS. What was not measured is None."""

    name: str
    seconds: float
    low: float | None = None
    high: float | None = None
    gb_s: float | None = None
    gflop_s: float | None = None
    share_of_ceiling: float | None = None
    peak_bytes: float | None = None
    lines: float | None = None


@dataclass(frozen=True)
class Bench:
    """One shape of one function, timed beside its rivals."""

    function: str
    shape: str
    size: float
    rows: tuple[Row, ...]
    group: str  # the class of result, as bench called it
    machine: str  # card or CPU
    on_gpu: bool
    versions: str
    simulated: bool
    lesson: str  # hash of the file that was timed
    when: date
    bandwidth: float | None = None  # bytes/s and flop/s that this machine was measured to reach; None in a journal
    peak: float | None = None  # of a course that did not keep them

    @property
    def own(self) -> Row:
        return next(row for row in self.rows if row.name == YOURS)


@dataclass(frozen=True)
class Traffic:
    """What a benchmark without a GPU says of a kernel: the bytes it asked for, those of all sectors touched, and the
    least that any program needs."""

    function: str
    shape: str
    asked: float
    in_sectors: float
    least: float
    when: date


# Counts -------------------------------------------------------------------------------------------


def counts(entries: Iterable[Entry]) -> tuple[Count, ...]:
    """The last count of each function."""
    last = {count.function: count for count in map(_count, entries) if count}
    return tuple(last.values())


def _count(entry: Entry) -> Count | None:
    facts = entry.facts
    function, size, totals = facts.get("function"), facts.get("size"), facts.get("totals")
    if entry.kind != journal.COUNT or not isinstance(function, str) or not isinstance(totals, dict):
        return None
    flat = {key: value for nested in (totals, *filter(_is_table, totals.values())) for key, value in nested.items()}
    figures = {name: value for name, value in flat.items() if _is_figure(value)}
    return Count(
        function,
        size if type(size) is int else None,
        _text(facts.get("shape")),
        facts.get("simulated") is not False,
        figures,
        entry.when.date(),
    )


def _conditions(count: Count) -> tuple:
    return count.function, count.size, count.shape, count.simulated


# Benchmarks ---------------------------------------------------------------------------------------


def benches(entries: Iterable[Entry]) -> tuple[Bench, ...]:
    """Of each function what its last file showed on the last machine: one record a size, small to large."""
    found = _benches(entries)
    newest = {bench.function: bench for bench in found}
    latest = {
        (b.function, b.size): b
        for b in found
        if (b.machine, b.lesson) == (newest[b.function].machine, newest[b.function].lesson)
    }
    return tuple(sorted(latest.values(), key=lambda bench: (bench.function, bench.size)))


def traffic(entries: Iterable[Entry]) -> tuple[Traffic, ...]:
    """The last of each function."""
    return tuple({each.function: each for each in _traffic(entries)}.values())


def _benches(entries: Iterable[Entry]) -> list[Bench]:
    return list(filter(None, map(_bench, entries)))


def _bench(entry: Entry) -> Bench | None:
    facts = entry.facts
    if entry.kind != journal.BENCH or not isinstance(facts.get("rows"), list):
        return None
    rows = tuple(filter(None, map(_row, facts["rows"])))
    function, shape = facts.get("function"), facts.get("shape")
    if not any(row.name == YOURS for row in rows) or not isinstance(function, str) or not isinstance(shape, str):
        return None
    machine, ceiling = _table(facts.get("machine")), _table(facts.get("ceiling"))
    named = _text(machine.get("card")) or _text(machine.get("cpu"))
    return Bench(
        function,
        shape,
        facts["size"] if _is_figure(facts.get("size")) else 0,
        rows,
        _text(facts.get("class")),
        named or "a machine without a name",
        bool(_text(machine.get("card"))),
        _versions(machine),
        facts.get("simulated") is not False,
        _text(facts.get("lesson")),
        entry.when.date(),
        _rate(ceiling.get("bandwidth")),
        _rate(ceiling.get("peak")),
    )


def _rate(value: object) -> float | None:
    """Bytes or operations a second; None for any that cannot be drawn."""
    return value if _is_figure(value) and 1 <= value < 1e30 else None


def _row(raw: object) -> Row | None:
    if not _is_table(raw) or not isinstance(raw.get("name"), str):
        return None
    if not _is_figure(raw.get("seconds")) or raw["seconds"] <= 0:
        return None
    names = ("low", "high", "gb_s", "gflop_s", "share_of_ceiling", "peak_bytes", "lines")
    return Row(raw["name"], raw["seconds"], **{name: raw[name] for name in names if _is_figure(raw.get(name))})


def _versions(machine: dict) -> str:
    parts = [f"driver for CUDA {_text(machine['driver'])}"] if machine.get("driver") else []
    parts += [f"{name} {_text(number)}" for name, number in _table(machine.get("versions")).items()]
    return ", ".join(parts)


def _traffic(entries: Iterable[Entry]) -> list[Traffic]:
    found = []
    for entry in entries:
        function, shape = entry.facts.get("function"), entry.facts.get("shape")
        asked, in_sectors, least = (entry.facts.get(name) for name in ("asked", "in_sectors", "least"))
        if entry.kind != journal.BENCH or not isinstance(function, str) or not isinstance(shape, str):
            continue
        if _is_figure(asked) and _is_figure(in_sectors) and _is_figure(least):
            found.append(Traffic(function, shape, asked, in_sectors, least, entry.when.date()))
    return found


# Changes ------------------------------------------------------------------------------------------


def changes(unit: str, entries: Iterable[Entry]) -> tuple[Change, ...]:
    """What differs between the first and the last record of a function under the same conditions."""
    entries = list(entries)
    return (*_faster(unit, _benches(entries)), *_fewer(unit, entries), *_nearer(unit, _traffic(entries)))


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
    """What two counts of a function at one size differ in: the first and the last of those at the size last used."""
    every = list(filter(None, map(_count, entries)))
    found = []
    for last in counts(entries):
        first = next(count for count in every if _conditions(count) == _conditions(last))
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


# Facts of the learner's file ----------------------------------------------------------------------


def _is_table(value: object) -> TypeGuard[dict]:
    return isinstance(value, dict)


def _table(value: object) -> dict:
    """The table; an empty one in place of what is none."""
    return value if _is_table(value) else {}


def _is_figure(value: object) -> TypeGuard[float]:
    """A number that can be drawn: finite and not negative."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 1e300


def _text(value: object) -> str:
    return str(value) if isinstance(value, (str, int, float)) else ""
