"""Counters as figures by source line, and the line that wastes most in plain words."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import ceil

from tools.models.units import LINE, SECTOR
from tools.sim.counters import Counters, Counts, Launch
from tools.words import listed, plural

LANES = 32  # of a warp
# A GPU sums the constant 1 of all lanes at a word at once (tools/sim/PROFILER.md: ATOMS.POPC.INC), if nobody asks what
# was there
ADDS_ONE = re.compile(r"(cuda\.)?atomic(\.add|Add)\(.*,\s*1\)")
WORTH = 1.25  # times the least: what wastes less is not worth a word,
SHARE = 0.1  # nor is what wastes less of all sectors, or of all wavefronts
UNLIKE = 1.1  # times the sectors, for as many bytes: what differs by less is not told
OF_WARPS = "bytes", "requests", "sectors", "sectors/request", "wavefronts", "conflicts", "of one word"
OF_PROGRAMS = "bytes", "sectors", "bytes/sector", "flops"


@dataclass
class Row:
    """What one line did in one way, over all launches of a kernel."""

    line: int
    source: str
    kind: str
    counts: Counts = field(default_factory=Counts)


@dataclass
class Kernel:
    """Launches of one kernel with one grid, added up. rows: by line number; none for a library's kernel."""

    name: str
    grid: tuple[int, ...]
    launches: int = 0
    counts: Counts = field(default_factory=Counts)
    rows: list[Row] = field(default_factory=list)

    @property
    def columns(self) -> tuple[str, ...]:
        """The figures that are known, as far as one of them is not 0."""
        names = OF_PROGRAMS if self.counts.warps is None else OF_WARPS
        return tuple(name for name in names if any(figure(row, name) for row in self.rows))


def kernels(counters: Counters) -> list[Kernel]:
    """In the order of their first launches."""
    found: dict[tuple, Kernel] = {}
    for launch in counters.launches:
        kernel = found.setdefault((launch.kernel, launch.grid), Kernel(launch.kernel, launch.grid))
        kernel.launches += 1
        kernel.counts.include(launch.counts)
        _add(kernel, launch)
    for kernel in found.values():
        kernel.rows.sort(key=lambda row: row.line)
    return list(found.values())


def _add(kernel: Kernel, launch: Launch) -> None:
    rows = {(row.line, row.kind): row for row in kernel.rows}
    for line in launch.lines:
        if (line.line, line.kind) not in rows:
            rows[line.line, line.kind] = Row(line.line, line.source, line.kind)
            kernel.rows.append(rows[line.line, line.kind])
        rows[line.line, line.kind].counts.include(line.counts)


def figure(row: Row, name: str) -> float:
    """Of a shared access, bytes and requests are those of shared memory."""
    counts = row.counts
    shared = row.kind.startswith("shared")
    match name:
        case "bytes":
            return counts.bytes_shared if shared else counts.bytes
        case "requests":
            return counts.shared_requests if shared else counts.requests
        case "of one word":
            return counts.same_word
        case "sectors/request":
            return counts.sectors_per_request
        case "bytes/sector":
            return counts.bytes / counts.sectors if counts.sectors else 0.0
    return getattr(counts, name)


# The line that wastes most -------------------------------------------------------------------------


@dataclass(frozen=True)
class Waste:
    """size: sectors or wavefronts beyond the least; words: one or two sentences."""

    size: float
    words: str


def worst(found: Sequence[Kernel]) -> str | None:
    """About the line that wastes most; about where traffic goes when none does. None where nothing moves."""
    rows = [row for kernel in found for row in kernel.rows]
    shared = [row for row in rows if row.kind.startswith("shared")]
    others = [row for row in rows if row not in shared]
    wastes = [
        *_wastes(others, _beside, sum(row.counts.sectors for row in others)),
        *_wastes(shared, _conflicts, sum(row.counts.wavefronts for row in shared)),
    ]
    most = max(wastes, key=lambda waste: waste.size, default=None)
    return most.words if most else _unlike(others) or _parted(found) or _traffic(others)


def _wastes(rows: Sequence[Row], wasted: Callable[[Row], Waste | None], of: int) -> list[Waste]:
    return [waste for row in rows if (waste := wasted(row)) and waste.size >= SHARE * of]


def _beside(row: Row) -> Waste | None:
    """Sectors of global memory that are touched for a few of their bytes."""
    least = row.counts.bytes / SECTOR
    if not row.counts.sectors or row.counts.sectors < WORTH * least:
        return None
    size = row.counts.sectors - least
    if row.counts.warps is None:
        useful = row.counts.bytes / row.counts.sectors
        return Waste(
            size,
            f"Line {row.line} uses {useful:.3g} of the {SECTOR} bytes of a sector, on average: "
            "neighbours in its block are far apart in memory.",
        )
    return _apart(row, size)


