"""course count DAY: what the learner's kernels do to memory, line by line, and the line that wastes most."""

from collections.abc import Iterator
from pathlib import Path

from rich.console import Console

from tools import gpu
from tools.check import NoProfiler, count
from tools.check.metrics import OF_LAUNCH
from tools.cli import busy, chosen, console, say
from tools.cli.calls import Call, Calls
from tools.course.learner import journal
from tools.course.learner.progress import file_hash
from tools.draw import line_table, lines
from tools.sim.counters import Counters, NotCounted, Transfers
from tools.words import listed, quantity

KEPT = "bytes_loaded", "bytes_stored", "bytes_atomic", "sectors", "requests", "wavefronts", "conflicts", "flops"


def run(day: str | None, root: Path) -> int:
    """Count the smallest call of each function; the totals go into the journal. Returns the exit code."""
    page = console()
    unit = chosen(day, root)
    calls = Calls(unit, page)
    for call in calls:
        with calls.attempt():
            with busy(page, f"counting {call.title}"):
                counters = count(call.function, *call.arguments)
            _print(page, call, counters)
            _print_profiled(page, call, counters)
            _keep(call, counters, calls, root)
    if calls.made:
        say("What each figure is, and what is good: docs/METRICS.md", style="dim", page=page)
    return calls.finish("count")


def _print(page: Console, call: Call, counters: Counters) -> None:
    say(f"{call.title}, counted by the simulator", style="bold", page=page)
    found = lines.kernels(counters)
    for kernel in found:
        if kernel.rows:
            page.print()
            page.print(line_table.terminal(kernel, page.width))
    page.print()
    for kernel in found:
        if not kernel.rows:
            say(_of_library(kernel), page=page)
    for sentence in _totals(call, counters):
        say(sentence, page=page)
    if words := lines.worst(found):
        say(words, style="yellow", page=page)
    page.print()


def _of_library(kernel: lines.Kernel) -> str:
    """A kernel that has no lines: CuPy's own, or one that touches nothing."""
    counts = kernel.counts
    if not counts.bytes:
        return f"{kernel.name} touches no memory."
    return f"{line_table.heading(kernel)}: {counts.bytes:,} bytes, {counts.sectors:,} sectors."


def _totals(call: Call, counters: Counters) -> list[str]:
    said = []
    if counters.launches:
        moved = [f"{counters.bytes_loaded:,} bytes loaded", f"{counters.bytes_stored:,} stored"]
        moved += [f"{counters.bytes_atomic:,} updated by atomics"] if counters.bytes_atomic else []
        launches = quantity(len(counters.launches), "launch")
        said.append(f"In all {launches}: {listed(moved)}{_beside_least(call, counters)}.")
    said += _crossed(counters.transfers)
    if counters.library_operations:
        said.append(f"Done by a library, and not counted: {_short_list(counters.library_operations)}.")
    return said


def _crossed(moved: Transfers) -> Iterator[str]:
    """Sentences on what crossed between host and GPU, what was copied, and how often the host waited."""
    ways = ("upload", moved.uploads, moved.bytes_uploaded), ("download", moved.downloads, moved.bytes_downloaded)
    if crossed := [f"{quantity(times, way)} ({size:,} bytes)" for way, times, size in ways if times]:
        yield f"Between host and GPU: {listed(crossed)}."
    if moved.copies:
        yield f"Within the GPU's memory: {quantity(moved.copies, 'copy')} ({moved.bytes_copied:,} bytes)."
    if waits := moved.synchronizations:
        often = {1: "once", 2: "twice"}.get(waits, f"{waits:,} times")
        yield f"The host waited for the GPU {often}{', downloads included' * bool(moved.downloads)}."


def _beside_least(call: Call, counters: Counters) -> str:
    """The share of the bytes that any program must move; nothing where a library moves some of them."""
    least = call.workload.moved(call.workload.small)
    if counters.library_operations or not least:
        return ""
    if counters.bytes == least:
        return ", the least that any program can move"
    if 0 < (above := counters.bytes - least) < least / 200:  # it would be "1 times"
        return f", {quantity(above, 'byte')} above the least that any program must move"
    return f", {counters.bytes / least:.3g} times the least that any program must move"


def _short_list(names: list[str]) -> str:
    """cupy.matmul (10 times), cupy.max"""
    return ", ".join(
        f"{name} ({names.count(name)} times)" if names.count(name) > 1 else name for name in dict.fromkeys(names)
    )


# Beside the profiler -------------------------------------------------------------------------------


def _print_profiled(page: Console, call: Call, simulated: Counters) -> None:
    """On a machine with a GPU, the profiler's figures of the same call."""
    card = gpu.card()
    if card is None or not simulated.launches:
        return
    try:
        measured = count(call.function, *call.arguments, profiler=True)
    except NoProfiler as missing:
        say(str(missing), style="dim", page=page)
        return
    page.print(f"{'':22}{'simulated':>14}{'profiler':>14}  ({card.name})", style="bold")
    for name in OF_LAUNCH:
        one, other = _told(simulated, name), _told(measured, name)
        if one or other:
            page.print(f"  {name:20}{_figure(one):>14}{_figure(other):>14}")
    page.print()


def _told(counters: Counters, name: str) -> int | None:
    try:
        return getattr(counters, name)
    except NotCounted:
        return None


def _figure(value: int | None) -> str:
    return "not told" if value is None else f"{value:,}"


# The journal ---------------------------------------------------------------------------------------


def _keep(call: Call, counters: Counters, calls: Calls, root: Path) -> None:
    totals = {name: value for name in KEPT if (value := _told(counters, name))}
    totals |= {f"transfers_{name}": value for name, value in vars(counters.transfers).items() if value}
    facts = {
        "function": call.workload.function,
        "size": call.workload.small,
        "shape": call.workload.shape(call.workload.small),
        "launches": len(counters.launches),
        "totals": totals,
        "simulated": True,
        "lesson": file_hash(calls.unit.lesson),
    }
    if problem := journal.tell(journal.COUNT, calls.unit.name, facts, root):
        calls.problems.append(problem)
