"""What counters and compiled kernels say, in words, where a test asserts something else about them."""

from collections.abc import Iterator

from tools.check.show import cut
from tools.sim.counters import Counters

SECTOR = 32  # bytes
MOST_LINES = 4


def told_by_counters(counters: Counters, asked: str) -> list[str]:
    """Facts and a question for an assertion whose text is `asked`."""
    if not counters.launches:
        return [_without_kernels(counters)]
    if "library_operations" in asked:
        return [f"{_list(counters.library_operations)} worked beside your kernel.",
                "Which line asks for it, and what does it read and write?"]
    if "programs" in asked:
        return [*_grids(counters), "How many blocks are there? What is left for a further program?"]
    if "sectors" in asked and counters.bytes < SECTOR * counters.sectors:
        return [*_lines(counters), f"A sector holds {SECTOR} bytes. Are neighbours moved together?"]
    if "bytes" in asked or "sectors" in asked:
        return [*_lines(counters), "What is moved more than once, or not at all?"]
    return []


def told_by_kernel(kernel, asked: str) -> list[str]:
    """The same for a kernel of tools.compiler: what each of its lines moves."""
    if "width" not in asked:
        return []
    widths = [f"line {each.line}: {_short(each)}  {each.width} bytes at a time" for each in kernel.accesses]
    return [*widths[:MOST_LINES], "Do a thread's elements lie side by side, and can the compiler see it?"]


def _without_kernels(counters: Counters) -> str:
    if counters.library_operations:
        return (f"{_list(counters.library_operations)} did the work; no kernel was launched. "
                "Which line launches yours?")
    return "No kernel was launched. Which line launches yours?"


def _list(operations: list[str]) -> str:
    return " and ".join(dict.fromkeys(operations))


def _grids(counters: Counters) -> Iterator[str]:
    for launch in counters.launches[:MOST_LINES]:
        yield f"{launch.kernel} ran in {launch.counts.programs} programs: the grid was {launch.grid}."


def _lines(counters: Counters) -> Iterator[str]:
    """The costliest source lines with their figures."""
    lines = [line for launch in counters.launches for line in launch.lines if line.counts.bytes]
    for line in sorted(lines, key=lambda line: -line.counts.sectors)[:MOST_LINES]:
        yield f"line {line.line}: {_short(line)}  {line.counts.bytes} bytes in {line.counts.sectors} sectors"


def _short(line) -> str:
    return cut(line.source.partition("  #")[0], 32)
