"""The tables of a section: times beside rivals, traffic beside the least, counts of each function."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tools.course.learner.history import YOURS, Bench, Count, Row, Traffic
from tools.report import words

ASKED = ("bytes asked for", "bytes of all sectors touched", "least possible")
COLUMNS = (  # of the table of times: field, heading, how it is written
    ("seconds", "time", words.seconds),
    ("gb_s", "GB/s", words.figure),
    ("gflop_s", "GFLOP/s", words.figure),
    ("share_of_ceiling", "of the ceiling", words.percent),
    ("peak_bytes", "memory", words.size),
    ("lines", "lines of code", words.figure),
)


@dataclass(frozen=True)
class Title:
    """A heading of a column or a row; more: small letters below it, None for none."""

    text: str
    code: bool = False
    more: str | None = None


@dataclass(frozen=True)
class Cell:
    """A figure as written, "" where there is none; more: small letters beside it."""

    value: str
    more: str = ""


@dataclass(frozen=True)
class Line:
    """A row; one that is `ours` is set in the stronger colour."""

    title: Title
    figures: tuple[Cell, ...]
    ours: bool = False


@dataclass(frozen=True)
class Table:
    """A table; name: its class in the style sheet, "" for none."""

    name: str
    headings: tuple[Title, ...]
    lines: tuple[Line, ...]

    def cells(self, line: Line) -> Iterator[tuple[Title, Cell]]:
        """Each cell of a line with the heading that it belongs to."""
        return zip(self.headings, line.figures, strict=True)


def times(bench: Bench) -> Table:
    """Everybody's figures; only columns in which there are some."""
    columns = [column for column in COLUMNS if any(getattr(row, column[0]) is not None for row in bench.rows)]
    return Table(
        "",
        tuple(Title(heading) for _, heading, _ in columns),
        tuple(
            Line(
                Title(words.competitor(row.name)),
                tuple(_time(row, field, write) for field, _, write in columns),
                ours=row.name == YOURS,
            )
            for row in bench.rows
        ),
    )


def _time(row: Row, field: str, write: Callable[[float], str]) -> Cell:
    value = getattr(row, field)
    if value is None:
        return Cell("")
    if field == "seconds" and row.low and row.high:
        return Cell(write(value), f"{write(row.low)} to {write(row.high)}")
    return Cell(write(value))


def traffic(found: tuple[Traffic, ...]) -> Table | None:
    """The bytes asked of memory beside the least that any program needs; None where nothing was recorded."""
    if not found:
        return None
    lines = (
        Line(
            Title(each.function, code=True, more=each.shape),
            tuple(Cell(f"{amount:,}") for amount in (each.asked, each.in_sectors, each.least)),
        )
        for each in found
    )
    return Table("counts", tuple(map(Title, ASKED)), tuple(lines))


def counts(found: tuple[Count, ...]) -> Table | None:
    """The last counts: a row for each metric that is not zero everywhere, a column for each function."""
    told = {name for count in found for name, value in count.totals.items() if value}
    names = [*(name for name in words.METRICS if name in told), *sorted(told - words.METRICS.keys())]
    if not names:
        return None
    return Table(
        "counts",
        tuple(Title(count.function, code=True, more=_conditions(count)) for count in found),
        tuple(
            Line(
                Title(words.metric(name), more=words.METRICS.get(name, "")),
                tuple(Cell(words.figure(c.totals[name]) if name in c.totals else "") for c in found),
            )
            for name in names
        ),
    )


def _conditions(count: Count) -> str:
    """The size that was counted, and by what, unless that was a simulator."""
    shape = count.shape or ("" if count.size is None else f"size {count.size:,}")
    return shape if count.simulated else f"{shape}, by a profiler"
