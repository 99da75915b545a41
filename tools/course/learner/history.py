"""Counts and times of functions in the journal: the last of each, and all.

The learner can edit the journal: facts of another form than bench and count write are left out.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from typing import TypeGuard

from tools.course.learner import journal
from tools.course.learner.journal import Entry

YOURS = "yours"  # the learner's row of a benchmark


@dataclass(frozen=True)
class Count:
    """The last count of what a function did to memory."""

    function: str
    size: int | None
    shape: str  # that size in words; "" where it was not written down
    simulated: bool  # counted by a simulator; else by a profiler on a GPU
    totals: dict[str, float]
    when: date

    @property
    def conditions(self) -> tuple:
        """Counts of equal conditions can be compared."""
        return self.function, self.size, self.shape, self.simulated


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
    """The bytes of a kernel in a benchmark without a GPU: those it asked for, those of all sectors touched, and the
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
    last = {count.function: count for count in every_count(entries)}
    return tuple(last.values())


def every_count(entries: Iterable[Entry]) -> list[Count]:
    """All that have the form of a count, the oldest first."""
    return list(filter(None, map(_count, entries)))


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


# Benchmarks ---------------------------------------------------------------------------------------


def benches(entries: Iterable[Entry]) -> tuple[Bench, ...]:
    """Of each function what its last file showed on the last machine: one record a size, small to large."""
    found = every_bench(entries)
    newest = {bench.function: bench for bench in found}
    latest = {
        (b.function, b.size): b
        for b in found
        if (b.machine, b.lesson) == (newest[b.function].machine, newest[b.function].lesson)
    }
    return tuple(sorted(latest.values(), key=lambda bench: (bench.function, bench.size)))


def traffic(entries: Iterable[Entry]) -> tuple[Traffic, ...]:
    """The last of each function."""
    return tuple({each.function: each for each in every_traffic(entries)}.values())


def every_bench(entries: Iterable[Entry]) -> list[Bench]:
    """All that have the form of a benchmark, the oldest first."""
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


def every_traffic(entries: Iterable[Entry]) -> list[Traffic]:
    """All that have the form of a benchmark without a GPU, the oldest first."""
    found = []
    for entry in entries:
        function, shape = entry.facts.get("function"), entry.facts.get("shape")
        asked, in_sectors, least = (entry.facts.get(name) for name in ("asked", "in_sectors", "least"))
        if entry.kind != journal.BENCH or not isinstance(function, str) or not isinstance(shape, str):
            continue
        if _is_figure(asked) and _is_figure(in_sectors) and _is_figure(least):
            found.append(Traffic(function, shape, asked, in_sectors, least, entry.when.date()))
    return found


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
