"""The plots of a function's benchmarks: speed over sizes under the measured ceiling, and the roofline."""

from collections.abc import Callable

from markupsafe import Markup

from tools.course.learner.history import YOURS as LEARNER
from tools.course.learner.history import Bench, Row
from tools.draw.plot import LIMIT, RIVAL, YOURS, Curve, Panel, number, roof, svg
from tools.report import words

Point = Callable[[Bench, Row], tuple[float | None, float | None]]
MEMORY = 4  # flop per byte: with fewer, GB/s tells more than GFLOP/s


def over_sizes(function: str, benches: list[Bench]) -> tuple[Markup, ...]:
    """The plots as SVG, whose texts are escaped; none where nothing that they need was recorded."""
    panels = [panel for panel in (_speed(function, benches), _roofline(function, benches)) if panel]
    return tuple(Markup(svg("", [[panel]])) for panel in panels)


def _speed(function: str, benches: list[Bench]) -> Panel | None:
    """GFLOP/s where arithmetic is what there is most of, GB/s where memory is."""
    own = benches[-1].own
    figure, unit = ("gflop_s", "GFLOP/s") if own.gflop_s and (_intensity(own) or MEMORY) >= MEMORY else ("gb_s", "GB/s")
    curves = _curves(benches, lambda bench, row: (bench.size, getattr(row, figure)))
    sizes = sorted({x for curve in curves for x, _ in curve.points})
    if len(sizes) < 2:
        return None
    limit = [
        (bench.size, getattr(bench.own, figure) / bench.own.share_of_ceiling)
        for bench in benches
        if bench.size and bench.own.share_of_ceiling and getattr(bench.own, figure)
    ]
    if len(limit) > 1:
        curves.append(Curve("measured ceiling", tuple(limit), LIMIT))
    return Panel(f"{function}: speed over sizes", "size", unit, tuple(curves), tuple((x, _label(x)) for x in sizes))


def _roofline(function: str, benches: list[Bench]) -> Panel | None:
    """Speed over flop per byte, under the machine's roof; None where it would say no more than the plot over sizes."""
    curves = _curves(benches, lambda bench, row: (_intensity(row), row.gflop_s), joined=False)
    limit = _measured_roof(benches) if curves else None
    if limit is None:
        return None
    return Panel(f"{function}: roofline", "flop per byte of the least traffic", "GFLOP/s", (*curves, limit))


def _measured_roof(benches: list[Bench]) -> Curve | None:
    """The roof that was measured; of older records, which do not have it, the part that their shares of it tell."""
    last = benches[-1]
    intensities = [intensity for bench in benches for row in bench.rows if (intensity := _intensity(row))]
    if last.bandwidth and last.peak:
        return roof(intensities, last.peak, last.bandwidth)
    told = sorted(
        (intensity, own.gflop_s / own.share_of_ceiling)
        for own in (bench.own for bench in benches)
        if (intensity := _intensity(own)) and own.gflop_s and own.share_of_ceiling
    )
    if not last.on_gpu or len(told) < 2 or told[-1][0] < 1.5 * told[0][0]:
        return None
    return Curve("measured roof", tuple(told), LIMIT)


def _label(size: float) -> str:
    """4096, 65536; 16.8M, which in full would not fit."""
    return f"{size:g}" if size < 10**5 else number(float(f"{size:.3g}"))


def _curves(benches: list[Bench], point: Point, joined: bool = True) -> list[Curve]:
    """A curve for each competitor, of the points that were recorded and can be drawn on logarithmic axes."""
    found: dict[str, list[tuple[float, float]]] = {}
    for bench in benches:
        for row in bench.rows:
            x, y = point(bench, row)
            if x and y:
                found.setdefault(row.name, []).append((x, y))
    return [
        Curve(words.competitor(name), tuple(points), YOURS if name == LEARNER else RIVAL, joined)
        for name, points in found.items()
    ]


def _intensity(row: Row) -> float | None:
    intensity = row.gflop_s / row.gb_s if row.gflop_s and row.gb_s else 0
    return intensity if 0 < intensity < float("inf") else None
