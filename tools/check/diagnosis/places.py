"""Causes that follow from which elements are wrong, or were never written: tails, heads, blocks, steps."""

from typing import NamedTuple

import numpy as np

from tools.check.diagnosis.evidence import Cause, Evidence, cause
from tools.check.diagnosis.numbers import sample

FEWEST = 4  # right elements (rows, columns) before "right up to here" is more than luck

QUESTION = {
    "diagonal_wrong": "What should happen where row and column are equal?",
    "only_diagonal": "Which index is used twice?",
    "triangle_wrong": "Which pairs of row and column count?",
    "tail_wrong": "Which elements does the last block hold?",
    "head_wrong": "Which element comes first?",
    "only_first_block": "Which part does each block or step take?",
    "every_kth_block": "How far apart do two steps begin?",
}


class Region(NamedTuple):
    """Where something is amiss, in words that follow "wrong" or "never written"."""

    name: str
    where: str
    right: str


def nothing_written(evidence: Evidence) -> Cause | None:
    if evidence.poison is None or not evidence.poison.size or not evidence.poison.all():
        return None
    return cause("nothing_written", "The result was never written: which line stores into it?")


def partly_written(evidence: Evidence) -> Cause | None:
    if evidence.poison is None or not evidence.poison.any():
        return None
    missing, region = int(evidence.poison.sum()), region_of(evidence.poison)
    if region is None:
        return cause("partly_written", f"{missing} of {evidence.poison.size} elements were never written.\n"
                                       "Which elements does each block or step take?")
    if region.name == "only_first_block":
        return cause("partly_written", f"Written only {region.right}, never {region.where}.\n"
                                       "Is it only the first block that is stored?")
    return cause("partly_written", f"The result was never written {region.where}.\n{QUESTION[region.name]}")


def wrong_region(evidence: Evidence) -> Cause | None:
    """Right in one part, wrong in all of the rest, and clearly so: not an error that grows until it shows."""
    if not evidence.comparable or not evidence.wrong.any() or evidence.wrong.all():
        return None
    region = region_of(evidence.wrong)
    if region is None or np.median(sample(evidence.excess[evidence.wrong])) < 10:
        return None
    if evidence.excess.reshape(-1)[np.argmax(evidence.wrong)] < 10:
        return None
    if region.name == "tail_wrong":
        seen = f"Right {region.right}; everything after it is wrong."
    elif region.name == "head_wrong" or region.right == "elsewhere":
        seen = f"Wrong {region.where}, right {region.right}."
    else:
        seen = f"Right {region.right}, wrong {region.where}."
    return cause(region.name, f"{seen}\n{QUESTION[region.name]}")


def block_repeated(evidence: Evidence) -> Cause | None:
    """The first elements (rows, columns) of the wanted result come again and again."""
    if not evidence.comparable or evidence.all_right:
        return None
    for axis in range(evidence.here.got.ndim):
        length = evidence.here.got.shape[axis]
        for period in _periods(evidence.here.got, axis):
            index = np.arange(length) % period
            if evidence.holds(lambda case: case.want.take(index, axis)):
                first = f"first {_plural(period, axis, evidence.here.got.ndim)}"
                return cause("block_repeated", f"Only the {first} of the wanted result came back, over and over.\n"
                                               f"{QUESTION['only_first_block']}")
    return None


def _periods(array, axis):
    """Up to four distances at which the first row along `axis` comes again."""
    rows = np.moveaxis(array, axis, 0).reshape(array.shape[axis], -1)
    if len(rows) < 2 or not rows.shape[1]:
        return []
    again = np.flatnonzero(rows[1:, 0] == rows[0, 0])[:64] + 1
    return [int(i) for i in again if np.array_equal(rows[i], rows[0])][:4]


def region_of(bad) -> Region | None:
    """The region that a mask covers, if it is one that a loop or a grid leaves behind."""
    for axis in range(bad.ndim):
        line = bad.any(axis=tuple(k for k in range(bad.ndim) if k != axis))
        if bad.ndim == 1 or (np.moveaxis(bad, axis, -1) == line).all():
            return region_of_line(line, axis, bad.shape)
    found = _beside_the_diagonal(bad) if bad.ndim == 2 else None
    found = found or region_of_line(bad.reshape(-1), None, bad.shape)
    return found if found or bad.ndim != 2 else _outside_a_corner(bad)


