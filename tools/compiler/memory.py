"""Accesses of a compiled kernel to global memory, source line by source line, in one launch of it."""

import linecache
import math
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from triton.runtime.jit import get_jit_fn_file_line

from tools.compiler import addresses, diagnostics, layouts, locations, machine_code, ttgir
from tools.compiler.capture import Launch
from tools.compiler.evidence import Access
from tools.compiler.locations import Place
from tools.compiler.machine_code import Instruction

PROGRAMS = 8  # of a grid that are looked at
_SPACE = 40  # bits of an address within a storage

Lists = dict[tuple[str, int, str], list]  # by file, line and kind


def accesses(launch: Launch, ttgir_file: Path) -> tuple[Access, ...]:
    """In the order of the source."""
    text = ttgir_file.read_text(encoding="utf-8")
    instructions = machine_code.accesses(launch.compiled.asm["ptx"])
    widths: Lists = defaultdict(list)
    counts: Lists = defaultdict(list)
    for instruction in instructions:
        widths[_line(instruction.place, instruction.kind)].append(instruction.width)
    for place, kind, counted in _touches(launch, text, ttgir_file, instructions):
        counts[_line(place, kind)].append(counted)
    moved = {locations.file_of_kernel(text): get_jit_fn_file_line(launch.kernel)[0]}
    return tuple(access(*key, widths[key], counts[key], moved) for key in sorted({*widths, *counts}))


def widths_of(ptx: str) -> tuple[Access, ...]:
    """Widths by source line alone: what a launch touches, the counters of a simulator know."""
    widths: Lists = defaultdict(list)
    for each in machine_code.accesses(ptx):
        widths[_line(each.place, each.kind)].append(each.width)
    return tuple(access(*key, widths[key], [], {}) for key in sorted(widths))


def _line(place: Place, kind: str) -> tuple[str, int, str]:
    return place.file, place.line, kind


def access(file: str, line: int, kind: str, widths: list[int], counts: list, moved: dict[str | None, str]) -> Access:
    """What one line does. widths: of its instructions, in bytes. moved: where files are that were compiled before.

    counts: (requests, sectors, useful bytes) of each touch, None for one that is unknown.
    """
    known = counts and all(counts)
    requests, sectors, useful = np.sum(counts, axis=0).tolist() if known else (None, None, None)
    file = moved.get(file, file)
    return Access(
        kind=kind,
        file=diagnostics.shown(file),
        line=line,
        source=linecache.getline(file, line).strip(),
        width=max(widths, default=0),
        instructions=len(widths),
        requests=requests,
        sectors=sectors,
        useful_bytes=useful,
    )


def _touches(launch: Launch, text: str, ttgir_file: Path, instructions: list[Instruction]) -> Iterator[tuple]:
    """Place, kind and (requests, sectors, useful bytes) of each touch by some programs; None when unknown."""
    module, places = ttgir.parse(text), locations.in_ttgir(text)
    found = ttgir.accesses(module)
    shapes = [access.tile_shape for access in found]
    spread = layouts.layouts_of(str(ttgir_file), launch.compiled.metadata.target, shapes)
    arguments = virtual(launch.arguments)
    widths: dict[tuple[Place, str], int] = {}
    for each in instructions:
        widths[each.place, each.kind] = max(each.width, widths.get((each.place, each.kind), 0))
    for program in _programs(launch.grid):
        for touch in addresses.touches(module, arguments, program, launch.grid):
            place, kind = places.get(found[touch.number].location), found[touch.number].kind
            if place:
                seen = touch.addresses is not None
                request = (spread[touch.number], touch, widths.get((place, kind), 0), kind)
                yield place, kind, layouts.requests(*request) if seen else None


def virtual(arguments: dict[str, Any]) -> dict[str, int]:
    """Numbers as they are; for a tensor the address of its first element, in an address space of its storage.

    Real addresses would give other sectors in every run. On a GPU a storage starts at a multiple of 512.
    """
    storages: dict[int, int] = {}
    numbers = {}
    for name, value in arguments.items():
        if isinstance(value, (bool, int, np.integer)):
            numbers[name] = int(value)
        elif hasattr(value, "untyped_storage"):
            number = storages.setdefault(value.untyped_storage().data_ptr() or id(value), len(storages) + 1)
            numbers[name] = (number << _SPACE) + value.storage_offset() * value.element_size()
    return numbers


def _programs(grid: tuple[int, int, int]) -> list[tuple[int, int, int]]:
    """Some programs, spread evenly over the grid; all when they are few."""
    total = math.prod(grid)
    chosen = np.unique(np.linspace(0, total - 1, min(total, PROGRAMS)).astype(int)).tolist() if total else []
    return [(int(n % grid[0]), int(n // grid[0] % grid[1]), int(n // grid[0] // grid[1])) for n in chosen]
