"""Shuffles give each lane what the lane it names has, and refuse to invent a value."""

import numpy as np
import pytest

from tools.sim import cuda
from tools.tests.sim.cuda.device.running import fault_of, lane_of, masks_of, run, warp_of

BLOCKS, THREADS = 3, 77  # the last warp of each block has 13 threads


def from_lane(active, masks, x, offset, out):
    i = cuda.grid(1)
    if active[i]:
        out[i] = cuda.shfl_sync(masks[i], x[i], offset[i])


def from_above(active, masks, x, offset, out):
    i = cuda.grid(1)
    if active[i]:
        out[i] = cuda.shfl_down_sync(masks[i], x[i], offset[i])


def from_below(active, masks, x, offset, out):
    i = cuda.grid(1)
    if active[i]:
        out[i] = cuda.shfl_up_sync(masks[i], x[i], offset[i])


def across(active, masks, x, offset, out):
    i = cuda.grid(1)
    if active[i]:
        out[i] = cuda.shfl_xor_sync(masks[i], x[i], offset[i])


SOURCES = {  # the lane that PTX's shfl.sync reads: of the offset, only five bits count
    from_lane: lambda lane, offset: offset % 32,
    from_above: lambda lane, offset: lane + offset % 32 if lane + offset % 32 < 32 else lane,
    from_below: lambda lane, offset: lane - offset % 32 if lane - offset % 32 >= 0 else lane,
    across: lambda lane, offset: lane ^ offset % 32,
}


def source_of(kernel, thread: int, offset: int, active: np.ndarray) -> int | None:
    """The thread that is read; None where nobody gives a value."""
    lane = lane_of(thread, THREADS)
    source = thread - lane + SOURCES[kernel](lane, int(offset))
    return source if source in warp_of(thread, THREADS) and active[source] else None


@pytest.mark.parametrize("kernel", SOURCES)
@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32, np.float64])
def test_each_lane_gets_the_value_of_the_lane_it_names(kernel, dtype):
    rng = np.random.default_rng(sum(map(ord, kernel.__name__)))
    for density in (0.2, 0.7, 1.0):
        active = rng.random(BLOCKS * THREADS) < density
        x = (rng.standard_normal(active.size) * 2.0**29).astype(dtype)
        offset = rng.integers(-40, 70, active.size)
        for i in range(active.size):
            if source_of(kernel, i, offset[i], active) is None:  # let it read itself
                offset[i] = lane_of(i, THREADS) if kernel is from_lane else 0
        want = [x[source_of(kernel, i, offset[i], active)] if active[i] else 0 for i in range(active.size)]
        out = np.zeros_like(x)
        run(kernel, BLOCKS, THREADS, active, masks_of(active, THREADS), x, offset, out)
        assert out.tobytes() == np.array(want, dtype).tobytes()


@pytest.mark.parametrize("kernel", SOURCES)
def test_a_value_from_a_lane_that_is_not_there_is_a_fault(kernel):
    rng = np.random.default_rng(sum(map(ord, kernel.__name__)))
    active = rng.random(BLOCKS * THREADS) < 0.6
    offset = rng.integers(0, 32, active.size)
    unheard = [i for i in range(active.size) if active[i] and source_of(kernel, i, offset[i], active) is None]
    fault = fault_of(
        kernel,
        BLOCKS,
        THREADS,
        active,
        masks_of(active, THREADS),
        np.zeros(active.size, np.int32),
        offset,
        np.zeros(active.size, np.int32),
    )
    assert fault.kind == "shuffle"
    assert fault.block == (unheard[0] // THREADS, 0, 0) and fault.thread == (unheard[0] % THREADS, 0, 0)
    source = SOURCES[kernel](lane_of(unheard[0], THREADS), int(offset[unheard[0]]))
    assert f"Lane {lane_of(unheard[0], THREADS)} of its warp asks lane {source}, which " in fault.text
