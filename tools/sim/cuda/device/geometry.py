"""Positions: threadIdx, blockIdx, blockDim, gridDim, laneid, warpsize (all int32), grid and gridsize (int64)."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tools.models.units import WARP
from tools.sim.cuda.faults import Refused
from tools.sim.cuda.run.intrinsic import Register, intrinsic
from tools.sim.cuda.run.warps import current


class _Axes:
    """x, y and z of what `read(lanes, axis)` gives: int32, as all registers. name: as learners write it."""

    def __init__(self, name: str, read: Callable) -> None:
        self.described = f"{name} as a whole, which has .x, .y and .z"
        self.x, self.y, self.z = (Register(partial(read, axis=axis)) for axis in range(3))


threadIdx = _Axes("cuda.threadIdx", lambda lanes, axis: lanes.thread_index[axis].astype(np.int32))
blockIdx = _Axes("cuda.blockIdx", lambda lanes, axis: lanes.block_index[axis].astype(np.int32))
blockDim = _Axes("cuda.blockDim", lambda lanes, axis: np.int32(lanes.block[axis]))
gridDim = _Axes("cuda.gridDim", lambda lanes, axis: np.int32(lanes.grid[axis]))
laneid = Register(lambda lanes: lanes.lane.astype(np.int32))
warpsize = Register(lambda lanes: np.int32(WARP))


@intrinsic
def grid(ndim: Any) -> Any:
    """Position of the thread in the whole grid, along 1, 2 or 3 axes: int64, a tuple when there are several."""
    lanes = current()
    return _along(
        "cuda.grid", ndim, lambda axis: lanes.block_index[axis] * lanes.block[axis] + lanes.thread_index[axis]
    )


@intrinsic
def gridsize(ndim: Any) -> Any:
    """Threads in the whole grid along 1, 2 or 3 axes."""
    lanes = current()
    return _along("cuda.gridsize", ndim, lambda axis: np.int64(lanes.grid[axis] * lanes.block[axis]))


def _along(name: str, ndim: Any, position: Callable) -> Any:
    """position(axis) of the first axis, or a tuple of those of the first two or three."""
    if np.ndim(ndim) or ndim not in (1, 2, 3):
        raise Refused(f"{name} takes 1, 2 or 3, written as a number.", "How many axes are meant?")
    return position(0) if ndim == 1 else tuple(map(position, range(int(ndim))))
