"""Loops along a product that begin at the wrong places, add up too often, or end where another axis does."""

import numpy as np
import pytest

from tools.check import Mismatch, assert_matches
from tools.check.tolerances import accumulated


def along(a, b, starts, block):
    return sum(a[:, start : start + block] @ b[start : start + block] for start in starts)


def doubled(a, b, block):
    total = np.zeros((len(a), b.shape[1]), a.dtype)
    for start in range(0, a.shape[1], block):
        total += total + a[:, start : start + block] @ b[start : start + block]
    return total


def failure(function, m, k, n, **blocks) -> str:
    a, b = (np.random.default_rng([m, k, n]).normal(size=shape).astype(np.float32) for shape in ((m, k), (k, n)))
    tolerance = accumulated("float32", k)
    with pytest.raises(Mismatch) as caught:
        assert_matches(function, a, b, oracle=lambda a, b, **blocks: a @ b, tolerance=tolerance, **blocks)
    return " ".join(caught.value.text.split())


def test_steps_that_begin_as_far_apart_as_another_block_is_long_are_named():
    def product(a, b, tile_m, tile_k):
        return along(a, b, range(0, a.shape[1], tile_m), tile_k)

    assert "As if blocks of 32 of 96 elements began 16 apart." in failure(product, 24, 96, 20, tile_m=16, tile_k=32)
    assert "As if blocks of 16 of 96 elements began 64 apart." in failure(product, 24, 96, 20, tile_m=64, tile_k=16)


def test_a_sum_so_far_that_each_turn_adds_again_is_named():
    assert "As if each of 3 turns, 32 of 96 elements, doubled the sum before it." in failure(
        lambda a, b, tile_k: doubled(a, b, tile_k), 24, 96, 20, tile_k=32
    )


def test_a_loop_of_single_steps_is_named_where_one_block_holds_them_all():
    def product(a, b, tile):
        return along(a, b, range(a.shape[1]), tile)

    assert "As if a block of 32 began at each of 32 elements." in failure(product, 24, 32, 20, tile=32)


def test_a_sum_that_ends_with_another_axis_is_not_called_a_lost_tail():
    def product(a, b, tile):
        return a[:, : b.shape[1]] @ b[: b.shape[1]]

    assert "first 20 of 21 elements alone; another axis has 20." in failure(product, 24, 21, 20, tile=32)


def test_a_sum_of_whole_blocks_is_a_lost_tail_though_another_axis_is_as_long():
    def product(a, b, tile):
        return along(a, b, range(0, a.shape[1] // tile * tile, tile), tile)

    assert "first 20 of 21 elements alone. What happens to the last one?" in failure(product, 24, 21, 20, tile=10)
