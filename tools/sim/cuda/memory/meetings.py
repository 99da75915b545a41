"""Meetings of some lanes of a warp: a syncwarp whose mask leaves lanes out orders only those that it names.

Each lane counts its meetings, and knows of each lane of its warp how many that one had when they last met, or when
somebody met it whom they met later. What a lane did after its n-th meeting comes before what another does that knows
of more than n.
"""

from typing import NamedTuple

import numpy as np

from tools.models.units import WARP
from tools.sim.cuda.memory.accesses import Members, harmless
from tools.sim.faults import Spot

LANE = np.arange(WARP, dtype=np.uint32)


class Meeting(NamedTuple):
    """A syncwarp. together: the lanes that meet, for each lane, 0 for those that do not: uint32[warps, 32].

    known: of each lane's meetings, by each lane of its warp, from here on: int32[warps, 32, 32].
    """

    spot: Spot
    together: np.ndarray
    known: np.ndarray


def meet(spot: Spot, together: np.ndarray, before: list[Meeting]) -> Meeting:
    known = before[-1].known.copy() if before else np.zeros((len(together), WARP, WARP), np.int32)
    warps = np.flatnonzero(together.any(axis=1))
    masks, of_these = together[warps], known[warps]
    of_these[:, LANE, LANE] += masks != 0
    joined = of_these.copy()
    for lane in range(WARP):
        named = (masks >> np.uint32(lane) & np.uint32(1)).astype(bool)
        joined = np.where(named[:, :, None], np.maximum(joined, of_these[:, None, lane]), joined)
    known[warps] = joined
    return Meeting(spot, together, known)


def unordered(group: tuple, members: Members, meetings: list[Meeting]) -> tuple[int, int] | None:
    """The access of a warp that races first in spite of these meetings, after the first that it races with."""
    order = np.lexsort(group[::-1])
    changes = np.any([column[order][1:] != column[order][:-1] for column in group], axis=0)
    groups = np.concatenate(([0], np.cumsum(changes)))
    lane = members.who % WARP
    own = _known(members, np.arange(order.size), lane, meetings)
    found: list[tuple[int, int]] = []
    for apart in range(1, order.size):
        alike = groups[apart:] == groups[:-apart]
        if not alike.any():
            break
        first, second = order[:-apart][alike], order[apart:][alike]
        ordered = _known(members, second, lane[first], meetings) > own[first]
        bad = np.flatnonzero((members.who[first] != members.who[second]) & ~ordered & ~harmless(members, first, second))
        found += [min(zip(second[bad].tolist(), first[bad].tolist()))] if bad.size else []
    if not found:
        return None
    later, earlier = min(found)
    return earlier, later


def _known(members: Members, numbers: np.ndarray, lanes: np.ndarray, meetings: list[Meeting]) -> np.ndarray:
    """Who makes these accesses knows of how many meetings of these lanes of its warp?"""
    known = np.zeros(numbers.size, np.int32)
    met = members.met[numbers]
    for number in np.unique(met[met > 0]):
        these = met == number
        who = members.who[numbers[these]]
        known[these] = meetings[number - 1].known[who // WARP, who % WARP, lanes[these]]
    return known
