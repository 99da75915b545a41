"""A table of bars: one figure for each of several things, as text or as SVG."""

from collections.abc import Sequence
from dataclasses import dataclass

from tools.draw.svg import MARGIN, Canvas, colour

WIDTH, ROW, LABEL, FIGURE = 680, 26, 190, 150  # pixels
LEAST, EM = 10, 7.2                            # columns of the longest bar; pixels of an average letter


@dataclass(frozen=True)
class Bar:
    """value: at least 0; None: nothing is known. figure: the value as people read it; note: what else is to be said."""

    name: str
    value: float | None
    figure: str
    note: str = ""


def terminal(bars: Sequence[Bar], width: int = 80) -> str:
    """Names, bars of # and figures in lines of at most `width` columns."""
    names = max((len(bar.name) for bar in bars), default=0)
    figures = max((len(f"{bar.figure}  {bar.note}".rstrip()) for bar in bars), default=0)
    room = max(LEAST, width - names - figures - 4)
    most = _most(bars)
    lines = [f"{bar.name:{names}}  {'#' * _length(bar, most, room):{room}}  {bar.figure}  {bar.note}".rstrip()
             for bar in bars]
    return "\n".join(line if len(line) <= width else line[:width - 3] + "..." for line in lines)


def svg(title: str, bars: Sequence[Bar], unit: str = "") -> str:
    """unit: what the bars measure, below them."""
    canvas, most = Canvas(WIDTH, title, unit), _most(bars)
    canvas.text(MARGIN, 28, title, "title")
    label = min(max([len(bar.name) * EM for bar in bars], default=0) + 2 * MARGIN, LABEL + 100)
    figure = max([len(f"{bar.figure}  {bar.note}") * EM for bar in bars], default=0)
    room = max(WIDTH - label - figure - MARGIN, 120)
    for number, bar in enumerate(bars):
        y = 48 + number * ROW
        canvas.text(label - 8, y + 14, bar.name, anchor="end")
        length = _length(bar, most, int(room))
        canvas.rect(label, y, max(length, 1), ROW - 8, colour(number), bar.figure)
        canvas.text(label + length + 8, y + 14, f"{bar.figure}  {bar.note}".rstrip(), "soft")
    canvas.line(label, 44, label, 46 + len(bars) * ROW, "axis")
    if unit:
        canvas.text(label, 64 + len(bars) * ROW, unit, "soft small")
    return canvas.finish(60 + len(bars) * ROW + 20 * bool(unit))


def _most(bars: Sequence[Bar]) -> float:
    return max((bar.value for bar in bars if bar.value is not None), default=0.0)


def _length(bar: Bar, most: float, room: int) -> int:
    """Of its bar; what is not nothing has at least one."""
    if not bar.value or not most:
        return 0
    return max(1, round(bar.value / most * room))
