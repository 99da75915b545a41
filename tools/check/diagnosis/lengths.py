"""Two lengths mixed up: right where they are equal, whatever the others are. Tried by calls with other lengths."""

import re
from collections.abc import Iterator
from itertools import combinations

import numpy as np

from tools.check.diagnosis.numbers import is_float
from tools.check.diagnosis.symptoms import Symptoms
from tools.check.diagnosis.words import Cause, cause

BETWEEN_TWO = re.compile(r"\b(program|of block) (\d+)\b.*\b\1 (?!\2\b)\d", re.DOTALL)  # programs, or blocks
SMALL = (3, 5, 6, 7, 9, 10, 11)  # lengths of axes, all different, and none of them that of a block
MOST_AXES = 4
LARGEST = 64  # a block beyond which it would take too long to show what happens in the second one


def stored_otherwise(symptoms: Symptoms) -> Cause | None:
    """Right where one array, or all of them, is stored row by row, as those of the call are not."""
    odd = [i for i, arg in enumerate(symptoms.args) if isinstance(arg, np.ndarray) and not arg.flags.c_contiguous]
    if symptoms.again is None or symptoms.is_slow:
        return None
    for chosen in [[i] for i in odd] + [odd] * (len(odd) > 1):
        args = tuple(arg.copy() if i in chosen else arg for i, arg in enumerate(symptoms.args))
        if symptoms.is_right(symptoms.compare(args)):
            names = " and ".join(symptoms.name_of(i) for i in chosen)
            return cause("layout", f"With {names} contiguous it is right.", "Which line counts on how it is stored?")
    return None


def lengths_mixed_up(symptoms: Symptoms) -> Cause | None:
    """Axes have the names that the docstring gives them; a block is a length too."""
    lengths = lengths_of(symptoms)
    if not 2 <= len(lengths) + len(_blocks(symptoms)) or symptoms.again is None or symptoms.is_slow:
        return None
    base = next((base for base in _bases(symptoms, lengths) if _right(symptoms, base) is False), None)
    if base is None or not lengths:
        return None
    found = [pair for pair in _pairs(symptoms, lengths) if _right_where_equal(symptoms, base, *pair)]
    if not found and symptoms.kind != "refusal" and _right_where_all_are_equal(symptoms, base):
        *most, last = lengths
        return cause(
            "lengths_mixed_up", f"It is right where {', '.join(most)} and {last} are equal.", "Where are they mixed up?"
        )
    if len(found) != 1:
        return None
    one, other, *block = found[0]
    if block and symptoms.kind == "refusal" and BETWEEN_TWO.search(symptoms.outcome.error.message):
        return None  # two programs meet; where they are equal there is only one
    asks = "What happens where they are not?" if block else "Where are the two mixed up?"
    return cause("lengths_mixed_up", f"It is right where {one} and {other} are equal.", asks)


def lengths_of(symptoms: Symptoms) -> dict[str, int]:
    """The lengths of the arrays' axes by name; none if one name stands for two of them."""
    axes = symptoms.axes
    named = [
        (name, length)
        for argument, value in zip(symptoms.names, symptoms.args)
        if isinstance(value, np.ndarray)
        for name, length in zip(axes.get(argument, ()), value.shape)
        if not name.isdigit()
    ]
    return dict(named) if len(set(named)) == len(dict(named)) <= MOST_AXES else {}


def _blocks(symptoms: Symptoms) -> dict[str, int]:
    return {name: value for name, value in symptoms.keywords.items() if type(value) is int and value > 1}


def _bases(symptoms: Symptoms, lengths: dict[str, int]) -> Iterator[dict[str, int]]:
    """Lengths that all differ: small ones; then such that all go on in a second block; then those of the call."""
    blocks = [block for block in (*_blocks(symptoms).values(), *symptoms.constants) if block <= LARGEST]
    small = [length for length in SMALL if length not in blocks]
    yield dict(zip(lengths, small))
    if blocks:
        yield {name: max(blocks) + length for name, length in zip(lengths, small)}
    if len(set(lengths.values())) == len(lengths) and all(lengths.values()):
        yield lengths
    elif all(lengths.values()):  # beside those of the call, where that is what shows it
        yield {name: length + place for place, (name, length) in enumerate(lengths.items())}


def _pairs(symptoms: Symptoms, lengths: dict[str, int]) -> Iterator[tuple]:
    """(length, length) or (length, block, value of the block), of which either could stand for the other. Of two that
    are equal in the call itself, which is wrong, nothing is right."""
    yield from ((one, other) for one, other in combinations(lengths, 2) if lengths[one] != lengths[other])
    yield from (
        (name, block, value)
        for name in lengths
        for block, value in _blocks(symptoms).items()
        if value <= LARGEST and value != lengths[name]
    )


def _right_where_equal(symptoms: Symptoms, base: dict[str, int], one: str, other: str, block: int = 0) -> bool:
    """In three cases; of a block, not where the length is another multiple of it: then a mask is what is missing."""
    if not block:
        third = max(base.values()) + 1
        cases = {one: base[other]}, {other: base[one]}, {one: third, other: third}
        return all(_right(symptoms, base | equal) for equal in cases)
    return bool(
        _right(symptoms, base | {one: block})
        and _right(symptoms, base | {one: 2 * block}, {other: 2 * block})
        and _right(symptoms, base | {one: 2 * block}) is False
    )


def _right_where_all_are_equal(symptoms: Symptoms, base: dict[str, int]) -> bool:
    """Of three lengths or more, also where all are as large as the largest: small ones may be right for being small."""
    sides = min(base.values()), max(base.values()), max(base.values()) + 1
    return len(base) > 2 and sides[-1] <= LARGEST and all(_right(symptoms, dict.fromkeys(base, side)) for side in sides)


def _right(symptoms: Symptoms, lengths: dict[str, int], keywords: dict | None = None) -> bool | None:
    return symptoms.is_right(symptoms.compare(_resized(symptoms, lengths), **(keywords or {})))


def _resized(symptoms: Symptoms, lengths: dict[str, int]) -> tuple:
    axes = symptoms.axes
    return tuple(
        _of_shape(value, [lengths.get(name, length) for name, length in zip(axes[argument], value.shape)])
        if isinstance(value, np.ndarray) and argument in axes
        else value
        for argument, value in zip(symptoms.names, symptoms.args)
    )


def _of_shape(array: np.ndarray, shape: list[int]) -> np.ndarray:
    """Its values again and again; those of floats a little smaller each, so that no two are alike."""
    values = np.resize(array if array.size else np.ones(1), shape)
    if not is_float(array.dtype):
        return values.astype(array.dtype)
    return (values * np.linspace(1, 0.5, values.size).reshape(shape)).astype(array.dtype)
