"""Counters of one call of a lesson's function: one vocabulary for all simulators, as plain data.

The figures are those of the hardware's units, not of time: they repeat exactly from run to run.
"""

from dataclasses import dataclass, field, fields
from typing import Any

from tools.sim import tables
from tools.sim.of_warps import OF_WARPS, NotCounted, Warps

__all__ = [
    "FIGURES",
    "OF_WARPS",
    "Counters",
    "Counts",
    "Launch",
    "Line",
    "NotCounted",
    "Transfers",
    "Warps",
    "used_axes",
]


@dataclass
class Counts:
    """Sums over all that was executed; two of them can be added.

    bytes_loaded, bytes_stored, bytes_atomic: useful bytes in global memory, those of elements that a mask
        lets through.
    accesses: such elements, each time one is loaded, stored or updated.
    sectors, lines: pieces of 32 and of 128 bytes touched; a piece counts once in each load, store or atomic
        operation that one program executes, or one warp where there are warps.
    flops: floating-point operations of dot products, 2 M N K each; no other arithmetic is counted.
    float64: operations of kernels in float64 or complex128, each lane's or element's; a function such as exp is one.
    conversions: of numbers in kernels from one float type to another, and between floats and integers, likewise.
    programs: how many ran; blocks, of a CUDA kernel.
    warps: what only warps do, None where there are none. Its figures can be read here too.
    """

    bytes_loaded: int = 0
    bytes_stored: int = 0
    bytes_atomic: int = 0
    accesses: int = 0
    sectors: int = 0
    lines: int = 0
    flops: int = 0
    float64: int = 0
    conversions: int = 0
    programs: int = 0
    warps: Warps | None = None

    @property
    def bytes(self) -> int:
        """Useful bytes of global memory in all."""
        return self.bytes_loaded + self.bytes_stored + self.bytes_atomic

    def __add__(self, other: "Counts") -> "Counts":
        total = Counts()
        total.include(self)
        total.include(other)
        return total

    def include(self, other: "Counts") -> None:
        """Add the figures of `other` to these."""
        for name in FIGURES:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        if other.warps is not None:
            self.warps = (self.warps or Warps()) + other.warps

    def __getattr__(self, name: str) -> Any:
        if name not in OF_WARPS:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        if self.warps is None:
            raise NotCounted(
                f"{name} cannot be counted: a Triton program has no warps until it is compiled, and "
                "no CUDA kernel ran. tools.check.compiled(function, ...) shows what Triton's "
                "compiler makes of it."
            )
        if name == "sectors_per_request":
            return self.sectors / self.warps.requests if self.warps.requests else 0.0
        return getattr(self.warps, name)


FIGURES = tuple(each.name for each in fields(Counts) if each.name != "warps")


@dataclass
class Transfers:
    """What crossed between the host's memory and the GPU's, and how often the host waited.

    uploads, downloads, copies: to the GPU, from it, and within it; each with its bytes.
    synchronizations: times that the host had to wait for the GPU, downloads included.
    """

    uploads: int = 0
    downloads: int = 0
    copies: int = 0
    bytes_uploaded: int = 0
    bytes_downloaded: int = 0
    bytes_copied: int = 0
    synchronizations: int = 0


@dataclass(frozen=True)
class Line:
    """What one line of a kernel did in one way during one launch.

    file: relative to the root. line: its number. source: the line itself. kind: load, store, atomic, dot, or
        arithmetic (float64 and conversions); in a CUDA kernel also shared load, shared store, shared atomic,
        branch and barrier.
    """

    file: str
    line: int
    source: str
    kind: str
    counts: Counts = field(default_factory=Counts)


@dataclass(frozen=True, repr=False)
class Launch:
    """One launch of a kernel. grid: as it was given. lines: in the order in which they first ran.

    block: threads of a block along x, and y and z where there are several; () where none are known.
    """

    kernel: str
    grid: tuple[int, ...]
    counts: Counts
    lines: tuple[Line, ...]
    block: tuple[int, ...] = ()

    def __repr__(self) -> str:  # short, as that of Counters
        return f"<{self.kernel}, grid {self.grid}>"


