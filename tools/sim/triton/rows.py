"""The row and column as which a kernel came to a place outside a matrix.

Its address alone tells the place behind a row's last element as the first one of the next row.
"""

import numpy as np

from tools.sim.triton.arguments import View


def indices(view: View, block: np.ndarray, outside: np.ndarray) -> np.ndarray | None:
    """Row and column of each place that is marked `outside`, [places, 2]; None where the kernel's own cannot be known.

    They can where the addresses of the block lie as those of a part of the matrix would, and the first one exists.
    """
    if block.ndim != 2 or view.tensor.dim() != 2 or not view.tensor.numel():
        return None
    if 1 in block.shape:  # a single line says nothing of the step that the kernel takes to the next one
        return None
    (rows, columns), (step, one) = view.tensor.shape, view.tensor.stride()
    places, outside = _in_lines(view, block, outside)
    row, column = divmod(int(places[0, 0]), max(step, 1))
    known = one == 1 and 1 < columns <= step and _lies_so(places, step) and 0 <= row < rows and column < columns
    return np.argwhere(outside) + (row, column) if known else None


def _in_lines(view: View, block: np.ndarray, marked: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The places of a block in elements from the start of the view, and which are marked; both transposed if that puts
    neighbours into lines."""
    places = (block.astype(np.int64) - view.low) // view.tensor.element_size()
    return (places.T, marked.T) if (np.diff(places, axis=1) != 1).any() else (places, marked)


def _lies_so(places: np.ndarray, step: int) -> bool:
    """Are neighbours in a line one element apart, and lines so many?"""
    return bool((np.diff(places, axis=1) == 1).all() and (np.diff(places, axis=0) == step).all())


def row_step(view: View, block: np.ndarray, asked: np.ndarray) -> int | None:
    """How many elements apart a block has rows that the view has nearer or farther; None where that tells nothing.

    It does where with the view's own step each place that is `asked` for would exist, and its columns do. The row that
    the block begins with may be counted by the wrong step too.
    """
    if block.ndim != 2 or 1 in block.shape or view.tensor.dim() < 2 or view.tensor.stride(-1) != 1:
        return None
    size, own = view.tensor.element_size(), view.tensor.stride(-2)
    places, asked = _in_lines(view, block, asked)
    start, step = int(places[0, 0]), int(places[1, 0] - places[0, 0])
    if not _lies_so(places, step) or step in (0, 1, *view.tensor.stride()):
        return None
    if asked[:, view.tensor.shape[-1] :].any():
        return None
    right = (np.arange(len(places))[:, None] * own + np.arange(places.shape[1]))[asked]
    last = (view.high - view.low) // size - 1
    begins = [start] if start % step else [start, start // step * own]
    return step if any(0 <= first and first + int(right.max()) <= last for first in begins) else None


def came_as(view: View, places: np.ndarray | None) -> str:
    """A sentence about the first place, where its address alone tells another one."""
    if places is None or places[0, 1] < view.tensor.stride(0):
        return ""
    row, column = places[0]
    return f" The kernel comes to it as row {row}, column {column}."


def end_of(view: View, places: np.ndarray | None) -> str:
    """A question about rows, or about columns, where they alone go too far; else ""."""
    if places is None:
        return ""
    rows, columns = view.tensor.shape
    below, beyond = places[:, 0] >= rows, places[:, 1] >= columns
    if beyond.all() and not below.any():
        return f"A row of {view.name} has {columns} elements. What keeps later columns out?"
    if below.all() and not beyond.any():
        return f"{view.name} has {rows} row{'s' * (rows != 1)}. What keeps later rows out?"
    return ""
