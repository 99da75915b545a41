"""Mistakes that only kernels make: strides, padding, tiles, masks that let nothing through, programs too few.

Most mistakes in a kernel look like those of any function, and the other recognisers name them. What a test that
asserts something about counters has to say is in counted.py.
"""

import numpy as np

from tools.check.diagnosis.arguments import with_argument
from tools.check.diagnosis.evidence import Evidence
from tools.check.diagnosis.numbers import differ, is_float, sample
from tools.check.diagnosis.words import Cause, cause
from tools.sim import tables

TILES = (16, 32, 64, 128)
PADDINGS = 4  # powers of two that are tried as the length of a padded row
FEWEST = 8    # numbers before "every number is whole" is more than luck


# The launch: what was never written, and by how many programs --------------------------------------------

def never_launched(evidence: Evidence) -> Cause | None:
    counters = _of_what_is_missing(evidence)
    if counters is None or counters.launches:
        return None
    return cause("never_launched", "No kernel was launched.", "Which line launches yours?")


def no_programs(evidence: Evidence) -> Cause | None:
    counters = _of_what_is_missing(evidence)
    if counters is None or not counters.launches or counters.programs:
        return None
    kernel = counters.launches[0].kernel
    return cause("no_programs", f"{kernel} was launched with a grid of no programs at all.",
                 "How many blocks does it take to cover everything?")


def nothing_stored(evidence: Evidence) -> Cause | None:
    counters = _of_what_is_missing(evidence)
    if counters is None or not counters.programs or counters.bytes_stored or counters.bytes_atomic:
        return None
    kernel = counters.launches[-1].kernel
    return cause("nothing_stored", f"{kernel} ran in {tables.programs(counters)} and stored nothing.",
                 f"Which {'threads does the guard' if counters.warps else 'positions does the mask'} let through? "
                 "Is there a store?")


def tail_not_stored(evidence: Evidence) -> Cause | None:
    counters = _of_what_is_missing(evidence)
    if counters is None or not counters.bytes_stored:
        return None
    missing = evidence.poison.reshape(-1)
    stored = int(np.count_nonzero(~missing))
    if missing[:stored].any():
        return None
    worker = "thread" if counters.warps else "program"
    ran = f"{tables.programs(counters)} stored {stored} of {missing.size} elements, none from element {stored} on."
    return cause("tail_not_stored", ran,
                 f"Which elements are each {worker}'s own, and how many {worker}s is that?")


def head_not_stored(evidence: Evidence) -> Cause | None:
    """Elements before the first block."""
    if evidence.poison is None or evidence.count is None:
        return None
    missing = evidence.poison.reshape(-1)
    first = int(np.argmin(missing))
    if not first or missing[first:].any():
        return None
    return cause("head_not_stored", f"Nothing was stored before element {first}.",
                 "With which element does the first block begin?")


def _of_what_is_missing(evidence):
    """The counters of the call, where elements were never written and a kernel should have."""
    if evidence.poison is None or not evidence.poison.any():
        return None
    return evidence.counters


# Values: the right operation on memory read in the wrong way ---------------------------------------------

