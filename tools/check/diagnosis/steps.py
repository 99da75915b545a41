"""Sums over blocks in which some steps are left out, or taken again: by a loop that starts, steps or ends wrongly.

The mistakes are in loop_mistakes.py: which steps a sum over so many takes instead of all of them, if it goes on in
blocks of this size. The oracle is then asked about arguments that hold just those steps, so it may be a product, a
maximum or anything else in which an axis disappears.
"""

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np

from tools.check.diagnosis.arguments import hangs_on_elements
from tools.check.diagnosis.loop_mistakes import APART, OF_WARPS, OTHERS, OTHERS_OF_WARPS, Mistake, candidates
from tools.check.diagnosis.numbers import differ
from tools.check.diagnosis.symptoms import ENOUGH_BITS, Symptoms
from tools.check.diagnosis.words import Cause, cause
from tools.models.units import WARP
from tools.sim import tables

MOST_PLACES = 3  # axes that one loop runs along: of q and k in a product, of k and v in attention
MOST_TRIED = 40  # sets of axes that the oracle is asked about
MOST_LONGER = 4  # blocks for which longer sums are asked for
BLOCKS = tuple(2**power for power in range(9))
FEWEST = 2  # whole blocks, and a part of another, of a size that has no name


class Loop:
    """An axis that disappears in the result, in all arguments that have it: places are (argument, axis)."""

    def __init__(self, symptoms: Symptoms, places: tuple[tuple[int, int], ...]):
        self.symptoms, self.places = symptoms, places
        first, axis = places[0]
        self.length = symptoms.args[first].shape[axis]

    @property
    def steps(self) -> str:
        """96 steps of k; 96 elements where the axis has no name."""
        axes = self.symptoms.axes
        names = {axes.get(self.symptoms.name_of(i), ())[axis : axis + 1] for i, axis in self.places}
        name = names.pop() if len(names) == 1 else ()
        if not name:
            return tables.quantity(self.length, "element")
        return f"{tables.quantity(self.length, 'step')} of {name[0]}"

    @property
    def whose(self) -> str:
        """a and b"""
        return " and ".join(dict.fromkeys(self.symptoms.name_of(i) for i, _ in self.places))

    def gathered(self, args: tuple, index: np.ndarray) -> tuple:
        """The arguments with just these steps along the axis."""
        changed = list(args)
        for i, axis in self.places:
            changed[i] = changed[i].take(index, axis)
        return tuple(changed)

    def wanted(self, args: tuple, index: np.ndarray) -> Any:
        return self.symptoms.ask(*self.gathered(args, index))


def some_steps_taken(symptoms: Symptoms) -> Cause | None:
    """The right result for other steps than all of them."""
    if not symptoms.comparable or not hangs_on_elements(symptoms):
        return None
    tried = set()
    for loop in loops(symptoms):
        for block in blocks(symptoms):
            for mistake, index in candidates(loop.length, block, named_blocks(symptoms)):
                key = (loop.places, tuple(np.sort(index)))
                if key in tried:
                    continue
                tried.add(key)
                if index.size and symptoms.holds(lambda call: loop.wanted(call.args, index)):
                    return _said(mistake, loop, block, index)
    return None


def no_steps_taken(symptoms: Symptoms) -> Cause | None:
    """Zeros, because the sum is shorter than a block and only whole blocks are added: longer sums show it."""
    if not symptoms.comparable or symptoms.here.got.any() or symptoms.is_slow:
        return None
    for loop in loops(symptoms):
        for block in [size for size in blocks(symptoms) if size > loop.length][:MOST_LONGER]:
            if _takes_whole_blocks(symptoms, loop, block):
                seen = f"Of {loop.steps} only whole blocks of {block} are added up."
                return cause("no_whole_block", seen, "How many turns does the loop take?")
    return None


def _takes_whole_blocks(symptoms: Symptoms, loop: Loop, block: int) -> bool:
    """Of sums of a few blocks and a rest, it takes just the blocks."""
    total = 0.0
    for whole in (2, 1, 3, 4):
        length = whole * block + (block + 1) // 2
        call = symptoms.compare(loop.gathered(symptoms.args, np.arange(length) % loop.length))
        said = loop.wanted(call.args, np.arange(whole * block))
        if said is None or call.got is None or call.got.shape != said.shape or differ(call.got, said, symptoms.slack):
            return False
        total += symptoms.telling_bits(said, call.want)
        if total >= ENOUGH_BITS:
            return True
    return False


