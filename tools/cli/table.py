"""A table that fits: each row in a line, or its title above its figures, or each figure in a line of its own."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tools.words import wrapped

INDENT, DEEPER, GAP = "  ", "    ", "  "
HEAD = "dim"  # the style of headings


class Row(NamedTuple):
    """A row: what it is about, its figures, and the style in which it is printed."""

    title: str
    cells: tuple[str, ...]
    style: str = ""


def lines(
    title: str, headings: Sequence[str], rows: Sequence[Row], width: int, texts: Sequence[str] = ()
) -> Iterator[tuple[str, str]]:
    """The table's lines, each with its style. title: what is above the titles; texts: headings of what is no figure."""
    widths = [max(map(len, column)) for column in zip(headings, *(row.cells for row in rows))]
    titles = max(len(title), *(len(row.title) for row in rows))
    left = [heading in texts for heading in headings]
    figures = sum(widths) + len(GAP) * (len(widths) - 1)
    if len(INDENT) + titles + len(GAP) + figures <= width:
        yield (INDENT + _joined((title, *headings), (titles, *widths), (True, *left)), HEAD)
        for row in rows:
            yield INDENT + _joined((row.title, *row.cells), (titles, *widths), (True, *left)), row.style
    elif len(DEEPER) + figures <= width:
        yield DEEPER + _joined(headings, widths, left), HEAD
        for row in rows:
            yield from ((line, row.style) for line in wrapped(row.title, width, INDENT))
            yield DEEPER + _joined(row.cells, widths, left), row.style
    else:
        for row in rows:
            yield from _one_by_one(headings, row, width)


def _joined(cells: Sequence[str], widths: Sequence[int], left: Sequence[bool]) -> str:
    padded = (f"{cell:<{width}}" if left else f"{cell:>{width}}" for cell, width, left in zip(cells, widths, left))
    return GAP.join(padded).rstrip()


def _one_by_one(headings: Sequence[str], row: Row, width: int) -> Iterator[tuple[str, str]]:
    yield from ((line, row.style) for line in wrapped(row.title, width, INDENT))
    longest = max(map(len, headings))
    for heading, cell in zip(headings, row.cells):
        yield from ((line, row.style) for line in wrapped(cell, width, f"{DEEPER}{heading:<{longest}}{GAP}"))
