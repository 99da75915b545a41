"""Warps against loops over the threads of a block."""

from itertools import product

import numpy as np
import pytest

from tools.models.warps import divergent, in_warps, lane_efficiency, linear, warp_and_lane, warps_in


@pytest.mark.parametrize("block", [(1, 1, 1), (32, 1, 1), (100, 1, 1), (16, 16, 1), (7, 5, 3), (1, 1, 64), (2, 33, 2)])
def test_threads_are_numbered_with_x_fastest_and_fall_into_warps_of_32(block):
    threads = [(x, y, z) for z, y, x in product(*map(range, reversed(block)))]
    for number, thread in enumerate(threads):
        assert linear(thread, block) == number
        assert warp_and_lane(thread, block) == divmod(number, 32)
    assert warps_in(len(threads)) == len({number // 32 for number in range(len(threads))})


def test_whole_arrays_of_threads_are_placed_at_once():
    warp, lane = warp_and_lane((np.arange(5), 1, 2), (5, 3, 4))
    assert warp.tolist() == [1, 1, 1, 1, 1]
    assert lane.tolist() == [3, 4, 5, 6, 7]


@pytest.mark.parametrize("threads", [0, 1, 31, 32, 33, 70])
def test_the_values_of_a_block_are_laid_out_warp_by_warp(threads):
    values, exists = in_warps(np.arange(1, threads + 1))
    assert values.shape == exists.shape == (warps_in(threads), 32)
    assert values[exists].tolist() == list(range(1, threads + 1))
    assert not values[~exists].any()


def test_a_branch_splits_the_warps_whose_active_lanes_disagree():
    rng = np.random.default_rng(0)
    taken = rng.random((400, 32)) < rng.choice([0, 0.03, 0.5, 0.97, 1], (400, 1))
    mask = rng.random((400, 32)) < rng.choice([0, 0.1, 1], (400, 1))
    expected = [len({bool(choice) for choice, active in zip(*row) if active}) == 2 for row in zip(taken, mask)]
    assert divergent(taken, mask).tolist() == expected
    assert 0 < sum(expected) < 400
    assert divergent(taken).tolist() == [len(set(row.tolist())) == 2 for row in taken]


@pytest.mark.parametrize(
    "condition, split",
    [
        (lambda thread: thread % 2 == 0, 4),
        (lambda thread: thread < 48, 1),
        (lambda thread: thread < 64, 0),
        (lambda thread: thread // 32 % 2 == 0, 0),
        (lambda thread: thread == 99, 1),
    ],
)
def test_how_many_warps_of_a_block_of_100_threads_split(condition, split):
    taken, exists = in_warps(condition(np.arange(100)))
    assert divergent(taken, exists).sum() == split


def test_lane_efficiency_counts_only_warps_that_execute():
    mask = np.zeros((3, 32), bool)
    assert lane_efficiency(mask) == 1.0
    mask[0] = True
    mask[1, :8] = True
    assert lane_efficiency(mask) == 40 / 64
