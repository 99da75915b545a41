"""Votes, matches and counting barriers: what all lanes of a group, or all threads of a block, say together."""

import numpy as np
import pytest

from tools.sim import cuda
from tools.sim.cuda.faults import Fault
from tools.tests.sim.cuda.device.running import fault_of, lane_of, masks_of, run, warp_of

BLOCKS, THREADS = 3, 77


def votes(active, masks, x, everybody, anybody, same, ballot):
    i = cuda.grid(1)
    if active[i]:
        everybody[i] = cuda.all_sync(masks[i], x[i])
        anybody[i] = cuda.any_sync(masks[i], x[i] != 0)
        same[i] = cuda.eq_sync(masks[i], x[i])
        ballot[i] = cuda.ballot_sync(masks[i], x[i])


def matches(active, masks, x, some, every, agree):
    i = cuda.grid(1)
    if active[i]:
        some[i] = cuda.match_any_sync(masks[i], x[i])
        every[i], agree[i] = cuda.match_all_sync(masks[i], x[i])


def presence(active, here, lower):
    i = cuda.grid(1)
    if active[i]:
        here[i] = cuda.activemask()
        lower[i] = cuda.lanemask_lt()


def counted(gone, x, count, every, some):
    i = cuda.grid(1)
    if gone[i]:
        return
    count[i] = cuda.syncthreads_count(x[i])
    every[i] = cuda.syncthreads_and(x[i])
    some[i] = cuda.syncthreads_or(x[i])


def together(keys: np.ndarray, active: np.ndarray) -> np.ndarray:
    """A mask for each thread: the active lanes of its warp with the same key."""
    masks = np.zeros(active.size, np.uint32)
    for key in set(keys.tolist()):
        of_key = active & (keys == key)
        masks[of_key] = masks_of(of_key, THREADS)[of_key]
    return masks


@pytest.mark.parametrize("groups", [1, 3])
@pytest.mark.parametrize("likely", [0.0, 0.05, 0.5, 0.97, 1.0])
def test_lanes_with_one_mask_vote_together(groups, likely):
    rng = np.random.default_rng([groups, int(100 * likely)])
    active = rng.random(BLOCKS * THREADS) < 0.8
    x = (rng.random(active.size) < likely) * rng.integers(1, 9, active.size)
    masks = together(rng.integers(0, groups, active.size), active)
    got = [np.zeros(active.size, kind) for kind in (bool, bool, bool, np.int32)]
    run(votes, BLOCKS, THREADS, active, masks, x, *got)
    for i in np.flatnonzero(active):
        group = [j for j in warp_of(i, THREADS) if masks[i] >> lane_of(j, THREADS) & 1]
        said = [x[j] != 0 for j in group]
        ballot = sum(1 << lane_of(j, THREADS) for j in group if x[j])
        want = all(said), any(said), all(said) or not any(said), ballot
        assert (*(bool(each[i]) for each in got[:3]), int(got[3][i]) % 2**32) == want


@pytest.mark.parametrize("groups", [1, 3])
@pytest.mark.parametrize(
    "values",
    [
        np.array([7], np.int32),
        np.array([1, 2, 2**31], np.int64),
        np.array([0.0, -0.0, np.nan, 1.5], np.float32),
        np.array([1e300, -1e300]),
        np.array([3, 2**40 + 3], np.uint64),
        np.array([True, False]),
    ],
    ids=lambda values: str(values.dtype),
)
def test_lanes_with_equal_bits_match(groups, values):
    rng = np.random.default_rng(groups)
    active = rng.random(BLOCKS * THREADS) < 0.8
    x = rng.choice(values, active.size)
    masks = together(rng.integers(0, groups, active.size), active)
    some, every, agree = np.zeros(active.size, np.int32), np.zeros(active.size, np.int32), np.zeros(active.size, bool)
    run(matches, BLOCKS, THREADS, active, masks, x, some, every, agree)
    for i in np.flatnonzero(active):
        group = [j for j in warp_of(i, THREADS) if masks[i] >> lane_of(j, THREADS) & 1]
        equal = [j for j in group if x[j].tobytes() == x[i].tobytes()]
        assert int(some[i]) % 2**32 == sum(1 << lane_of(j, THREADS) for j in equal)
        assert bool(agree[i]) == (equal == group)
        assert int(every[i]) % 2**32 == (int(masks[i]) if equal == group else 0)


def test_the_active_lanes_and_the_lower_lanes_are_masks():
    rng = np.random.default_rng(0)
    active = rng.random(BLOCKS * THREADS) < 0.5
    here, lower = np.zeros(active.size, np.uint32), np.zeros(active.size, np.uint32)
    run(presence, BLOCKS, THREADS, active, here, lower)
    for i in np.flatnonzero(active):
        assert here[i] == masks_of(active, THREADS)[i]
        assert lower[i] == 2 ** lane_of(i, THREADS) - 1


@pytest.mark.parametrize("likely", [0.0, 0.5, 1.0])
def test_a_counting_barrier_asks_all_threads_that_are_left(likely):
    rng = np.random.default_rng(int(2 * likely))
    gone = rng.random(BLOCKS * THREADS) < 0.3
    x = (rng.random(gone.size) < likely) * rng.choice([1, -5, 2**32], gone.size)  # the last one is 0 as an int32
    got = [np.zeros(gone.size, np.int32) for _ in range(3)]
    run(counted, BLOCKS, THREADS, gone, x, *got)
    for i in np.flatnonzero(~gone):
        block = [j for j in range(i // THREADS * THREADS, (i // THREADS + 1) * THREADS) if not gone[j]]
        true = [x[j] % 2**32 != 0 for j in block]
        assert tuple(int(each[i]) for each in got) == (sum(true), all(true), any(true))


# They are barriers -------------------------------------------------------------------------------


def neighbours_after_counting(x):
    tile = cuda.shared.array(64, np.int32)
    i = cuda.threadIdx.x
    tile[i] = i
    if cuda.syncthreads_count(i % 2) == 32:
        x[i] = tile[63 - i]


def neighbours_after_a_syncwarp(x):
    tile = cuda.shared.array(64, np.int32)
    i = cuda.threadIdx.x
    tile[i] = i
    cuda.syncwarp()
    x[i] = tile[i ^ 1]


def neighbours_after_a_vote(x):
    tile = cuda.shared.array(64, np.int32)
    i = cuda.threadIdx.x
    tile[i] = i
    if cuda.any_sync(0xFFFFFFFF, i >= 0):
        x[i] = tile[i ^ 1]


def half_count(x):
    i = cuda.threadIdx.x
    if i < 40:
        x[i] = cuda.syncthreads_or(i)


def test_a_counting_barrier_and_a_syncwarp_put_accesses_in_order():
    x = np.zeros(64, np.int32)
    run(neighbours_after_counting, 1, 64, x)
    assert x.tolist() == list(range(63, -1, -1))
    run(neighbours_after_a_syncwarp, 1, 64, x)
    assert x.tolist() == [i ^ 1 for i in range(64)]


def test_a_vote_puts_nothing_in_order():
    assert fault_of(neighbours_after_a_vote, 1, 64, np.zeros(64, np.int32)).kind == "race"


def test_a_counting_barrier_is_for_all_threads_of_the_block():
    with pytest.raises(Fault) as caught:
        run(half_count, 1, 64, np.zeros(64, np.int32))
    assert caught.value.kind == "divergent_barrier"
