"""Waves against a queue of blocks that is served round by round."""

import pytest

from tools.models.waves import waves


def rounds(blocks: int, slots: int) -> list[int]:
    """How many blocks run in each round."""
    served = []
    while blocks:
        served.append(min(blocks, slots))
        blocks -= served[-1]
    return served


@pytest.mark.parametrize("multiprocessors, resident", [(1, 1), (4, 3), (108, 2), (132, 16)])
def test_a_grid_fills_rounds_of_slots_and_leaves_a_tail(multiprocessors, resident):
    slots = multiprocessors * resident
    for blocks in (1, slots, slots + 1, 2 * slots, 5 * slots + slots // 2):
        expected, grid = rounds(blocks, slots), waves(blocks, multiprocessors, resident)
        assert (grid.slots, grid.count) == (slots, len(expected))
        assert grid.full == sum(served == slots for served in expected)
        assert grid.tail == sum(served for served in expected if served < slots)
        assert grid.efficiency == pytest.approx(sum(expected) / (slots * len(expected)))


def test_one_block_more_than_fits_costs_a_whole_round():
    assert waves(264, 132, 2).efficiency == 1.0
    assert waves(265, 132, 2).efficiency == 265 / 528
    assert waves(265, 132, 2).tail == 1


def test_an_empty_grid_wastes_nothing():
    empty = waves(0, 132, 2)
    assert (empty.count, empty.full, empty.tail, empty.efficiency) == (0, 0, 0, 1.0)


def test_a_kernel_of_which_no_block_fits_is_refused():
    with pytest.raises(ValueError, match="no block of this kernel fits on a multiprocessor"):
        waves(10, 132, 0)