def misread_strides(evidence: Evidence) -> Cause | None:
    """Right for what lies in memory where other strides would have led, in one matrix argument."""
    for i, arg in enumerate(evidence.args):
        if not isinstance(arg, np.ndarray) or arg.ndim != 2 or min(arg.shape) < 2:
            continue
        own = tuple(step // arg.itemsize for step in arg.strides)
        for strides in _other_strides(arg.shape, own):
            def misread(case):
                return evidence.ask(*with_argument(case.args, i, _reread(case.args[i], strides)))

            if evidence.holds(misread):
                name = evidence.name_of(i)
                seen = f"It is right for {name} read with strides {strides}; those of {name} are {own}."
                return cause("misread_strides", seen,
                             "Which number is one step down, which one to the right?")
    return None


def _other_strides(shape, own) -> list[tuple[int, int]]:
    """Strides that a mistake leads to and that stay inside the matrix's own memory."""
    rows, columns = shape
    likely = [(columns, 1), (1, rows), own[::-1], (rows, 1), (1, columns)]
    inside = range(1, _reach(shape, own) + 1)
    return [strides for strides in dict.fromkeys(likely) if strides != own and _reach(shape, strides) in inside]


def _reach(shape, strides) -> int:
    return sum((length - 1) * step for length, step in zip(shape, strides))


def _reread(array, strides):
    steps = [step * array.itemsize for step in strides]
    return np.lib.stride_tricks.as_strided(array, array.shape, steps, writeable=False).copy()


def row_by_row(evidence: Evidence) -> Cause | None:
    """Stored as if the rows of the result lay end to end, in memory where its columns do."""
    def turned(case):
        return case.want.reshape(case.want.shape[::-1]).T

    if getattr(evidence.here.want, "ndim", 0) != 2 or not evidence.holds(turned):
        return None
    return cause("row_by_row", "The wanted elements, but row by row where out is stored column by column.",
                 "Which strides does the store use?")


def padding_counted(evidence: Evidence) -> Cause | None:
    """Masked positions took part: right for an argument whose rows go on with zeros up to a power of two."""
    if not evidence.comparable:
        return None
    for i, arg in enumerate(evidence.args):
        if not isinstance(arg, np.ndarray) or not is_float(arg.dtype):
            continue
        for axis, length in enumerate(arg.shape):
            for padded in _paddings(length):
                def longer(case):
                    zeros = [(0, padded - length if k == axis else 0) for k in range(arg.ndim)]
                    said = evidence.ask(*with_argument(case.args, i, np.pad(case.args[i], zeros)))
                    return _cut(said, case.got.shape)

                if evidence.holds(longer) or _holds_in_zeros(evidence, longer):
                    name = evidence.name_of(i)
                    return cause("padding_counted",
                                 f"It is right if {name} went on with zeros from {length} to {padded}.",
                                 "What do the positions hold that a mask leaves out?")
    return None


def _holds_in_zeros(evidence, claim) -> bool:
    """A maximum that zeros won: each says little, but several of them, and the rest right, say enough."""
    said, got = claim(evidence.here), evidence.here.got
    if said is None or said.shape != got.shape or differ(got, said, evidence.slack):
        return False
    return np.count_nonzero(evidence.wrong) >= 4 and not got[evidence.wrong].any() and bool(got.any())


def _paddings(length: int) -> list[int]:
    first = 1 << max(0, length - 1).bit_length()
    return [size for size in (first << k for k in range(PADDINGS)) if length < size]


def _cut(said, shape):
    if said is None or said.ndim != len(shape):
        return said
    return said[tuple(slice(length) for length in shape)]


def tiles_exchanged(evidence: Evidence) -> Cause | None:
    """A product in which every pair of tiles was multiplied the other way round."""
    factors = [i for i, arg in enumerate(evidence.args) if isinstance(arg, np.ndarray) and arg.ndim == 2]
    if len(factors) != 2:
        return None
    for tile in TILES:
        if evidence.holds(lambda case: _tiles_the_other_way(*(case.args[i] for i in factors), tile)):
            first, second = map(evidence.name_of, factors)
            seen = f"As if each tile of {second}, {tile} x {tile}, stood to the left of that of {first}."
            return cause("tiles_exchanged", seen, "Which operand of a product gives the rows?")
    return None


def _tiles_the_other_way(a, b, tile):
    (m, k), (_, n) = a.shape, b.shape
    if k != b.shape[0]:
        return None
    a, b = _tiled(a, tile), _tiled(b, tile)
    product = np.einsum("pjxy,ipyz->ijxz", b, a, optimize=True)
    return product.swapaxes(1, 2).reshape(product.shape[0] * tile, -1)[:m, :n]


def _tiled(array, tile):
    """(rows, columns) -> (tiles down, tiles across, tile, tile), padded with zeros."""
    rows, columns = (-(-length // tile) for length in array.shape)
    whole = np.zeros((rows * tile, columns * tile))
    whole[:array.shape[0], :array.shape[1]] = array
    return whole.reshape(rows, tile, columns, tile).swapaxes(1, 2)


def tile_left_over(evidence: Evidence) -> Cause | None:
    """The last tile along the sum is cut off, and its further places hold what the tile before left there."""
    factors = [i for i, arg in enumerate(evidence.args) if isinstance(arg, np.ndarray) and arg.ndim == 2]
    if len(factors) != 2 or evidence.args[factors[0]].shape[1] != evidence.args[factors[1]].shape[0]:
        return None
    first, second = factors
    length = evidence.args[second].shape[0]
    for tile in TILES:
        whole = length // tile * tile
        again = np.r_[:length, length - tile:whole]

        def longer(case):
            args = with_argument(case.args, first, case.args[first][:, again])
            return evidence.ask(*with_argument(args, second, case.args[second][again]))

        if 0 < whole < length and evidence.holds(longer):
            seen = (f"As if {evidence.name_of(first)} and {evidence.name_of(second)} went on behind element "
                    f"{length - 1} with elements {length - tile} to {whole - 1} again.")
            return cause("tile_left_over", seen, "What do places of a tile hold for which there is no element?")
    return None


def whole_numbers(evidence: Evidence) -> Cause | None:
    """Integers where fractions are wanted, and not those nearby: what an accumulator of integers leaves."""
    if not evidence.comparable or evidence.here.got.dtype != np.float64:
        return None
    got, want = sample(evidence.here.got), sample(evidence.here.want)
    if len(np.unique(got)) < FEWEST or not np.isfinite(got).all() or (got != np.round(got)).any():
        return None
    fractions = np.abs(want - np.round(want)) > evidence.slack * np.abs(want)
    if np.count_nonzero(fractions) < want.size / 2 or np.max(np.abs(got - want)) <= 1:
        return None
    return cause("whole_numbers", "Every number is whole, though the wanted ones are not.",
                 "Which variable on the way holds integers?")
