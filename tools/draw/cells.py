"""A map in as few cells as a picture has room for, each with the program that touches it, or the word for several."""

from dataclasses import dataclass
from math import prod

import numpy as np

from tools.draw.touched import Map

NOBODY, SEVERAL, OUTSIDE = -1, -2, -3  # in place of a program's number


@dataclass(frozen=True)
class Cells:
    """who: int64 [down, across], a program, NOBODY, SEVERAL or, beyond the end of a vector, OUTSIDE.

    SEVERAL: some element of the cell is touched by several; else it is the program of its first touched element.
    followed: bool of that shape, where the followed program touches something. height, width: rows and columns of
    a cell. sampled: some cell has elements of more than the program that it shows.
    wrapped: the map is a vector, laid out line by line; across cells of `width` elements in each.
    """

    who: np.ndarray
    followed: np.ndarray
    height: int
    width: int
    sampled: bool
    wrapped: bool

    def label(self, line: int) -> int:
        """The row, or of a vector the element, that a line of cells begins with."""
        return line * self.width * self.who.shape[1] if self.wrapped else line * self.height


def binned(picture: Map, followed: int, down: int, across: int) -> Cells:
    """At most so many cells down and across; a cell stands for a power of two rows and columns, the fewest that do."""
    if picture.rows == 1:
        width = _power(picture.cols, down * across)
        count = -(-picture.cols // width)
        across = min(across, count)
        shape, height = (-(-count // across), across), 1
        cell = picture.elements // width
    else:
        height, width = _power(picture.rows, down), _power(picture.cols, across)
        shape = -(-picture.rows // height), -(-picture.cols // width)
        rows, cols = np.divmod(picture.elements, picture.cols)
        cell, count = rows // height * shape[1] + cols // width, prod(shape)
    who, sampled = _who(picture, cell, prod(shape))
    who[count:] = OUTSIDE
    mine = np.zeros(who.size, bool)
    mine[cell[picture.programs == followed]] = True
    return Cells(who.reshape(shape), mine.reshape(shape), height, width, sampled, picture.rows == 1)


def _power(length: int, most: int) -> int:
    """The least power of two that leaves at most so many pieces."""
    width = 1
    while -(-length // width) > most:
        width *= 2
    return width


def _who(picture: Map, cell: np.ndarray, cells: int) -> tuple[np.ndarray, bool]:
    """What each cell shows, and whether that leaves something out. The pairs of a map are in order of elements."""
    shared = np.flatnonzero(picture.elements[1:] == picture.elements[:-1])
    who = np.full(cells, NOBODY)
    who[cell[::-1]] = picture.programs[::-1]  # the first of each cell stays
    sampled = bool((who[cell] != picture.programs)[~np.isin(cell, cell[shared])].any())
    who[cell[shared]] = SEVERAL
    return who, sampled
