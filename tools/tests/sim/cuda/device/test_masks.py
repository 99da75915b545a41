"""The masks of warp functions: which are right, and what is said about the others."""

import numpy as np
import pytest

from tools.sim import cuda
from tools.sim.cuda.faults import Fault
from tools.tests.sim.cuda.device.running import fault_of, lane_of, run, warp_of

FULL = 0xFFFFFFFF
BLOCKS, THREADS = 2, 45


def meet(gone, active, masks):
    i = cuda.grid(1)
    mask = masks[i]  # also for the lanes that do not pass it on
    if gone[i]:
        return
    if active[i]:
        cuda.syncwarp(mask)


def may_meet(gone, active, masks) -> bool:
    """The rule of PTX's bar.warp.sync, thread by thread."""
    for i in np.flatnonzero(active & ~gone):
        if not masks[i] >> lane_of(i, THREADS) & 1:
            return False
        for j in warp_of(i, THREADS):
            if masks[i] >> lane_of(j, THREADS) & 1 and not gone[j] and not (active[j] and masks[j] == masks[i]):
                return False
    return True


def test_a_mask_names_the_lane_itself_and_all_it_names_are_there_with_it_unless_they_left():
    rng, seen = np.random.default_rng(0), []
    for _ in range(200):
        gone, active = rng.random(BLOCKS * THREADS) < 0.2, rng.random(BLOCKS * THREADS) < 0.7
        keys, masks = rng.integers(0, rng.integers(1, 4), gone.size), np.zeros(gone.size, np.uint32)
        for i in range(gone.size):
            partners = [j for j in warp_of(i, THREADS) if keys[j] == keys[i] and (active[j] or gone[j])]
            masks[i] = sum(1 << lane_of(j, THREADS) for j in partners) | 0xFFF << 20 & (0 if i % THREADS < 32 else FULL)
        if rng.random() < 0.7:
            masks[rng.integers(gone.size)] ^= np.uint32(1 << int(rng.integers(13)))
        masks[~active] = rng.integers(0, 2**32, (~active).sum())
        seen.append(may_meet(gone, active, masks))
        if seen[-1]:
            run(meet, BLOCKS, THREADS, gone, active, masks)
        else:
            with pytest.raises(Fault):
                run(meet, BLOCKS, THREADS, gone, active, masks)
    assert 40 < sum(seen) < 160


# What is said ------------------------------------------------------------------------------------


def half(x):
    i = cuda.grid(1)
    if i % 32 < 16:
        x[i] = cuda.ballot_sync(FULL, 1)


def stranger(x):
    i = cuda.grid(1)
    x[i] = cuda.shfl_down_sync(0x0000FFFF, x[i], 1)


def two_masks(x):
    i = cuda.grid(1)
    mask = 0x0000000F if i % 32 < 2 else FULL
    cuda.syncwarp(mask)


def reads_the_absent(x):
    i = cuda.grid(1)
    if i >= 40:
        return
    x[i] = cuda.shfl_down_sync(FULL, x[i], 4)


def reads_across_groups(x):
    i = cuda.grid(1)
    mask = 0x0000FFFF if i % 32 < 16 else 0xFFFF0000
    x[i] = cuda.shfl_down_sync(mask, x[i], 1)


def voted(value):
    return cuda.ballot_sync(FULL, value if value > 0 else 0)


vote = cuda.jit(device=True)(voted)


def turns_apart(x):
    for i in range(cuda.laneid, x.size, 32):
        x[i] = vote(x[i])


@pytest.mark.parametrize(
    "kernel, threads, kind, words",
    [
        (
            half,
            64,
            "warp_mask",
            [
                "thread 0 of block 0 (and 31 more) names lanes that are not here.",
                "Its mask 0xffffffff makes it wait for lanes 16 to 31 of its warp;",
                "only lanes 0 to 15 came.",
            ],
        ),
        (
            turns_apart,
            40,
            "warp_mask",
            ["voted, line ", "only lanes 0 to 7 came.", "turns_apart called it in line ", "x[i] = vote(x[i])"],
        ),
        (
            stranger,
            64,
            "warp_mask",
            [
                "thread 16 of block 0 (and 31 more) is not in its own mask.",
                "It is lane 16 of its warp; the mask is 0x0000ffff.",
            ],
        ),
        (
            two_masks,
            32,
            "warp_mask",
            [
                "thread 0 of block 0 (and 31 more) names lanes that pass other masks.",
                "Lane 0 of its warp passes 0x0000000f; lanes 2 to 3 in it differ.",
            ],
        ),
        (
            reads_the_absent,
            64,
            "shuffle",
            [
                "thread 36 of block 0 (and 3 more) reads a value that nobody gives.",
                "Lane 4 of its warp asks lane 8, which has left the kernel;",
                "lanes 0 to 7 came.",
            ],
        ),
        (reads_the_absent, 40, "shuffle", ["Lane 4 of its warp asks lane 8, which does not exist;"]),
        (
            reads_across_groups,
            32,
            "shuffle",
            ["Lane 15 of its warp asks lane 16, which is not in its mask;", "Which lanes belong together?"],
        ),
    ],
)
def test_a_fault_names_the_lanes_and_the_mask(kernel, threads, kind, words):
    fault = fault_of(kernel, 1, threads, np.zeros(threads, np.int32))
    assert fault.kind == kind
    assert [each for each in words if each not in fault.text] == []
