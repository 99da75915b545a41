"""A profiler's figures in plain words. Each sentence is made of the value that it tells."""

from dataclasses import dataclass
from typing import Any

from tools.check.timing import duration
from tools.words import quantity

BUSY = 60  # per cent of its peak from which on a unit limits a kernel; Nsight Compute draws the line there
FEW = 25  # per cent of the places for warps: below, little can be hidden
MOST_KERNELS = 3
UNITS = {  # what limits a kernel -> its metric
    "the SMs, arithmetic and the issue of instructions": "sm__throughput.avg.pct_of_peak_sustained_elapsed",
    "the L1 cache and shared memory": "l1tex__throughput.avg.pct_of_peak_sustained_elapsed",
    "the L2 cache": "lts__throughput.avg.pct_of_peak_sustained_elapsed",
    "device memory": "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
}
TIME = "gpu__time_duration.sum"  # ns
OCCUPANCY = "sm__warps_active.avg.pct_of_peak_sustained_active"
DRAM = "device memory"
STALLS = {  # what warps wait for, by Nsight Compute's name
    "barrier": "other warps of the block, at a barrier",
    "branch_resolving": "the target of a branch",
    "dispatch_stall": "the dispatcher",
    "drain": "stores to reach memory before the warp may end",
    "lg_throttle": "a place in the queue for global and local memory",
    "long_scoreboard": "data from global or local memory",
    "math_pipe_throttle": "a free arithmetic unit",
    "membar": "a memory fence",
    "mio_throttle": "a place in the queue for shared memory and special instructions",
    "no_instruction": "the next instruction to be fetched",
    "not_selected": "their turn: another warp went first",
    "short_scoreboard": "data from shared memory",
    "sleeping": "the end of a sleep",
    "tex_throttle": "a place in the queue for textures",
    "wait": "a fixed delay between two instructions",
}
STALL = "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio"
METRICS = [TIME, OCCUPANCY, *UNITS.values(), *map(STALL.format, STALLS)]


@dataclass(frozen=True)
class Kernel:
    """How often something ran on the GPU, and for how many nanoseconds in all."""

    name: str
    launches: int
    ns: float


def of_kernel(name: str, figures: dict[str, float | None]) -> list[str]:
    """What Nsight Compute measured of one launch; what it did not measure is left out."""
    took = figures.get(TIME)
    return [
        line
        for line in (
            f"{name}{f', {duration(took / 1e9)}' if took else ''}:",
            limit(figures),
            occupancy(figures.get(OCCUPANCY)),
            top_stall(figures),
        )
        if line
    ]


def limit(figures: dict[str, float | None]) -> str:
    """The busiest unit, and what device memory does beside it."""
    busy = {unit: share for unit, metric in UNITS.items() if (share := figures.get(metric)) is not None}
    if not busy:
        return ""
    unit = max(busy, key=busy.__getitem__)
    dram = f"; device memory: {busy[DRAM]:.1f}%" if DRAM in busy and unit != DRAM else ""
    if busy[unit] >= BUSY:
        return f"Limited by {unit}: {busy[unit]:.1f}% of its peak{dram}."
    return f"No unit reaches {BUSY}% of its peak; the busiest is {unit}: {busy[unit]:.1f}%{dram}. It waits."


def occupancy(percent: float | None) -> str:
    if percent is None:
        return ""
    few = ": few to hide waiting with" if percent < FEW else ""
    return f"Occupancy reached: {percent:.0f}% of the warps that an SM has room for{few}."


def top_stall(figures: dict[str, float | None]) -> str:
    """What warps waited for most, as a share of all that they waited for."""
    stalls = {name: waited for name in STALLS if (waited := figures.get(STALL.format(name))) is not None}
    if not sum(stalls.values()):
        return ""
    top = max(stalls, key=stalls.__getitem__)
    return f"Top stall: {top}, {stalls[top] / sum(stalls.values()):.0%} of all waiting: for {STALLS[top]}."


def time_shares(kernels: list[Kernel]) -> list[str]:
    """The kernels and copies with most time, each with its share of the GPU's time."""
    whole = sum(kernel.ns for kernel in kernels)
    if not whole:
        return ["It saw no kernel."]
    ranked = sorted(kernels, key=lambda kernel: -kernel.ns)
    lines = [
        f"{kernel.ns / whole:.0%} of the GPU's time: {kernel.name}, {duration(kernel.ns / 1e9)} in "
        f"{quantity(kernel.launches, 'launch')}"
        for kernel in ranked[:MOST_KERNELS]
    ]
    rest = ranked[MOST_KERNELS:]
    return lines + ([f"{sum(k.ns for k in rest) / whole:.0%}: {len(rest)} more"] if rest else [])


def cpu_shares(found: dict) -> list[str]:
    """The Python functions with most time of their own."""
    whole = found["seconds"] or 1.0
    return [
        f"{own / whole:.0%} of {duration(found['seconds'])}: {name}, {quantity(calls, 'call')}"
        for name, calls, own in found["functions"]
        if own / whole >= 0.01
    ]


def counted(counters: Any) -> list[str]:
    """What a simulated call did: kernels by traffic, sectors, shared memory, lanes, and what crossed."""
    kernels: dict[str, int] = {}
    for launch in counters.launches:
        kernels[launch.kernel] = kernels.get(launch.kernel, 0) + launch.counts.bytes
    ranked = sorted(kernels.items(), key=lambda each: -each[1])[:MOST_KERNELS]
    asked = counters.bytes
    lines = [f"{name} asks for {part / asked:.0%} of {asked:,} bytes." for name, part in ranked if part]
    if counters.sectors:
        lines.append(_of_sectors(asked, 32 * counters.sectors))
    if counters.warps is not None:
        lines += _of_warps(counters)
    crossed = counters.transfers
    if crossed.bytes_uploaded or crossed.bytes_downloaded:
        lines.append(
            f"Crossed between host and GPU: {crossed.bytes_uploaded:,} bytes up, "
            f"{crossed.bytes_downloaded:,} down; the host waited {_times(crossed.synchronizations)}."
        )
    if names := sorted(set(counters.library_operations)):
        lines.append(f"Done by libraries, not counted: {', '.join(names)}.")
    return lines


def _of_sectors(asked: int, brought: int) -> str:
    if asked > brought:
        return f"Lanes share what sectors bring: {asked:,} bytes are asked for, {brought:,} cross in sectors."
    return f"Of the {brought:,} bytes in its sectors {asked:,} are asked for, which is {asked / brought:.0%}."


def _of_warps(counters: Any) -> list[str]:
    lines = [
        f"{counters.sectors_per_request:.1f} sectors for each request of a warp; "
        f"{counters.active_lanes:.1f} of 32 lanes at work in an average statement."
    ]
    if counters.wavefronts:
        lines.append(f"Shared memory: {counters.conflicts:,} of {counters.wavefronts:,} wavefronts are bank conflicts.")
    return lines


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number:,} times"