def region_of_line(bad, axis, shape) -> Region | None:
    """Tail, head or every k-th block of a mask along one axis; axis None: of all elements, row by row."""
    edges = np.flatnonzero(bad[1:] != bad[:-1]) + 1
    ndim, good = len(shape), int((~bad).sum())
    if not len(edges) or good < FEWEST:
        return None
    at = lambda i: _place(i, axis, shape)  # noqa: E731
    if len(edges) == 1 and bad[0]:
        until = "up to" if edges[0] > 1 else "in"
        return Region("head_wrong", f"{until} {at(edges[0] - 1)}", f"from {at(edges[0])} on")
    if len(edges) == 1 and 2 * good >= len(bad):
        return Region("tail_wrong", f"from {at(good)} on", f"up to {at(good - 1)}")
    if len(edges) == 1:
        return Region("only_first_block", f"from {at(good)} on", f"in the first {_plural(good, axis, ndim)}")
    return _every_kth(bad, edges, axis, ndim)


def _every_kth(bad, edges, axis, ndim) -> Region | None:
    """Runs of right and wrong elements that alternate with fixed lengths, one a multiple of the other."""
    runs = np.diff([0, *edges, len(bad)])
    if len(runs) < 4 or len(bad) < 8 or (runs[2:-1] != runs[:-3]).any() or runs[-1] > runs[-3]:
        return None
    wrong, right = (runs[0], runs[1]) if bad[0] else (runs[1], runs[0])
    block, count = min(wrong, right), wrong + right
    if count % block:
        return None
    unit = _plural(1, axis, ndim).removeprefix("1 ") if block == 1 else f"block of {_plural(block, axis, ndim)}"
    if wrong <= right:
        return Region("every_kth_block", f"in every {_ordinal(count // block)} {unit}", "elsewhere")
    return Region("every_kth_block", "elsewhere", f"only in every {_ordinal(count // block)} {unit}")


def _beside_the_diagonal(bad) -> Region | None:
    """On, off, above or below the diagonal of a matrix."""
    if min(bad.shape) < FEWEST:
        return None
    row, column = np.ogrid[:bad.shape[0], :bad.shape[1]]
    if (bad == (row == column)).all():
        return Region("diagonal_wrong", "on the diagonal", "elsewhere")
    if (bad == (row != column)).all():
        return Region("only_diagonal", "elsewhere", "only on the diagonal")
    for where, mask in (("above", column > row), ("on and above", column >= row),
                        ("below", column < row), ("on and below", column <= row)):
        if (bad == mask).all():
            return Region("triangle_wrong", f"{where} the diagonal", "elsewhere")
    return None


def _outside_a_corner(bad) -> Region | None:
    """Right in the first rows and columns, wrong in all rows and all columns beyond: ragged tiles at both edges."""
    rows, columns = (int((~bad).any(axis=axis).sum()) for axis in (1, 0))
    if min(rows, columns) < FEWEST or bad[:rows, :columns].any() or not bad[rows:].all() or not bad[:, columns:].all():
        return None
    name = "tail_wrong" if 4 * rows * columns >= bad.size else "only_first_block"
    return Region(name, f"beyond row {rows - 1} or column {columns - 1}", f"up to row {rows - 1} and column {columns - 1}")


def _place(index, axis, shape) -> str:
    """"element 7", "row 7", "column 7", "element (1, 2)"."""
    if len(shape) == 1:
        return f"element {int(index)}"
    if axis is None:
        return f"element {tuple(int(i) for i in np.unravel_index(index, shape))}"
    return f"{('row', 'column')[axis]} {int(index)}" if len(shape) == 2 else f"index {int(index)} of axis {axis}"


def _plural(count, axis, ndim) -> str:
    """"64 elements", "1 row"."""
    if ndim == 1 or axis is None:
        one = "element"
    else:
        one = ("row", "column")[axis] if ndim == 2 else f"slice along axis {axis}"
    head, _, rest = one.partition(" ")
    return f"{count} {head}{'' if count == 1 else 's'}{' ' + rest if rest else ''}"


def _ordinal(n) -> str:
    return {1: "1st", 2: "2nd", 3: "3rd"}.get(int(n), f"{int(n)}th")
