"""Curves on logarithmic axes, as SVG: speed over sizes, and the roofline."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor, log10
from typing import Any

from tools.models.roofline import attainable, ridge_point

YOURS, RIVAL, LIMIT = "yours", "rival", "limit"
OWN_COLOUR, LIMIT_COLOUR, INK, FAINT = "#0072b2", "#767676", "#222222", "#e4e4e4"
COLOURS = ("#d55e00", "#009e73", "#a3528f", "#8a6d00")  # of rivals: told apart also by most who see few colours
WIDTH, HEIGHT = 460, 330  # of a panel, in pixels
LEFT, RIGHT, TOP, BOTTOM = 66, 18, 66, 48  # around its axes
HEAD, FOOT, LINE = 32, 16, 17
HEAD_LETTER, LETTER, FOOT_LETTER = 9.2, 7.0, 5.8  # how wide one is at the most, on average
MARKS = "csdt"  # a rival's mark: circle, square, diamond, triangle
PREFIXES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


@dataclass(frozen=True)
class Curve:
    """Points (x, y), all above 0. kind: YOURS, RIVAL, or LIMIT, which is dashed and has no marks.

    joined: whether lines join the points.
    """

    name: str
    points: tuple[tuple[float, float], ...]
    kind: str = RIVAL
    joined: bool = True


@dataclass(frozen=True)
class Panel:
    """One pair of axes. ticks: (x, label); where there are none, powers of ten."""

    title: str
    x_label: str
    y_label: str
    curves: tuple[Curve, ...]
    ticks: tuple[tuple[float, str], ...] = ()


def svg(heading: str, rows: Sequence[Sequence[Panel]], foot: Sequence[str] = ()) -> str:
    """A page of panels, row by row, below a heading; lines of small print below them."""
    width = WIDTH * max(map(len, rows), default=1)
    foot = [line for text in foot for line in textwrap.wrap(text, int((width - LEFT - RIGHT) / FOOT_LETTER))]
    headings = textwrap.wrap(heading, int((width - LEFT - RIGHT) / HEAD_LETTER))
    top = HEAD * len(headings)
    height = top + HEIGHT * len(rows) + FOOT + LINE * len(foot)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" font-family="sans-serif" font-size="12" role="img" fill="{INK}">',
        f"<title>{escape(heading)}</title>",
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
    ]
    parts += [
        f'<text x="{LEFT}" y="{HEAD * number - 8}" font-size="16" font-weight="bold">{escape(text)}</text>'
        for number, text in enumerate(headings, start=1)
    ]
    for down, row in enumerate(rows):
        for across, panel in enumerate(row):
            parts += [f'<g transform="translate({across * WIDTH},{top + down * HEIGHT})">', *_panel(panel), "</g>"]
    for number, text in enumerate(foot, start=1):
        y = top + HEIGHT * len(rows) + LINE * number - 4
        parts.append(f'<text x="{LEFT}" y="{y}" font-size="11" fill="#555555">{escape(text)}</text>')
    return "\n".join([*parts, "</svg>", ""])


def roof(intensities: Sequence[float], peak: float, bandwidth: float) -> Curve:
    """The measured roofline in GFLOP/s, wide enough to have these flop per byte and its ridge below it.

    peak: flop/s, bandwidth: bytes/s.
    """
    ridge = ridge_point(peak, bandwidth)
    ends = min(*intensities, ridge) / 4, max(*intensities, ridge) * 4
    points = tuple((x, attainable(x, peak, bandwidth) / 1e9) for x in (ends[0], ridge, ends[1]))
    return Curve("measured roof", points, LIMIT)


@dataclass(frozen=True)
class _Axis:
    """From `low` to `high`, drawn between two places."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        share = (log10(value) - log10(self.low)) / (log10(self.high) - log10(self.low))
        return round(self.start + share * (self.end - self.start), 1)

    def decades(self) -> list[float]:
        return [10.0**power for power in range(ceil(log10(self.low) - 1e-9), floor(log10(self.high) + 1e-9) + 1)]


def _panel(panel: Panel) -> list[str]:
    points = [point for curve in panel.curves for point in curve.points]
    if not points:
        return [f'<text x="{LEFT}" y="24">{escape(panel.title)}: nothing was measured</text>']
    x = _axis([x for x, _ in points] + [tick for tick, _ in panel.ticks], LEFT, WIDTH - RIGHT, whole=False)
    y = _axis([y for _, y in points], HEIGHT - BOTTOM, TOP, whole=True)
    return [
        f'<text x="{LEFT}" y="18" font-size="13" font-weight="bold">{escape(panel.title)}</text>',
        *_legend(panel.curves),
        *_grid(panel, x, y),
        *(line for number, curve in _numbered(panel.curves) for line in _curve(curve, number, x, y)),
    ]


def _axis(values: list[float], start: float, end: float, whole: bool) -> _Axis:
    """Some room beyond the values, or to the next power of ten where it is not far; a decade at the least."""
    low, high = min(values), max(values)
    if whole:
        low, high = _step(low, floor), _step(high * 1.05, ceil)
    else:
        low, high = low / 1.25, high * 1.25
    if high / low < 8:
        middle = (low * high) ** 0.5
        low, high = middle / 3, middle * 3
    return _Axis(low, high, start, end)


