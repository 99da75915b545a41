"""Requests and sectors, against a count that goes through the threads one by one."""

import numpy as np
import pytest

from tools.compiler.addresses import Touch
from tools.compiler.layouts import Layout, requests

SHAPE = (16, 32)
# sizePerThread [1, 4], threadsPerWarp [4, 8], warpsPerCTA [2, 1], order [1, 0]: a warp has 4 rows of 32
# columns, two warps 8 rows, and each thread a second set of registers for the other 8.
BLOCKED = Layout(registers=(1, 2, 8 * 32), lanes=(4, 8, 16, 32, 64), warps=(4 * 32,))


def element(register: int, lane: int, warp: int) -> tuple[int, int]:
    """What that layout means, in plain words."""
    row = lane // 8 + 4 * warp + 8 * (register // 4)
    return row, 4 * (lane % 8) + register % 4


def one_by_one(touch: Touch, width: int) -> tuple[int, int, int]:
    each, found = width // touch.element_bytes, []
    for warp in range(2):
        for first in range(0, 8, each):
            there = [element(first + step, lane, warp) for lane in range(32) for step in range(each)]
            there = [place for place in there if touch.mask[place]]
            found.append(({int(touch.addresses[place]) // 32 for place in there}, len(there)))
    found = [request for request in found if request[1]]
    useful = touch.element_bytes * sum(elements for _, elements in found)
    return len(found), sum(len(sectors) for sectors, _ in found), useful


@pytest.mark.parametrize("width", [4, 8, 16])
@pytest.mark.parametrize("rows, cols", [(128, 4), (4, 64), (500, 4), (0, 4), (4096, 8)])
def test_requests_and_sectors_are_what_the_threads_one_by_one_make(width, rows, cols, rng):
    i, j = np.indices(SHAPE)
    mask = (j < rng.integers(1, 33)) & (i < rng.integers(1, 17))
    touch = Touch(0, (1 << 40) + 4 * int(rng.integers(8)) + i * rows + j * cols, mask, 4)
    got = requests(BLOCKED, touch, width, "load")
    want = one_by_one(touch, width)
    assert got == want


def test_a_warp_that_is_masked_off_makes_no_request():
    touch = Touch(0, np.zeros(SHAPE, np.int64), np.zeros(SHAPE, bool), 4)
    assert requests(BLOCKED, touch, 4, "load") == (0, 0, 0)


def test_of_warps_with_the_same_elements_all_load_and_one_stores():
    same = Layout(registers=(), lanes=(1, 2, 4, 8, 16), warps=(0, 0))
    touch = Touch(0, 4 * np.arange(32), np.ones(32, bool), 4)
    assert requests(same, touch, 4, "load") == (4, 16, 4 * 128)
    assert requests(same, touch, 4, "store") == (1, 4, 128)


def test_a_single_address_is_one_request_of_one_sector():
    assert requests(None, Touch(0, np.int64(64), np.ones((), bool), 4), 4, "load") == (1, 1, 4)
    assert requests(None, Touch(0, np.int64(64), np.zeros((), bool), 4), 4, "store") == (0, 0, 0)
