"""Chips by name: the limits of their multiprocessors, their clocks and peaks. Figures and sources: chips.toml."""

import tomllib
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

TABLE = Path(__file__).with_name("chips.toml")


@dataclass(frozen=True)
class Limits:
    """What one multiprocessor has room for. Shared memory in bytes, registers of 32 bits.

    lanes: fp32 operations that begin in one clock. tensor_memory: columns, 0 where there is none.
    """

    warps: int
    blocks: int
    registers: int
    shared: int
    shared_per_block: int
    shared_reserved: int
    shared_unit: int
    register_unit: int
    lanes: int
    tensor_memory: int
    source: str


@dataclass(frozen=True)
class Chip:
    """One chip. capability: 90 for compute capability 9.0. cards: what the driver calls it.

    bandwidth: of device memory, bytes/s. bus_bits, memory_mhz: its width, and its clock, in which each wire sends
    two bits. host_bandwidth: over host_link in one direction, bytes/s. l2: bytes.
    peaks: dtype -> flop/s of dense arithmetic; fp64 and fp32 of the lanes, the others of tensor cores.
    sources: figure -> the document that states it.
    """

    key: str
    name: str
    cards: tuple[str, ...]
    capability: int
    multiprocessors: int
    boost_mhz: int
    bandwidth: float
    bus_bits: int
    memory_mhz: int
    l2: int
    host_link: str
    host_bandwidth: float
    limits: Limits
    peaks: dict[str, float] = field(hash=False)
    sources: dict[str, str] = field(hash=False)

    @property
    def fp32_of_lanes(self) -> float:
        """flop/s when every lane multiplies and adds in every clock at boost."""
        return 2 * self.multiprocessors * self.limits.lanes * self.boost_mhz * 1e6

    @property
    def properties(self) -> dict[str, int]:
        """What Triton's driver tells of a card: bytes, registers of a block, clocks in kHz, the bus in bits."""
        return {
            "max_shared_mem": self.limits.shared_per_block,
            "max_num_regs": self.limits.registers,
            "multiprocessor_count": self.multiprocessors,
            "warpSize": 32,
            "sm_clock_rate": 1000 * self.boost_mhz,
            "mem_clock_rate": 1000 * self.memory_mhz,
            "mem_bus_width": self.bus_bits,
        }


@cache
def chips() -> dict[str, Chip]:
    """All chips of the table, by the name that the course uses for them."""
    table = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    titles = table["source"]
    limits = {int(capability): _limits(facts, titles) for capability, facts in table["capability"].items()}
    return {key: _chip(key, facts, limits[facts["capability"]], titles) for key, facts in table["chip"].items()}


def chip(key: str) -> Chip:
    """The chip called `key`. ValueError, which lists the known ones, when there is none."""
    if key not in chips():
        raise ValueError(f"no chip is called {key!r}; the table has {', '.join(chips())}")
    return chips()[key]


def detect(card: str, capability: int) -> Chip | None:
    """The chip of a card, as the driver names it: detect("NVIDIA H200", 90). None where the table has none.

    A name must be equal: "NVIDIA H100 PCIe" has fewer multiprocessors than the H100 of the table.
    """
    known = (chip for chip in chips().values() if card in chip.cards and chip.capability == capability)
    return next(known, None)


def _limits(facts: dict, titles: dict[str, str]) -> Limits:
    sources = facts.pop("sources")
    return Limits(**facts, source="; ".join(titles[source] for source in sources))


def _chip(key: str, facts: dict, limits: Limits, titles: dict[str, str]) -> Chip:
    cards, peaks = facts.pop("cards"), {dtype: peak * 1e12 for dtype, peak in facts.pop("peaks").items()}
    sources = {figure: titles[source] for source, figures in facts.pop("sources").items() for figure in figures}
    sources |= {dtype: sources.get(dtype, sources["peaks"]) for dtype in peaks}
    return Chip(key, limits=limits, cards=tuple(cards), peaks=peaks, sources=sources, **facts)
