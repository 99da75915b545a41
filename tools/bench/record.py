"""Measures the reference solutions against their strongest rivals on this machine and its GPU, pair by pair."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from importlib.metadata import version

import numpy as np

from tools import ROOT, gpu
from tools.bench import contest, machine
from tools.check import timing
from tools.course.content import catalogue
from tools.course.content.catalogue import Unit
from tools.course.content.workload import Workload, workloads
from tools.course.learner.lesson import lesson_of
from tools.worker import Prepared

RUNS = 3  # single readings lie; the page shows the worst
COMMAND = "python3 -m tools.bench record FILE"
PACKAGES = ("torch", "triton", "numpy")


def everything(names: Sequence[str] = ()) -> dict:
    """All contests of this machine, or those of the units named, as plain data. Raises RuntimeError without a GPU."""
    units = [catalogue.unit(name) for name in names or catalogue.names()]
    return about(" ".join([COMMAND, *names])) | {"contests": list(_contests(units))}


def about(command: str) -> dict:
    """What a record says above its contests: the GPU, the host, versions, today's date, and how it was made.

    Raises RuntimeError without a GPU.
    """
    card = gpu.card()
    if card is None:
        raise RuntimeError("No GPU here: nothing was measured.")
    return {
        "card": str(card),
        "driver": ".".join(map(str, card.driver)),
        "host": machine.cpu(),
        "date": date.today().isoformat(),
        "versions": {name: version(name) for name in PACKAGES},
        "command": command,
    }


def _contests(units: list[Unit]) -> Iterator[dict]:
    for unit in units:
        for workload in workloads(unit):
            yield _contest(reference(unit), workload)


def _contest(unit: Unit, workload: Workload) -> dict:
    """At the largest size: all competitors once, which shows the strongest rival; then RUNS times against that."""
    size = workload.sizes[-1]
    function = getattr(lesson_of(unit, workload.function), workload.function)
    arguments = workload.arguments(size, np.random.default_rng())
    found, left_out = contest.competitors(workload, size, function, arguments)
    prepared = {name: Prepared(each, args, {}) for name, (each, args) in found.items()}
    rival = strongest(contest.measure(prepared))
    runs = [timing.measure(prepared[contest.YOURS], prepared[rival]).pairs for _ in range(RUNS)]
    return {
        "unit": unit.name,
        "function": workload.function,
        "rival": rival,
        "shape": workload.shape(size),
        "on": workload.on,
        "moved": workload.moved(size),
        "flops": workload.flops(size),
        "left_out": left_out,
        "runs": [[list(pair) for pair in run] for run in runs],
    }


def strongest(seconds: dict[str, list[float]]) -> str:
    """The rival with the least median time."""
    return min((name for name in seconds if name != contest.YOURS), key=lambda name: np.median(seconds[name]))


def reference(unit: Unit) -> Unit:
    """The same unit with the reference solution for a lesson."""
    return replace(unit, lesson=ROOT / "reference" / unit.lesson.relative_to(ROOT))
