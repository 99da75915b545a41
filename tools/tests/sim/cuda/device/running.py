"""Kernels and single functions on the simulator, and the same by loops over threads."""

from contextlib import contextmanager

import numpy as np
import pytest

from tools.sim.cuda.faults import Fault
from tools.sim.cuda.host.launch import launch
from tools.sim.cuda.memory.counting import Counting
from tools.sim.cuda.memory.storage import GlobalArray
from tools.sim.cuda.run.warps import Warps
from tools.sim.cuda.session import session

WARP = 32


def run(kernel, blocks: int, threads: int, *arguments):
    """Launch a kernel. NumPy arrays are its device arrays and keep what it stores. Gives the launch's figures."""
    arguments = [
        GlobalArray(f"argument {number}", each, 512 * 1024 * (number + 1))
        if isinstance(each, np.ndarray) and each.ndim
        else each
        for number, each in enumerate(arguments)
    ]
    return launch(kernel, (blocks, 1, 1), (threads, 1, 1), arguments)


def fault_of(kernel, blocks: int, threads: int, *arguments) -> Fault:
    """The fault that the launch ends with; its text has the form that learners see."""
    with pytest.raises(Fault) as caught:
        run(kernel, blocks, threads, *arguments)
    lines = caught.value.text.splitlines()
    assert len(lines) <= 6 and max(map(len, lines)) <= 80, caught.value.text
    return caught.value


@contextmanager
def inside(blocks: int = 1, threads: int = WARP):
    """Inside, intrinsics may be called by their meaning, for all these threads."""
    lanes = Warps((blocks, 1, 1), (threads, 1, 1), 0, blocks, Counting())
    with session.having(warps=lanes), np.errstate(all="ignore"):
        yield lanes


def warp_of(thread: int, threads: int) -> range:
    """The threads of its warp, numbered through all blocks of so many threads."""
    block, inside_block = divmod(thread, threads)
    first = inside_block // WARP * WARP
    return range(block * threads + first, block * threads + min(first + WARP, threads))


def lane_of(thread: int, threads: int) -> int:
    return thread % threads % WARP


def masks_of(active: np.ndarray, threads: int) -> np.ndarray:
    """For each thread, the active lanes of its warp: uint32."""
    return np.array(
        [
            sum(1 << lane_of(other, threads) for other in warp_of(thread, threads) if active[other])
            for thread in range(active.size)
        ],
        np.uint32,
    )
