"""Products of tiles in which a tile was read, placed or cut off in the wrong way.

A mistake is an entry of MISTAKES: what a and b give when it is made in tiles of one size. Which steps along the sum are
taken is the matter of steps.py.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from tools.check.diagnosis.lengths import lengths_of
from tools.check.diagnosis.numbers import differ
from tools.check.diagnosis.steps import Loop, blocks, named_blocks
from tools.check.diagnosis.symptoms import Call, Symptoms
from tools.check.diagnosis.words import Cause, cause

SMALLEST = 2  # of tiles: in tiles of one element nothing can be exchanged


@dataclass(frozen=True)
class Mistake:
    """result: what comes of a and b in tiles of this size; None where that is nothing else.

    seen, asks: with {a}, {b} and {tile} filled in.
    """

    name: str
    result: Callable[[np.ndarray, np.ndarray, int], np.ndarray | None]
    seen: str
    asks: str


def tiles_gone_wrong(symptoms: Symptoms) -> Cause | None:
    if (factors := factors_of(symptoms)) is None:
        return None
    first, second = factors
    sides = [*symptoms.args[first].shape, *symptoms.args[second].shape]
    for tile in [size for size in blocks(symptoms) if SMALLEST <= size < 2 * max(sides)]:
        for mistake in MISTAKES:
            if symptoms.holds(lambda call: mistake.result(*_exact(call, factors), tile)):
                return _said(mistake, symptoms, factors, tile)
    return None


def bounds_exchanged(symptoms: Symptoms) -> Cause | None:
    """A factor that was read only as far as another axis reaches."""
    if (factors := factors_of(symptoms)) is None:
        return None
    shapes = [symptoms.args[i].shape for i in factors]
    for which, axis in ((0, 0), (1, 1), (0, 1)):  # rows of a, columns of b, and what both are summed along
        for length in sorted({length for shape in shapes for length in shape if 0 < length < shapes[which][axis]}):

            def cut(call: Call) -> np.ndarray:
                pair = list(_exact(call, factors))
                pair[which] = _zero_beyond(pair[which], axis, length)
                return np.matmul(*pair)

            along = (which, axis) == (0, 1)
            if along and _is_whole_blocks(symptoms, length, shapes[0][1]):
                continue
            if symptoms.holds(cut) or symptoms.holds_in_zeros(cut):
                return _said_of_bounds(symptoms, factors, which, axis, length)
    return None


def _is_whole_blocks(symptoms: Symptoms, length: int, of: int) -> bool:
    """Then the loop may be what ends there, which steps.py knows how to tell."""
    return any(length in (block, of // block * block, (of - 1) // block * block) for block in named_blocks(symptoms))


def _said_of_bounds(symptoms: Symptoms, factors: tuple[int, int], which: int, axis: int, length: int) -> Cause:
    if which == 0 and axis == 1:
        loop = Loop(symptoms, ((factors[0], 1), (factors[1], 0)))
        others = [name for name, other in lengths_of(symptoms).items() if other == length]
        seen = f"It is right for the first {length} of {loop.steps} alone"
        seen += f"; {others[0]} is {length}." if others else f"; another axis has {length}."
        return cause("bounds_exchanged", seen, "With which length is a position along the sum compared?")
    name, unit = symptoms.name_of(factors[which]), ("row", "column")[axis]
    seen = f"As if {name} ended after {unit} {length - 1}; it has {symptoms.args[factors[which]].shape[axis]}."
    return cause("bounds_exchanged", seen, f"With which length is a {unit} of {name} compared?")


def factors_of(symptoms: Symptoms) -> tuple[int, int] | None:
    """The two matrices among the arguments, if what is wanted is their product."""
    if not symptoms.comparable:
        return None
    found = [i for i, arg in enumerate(symptoms.args) if isinstance(arg, np.ndarray) and arg.ndim == 2]
    if len(found) != 2 or symptoms.args[found[0]].shape[1] != symptoms.args[found[1]].shape[0]:
        return None
    product = np.matmul(*(symptoms.args[i].astype(np.float64) for i in found))
    same = product.shape == symptoms.here.want.shape and not differ(product, symptoms.here.want, symptoms.slack)
    return (found[0], found[1]) if same and product.size > 1 else None


def _said(mistake: Mistake, symptoms: Symptoms, factors: tuple[int, int], tile: int) -> Cause:
    a, b = map(symptoms.name_of, factors)
    return cause(mistake.name, mistake.seen.format(a=a, b=b, tile=f"{tile} x {tile}"), mistake.asks.format(a=a, b=b))


def _exact(call: Call, factors: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """In float64: products of narrow ones would be rounded, and equal what is wrong for that reason."""
    first, second = factors
    return call.args[first].astype(np.float64), call.args[second].astype(np.float64)


def _zero_beyond(array: np.ndarray, axis: int, length: int) -> np.ndarray:
    kept = np.arange(array.shape[axis]) < length
    return array * (kept[:, None] if axis == 0 else kept)


# Matrices as tiles ----------------------------------------------------------------------------------------


def tiled(array: np.ndarray, tile: int) -> np.ndarray:
    """(rows, columns) -> (tiles down, tiles across, tile, tile), padded with zeros."""
    rows, columns = (-(-length // tile) for length in array.shape)
    whole = np.zeros((rows * tile, columns * tile))
    whole[: array.shape[0], : array.shape[1]] = array
    return whole.reshape(rows, tile, columns, tile).swapaxes(1, 2)


def joined(tiles: np.ndarray, rows: int, columns: int) -> np.ndarray:
    """The matrix again, without what tiles hold beyond its rows and columns."""
    down, across, tile, _ = tiles.shape
    return tiles.swapaxes(1, 2).reshape(down * tile, across * tile)[:rows, :columns]


def of_tiles(subscripts: str, a: np.ndarray, b: np.ndarray, tile: int) -> np.ndarray:
    """Sums of products of tiles: of a, "ip" and two letters of a place in the tile; of b, "pj" and two letters."""
    products = np.einsum(subscripts, tiled(a, tile), tiled(b, tile), optimize=True)
    return joined(products, a.shape[0], b.shape[1])


def from_elsewhere(where: Callable, a: np.ndarray, b: np.ndarray, tile: int) -> np.ndarray:
    """At [row, col] the element of the product that where(row, col, tile) says; 0 where there is none."""
    product = a @ b
    index = np.broadcast_arrays(*where(*np.ogrid[: product.shape[0], : product.shape[1]], tile))
    exists = (index[0] < product.shape[0]) & (index[1] < product.shape[1])
    return np.where(exists, product[tuple(np.where(exists, each, 0) for each in index)], 0.0)


def other_tile(row: np.ndarray, col: np.ndarray, tile: int) -> tuple[np.ndarray, np.ndarray]:
    return col // tile * tile + row % tile, row // tile * tile + col % tile


def across_the_tile(row: np.ndarray, col: np.ndarray, tile: int) -> tuple[np.ndarray, np.ndarray]:
    return row // tile * tile + col % tile, col // tile * tile + row % tile


def row_of_the_column(row: np.ndarray, col: np.ndarray, tile: int) -> tuple[np.ndarray, np.ndarray]:
    return row // tile * tile + col % tile, col


def column_of_the_row(row: np.ndarray, col: np.ndarray, tile: int) -> tuple[np.ndarray, np.ndarray]:
    return row, col // tile * tile + row % tile


def own_number(array: np.ndarray, tile: int, axis: int) -> np.ndarray:
    """In each row of each tile (axis 1; column: axis 0) the element of the row's own number, all along."""
    tiles = tiled(array, tile)
    same = np.diagonal(tiles, axis1=2, axis2=3)  # element y of row y
    spread = np.broadcast_to(same[..., :, None] if axis == 1 else same[..., None, :], tiles.shape)
    return joined(spread, *array.shape)


