"""Occupancy: how many blocks fit on one multiprocessor at a time, and what keeps more out."""

from dataclasses import dataclass, field

from tools.models.chips import Limits
from tools.models.units import WARP

PARTITIONS = 4  # of a multiprocessor; each has a quarter of the registers, and a warp lives in one
BLOCK_WARPS = 32  # the most of one block, and
THREAD_REGISTERS = 255  # the most of one thread, on every chip of the table


@dataclass(frozen=True)
class Occupancy:
    """blocks, warps: resident on one multiprocessor. of_warps: the most that it holds.

    limiter: what runs out first: "warps", "blocks", "registers" or "shared memory", the first of several. limiters: all
    that run out at so many blocks.
    """

    blocks: int
    warps: int
    of_warps: int
    limiter: str
    limiters: tuple[str, ...] = field(default=(), compare=False)

    @property
    def fraction(self) -> float:
        return self.warps / self.of_warps


def occupancy(limits: Limits, warps: int, registers: int, shared: int) -> Occupancy:
    """Occupancy of a kernel, as NVIDIA's cuda_occupancy.h has it for kernels that name no barriers.

    warps, shared (bytes): what a block needs; a part of a warp is a whole one. registers: what a thread needs.
    A kernel that cannot be launched at all has 0 blocks.
    """
    fits = {
        "warps": limits.warps // warps if warps <= BLOCK_WARPS else 0,
        "blocks": limits.blocks,
        "registers": _blocks_by_registers(limits, warps, registers),
        "shared memory": _blocks_by_shared(limits, shared),
    }
    limiters = tuple(name for name, blocks in fits.items() if blocks == min(fits.values()))
    blocks = fits[limiters[0]]
    return Occupancy(blocks, blocks * warps, limits.warps, limiters[0], limiters)


def _blocks_by_registers(limits: Limits, warps: int, registers: int) -> int:
    if registers > THREAD_REGISTERS:
        return 0
    of_warp = _round_up(max(registers, 1) * WARP, limits.register_unit)
    return limits.registers // PARTITIONS // of_warp * PARTITIONS // warps


def _blocks_by_shared(limits: Limits, shared: int) -> int:
    if shared > limits.shared_per_block:
        return 0
    return limits.shared // max(1, _round_up(shared + limits.shared_reserved, limits.shared_unit))


def _round_up(value: int, unit: int) -> int:
    return -(-value // unit) * unit
