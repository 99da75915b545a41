"""Tiles of a matrix: how it is cut, the program that computes each, and what a tiled product reads and writes."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Tiles:
    """A matrix of rows x cols, cut into tiles of tile_rows x tile_cols; the last ones may stick out."""

    rows: int
    cols: int
    tile_rows: int
    tile_cols: int

    @property
    def grid(self) -> tuple[int, int]:
        """How many tiles there are down and across."""
        return -(-self.rows // self.tile_rows), -(-self.cols // self.tile_cols)

    @property
    def count(self) -> int:
        down, across = self.grid
        return down * across

    def tile_of(self, program: int, group: int = 1) -> tuple[int, int]:
        """Row and column, in tiles, of the tile that this program computes.

        group: programs run down `group` tile rows before they go one tile to the right, so that those that run
        together share rows and columns; 1 is row by row. IndexError for a program beyond the last.
        """
        if not 0 <= program < self.count:
            raise IndexError(f"{self.count} programs, 0 to {self.count - 1}, have a tile each; not program {program}")
        down, across = self.grid
        first = program // (group * across) * group
        height = min(group, down - first)  # of the last group, which may have fewer rows
        within = program - first * across
        return first + within % height, within // height

    def extent(self, row: int, col: int) -> tuple[slice, slice]:
        """Rows and columns of the matrix that this tile covers; cut off where the matrix ends."""
        return (_cut(row, self.tile_rows, self.rows), _cut(col, self.tile_cols, self.cols))

    def is_whole(self, row: int, col: int) -> bool:
        """Whether all of this tile lies in the matrix."""
        return (row + 1) * self.tile_rows <= self.rows and (col + 1) * self.tile_cols <= self.cols

    def strips(self, programs: Iterable[int], group: int = 1) -> tuple[int, int]:
        """In how many different rows and columns of tiles these programs work: for a product A @ B the strips of A
        and of B that they read, each from memory once as long as a cache keeps them."""
        tiles = [self.tile_of(program, group) for program in programs]
        return len({row for row, _ in tiles}), len({col for _, col in tiles})


def _cut(index: int, size: int, end: int) -> slice:
    return slice(index * size, min((index + 1) * size, end))


@dataclass(frozen=True)
class Traffic:
    """Elements that a tiled product moves: read of A, read of B, written of C; and its multiplications."""

    a: int
    b: int
    c: int
    products: int

    def bytes(self, itemsize: int) -> int:
        """All of it, in elements of so many bytes."""
        return (self.a + self.b + self.c) * itemsize

    def intensity(self, itemsize: int) -> float:
        """Floating-point operations per byte: a multiplication and an addition for each product."""
        return 2 * self.products / self.bytes(itemsize)


def matmul_traffic(m: int, n: int, k: int, tile_m: int, tile_n: int) -> Traffic:
    """What C[m, n] = A[m, k] @ B[k, n] moves when one program computes a tile of C.

    Each program reads the rows of A and the columns of B that belong to its tile, masked at the edges, and writes
    the tile once. So A is read once for each column of tiles, B once for each row; how k is cut makes no difference.
    """
    down, across = Tiles(m, n, tile_m, tile_n).grid
    return Traffic(a=m * k * across, b=k * n * down, c=m * n, products=m * n * k)
