"""Warps: where a thread runs, which branches split a warp, and how many of its lanes work."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tools.models.units import WARP


def linear(thread: tuple, block: tuple[int, int, int]) -> Any:
    """The number of a thread in its block; x counts fastest (CUDA C++ Programming Guide, Thread Hierarchy).

    thread: x, y, z, each a number or an array. block: its extent in x, y, z.
    """
    x, y, z = thread
    return x + block[0] * (y + block[1] * z)


def warp_and_lane(thread: tuple, block: tuple[int, int, int]) -> tuple[Any, Any]:
    """Which warp of its block a thread is in, and which lane of the warp it is. Arguments as for `linear`."""
    number = linear(thread, block)
    return number // WARP, number % WARP


def warps_in(threads: int) -> int:
    """How many warps a block of so many threads has; the last may be a part of one."""
    return -(-threads // WARP)


def in_warps(threads: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """One value for each thread of a block, row by row for its warps; and which lanes exist.

    threads: array [n]. Returns two arrays [warps, 32]; lanes of the last warp beyond the block hold zero.
    """
    threads = np.asarray(threads)
    rows = np.zeros((warps_in(threads.size), WARP), threads.dtype)
    rows.ravel()[: threads.size] = threads
    exists = np.arange(rows.size).reshape(rows.shape) < threads.size
    return rows, exists


def divergent(taken: np.ndarray, mask: np.ndarray | None = None) -> np.ndarray:
    """Whether a branch splits its warp: some active lanes take it and some do not.

    taken, mask: bool [..., 32], mask the active lanes (None: all). Returns bool [...]; its sum counts warps.
    """
    taken = np.asarray(taken, bool)
    active = np.True_ if mask is None else mask
    return np.asarray((taken & active).any(-1) & (~taken & active).any(-1))


def lane_efficiency(mask: np.ndarray) -> float:
    """Of the lanes of all warps that execute a statement, the share that is active; 1.0 if no warp does.

    mask: bool [..., 32], the active lanes.
    """
    mask = np.asarray(mask, bool)
    lanes = WARP * np.count_nonzero(mask.any(-1))
    return np.count_nonzero(mask) / lanes if lanes else 1.0
