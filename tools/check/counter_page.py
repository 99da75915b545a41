"""docs/METRICS.md: every counter, what it means, what is good and bad, and Nsight Compute's name for it.

Meanings come from the docstrings of tools.sim.counters, names from tools.check.metrics; only the advice is written
here. `./course pages` writes the page.
"""

import inspect
import re
import textwrap
from collections.abc import Iterator, Sequence

from tools.check.metrics import DERIVED, OF_LAUNCH, UNSEEN, UNTOLD
from tools.sim.counters import Counters, Counts, Transfers, Warps

FILE = "docs/METRICS.md"
WIDTH = 120

# counter -> (good, bad, and what to do about it)
ADVICE = {
    "bytes_loaded": (
        "what you predicted, and no array more often than the algorithm needs",
        "a multiple of the least: tiles, fusion and registers save loads",
    ),
    "bytes_stored": ("the size of the result", "more: a store in a loop, or a result written before it is complete"),
    "bytes_atomic": ("small beside the loads", "one for each element: add up privately first"),
    "accesses": ("as many as there are elements to touch", "more: somebody else loads what you loaded"),
    "sectors": (
        "bytes / 32: every byte that comes is wanted",
        "up to 8 times that for float32: neighbours in the grid are no neighbours in memory",
    ),
    "lines": ("bytes / 128", "near the number of sectors: each line is visited for one of its four sectors"),
    "flops": ("2 M N K of the product that you compute", "more: tiles are padded, or computed twice"),
    "float64": (
        "0, where inputs and results are float32",
        "any: a Python float came in, 0.1, or a sum that begins "
        "with 0; a graphics card does 2 of them while it does 128 in float32",
    ),
    "conversions": (
        "0 in an inner loop",
        "one for each element or more: two types meet in an expression, mostly float32 and float64",
    ),
    "programs": ("several for each multiprocessor", "fewer than multiprocessors: most of the GPU idles"),
    "requests": ("accesses / 32", "more: lanes idle, or a value is loaded again that could stay in a register"),
    "shared_requests": ("few for each flop", "two for each multiply-add: keep rows and columns in registers"),
    "bytes_shared": ("many times the bytes loaded: that is reuse", "no more than was loaded: nothing was saved"),
    "wavefronts": ("as many as shared requests, for 4-byte words", "up to 32 times as many: see conflicts"),
    "conflicts": ("0", "more: lanes want different words of one bank; pad the rows, or swizzle them"),
    "same_word": ("0", "more: lanes update one word one after the other; let a warp add up by shuffles before"),
    "barriers": (
        "two for each tile: when it is filled, and when it is used up",
        "one in each turn of an inner loop: warps wait for each other at every step",
    ),
    "instructions": ("what the work needs", "more: the same index computed again in a loop"),
    "lanes": ("32 for each instruction", "less: see active_lanes"),
    "branches": ("few in an inner loop", "many: let masks or arithmetic decide"),
    "divergent_branches": ("0, or only in the last block", "many: let whole warps take one way"),
    "uploads": ("one for each input", "one in each turn of a loop"),
    "downloads": ("one for each result", "one in each turn: float(x), if x > 0 and print(x) download too"),
    "copies": ("0", "more: a layout is changed that a kernel could read as it is"),
    "synchronizations": ("one, at the end", "many: the GPU waits for the host that waits for the GPU"),
    "library_operations": ("those that the task allows", "a library function that does your kernel's work"),
    "library_float64": ("none, where inputs are float32", "one: an input or a constant became float64 before it"),
    "library_fills": (
        "none, where a kernel stores each element",
        "one: memory is written twice; torch.empty allocates",
    ),
    "bytes": ("the least possible, or your prediction", "a multiple of it"),
    "active_lanes": ("32", "16: half of the arithmetic is thrown away; look at divergent_branches"),
    "sectors_per_request": (
        "4 for float32, 2 for float16, 8 for float64, 1 where all lanes read one place",
        "32: each lane brings a sector of its own",
    ),
}
ADVICE |= {
    f"bytes_{what}": ADVICE[way]
    for what, way in {"uploaded": "uploads", "downloaded": "downloads", "copied": "copies"}.items()
}
MADE = {  # where there is no docstring of that name to read
    "sectors_per_request": "sectors over requests: how scattered an average load or store of a warp is"
}

