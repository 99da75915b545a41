"""A roofline plot: how fast kernels are beside what memory and arithmetic allow. Both axes are logarithmic."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from tools.draw.svg import MARGIN, Canvas, colour
from tools.models.roofline import attainable, ridge_point

WIDTH, HEIGHT = 680, 420
LEFT, RIGHT, TOP, BOTTOM = 70, 160, 44, 56  # pixels around the plot
DECADE = 10.0


@dataclass(frozen=True)
class Point:
    """A kernel. intensity: flop for each byte. rate: flop/s; None where nobody measured it: its ceiling is drawn."""

    name: str
    intensity: float
    rate: float | None = None


def svg(title: str, points: Sequence[Point], peak: float, bandwidth: float, ceiling: str = "") -> str:
    """peak: flop/s, bandwidth: bytes/s, of the machine that `ceiling` names."""
    plot = _Plot(points, peak, bandwidth)
    canvas = Canvas(WIDTH, title, "Roofline: operations in a second over operations for each byte.")
    canvas.text(MARGIN, 28, title, "title")
    _axes(canvas, plot)
    low, high = plot.across
    ends = [low, ridge_point(peak, bandwidth), high]
    canvas.curve([plot.place(x, attainable(x, peak, bandwidth)) for x in ends])
    x, y = plot.place(ends[1], peak)
    canvas.text(x + 6, y - 8, f"{_si(peak)}flop/s, {_si(bandwidth)}byte/s{f', {ceiling}' if ceiling else ''}",
                "soft small", "end" if x > WIDTH / 2 else "start")
    for number, point in enumerate(points):
        _point(canvas, plot, point, number, attainable(point.intensity, peak, bandwidth))
    return canvas.finish(HEIGHT)


class _Plot:
    """across, up: the ends of the axes, powers of ten around all that is drawn."""

    def __init__(self, points: Sequence[Point], peak: float, bandwidth: float):
        ridge = ridge_point(peak, bandwidth)
        xs = [point.intensity for point in points] + [ridge]
        self.across = DECADE**math.floor(math.log10(min(xs)) - 0.3), DECADE**math.ceil(math.log10(max(xs)) + 0.3)
        rates = [point.rate or attainable(point.intensity, peak, bandwidth) for point in points] + [peak]
        self.up = DECADE**math.floor(math.log10(min(rates)) - 0.1), DECADE**math.ceil(math.log10(max(rates)) + 0.1)

    def place(self, x: float, y: float) -> tuple[float, float]:
        return (LEFT + _share(x, self.across) * (WIDTH - LEFT - RIGHT),
                HEIGHT - BOTTOM - _share(y, self.up) * (HEIGHT - TOP - BOTTOM))


def _share(value: float, ends: tuple[float, float]) -> float:
    low, high = map(math.log10, ends)
    return (math.log10(value) - low) / (high - low)


def _axes(canvas: Canvas, plot: _Plot) -> None:
    (left, right), (low, high) = plot.across, plot.up
    for value in _decades(left, right):
        x, y = plot.place(value, low)
        canvas.line(x, y, x, plot.place(value, high)[1], "grid")
        canvas.text(x, y + 16, f"{value:g}", "soft small", "middle")
    for value in _decades(low, high):
        x, y = plot.place(left, value)
        canvas.line(x, y, plot.place(right, value)[0], y, "grid")
        canvas.text(x - 6, y + 4, _si(value), "soft small", "end")
    middle = plot.place(math.sqrt(left * right), low)[0], plot.place(left, math.sqrt(low * high))[1]
    canvas.text(middle[0], HEIGHT - 14, "operations for each byte (flop/byte)", "soft", "middle")
    canvas.text(18, middle[1], "operations in a second (flop/s)", "soft", "middle", -90)


def _decades(low: float, high: float) -> list[float]:
    return [DECADE**power for power in range(round(math.log10(low)), round(math.log10(high)) + 1)]


def _point(canvas: Canvas, plot: _Plot, point: Point, number: int, allowed: float) -> None:
    """Its name beside it, and how much of what its intensity allows it reaches."""
    x, y = plot.place(point.intensity, point.rate or allowed)
    share = f"{point.rate / allowed:.0%} of its ceiling" if point.rate else "at the most"
    canvas.circle(x, y, 6, colour(number) if point.rate else "mark", f"{point.name}: {share}")
    canvas.text(x + 10, y + 13, point.name)
    canvas.text(x + 10, y + 27, share, "soft small")


def _si(value: float) -> str:
    """4.8 T for 4.8e12; to three digits, and with the space of a unit behind it."""
    for size, prefix in ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size * 0.9995:
            return f"{value / size:.3g} {prefix}"
    return f"{value:.3g} "
