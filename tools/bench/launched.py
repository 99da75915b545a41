"""One call of a lesson's function under a profiler, in a process of its own: python -m tools.bench launch ...

ways: "launch" makes the call, after one that warms up, in sight of ncu or nsys. "trace" lets torch.profiler look,
"proton" Triton's profiler, "cpu" Python's; each leaves a file. "count" simulates, and writes what was counted.
"""

import cProfile
import json
import os
import pstats
from collections.abc import Callable
from pathlib import Path

import numpy as np

from tools import gpu
from tools.check import count
from tools.course.content import catalogue
from tools.course.content.workload import workloads
from tools.course.learner.lesson import lesson_of
from tools.worker import repeat

SEEN = 5  # functions that a CPU profile names


def run(way: str, name: str, number: int, size: int, root: Path, file: Path) -> None:
    """Make the call; `file` is what the way leaves."""
    unit = catalogue.unit(name, root)
    workload = workloads(unit)[number]
    function = getattr(lesson_of(unit, workload.function), workload.function)
    arguments = workload.arguments(size, np.random.default_rng())
    if way == "count":
        file.write_text(json.dumps(count(function, *arguments).to_plain()), encoding="utf-8")
        return
    repeat(function, arguments, {}, 1)  # compiles, tunes, loads
    if way == "cpu":
        _cpu(function, arguments, file)
    else:
        WAYS[way](lambda: repeat(function, arguments, {}, 1), file)


def _launch(call: Callable, file: Path) -> None:
    with gpu.in_sight_of_profiler():
        call()


def _trace(call: Callable, file: Path) -> None:
    from torch.profiler import ProfilerActivity, profile

    seen = [ProfilerActivity.CPU, *([ProfilerActivity.CUDA] if gpu.card() else [])]
    with profile(activities=seen) as profiler:
        call()
    profiler.export_chrome_trace(str(file))
    os._exit(0)  # with CuPy beside it, the end of the process crashed now and then; the file is written


def _proton(call: Callable, file: Path) -> None:
    import triton.profiler as proton

    proton.start(str(file.with_suffix("")))  # which adds .hatchet
    call()
    proton.finalize()


def _cpu(function: Callable, arguments: tuple, file: Path) -> None:
    """The functions with most time of their own: name, calls, seconds; and the seconds of all."""
    profiler = cProfile.Profile()
    profiler.runcall(function, *arguments)
    # (file, line, name) -> (primitive calls, calls, own, total, callers)
    stats = pstats.Stats(profiler).stats  # type: ignore[attr-defined]
    rows = [(_name(*key), calls, own) for key, (_, calls, own, _, _) in stats.items() if "_lsprof" not in key[2]]
    rows.sort(key=lambda row: -row[2])
    whole = sum(own for _, _, own in rows)
    file.write_text(json.dumps({"seconds": whole, "functions": rows[:SEEN]}), encoding="utf-8")


def _name(file: str, line: int, name: str) -> str:
    return f"{name}, line {line} of {os.path.basename(file)}" if line and not file.startswith("<") else name


WAYS = {"launch": _launch, "trace": _trace, "proton": _proton}
