"""Work and who does it: programs, tiles, warps and waves."""

import numpy as np

from tools.draw.explore.page import ROOM, TOP, of, page
from tools.draw.svg import MARGIN, colour
from tools.models.tiles import Tiles
from tools.models.units import WARP
from tools.models.warps import divergent, in_warps, warp_and_lane, warps_in
from tools.models.waves import Waves


def programs(n: int, block: int) -> str:
    """Which program handles which of n elements, `block` at a time; what the mask leaves out is empty."""
    count = -(-n // block)
    canvas = page(
        f"n = {n}, BLOCK = {block}",
        f"{of(count, 'program')}; the mask leaves out {of(count * block - n, 'position')} of the last one",
    )
    across, size = _fitting(block, 16 if block < 32 else 32)
    for position in range(count * block):
        program, row, col = position // block, *divmod(position, across)
        exists = position < n
        canvas.rect(
            MARGIN + col * size,
            TOP + row * size,
            size - 2,
            size - 2,
            colour(program) if exists else "empty",
            f"element {position}: program {program}{'' if exists else ', masked'}",
        )
        if size >= 18:
            canvas.text(
                MARGIN + col * size + size / 2 - 1,
                TOP + row * size + size / 2 + 3,
                str(position),
                "small on" if exists else "small soft",
                "middle",
            )
    rows = -(-count * block // across)
    return canvas.finish(TOP + rows * size + MARGIN)


def tiles(m: int, n: int, tile_m: int, tile_n: int) -> str:
    """The tiles of an m x n matrix, each with its program, and how much of each exists."""
    cut = Tiles(m, n, tile_m, tile_n)
    down, across = cut.grid
    empty = down * tile_m * across * tile_n - m * n
    canvas = page(
        f"{m} x {n} in tiles of {tile_m} x {tile_n}",
        f"{of(cut.count, 'program')}; the masks leave out {of(empty, 'place')} of {down * tile_m * across * tile_n}",
    )
    scale = min(ROOM / (across * tile_n), 400 / (down * tile_m), 12)
    for program in range(cut.count):
        row, col = cut.tile_of(program)
        x, y = MARGIN + col * tile_n * scale, TOP + row * tile_m * scale
        rows, cols = cut.extent(row, col)
        height, width = rows.stop - rows.start, cols.stop - cols.start
        canvas.rect(x, y, tile_n * scale, tile_m * scale, "empty")
        canvas.rect(
            x,
            y,
            width * scale,
            height * scale,
            colour(program),
            f"program {program}: {height} of {tile_m} rows, {width} of {tile_n} columns",
        )
        canvas.rect(x, y, tile_n * scale, tile_m * scale, "frame")
        canvas.text(x + width * scale / 2, y + height * scale / 2 + 4, str(program), "small on", "middle")
    return canvas.finish(TOP + down * tile_m * scale + MARGIN)


def warps(x: int, y: int) -> str:
    """The threads of a block of x by y, by warp; in each row y, x counts to the right."""
    count = warps_in(x * y)
    empty = count * WARP - x * y
    canvas = page(
        f"a block of {x} x {y} threads", f"{of(count, 'warp')}; {of(empty, 'lane')} of the last one without a thread"
    )
    size = min(ROOM / x, 32)
    for row in range(y):
        for col in range(x):
            warp, lane = warp_and_lane((col, row, 0), (x, y, 1))
            left, top = MARGIN + col * size, TOP + row * size
            canvas.rect(left, top, size - 1, size - 1, colour(warp), f"thread ({col}, {row}): warp {warp}, lane {lane}")
            if size >= 18:
                canvas.text(left + size / 2, top + size / 2 + 3, str(lane), "small on", "middle")
    return canvas.finish(TOP + y * size + MARGIN)


def branches(threads: int, alike: int) -> str:
    """How the warps of a block go through an if and its else, when `alike` neighbours in turn decide the same.

    Thread t takes the branch if t // alike is even. A warp whose lanes differ goes both ways, one after the other.
    """
    taken, exists = in_warps(np.arange(threads) // alike % 2 == 0)
    split = int(divergent(taken, exists).sum())
    sides = {"if": taken & exists, "else": ~taken & exists}
    ways = [(warp, name, side[warp]) for warp in range(len(taken)) for name, side in sides.items() if side[warp].any()]
    working = sum(int(lanes.sum()) for _, _, lanes in ways) / (WARP * len(ways))
    canvas = page(
        f"{threads} threads; thread t takes the if where t // {alike} is even",
        f"{of(len(taken), 'warp')}, {split} of them divergent: {of(len(ways), 'pass', 'passes')} of "
        f"32 lanes, {working:.0%} of which work",
    )
    width, left = (ROOM - 90) / WARP, MARGIN + 90
    for line, (warp, name, lanes) in enumerate(ways):
        top = TOP + line * 26
        canvas.text(MARGIN, top + 14, f"warp {warp}, {name}", "soft")
        for lane in range(WARP):
            kind = colour(warp) if lanes[lane] else "empty"
            canvas.rect(
                left + lane * width,
                top,
                width - 2,
                20,
                kind,
                f"thread {warp * WARP + lane}: {name}" if lanes[lane] else "",
            )
    return canvas.finish(TOP + len(ways) * 26 + MARGIN)


def waves(blocks: int, sms: int, per_sm: int) -> str:
    """The rounds of a grid on `sms` multiprocessors that hold per_sm blocks each, when all blocks take the same time.

    Blocks are dealt out in turn here; which multiprocessor takes which is not documented.
    """
    grid = Waves(blocks, sms * per_sm)
    canvas = page(
        f"{of(blocks, 'block')} on {of(sms, 'SM')}, {per_sm} on each at a time",
        f"{of(grid.count, 'wave')}; blocks have {blocks} of {grid.count * grid.slots} places: {grid.efficiency:.0%}",
    )
    width = ROOM / sms
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


def _fitting(block: int, most: int) -> tuple[int, float]:
    """How many elements stand in a line, so that blocks end where lines end, and how wide one is."""
    across = max(block, most // block * block)
    return across, min(ROOM / across, 34)
