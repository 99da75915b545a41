"""A kernel's traffic and the bound that it sets, without a GPU: what is asked of memory, over the chips' tables.

Time is not simulated. What is counted is exact, and repeats; what follows from a table of chips is a bound.
"""

import numpy as np

from tools import gpu
from tools.bench import machine
from tools.check import count
from tools.course.content.catalogue import Unit
from tools.course.content.workload import Workload
from tools.course.learner.lesson import lesson_of
from tools.models import chips
from tools.models.roofline import Ceiling, lowest
from tools.models.units import SECTOR

CHIPS = ("t4", "a100", "h100", "b200")
TABLE_DTYPES = {"float16": "fp16", "bfloat16": "bf16", "float32": "fp32", "float64": "fp64"}


def why_simulated() -> str:
    """Why there is no GPU to measure on: "no GPU was found"."""
    return f"this run simulates ({gpu.SIMULATE}=1)" if gpu.installed_card() else "no GPU was found"


def counted(unit: Unit, workload: Workload) -> dict:
    """The record of one simulated call at the size `small`, as plain data. Raises LessonBroken, and what it raises."""
    size = workload.small
    function = getattr(lesson_of(unit, workload.function), workload.function)
    counters = count(function, *workload.arguments(size, np.random.default_rng()))
    crossed = counters.transfers.bytes_uploaded + counters.transfers.bytes_downloaded
    largest = workload.sizes[-1]
    return {
        "function": workload.function,
        "shape": workload.shape(size),
        "size": size,
        "simulated": True,
        "rows": [],
        "machine": machine.facts("cpu"),
        "asked": counters.bytes,
        "in_sectors": SECTOR * counters.sectors,
        "least": workload.moved(size),
        "crossed": crossed,
        "least_crossed": workload.crossed(size),
        "library": sorted(set(counters.library_operations)),
        "largest": workload.shape(largest),
        "bounds": bounds(workload, largest),
    }


def bounds(workload: Workload, size: int) -> dict[str, dict]:
    """chip -> the least seconds that its table allows for the work, and by which limit: no program is faster.

    Without the chips that cannot multiply numbers of the workload's dtype, as a T4 bfloat16.
    """
    able = [key for key in CHIPS if TABLE_DTYPES[workload.dtype] in chips.chip(key).peaks]
    return {key: _bound(workload, size, chips.chip(key)) for key in able}


def _bound(workload: Workload, size: int, chip: chips.Chip) -> dict:
    limit = lowest(
        [
            Ceiling("memory", workload.moved(size), chip.bandwidth),
            Ceiling("arithmetic", workload.flops(size), chip.peaks[TABLE_DTYPES[workload.dtype]]),
            Ceiling("host link", workload.crossed(size), chip.host_bandwidth),
        ]
    )
    return {"seconds": limit.seconds, "limit": limit.name}
