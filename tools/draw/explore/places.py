"""Places of memory and what is asked of them at once: views, sectors, banks, and the levels of memory."""

import numpy as np

from tools.draw.explore.page import ROOM, TOP, of, page
from tools.draw.svg import MARGIN, colour
from tools.models import banks as bank_model
from tools.models import sectors as sector_model
from tools.models.units import BANKS, SECTOR, WARP

# Name, what one has room for in bytes, clocks that a load waits: sizes of an H200, latencies as published for the H100,
# which has the same multiprocessors (the table of week 1, day 5).
LEVELS = (("L1 of a multiprocessor", 256 << 10, 40), ("L2", 60 << 20, 260), ("device memory", 141 * 10**9, 480))
LOADS = 64


def view(rows: int, cols: int, row_stride: int, col_stride: int) -> str:
    """A view of memory: element [row, col] lies at row * row_stride + col * col_stride."""
    places = {(r, c): r * row_stride + c * col_stride for r in range(rows) for c in range(cols)}
    last, distinct = max(places.values()), len(set(places.values()))
    canvas = page(
        f"shape ({rows}, {cols}), strides ({row_stride}, {col_stride})",
        f"{of(len(places), 'element')} in {of(distinct, 'place')} of memory, 0 to {last}",
    )
    size = 32
    for (row, col), place in places.items():
        left, top = MARGIN + col * size, TOP + row * size
        canvas.rect(left, top, size - 2, size - 2, colour(row), f"[{row}, {col}] lies at {place}")
        canvas.text(left + size / 2 - 1, top + size / 2 + 4, str(place), "small on", "middle")
    below = TOP + rows * size + 28
    canvas.text(MARGIN, below - 8, "memory", "soft")
    across = int(ROOM / size)
    owners = {place: row for (row, _), place in reversed(places.items())}
    for place in range(last + 1):
        line, col = divmod(place, across)
        left, top = MARGIN + col * size, below + line * size
        kind, word = (colour(owners[place]), "small on") if place in owners else ("empty", "small soft")
        canvas.rect(left, top, size - 2, size - 2, kind)
        canvas.text(left + size / 2 - 1, top + size / 2 + 4, str(place), word, "middle")
    return canvas.finish(below + (last // across + 1) * size + MARGIN)


def sectors(stride: int, offset: int = 0, itemsize: int = 4) -> str:
    """Which sectors a warp asks for, when lane i reads element offset + i * stride."""
    elements = offset + stride * np.arange(WARP)
    touched = int(sector_model.sectors(elements * itemsize, itemsize))
    wanted = set(elements.tolist())
    canvas = page(
        f"lane i reads element {offset} + i * {stride}, {itemsize} bytes each",
        f"{of(touched, 'sector')} of 32 bytes: {len(wanted) * itemsize} of {touched * SECTOR} bytes are wanted",
    )
    inside = SECTOR // itemsize  # elements of a sector
    across, width = 4, ROOM / 4
    cell = (width - 10) / inside
    shown = sorted({element // inside for element in wanted})
    for place, sector in enumerate(shown):
        row, col = divmod(place, across)
        left, top = MARGIN + col * width, TOP + row * 34
        for number in range(inside):
            element = sector * inside + number
            lanes = np.flatnonzero(elements == element)
            tip = f"element {element}" + (f": {of(len(lanes), 'lane')}" if len(lanes) else ", not wanted")
            canvas.rect(left + number * cell, top, cell - 1, 20, colour(0) if len(lanes) else "empty", tip)
        canvas.rect(left - 1, top - 1, width - 8, 22, "frame")
    rows = -(-len(shown) // across)
    return canvas.finish(TOP + rows * 34 + MARGIN)


def banks(stride: int) -> str:
    """Which banks a warp asks, when lane i reads element i * stride of 4 bytes in shared memory."""
    words = stride * np.arange(WARP)
    total = int(bank_model.wavefronts(words * 4, 4))
    canvas = page(
        f"lane i reads element i * {stride} of shared memory",
        f"{of(total, 'wavefront')}: a bank serves one element in each",
    )
    size = ROOM / BANKS
    asked = [sorted({int(word) for word in words if word % BANKS == bank}) for bank in range(BANKS)]
    height = max(map(len, asked))
    for bank, elements in enumerate(asked):
        left = MARGIN + bank * size
        for level in range(height):
            element = elements[level] if level < len(elements) else None
            kind, tip = (
                ("empty", "")
                if element is None
                else (colour(level), f"bank {bank}: element {element}, lanes {_lanes(words, element)}")
            )
            canvas.rect(left, TOP + level * 14, size - 2, 12, kind, tip)
        canvas.text(left + size / 2 - 1, TOP + height * 14 + 12, str(bank), "tiny soft", "middle")
    return canvas.finish(TOP + height * 14 + 20 + MARGIN)


def tile_in_banks(padding: int, swizzled: bool, read: str, at: int) -> str:
    """A tile of 32 rows of 32 float32, `padding` more to a row, as the banks hold it; a warp reads a part of it.

    read: "row" or "column", number `at`; or "diagonal", from column `at` of row 0 on. swizzled: element [row, col] is
    kept in column col ^ row.
    """
    lanes = range(WARP)
    wanted = {
        "row": [(at, lane) for lane in lanes],
        "column": [(lane, at) for lane in lanes],
        "diagonal": [(lane, (at + lane) % WARP) for lane in lanes],
    }[read]
    length = WARP + padding
    places = [row * length + (col ^ row if swizzled else col) for row, col in wanted]
    total = int(bank_model.wavefronts(4 * np.array(places), 4))
    part = f"the diagonal from column {at} on" if read == "diagonal" else f"{read} {at}"
    canvas = page(
        f"a warp reads {part} of a tile with rows of {length}{', swizzled' if swizzled else ''}",
        f"{of(total, 'wavefront')}; the tile takes {4 * WARP * length} bytes of shared memory",
    )
    asked = [sorted(place for place in places if place % BANKS == bank) for bank in range(BANKS)]
    width, height = ROOM / BANKS, 400 / length
    for place in range(WARP * length):
        line, bank = divmod(place, BANKS)
        row, col = divmod(place, length)
        box = MARGIN + bank * width, TOP + line * height, width - 2, height - 1
        if place in places:
            lane = places.index(place)
            tip = f"lane {lane}: element [{row}, {wanted[lane][1]}] in bank {bank}"
            canvas.rect(*box, colour(asked[bank].index(place)), tip)
        else:
            canvas.rect(*box, "shared" if col < WARP else "empty")
    for bank in range(BANKS):
        left = MARGIN + bank * width + width / 2 - 1
        canvas.text(left, TOP + length * height + 12, str(bank), "tiny soft", "middle")
    return canvas.finish(TOP + length * height + 20 + MARGIN)


def memory(kib: int, at_once: int) -> str:
    """Which level answers loads from so many KiB that are read again and again, and how long some of them take."""
    level = next(number for number, (_, size, _) in enumerate(LEVELS) if kib << 10 <= size)
    name, _, clocks = LEVELS[level]
    waits = -(-LOADS // at_once)
    canvas = page(
        f"{kib} KiB, read again and again: answered by {name}",
        f"{LOADS} loads, {at_once} under way at a time: {of(waits, 'wait')} of {clocks} clocks, "
        f"{waits * clocks} in all",
    )
    scale = (ROOM - 260) / LEVELS[-1][2]
    for number, (other, size, wait) in enumerate(LEVELS):
        top = TOP + number * 30
        canvas.text(MARGIN, top + 15, other, "strong" if number == level else "soft")
        canvas.rect(
            MARGIN + 170,
            top,
            wait * scale,
            20,
            colour(number) if number == level else "shared",
            f"{other}: {size} bytes, {wait} clocks",
        )
        canvas.text(MARGIN + 178 + wait * scale, top + 15, f"{wait} clocks", "soft")
    top = TOP + len(LEVELS) * 30 + 30
    canvas.text(MARGIN, top - 8, f"{LOADS} loads; the whole width is one at a time from device memory", "soft")
    width = ROOM * clocks / (LEVELS[-1][2] * LOADS)
    for wait in range(waits):
        canvas.rect(MARGIN + wait * width, top, width - (width > 3), 20, colour(level), f"wait {wait}")
    return canvas.finish(top + 20 + MARGIN)


def _lanes(words: np.ndarray, element: int) -> str:
    return ", ".join(map(str, np.flatnonzero(words == element)))
