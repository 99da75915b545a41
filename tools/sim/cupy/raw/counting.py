"""The requests of a launch, as the runtime noted them, reduced to figures for each line of the source."""

from math import prod

import numpy as np

from tools.models import banks, sectors
from tools.models.units import WARP
from tools.sim import faults
from tools.sim.counters import Counts, Launch, Line, Warps, used_axes
from tools.sim.cupy.raw import library
from tools.sim.cupy.raw.origin import Origin

BYTES = {"load": "bytes_loaded", "store": "bytes_stored", "atomic": "bytes_atomic"}


class Counting:
    """The counts of one launch."""

    def __init__(self, loaded: library.Library) -> None:
        self._loaded = loaded
        self._counts: dict[tuple[int, str], Counts] = {}  # by place in the code and kind

    def take(self) -> None:
        """Reduce what the runtime has noted so far, and let it forget that."""
        rows, number = library.Rows(), 0
        while self._loaded.simt_rows(number, rows):
            number += 1
            if rows.count:
                addresses = np.ctypeslib.as_array(rows.addresses, (rows.count, WARP))
                self._add(rows, addresses, library.OPERATIONS[rows.operation], library.SPACES[rows.space])
        self._loaded.simt_forget_rows()

    def _add(self, rows: library.Rows, addresses: np.ndarray, operation: str, space: str) -> None:
        mask, requests = addresses >= 0, len(addresses)
        lanes = int(np.count_nonzero(mask))
        warps = Warps(instructions=requests, lanes=lanes)
        if space == "global":
            of_request = sectors.atomic_sectors if operation == "atomic" else sectors.sectors
            pieces, lines = (int(count(addresses, rows.size, mask).sum()) for count in (of_request, sectors.lines))
            counts = Counts(accesses=lanes, sectors=pieces, lines=lines, **{BYTES[operation]: lanes * rows.size})
            warps.requests = requests
        else:
            wavefronts, conflicts = banks.count(addresses, rows.size, mask, operation)
            counts, warps.shared_requests, warps.bytes_shared = Counts(), requests, lanes * rows.size
            warps.wavefronts, warps.conflicts = int(wavefronts.sum()), int(conflicts.sum())
            if operation == "atomic":
                warps.same_word = int(banks.same_word(addresses, rows.size, mask).sum())
        counts.warps = warps
        kind = operation if space == "global" else f"shared {operation}"
        self._counts.setdefault((rows.place, kind), Counts(warps=Warps())).include(counts)

    def _barriers(self) -> dict[tuple[int, str], Counts]:
        """Warps that came to them, by line."""
        tally = self._loaded.tally("barriers")
        found: dict[tuple[int, str], Counts] = {}
        for line, times in zip(self._loaded.lines(tally), tally.values()):
            found.setdefault((line, "barrier"), Counts(warps=Warps())).include(Counts(warps=Warps(barriers=times)))
        return found

    def _products(self) -> dict[tuple[int, str], Counts]:
        """Operations of tensor cores, by line."""
        tally = self._loaded.tally("products")
        found: dict[tuple[int, str], Counts] = {}
        for line, flops in zip(self._loaded.lines(tally), tally.values()):
            found.setdefault((line, "dot"), Counts(warps=Warps())).include(Counts(flops=flops))
        return found

    def _arithmetic(self) -> dict[tuple[int, str], Counts]:
        """The lanes' work in double, by line."""
        lanes = self._loaded.tally("lanes")
        found: dict[tuple[int, str], Counts] = {}
        done = [each for each in self._loaded.doubles if lanes.get(each.block)]
        for each, line in zip(done, self._loaded.lines([each.place for each in done])):
            times = lanes[each.block]
            found.setdefault((line, "arithmetic"), Counts(warps=Warps())).include(
                Counts(float64=times * each.float64, conversions=times * each.conversions)
            )
        return found

    def launch(self, kernel: str, grid: tuple[int, ...], block: tuple[int, ...], origin: Origin) -> Launch:
        """All of it, lines in the order in which they first ran."""
        places = [place for place, _ in self._counts]
        lines: dict[tuple[int, str], Counts] = {}
        for number, ((_, kind), counts) in zip(self._loaded.lines(places), self._counts.items()):
            lines.setdefault((number, kind), Counts(warps=Warps())).include(counts)
        lines |= self._barriers() | self._products() | self._arithmetic()
        total = sum(lines.values(), Counts(programs=prod(grid), warps=Warps()))
        flow = library.Flow()
        self._loaded.simt_flow(flow)
        for name in library.FLOW:
            setattr(total.warps, name, getattr(flow, name))
        return Launch(
            kernel,
            used_axes(grid),
            total,
            tuple(
                Line(*faults.describe(origin.spot(number, kernel)), kind, counts)
                for (number, kind), counts in lines.items()
            ),
            used_axes(block),
        )
