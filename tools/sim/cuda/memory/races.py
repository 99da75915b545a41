"""Data races: two threads touch one element, at least one writes, and nothing puts them in order.

Accesses are remembered until a barrier that all blocks pass. Then, for arrays that were written, those of one
element are compared: accesses by different blocks, by different warps of a block with no barrier between, and by
different lanes of a warp with neither a barrier nor a syncwarp of both between are a race. Atomics race only with plain
accesses, but for a guess: a read whose value is what the lane's compare-and-swap of that element expects to find.
Across barriers, what blocks did to each element of global memory stays remembered: see between.py.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from tools.models.units import WARP
from tools.sim.cuda.faults import Fault
from tools.sim.cuda.memory import race_words
from tools.sim.cuda.memory.accesses import Access, Members, in_one_step, members_of, pair, racing, same_value
from tools.sim.cuda.memory.between import SEVERAL, Between
from tools.sim.cuda.memory.lanes import Lanes
from tools.sim.cuda.memory.meetings import Meeting, meet, unordered
from tools.sim.cuda.memory.race_words import DID, DOES, Passed, no_barrier, question
from tools.sim.cuda.memory.storage import Storage
from tools.sim.faults import Spot

MOST_VALUES = 1 << 20  # accesses; of more, it is not known whether they store the same value
MOST_REMEMBERED = 1 << 25  # accesses; more are compared in portions, and a race across two of them is missed


class Races:
    """Of the blocks that `lanes` run. between: what is known of all blocks of the launch."""

    def __init__(self, lanes: Lanes, between: Between) -> None:
        self.lanes, self.between = lanes, between
        self.everyone = np.arange(lanes.count)
        self.accesses: dict[Storage, list[Access]] = {}
        self.remembered = self.epoch = 0
        self._published: dict[Storage, int] = {}  # how many of the accesses other blocks know of
        self.block_epochs = np.zeros(lanes.blocks, np.int64)
        self.warp_epochs = np.zeros(lanes.count // WARP, np.int64)
        self.meetings: list[Meeting] = []  # of lanes without the rest of their warp
        self.passed: list[Passed] = []  # syncwarps and fences
        self._fenced = False  # since the last atomic

    def access(self, spot: Spot, storage: Storage, keys: np.ndarray, operation: str, values: Any = None) -> None:
        """Remember what the active lanes do. values: that they store, one for each lane or one for all."""
        who = self.everyone if self.lanes.indices is None else self.lanes.indices
        if operation == "atomic" and self._fenced:  # after a fence it may be a flag that orders threads of a block
            self.settle()
        elif operation == "atomic" and storage.kind == "global" and self.between.chains.used:
            self._publish()
        if operation == "load" and self.lanes.guesses:
            operation = "guess"
        self.accesses.setdefault(storage, []).append(
            Access(
                spot,
                operation,
                keys,
                who,
                self.block_epochs,
                self.warp_epochs,
                self.epoch,
                values if self.remembered < MOST_VALUES else None,
                len(self.meetings),
                len(self.passed),
            )
        )
        self.remembered += keys.size
        if self.remembered > MOST_REMEMBERED:
            self.settle()

    def updated(self, storage: Storage, keys: np.ndarray, found: np.ndarray) -> None:
        """The active lanes have updated these elements of global memory, and found this before: in turn."""
        if self.between.chains.used:
            who = self.everyone if self.lanes.indices is None else self.lanes.indices
            self.between.chains.update(storage, keys, self.lanes.first + who // self.lanes.width, found)

    def barrier(self, here: np.ndarray, running: np.ndarray) -> None:
        """The blocks marked `here` pass a barrier; `running` are those that have not ended."""
        if (here == running).all():
            self.settle()
        else:
            self.block_epochs = self.block_epochs + here

    def warp_barrier(self, warps: np.ndarray) -> None:
        """These warps pass a syncwarp, with all of their lanes that have not left."""
        self.warp_epochs = self.warp_epochs + warps

    def passes(self, spot: Spot, name: str) -> None:
        """The active lanes pass a syncwarp or a fence: of a race it will be said that it is no barrier."""
        self.passed.append(Passed(spot, name, np.asarray(self.lanes.warps(self.lanes.mask).any(axis=1))))

    def meet(self, spot: Spot, together: np.ndarray) -> None:
        """Lanes pass a syncwarp without the rest of their warp: uint32[warps, 32], of each lane those it meets."""
        self.meetings.append(meet(spot, together, self.meetings))
        self.remembered += self.lanes.count * WARP // 4  # about the memory of so many accesses
        if self.remembered > MOST_REMEMBERED:
            self.settle()

    def fence(self, blocks: np.ndarray) -> None:
        """All that these blocks did to global memory comes before what they do to it from now on."""
        self._compare_all()
        self._publish()
        self._fenced = True
        self.between.chains.fence(self.lanes.first + blocks)

    def grid_barrier(self) -> None:
        """All blocks have come here."""
        self.settle()
        self.between.clear()

    def settle(self) -> None:
        """Compare what is remembered, and forget it. Raises Fault."""
        self._compare_all()
        self._publish()
        self.accesses.clear()
        self.meetings.clear()
        self.passed.clear()
        self._fenced = False
        self._published.clear()
        self.remembered = 0

    # Within these blocks -------------------------------------------------------------------------

    def _compare_all(self) -> None:
        for storage, accesses in self.accesses.items():
            if any(access.operation in ("store", "atomic") for access in accesses):
                self._compare(storage, accesses)

    def _compare(self, storage: Storage, accesses: list[Access]) -> None:
        if all(access.operation == "atomic" for access in accesses):
            return
        suspects = self._suspects(storage, accesses)
        if suspects.size:
            members = members_of(accesses, suspects, self.lanes)
            for group, party, why in self._orders(storage, members):
                found = racing(group, party, members)
                pairs = pair(members, found, party) if found.size else None
                if pairs and why == race_words.OF_A_WARP and self.meetings:
                    pairs = unordered(group, members, self.meetings)
                if pairs:
                    raise self._fault(storage, accesses, members, *pairs, why)

    def _suspects(self, storage: Storage, accesses: list[Access]) -> np.ndarray:
        """Elements that one lane wrote or updated, and another touched. Each writer leaves its number there."""
        if storage.owners is None:
            storage.owners = np.zeros(storage.flat.size, np.int64)
        owners, first = storage.owners, storage.first_owner
        storage.first_owner += self.lanes.count
        for access in accesses:
            if access.operation in ("store", "atomic"):
                owners[access.keys] = access.who + first
        shared = []
        for access in accesses:
            owner = owners[access.keys] - first
            other = (owner >= 0) & (owner != access.who)
            if other.any():
                shared.append(access.keys[other])
        return np.unique(np.concatenate(shared)) if shared else np.empty(0, np.int64)

    def _orders(self, storage: Storage, members: Members) -> Iterator[tuple[tuple, np.ndarray, str]]:
        """Orders to look for, from far to near: groups of accesses, parties that must not share one, the remedy."""
        if storage.kind == "global":
            yield (members.keys, members.epochs), members.blocks, race_words.ANY_ORDER
        by_block = members.keys, members.blocks, members.block_epochs
        yield by_block, members.warps, race_words.OF_A_BLOCK
        by_warp = *by_block, members.warps, members.warp_epochs
        yield by_warp, members.who, race_words.OF_A_WARP

    def _fault(
        self, storage: Storage, accesses: list[Access], members: Members, first: int, second: int, why: str
    ) -> Fault:
        """The first pair of accesses to one element that race, told from the later one."""
        earlier, later = int(members.numbers[first]), int(members.numbers[second])
        before, after = accesses[earlier], accesses[later]
        lane, other = int(members.who[second]), int(members.who[first])
        if in_one_step(accesses[earlier : later + 1]):
            why = race_words.NO_BARRIER_OF_BLOCKS if why == race_words.ANY_ORDER else race_words.ONE_STEP
        elif why != race_words.ANY_ORDER:
            meetings = self.meetings[before.met : after.met] if why == race_words.OF_A_WARP else []
            passed = self.passed[before.passed : after.passed]
            why = self._left_out(lane, other, meetings) or no_barrier(passed, lane // WARP, other // WARP) or why
        return self._report(
            storage,
            int(members.keys[second]),
            lane,
            after,
            before.operation,
            f"{self.lanes.name(other)} {DID[before.operation]} in line {before.spot.line}",
            why,
            same_value(before, other, after, lane),
        )

    def _left_out(self, lane: int, other: int, meetings: list[Meeting]) -> str:
        """Which of the two the mask of the last of these syncwarps leaves out; "" if none has one of them."""
        for meeting in reversed(meetings):
            for here, out in ((lane, other), (other, lane)):
                if mask := int(meeting.together.ravel()[here]):
                    name = self.lanes.name(out).capitalize()
                    return f"{name} is not in the mask {mask:#010x} of line {meeting.spot.line}'s syncwarp."
        return ""

    def _report(
        self,
        storage: Storage,
        key: int,
        lane: int,
        after: Access,
        operation: str,
        before: str,
        why: str,
        same: bool = False,
    ) -> Fault:
        """same: both store the same value."""
        block, thread = self.lanes.place(lane)
        what = f"{self.lanes.name(lane)} {DOES[after.operation]} {storage.element(key)},\nwhich {before}.\n{why}"
        return Fault(
            "race",
            what,
            question(operation, after.operation, why, same),
            block=block,
            thread=thread,
            spot=after.spot,
            array=storage.name,
            operation=after.operation,
        )

    # With other blocks, also those that ran before --------------------------------------------------

    def _publish(self) -> None:
        """Tell the other blocks what was done since the last time, and find what they did to the same elements."""
        self.epoch += 1
        if self.lanes.grid == (1, 1, 1):
            return
        for storage, accesses in self.accesses.items():
            new = accesses[self._published.get(storage, 0) :]
            self._published[storage] = len(accesses)
            if storage.kind == "global" and storage.watched:
                self._compare_with_others(storage, new)

    def _compare_with_others(self, storage: Storage, accesses: list[Access]) -> None:
        blocks = [self.lanes.first + access.who // self.lanes.width for access in accesses]
        for access, block in zip(accesses, blocks):
            conflict = self.between.conflict(storage, access, block)
            if conflict:
                who = "several blocks" if conflict.block == SEVERAL else f"block {conflict.block}"
                raise self._report(
                    storage,
                    int(access.keys[conflict.place]),
                    int(access.who[conflict.place]),
                    access,
                    conflict.operation,
                    f"{who} {DID[conflict.operation]} before",
                    race_words.ANY_ORDER,
                )
        for access, block in zip(accesses, blocks):
            self.between.note(storage, access, block)
