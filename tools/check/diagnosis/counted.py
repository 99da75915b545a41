"""What counters and compiled kernels say, in words, where a test asserts something else about them."""

from collections.abc import Callable, Iterable, Iterator

from tools.check.show import cut
from tools.sim import tables
from tools.sim.counters import Counters, Line, NotCounted

SECTOR = 32  # bytes
MOST_LINES = 4


def told_by_counters(counters: Counters, asked: str) -> list[str]:
    """Facts and a question for an assertion whose text is `asked`."""
    tell = next((tell for words, tell in TELLERS.items() if any(word in asked for word in words)), None)
    try:
        if not counters.launches and tell is not _transfers:
            return [_without_kernels(counters)]
        return list(tell(counters)) if tell else []
    except NotCounted:  # measured counters know less
        return []


def told_by_kernel(kernel, asked: str) -> list[str]:
    """The same for a kernel of tools.compiler: what each of its lines moves, or what makes it compute in float64."""
    if "f64" in asked:
        return list(_float64(kernel))
    if "width" not in asked:
        return []
    widths = [f"line {each.line}: {_short(each)}  {each.width} bytes at a time" for each in kernel.accesses]
    return [*widths[:MOST_LINES], "Do a thread's elements lie side by side, and can the compiler see it?"]


def _float64(kernel) -> Iterator[str]:
    wide = [name for name, kind in kernel.signature.items() if "float64" in kind]
    yield f"The launch passed {' and '.join(wide)} as float64." if wide else "No argument of the kernel is float64."
    yield "In a kernel 0.0 is float64, and so is a sum that begins with 0. Where does one come in?"


# Of the whole call -------------------------------------------------------------------------------

def _without_kernels(counters: Counters) -> str:
    if counters.library_operations:
        return (f"{_list(counters.library_operations)} did the work; no kernel was launched. "
                "Which line launches yours?")
    return "No kernel was launched. Which line launches yours?"


def _libraries(counters: Counters) -> list[str]:
    return [f"{_list(counters.library_operations)} worked beside your kernel.",
            "Which line asks for it, and what does it read and write?"]


def _list(operations: list[str]) -> str:
    return " and ".join(dict.fromkeys(operations))


def _transfers(counters: Counters) -> list[str]:
    return [f"Between host and GPU: {tables.transfers(counters.transfers)}.",
            "What must cross, and how often? Which line moves the rest?"]


def _launches(counters: Counters) -> Iterator[str]:
    launched: dict[tuple, int] = {}
    for launch in counters.launches:
        launched[launch.kernel, launch.grid] = launched.get((launch.kernel, launch.grid), 0) + 1
    for (kernel, grid), times in list(launched.items())[:MOST_LINES]:
        yield f"{kernel} was launched {tables.quantity(times, 'time')} with grid {grid}."
    yield "Which line launches it, and how often does that line run?"


def _programs(counters: Counters) -> Iterator[str]:
    for launch in counters.launches[:MOST_LINES]:
        yield f"{launch.kernel} ran in {tables.programs(launch.counts)}: the grid was {launch.grid}."
    yield ("How many elements does a block have, and how many blocks does that take?" if counters.warps
           else "How many blocks are there, and which program takes which?")


# Line by line ------------------------------------------------------------------------------------

def _bytes(counters: Counters) -> list[str]:
    return [*_costliest(counters), "What is moved more than once, or not at all?"]


def _sectors(counters: Counters) -> list[str]:
    if counters.bytes >= SECTOR * counters.sectors:
        return _bytes(counters)
    return [*_costliest(counters), f"A sector holds {SECTOR} bytes. Are neighbours moved together?"]


def _costliest(counters: Counters) -> Iterable[str]:
    return _worst(counters, lambda line: line.counts.sectors,
                  lambda counts: f"{counts.bytes} bytes in {counts.sectors} sectors")


def _requests(counters: Counters) -> list[str]:
    told = _worst(counters, lambda line: line.counts.requests and line.counts.sectors_per_request,
                  lambda counts: f"{counts.sectors_per_request:.1f} sectors a request")
    return [*told, "Which addresses do the 32 threads of a warp ask for, and how far apart are they?"]


def _conflicts(counters: Counters) -> list[str]:
    told = _worst(counters, lambda line: line.counts.conflicts,
                  lambda counts: f"{counts.conflicts} of {counts.wavefronts} wavefronts are conflicts")
    return [*told, "In which of the 32 banks does each thread of a warp find its element?"]


def _wavefronts(counters: Counters) -> list[str]:
    told = _worst(counters, lambda line: line.counts.wavefronts,
                  lambda counts: f"{counts.wavefronts} wavefronts for {counts.shared_requests} requests")
    return [*told, "Which warps ask shared memory for something there, and how often?"]


def _branches(counters: Counters) -> list[str]:
    told = _worst(counters, lambda line: line.counts.divergent_branches,
                  lambda counts: f"{counts.divergent_branches} of {counts.branches} branches diverged")
    return [*told, "Which threads of a warp go which way? Could whole warps go one way?"]


def _lanes(counters: Counters) -> list[str]:
    told = _worst(counters, lambda line: line.counts.instructions and 32 - line.counts.active_lanes,
                  lambda counts: f"{counts.active_lanes:.1f} of 32 lanes active")
    return [*told, "Which threads of a warp have nothing to do there?"]


def _worst(counters: Counters, cost: Callable, fact: Callable) -> Iterator[str]:
    """The source lines that cost most, with their figures; those that cost nothing are left out."""
    lines: Iterable[Line] = [line for launch in counters.launches for line in launch.lines if cost(line)]
    told = [f"line {line.line}: {_short(line)}  {fact(line.counts)}" for line in sorted(lines, key=cost, reverse=True)]
    yield from list(dict.fromkeys(told))[:MOST_LINES]  # a line that loads and stores alike stands there once


def _short(line) -> str:
    return cut(line.source.partition("  #")[0], 32)


TELLERS = {  # words of the assertion -> what there is to say; the first that fits is taken
    ("library_operations",): _libraries,
    ("transfers", "uploads", "downloads", "copies", "_uploaded", "_downloaded", "_copied", "synchron"): _transfers,
    ("requests", "sectors_per_request"): _requests,
    ("conflicts",): _conflicts,
    ("wavefronts",): _wavefronts,
    ("branches",): _branches,
    ("active_lanes",): _lanes,
    ("programs",): _programs,
    ("sectors",): _sectors,
    ("bytes",): _bytes,
    ("launches",): _launches,
}