def a_by_row(a: np.ndarray, b: np.ndarray, tile: int) -> np.ndarray:
    return own_number(a, tile, 1) @ b


def b_by_column(a: np.ndarray, b: np.ndarray, tile: int) -> np.ndarray:
    return a @ own_number(b, tile, 0)


def first_tile_alone(a: np.ndarray, b: np.ndarray, tile: int) -> np.ndarray | None:
    """Slices that end at `tile` wherever they begin: all but the first are empty."""
    whole = np.zeros((a.shape[0], b.shape[1]))
    whole[:tile, :tile] = a[:tile, :tile] @ b[:tile, :tile]
    return None if tile >= max(*a.shape, *b.shape) else whole


MISTAKES = (
    Mistake(
        "first_tile_alone",
        first_tile_alone,
        "Only the first tile of the result is there, from the first of {a} and {b}, {tile}.",
        "Where does each slice begin, and where does it end?",
    ),
    Mistake(
        "tiles_exchanged",
        partial(of_tiles, "ipyz,pjxy->ijxz"),
        "As if each tile of {b}, {tile}, stood to the left of that of {a}.",
        "Which operand of a product gives the rows?",
    ),
    Mistake(
        "tile_transposed",
        partial(of_tiles, "ipyx,pjyz->ijxz"),
        "As if each tile of {a}, {tile}, were transposed.",
        "Which index of a tile of {a} is the row?",
    ),
    Mistake(
        "tile_transposed",
        partial(of_tiles, "ipxy,pjzy->ijxz"),
        "As if each tile of {b}, {tile}, were transposed.",
        "Which index of a tile of {b} is the row?",
    ),
    Mistake(
        "tile_transposed",
        partial(of_tiles, "ipyx,pjzy->ijxz"),
        "As if each tile of {a} and of {b}, {tile}, were transposed.",
        "Which index of a tile is the row?",
    ),
    Mistake(
        "tile_transposed",
        partial(from_elsewhere, across_the_tile),
        "As if each tile of the result, {tile}, were transposed.",
        "Which index of a tile is the row?",
    ),
    Mistake(
        "tile_elsewhere",
        partial(from_elsewhere, other_tile),
        "Tile (0, 1) of the result, {tile}, holds what tile (1, 0) should.",
        "Which number of a program or block counts the tiles downwards?",
    ),
    Mistake(
        "own_number",
        a_by_row,
        "As if row y of each tile of {a}, {tile}, held its element y all along.",
        "Which thread, or place, loads which element of {a}?",
    ),
    Mistake(
        "own_number",
        b_by_column,
        "As if column x of each tile of {b}, {tile}, held its element x all along.",
        "Which thread, or place, loads which element of {b}?",
    ),
    Mistake(
        "row_by_column",
        partial(from_elsewhere, row_of_the_column),
        "As if each column of a result's tile, {tile}, came from one row of {a}.",
        "Which index of the tile of {a} is the result's row?",
    ),
    Mistake(
        "column_by_row",
        partial(from_elsewhere, column_of_the_row),
        "As if each row of a result's tile, {tile}, came from one column of {b}.",
        "Which index of the tile of {b} is the result's column?",
    ),
)
