"""Causes that follow from which elements are wrong, or were never written: tails, heads, blocks, steps."""

from typing import NamedTuple

import numpy as np

from tools.check.diagnosis.numbers import sample
from tools.check.diagnosis.symptoms import Symptoms
from tools.check.diagnosis.words import Cause, cause

FEWEST = 4  # right elements (rows, columns) before "right up to here" is more than luck
CLEARLY = 10  # times the limit: what is wrong by less may be an error that grows until it shows

QUESTION = {
    "diagonal_wrong": "What should happen where row and column are equal?",
    "only_diagonal": "Which index is used twice?",
    "triangle_wrong": "Which pairs of row and column count?",
    "tail_wrong": "Which elements does the last block hold?",
    "head_wrong": "Which element comes first?",
    "only_first_block": "Which part does each block or step take?",
    "every_kth_block": "Which part does each block or step take?",
}
OF_BLOCKS = ("tail_wrong", "only_first_block", "every_kth_block")


class Region(NamedTuple):
    """Where something is wrong (or was never written), and where it is right, as phrases."""

    name: str
    where: str
    right: str


def nothing_written(symptoms: Symptoms) -> Cause | None:
    if symptoms.missing is None or not symptoms.missing.all():
        return None
    return cause("nothing_written", "The result was never written:", "which line stores into it?")


def partly_written(symptoms: Symptoms) -> Cause | None:
    if symptoms.missing is None:
        return None
    region = region_of(symptoms.missing)
    if region is None:  # how many there are has been said
        return Cause("partly_written", "For which elements is the store reached?")
    if region.name == "only_first_block":
        return cause(
            "partly_written",
            f"Written {region.right}, never {region.where}.",
            "Is it only the first block that is stored?",
        )
    return cause("partly_written", f"The result was never written {region.where}.", QUESTION[region.name])


def wrong_region(symptoms: Symptoms) -> Cause | None:
    """Right in one part, and clearly wrong in all of the rest."""
    if not symptoms.comparable or symptoms.wrong.all():
        return None
    if len(np.unique(sample(symptoms.here.want[~symptoms.wrong]))) < FEWEST:
        return None  # zeros, say, are right by luck
    region = region_of(symptoms.wrong)
    if region is None or np.median(sample(symptoms.excess[symptoms.wrong])) < CLEARLY:
        return None
    if symptoms.excess.reshape(-1)[np.argmax(symptoms.wrong)] < CLEARLY:
        return None
    if region.name == "tail_wrong":
        seen = f"Right {region.right}; everything after it is wrong."
    elif region.name == "head_wrong" or region.right == "elsewhere":
        seen = f"Wrong {region.where}, right {region.right}."
    else:
        seen = f"Right {region.right}, wrong {region.where}."
    in_parts = isinstance(symptoms.got, np.ndarray) and _in_blocks(symptoms)
    asks = QUESTION[region.name] if in_parts or region.name not in OF_BLOCKS else "What is different there?"
    return cause(region.name, seen, asks)


def _in_blocks(symptoms: Symptoms) -> bool:
    """May it have been computed block by block: by kernels, or in blocks of a size that the call gives?"""
    source = symptoms.source
    sizes = any(type(value) is int for value in symptoms.keywords.values())
    return sizes or source is None or source.has_kernels or source.has_threads


def block_repeated(symptoms: Symptoms) -> Cause | None:
    """The first elements (rows, columns) of the wanted result come again and again."""
    if not symptoms.comparable:
        return None
    for axis in range(symptoms.here.got.ndim):
        length = symptoms.here.got.shape[axis]
        for period in _periods(symptoms.here.got, axis):
            index = np.arange(length) % period
            if symptoms.holds(lambda call: call.want.take(index, axis)):
                ndim = symptoms.here.got.ndim
                first = _plural(period, axis, ndim) if period > 1 else _unit(axis, ndim)
                return cause(
                    "block_repeated", f"Only the first {first} came back, over and over.", QUESTION["only_first_block"]
                )
    return None


def _periods(array: np.ndarray, axis: int) -> list[int]:
    """Up to four distances at which the first row along `axis` comes again."""
    rows = np.moveaxis(array, axis, 0).reshape(array.shape[axis], -1)
    if len(rows) < 2 or not rows.shape[1]:
        return []
    again = np.flatnonzero(rows[1:, 0] == rows[0, 0])[:64] + 1
    return [int(i) for i in again if np.array_equal(rows[i], rows[0])][:4]


