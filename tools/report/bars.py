"""Bars of the page, one below the other: widths are shares, so that they fit any column."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tools.course.learner.changes import Change
from tools.report import words

ROW, THICKNESS, TOP = 40, 12, 16  # pixels: from one bar to the next; its height; of its label above it
LEAST = 0.4  # percent: what is there at all can be seen


@dataclass(frozen=True)
class Bar:
    """`text` is the value as written. One that is `ours` is drawn in the stronger colour."""

    label: str
    value: float
    text: str
    ours: bool = False


class Placed(NamedTuple):
    """A bar in the picture: the base line of its letters in pixels, its width in percent."""

    label: str
    text: str
    top: int
    width: float
    ours: bool


class Picture(NamedTuple):
    """Bars, how thick each is, and the height of all in pixels."""

    bars: list[Placed]
    thickness: int
    height: int


def draw(bars: Sequence[Bar]) -> Picture:
    """The bars, each in its place; the longest takes all of the width."""
    longest = max((bar.value for bar in bars), default=0) or 1
    placed = [
        Placed(bar.label, bar.text, number * ROW + TOP - 4, _width(bar.value, longest), bar.ours)
        for number, bar in enumerate(bars)
    ]
    return Picture(placed, THICKNESS, max(len(bars) * ROW - (ROW - TOP - THICKNESS - 8), 0))


def _width(value: float, longest: float) -> float:
    return max(100 * value / longest, LEAST) if value else 0


def before_and_after(change: Change) -> list[Bar]:
    """The first and the last value."""
    return [
        Bar(f"first, {words.short_day(change.began)}", change.first, words.value(change, change.first)),
        Bar(f"last, {words.short_day(change.ended)}", change.last, words.value(change, change.last), ours=True),
    ]
