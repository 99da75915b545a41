"""Counters as a table for people: each launch, its source lines beside their figures, and what else happened."""

from collections.abc import Iterator
from typing import Any

from tools.words import cut, quantity

WIDTH = 80  # columns of the table,
NARROWEST = 16  # of which the source line always has so many
OF_PROGRAMS = ("bytes", "accesses", "sectors", "lines", "flops")
OF_WARPS = ("bytes", "requests", "sectors", "conflicts", "lanes")


def rows(counters: Any) -> Iterator[str]:
    """The lines of the table of `counters`, a Counters."""
    if not counters.launches:
        yield "no kernel was launched"
    for launch in counters.launches:
        yield f"{launch.kernel}, grid {' x '.join(map(str, launch.grid))}: {_summary(launch.counts)}"
        yield from _of_launch(launch)
    yield f"library operations: {', '.join(counters.library_operations) or 'none'}"
    if any(vars(counters.transfers).values()):
        yield transfers(counters.transfers)


def programs(counts: Any) -> str:
    """How many there were: 5 programs, or 5 blocks of CUDA kernels."""
    return quantity(counts.programs, "program" if counts.warps is None else "block")


def transfers(transfers: Any) -> str:
    """2 uploads (8,000 bytes), 1 synchronization"""
    ways = (
        ("upload", transfers.uploads, transfers.bytes_uploaded),
        ("download", transfers.downloads, transfers.bytes_downloaded),
        ("copy", transfers.copies, transfers.bytes_copied),
    )
    moved = [f"{quantity(times, way)} ({size:,} bytes)" for way, times, size in ways if times]
    return ", ".join([*moved, quantity(transfers.synchronizations, "synchronization")])


def _summary(counts: Any) -> str:
    if counts.warps is None:
        return programs(counts)
    parted = f"{counts.divergent_branches:,} of {quantity(counts.branches, 'branch')} diverged"
    return f"{programs(counts)}, {counts.active_lanes:.1f} of 32 lanes active, {parted}"


def _of_launch(launch: Any) -> Iterator[str]:
    headings = OF_WARPS if launch.counts.warps else OF_PROGRAMS if launch.counts.flops else OF_PROGRAMS[:-1]
    told = [(line, in_words(line)) for line in launch.lines]
    cells = [["", words] if words else [line.kind, *_figures(line, headings)] for line, words in told]
    total = [_shown(getattr(launch.counts, name)) if name != "lanes" else "" for name in headings]
    cells = [["", *headings], *cells, ["total", *total]]
    widths = [max(map(len, column)) for column in zip(*(row for row in cells if len(row) > 2))]
    room = max(WIDTH - sum(widths) - 2 * len(widths), NARROWEST)
    texts = [f"{line.line:5}  {line.source}" for line, _ in told]
    for text, row in zip(["", *texts, ""], cells):
        figures = "  ".join(cell.rjust(width) for cell, width in zip(row[1:], widths[1:]))
        shown = row[1] if len(row) == 2 else f"{row[0]:{widths[0]}}  {figures}"
        yield f"{cut(text, room):{room}}  {shown}".rstrip()


def in_words(line: Any) -> str:
    """What a line does without memory, such as "64 barriers"; "" where columns tell it. line: has kind and counts."""
    things = {"float64 operation": line.counts.float64, "conversion": line.counts.conversions}
    if line.kind == "barrier":
        things = {"barrier": line.counts.barriers}
    if line.kind == "dot" and line.counts.warps is not None:  # Triton's have a column
        things = {"flop": line.counts.flops}
    return ", ".join(quantity(count, thing) for thing, count in things.items() if count)


def _figures(line: Any, headings: tuple[str, ...]) -> list[str]:
    """Those of one line. Of a shared access, bytes and requests are those of shared memory; lanes: an average."""
    counts = line.counts
    if counts.warps is None:
        return [_shown(getattr(counts, name)) for name in headings]
    shared = line.kind.startswith("shared")
    moved, requests = (counts.bytes_shared, counts.shared_requests) if shared else (counts.bytes, counts.requests)
    return [*map(_shown, (moved, requests, counts.sectors, counts.conflicts)), f"{counts.active_lanes:.1f}"]


def _shown(figure: int) -> str:
    return f"{figure:,}" if figure else "-"
