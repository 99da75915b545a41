"""Indexing, against NumPy's: what is in range gives the same, and what is beyond an array of indices' range wraps."""

import numpy as np
import pytest

import tools.sim.cupy as cp

INDICES = [
    (),
    2,
    -1,
    slice(1, 3),
    slice(None, None, -1),
    slice(3, 0, -2),
    None,
    Ellipsis,
    (1, 2),
    (1, Ellipsis, 2),
    (None, 1, None),
    (slice(None), 1),
    (Ellipsis, 0),
    [0, 2],
    ([0, 1], [1, 2]),
    (slice(None), [2, 0, 2]),
    ([0, 3], slice(1, 3)),
    (1, [0, 2]),
    ([0, 1], slice(None), [2, 1]),
    (slice(None), [[0], [2]], [1, 3]),
    ([-1, -2], Ellipsis, 0),
    (None, [0, 1]),
    [],
    ([True, False, True, False],),
    (slice(None), [True, False, True]),
    (1, [False, True, True]),
    ([True, False, False, True], [0, 2]),
    np.arange(60).reshape(4, 3, 5) % 7 == 0,
    np.arange(12).reshape(4, 3) % 5 == 0,
    (Ellipsis, np.array([True, False, True, False, False])),
    np.int64(1),
    (np.uint8(2), np.array([1, 2])),
]


def on_device(index):
    """The same index with arrays of the device for NumPy's."""
    if isinstance(index, tuple):
        return tuple(map(on_device, index))
    return cp.asarray(index) if isinstance(index, np.ndarray) else index


@pytest.mark.parametrize("index", INDICES, ids=repr)
def test_elements_and_assignments_are_numpy_s(index):
    values = np.arange(60).reshape(4, 3, 5)
    x = cp.asarray(values)
    np.testing.assert_array_equal(x[on_device(index)].get(), values[index])
    new = np.arange(values[index].size).reshape(values[index].shape) + 100
    x[on_device(index)] = cp.asarray(new)
    values[index] = new
    np.testing.assert_array_equal(x.get(), values)
    x[on_device(index)] = values[index] = 7
    np.testing.assert_array_equal(x.get(), values)


def test_slices_are_views_and_arrays_of_indices_make_copies():
    x = cp.zeros((4, 4))
    for index in (1, slice(2), (slice(None), 1), None, Ellipsis, (1, 2)):
        assert cp.shares_memory(x[index], x)
    for index in ([1], cp.array(1), x > 0, (slice(None), [1])):
        assert not cp.shares_memory(x[index], x)


@pytest.mark.parametrize("kind", [list, cp.array, np.array])
def test_arrays_of_indices_wrap_around(kind):
    x, where = cp.arange(5), kind([5, -6, 12, 3])
    assert x[where].tolist() == [0, 4, 2, 3]
    x[where] = -1
    assert x.tolist() == [-1, 1, -1, -1, -1]
    assert cp.take(cp.arange(5), where).tolist() == [0, 4, 2, 3]


@pytest.mark.parametrize("name, start", [("add", 0), ("maximum", -100), ("minimum", 100), ("subtract", 0)])
def test_updates_count_each_occurrence_of_an_index(name, start):
    rng = np.random.default_rng(5)
    where, values = rng.integers(0, 4, 50), rng.integers(-50, 50, 50).astype(np.int32)
    wanted = np.full(4, start, np.int32)
    getattr(np, name).at(wanted, where, values)
    found = cp.full(4, start, dtype=cp.int32)
    getattr(cp, name).at(found, cp.asarray(where), cp.asarray(values))
    assert found.tolist() == wanted.tolist()


def test_scatter_add_of_cupyx_is_the_same():
    x = cp.zeros(3)
    cp.cupyx.scatter_add(x, cp.array([0, 0, 2]), 1.5)
    assert x.tolist() == [3, 0, 1.5]


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_take_is_numpy_s(axis):
    values, where = np.arange(12).reshape(3, 4), np.array([[0, 2], [1, 1]])
    np.testing.assert_array_equal(
        cp.take(cp.asarray(values), cp.asarray(where), axis=axis).get(), np.take(values, where, axis=axis)
    )
