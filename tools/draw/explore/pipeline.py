"""Tiles that are loaded into a ring of slots while earlier ones are computed with."""

from tools.draw.explore.page import ROOM, TOP, of, page
from tools.draw.svg import MARGIN, colour
from tools.models.pipeline import Pipeline

LABEL, HEIGHT = 46, 26  # pixels: of "slot 3", and from one slot to the next


def pipeline(load: int, compute: int, tiles: int, stages: int) -> str:
    """When each of so many tiles is loaded and computed with, slot by slot; loads do not slow each other down."""
    model = Pipeline(load, compute, stages)
    steps, total = model.steps(tiles), model.makespan(tiles)
    busy = f"{tiles * compute / total:.0%}" if total else "none"
    canvas = page(
        f"{of(tiles, 'tile')}, {of(load, 'clock')} to load and {compute} to compute with; {of(stages, 'slot')}",
        f"{of(int(total), 'clock')}; in {busy} of them a tile is computed with",
    )
    scale = (ROOM - LABEL) / max(total, 1)
    for slot in range(stages):
        canvas.text(MARGIN, TOP + slot * HEIGHT + 15, f"slot {slot}", "small soft")
    for tile, step in enumerate(steps):
        parts = (
            ("is loaded", step.load_start, step.load_end, "shared"),
            ("waits", step.load_end, step.compute_start, "empty"),
            ("is computed with", step.compute_start, step.compute_end, colour(tile)),
        )
        for what, start, end, kind in parts:
            if start == end:
                continue
            left, top = MARGIN + LABEL + start * scale, TOP + step.slot * HEIGHT
            canvas.rect(left, top, (end - start) * scale - 1, 20, kind, f"tile {tile} {what}: {start:g} to {end:g}")
            if kind == colour(tile) and (end - start) * scale >= 16:
                canvas.text(left + (end - start) * scale / 2, top + 14, str(tile), "small on", "middle")
    bottom = TOP + stages * HEIGHT + 12
    canvas.text(MARGIN + LABEL, bottom, "grey: loaded; pale: waits; coloured: computed with", "small soft")
    return canvas.finish(bottom + MARGIN)
