"""Data races: two threads touch one element, at least one writes, and nothing puts them in order.

Accesses are remembered until a barrier that all blocks pass. Then, for arrays that were written, those of one
element are compared: accesses by different blocks, by different warps of a block with no barrier between, and by
different lanes of a warp with neither a barrier nor a syncwarp between are a race. Atomics race only with plain
accesses. Across barriers, the blocks that have touched each element of global memory stay remembered.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from tools.models.units import WARP
from tools.sim.cuda.faults import Fault
from tools.sim.cuda.memory.lanes import Lanes
from tools.sim.cuda.memory.storage import Storage
from tools.sim.faults import Spot

NOBODY, SEVERAL = -1, -2  # instead of a block's number
MOST_REMEMBERED = 1 << 25  # accesses; more are compared in portions, and a race across two of them is missed
NAMES = {
    ("store", "load"): "read-after-write",
    ("load", "store"): "write-after-read",
    ("store", "store"): "write-after-write",
}
DOES = {"load": "reads", "store": "writes", "atomic": "updates"}
DID = {"load": "read", "store": "wrote", "atomic": "updated"}


class Access(NamedTuple):
    """One access of the lanes `who`: keys, where in the storage. epochs: of their blocks and of their warps."""

    spot: Spot
    operation: str
    keys: np.ndarray
    who: np.ndarray
    block_epochs: np.ndarray
    warp_epochs: np.ndarray


class Races:
    """Of the blocks that `lanes` run. known: storage -> Touched, of the blocks that ran before."""

    def __init__(self, lanes: Lanes, known: dict) -> None:
        self.lanes, self.known = lanes, known
        self.everyone = np.arange(lanes.count)
        self.accesses: dict[Storage, list[Access]] = {}
        self.remembered = 0
        self.block_epochs = np.zeros(lanes.blocks, np.int64)
        self.warp_epochs = np.zeros(lanes.count // WARP, np.int64)

    def access(self, spot: Spot, storage: Storage, keys: np.ndarray, operation: str) -> None:
        """Remember what the active lanes do."""
        who = self.everyone if self.lanes.indices is None else self.lanes.indices
        self.accesses.setdefault(storage, []).append(
            Access(spot, operation, keys, who, self.block_epochs, self.warp_epochs)
        )
        self.remembered += keys.size
        if self.remembered > MOST_REMEMBERED:
            self.settle()

    def barrier(self, here: np.ndarray, running: np.ndarray) -> None:
        """The blocks marked `here` pass a barrier; `running` are those that have not ended."""
        if (here == running).all():
            self.settle()
        else:
            self.block_epochs = self.block_epochs + here

    def warp_barrier(self, warps: np.ndarray) -> None:
        """These warps pass a syncwarp."""
        self.warp_epochs = self.warp_epochs + warps

    def fence(self, blocks: np.ndarray) -> None:
        """All that these blocks did to global memory comes before what others do from now on."""
        self.settle()
        for touched in self.known.values():
            for by in (touched.reader, touched.writer):
                by[np.isin(by, self.lanes.first + blocks)] = NOBODY

    def grid_barrier(self) -> None:
        """All blocks have come here."""
        self.settle()
        self.known.clear()

    def settle(self) -> None:
        """Compare what is remembered, and forget it. Raises Fault."""
        for storage, accesses in self.accesses.items():
            if any(access.operation != "load" for access in accesses):
                self._compare(storage, accesses)
                if storage.kind == "global" and self.lanes.grid != (1, 1, 1):
                    self._compare_with_known(storage, accesses)
        self.accesses.clear()
        self.remembered = 0

    # Within these blocks -------------------------------------------------------------------------

    def _compare(self, storage: Storage, accesses: list[Access]) -> None:
        if all(access.operation == "atomic" for access in accesses):
            return
        suspects = self._suspects(storage, accesses)
        if suspects.size:
            members = _members(accesses, suspects, self.lanes)
            for group, party, why in self._orders(storage, members):
                racing = _racing(group, party, members)
                if racing.size:
                    raise self._fault(storage, accesses, members, racing, party, why)

    def _suspects(self, storage: Storage, accesses: list[Access]) -> np.ndarray:
        """Elements that one lane wrote or updated, and another touched. Each writer leaves its number there."""
        if storage.owners is None:
            storage.owners = np.zeros(storage.flat.size, np.int64)
        owners, first = storage.owners, storage.first_owner
        storage.first_owner += self.lanes.count
        for access in accesses:
            if access.operation != "load":
                owners[access.keys] = access.who + first
        shared = []
        for access in accesses:
            owner = owners[access.keys] - first
            other = (owner >= 0) & (owner != access.who)
            if other.any():
                shared.append(access.keys[other])
        return np.unique(np.concatenate(shared)) if shared else np.empty(0, np.int64)

    def _orders(self, storage: Storage, members: "Members") -> Iterator[tuple[tuple, np.ndarray, str]]:
        """Orders to look for, from far to near: groups of accesses, parties that must not share one, the remedy."""
        if storage.kind == "global":
            yield (members.keys,), members.blocks, "Blocks run in any order."
        by_block = members.keys, members.blocks, members.block_epochs
        yield by_block, members.warps, "No barrier lies between the two."
        by_warp = *by_block, members.warps, members.warp_epochs
        yield by_warp, members.who, "Neither a barrier nor a syncwarp lies between the two."

    def _fault(
        self,
        storage: Storage,
        accesses: list[Access],
        members: "Members",
        racing: np.ndarray,
        party: np.ndarray,
        why: str,
    ) -> Fault:
        """The first pair among the accesses `racing` to one element, told from the later one."""
        first, second = _pair(members, racing, party)
        before, after = accesses[members.numbers[first]], accesses[members.numbers[second]]
        lane, other = int(members.who[second]), int(members.who[first])
        return self._report(
            storage,
            int(members.keys[second]),
            lane,
            after,
            before.operation,
            f"{self.lanes.name(other)} {DID[before.operation]} in line {before.spot.line}",
            why,
        )

    def _report(
        self, storage: Storage, key: int, lane: int, after: Access, operation: str, before: str, why: str
    ) -> Fault:
        kind = NAMES.get((_as_plain(operation), _as_plain(after.operation)), "write-after-write")
        block, thread = self.lanes.place(lane)
        what = f"{self.lanes.name(lane)} {DOES[after.operation]} {storage.element(key)},\nwhich {before}.\n{why}"
        return Fault(
            "race",
            what,
            f"A {kind} race: either may come first. What puts them in order?",
            block=block,
            thread=thread,
            spot=after.spot,
            array=storage.name,
            operation=after.operation,
        )

    # With blocks that ran before -----------------------------------------------------------------

    def _compare_with_known(self, storage: Storage, accesses: list[Access]) -> None:
        """Blocks of other batches, or of this one before a barrier: nothing orders two blocks."""
        touched = self.known.setdefault(storage, Touched(storage.flat.size))
        blocks = [self.lanes.first + access.who // self.lanes.width for access in accesses]
        for access, block in zip(accesses, blocks):
            for operation, by in touched.against(access.operation):
                other = by[access.keys]
                foreign = (other != NOBODY) & (other != block)
                if foreign.any():
                    place = int(np.flatnonzero(foreign)[0])
                    who = "several blocks" if other[place] == SEVERAL else f"block {other[place]}"
                    raise self._report(
                        storage,
                        int(access.keys[place]),
                        int(access.who[place]),
                        access,
                        operation,
                        f"{who} {DID[operation]} before",
                        "Blocks run in any order.",
                    )
        for access, block in zip(accesses, blocks):
            touched.note(access, block)


class Touched:
    """For each element of global memory, which block has read it, written it, updated it."""

    def __init__(self, size: int) -> None:
        self.reader, self.writer, self.updater = (np.full(size, NOBODY, np.int32) for _ in range(3))

    def against(self, operation: str) -> list[tuple[str, np.ndarray]]:
        """The operations that this one races with, and by whom they were done."""
        others = {"load": ("store", "atomic"), "store": ("load", "store", "atomic"), "atomic": ("load", "store")}
        return [(each, self._of(each)) for each in others[operation]]

    def note(self, access: Access, blocks: np.ndarray) -> None:
        by = self._of(access.operation)
        before = by[access.keys]
        by[access.keys] = blocks
        several = (by[access.keys] != blocks) | ((before != NOBODY) & (before != blocks))
        by[access.keys[several]] = SEVERAL

    def _of(self, operation: str) -> np.ndarray:
        return {"load": self.reader, "store": self.writer, "atomic": self.updater}[operation]


class Members(NamedTuple):
    """Single accesses of lanes to suspect elements, in the order in which they happened; all int64[n]."""

    keys: np.ndarray
    who: np.ndarray
    warps: np.ndarray
    blocks: np.ndarray
    block_epochs: np.ndarray
    warp_epochs: np.ndarray
    writes: np.ndarray
    atomics: np.ndarray
    numbers: np.ndarray  # of the Access


def _members(accesses: list[Access], suspects: np.ndarray, lanes: Lanes) -> Members:
    rows = []
    for number, access in enumerate(accesses):
        among = np.isin(access.keys, suspects)
        keys, who = access.keys[among], access.who[among]
        block, warp = who // lanes.width, who // WARP
        writes, atomics = (np.full(who.size, access.operation == each) for each in ("store", "atomic"))
        rows.append(
            (
                keys,
                who,
                warp,
                block,
                access.block_epochs[block],
                access.warp_epochs[warp],
                writes,
                atomics,
                np.full(who.size, number),
            )
        )
    return Members(*(np.concatenate(column) for column in zip(*rows)))


def _racing(group: tuple, party: np.ndarray, members: Members) -> np.ndarray:
    """Numbers of the members in the first group that several parties share, and that is not only read or updated."""
    order = np.lexsort(group[::-1])
    changes = np.any([column[order][1:] != column[order][:-1] for column in group], axis=0)
    starts = np.flatnonzero(np.concatenate(([True], changes)))
    several = np.maximum.reduceat(party[order], starts) != np.minimum.reduceat(party[order], starts)
    written, updated = (np.logical_or.reduceat(each[order], starts) for each in (members.writes, members.atomics))
    read = np.logical_or.reduceat(~(members.writes | members.atomics)[order], starts)
    bad = np.flatnonzero(several & (written | (updated & read)))
    if not bad.size:
        return bad
    ends = np.append(starts[1:], order.size)
    groups = [np.sort(order[starts[each] : ends[each]]) for each in bad[:64]]  # of so many, the one that ends first
    return min(groups, key=lambda members: members[1])


def _pair(members: Members, racing: np.ndarray, party: np.ndarray) -> tuple[int, int]:
    """The first access of the group with an earlier one that it races with, and that one."""
    for place, second in enumerate(racing):
        for first in racing[:place]:
            both_atomic = members.atomics[first] and members.atomics[second]
            changes = members.writes[[first, second]].any() or members.atomics[[first, second]].any()
            if party[first] != party[second] and changes and not both_atomic:
                return first, second
    raise AssertionError("a group of racing accesses has a pair that races")


def _as_plain(operation: str) -> str:
    return "load" if operation == "load" else "store"
