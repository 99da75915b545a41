"""One day or kata of the page: what is said of it, its changes, its functions beside their rivals, its code."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from markupsafe import Markup

from tools.course.learner.changes import Change
from tools.course.learner.history import Bench
from tools.course.learner.portfolio import Section
from tools.course.learner.progress import SIMULATED
from tools.report import charts, tables, words
from tools.report.bars import Bar
from tools.report.tables import Table
from tools.words import quantity

MOST = 2  # changes shown of one function; the table of counts has the rest
FAR = 20  # a rival so many times as slow is not drawn, or no other bar could be seen


@dataclass(frozen=True)
class Contest:
    """A function beside its rivals: bars and a table at the largest shape, and the plots over all."""

    function: str
    about: tuple[str, ...]
    simulated: bool  # times of a simulator, which are never drawn
    changed_since: bool  # the lesson is another file now
    bars: tuple[Bar, ...]
    far: tuple[str, ...]  # rivals that are not drawn, each in a few words
    plots: tuple[Markup, ...]
    table: Table


@dataclass(frozen=True)
class Block:
    """The functions and classes of one task, as text."""

    task: int | None
    names: tuple[str, ...]
    size: str
    source: str


def about(each: Section) -> list[str]:
    """Facts in words: when, how long, with what help."""
    parts = [words.period(each.dates[0], each.dates[-1])] if each.dates else []
    if each.minutes >= 1:
        parts.append(quantity(round(each.minutes), "minute"))
    if each.hints:
        parts.append(quantity(each.hints, "hint"))
    return parts


def on_simulators(each: Section) -> bool:
    """Did it pass on simulators, and has no GPU confirmed it?"""
    return each.reached == SIMULATED


def changes(each: Section) -> list[Change]:
    """The largest of each function."""
    of_function: dict[str, list[Change]] = {}
    for change in sorted(each.changes, key=lambda c: -c.factor):
        of_function.setdefault(change.function, []).append(change)
    return [change for found in of_function.values() for change in found[:MOST]]


def all_simulated(each: Section) -> bool:
    """Was everything counted by a simulator?"""
    return all(count.simulated for count in each.counts)


# Times --------------------------------------------------------------------------------------------


def contests(each: Section) -> Iterator[Contest]:
    """One for each function that was timed."""
    for function, benches in groupby(each.benches, key=lambda bench: bench.function):
        yield _contest(function, list(benches), each.hash)


def _contest(function: str, benches: list[Bench], now: str) -> Contest:
    last = benches[-1]
    group = f"class of result: {last.group}" if last.group else ""
    made = (f"{last.shape} on {last.machine}", group, words.day(last.when), last.versions)
    bars, far = _drawn(last)
    return Contest(
        function,
        tuple(filter(None, made)),
        last.simulated,
        bool(last.lesson and last.lesson != now),
        bars,
        far,
        () if last.simulated else charts.over_sizes(function, benches),
        tables.times(last),
    )


def _drawn(bench: Bench) -> tuple[tuple[Bar, ...], tuple[str, ...]]:
    """The times as bars, the fastest first; and in words those that are too far behind."""
    rows, own = sorted(bench.rows, key=lambda row: row.seconds), bench.own
    near = [row for row in rows if row.seconds <= FAR * own.seconds]
    return (
        tuple(Bar(words.competitor(row.name), row.seconds, words.seconds(row.seconds), row is own) for row in near),
        tuple(f"{row.name} took {words.times(row.seconds / own.seconds)} as long" for row in rows if row not in near),
    )


# Code ---------------------------------------------------------------------------------------------


def blocks(each: Section) -> Sequence[Block]:
    """The learner's code, task by task."""
    found = []
    for task, group in groupby(each.pieces, key=lambda piece: piece.task):
        pieces = list(group)
        lines = sum(piece.source.count("\n") + 1 for piece in pieces)
        names = tuple(piece.name for piece in pieces)
        found.append(Block(task, names, quantity(lines, "line"), "\n\n\n".join(piece.source for piece in pieces)))
    return found


def all_known(each: Section) -> bool:
    """Is all of the code known to be the learner's own?"""
    return all(piece.known for piece in each.pieces)
