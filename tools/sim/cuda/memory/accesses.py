"""Accesses to memory as the search for races compares them: grouped by element, and by who may not share one."""

from typing import Any, NamedTuple

import numpy as np

from tools.models.units import WARP
from tools.sim.cuda.memory.lanes import Lanes
from tools.sim.faults import Spot


class Access(NamedTuple):
    """One access of the lanes `who`: keys, where in the storage. epochs: of their blocks and of their warps.

    epoch: how often what was done before has been made known to other blocks. values: stored ones, if they are known.
    met: how often before it some lanes of a warp met without the others: see meetings.py.
    passed: how many syncwarps and fences came before it.
    """

    spot: Spot
    operation: str
    keys: np.ndarray
    who: np.ndarray
    block_epochs: np.ndarray
    warp_epochs: np.ndarray
    epoch: int = 0
    values: Any = None
    met: int = 0
    passed: int = 0


class Members(NamedTuple):
    """Single accesses of lanes to suspect elements, in the order in which they happened; all int64[n]."""

    keys: np.ndarray
    who: np.ndarray
    warps: np.ndarray
    blocks: np.ndarray
    block_epochs: np.ndarray
    warp_epochs: np.ndarray
    epochs: np.ndarray
    writes: np.ndarray
    atomics: np.ndarray
    guesses: np.ndarray
    numbers: np.ndarray  # of the Access
    met: np.ndarray


def members_of(accesses: list[Access], suspects: np.ndarray, lanes: Lanes) -> Members:
    rows = []
    for number, access in enumerate(accesses):
        among = np.isin(access.keys, suspects)
        keys, who = access.keys[among], access.who[among]
        block, warp = who // lanes.width, who // WARP
        kinds = (np.full(who.size, access.operation == each) for each in ("store", "atomic", "guess"))
        rows.append(
            (
                keys,
                who,
                warp,
                block,
                access.block_epochs[block],
                access.warp_epochs[warp],
                np.full(who.size, access.epoch),
                *kinds,
                np.full(who.size, number),
                np.full(who.size, access.met),
            )
        )
    return Members(*(np.concatenate(column) for column in zip(*rows)))


def racing(group: tuple, party: np.ndarray, members: Members) -> np.ndarray:
    """Numbers of the members in the first group that several parties share, and that is not only read or updated."""
    order = np.lexsort(group[::-1])
    changes = np.any([column[order][1:] != column[order][:-1] for column in group], axis=0)
    starts = np.flatnonzero(np.concatenate(([True], changes)))
    several = np.maximum.reduceat(party[order], starts) != np.minimum.reduceat(party[order], starts)
    written, updated = (np.logical_or.reduceat(each[order], starts) for each in (members.writes, members.atomics))
    read = np.logical_or.reduceat(~(members.writes | members.atomics | members.guesses)[order], starts)
    bad = np.flatnonzero(several & (written | (updated & read)))
    if not bad.size:
        return bad
    ends = np.append(starts[1:], order.size)
    groups = [np.sort(order[starts[each] : ends[each]]) for each in bad[:64]]  # of so many, the one that ends first
    return min(groups, key=lambda members: members[1])


def pair(members: Members, racing: np.ndarray, party: np.ndarray) -> tuple[int, int] | None:
    """An earlier access and the first of the group that races with it; None where only guesses would."""
    for place, second in enumerate(racing):
        for first in racing[:place]:
            if party[first] != party[second] and not harmless(members, first, second):
                return first, second
    return None


def harmless(members: Members, one: Any, other: Any) -> Any:
    """Do neither of the two accesses change anything, or both as atomics, or one so and the other guesses?"""
    writes, atomics, guesses = ((each[one], each[other]) for each in (members.writes, members.atomics, members.guesses))
    changes = writes[0] | writes[1] | atomics[0] | atomics[1]
    return ~changes | (atomics[0] & atomics[1]) | ((atomics[0] | atomics[1]) & (guesses[0] | guesses[1]))


def same_value(one: Access, lane: int, other: Access, other_lane: int) -> bool:
    """Do both store, and the same? The lanes are among those of the accesses."""
    if one.operation != "store" or other.operation != "store" or one.values is None or other.values is None:
        return False
    values = [
        each.values[number] if np.ndim(each.values) else each.values
        for each, number in ((one, lane), (other, other_lane))
    ]
    return bool(values[0] == values[1])


def in_one_step(accesses: list[Access]) -> bool:
    """Are the first and the last of these, in order, one store by two lanes, or a read and the store of its line?

    A loop without a barrier comes to a line again; then a store of that line lies between the two.
    """
    before, between, after = accesses[0], accesses[1:-1], accesses[-1]
    if after.operation != "store" or after.spot != before.spot:
        return False
    if before is after:
        return True
    stored = any(access.operation == "store" and access.spot == after.spot for access in between)
    return before.operation in ("load", "guess") and not stored
