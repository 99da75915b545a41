"""Inputs on which lucky code fails."""

import numpy as np
import pytest
import torch

from tools.check.inputs import awkward_lengths, integers, matrices, vectors


@pytest.fixture(params=range(20))
def rng(request):
    return np.random.default_rng(request.param)


@pytest.mark.parametrize("shape", [(2, 3), (3, 3), (50, 70)])
def test_matrices_hold_no_value_twice_and_no_zero(rng, shape):
    for array in matrices(rng, shape, shape):
        assert array.shape == shape and array.dtype == np.float64
        assert len(np.unique(array)) == array.size and np.all(array != 0)


def test_matrices_differ_from_each_other_their_transpose_and_their_order(rng):
    a, b = matrices(rng, (5, 5), (5, 5))
    for other in (b, a.T, a[::-1], a[:, ::-1], np.sort(a, axis=None).reshape(5, 5)):
        assert not np.allclose(a, other)


def test_a_products_mean_is_of_the_size_of_its_spread(rng):
    for length in (3, 64, 2000):
        a, b = matrices(rng, (40, length), (length, 40))
        product = a @ b
        assert 0.2 < abs(product.mean()) / product.std() < 3


def test_the_mean_is_far_from_zero_for_vectors(rng):
    for vector in vectors(rng, 1000):
        assert vector.dtype == torch.float32 and vector.shape == (1000,)
        assert abs(vector.mean()) > 0.3 * vector.std()


def test_arrays_have_scales_of_their_own():
    rng = np.random.default_rng(0)
    spreads = [array.std() for array in matrices(rng, *[(30, 30)] * 40)]
    assert min(spreads) < 0.7 and max(spreads) > 1.5


@pytest.mark.parametrize("n", [0, 1, 2])
def test_short_vectors(n, rng):
    assert [vector.shape for vector in vectors(rng, n, count=3)] == [(n,)] * 3


def test_dtypes_are_as_asked(rng):
    assert matrices(rng, (2, 3), dtype=np.float32)[0].dtype == np.float32


def test_the_same_seed_gives_the_same_numbers():
    first, second = (matrices(np.random.default_rng(7), (3, 4))[0] for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_integers_are_distinct_where_the_range_allows(rng):
    values = integers(rng, (4, 5), -10, 10)
    assert sorted(values.ravel()) == list(range(-10, 10)) and values.dtype == np.int64
    crowded = integers(rng, (100,), 0, 3)
    assert set(crowded.tolist()) == {0, 1, 2}


def test_awkward_lengths():
    assert awkward_lengths(block=1024) == [0, 1, 1023, 1024, 1025, 2053]
    assert awkward_lengths(block=1) == [0, 1, 2, 3]
    assert awkward_lengths(block=128) == [0, 1, 127, 128, 129, 257]
