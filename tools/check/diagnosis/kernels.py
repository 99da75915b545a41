"""Mistakes that only kernels make in what they compute: strides, padding, the order of rows.

Most mistakes in a kernel look like those of any function, and the other recognisers name them. What a test that
asserts something about counters has to say is in counted.py.
"""

from typing import Any

import numpy as np

from tools.check.diagnosis.arguments import with_argument
from tools.check.diagnosis.numbers import is_float
from tools.check.diagnosis.steps import named_blocks
from tools.check.diagnosis.symptoms import Call, Symptoms
from tools.check.diagnosis.words import Cause, cause

PADDINGS = 4  # powers of two that are tried as the length of a padded row


def misread_strides(symptoms: Symptoms) -> Cause | None:
    """Right for what lies in memory where other strides would have led, in one matrix argument."""
    for i, arg in enumerate(symptoms.args):
        if not isinstance(arg, np.ndarray) or arg.ndim != 2 or min(arg.shape) < 2:
            continue
        own = tuple(step // arg.itemsize for step in arg.strides)
        for strides in _other_strides(arg, own, named_blocks(symptoms)):

            def misread(call: Call) -> Any:
                return symptoms.ask(*with_argument(call.args, i, _reread(call.args[i], own, strides)))

            if symptoms.holds(misread):
                name = symptoms.name_of(i)
                seen = f"It is right for {name} read with strides {strides}; those of {name} are {own}."
                return cause("misread_strides", seen, "Which number is one step down, which one to the right?")
    return None


def _other_strides(matrix: np.ndarray, own: tuple[int, ...], sizes: list[int]) -> list[tuple[int, int]]:
    """Strides that a mistake leads to. Only of floats may they lead out of the matrix's memory, to NaN."""
    rows, columns = matrix.shape
    likely = [
        (columns, 1),
        (1, rows),
        own[::-1],
        (rows, 1),
        (1, columns),
        (1, 1),
        (own[0], 0),
        *((size, 1) for size in sizes),
    ]
    most = _reach(matrix.shape, own) * (4 if is_float(matrix.dtype) else 1)
    return [
        strides
        for strides in dict.fromkeys(likely)
        if strides != own and 0 < _reach(matrix.shape, strides) <= most and min(own) >= 0
    ]


def _reach(shape: tuple[int, ...], strides: tuple[int, ...]) -> int:
    return sum((length - 1) * step for length, step in zip(shape, strides))


def _reread(array: np.ndarray, own: tuple[int, ...], strides: tuple[int, ...]) -> np.ndarray:
    """The elements where these strides lead: in the array's own memory, NaN beyond it."""
    size = _reach(array.shape, own) + 1
    memory = np.lib.stride_tricks.as_strided(array, (size,), (array.itemsize,), writeable=False)
    row, col = np.ogrid[: array.shape[0], : array.shape[1]]
    places = row * strides[0] + col * strides[1]
    found = memory[np.minimum(places, size - 1)]
    return np.where(places < size, found, np.nan).astype(array.dtype) if places.max() >= size else found


def row_by_row(symptoms: Symptoms) -> Cause | None:
    """Down its columns stands what should stand along its rows: stored as if the rows lay end to end in memory where
    the columns do, or the other way round."""

    def turned(call: Call) -> Any:
        return call.want.reshape(call.want.shape[::-1]).T

    if getattr(symptoms.here.want, "ndim", 0) != 2 or not symptoms.holds(turned):
        return None
    flags = getattr(symptoms.got, "flags", None)
    by_columns = flags is not None and flags.f_contiguous and not flags.c_contiguous
    seen = (
        "The wanted elements, but row by row where out is stored column by column."
        if by_columns
        else "Read column by column it holds the wanted elements row by row."
    )
    return cause("row_by_row", seen, "Which strides does the store use?")


def padding_counted(symptoms: Symptoms) -> Cause | None:
    """Masked positions took part: right for an argument whose rows go on with zeros up to a power of two."""
    if not symptoms.comparable:
        return None
    for i, arg in enumerate(symptoms.args):
        if not isinstance(arg, np.ndarray) or not is_float(arg.dtype):
            continue
        for axis, length in enumerate(arg.shape):
            for padded in _paddings(length):

                def longer(call: Call) -> Any:
                    zeros = [(0, padded - length if k == axis else 0) for k in range(arg.ndim)]
                    said = symptoms.ask(*with_argument(call.args, i, np.pad(call.args[i], zeros)))
                    return _cut(said, call.got.shape)

                if symptoms.holds(longer) or symptoms.holds_in_zeros(longer):
                    name = symptoms.name_of(i)
                    return cause(
                        "padding_counted",
                        f"It is right if {name} went on with zeros from {length} to {padded}.",
                        "What do the positions hold that a mask leaves out?",
                    )
    return None


def _paddings(length: int) -> list[int]:
    first = 1 << max(0, length - 1).bit_length()
    return [size for size in (first << k for k in range(PADDINGS)) if length < size]


def _cut(said: np.ndarray | None, shape: tuple[int, ...]) -> np.ndarray | None:
    if said is None or said.ndim != len(shape):
        return said
    return said[tuple(slice(length) for length in shape)]
