"""Small pictures of the machine to play with: each is a function of a few numbers and returns an SVG.

They show the models of tools/models, not a kernel: what belongs to whom, and what that costs.
"""

import numpy as np

from tools.draw.svg import MARGIN, Canvas, colour
from tools.models import banks as bank_model
from tools.models import sectors as sector_model
from tools.models.tiles import Tiles, matmul_traffic
from tools.models.warps import WARP, warp_and_lane, warps_in
from tools.models.waves import Waves

WIDTH = 640
SECTOR, BANKS = 32, 32  # bytes; how many
TOP = 64  # below the two lines of text
# Name, what one has room for in bytes, clocks that a load waits: sizes of an H200, latencies as published for the H100,
# which has the same multiprocessors (the table of week 1, day 5).
LEVELS = (("L1 of a multiprocessor", 256 << 10, 40), ("L2", 60 << 20, 260), ("device memory", 141 * 10**9, 480))
LOADS = 64
M, N, K = 40, 24, 32  # of the product in pieces


def programs(n: int, block: int) -> str:
    """Which program handles which of n elements, `block` at a time; what the mask leaves out is empty."""
    count = -(-n // block)
    canvas = _canvas(f"n = {n}, BLOCK = {block}", f"{_of(count, 'program')}; the mask leaves out "
                     f"{_of(count * block - n, 'position')} of the last one")
    across, size = _fitting(block, 16 if block < 32 else 32)
    for position in range(count * block):
        program, row, col = position // block, *divmod(position, across)
        exists = position < n
        canvas.rect(MARGIN + col * size, TOP + row * size, size - 2, size - 2, colour(program) if exists else "empty",
                    f"element {position}: program {program}{'' if exists else ', masked'}")
        if size >= 18:
            canvas.text(MARGIN + col * size + size / 2 - 1, TOP + row * size + size / 2 + 3, str(position),
                        "small on" if exists else "small soft", "middle")
    rows = -(-count * block // across)
    return canvas.finish(TOP + rows * size + MARGIN)


def tiles(m: int, n: int, tile_m: int, tile_n: int) -> str:
    """The tiles of an m x n matrix, each with its program, and how much of each exists."""
    cut = Tiles(m, n, tile_m, tile_n)
    down, across = cut.grid
    empty = down * tile_m * across * tile_n - m * n
    canvas = _canvas(f"{m} x {n} in tiles of {tile_m} x {tile_n}", f"{_of(cut.count, 'program')}; the masks leave out "
                     f"{_of(empty, 'place')} of {down * tile_m * across * tile_n}")
    scale = min((WIDTH - 2 * MARGIN) / (across * tile_n), 400 / (down * tile_m), 12)
    for program in range(cut.count):
        row, col = cut.tile_of(program)
        x, y = MARGIN + col * tile_n * scale, TOP + row * tile_m * scale
        rows, cols = cut.extent(row, col)
        height, width = rows.stop - rows.start, cols.stop - cols.start
        canvas.rect(x, y, tile_n * scale, tile_m * scale, "empty")
        canvas.rect(x, y, width * scale, height * scale, colour(program),
                    f"program {program}: {height} of {tile_m} rows, {width} of {tile_n} columns")
        canvas.rect(x, y, tile_n * scale, tile_m * scale, "frame")
        canvas.text(x + width * scale / 2, y + height * scale / 2 + 4, str(program), "small on", "middle")
    return canvas.finish(TOP + down * tile_m * scale + MARGIN)


def warps(x: int, y: int) -> str:
    """The threads of a block of x by y, by warp; in each row y, x counts to the right."""
    count = warps_in(x * y)
    empty = count * WARP - x * y
    canvas = _canvas(f"a block of {x} x {y} threads",
                     f"{_of(count, 'warp')}; {_of(empty, 'lane')} of the last one without a thread")
    size = min((WIDTH - 2 * MARGIN) / x, 32)
    for row in range(y):
        for col in range(x):
            warp, lane = warp_and_lane((col, row, 0), (x, y, 1))
            left, top = MARGIN + col * size, TOP + row * size
            canvas.rect(left, top, size - 1, size - 1, colour(warp), f"thread ({col}, {row}): warp {warp}, lane {lane}")
            if size >= 18:
                canvas.text(left + size / 2, top + size / 2 + 3, str(lane), "small on", "middle")
    return canvas.finish(TOP + y * size + MARGIN)


def sectors(stride: int, offset: int = 0, itemsize: int = 4) -> str:
    """Which sectors a warp asks for, when lane i reads element offset + i * stride."""
    elements = offset + stride * np.arange(WARP)
    touched = int(sector_model.sectors(elements * itemsize, itemsize))
    wanted = set(elements.tolist())
    canvas = _canvas(f"lane i reads element {offset} + i * {stride}, {itemsize} bytes each",
                     f"{_of(touched, 'sector')} of 32 bytes: {len(wanted) * itemsize} of {touched * SECTOR} bytes "
                     "are wanted")
    inside = SECTOR // itemsize  # elements of a sector
    across, width = 4, (WIDTH - 2 * MARGIN) / 4
    cell = (width - 10) / inside
    shown = sorted({element // inside for element in wanted})
    for place, sector in enumerate(shown):
        row, col = divmod(place, across)
        left, top = MARGIN + col * width, TOP + row * 34
        for number in range(inside):
            element = sector * inside + number
            lanes = np.flatnonzero(elements == element)
            tip = f"element {element}" + (f": {_of(len(lanes), 'lane')}" if len(lanes) else ", not wanted")
            canvas.rect(left + number * cell, top, cell - 1, 20, colour(0) if len(lanes) else "empty", tip)
        canvas.rect(left - 1, top - 1, width - 8, 22, "frame")
    rows = -(-len(shown) // across)
    return canvas.finish(TOP + rows * 34 + MARGIN)


def banks(stride: int) -> str:
    """Which banks a warp asks, when lane i reads element i * stride of 4 bytes in shared memory."""
    words = stride * np.arange(WARP)
    total = int(bank_model.wavefronts(words * 4, 4))
    canvas = _canvas(f"lane i reads element i * {stride} of shared memory",
                     f"{_of(total, 'wavefront')}: a bank serves one element in each")
    size = (WIDTH - 2 * MARGIN) / BANKS
    asked = [sorted({int(word) for word in words if word % BANKS == bank}) for bank in range(BANKS)]
    height = max(map(len, asked))
    for bank, elements in enumerate(asked):
        left = MARGIN + bank * size
        for level in range(height):
            element = elements[level] if level < len(elements) else None
            kind, tip = ("empty", "") if element is None else (
                colour(level), f"bank {bank}: element {element}, lanes {_lanes(words, element)}")
            canvas.rect(left, TOP + level * 14, size - 2, 12, kind, tip)
        canvas.text(left + size / 2 - 1, TOP + height * 14 + 12, str(bank), "tiny soft", "middle")
    return canvas.finish(TOP + height * 14 + 20 + MARGIN)


def view(rows: int, cols: int, row_stride: int, col_stride: int) -> str:
    """A view of memory: element [row, col] lies at row * row_stride + col * col_stride."""
    places = {(r, c): r * row_stride + c * col_stride for r in range(rows) for c in range(cols)}
    last, distinct = max(places.values()), len(set(places.values()))
    canvas = _canvas(f"shape ({rows}, {cols}), strides ({row_stride}, {col_stride})",
                     f"{_of(len(places), 'element')} in {_of(distinct, 'place')} of memory, 0 to {last}")
    size = 32
    for (row, col), place in places.items():
        left, top = MARGIN + col * size, TOP + row * size
        canvas.rect(left, top, size - 2, size - 2, colour(row), f"[{row}, {col}] lies at {place}")
        canvas.text(left + size / 2 - 1, top + size / 2 + 4, str(place), "small on", "middle")
    below = TOP + rows * size + 28
    canvas.text(MARGIN, below - 8, "memory", "soft")
    across = int((WIDTH - 2 * MARGIN) / size)
    owners = {place: row for (row, _), place in reversed(places.items())}
    for place in range(last + 1):
        line, col = divmod(place, across)
        left, top = MARGIN + col * size, below + line * size
        kind, word = (colour(owners[place]), "small on") if place in owners else ("empty", "small soft")
        canvas.rect(left, top, size - 2, size - 2, kind)
        canvas.text(left + size / 2 - 1, top + size / 2 + 4, str(place), word, "middle")
    return canvas.finish(below + (last // across + 1) * size + MARGIN)


def waves(blocks: int, sms: int, per_sm: int) -> str:
    """The rounds of a grid on `sms` multiprocessors that hold per_sm blocks each, when all blocks take the same time.

    Blocks are dealt out in turn here; which multiprocessor takes which is not documented.
    """
    grid = Waves(blocks, sms * per_sm)
    canvas = _canvas(f"{_of(blocks, 'block')} on {_of(sms, 'SM')}, {per_sm} on each at a time",
                     f"{_of(grid.count, 'wave')}; blocks have {blocks} of {grid.count * grid.slots} places: "
                     f"{grid.efficiency:.0%}")
    width = (WIDTH - 2 * MARGIN) / sms
    size = min((width - 8) / per_sm, 30)
    for place in range(grid.count * grid.slots):
        wave, slot = divmod(place, grid.slots)
        level, sm = divmod(slot, sms)
        left, top = MARGIN + sm * width + level * size, TOP + wave * 26
        tip = f"block {place}: wave {wave}, SM {sm}" if place < blocks else ""
        canvas.rect(left, top, size - 2, 20, colour(wave) if tip else "empty", tip)
        if tip and size >= 16:
            canvas.text(left + size / 2 - 1, top + 14, str(place), "small on", "middle")
    for sm in range(sms):
        canvas.rect(MARGIN + sm * width - 3, TOP - 4, per_sm * size + 4, grid.count * 26 + 2, "frame")
        canvas.text(MARGIN + sm * width, TOP + grid.count * 26 + 12, f"SM {sm}", "small soft")
    return canvas.finish(TOP + grid.count * 26 + 20 + MARGIN)


def memory(kib: int, at_once: int) -> str:
    """Which level answers loads from so many KiB that are read again and again, and how long some of them take."""
    level = next(number for number, (_, size, _) in enumerate(LEVELS) if kib << 10 <= size)
    name, _, clocks = LEVELS[level]
    waits = -(-LOADS // at_once)
    canvas = _canvas(f"{kib} KiB, read again and again: answered by {name}",
                     f"{LOADS} loads, {at_once} under way at a time: {_of(waits, 'wait')} of {clocks} clocks, "
                     f"{waits * clocks} in all")
    scale = (WIDTH - 2 * MARGIN - 260) / LEVELS[-1][2]
    for number, (other, size, wait) in enumerate(LEVELS):
        top = TOP + number * 30
        canvas.text(MARGIN, top + 15, other, "strong" if number == level else "soft")
        canvas.rect(MARGIN + 170, top, wait * scale, 20, colour(number) if number == level else "shared",
                    f"{other}: {size} bytes, {wait} clocks")
        canvas.text(MARGIN + 178 + wait * scale, top + 15, f"{wait} clocks", "soft")
    top = TOP + len(LEVELS) * 30 + 30
    canvas.text(MARGIN, top - 8, f"{LOADS} loads; the whole width is one at a time from device memory", "soft")
    width = (WIDTH - 2 * MARGIN) * clocks / (LEVELS[-1][2] * LOADS)
    for wait in range(waits):
        canvas.rect(MARGIN + wait * width, top, width - (width > 3), 20, colour(level), f"wait {wait}")
    return canvas.finish(top + 20 + MARGIN)


def tiled_matmul(row: int, col: int, p: int, tile: int) -> str:
    """Where the product a[row, p] * b[p, col] is made when out is computed in tiles: by whom, when, from what."""
    cut = Tiles(M, N, tile, tile)
    down, across, step = row // tile, col // tile, p // tile
    loaded, alone = (traffic.a + traffic.b for traffic in (matmul_traffic(M, N, K, tile, tile),
                                                           matmul_traffic(M, N, K, 1, 1)))
    canvas = _canvas(f"a[{row}, {p}] * b[{p}, {col}], a part of out[{row}, {col}]",
                     f"program {down * cut.grid[1] + across} of {cut.count}, step {step} of {-(-K // tile)}; all programs "
                     f"load {loaded} elements ({alone} in tiles of 1 x 1)")
    unit, gap = 6, 26
    left, top = MARGIN + K * unit + gap, TOP + 16 + K * unit + gap  # of out; a is left of it, b above
    rows, cols = cut.extent(down, across)
    ks = slice(step * tile, min((step + 1) * tile, K))
    for name, x, y, size, strip, piece, one in (
            ("a", MARGIN, top, (M, K), (rows, slice(0, K)), (rows, ks), (row, p)),
            ("b", left, TOP + 16, (K, N), (slice(0, K), cols), (ks, cols), (p, col)),
            ("out", left, top, (M, N), (rows, cols), (rows, cols), (row, col))):
        whole = slice(0, size[0]), slice(0, size[1])
        canvas.text(x, y - 6, f"{name}, {size[0]} x {size[1]}", "soft")
        for (r, c), kind in ((whole, "empty"), (strip, "shared"), (piece, colour(1 if name == "out" else 0))):
            tip = f"{name}[{r.start}:{r.stop}, {c.start}:{c.stop}]"
            canvas.rect(x + c.start * unit, y + r.start * unit, (c.stop - c.start) * unit, (r.stop - r.start) * unit,
                        kind, tip)
        for line in range(0, size[0], tile):
            canvas.line(x, y + line * unit, x + size[1] * unit, y + line * unit, "grid")
        for line in range(0, size[1], tile):
            canvas.line(x + line * unit, y, x + line * unit, y + size[0] * unit, "grid")
        canvas.rect(x + one[1] * unit, y + one[0] * unit, unit, unit, "mark")
    return canvas.finish(top + M * unit + MARGIN)


def _canvas(title: str, words: str) -> Canvas:
    canvas = Canvas(WIDTH, title, words)
    canvas.text(MARGIN, 26, title, "strong")
    canvas.text(MARGIN, 48, words, "soft")
    return canvas


def _fitting(block: int, most: int) -> tuple[int, float]:
    """How many elements stand in a line, so that blocks end where lines end, and how wide one is."""
    across = max(block, most // block * block)
    return across, min((WIDTH - 2 * MARGIN) / across, 34)


def _of(number: int, noun: str) -> str:
    if number == 0:
        return f"no {noun}"
    return f"{number} {noun}{'s' * (number != 1)}"


def _lanes(words: np.ndarray, element: int) -> str:
    return ", ".join(map(str, np.flatnonzero(words == element)))