# What only a profiler on a GPU knows: name -> (meaning, good, bad)
MEASURED = {
    "gpu__time_duration.sum": (
        "nanoseconds of the kernel",
        "near bytes / bandwidth or flops / peak, the larger one",
        "a multiple of both: it waits",
    ),
    "sm__throughput.avg.pct_of_peak_sustained_elapsed": (
        "how busy the busiest unit of the multiprocessors was, as a share of its peak",
        "above 60 where arithmetic should be the limit",
        "low, with memory low as well: latency; look at the stalls",
    ),
    "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed": (
        "the same of device memory",
        "above 80 where memory should be the limit",
        "high, with bytes far above the least",
    ),
    "l1tex__throughput.avg.pct_of_peak_sustained_elapsed": (
        "the same of L1 and shared memory",
        "below the others",
        "the highest: scattered loads, or conflicts",
    ),
    "lts__throughput.avg.pct_of_peak_sustained_elapsed": (
        "the same of L2",
        "below the others",
        "the highest: tiles are too small, or programs come in a bad order",
    ),
    "l1tex__t_sector_hit_rate.pct": (
        "sectors that L1 had already",
        "high where neighbours reuse",
        "low is no fault in a kernel that reads all of its input once",
    ),
    "lts__t_sector_hit_rate.pct": (
        "sectors that L2 had already",
        "high in a product",
        "low: programs that share tiles run far apart",
    ),
    "dram__bytes_read.sum": (
        "bytes that came from device memory",
        "the inputs once",
        "the inputs several times: the reuse is beyond the caches",
    ),
    "dram__bytes_write.sum": ("bytes that went there", "the result once", "more: registers spill, or partial sums"),
    "sm__warps_active.avg.pct_of_peak_sustained_active": (
        "achieved occupancy: warps that lived on a multiprocessor, of those that it could hold",
        "enough to hide latency; more is not always faster",
        "low, with long_scoreboard high",
    ),
    "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio": (
        "warps that waited for device memory, L2 or L1, for each that went on",
        "not the largest stall",
        "the largest: fewer or closer loads, more of them in flight",
    ),
    "smsp__average_warps_issue_stalled_short_scoreboard_per_issue_active.ratio": (
        "the same for shared memory and special functions",
        "small",
        "the largest: see conflicts",
    ),
    "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio": (
        "the same for barriers",
        "small",
        "the largest: warps of a block have unequal work",
    ),
    "smsp__average_warps_issue_stalled_lg_throttle_per_issue_active.ratio": (
        "the same for room in the queue of loads",
        "small",
        "the largest: too many narrow loads",
    ),
}

HEAD = """# Metrics

What `./course count` and the tests tell about a kernel. Good and bad are where to look first; they depend on what the
kernel is for. On a GPU, `count(function, ..., profiler=True)` of `tools.check` lets Nsight Compute measure the same
figures; how close the two come: [tools/sim/PROFILER.md](../tools/sim/PROFILER.md).

Made from docstrings and tables of the code by `./course pages`.
"""
SECTIONS = (
    ("Counted for every kernel", Counts), ("Counted where there are warps: CUDA kernels, and the profiler", Warps),
    ("Between the host and the GPU", Transfers), ("Of a whole call", Counters),
)  # fmt: skip
GROUPS = ("warps", "transfers")  # of counters, not counters


def meanings(kind: type) -> dict[tuple[str, ...], str]:
    """Counters that share a line -> what the docstring of their class says of them."""
    found = re.findall(r"^(\w+(?:, \w+)*): (.+(?:\n    .+)*)", inspect.getdoc(kind) or "", re.MULTILINE)
    return {
        tuple(names.split(", ")): " ".join(words.split()).rstrip(".") for names, words in found if names not in GROUPS
    }


def text() -> str:
    """The page."""
    return "".join([HEAD, *_counted(), *_made(), *_measured()])


def _counted() -> Iterator[str]:
    for title, kind in SECTIONS:
        yield f"\n## {title}\n"
        for names, meaning in meanings(kind).items():
            yield _entry(names, meaning, [(*ADVICE[name], _profilers(name, kind)) for name in names])


def _made() -> Iterator[str]:
    yield "\n## Made of others\n"
    for name, parts in DERIVED.items():
        owner = next((kind for kind in (Counts, Warps) if name in vars(kind)), None)
        meaning = MADE.get(name) or (inspect.getdoc(vars(owner)[name]) or "").rstrip(".")
        yield _entry([name], meaning[0].lower() + meaning[1:], [(*ADVICE[name], f"from {', '.join(parts)}")])


def _measured() -> Iterator[str]:
    yield "\n## Only on a GPU, by Nsight Compute\n"
    for name, (meaning, good, bad) in MEASURED.items():
        yield _entry([name], meaning, [(good, bad, "")])


def _profilers(name: str, kind: type) -> str:
    """Nsight Compute's names, whose sum it is, or why it has none."""
    if name in OF_LAUNCH:
        return " + ".join(f"`{metric}`" for metric in OF_LAUNCH[name])
    if name == "programs":
        return "blocks of the launch's grid"
    return f"none: {(UNSEEN['transfers'] if kind is Transfers else (UNTOLD | UNSEEN)[name]).reason}"


def _entry(names: Sequence[str], meaning: str, advice: Sequence[tuple[str, str, str]]) -> str:
    """The meaning, then good, bad and the profiler's name of each."""
    lines = [f"**{', '.join(names)}**: {meaning}."]
    for name, (good, bad, profiler) in zip(names, advice):
        lead = f"{name}: good" if len(names) > 1 else "Good"
        lines.append(f"- {lead}: {good}. Bad: {bad}.")
        lines += [f"  Nsight Compute: {profiler}."] * bool(profiler)
    return "\n" + "\n".join(_filled(line) for line in lines) + "\n"


def _filled(line: str) -> str:
    indent = "  " if line[0] in "- " else ""
    glued = line.replace(" + ", "\0+ ")  # at the start of a line, + would begin a list
    return textwrap.fill(
        glued, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    ).replace("\0", " ")
