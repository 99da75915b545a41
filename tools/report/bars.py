"""Bars of the page, one below the other. Widths are shares, so that they fit any column, and letters stay as large as
the page's own; the colours are the page's too."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

ROW, BAR, TOP = 40, 12, 16  # pixels: from one bar to the next; its height; of its label above it
LEAST = 0.4  # percent: what is there at all can be seen


@dataclass(frozen=True)
class Bar:
    """`text` is the value as written. One that is `ours` is drawn in the stronger colour."""

    label: str
    value: float
    text: str
    ours: bool = False


def svg(bars: Sequence[Bar], title: str) -> str:
    """An SVG element as wide as where it is put; the longest bar takes all of that. It has no viewBox: what grows
    with the page are the bars, not the letters."""
    longest = max((bar.value for bar in bars), default=0) or 1
    lines = [_line(number, bar, longest) for number, bar in enumerate(bars)]
    height = len(bars) * ROW - (ROW - TOP - BAR - 8)
    return (
        f'<svg class="bars" role="img" aria-label="{escape(title)}" width="100%" height="{max(height, 0)}">'
        f"<title>{escape(title)}</title>{''.join(lines)}</svg>"
    )


def _line(number: int, bar: Bar, longest: float) -> str:
    top = number * ROW + TOP - 4
    width = max(100 * bar.value / longest, LEAST) if bar.value else 0
    name = ' class="ours"' if bar.ours else ""
    return (
        f'<text x="0" y="{top}">{escape(bar.label)}</text>'
        f'<text x="100%" y="{top}" text-anchor="end"{name}>{escape(bar.text)}</text>'
        f'<rect x="0" y="{top + 6}" width="{width:.2f}%" height="{BAR}" rx="2"{name}/>'
    )
