"""Counters in words, where a test asserts something else about them."""

from collections import Counter
from collections.abc import Iterator, Mapping
from math import prod

from tools.check.diagnosis.arithmetic import barriers, conversions, float64, library_float64
from tools.check.diagnosis.asserted import Sides, sides_of, told_of_two
from tools.check.diagnosis.by_line import MOST_LINES, compared, lines_of, worst
from tools.check.diagnosis.global_memory import figure, requests, scattered
from tools.check.diagnosis.shared_memory import conflicts, shared, wavefronts
from tools.check.diagnosis.source import source_of
from tools.check.diagnosis.transferred import transfers, waits
from tools.check.diagnosis.unused import unused_keyword
from tools.sim import tables
from tools.sim.counters import Counters, Launch, NotCounted
from tools.words import listed, plural

MOST_LAUNCHES = 4


def told_by_counters(counters: Counters, asked: str, names: Mapping[str, object] | None = None) -> list[str]:
    """Facts and a question for an assertion whose text is `asked`. names: those that it may speak of."""
    names = names or {"counters": counters}
    own = next((name for name, value in names.items() if value is counters), "counters")
    if two := told_of_two(asked, [name for name, value in names.items() if isinstance(value, Counters)], names):
        return two if two[0].startswith(own) else []
    sides = sides_of(asked, own, names)
    asked = sides.asked if sides else asked
    tell = next((tell for words, tell in TELLERS.items() if any(word in asked for word in words)), None)
    try:
        if not counters.launches and tell not in (transfers, waits, _libraries, library_float64, _fills):
            return [_without_kernels(counters)]
        return list(tell(counters, sides)) if tell else []
    except NotCounted:  # measured counters know less
        return []


# Of the whole call -------------------------------------------------------------------------------


def _without_kernels(counters: Counters) -> str:
    if counters.library_operations:
        return f"{_list(counters.library_operations)} did the work; no kernel was launched. Which line launches yours?"
    return "No kernel was launched. Which line launches yours?"


def _has_kernels(counters: Counters) -> bool:
    """Does the lesson hold kernels? Where it cannot be read, it may."""
    source = source_of(counters.call.function) if hasattr(counters, "call") else None
    return source is None or source.has_kernels


def _instead_of_kernels(counters: Counters) -> str:
    """Of a lesson without kernels: nobody is asked to launch one."""
    return f"{_list(counters.library_operations)} worked. Which line asks for it, and on which arrays?"


def _libraries(counters: Counters, sides: Sides | None) -> Iterator[str]:
    if sides and isinstance(sides.other, list) and sides.other:
        done, wanted = Counter(counters.library_operations), Counter(sides.other)
        for name in [name for name in done | wanted if done[name] != wanted[name]][:MOST_LINES]:
            times, needed = tables.quantity(done[name], "time"), tables.quantity(wanted[name], "time")
            yield f"{name} worked {times}, needed {needed}."
        yield "Which line asks for it, and how often does that line run?"
    elif not any(not launch.kernel.startswith("cupy_") for launch in counters.launches):
        yield _without_kernels(counters) if _has_kernels(counters) else _instead_of_kernels(counters)
    else:
        yield f"{_list(counters.library_operations)} worked beside your kernel."
        yield "Which line asks for it, and what does it read and write?"


def _list(operations: list[str]) -> str:
    return " and ".join(dict.fromkeys(operations))


def _grid(counters: Counters, sides: Sides | None) -> Iterator[str]:
    if not sides or not isinstance(sides.counted, tuple):
        yield from _launches(counters, sides)
        return
    yield f"{counters.launches[0].kernel} was launched with grid {sides.counted}; needed is {sides.other}."
    if sides.counted == sides.other[::-1]:
        yield "Which axis of the grid counts what, and which number of a program goes with it?"
        return
    off = {axis: ran - needed for axis, (ran, needed) in enumerate(zip(sides.counted, sides.other)) if ran != needed}
    if set(off.values()) in ({1}, {-1}):
        many, left = ("many", "nothing") if 1 in off.values() else ("few", "something")
        yield f"That is one too {many} along {listed([f'axis {axis}' for axis in off])}."
        yield f"How does the line that computes the grid round where {left} is left over?"
    else:
        yield "Which line computes the grid, and from which lengths?"


