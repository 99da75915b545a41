"""Where am I: threadIdx, blockIdx, blockDim, gridDim, laneid, warpsize (all int32), grid and gridsize (int64)."""

from functools import partial

import numpy as np

from tools.sim.cuda.intrinsic import Register, intrinsic
from tools.sim.cuda.lanes import current


class _Axes:
    """x, y and z of what `read(lanes, axis)` gives: int32, as all registers."""

    def __init__(self, read):
        self.x, self.y, self.z = (Register(partial(read, axis=axis)) for axis in range(3))


threadIdx = _Axes(lambda lanes, axis: lanes.thread_index[axis].astype(np.int32))
blockIdx = _Axes(lambda lanes, axis: lanes.block_index[axis].astype(np.int32))
blockDim = _Axes(lambda lanes, axis: np.int32(lanes.block[axis]))
gridDim = _Axes(lambda lanes, axis: np.int32(lanes.grid[axis]))
laneid = Register(lambda lanes: lanes.lane.astype(np.int32))
warpsize = Register(lambda lanes: np.int32(32))


@intrinsic
def grid(ndim):
    """Position of the thread in the whole grid, along 1, 2 or 3 axes: int64, a tuple when there are several."""
    lanes = current()
    return _one_or_several(ndim, [lanes.block_index[axis] * lanes.block[axis] + lanes.thread_index[axis]
                                  for axis in range(int(ndim))])


@intrinsic
def gridsize(ndim):
    """Threads in the whole grid along 1, 2 or 3 axes."""
    lanes = current()
    return _one_or_several(ndim, [np.int64(lanes.grid[axis] * lanes.block[axis]) for axis in range(int(ndim))])


def _one_or_several(ndim, values: list):
    if int(ndim) not in (1, 2, 3):
        raise ValueError(f"grid and gridsize take 1, 2 or 3, not {int(ndim)}")
    return values[0] if int(ndim) == 1 else tuple(values)
