"""Occupancy: how many blocks fit on one multiprocessor at a time, and what keeps more out."""

from dataclasses import dataclass

from tools.models.chips import Limits

WARP = 32  # threads
PARTITIONS = 4  # of a multiprocessor; each has a quarter of the registers, and a warp lives in one


@dataclass(frozen=True)
class Occupancy:
    """blocks, warps: resident on one multiprocessor. of_warps: the most that it holds.

    limiter: what runs out first: "warps", "blocks", "registers" or "shared memory", the first of several.
    """

    blocks: int
    warps: int
    of_warps: int
    limiter: str

    @property
    def fraction(self) -> float:
        return self.warps / self.of_warps


def occupancy(limits: Limits, warps: int, registers: int, shared: int) -> Occupancy:
    """Occupancy of a kernel. warps, shared (bytes): what a block needs. registers: what a thread needs."""
    fits = {
        "warps": limits.warps // warps,
        "blocks": limits.blocks,
        "registers": _blocks_by_registers(limits, warps, registers),
        "shared memory": _blocks_by_shared(limits, shared),
    }
    limiter = min(fits, key=fits.get)
    return Occupancy(fits[limiter], fits[limiter] * warps, limits.warps, limiter)


def _blocks_by_registers(limits: Limits, warps: int, registers: int) -> int:
    of_warp = _round_up(max(registers, 1) * WARP, limits.register_unit)
    return limits.registers // PARTITIONS // of_warp * PARTITIONS // warps


def _blocks_by_shared(limits: Limits, shared: int) -> int:
    if shared > limits.shared_per_block:
        return 0
    return limits.shared // max(1, _round_up(shared + limits.shared_reserved, limits.shared_unit))


def _round_up(value: int, unit: int) -> int:
    return -(-value // unit) * unit
