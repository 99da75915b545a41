"""All scores of one head in tiles: which tiles a program multiplies, which a causal mask spares."""

from tools.draw.explore.page import ROOM, TOP, of, page
from tools.draw.svg import MARGIN, Canvas, colour

WHOLE, PARTLY, SKIPPED = "every score is seen", "some scores are hidden", "skipped"
GAP, HEAD = 54, 16  # pixels for the number of a program, left of its tiles; for a line above them


def tiled_attention(n_q: int, n_k: int, tile_m: int, tile_n: int, causal: bool) -> str:
    """A program for tile_m of n_q queries, each with its tiles of tile_n keys; causal: query i sees keys 0 to i."""
    ends = [min(n_k, n_q, first + tile_m) if causal else n_k for first in range(0, n_q, tile_m)]
    across = -(-n_k // tile_n)
    multiplied = sum(-(-end // tile_n) for end in ends)
    canvas = page(
        f"{n_q} queries, {n_k} keys, tiles of {tile_m} x {tile_n}{', causal' if causal else ''}",
        f"{multiplied} of {of(len(ends) * across, 'tile')} multiplied; {of(len(ends), 'program')} "
        f"{'loads' if len(ends) == 1 else 'load'} {of(sum(ends), 'key')} and as many values",
    )
    scale = min((ROOM - GAP) / n_k, 400 / n_q, 12)
    for program, end in enumerate(ends):
        first = program * tile_m
        last = min(first + tile_m, n_q)  # the first query that is not the program's
        top = TOP + HEAD + first * scale
        canvas.text(MARGIN, top + (last - first) * scale / 2 + 4, f"program {program}", "small soft")
        for start in range(0, n_k, tile_n):
            stop = min(start + tile_n, n_k)
            what = SKIPPED if start >= end else PARTLY if causal and stop - 1 > first else WHOLE
            kind = {SKIPPED: "empty", PARTLY: colour(1), WHOLE: colour(0)}[what]
            tip = f"queries {first} to {last - 1}, keys {start} to {stop - 1}: {what}"
            canvas.rect(
                MARGIN + GAP + start * scale, top, (stop - start) * scale - 1, (last - first) * scale - 1, kind, tip
            )
    _diagonal(canvas, min(n_q, n_k) if causal else 0, scale)
    canvas.text(
        MARGIN + GAP, TOP + 6, "keys, left to right; blue: all seen, yellow: some hidden, pale: skipped", "soft"
    )
    return canvas.finish(TOP + HEAD + n_q * scale + MARGIN)


def _diagonal(canvas: Canvas, length: int, scale: float) -> None:
    """What lies left of the steps is seen: of query i the keys 0 to i."""
    left, top = MARGIN + GAP, TOP + HEAD
    corners = [(left + (query + 1) * scale, top + (query + down) * scale) for query in range(length) for down in (0, 1)]
    if corners:
        canvas.curve(corners)
