"""One launch of a kernel: its blocks run in batches, all threads of a batch in lockstep."""

import math
from collections.abc import Callable, Iterable, Iterator

import numpy as np

from tools.sim import counters, floats, trace
from tools.sim.cuda.faults import Unknown, learner_spot
from tools.sim.cuda.host.outside import Outside
from tools.sim.cuda.memory.between import Between
from tools.sim.cuda.memory.counting import Counting
from tools.sim.cuda.memory.races import Races
from tools.sim.cuda.memory.space import Space
from tools.sim.cuda.memory.storage import GlobalArray, Storage
from tools.sim.cuda.run import debugger, missed
from tools.sim.cuda.run.turns import Turns
from tools.sim.cuda.run.warps import Warps
from tools.sim.cuda.translate.program import Program, program
from tools.sim.floats import Floats

AT_ONCE = 1 << 16  # lanes in a batch: few enough for the processor's caches, many for NumPy


def launch(
    function: Callable,
    grid: tuple,
    block: tuple,
    arguments: list,
    *,
    dynamic_shared: int = 0,
    name: str = "",
    resident: int = 1 << 31,
) -> counters.Launch:
    """Run a kernel's Python function for every thread.

    grid, block: (x, y, z). arguments: NumPy scalars, tuples of them, GlobalArray. dynamic_shared: bytes.
    resident: blocks that the GPU holds at a time.
    Raises Fault for what a GPU would refuse or get wrong, Refused for what Numba does not compile.
    """
    kernel, counting = program(function), Counting()
    between = Between(kernel.fences)
    storages, outside = _storages(kernel, arguments), Outside(_storage)
    if trace.listener is not None:
        trace.listener.launch(name or function.__name__, grid, block)
    blocks = math.prod(grid)

    def run(first: int, count: int, turns: Turns | None = None) -> None:
        lanes = debugger.warps_for(grid, block, first, count, counting)
        lanes.races, lanes.space, lanes.turns = Races(lanes, between), Space(lanes, dynamic_shared, outside), turns
        _run(kernel, lanes, list(map(lanes.space.argument, arguments, storages)))

    if blocks > 1 and (kernel.spins if kernel.cooperates else kernel.waits):
        Turns(blocks, resident, lambda number, turns: run(number, 1, turns), between.clear).all()
    else:
        batch = blocks if kernel.cooperates else max(1, AT_ONCE // math.prod(block))
        with np.errstate(all="ignore"):
            for first in range(0, blocks, batch):
                run(first, min(batch, blocks - first))
    return counters.Launch(name or function.__name__, grid, counting.total(blocks), counting.lines())


def _run(kernel: Program, lanes: Warps, arguments: list) -> None:
    arithmetic = Floats(learner_spot, lambda: lanes.active, lanes.counting.arithmetic)
    try:
        with floats.counted_by(arithmetic):
            missed.run(lanes, lambda: kernel.run(lanes, *arguments))
        arithmetic.finish()
        lanes.races.settle()
    finally:
        if isinstance(lanes, debugger.Watched):
            lanes.replay(kernel, arguments)


def _storages(kernel: Program, arguments: list) -> list[Storage | tuple | None]:
    """The memory of each array argument, also of those in tuples; arguments with the same memory share it."""
    made: dict[tuple, Storage] = {}
    arrays = list(_arrays(arguments))

    def storage(name: str, value: object) -> Storage | tuple | None:
        if isinstance(value, tuple):
            return tuple(storage(f"{name}[{place}]", each) for place, each in enumerate(value))
        if not isinstance(value, GlobalArray):
            return None
        key = value.address, value.array.shape, value.array.strides, value.array.dtype
        if key not in made:
            made[key] = _storage(name, value)
        made[key].watched |= name.partition("[")[0] in kernel.written or _shares_memory(value, arrays)
        return made[key]

    return [storage(*each) for each in zip(kernel.parameters, arguments, strict=True)]


def _arrays(arguments: Iterable) -> Iterator[GlobalArray]:
    for each in arguments:
        if isinstance(each, GlobalArray):
            yield each
        elif isinstance(each, tuple):
            yield from _arrays(each)


def _shares_memory(value: GlobalArray, arrays: list[GlobalArray]) -> bool:
    return sum(np.may_share_memory(value.array, other.array) for other in arrays) > 1


def _storage(name: str, value: GlobalArray) -> Storage:
    """Its memory from the lowest address to the highest, in elements."""
    array, size = value.array, value.array.itemsize
    if any(stride % size for stride in array.strides):
        raise Unknown(
            f"{name} has elements of {size} bytes with gaps between them that are no multiple of that.\n"
            "The simulator does not know such arrays; a copy of it would do."
        )
    reach = [(length - 1) * stride for length, stride in zip(array.shape, array.strides)] if array.size else []
    low, high = sum(each for each in reach if each < 0), sum(each for each in reach if each > 0)
    lowest = array[(..., *(slice(-1, None) if stride < 0 else slice(0, 1) for stride in array.strides))]
    span = (high - low) // size + 1 if array.size else 0
    flat = np.lib.stride_tricks.as_strided(lowest, (span,), (size,))
    return Storage(
        name,
        "global",
        flat,
        array.shape,
        address=value.address + low,
        start=-low // size,
        strides=tuple(stride // size for stride in array.strides),
    )