def _step(value: float, rounding: Any) -> float:
    """The next of 1, 2, 5, 10, 20, ... below or above."""
    decade = 10.0 ** floor(log10(value))
    steps = [decade * step for step in (1, 2, 5, 10)]
    if rounding is floor:
        return max(step for step in steps if step <= value * (1 + 1e-9))
    return min(step for step in steps if step >= value * (1 - 1e-9))


def _numbered(curves: Sequence[Curve]) -> list[tuple[int, Curve]]:
    """Limits first, your own on top; a rival keeps its number, and with that its colour."""
    rivals = [curve for curve in curves if curve.kind == RIVAL]
    order = [curve for kind in (LIMIT, RIVAL, YOURS) for curve in curves if curve.kind == kind]
    return [(rivals.index(curve) if curve.kind == RIVAL else 0, curve) for curve in order]


def _grid(panel: Panel, x: _Axis, y: _Axis) -> list[str]:
    left, right, top, bottom = LEFT, WIDTH - RIGHT, TOP, HEIGHT - BOTTOM
    parts = []
    for value, label in panel.ticks or _labels(x):
        parts += [
            f'<line x1="{x(value)}" y1="{top}" x2="{x(value)}" y2="{bottom}" stroke="{FAINT}"/>',
            f'<text x="{x(value)}" y="{bottom + 16}" text-anchor="middle">{escape(label)}</text>',
        ]
    for value, label in _labels(y):
        parts += [
            f'<line x1="{left}" y1="{y(value)}" x2="{right}" y2="{y(value)}" stroke="{FAINT}"/>',
            f'<text x="{left - 7}" y="{y(value) + 4}" text-anchor="end">{label}</text>',
        ]
    middle = (top + bottom) / 2
    return [
        *parts,
        f'<path d="M{left} {top}V{bottom}H{right}" fill="none" stroke="{INK}"/>',
        f'<text x="{(left + right) / 2}" y="{bottom + 36}" text-anchor="middle">{escape(panel.x_label)}</text>',
        f'<text transform="translate(16,{middle}) rotate(-90)" text-anchor="middle">{escape(panel.y_label)}</text>',
    ]


def _labels(axis: _Axis) -> list[tuple[float, str]]:
    """Powers of ten; where that is fewer than three, also 2 and 5 times them."""
    values = axis.decades()
    if len(values) < 3:
        values = [decade * step for decade in (values or [10.0 ** floor(log10(axis.low))]) for step in (1, 2, 5)]
        values += [value / 10 * step for value in axis.decades()[:1] for step in (2, 5)]
        values = sorted({value for value in values if axis.low * 0.999 <= value <= axis.high * 1.001})
    every = ceil(len(values) / 8)
    return [(value, number(value)) for value in values[::every]]


def number(value: float) -> str:
    """0.05, 20, 5k, 2M: as an axis shows it."""
    for size, prefix in PREFIXES:
        if value >= size:
            return f"{value / size:g}{prefix}"
    return f"{value:g}"


def _colour(curve: Curve, number: int) -> str:
    return {YOURS: OWN_COLOUR, LIMIT: LIMIT_COLOUR}.get(curve.kind) or COLOURS[number % len(COLOURS)]


def _curve(curve: Curve, number: int, x: _Axis, y: _Axis) -> list[str]:
    places = [(x(px), y(py)) for px, py in curve.points]
    colour, wide = _colour(curve, number), 2.6 if curve.kind == YOURS else 1.6
    dash = ' stroke-dasharray="6 4"' if curve.kind == LIMIT else ""
    parts = []
    if curve.joined and len(places) > 1:
        line = " ".join(f"{px},{py}" for px, py in places)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="{wide}"{dash}/>')
    if curve.kind != LIMIT:
        parts += [_mark(curve, number, px, py) for px, py in places]
    return parts


def _mark(curve: Curve, number: int, px: float, py: float) -> str:
    colour = _colour(curve, number)
    kind = "c" if curve.kind == YOURS else MARKS[(number + 1) % len(MARKS)]
    r = 4.5 if curve.kind == YOURS else 4
    shape = {
        "c": f'<circle cx="{px}" cy="{py}" r="{r}"',
        "s": f'<rect x="{px - r}" y="{py - r}" width="{2 * r}" height="{2 * r}"',
        "d": f'<path d="M{px} {py - r - 1}l{r + 1} {r + 1}l-{r + 1} {r + 1}l-{r + 1} -{r + 1}z"',
        "t": f'<path d="M{px} {py - r - 1}l{r + 1} {2 * r}h-{2 * (r + 1)}z"',
    }[kind]
    return f'{shape} fill="{colour}" stroke="#ffffff"/>'


def _legend(curves: Sequence[Curve]) -> list[str]:
    """Names side by side, in as many lines as they need."""
    px: float = LEFT
    parts, py = [], 38
    for number, curve in sorted(_numbered(curves), key=lambda each: list(curves).index(each[1])):
        length = 40 + LETTER * len(curve.name)
        if px > LEFT and px + length > WIDTH:
            px, py = LEFT, py + 16
        dash = ' stroke-dasharray="6 4"' if curve.kind == LIMIT else ""
        if curve.joined:
            parts.append(
                f'<line x1="{px}" y1="{py - 4}" x2="{px + 20}" y2="{py - 4}" '
                f'stroke="{_colour(curve, number)}" stroke-width="2"{dash}/>'
            )
        if curve.kind != LIMIT:
            parts.append(_mark(curve, number, px + 10, py - 4))
        parts.append(f'<text x="{px + 25}" y="{py}">{escape(curve.name)}</text>')
        px += length
    return parts
