"""Bars of what a call moved, where no kernel can be watched: across the bus, by each kernel, by each library function.

A bar for the bytes of each, in a terminal and as SVG.
"""

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from tools.draw import lines
from tools.draw.svg import MARGIN, Canvas
from tools.sim.counters import Counters
from tools.words import cut, quantity, wrapped

HEADING = "Bytes that cross between host and GPU, and that each kernel loads and stores"
SIGN = "#"
BAR, ROW = 400, 22  # pixels: of the longest bar, and from one to the next
NAME, TIMES, BYTES = 0, 220, 430  # where the columns of an SVG begin; of the last one, where it ends


class Step(NamedTuple):
    """Something that moves bytes. size: None of a library's function, whose bytes nobody counts."""

    name: str
    times: str
    size: int | None


class Moved(NamedTuple):
    """The picture of one call."""

    title: str
    steps: tuple[Step, ...]


def moved(title: str, counters: Counters) -> Moved | None:
    """The picture of what was counted; None where nothing moved."""
    steps = tuple(_steps(counters))
    return Moved(title, steps) if steps else None


def _steps(counters: Counters) -> Iterator[Step]:
    across = counters.transfers
    if across.uploads:
        yield Step("host to GPU", quantity(across.uploads, "upload"), across.bytes_uploaded)
    if across.copies:
        yield Step("within the GPU", quantity(across.copies, "copy"), across.bytes_copied)
    for kernel in lines.kernels(counters):
        yield Step(kernel.name, quantity(kernel.launches, "launch"), kernel.counts.bytes)
    for name, times in Counter(counters.library_operations).items():
        yield Step(name, quantity(times, "call"), None)
    if across.downloads:
        yield Step("GPU to host", quantity(across.downloads, "download"), across.bytes_downloaded)


def terminal(picture: Moved, width: int = 80) -> str:
    """The picture in lines of at most `width` columns."""
    names = [cut(step.name, width // 3) for step in picture.steps]
    sizes = [_size(step) for step in picture.steps]
    columns = [max(map(len, column)) for column in (names, [step.times for step in picture.steps], sizes)]
    room, longest = max(width - sum(columns) - 6, 1), _longest(picture)
    found = [*wrapped(picture.title, width), *wrapped(HEADING, width), ""]
    for step, name, size in zip(picture.steps, names, sizes):
        bar = SIGN * max(1, round(room * step.size / longest)) if step.size else ""
        found.append(f"{name:<{columns[0]}}  {step.times:>{columns[1]}}  {size:>{columns[2]}}  {bar}".rstrip())
    return "\n".join(found)


def draw(canvas: Canvas, picture: Moved) -> float:
    """The same on a canvas; gives where it ends."""
    canvas.text(MARGIN, 28, picture.title, "title")
    canvas.text(MARGIN, 48, HEADING, "soft")
    longest, y = _longest(picture), 62.0
    for step in picture.steps:
        canvas.text(MARGIN + NAME, y + 13, step.name)
        canvas.text(MARGIN + TIMES, y + 13, step.times, "soft")
        canvas.text(MARGIN + BYTES, y + 13, _size(step), "soft", "end")
        if step.size:
            canvas.rect(MARGIN + BYTES + 16, y + 2, max(1, BAR * step.size / longest), 14, "c0")
        y += ROW
    return y + 16


def _longest(picture: Moved) -> int:
    return max((step.size or 0 for step in picture.steps), default=0) or 1


def _size(step: Step) -> str:
    return "not counted" if step.size is None else f"{step.size:,} bytes"
