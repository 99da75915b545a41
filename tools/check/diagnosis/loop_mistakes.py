"""The mistakes of a loop that goes along a sum in blocks: which steps it takes instead of each of them once."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

MOST_BLOCKS = 16  # of a sum, one of which may be the odd one
MOST_DOUBLED = 6  # turns, each of which may double the sum so far; of two, it is one that is taken twice


@dataclass(frozen=True)
class Mistake:
    """taken: which of `length` steps are taken in blocks of `block`; None where that is nothing else. Of those below
    MISTAKES `candidates` says it.

    seen: what is true then, with {steps} and so on filled in: "96 steps of k", or "96 elements".
    """

    name: str
    taken: Callable[[int, int], np.ndarray | None] | None
    seen: str
    asks: str


def candidates(length: int, block: int, named: list[int]) -> Iterator[tuple[Mistake, np.ndarray]]:
    """Each with its steps. named: blocks with a name; of two, one may be how far apart those of the other begin."""
    for mistake in MISTAKES:
        if block > length or block == length and mistake.name != "steps_overlap":
            continue
        index = mistake.taken and mistake.taken(length, block)
        if index is not None and not np.array_equal(np.sort(index), np.arange(length)):
            yield mistake, index
    for apart in named if block in named and 1 < block < length else ():
        index = np.concatenate([np.arange(start, min(start + block, length)) for start in range(0, length, apart)])
        if 1 < apart != block and not np.array_equal(index, np.arange(length)):
            yield replace(BEGIN_APART, seen=BEGIN_APART.seen.replace("{apart}", str(apart))), index
    turns = -(-length // block)
    for start in range(0, length, block) if 1 < block < length <= MOST_BLOCKS * block else ():
        own = np.arange(start, min(start + block, length))
        yield FIRST_OF_TWO if turns == 2 and not start else TWICE, np.r_[:length, own]
        yield MISSING, np.setdiff1d(np.arange(length), own)
    if 3 <= turns <= MOST_DOUBLED and block > 1:
        yield DOUBLED, np.repeat(np.arange(length), 2 ** (turns - 1 - np.arange(length) // block))


def _one_apart(turns: Callable[[int, int], int]) -> Callable[[int, int], np.ndarray]:
    """Blocks that begin one step apart, as many of them as `turns` says."""

    def taken(length: int, block: int) -> np.ndarray:
        starts = range(min(turns(length, block), length))
        return np.concatenate([np.arange(start, min(start + block, length)) for start in starts] or [np.arange(0)])

    return taken


def _left_over(length: int, block: int) -> np.ndarray | None:
    whole = length // block * block
    return np.r_[:length, length - block : whole] if 0 < whole < length else None


FIRST = "It is right for the first{several} of {steps} alone."
APART = "How far apart do two steps of the loop begin, and how much does each take?"
OTHERS = "Which turns, or blocks, take the others?"
OTHERS_OF_WARPS = "Which turns, blocks or warps take the others?"
OF_WARPS = "Does every warp add its sum? How far apart do the steps of a thread begin?"
MISTAKES = (
    Mistake("first_block_only", lambda length, block: np.arange(block) if 2 * block <= length else None, FIRST, OTHERS),
    Mistake(
        "tail_ignored",
        lambda length, block: np.arange(length // block * block),
        FIRST,
        "What happens to the last {rest}?",
    ),
    Mistake(
        "tail_ignored",
        lambda length, block: np.arange((length - 1) // block * block),
        FIRST,
        "What happens to the last {rest}?",
    ),
    Mistake(
        "head_forgotten",
        lambda length, block: np.arange((length - 1) // block * block, length),
        "It is right for the last{several} of {steps} alone.",
        "What becomes of the sum of those before?",
    ),
    Mistake(
        "head_ignored",
        lambda length, block: np.arange(block, length),
        "It is right without the first {rest} of {steps}.",
        "Where does the first turn start?",
    ),
    Mistake(
        "first_block_again",
        lambda length, block: np.arange(length) % block if block > 1 else None,
        "As if each of {turns} turns took the first {block} of {steps} again.",
        "What changes from one turn to the next?",
    ),
    Mistake(
        "first_block_again",
        lambda length, block: np.arange(-(-length // block) * block) % block,
        "As if each of {turns} turns took the first {block} of {steps} again.",
        "What changes from one turn to the next?",
    ),
    Mistake(
        "every_second_block",
        lambda length, block: np.flatnonzero(np.arange(length) // block % 2 == 0),
        "It is right for every second block of {block} of {steps} alone.",
        APART,
    ),
    Mistake(
        "one_of_each_block",
        lambda length, block: np.arange(0, length, block),
        "It is right for one step in {block} of {steps} alone.",
        APART,
    ),
    Mistake(
        "steps_overlap",
        _one_apart(lambda length, block: length // block),
        "As if blocks of {block} of {steps} began one step apart.",
        APART,
    ),
    Mistake(
        "steps_overlap",
        _one_apart(lambda length, block: -(-length // block)),
        "As if blocks of {block} of {steps} began one step apart.",
        APART,
    ),
    Mistake(
        "steps_overlap",
        _one_apart(lambda length, block: length),
        "As if a block of {block} began at each of {steps}.",
        APART,
    ),
    Mistake(
        "tile_left_over",
        _left_over,
        "As if {whose} went on behind element {behind} with {over} again.",
        "What do those places hold for which there is no element?",
    ),
)
BEGIN_APART = Mistake("steps_overlap", None, "As if blocks of {block} of {steps} began {apart} apart.", APART)
DOUBLED = Mistake(
    "sum_doubled",
    None,
    "As if each of {turns} turns, {block} of {steps}, doubled the sum before it.",
    "How often is the sum so far added in one turn?",
)
TWICE = Mistake(
    "block_twice",
    None,
    "As if {odd} of {steps} were taken twice.",
    "Does each turn begin where the one before it ended?",
)
FIRST_OF_TWO = replace(TWICE, asks="Does turn 2 begin where turn 1 ended, and is the sum so far added once?")
MISSING = Mistake(
    "block_missing",
    None,
    "As if {odd} of {steps} were left out.",
    "Does each turn begin where the one before it ended?",
)
