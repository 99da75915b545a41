"""Measures the reference solutions against their rivals on this machine's GPU, pair by pair."""

import importlib.util
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from importlib.metadata import version

from tools import ROOT, gpu
from tools.check.timing import speed_ratio
from tools.course import catalogue

RUNS = 3  # single readings lie; the page shows the worst
COMMAND = "python3 -m tools.bench record FILE"
PACKAGES = ("torch", "triton", "numpy")


@dataclass(frozen=True)
class Contest:
    """One function of a reference solution against the strongest rival known for that shape."""

    unit: str
    function: str
    rival: str          # as the page shows it
    shape: str
    moved: int          # bytes that must be moved at the least
    call: Callable      # (lesson, torch) -> (function, rival function, arguments)


def day4(lesson, torch):
    return lesson.vector_add, torch.add, [torch.randn(2**26, device="cuda") for _ in range(2)]


def day4_rows(lesson, torch):
    return lesson.add_2d, torch.add, [torch.randn(8192, 8192, device="cuda") for _ in range(2)]


CONTESTS = (
    Contest("week1/day4", "vector_add", "torch.add", "2**26 float32", 3 * 4 * 2**26, day4),
    Contest("week1/day4", "add_2d", "torch.add", "8192 x 8192 float32, row-major", 3 * 4 * 2**26, day4_rows),
)


def everything() -> dict:
    """All contests of this machine as plain data. Raises RuntimeError without a GPU."""
    card = gpu.card()
    if card is None:
        raise RuntimeError("No GPU here: nothing was measured.")
    return {
        "card": str(card), "driver": ".".join(map(str, card.driver)), "date": date.today().isoformat(),
        "versions": {name: version(name) for name in PACKAGES}, "command": COMMAND,
        "contests": list(_contests()),
    }


def _contests() -> Iterator[dict]:
    import torch

    for contest in CONTESTS:
        function, rival, arguments = contest.call(_reference(contest.unit), torch)
        runs = [speed_ratio(function, rival, *arguments).pairs for _ in range(RUNS)]
        yield {"unit": contest.unit, "function": contest.function, "rival": contest.rival, "shape": contest.shape,
               "moved": contest.moved, "runs": [[list(pair) for pair in run] for run in runs]}


def _reference(name: str):
    """The reference solution of a unit, under the name of its lesson."""
    unit = catalogue.unit(name)
    spec = importlib.util.spec_from_file_location(unit.module, ROOT / "reference" / unit.lesson.relative_to(ROOT))
    sys.modules[unit.module] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
