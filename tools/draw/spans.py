"""A time line: what each engine of a GPU does when, from the spans of tools/models/timeline.py."""

from collections.abc import Sequence

from tools.draw.svg import MARGIN, Canvas, colour
from tools.models.timeline import ENGINES, Span

WIDTH, ROW, LABEL, RIGHT = 760, 34, 90, 24  # pixels
EM = 6.4                                    # pixels of a small letter


def svg(title: str, spans: Sequence[Span]) -> str:
    """A row for each engine that has work; streams have colours, and time begins at 0."""
    engines = [engine for engine in ENGINES if any(span.engine == engine for span in spans)]
    streams = sorted({span.stream for span in spans})
    end = max((span.end for span in spans), default=0.0) or 1.0
    scale, unit = next(((size, name) for size, name in ((1, "s"), (1e3, "ms")) if end * size >= 1), (1e6, "us"))
    canvas, room = Canvas(WIDTH, title, "Work of each engine over time."), WIDTH - LABEL - RIGHT
    canvas.text(MARGIN, 28, title, "title")
    bottom = 48 + len(engines) * ROW
    for tick in range(5):
        x = LABEL + tick / 4 * room
        canvas.line(x, 42, x, bottom, "grid")
        canvas.text(x, bottom + 16, f"{tick / 4 * end * scale:.3g} {unit}", "soft small", "middle")
    for row, engine in enumerate(engines):
        canvas.text(LABEL - 10, 48 + row * ROW + 18, engine, anchor="end")
    for span in spans:
        x, width = LABEL + span.start / end * room, (span.end - span.start) / end * room
        y = 48 + engines.index(span.engine) * ROW
        said = f"{span.label}, stream {span.stream}: {span.start * scale:.3g} to {span.end * scale:.3g} {unit}"
        canvas.rect(x, y, max(width, 1), ROW - 8, colour(streams.index(span.stream)), said)
        if width > len(span.label) * EM + 4:
            canvas.text(x + width / 2, y + 17, span.label, "small on", "middle")
    for number, stream in enumerate(streams):
        canvas.rect(LABEL + number * 110, bottom + 26, 12, 12, colour(number))
        canvas.text(LABEL + number * 110 + 18, bottom + 36, f"stream {stream}", "soft small")
    return canvas.finish(bottom + 52)
