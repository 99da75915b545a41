"""One product of a tiled matrix multiplication: by whom, when, from what."""

from tools.draw.explore.page import TOP, page
from tools.draw.svg import MARGIN, colour
from tools.models.tiles import Tiles, matmul_traffic

M, N, K = 40, 24, 32  # of the product in pieces


def tiled_matmul(row: int, col: int, p: int, tile: int) -> str:
    """Where the product a[row, p] * b[p, col] is made when out is computed in tiles: by whom, when, from what."""
    cut = Tiles(M, N, tile, tile)
    down, across, step = row // tile, col // tile, p // tile
    loaded, alone = (
        traffic.a + traffic.b for traffic in (matmul_traffic(M, N, K, tile, tile), matmul_traffic(M, N, K, 1, 1))
    )
    canvas = page(
        f"a[{row}, {p}] * b[{p}, {col}], a part of out[{row}, {col}]",
        f"program {down * cut.grid[1] + across} of {cut.count}, step {step} of {-(-K // tile)}; all programs "
        f"load {loaded} elements ({alone} in tiles of 1 x 1)",
    )
    unit, gap = 6, 26
    left, top = MARGIN + K * unit + gap, TOP + 16 + K * unit + gap  # of out; a is left of it, b above
    rows, cols = cut.extent(down, across)
    ks = slice(step * tile, min((step + 1) * tile, K))
    for name, x, y, size, strip, piece, one in (
        ("a", MARGIN, top, (M, K), (rows, slice(0, K)), (rows, ks), (row, p)),
        ("b", left, TOP + 16, (K, N), (slice(0, K), cols), (ks, cols), (p, col)),
        ("out", left, top, (M, N), (rows, cols), (rows, cols), (row, col)),
    ):
        whole = slice(0, size[0]), slice(0, size[1])
        canvas.text(x, y - 6, f"{name}, {size[0]} x {size[1]}", "soft")
        for (r, c), kind in ((whole, "empty"), (strip, "shared"), (piece, colour(1 if name == "out" else 0))):
            tip = f"{name}[{r.start}:{r.stop}, {c.start}:{c.stop}]"
            canvas.rect(
                x + c.start * unit, y + r.start * unit, (c.stop - c.start) * unit, (r.stop - r.start) * unit, kind, tip
            )
        for line in range(0, size[0], tile):
            canvas.line(x, y + line * unit, x + size[1] * unit, y + line * unit, "grid")
        for line in range(0, size[1], tile):
            canvas.line(x + line * unit, y, x + line * unit, y + size[0] * unit, "grid")
        canvas.rect(x + one[1] * unit, y + one[0] * unit, unit, unit, "mark")
    return canvas.finish(top + M * unit + MARGIN)
