"""course demo: one slow kernel, one fix, and what the counters say of both. Every figure is counted while it runs."""

import textwrap
import time
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from tools import pip_install
from tools.cli import complain, room, say, table, whats_next
from tools.cli.table import Row
from tools.cli.terminal import interactive
from tools.course.content.catalogue import BrokenCourseFile

if TYPE_CHECKING:
    from tools.course.content.demonstration import Measured


class Stopped(Exception):
    """The learner has seen enough."""


def run(root: Path) -> int:
    """Show it, at the learner's pace in a terminal. Returns the exit code: 2 where NumPy is missing."""
    try:
        from tools.course.content import demonstration  # late: it needs NumPy, and takes long to load
    except ModuleNotFoundError as missing:
        return complain(f"The demo needs {missing.name}. To install it: {pip_install(str(missing.name))}")
    began = time.perf_counter()
    slow, fast = demonstration.run(demonstration.slow), demonstration.run(demonstration.fast)
    seconds = time.perf_counter() - began
    try:
        _show_slow(slow, demonstration)
        _show_fix(slow, fast)
        _show_both(slow, fast, seconds)
    except Stopped:
        print()
    _print_next(root)
    return 0


def _show_slow(slow: "Measured", facts: ModuleType) -> None:
    warp = facts.BLOCK[0]
    _tell(f"This kernel doubles an image of {facts.SIDE} x {facts.SIDE} numbers, one thread for each. {warp} threads "
         "run together: they are a warp.")  # fmt: skip
    _code(slow.source)
    _tell(f"Its result is {_right(slow)}. That says nothing about speed, and speed can be timed on a GPU only. What "
         "the kernel asks of a GPU can be counted anywhere.")  # fmt: skip
    _tell(f"Memory is handed over in sectors of {facts.SECTOR} bytes. A warp loads {warp} numbers of 4 bytes: at best "
         f"that is {warp * 4 // facts.SECTOR} sectors. How many are they here?")  # fmt: skip
    guess = _pause("your guess, then Enter")
    _table(slow)
    said = f"You said {guess}. " if guess else ""
    _tell(f"{said}Counted: {slow.counters.sectors_per_request:g} sectors for each request of a warp. The threads of a "
         "warp differ in the first index of cuda.grid, and here that is the row: neighbours in the warp are a whole "
         "row apart in memory, so each touches a sector of its own and uses 4 bytes of it.")  # fmt: skip
    _pause("Enter shows the fix")


def _show_fix(slow: "Measured", fast: "Measured") -> None:
    for old, new in zip(slow.source.splitlines(), fast.source.splitlines(), strict=True):
        if old != new and "def " not in old:
            _code(f"-{old}\n+{new}")
    _tell("Now the threads of a warp walk along a row.")
    _table(fast)
    _tell(f"Counted: {fast.counters.sectors_per_request:g} sectors for each request, and the result is {_right(fast)}.")
    _pause("Enter goes on")


def _show_both(slow: "Measured", fast: "Measured", seconds: float) -> None:
    _figures(
        ("bytes used", "bytes asked for", "used"),
        [
            Row(
                kernel.name,
                (f"{kernel.counters.bytes:,}", f"{kernel.asked:,}", f"{kernel.counters.bytes / kernel.asked:.1%}"),
            )
            for kernel in (slow, fast)
        ],
    )
    times = slow.counters.sectors / fast.counters.sectors
    _tell(f"Two words changed places, and where the slow kernel asks for {times:g} sectors the fast one asks for 1. "
         f"A test that wants {fast.counters.sectors:,} sectors fails the first kernel and passes the second, on any "
         "machine. How such counts compare with a profiler's: tools/sim/PROFILER.md")  # fmt: skip
    _tell(f"Both were run just now by the simulator, in {seconds:.1f} s. It counts what a GPU would do, not how long.")


def _right(kernel: "Measured") -> str:
    return "right" if kernel.right else "wrong"


def _table(kernel: "Measured") -> None:
    """Print the counts of each line of the kernel that touches memory."""
    _figures(
        ("requests", "sectors", "bytes used"),
        [
            Row(
                f"{line.kind:<6} {line.source}",
                (f"{line.counts.requests:,}", f"{line.counts.sectors:,}", f"{line.counts.bytes:,}"),
            )
            for line in kernel.counters.launches[0].lines
            if line.counts.sectors
        ],
    )


def _figures(headings: tuple[str, ...], rows: list[Row]) -> None:
    for line, _ in table.lines("", headings, rows, room()):
        print(line)
    print()


def _code(source: str) -> None:
    print(textwrap.indent(source.rstrip("\n"), "    "))
    print()


def _tell(text: str) -> None:
    say(text)
    print()


def _pause(prompt: str) -> str:
    """The line that is typed in a terminal; "" at once elsewhere. Raises Stopped."""
    if not interactive():
        return ""
    try:
        typed = input(f"[{prompt}; q stops] ").strip()
    except (EOFError, KeyboardInterrupt):
        raise Stopped from None
    if typed.lower() == "q":
        raise Stopped
    print()
    return typed


def _print_next(root: Path) -> None:
    try:
        print(whats_next(root))
    except BrokenCourseFile:  # the demo needs no day
        print("Next: ./course status")
