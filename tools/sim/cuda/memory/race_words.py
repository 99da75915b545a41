"""The words of a race report: what lies between the two accesses, and the question."""

from typing import NamedTuple

import numpy as np

from tools.sim.faults import Spot

OF_A_BLOCK = "No barrier lies between the two."
OF_A_WARP = "Neither a barrier nor a syncwarp lies between the two."
ANY_ORDER = "Blocks run in any order."
NO_BARRIER_OF_BLOCKS = f"{ANY_ORDER} A block's barrier lets no other block wait."
ONE_STEP = "Both run this line in one step: no barrier before or after it helps."
INSTEAD = {  # of a barrier, where both run one line: by what the earlier of the two does
    ONE_STEP: {
        "load": "should both work here, or all read beforehand?",
        "store": "should both write here, or each to its own place?",
    },
    NO_BARRIER_OF_BLOCKS: {
        "load": "should both blocks change it, or each its own?",
        "store": "should both write here, or each to its own place?",
    },
}
NAMES = {
    ("store", "load"): "read-after-write",
    ("load", "store"): "write-after-read",
    ("store", "store"): "write-after-write",
}
DOES = {"load": "reads", "guess": "reads", "store": "writes", "atomic": "updates"}
DID = {"load": "read", "guess": "read", "store": "wrote", "atomic": "updated"}


class Passed(NamedTuple):
    """A syncwarp or a fence: what may be taken for a barrier. warps: those that passed it, bool[warps]."""

    spot: Spot
    name: str
    warps: np.ndarray


def no_barrier(passed: list[Passed], warp: int, other: int) -> str:
    """Why the last of these, between two accesses by lanes of these two warps, is no barrier; "" if neither passed one.

    Of a syncwarp that does order the lanes of one warp, nothing is said.
    """
    for each in reversed(passed):
        if not (each.warps[warp] or each.warps[other]):
            continue
        if each.name != "syncwarp":
            return f"The {each.name} in line {each.spot.line} lets no thread wait: it is no barrier."
        if warp != other:
            return f"The syncwarp in line {each.spot.line} lets only lanes of one warp wait; these are of two."
    return ""


def question(before: str, after: str, why: str, same: bool) -> str:
    """The question of a race. before, after: the operations. why: what lies between. same: both store one value."""
    kind = NAMES.get((_as_plain(before), _as_plain(after)), "write-after-write")
    if same:
        return f"A {kind} race of equal values: a GPU lets it pass until one differs."
    if why in INSTEAD:
        return f"A {kind} race: {INSTEAD[why][_as_plain(before)]}"
    if before == after == "store":
        return f"A {kind} race: which should stay, or should each have its place?"
    return f"A {kind} race: either may come first. What puts them in order?"


def _as_plain(operation: str) -> str:
    return "load" if operation in ("load", "guess") else "store"
