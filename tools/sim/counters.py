"""What a call of a lesson's function did to memory: one vocabulary for all simulators, as plain data.

The figures are those of the hardware's units, not of time: they repeat exactly from run to run.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields

WIDTH = 80      # columns of a printed table,
NARROWEST = 16  # of which the source line always has so many
OF_WARPS = ("requests", "sectors_per_request", "wavefronts", "conflicts", "active_lanes",
            "divergent_branches")


class NotCounted(AttributeError):
    """A figure that this simulator cannot know."""


@dataclass
class Counts:
    """Sums over all that was executed; two of them can be added.

    bytes_loaded, bytes_stored, bytes_atomic: useful bytes, those of elements that a mask lets through.
    accesses: such elements, each time one is loaded, stored or updated.
    sectors, lines: pieces of 32 and of 128 bytes touched; a piece counts once in each load, store or atomic
        operation that one program executes.
    flops: floating-point operations of dot products, 2 M N K each; no other arithmetic is counted.
    programs: how many ran.
    """

    bytes_loaded: int = 0
    bytes_stored: int = 0
    bytes_atomic: int = 0
    accesses: int = 0
    sectors: int = 0
    lines: int = 0
    flops: int = 0
    programs: int = 0

    @property
    def bytes(self) -> int:
        """Useful bytes in all."""
        return self.bytes_loaded + self.bytes_stored + self.bytes_atomic

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(**{name: getattr(self, name) + getattr(other, name) for name in FIGURES})

    def __getattr__(self, name: str):
        if name in OF_WARPS:
            raise NotCounted(f"{name} cannot be counted: a Triton program has no warps until it is compiled. "
                             "tools.check.compiled(function, ...) shows what the compiler makes of it.")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


FIGURES = tuple(each.name for each in fields(Counts))


@dataclass(frozen=True)
class Line:
    """What one line of a kernel did in one way during one launch.

    file: relative to the root. line: its number. source: the line itself. kind: load, store, atomic or dot.
    """

    file: str
    line: int
    source: str
    kind: str
    counts: Counts = field(default_factory=Counts)


@dataclass(frozen=True)
class Launch:
    """One launch of a kernel. grid: as it was given. lines: in the order in which they first ran."""

    kernel: str
    grid: tuple[int, ...]
    counts: Counts
    lines: tuple[Line, ...]


@dataclass(repr=False)
class Counters(Counts):
    """What one call did: its totals, its launches in order, and the library functions that worked for it.

    library_operations: PyTorch functions that computed or copied outside kernels, in order, as "torch.add";
        allocations, views and questions about a shape are not among them.
    """

    launches: tuple[Launch, ...] = ()
    library_operations: list[str] = field(default_factory=list)

    def add(self, launch: Launch) -> None:
        """Take in one more launch."""
        self.launches += (launch,)
        for name in FIGURES:
            setattr(self, name, getattr(self, name) + getattr(launch.counts, name))

    def __str__(self) -> str:
        return "\n".join(table(self))

    def __repr__(self) -> str:  # short: pytest shows it in an assertion that fails
        return f"<counters: {quantity(len(self.launches), 'launch')}, {quantity(self.programs, 'program')}>"

    # Across a process boundary

    def to_plain(self) -> dict:
        """All of it in dicts, tuples, lists, numbers and texts."""
        launches = tuple(
            (launch.kernel, launch.grid, vars(launch.counts), tuple(map(_plain_line, launch.lines)))
            for launch in self.launches
        )
        return {"launches": launches, "library_operations": self.library_operations}

    @classmethod
    def from_plain(cls, plain: object) -> "Counters":
        """What `to_plain` made; the totals are summed anew. ValueError for anything else."""
        match plain:
            case {"launches": tuple(launches), "library_operations": list(operations), **rest} if not rest:
                counters = cls(library_operations=[_text(name) for name in operations])
                for launch in launches:
                    counters.add(_launch(launch))
                return counters
        raise ValueError("these are no counters")


def _plain_line(line: Line) -> tuple:
    return line.file, line.line, line.source, line.kind, vars(line.counts)


def _launch(plain: object) -> Launch:
    match plain:
        case (str(kernel), tuple(grid), counts, tuple(lines)):
            return Launch(kernel, tuple(map(_whole, grid)), _counts(counts), tuple(map(_line, lines)))
    raise ValueError("this is no launch")


def _line(plain: object) -> Line:
    match plain:
        case (str(file), int(line), str(source), str(kind), counts):
            return Line(file, line, source, kind, _counts(counts))
    raise ValueError("this is no line")


def _counts(plain: object) -> Counts:
    if type(plain) is not dict or set(plain) != set(FIGURES):
        raise ValueError("these are no counts")
    return Counts(**{name: _whole(figure) for name, figure in plain.items()})


def _whole(value: object) -> int:
    if type(value) is not int or value < 0:
        raise ValueError("this is no count")
    return value


def _text(value: object) -> str:
    if type(value) is not str:
        raise ValueError("this is no name")
    return value


# As a table --------------------------------------------------------------------------------------

HEADINGS = ("bytes", "accesses", "sectors", "lines", "flops")


def table(counters: Counters) -> Iterator[str]:
    """The lines of a table: each launch with its source lines and their figures."""
    if not counters.launches:
        yield "no kernel was launched"
    for launch in counters.launches:
        grid = " x ".join(map(str, launch.grid))
        yield f"{launch.kernel}, grid {grid}: {quantity(launch.counts.programs, 'program')}"
        yield from _rows(launch)
    yield f"library operations: {', '.join(counters.library_operations) or 'none'}"


def quantity(count: int, thing: str) -> str:
    """1 program, 2 programs, 1,000 launches"""
    ending = "" if count == 1 else "es" if thing.endswith("ch") else "s"
    return f"{count:,} {thing}{ending}"


def _rows(launch: Launch) -> Iterator[str]:
    headings = HEADINGS if launch.counts.flops else HEADINGS[:-1]
    texts = [f"{line.line:5}  {line.source}" for line in launch.lines]
    cells = [[line.kind, *_figures(line.counts, headings)] for line in launch.lines]
    cells = [["", *headings], *cells, ["total", *_figures(launch.counts, headings)]]
    widths = [max(map(len, column)) for column in zip(*cells)]
    room = max(WIDTH - sum(widths) - 2 * len(widths), NARROWEST)
    for text, row in zip(["", *texts, ""], cells):
        figures = "  ".join(cell.rjust(width) for cell, width in zip(row[1:], widths[1:]))
        yield f"{_cut(text, room):{room}}  {row[0]:{widths[0]}}  {figures}"


def _figures(counts: Counts, headings: Iterable[str]) -> list[str]:
    return [f"{figure:,}" if (figure := getattr(counts, name)) else "-" for name in headings]


def _cut(text: str, room: int) -> str:
    return text if len(text) <= room else text[:room - 3] + "..."