def each_block_alone(symptoms: Symptoms) -> Cause | None:
    """An axis that stays, along which each block was treated as if there were no other."""
    if not symptoms.comparable:
        return None
    want = symptoms.here.want
    for axis, length in enumerate(want.shape):
        places = [
            (i, axis) for i, arg in enumerate(symptoms.args) if isinstance(arg, np.ndarray) and arg.shape == want.shape
        ]
        if not places or length < 2:
            continue
        loop = Loop(symptoms, tuple(places))
        for block in blocks(symptoms):
            enough = block in named_blocks(symptoms) or length > FEWEST * block
            if 1 < block < length and enough and symptoms.holds(lambda call: _joined(loop, call.args, axis, block)):
                seen = f"It is right for each block of {block} alone."
                return cause("each_block_alone", seen, "What must a block know of the ones before it?")
    return None


def _joined(loop: Loop, args: tuple, axis: int, block: int) -> np.ndarray | None:
    parts = [
        loop.wanted(args, np.arange(start, min(start + block, loop.length))) for start in range(0, loop.length, block)
    ]
    return None if any(part is None for part in parts) else np.concatenate(parts, axis)


# Which axes, which blocks ---------------------------------------------------------------------------------


def loops(symptoms: Symptoms) -> Iterator[Loop]:
    """Axes of one length that may be made longer together without changing the shape of what is wanted."""
    axes = [(i, axis) for i, arg in enumerate(symptoms.args) if isinstance(arg, np.ndarray) for axis in range(arg.ndim)]
    found: list[tuple[tuple[int, int], ...]] = []
    tried = 0
    for count in range(1, MOST_PLACES + 1):
        for places in combinations(axes, count):
            loop = Loop(symptoms, places)
            lengths = {symptoms.args[i].shape[axis] for i, axis in places}
            if len(lengths) > 1 or not loop.length or any(set(known) <= set(places) for known in found):
                continue
            tried += 1
            twice = loop.wanted(symptoms.args, np.arange(2 * loop.length) % loop.length)
            if tried > MOST_TRIED:
                return
            if twice is not None and twice.shape == symptoms.here.want.shape and _in_any_order(loop):
                found.append(places)
                yield loop


def _in_any_order(loop: Loop) -> bool:
    """Is the same wanted whatever the order of the steps, as of a sum? Not of rows that others ask for by number."""
    backwards, want = loop.wanted(loop.symptoms.args, np.arange(loop.length)[::-1]), loop.symptoms.here.want
    return backwards is not None and not differ(backwards, want, loop.symptoms.slack)


def named_blocks(symptoms: Symptoms) -> list[int]:
    """Sizes that a block may have: numbers of the call by keyword, then constants of the lesson."""
    asked = [value for value in symptoms.keywords.values() if type(value) is int]
    return list(dict.fromkeys(size for size in [*asked, *symptoms.constants] if 1 <= size <= 1024))


def blocks(symptoms: Symptoms) -> list[int]:
    """Those, then powers of two."""
    return list(dict.fromkeys([*named_blocks(symptoms), *BLOCKS]))


def _said(mistake: Mistake, loop: Loop, block: int, index: np.ndarray) -> Cause:
    length, times = loop.length, np.bincount(index, minlength=loop.length)
    odd = np.flatnonzero(times != 1)
    first, last = (int(odd[0]), int(odd[-1])) if odd.size else (0, 0)
    count, whole = np.count_nonzero(times), length // block * block
    facts = {
        "steps": loop.steps,
        "whose": loop.whose,
        "block": block,
        "turns": -(-length // block),
        "several": f" {count}" if count > 1 else "",
        "rest": "one" if length - count == 1 else length - count,
        "odd": f"number {first}" if first == last else f"numbers {first} to {last}",
        "behind": length - 1,
        "over": f"elements {length - block} to {whole - 1}" if length - block < whole - 1 else f"element {whole - 1}",
    }
    return cause(mistake.name, mistake.seen.format(**facts), _asked(mistake, loop, block).format(**facts))


def _asked(mistake: Mistake, loop: Loop, block: int) -> str:
    """The question; of blocks that are whole warps of a kernel in CUDA, a warp may be what is missing."""
    source = loop.symptoms.source
    if block % WARP or source is None or not source.has_threads:
        return mistake.asks
    return {APART: OF_WARPS, OTHERS: OTHERS_OF_WARPS}.get(mistake.asks, mistake.asks)