def region_of(bad: np.ndarray) -> Region | None:
    """The region that a mask covers, if it is one that a loop or a grid leaves behind."""
    for axis in range(bad.ndim):
        line = np.asarray(bad.any(axis=tuple(k for k in range(bad.ndim) if k != axis)))
        if bad.ndim == 1 or (np.moveaxis(bad, axis, -1) == line).all():
            return _region_of_line(line, axis, bad.shape)
    row_by_row = _region_of_line(bad.reshape(-1), None, bad.shape)
    if bad.ndim != 2:
        return row_by_row
    return _beside_the_diagonal(bad) or row_by_row or _outside_a_corner(bad)


def _region_of_line(bad: np.ndarray, axis: int | None, shape: tuple[int, ...]) -> Region | None:
    """Tail, head or every k-th block of a mask along one axis; axis None: of all elements, row by row."""
    edges = np.flatnonzero(bad[1:] != bad[:-1]) + 1
    good = int((~bad).sum())
    if not len(edges) or good < FEWEST:
        return None
    if len(edges) > 1:
        return _every_kth(bad, edges, axis, len(shape))
    before, after = _place(edges[0] - 1, axis, shape), _place(edges[0], axis, shape)
    if bad[0]:
        return Region("head_wrong", f"{'up to' if edges[0] > 1 else 'in'} {before}", f"from {after} on")
    if 2 * good >= len(bad):
        return Region("tail_wrong", f"from {after} on", f"up to {before}")
    return Region("only_first_block", f"from {after} on", f"in the first {_plural(good, axis, len(shape))}")


def _every_kth(bad: np.ndarray, edges: np.ndarray, axis: int | None, ndim: int) -> Region | None:
    """Runs of right and wrong elements that alternate with fixed lengths, one a multiple of the other."""
    runs = np.diff([0, *edges, len(bad)])
    if len(runs) < 4 or len(bad) < 8 or (runs[2:-1] != runs[:-3]).any() or runs[-1] > runs[-3]:
        return None
    wrong, right = (runs[0], runs[1]) if bad[0] else (runs[1], runs[0])
    block, step = min(wrong, right), wrong + right
    if step % block or (axis is None and block == 1 and right < wrong):
        return None  # single right elements of a matrix, row by row: what a permutation leaves in place
    unit = _unit(axis, ndim) if block == 1 else f"block of {_plural(block, axis, ndim)}"
    every = f"in every {_ordinal(step // block)} {unit}"
    if wrong <= right:
        return Region("every_kth_block", every, "elsewhere")
    return Region("every_kth_block", "elsewhere", f"only {every}")


def _beside_the_diagonal(bad: np.ndarray) -> Region | None:
    """On, off, above or below the diagonal of a matrix."""
    if min(bad.shape) < FEWEST:
        return None
    row, column = np.ogrid[: bad.shape[0], : bad.shape[1]]
    if (bad == (row == column)).all():
        return Region("diagonal_wrong", "on the diagonal", "elsewhere")
    if (bad == (row != column)).all():
        return Region("only_diagonal", "elsewhere", "only on the diagonal")
    for where, mask in (
        ("above", column > row),
        ("on and above", column >= row),
        ("below", column < row),
        ("on and below", column <= row),
    ):
        if (bad == mask).all():
            return Region("triangle_wrong", f"{where} the diagonal", "elsewhere")
    return None


def _outside_a_corner(bad: np.ndarray) -> Region | None:
    """Right in the first rows and columns, wrong in all beyond: ragged tiles at both edges."""
    rows, columns = (int((~bad).any(axis=axis).sum()) for axis in (1, 0))
    inside = np.zeros_like(bad)
    inside[:rows, :columns] = True
    if min(rows, columns) < FEWEST or (bad == inside).any():
        return None
    name = "tail_wrong" if 4 * rows * columns >= bad.size else "only_first_block"
    corner = f"row {rows - 1} and column {columns - 1}"
    return Region(name, f"beyond {corner}", f"up to {corner}")


def _place(index: int, axis: int | None, shape: tuple[int, ...]) -> str:
    """ "element 7", "row 7", "element (1, 2)"."""
    where = int(index) if axis is not None else tuple(int(i) for i in np.unravel_index(index, shape))
    return f"{_unit(axis, len(shape))} {where}"


def _plural(count: int, axis: int | None, ndim: int) -> str:
    """ "64 elements", "1 row"."""
    return f"{count} {_unit(axis, ndim)}{'' if count == 1 else 's'}"


def _unit(axis: int | None, ndim: int) -> str:
    """The unit that one step along an axis passes; axis None: row by row."""
    if axis is None or ndim == 1:
        return "element"
    return ("row", "column")[axis] if ndim == 2 else f"axis-{axis} slice"


def _ordinal(n: int) -> str:
    ending = {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th") if n // 10 % 10 != 1 else "th"
    return f"{n}{ending}"
