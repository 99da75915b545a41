"""Threads of one block taking turns: each runs until it waits for others, and goes on when all of them wait."""

import itertools
import random

import numpy as np

from tools.tests.sim.cuda.fuzz import warps
from tools.tests.sim.cuda.fuzz.memory import Memory
from tools.tests.sim.cuda.fuzz.oracle import STEPS, THREAD, Compiler
from tools.tests.sim.cuda.fuzz.scalars import Undefined
from tools.tests.sim.cuda.fuzz.tree import Kernel, Operation

WARP = 32


class Thread:
    """knows: what `Special` texts are for it. block: the shared arrays by name. waits: for what, None at its end."""

    def __init__(self, number: int, knows: dict, block: dict):
        self.lane, self.warp = number % WARP, number // WARP
        self.knows, self.block = knows, block
        self._turns = 0

    def start(self, body, frame: dict) -> None:
        self._run = body({THREAD: self, **frame})
        self.go_on(None)

    def go_on(self, received) -> None:
        """Run to the next operation that needs others, or to the end."""
        try:
            self.waits: tuple[Operation, tuple] | None = self._run.send(received)
        except StopIteration:
            self.waits = None

    def count(self) -> None:
        """One more turn of a loop."""
        self._turns += 1
        if self._turns > STEPS:
            raise Undefined("a loop takes too long")


def run(kernel: Kernel, order: int = 0) -> dict[str, np.ndarray]:
    """The arguments that are arrays, as the kernel leaves them. Raises Undefined.

    order: the seed of the order in which threads take turns; a kernel without races does not depend on it.
    """
    frame = {
        name: Memory.of(name, value) if isinstance(value, np.ndarray) else _plain(value)
        for name, value in {**kernel.constants, **kernel.arguments}.items()
    }
    body = Compiler().block(kernel.body)
    rng = random.Random(order)
    for block in itertools.product(*(range(size) for size in _padded(kernel.grid)[::-1])):
        _run_block(body, frame, _threads(kernel, block[::-1]), rng)
    return {name: value.array() for name, value in frame.items() if isinstance(value, Memory)}


def _run_block(body, frame: dict, threads: list[Thread], rng: random.Random) -> None:
    for thread in rng.sample(threads, len(threads)):
        thread.start(body, frame)
    while waiting := [thread for thread in threads if thread.waits]:
        if not any([_release(warp) for warp in _by_warp(waiting)]):
            _release_block(rng.sample(waiting, len(waiting)))


def _by_warp(threads: list[Thread]) -> list[list[Thread]]:
    return [list(group) for _, group in itertools.groupby(threads, lambda thread: thread.warp)]


def _release(warp: list[Thread]) -> bool:
    """Perform one operation for which all its lanes wait. warp: those of its threads that have not ended."""
    lanes = {thread.lane: thread for thread in warp}
    for operation in {id(thread.waits[0]): thread.waits[0] for thread in warp}.values():
        group = {lane: thread for lane, thread in lanes.items() if thread.waits[0] is operation}
        if operation.name.startswith("syncthreads"):
            continue
        masks = {lane: warps.mask(operation, thread.waits[1]) for lane, thread in group.items()}
        for mask in set(masks.values()):
            members = {lane for lane in lanes if mask >> lane & 1}
            if members and members == {lane for lane in group if masks[lane] == mask}:
                arguments = {lane: lanes[lane].waits[1] for lane in members}
                received = warps.perform(operation, arguments)
                for lane in members:
                    lanes[lane].go_on(received[lane])
                return True
    return False


def _release_block(waiting: list[Thread]) -> None:
    """A barrier of the block. Undefined if some wait elsewhere."""
    operations = {id(thread.waits[0]) for thread in waiting}
    operation = waiting[0].waits[0]
    if len(operations) > 1 or not operation.name.startswith("syncthreads"):
        raise Undefined("threads wait for each other in different places")
    received = warps.of_block(operation, [thread.waits[1] for thread in waiting])
    for thread in waiting:
        thread.go_on(received)


def _threads(kernel: Kernel, block: tuple[int, int, int]) -> list[Thread]:
    sizes, grid, shared = _padded(kernel.block), _padded(kernel.grid), {}
    indices = itertools.product(*(range(size) for size in sizes[::-1]))
    return [
        Thread(number, _specials(index[::-1], sizes, block, grid, number), shared)
        for number, index in enumerate(indices)
    ]


def _specials(thread, sizes, block, grid, number: int) -> dict[str, int]:
    knows = {"cuda.laneid": number % WARP, "cuda.warpsize": WARP}
    for axis, name in enumerate("xyz"):
        knows |= {
            f"cuda.threadIdx.{name}": thread[axis],
            f"cuda.blockIdx.{name}": block[axis],
            f"cuda.blockDim.{name}": sizes[axis],
            f"cuda.gridDim.{name}": grid[axis],
        }
    position = tuple(block[axis] * sizes[axis] + thread[axis] for axis in range(3))
    extent = tuple(grid[axis] * sizes[axis] for axis in range(3))
    for dimensions in (1, 2, 3):
        at, of = position[:dimensions], extent[:dimensions]
        knows[f"cuda.grid({dimensions})"] = at if dimensions > 1 else at[0]
        knows[f"cuda.gridsize({dimensions})"] = of if dimensions > 1 else of[0]
    return knows


def _padded(sizes: tuple[int, ...]) -> tuple[int, int, int]:
    return (*sizes, 1, 1)[:3]


def _plain(value):
    return value.item() if isinstance(value, np.generic) else value
