"""What is resident on one multiprocessor: its places for warps, block by block, and what keeps more blocks out."""

from tools.draw.svg import MARGIN, Canvas, colour
from tools.draw.words import several
from tools.models.occupancy import Occupancy

WIDTH, SIDE, GAP, ROW = 560, 22, 4, 16  # pixels; warps in a row of the picture


def terminal(room: Occupancy) -> str:
    """A letter for each warp of a block, a dot for each place that stays empty; 16 in a line."""
    signs = "".join(chr(ord("A") + number // _of_block(room) % 26) for number in range(room.warps))
    signs = signs.ljust(room.of_warps, ".")
    return "\n".join([_said(room), *(signs[start:start + ROW] for start in range(0, len(signs), ROW))])


def svg(title: str, room: Occupancy) -> str:
    """A square for each place; warps of one block have one colour."""
    canvas = Canvas(WIDTH, title, _said(room))
    canvas.text(MARGIN, 28, title, "title")
    canvas.text(MARGIN, 48, _said(room), "soft")
    for place in range(room.of_warps):
        down, across = divmod(place, ROW)
        x, y = MARGIN + across * (SIDE + GAP), 62 + down * (SIDE + GAP)
        block = place // _of_block(room)
        taken = place < room.warps
        canvas.rect(x, y, SIDE, SIDE, colour(block) if taken else "empty", f"block {block}" if taken else "empty")
    return canvas.finish(62 + -(-room.of_warps // ROW) * (SIDE + GAP) + 12)


def _of_block(room: Occupancy) -> int:
    """Warps of a block."""
    return max(1, room.warps // room.blocks) if room.blocks else 1


def _said(room: Occupancy) -> str:
    """2 blocks, 16 of 64 warps (25 %); limited by registers"""
    return (f"{several(room.blocks, 'block')}, {room.warps} of {room.of_warps} warps ({room.fraction:.0%}); "
            f"limited by {room.limiter}")
