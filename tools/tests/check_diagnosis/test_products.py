"""The usual wrong sums of a tiled product are named, in whatever the kernel is written; and nothing else is."""

import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from tools import worker
from tools.check import Mismatch, assert_matches
from tools.check.tolerances import accumulated

pytest.importorskip("triton")

FILE = Path(__file__).parent / "lessons" / "wrong_products.py"
WAYS = ("by_triton", "by_numba", "by_numpy")
CASES = [  # (m, k, n), the mistake, the cause, what is said of it
    ((40, 50, 24), "one step", "first_block_only", "It is right for the first 16 of 50 elements alone."),
    ((32, 64, 32), "one step", "first_block_only", "It is right for the first 16 of 64 elements alone."),
    (
        (40, 50, 24),
        "whole steps",
        "tail_ignored",
        "right for the first 48 of 50 elements alone. What happens to the last 2?",
    ),
    (
        (17, 71, 33),
        "whole steps",
        "tail_ignored",
        "right for the first 64 of 71 elements alone. What happens to the last 7?",
    ),
    ((32, 64, 32), "stops early", "tail_ignored", "It is right for the first 48 of 64 elements alone."),
    ((40, 50, 24), "turns for steps", "steps_overlap", "As if blocks of 16 of 50 elements began one step apart."),
    ((40, 50, 24), "from the second", "head_ignored", "It is right without the first 16 of 50 elements."),
    ((17, 71, 33), "every second", "every_second_block", "right for every second block of 16 of 71 elements alone."),
    ((32, 64, 32), "same step", "first_block_again", "As if each of 4 turns took the first 16 of 64 elements again."),
    ((40, 50, 24), "same step", "first_block_again", "As if each of 4 turns took the first 16 of 50 elements again."),
    ((40, 50, 24), "overwrites", "head_forgotten", "It is right for the last 2 of 50 elements alone."),
    ((32, 64, 32), "overwrites", "head_forgotten", "It is right for the last 16 of 64 elements alone."),
    ((40, 50, 24), "first twice", "block_twice", "As if numbers 0 to 15 of 50 elements were taken twice."),
    ((40, 50, 24), "a transposed", "tile_transposed", "As if each tile of a, 16 x 16, were transposed."),
    ((32, 64, 32), "b transposed", "tile_transposed", "As if each tile of b, 16 x 16, were transposed."),
    ((17, 71, 33), "both transposed", "tile_transposed", "As if each tile of a and of b, 16 x 16, were transposed."),
    ((40, 50, 24), "out transposed", "tile_transposed", "As if each tile of the result, 16 x 16, were transposed."),
    ((40, 50, 24), "exchanged", "tiles_exchanged", "As if each tile of b, 16 x 16, stood to the left of that of a."),
    (
        (40, 50, 45),
        "tile elsewhere",
        "tile_elsewhere",
        "Tile (0, 1) of the result, 16 x 16, holds what tile (1, 0) should",
    ),
    ((40, 50, 24), "m for k", "bounds_exchanged", "first 40 of 50 elements alone; another axis has 40."),
    ((40, 50, 23), "n for k", "bounds_exchanged", "first 23 of 50 elements alone; another axis has 23."),
    ((20, 18, 40), "k for n", "bounds_exchanged", "As if b ended after column 17; it has 40."),
    (
        (40, 50, 24),
        "own number in a",
        "own_number",
        "As if row y of each tile of a, 16 x 16, held its element y all along.",
    ),
    (
        (40, 50, 24),
        "own number in b",
        "own_number",
        "As if column x of each tile of b, 16 x 16, held its element x all along.",
    ),
    (
        (40, 50, 24),
        "row of the column",
        "row_by_column",
        "As if each column of a result's tile, 16 x 16, came from one row of a.",
    ),
    (
        (40, 50, 24),
        "column of the row",
        "column_by_row",
        "As if each row of a result's tile, 16 x 16, came from one column of b.",
    ),
]


@pytest.fixture(scope="module")
def lesson():
    module = worker.proxy("wrong_products", FILE)  # in a process that simulates, also where there is a GPU
    sys.modules["wrong_products"] = module
    yield module
    del sys.modules["wrong_products"]


def product(a, b, how):
    return a @ b


def factors(way, m, k, n) -> list:
    """Matrices whose products have no mean that hides what differs; tensors for kernels, arrays for NumPy."""
    rng = np.random.default_rng([m, k, n])
    pair = [rng.normal(size=shape).astype(np.float32) + np.float32(0.2) for shape in ((m, k), (k, n))]
    return pair if way == "by_numpy" else list(map(torch.from_numpy, pair))


def failure(function, a, b, how) -> Mismatch:
    with pytest.raises(Mismatch) as caught:
        assert_matches(function, a, b, how, oracle=product, tolerance=accumulated("float32", a.shape[1]))
    return caught.value


@pytest.mark.parametrize("way", WAYS)
def test_without_a_mistake_each_way_is_right(lesson, way):
    for shape in [(40, 50, 24), (32, 64, 32), (17, 71, 33)]:
        a, b = factors(way, *shape)
        assert_matches(getattr(lesson, way), a, b, "", oracle=product, tolerance=accumulated("float32", shape[1]))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("shape, how, cause, seen", CASES, ids=[f"{how}-{shape}" for shape, how, *_ in CASES])
def test_the_mistake_in_a_product_is_named(lesson, way, shape, how, cause, seen):
    found = failure(getattr(lesson, way), *factors(way, *shape), how)
    assert found.cause == cause, found.text
    assert seen in " ".join(found.text.split())
    assert found.text.endswith("?") and len(found.text.splitlines()) <= 12
