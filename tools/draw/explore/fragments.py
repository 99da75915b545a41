"""Fragments of mma, 16 x 8 x 32 bytes: which lane of a warp holds which element of its three matrices.

Source: PTX ISA, "Matrix Fragments for mma.m16n8k16" (two elements in a register) and "mma.m16n8k8" with .tf32 (one).
"""

from collections.abc import Callable

from tools.draw.explore.page import ROOM, TOP, page
from tools.draw.svg import MARGIN, Canvas, colour

CELL = 17  # pixels of an element
Place = tuple[int, int]  # a lane, and the number of an element among those that it holds


def fragments(lane: int, size: int = 2) -> str:
    """a (16 x k), b (k x 8) and the sum (16 x 8) of factors of `size` bytes, 2 or 4, where k = 32 / size.

    The elements of `lane` stand in colour with their numbers; on the others stands the lane that holds them.
    """
    k = 32 // size
    held = 4 // size  # elements of a factor in a register
    matrices = {
        "a": (16, k, lambda row, col: of_a(row, col, held)),
        "b": (k, 8, lambda row, col: of_b(row, col, held)),
        "sum": (16, 8, of_sum),
    }
    canvas = page(
        f"mma.m16n8k{k}: what lane {lane} holds",
        f"{k // 2} elements of a, {k // 4} of b, 4 of the sum; the cells say the lane, those in colour the number",
    )
    left: float = MARGIN
    gap = (ROOM - CELL * (k + 8 + 8)) / (len(matrices) - 1)
    for name, (rows, cols, held_by) in matrices.items():
        canvas.text(left, TOP + 12, f"{name}: {rows} x {cols}", "soft")
        _matrix(canvas, left, name, rows, cols, held_by, lane)
        left += CELL * cols + gap
    return canvas.finish(TOP + 22 + 16 * CELL)


def of_a(row: int, col: int, held: int) -> Place:
    reach = 4 * held  # columns of the registers of four lanes
    return row % 8 * 4 + col % reach // held, col % held + held * (row // 8) + 2 * held * (col // reach)


def of_b(row: int, col: int, held: int) -> Place:
    """Neighbours along k are held together: they are below each other."""
    reach = 4 * held
    return col * 4 + row % reach // held, row % held + held * (row // reach)


def of_sum(row: int, col: int) -> Place:
    return row % 8 * 4 + col // 2, col % 2 + 2 * (row // 8)


def _matrix(
    canvas: Canvas, left: float, name: str, rows: int, cols: int, held_by: Callable[[int, int], Place], lane: int
) -> None:
    for row in range(rows):
        for col in range(cols):
            holder, number = held_by(row, col)
            x, y = left + col * CELL, TOP + 22 + row * CELL
            mine = holder == lane
            tip = f"{name}[{row}, {col}]: lane {holder}, number {number}"
            canvas.rect(x, y, CELL - 1, CELL - 1, colour(number // 2) if mine else "empty", tip)
            canvas.text(x + CELL / 2, y + CELL - 6, str(number if mine else holder), "on" if mine else "soft", "middle")
