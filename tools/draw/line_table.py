"""A kernel's figures by source line as text: each line of source, and below it what it does in each way."""

from collections.abc import Iterator
from itertools import groupby

from tools.draw.lines import Kernel, Row, figure
from tools.sim.tables import in_words
from tools.words import cut, quantity

GUTTER = "    "  # before what a line does
HEADS = {"sectors/request": "/request", "of one word": "one word"}  # beside the sectors, and the conflicts


def terminal(kernel: Kernel, width: int = 80) -> str:
    """Lines of `width` columns; a little more where the figures are very large."""
    names = kernel.columns
    drawn = [row for row in kernel.rows if _in_words(row) or any(figure(row, name) for name in names)]
    cells = [[GUTTER + row.kind, *(_shown(figure(row, name)) for name in names)] for row in drawn]
    heads = ["line", *(HEADS.get(name, name) for name in names)]
    widths = [max(map(len, column)) for column in zip(heads, *cells)]
    gap = "  " if sum(widths) + 2 * len(names) <= width else " "
    lines = [cut(heading(kernel), width), _joined(heads, widths, gap)]
    for _, alike in groupby(zip(drawn, cells), key=lambda each: each[0].line):
        lines += _of_line(list(alike), widths, gap, width)
    return "\n".join(line.rstrip() for line in lines)


def heading(kernel: Kernel) -> str:
    """tiled_kernel: 4 blocks (2 x 2), 3 launches; its name alone where nothing of that is known."""
    counts = kernel.counts
    ran = quantity(counts.programs // kernel.launches, "program" if counts.warps is None else "block")
    grid = f" ({' x '.join(map(str, kernel.grid))})" if len(kernel.grid) > 1 else ""
    again = f"{kernel.launches:,} launches" if kernel.launches > 1 else ""
    known = list(filter(None, [ran + grid if counts.programs else "", again]))
    return f"{kernel.name}: {', '.join(known)}" if known else kernel.name


def _of_line(rows: list[tuple[Row, list[str]]], widths: list[int], gap: str, width: int) -> Iterator[str]:
    first = rows[0][0]
    yield cut(f"{first.line:4}  {first.source}", width)
    for row, cells in rows:
        words = _in_words(row)
        yield f"{GUTTER}{words}" if words else _joined(cells, widths, gap)


def _in_words(row: Row) -> str:
    """What a line does without memory; "" where columns tell it, or there is nothing to tell."""
    counts = row.counts
    if row.kind != "branch":
        return in_words(row)
    if not counts.divergent_branches:
        return ""
    return f"branch: the lanes of a warp parted {counts.divergent_branches:,} of {counts.branches:,} times"


def _joined(cells: list[str], widths: list[int], gap: str) -> str:
    return cells[0].ljust(widths[0]) + "".join(gap + cell.rjust(width) for cell, width in zip(cells[1:], widths[1:]))


def _shown(value: float) -> str:
    if not value:
        return "-"
    return f"{value:,}" if isinstance(value, int) else f"{value:.1f}"