def _launches(counters: Counters, sides: Sides | None) -> Iterator[str]:
    launched: dict[tuple, int] = {}
    for launch in counters.launches:
        launched[launch.kernel, launch.grid] = launched.get((launch.kernel, launch.grid), 0) + 1
    for (kernel, grid), times in list(launched.items())[:MOST_LAUNCHES]:
        yield f"{kernel} was launched {tables.quantity(times, 'time')} with grid {grid}."
    yield "Which line launches it, and how often does that line run?"


def _fills(counters: Counters, sides: Sides | None) -> Iterator[str]:
    if counters.library_fills:
        yield f"{_list(counters.library_fills)} wrote elements beside your kernel."
        yield "Which of them does it store anyway, and what allocates without writing?"


def _programs(counters: Counters, sides: Sides | None) -> Iterator[str]:
    ran = Counter(
        f"{launch.kernel} ran in {tables.programs(launch.counts)}{_of_threads(launch)}: the grid was {launch.grid}"
        for launch in counters.launches
    )
    for said, times in list(ran.items())[:MOST_LAUNCHES]:
        yield f"{said}{f', {times} times' if times > 1 else ''}."
    yield unused_keyword(counters) or (
        "How many elements does a block have, and how many blocks does that take?"
        if counters.warps
        else "How many blocks are there, and which program takes which?"
    )


def _of_threads(launch: Launch) -> str:
    """The size of a block, where that is known: of 256 threads, of 16 x 16 threads."""
    shape = " x ".join(map(str, launch.block))
    return f" of {shape} {plural('thread', prod(launch.block))}" if shape else ""


# Line by line ------------------------------------------------------------------------------------


def _branches(counters: Counters, sides: Sides | None) -> list[str]:
    told = worst(
        lines_of(counters),
        lambda line: line.counts.divergent_branches,
        lambda counts: f"{counts.divergent_branches:,} of {counts.branches:,} branches diverged",
    )
    return [*told, "Which threads of a warp go which way? Could whole warps go one way?"]


def _lanes(counters: Counters, sides: Sides | None) -> list[str]:
    told = worst(
        lines_of(counters),
        lambda line: line.counts.instructions and 32 - line.counts.active_lanes,
        lambda counts: f"{counts.active_lanes:.1f} of 32 lanes active",
    )
    if lines := list(told):
        return [*lines, "Which threads of a warp have nothing to do there?"]
    return ["No line moves anything with fewer lanes. Which threads of a warp have nothing to do, and in which line?"]


def _flops(counters: Counters, sides: Sides | None) -> Iterator[str]:
    yield from compared(sides, {})
    yield from worst(lines_of(counters), lambda line: line.counts.flops, lambda counts: f"{counts.flops:,} flops")
    if not counters.flops:
        yield "No line computes a dot product of tiles. Which line multiplies?"
        return
    yield (
        unused_keyword(counters) or "How large are the tiles of a dot product, and how many turns does the loop take?"
    )


TELLERS = {  # words of the assertion -> what there is to say; the first that fits is taken
    ("library_operations",): _libraries,
    ("uploads", "downloads", "copies", "_uploaded", "_downloaded", "_copied"): transfers,
    ("synchron",): waits,
    ("transfers",): transfers,
    ("bytes_shared", "shared_requests"): shared,
    ("sectors_per_request",): scattered,
    ("requests",): requests,
    ("conflicts",): conflicts,
    ("wavefronts",): wavefronts,
    ("branches",): _branches,
    ("active_lanes",): _lanes,
    ("programs",): _programs,
    ("flops",): _flops,
    ("sectors",): figure("sectors"),
    ("bytes_loaded",): figure("bytes_loaded"),
    ("bytes_stored",): figure("bytes_stored"),
    ("bytes_atomic",): figure("bytes_atomic"),
    ("bytes",): figure("bytes"),
    ("library_float64",): library_float64,
    ("library_fills",): _fills,
    ("float64",): float64,
    ("conversions",): conversions,
    ("barriers",): barriers,
    ("grid",): _grid,
    ("launches",): _launches,
}
