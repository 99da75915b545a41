"""Chips by name, with the limits of their multiprocessors; figures and sources are in chips.toml."""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

TABLE = Path(__file__).with_name("chips.toml")


@dataclass(frozen=True)
class Limits:
    """What one multiprocessor has room for. Shared memory in bytes, registers of 32 bits.

    tensor_memory: columns, 0 where there is none.
    """

    warps: int
    blocks: int
    registers: int
    shared: int
    shared_per_block: int
    shared_reserved: int
    shared_unit: int
    register_unit: int
    tensor_memory: int
    source: str


@dataclass(frozen=True)
class Chip:
    """One chip. capability: 90 for compute capability 9.0."""

    key: str
    name: str
    capability: int
    multiprocessors: int
    limits: Limits
    source: str


@cache
def chips() -> dict[str, Chip]:
    """All chips of the table, by the name that the course uses for them."""
    table = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    limits = {int(capability): Limits(**figures) for capability, figures in table["capability"].items()}
    return {
        key: Chip(key, limits=limits[facts["capability"]], **facts) for key, facts in table["chip"].items()
    }


def chip(key: str) -> Chip:
    """The chip called `key`. ValueError, which lists the known ones, when there is none."""
    if key not in chips():
        raise ValueError(f"no chip is called {key!r}; the table has {', '.join(chips())}")
    return chips()[key]
