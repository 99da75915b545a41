"""Counts of what the warps of a launch did, line by line, in the profiler's units."""

from typing import Any

import numpy as np

from tools.models import banks, sectors
from tools.models.units import WARP
from tools.sim.counters import Counts, Line, Warps
from tools.sim.cuda.faults import learner_spot
from tools.sim.cuda.memory.lanes import Lanes, any_in_warps
from tools.sim.cuda.memory.storage import Storage
from tools.sim.faults import Spot, describe

BYTES = {"load": "bytes_loaded", "store": "bytes_stored", "atomic": "bytes_atomic"}


class Counting:
    """The figures of one launch. instructions, lanes: statements of warps, and the active lanes in them."""

    def __init__(self) -> None:
        self.instructions = self.lanes = 0
        self._lines: dict[tuple, Counts] = {}

    def lines(self) -> tuple[Line, ...]:
        """In the order in which they first ran."""
        return tuple(Line(*describe(spot), kind, counts) for (spot, kind), counts in self._lines.items())

    def total(self, blocks: int) -> Counts:
        """The whole launch."""
        counts = sum(self._lines.values(), Counts(programs=blocks, warps=Warps()))
        _warps(counts).instructions, _warps(counts).lanes = self.instructions, self.lanes
        return counts

    def branch(self, one: np.ndarray, other: np.ndarray) -> None:
        """A decision: the lanes that go one way, and those that go the other."""
        here, there = (any_in_warps(mask) for mask in (one, other))
        warps = _warps(self._line(learner_spot(), "branch"))
        warps.branches += int(np.count_nonzero(here | there))
        warps.divergent_branches += int(np.count_nonzero(here & there))

    def barrier(self, lanes: Lanes) -> None:
        """The active warps come to a barrier of their block."""
        _warps(self._line(learner_spot(), "barrier")).barriers += lanes.active_warps

    def arithmetic(self, spot: Spot) -> Counts:
        """Where operations in float64 and conversions of a line are counted."""
        return self._line(spot, "arithmetic")

    def access(self, spot: Spot, lanes: Lanes, storage: Storage, keys: Any, operation: str) -> None:
        """A load, store or atomic of the active lanes. keys: element of each, or one for all of them."""
        if storage.kind in ("local", "constant"):
            return
        counts = self._line(spot, operation if storage.kind == "global" else f"shared {operation}")
        _warps(counts).instructions += lanes.active_warps
        _warps(counts).lanes += lanes.active
        if not np.ndim(keys):  # all lanes ask for one element
            keys = np.full(lanes.active, keys)
        offsets = keys if storage.kind == "global" else keys % storage.size
        addresses, active = _rows(lanes, storage.address + offsets * storage.pitch)
        of_memory = self._global if storage.kind == "global" else self._shared
        for shift, size in _parts(storage.flat.dtype):
            of_memory(counts, lanes, addresses + shift, active, size, operation)

    def _global(
        self, counts: Counts, lanes: Lanes, addresses: np.ndarray, active: np.ndarray | None, size: int, operation: str
    ) -> None:
        name = BYTES[operation]
        setattr(counts, name, getattr(counts, name) + lanes.active * size)
        counts.accesses += lanes.active
        _warps(counts).requests += lanes.active_warps
        of_request = sectors.atomic_sectors if operation == "atomic" else sectors.sectors
        counts.sectors += int(of_request(addresses, size, active).sum())
        counts.lines += int(sectors.lines(addresses, size, active).sum())

    def _shared(
        self, counts: Counts, lanes: Lanes, addresses: np.ndarray, active: np.ndarray | None, size: int, operation: str
    ) -> None:
        wavefronts, conflicts = banks.count(addresses, size, active, operation)
        warps = _warps(counts)
        warps.bytes_shared += lanes.active * size
        warps.shared_requests += lanes.active_warps
        warps.wavefronts += int(wavefronts.sum())
        warps.conflicts += int(conflicts.sum())
        if operation == "atomic":
            warps.same_word += int(banks.same_word(addresses, size, active).sum())

    def _line(self, spot: Spot, kind: str) -> Counts:
        if (spot, kind) not in self._lines:
            self._lines[spot, kind] = Counts(warps=Warps())
        return self._lines[spot, kind]


def _warps(counts: Counts) -> Warps:
    """Its figures of warps, which counts of CUDA kernels have."""
    assert counts.warps is not None
    return counts.warps


def _parts(dtype: np.dtype) -> list[tuple[int, int]]:
    """Offset and bytes of each piece that an instruction moves: Numba moves the two halves of a complex number
    separately."""
    half = dtype.itemsize // 2
    return [(0, half), (half, half)] if dtype.kind == "c" else [(0, dtype.itemsize)]


def _rows(lanes: Lanes, addresses: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """Addresses of the active lanes with a row for each active warp, and which of a row's lanes are active."""
    active = lanes.indices
    if active is None:
        return addresses.reshape(-1, WARP), None
    warps = active // WARP
    first = np.flatnonzero(np.concatenate(([True], warps[1:] != warps[:-1])))
    row = np.repeat(np.arange(first.size), np.diff(np.append(first, warps.size)))
    rows, mask = np.zeros((first.size, WARP), np.int64), np.zeros((first.size, WARP), bool)
    rows[row, active % WARP] = addresses
    mask[row, active % WARP] = True
    return rows, mask
