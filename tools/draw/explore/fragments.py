"""Fragments of mma.m16n8k16: which lane of a warp holds which element of its three matrices."""

from collections.abc import Callable

from tools.draw.explore.page import ROOM, TOP, page
from tools.draw.svg import MARGIN, Canvas, colour

CELL = 17  # pixels of an element
Place = tuple[int, int]  # a lane, and the number of an element among those that it holds


def fragments(lane: int) -> str:
    """a (16 x 16), b (16 x 8) and the sum (16 x 8), with the elements of `lane` in colour and the others' lanes."""
    matrices = {"a": (16, of_a), "b": (8, of_b), "sum": (8, of_sum)}
    canvas = page(
        f"mma.m16n8k16: what lane {lane} holds",
        "8 elements of a, 4 of b and 4 of the sum; the cells say the lane, and those in colour the number",
    )
    left: float = MARGIN
    gap = (ROOM - CELL * sum(cols for cols, _ in matrices.values())) / (len(matrices) - 1)
    for name, (cols, held_by) in matrices.items():
        canvas.text(left, TOP + 12, f"{name}: 16 x {cols}", "soft")
        _matrix(canvas, left, name, cols, held_by, lane)
        left += CELL * cols + gap
    return canvas.finish(TOP + 22 + 16 * CELL)


def of_a(row: int, col: int) -> Place:
    return row % 8 * 4 + col % 8 // 2, col % 2 + 2 * (row // 8) + 4 * (col // 8)


def of_b(row: int, col: int) -> Place:
    """Neighbours along k are held together: they are below each other."""
    return col * 4 + row % 8 // 2, row % 2 + 2 * (row // 8)


def of_sum(row: int, col: int) -> Place:
    return row % 8 * 4 + col // 2, col % 2 + 2 * (row // 8)


def _matrix(canvas: Canvas, left: float, name: str, cols: int, held_by: Callable[[int, int], Place], lane: int) -> None:
    for row in range(16):
        for col in range(cols):
            holder, number = held_by(row, col)
            x, y = left + col * CELL, TOP + 22 + row * CELL
            mine = holder == lane
            tip = f"{name}[{row}, {col}]: lane {holder}, number {number}"
            canvas.rect(x, y, CELL - 1, CELL - 1, colour(number // 2) if mine else "empty", tip)
            canvas.text(x + CELL / 2, y + CELL - 6, str(number if mine else holder), "on" if mine else "soft", "middle")