@dataclass(repr=False)
class Counters(Counts):
    """What one call did: its totals, its launches in order, and the library functions that worked for it.

    library_operations: functions of PyTorch and CuPy that computed or copied outside kernels, in order, as
        "torch.add"; allocations, views and questions about a shape are not among them.
    library_float64: those of them that worked with float64 or complex128.
    library_fills: functions of PyTorch that only wrote elements, in order, as "torch.zeros" and "torch.Tensor.fill_".
    transfers: between the host's memory and the GPU's.
    """

    launches: tuple[Launch, ...] = ()
    library_operations: list[str] = field(default_factory=list)
    library_float64: list[str] = field(default_factory=list)
    library_fills: list[str] = field(default_factory=list)
    transfers: Transfers = field(default_factory=Transfers)

    def add(self, launch: Launch) -> None:
        """Take in one more launch."""
        self.launches += (launch,)
        self.include(launch.counts)

    def __str__(self) -> str:
        return "\n".join(tables.rows(self))

    def __repr__(self) -> str:  # short: pytest shows it in an assertion that fails
        return f"<counters: {tables.quantity(len(self.launches), 'launch')}, {tables.programs(self)}>"

    # Across a process boundary

    def to_plain(self) -> dict:
        """All of it in dicts, tuples, lists, numbers and texts."""
        launches = tuple(
            (launch.kernel, launch.grid, _plain(launch.counts), tuple(map(_plain_line, launch.lines)), launch.block)
            for launch in self.launches
        )
        return {
            "launches": launches,
            "library_operations": self.library_operations,
            "library_float64": self.library_float64,
            "library_fills": self.library_fills,
            "transfers": vars(self.transfers),
        }

    @classmethod
    def from_plain(cls, plain: object) -> "Counters":
        """What `to_plain` made; the totals are summed anew. ValueError for anything else."""
        match plain:
            case {
                "launches": tuple(launches),
                "library_operations": list(operations),
                "library_float64": list(in_float64),
                "library_fills": list(fills),
                "transfers": transfers,
                **rest,
            } if not rest:
                counters = cls(
                    library_operations=[_text(name) for name in operations],
                    library_float64=[_text(name) for name in in_float64],
                    library_fills=[_text(name) for name in fills],
                    transfers=_figures_of(Transfers, transfers),
                )
                for launch in launches:
                    counters.add(_launch(launch))
                return counters
        raise ValueError("these are no counters")


def used_axes(shape: tuple[int, ...]) -> tuple[int, ...]:
    """A grid or a block of three axes, without the last ones that are 1."""
    used = max((axis for axis, size in enumerate(shape, start=1) if size > 1), default=1)
    return shape[:used]


def _plain(counts: Counts) -> dict:
    return vars(counts) | {"warps": counts.warps and vars(counts.warps)}


def _plain_line(line: Line) -> tuple:
    return line.file, line.line, line.source, line.kind, _plain(line.counts)


def _launch(plain: object) -> Launch:
    match plain:
        case (str(kernel), tuple(grid), counts, tuple(lines), tuple(block)):
            shape = tuple(map(_whole, block))
            return Launch(kernel, tuple(map(_whole, grid)), _counts(counts), tuple(map(_line, lines)), shape)
    raise ValueError("this is no launch")


def _line(plain: object) -> Line:
    match plain:
        case (str(file), int(line), str(source), str(kind), counts):
            return Line(file, line, source, kind, _counts(counts))
    raise ValueError("this is no line")


def _counts(plain: object) -> Counts:
    match plain:
        case {"warps": None, **figures}:
            return _figures_of(Counts, figures)
        case {"warps": warps, **figures}:
            counts = _figures_of(Counts, figures)
            counts.warps = _figures_of(Warps, warps)
            return counts
    raise ValueError("these are no counts")


def _figures_of(kind: type, plain: object) -> Any:
    """A dataclass of whole numbers."""
    names = {each.name for each in fields(kind)} - {"warps"}
    if type(plain) is not dict or set(plain) != names:
        raise ValueError("these are no figures")
    return kind(**{name: _whole(figure) for name, figure in plain.items()})


def _whole(value: object) -> int:
    if type(value) is not int or value < 0:
        raise ValueError("this is no count")
    return value


def _text(value: object) -> str:
    if type(value) is not str:
        raise ValueError("this is no name")
    return value
