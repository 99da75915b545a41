"""Products and sums that are wrong in another way: what is said of sums over blocks is not said of them."""

import numpy as np
import pytest

from tools.check import Mismatch, assert_matches
from tools.check.tolerances import accumulated

OF_SUMS = {
    "first_block_only",
    "tail_ignored",
    "head_forgotten",
    "head_ignored",
    "first_block_again",
    "every_second_block",
    "one_of_each_block",
    "steps_overlap",
    "tile_left_over",
    "block_twice",
    "block_missing",
    "no_whole_block",
    "each_block_alone",
    "tiles_exchanged",
    "tile_transposed",
    "tile_elsewhere",
    "own_number",
    "row_by_column",
    "column_by_row",
    "bounds_exchanged",
    "lengths_mixed_up",
}
SHAPES = [(40, 50, 24), (32, 64, 32), (7, 96, 5)]


def thirteen(array):
    return array[: len(array) // 13 * 13]


CONTROLS = {  # name -> (a, b, random numbers) -> a wrong product
    "noise": lambda a, b, rng: a @ b + rng.normal(size=(len(a), b.shape[1])),
    "a little noise": lambda a, b, rng: a @ b * (1 + 1e-3 * rng.normal(size=(len(a), b.shape[1]))),
    "some elements": lambda a, b, rng: np.where(rng.random((len(a), b.shape[1])) < 0.1, 0, a @ b),
    "one element": lambda a, b, rng: a @ b + 5 * (np.arange(len(a) * b.shape[1]) == 3).reshape(len(a), -1),
    "random steps missing": lambda a, b, rng: (a * (rng.random(a.shape[1]) < 0.8)) @ b,
    "random weights": lambda a, b, rng: (a * rng.uniform(0.5, 1.5, a.shape[1])) @ b,
    "steps of one factor in another order": lambda a, b, rng: a[:, rng.permutation(a.shape[1])] @ b,
    "steps moved by one": lambda a, b, rng: np.roll(a, 1, 1) @ b,
    "another matrix": lambda a, b, rng: rng.normal(size=(len(a), b.shape[1])),
    "rounded factors": lambda a, b, rng: a.astype(np.float16).astype(np.float64) @ b,
    "rounded result": lambda a, b, rng: np.round(a @ b),
    "no negative numbers": lambda a, b, rng: np.maximum(a @ b, 0),
    "magnitudes": lambda a, b, rng: np.abs(a) @ np.abs(b),
    "squares": lambda a, b, rng: (a * a) @ b,
    "rows in another order": lambda a, b, rng: (a @ b)[rng.permutation(len(a))],
    "rows scaled": lambda a, b, rng: (a @ b) * np.linspace(1, 2, len(a))[:, None],
    "a bias": lambda a, b, rng: a @ b + np.arange(b.shape[1]),
    "a random sign for each step": lambda a, b, rng: (a * rng.choice([-1, 1], a.shape[1])) @ b,
}


def wrong(name, shape):
    m, k, n = shape
    rng = np.random.default_rng([*shape, len(name)])
    a, b = (rng.normal(size=size) + 0.2 for size in ((m, k), (k, n)))

    def product(a, b, block=16):
        return CONTROLS[name](a, b, np.random.default_rng(1))

    return product, a, b


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", CONTROLS)
def test_a_product_that_is_wrong_otherwise_is_no_wrong_sum(name, shape):
    product, a, b = wrong(name, shape)
    with pytest.raises(Mismatch) as caught:
        assert_matches(product, a, b, block=16, oracle=lambda a, b, block: a @ b, tolerance=accumulated("float64", 96))
    assert caught.value.cause not in OF_SUMS, caught.value.text


@pytest.mark.parametrize("length", [40, 64, 71])
@pytest.mark.parametrize(
    "total",
    [
        lambda x: np.abs(x).sum(1),
        lambda x: (x * x).sum(1),
        lambda x: x.sum(1) + 1,
        lambda x: x.sum(1) / x.shape[1],
        lambda x: x.max(1),
        lambda x: x[:, ::3].sum(1) + x[:, 1],
        lambda x: np.sort(x, 1)[:, :20].sum(1),
        lambda x: x.cumsum(1)[:, 20] + x[:, 30],
    ],
    ids=range(8),
)
def test_sums_of_rows_that_are_wrong_otherwise_are_no_wrong_sums_over_blocks(total, length):
    x = np.random.default_rng(length).normal(size=(6, length)) + 0.3
    with pytest.raises(Mismatch) as caught:
        assert_matches(lambda x: total(x) * 1.0, x, oracle=lambda x: x.sum(1), tolerance=accumulated("float64", length))
    assert caught.value.cause not in OF_SUMS, caught.value.text


def test_a_claim_about_blocks_is_true_of_blocks_of_any_size():
    """Blocks of 13 are no power of two; but the first 39 of 40 steps are all but one."""
    a, b = np.random.default_rng(3).normal(size=(2, 5, 5))
    a, b = np.tile(a, (1, 8)) * np.linspace(1, 2, 40), np.tile(b, (8, 1)) * np.linspace(1, 3, 40)[:, None]
    with pytest.raises(Mismatch) as caught:
        assert_matches(lambda a, b: a[:, :39] @ b[:39], a, b, oracle=np.matmul)
    assert "It is right for the first 39 of 40 elements alone." in " ".join(caught.value.text.split())
