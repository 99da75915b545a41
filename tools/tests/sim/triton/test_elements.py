"""Elements at addresses: loaded and stored as Triton's interpreter does it."""

import numpy as np
import pytest
from triton._C.libtriton import interpreter

from tools.sim.triton import elements

SHAPES = [(3, 5), (elements.MANY,), (elements.MANY + 1,), (32, 64), (4, 8, 32)]


def addresses_in(memory: np.ndarray, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """Of elements that lie here and there, in any order."""
    places = rng.permutation(memory.size)[: np.prod(shape)]
    return (memory.ctypes.data + places * memory.itemsize).astype(np.uint64).reshape(shape)


@pytest.mark.parametrize("dtype", [np.bool_, np.uint8, np.float16, np.int32, np.float64])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("share", [1.0, 0.5, 0.0])
def test_what_is_loaded_and_stored_is_what_the_interpreter_loads_and_stores(dtype, shape, share):
    rng = np.random.default_rng(7)
    mask = rng.random(shape) < share
    there, instead, values = ((100 * rng.random(size)).astype(dtype) for size in (5000, shape, shape))
    addresses = addresses_in(there, shape, rng)
    wanted = interpreter.load(addresses, mask, instead, np.dtype(dtype))
    existing = np.where(mask, addresses, np.uint64(0))  # what is not there must not be touched
    np.testing.assert_array_equal(elements.load(existing, mask, instead, np.dtype(dtype)), wanted)
    before = there.copy()
    interpreter.store(addresses, values, mask)
    after = there.copy()
    there[:] = before
    elements.store(existing, values, mask)
    np.testing.assert_array_equal(there, after)


def test_what_is_loaded_is_no_view_of_what_stands_in_its_place():
    instead, nowhere = np.ones(elements.MANY, np.float32), np.zeros(elements.MANY, np.uint64)
    loaded = elements.load(nowhere, np.zeros(elements.MANY, bool), instead, instead.dtype)
    loaded[:] = 2
    assert (instead == 1).all()


def test_of_several_values_for_one_address_the_last_one_stays():
    there, values = np.zeros(2, np.float32), np.arange(elements.MANY, dtype=np.float32)
    addresses = np.full(elements.MANY, there.ctypes.data, np.uint64)
    elements.store(addresses, values, values < elements.MANY - 1)
    assert there.tolist() == [elements.MANY - 2, 0]


def test_elements_of_two_arrays_far_apart_are_found_in_one_access():
    one, other = np.full(elements.MANY, 1.0), np.full(1 << 22, 2.0)
    addresses = np.full(elements.MANY, other.ctypes.data, np.uint64)
    addresses[::2] = one.ctypes.data
    loaded = elements.load(addresses, np.ones(elements.MANY, bool), np.zeros(elements.MANY), np.dtype(float))
    assert loaded.tolist() == [1.0, 2.0] * (elements.MANY // 2)
