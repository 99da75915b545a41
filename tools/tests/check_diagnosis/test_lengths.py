"""One length in place of another: found by calls in which two of them are equal, wherever the mistake shows."""

import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from tools import worker
from tools.check import Mismatch, assert_matches
from tools.check.tolerances import accumulated

pytest.importorskip("triton")

FILE = Path(__file__).parent / "lessons" / "mixed_lengths.py"


@pytest.fixture(scope="module")
def lesson():
    module = worker.proxy("mixed_lengths", FILE)  # in a process that simulates, also where there is a GPU
    sys.modules["mixed_lengths"] = module
    yield module
    del sys.modules["mixed_lengths"]


def numbers(*shape) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng(shape).normal(size=shape) + 0.5).float()


def failure(function, *args, oracle, **kwargs) -> Mismatch:
    with pytest.raises(Mismatch) as caught:
        assert_matches(function, *args, oracle=oracle, tolerance=accumulated("float32", 16), **kwargs)
    return caught.value


def product(a, b, how, block=16):
    return a @ b


def looked_up(table, ids, how, block=16):
    return table[ids]


@pytest.mark.parametrize("shapes", [((2, 12), (12, 5)), ((5, 3), (3, 2)), ((4, 6), (6, 3))])
@pytest.mark.parametrize(
    "how, pair",
    [("rest and quotient", "m and n"), ("k for n", "n and k"), ("strides of a", "n and k"), ("rows of b", "n and k")],
)
def test_the_two_lengths_of_a_product_that_are_mixed_up_are_named(lesson, shapes, how, pair):
    found = failure(lesson.product, *map(lambda shape: numbers(*shape), shapes), how, oracle=product)
    one, other = pair.split(" and ")
    assert found.cause in ("lengths_mixed_up", "misread_strides"), found.text
    if found.cause == "lengths_mixed_up":
        assert (
            f"It is right where {one} and {other} are equal." in found.text
            or f"It is right where {other} and {one} are equal." in found.text
        ), found.text
    assert "partly empty" not in found.text


def test_one_length_in_place_of_all_is_named(lesson):
    found = failure(lesson.product, numbers(3, 5), numbers(5, 4), "all by m", oracle=product)
    assert found.cause == "lengths_mixed_up", found.text
    assert "It is right where m, k and n are equal. Where are they mixed up?" in found.text


def test_lengths_that_are_right_in_two_squares_and_wrong_in_a_third_are_not_called_mixed_up(lesson):
    found = failure(lesson.product, numbers(3, 5), numbers(5, 4), "small squares", oracle=product)
    assert "are equal" not in found.text, found.text


def test_lengths_that_are_equal_in_the_wrong_call_are_not_called_right_where_they_are(lesson):
    found = failure(lesson.product, numbers(7, 7), numbers(7, 7), "small squares", oracle=product)
    assert "are equal" not in found.text, found.text


def test_what_goes_wrong_with_large_lengths_alone_is_no_mix_of_them(lesson):
    found = failure(lesson.product, numbers(3, 5), numbers(5, 21), "wraps", oracle=product)
    assert "are equal" not in found.text, found.text


def test_a_block_in_place_of_a_length_is_named(lesson):
    ids = torch.tensor([4, 0, 4, 1])
    found = failure(lesson.rows, numbers(5, 3), ids, "block for width", block=4, oracle=looked_up)
    assert found.cause in ("lengths_mixed_up", "misread_strides")
    found = failure(lesson.rows, numbers(5, 3), torch.tensor([4, 0]), "block for width", block=8, oracle=looked_up)
    assert found.cause == "lengths_mixed_up" and "It is right where width and block are equal." in found.text


def test_a_missing_mask_is_not_called_a_mix_of_lengths_though_a_whole_block_is_right(lesson):
    found = failure(lesson.product, numbers(2, 12), numbers(12, 5), "no mask", block=16, oracle=product)
    assert found.text.endswith("It is right where k and block are equal. What happens where they are not?"), found.text
    found = failure(lesson.product, numbers(2, 12), numbers(12, 5), "no mask", oracle=product)
    assert "are equal" not in found.text


def test_programs_that_meet_are_not_called_a_mix_of_lengths_though_one_alone_is_right(lesson):
    found = failure(lesson.handed_on, numbers(6), block=2, oracle=lambda x, block: np.cumsum(x))
    assert "of words in line" in found.text and "are equal" not in found.text, found.text


def test_without_names_of_axes_nothing_is_said():
    def transposed(a, b):
        return (a @ b).T[: len(a), : b.shape[1]] if a.shape[0] == b.shape[1] else np.zeros((len(a), b.shape[1]))

    found = failure(transposed, np.ones((2, 3)) + np.arange(3), np.eye(3)[:, :2] + 1, oracle=np.matmul)
    assert found.cause != "lengths_mixed_up"