def _apart(row: Row, size: float) -> Waste | None:
    """Of a CUDA kernel. Several loads in one line are told as one, by their average."""
    counts = row.counts
    each, lanes = counts.sectors_per_request, counts.accesses / counts.requests
    least = counts.bytes / SECTOR / counts.requests
    if lanes < 2:  # one lane alone: nobody could have asked together with it
        return None
    if row.kind == "atomic" and counts.sectors > counts.lines * (LINE // SECTOR):  # more than there are to touch
        return Waste(
            size,
            f"Line {row.line} sends {each:.3g} sectors in an atomic of one warp, on average: its threads update the "
            "same element, one after the other. Fewer would do if a warp updated each element once.",
        )
    may_meet = row.kind == "atomic" and counts.lines <= 0.9 * counts.accesses  # a sector counts for each update of one
    if each > 0.9 * lanes and not may_meet:
        why = "neighbouring threads are far apart in memory, and each gets a sector of its own"
    elif each <= -(-LANES * counts.bytes // (counts.accesses * SECTOR)):
        return None  # a whole warp side by side asks for as many: some of its lanes have nothing to ask for
    elif may_meet:
        why = "threads are apart in memory, or update the same element one after the other"
    elif each - least <= 1:
        why = "what a warp asks for does not begin where a sector does"
    else:
        why = "neighbouring threads are apart in memory"
    kind = "an atomic" if row.kind == "atomic" else f"a {row.kind}"
    return Waste(
        size,
        f"Line {row.line} asks for {each:.3g} sectors in {kind} of one warp, on average: {why}. "
        f"{max(1, ceil(least))} would do.",
    )


def _conflicts(row: Row) -> Waste | None:
    """Of shared memory: lanes that want different words of one bank, or, of atomics, the same word."""
    counts = row.counts
    same = 0 if ADDS_ONE.match(row.source.strip()) else counts.same_word
    apart = counts.conflicts - counts.same_word
    least = counts.wavefronts - max(apart, same)
    if not max(apart, same) or counts.wavefronts < WORTH * least:
        return None
    takes = f"Line {row.line} takes {counts.wavefronts / counts.shared_requests:.3g} wavefronts for a {row.kind}"
    enough = f"{least / counts.shared_requests:.3g} would do"
    if same > apart:
        why = "threads update the same word, one after the other"
        return Waste(same, f"{takes} of one warp: its {why}. {enough} if a warp updated each word once.")
    return Waste(apart, f"{takes} of one warp: its threads want different words of one bank. {enough}.")


def _unlike(rows: Sequence[Row]) -> str | None:
    """A line that loads and stores as much, in as many requests, but touches more sectors in one of the two."""
    moving = [row for row in rows if row.kind in ("load", "store") and row.counts.warps is not None]
    for one, other in combinations(moving, 2):
        alike = all(
            getattr(one.counts, name) == getattr(other.counts, name) for name in ("accesses", "bytes", "requests")
        )
        few, many = sorted((one, other), key=lambda row: row.counts.sectors)
        if one.line == other.line and alike and many.counts.sectors > UNLIKE * few.counts.sectors:
            return (
                f"Line {one.line} touches {many.counts.sectors:,} sectors in its {many.kind}s, and "
                f"{few.counts.sectors:,} in its {few.kind}s of as many bytes. Do both begin where sectors do?"
            )
    return None


def _parted(found: Sequence[Kernel]) -> str | None:
    """The line at which most warps part, where that is a quarter of them or more, and many lanes idle for it: those
    that let one lane of a warp store its sum do not."""
    idle = [kernel for kernel in found if kernel.counts.warps and kernel.counts.active_lanes < (1 - SHARE) * LANES]
    branches = [row for kernel in idle for row in kernel.rows if row.kind == "branch"]
    row = max(branches, key=lambda row: row.counts.divergent_branches, default=None)
    if row is None or 4 * row.counts.divergent_branches < row.counts.branches:
        return None
    counts = row.counts
    return (
        f"At line {row.line} the lanes of a warp part in {counts.divergent_branches:,} of {counts.branches:,} "
        "decisions: a warp goes one way, then the other, and some lanes idle in each."
    )


def _traffic(rows: Sequence[Row]) -> str | None:
    """Where sectors are asked for, when none is worth a word for waste; and whether its bytes need them."""
    asked: dict[int, Counts] = {}
    for row in rows:
        if row.counts.sectors:
            asked.setdefault(row.line, Counts()).include(row.counts)
    if not asked:
        return None
    of, most = sum(each.sectors for each in asked.values()), max(each.sectors for each in asked.values())
    first = [line for line, each in asked.items() if each.sectors == most]
    needed = all(SECTOR * asked[line].sectors < WORTH * asked[line].bytes for line in first)
    if len(first) == len(asked):
        return "No line touches many more sectors than its bytes need." if needed else None
    several = len(first) > 1
    who = f"{plural('Line', len(first))} {listed([str(line) for line in first])} {'touch' if several else 'touches'}"
    exactly = all(SECTOR * asked[line].sectors == asked[line].bytes for line in first)
    as_many = "as many" if exactly else "nearly as many"
    need = f", and {'their' if several else 'its'} bytes need {as_many}" if needed else ""
    return f"{who} {most:,} of all {of:,} sectors{' each' * several}, which is {most / of:.0%}{need}."
