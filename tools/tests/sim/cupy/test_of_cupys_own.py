"""What CuPy's own tests ask for and the stand-in once did otherwise."""

import numpy as np
import pytest

import tools.sim.cupy as cp


@pytest.mark.parametrize(
    "name, parameters",
    [
        ("random", ()),
        ("standard_normal", ()),
        ("exponential", (1.0,)),
        ("poisson", (3,)),
        ("uniform", (0, 1)),
        ("normal", (0.0, 1.0)),
        ("gamma", (1.0, 1.0)),
        ("beta", (1, 1)),
        ("binomial", (3, 0.5)),
        ("triangular", (0, 1, 2)),
        ("hypergeometric", (3, 4, 5)),
    ],
)
@pytest.mark.parametrize("of", [cp.random, cp.random.RandomState(0), cp.random.default_rng(0)])
def test_the_size_of_random_numbers_may_be_given_by_position(of, name, parameters):
    draw = getattr(of, name)
    assert draw(*parameters, (2, 3)).shape == draw(*parameters, size=(2, 3)).shape == (2, 3)
    assert draw(*parameters, 4, np.float32).dtype == np.float32 and draw(*parameters).shape == ()
    with pytest.raises(TypeError):
        draw(*parameters, 3, size=3)


def test_a_number_taken_along_an_axis_goes_into_out():
    a = cp.arange(12).reshape(3, 4)
    out = cp.zeros(3, a.dtype)
    assert a.take(2, axis=1, out=out) is out and out.tolist() == [2, 6, 10]
    with pytest.raises(ValueError, match="Output shape mismatch"):
        a.take(2, axis=1, out=cp.zeros(4, a.dtype))
    with pytest.raises(TypeError, match="Output dtype mismatch"):
        a.take(2, axis=1, out=cp.zeros(3, np.float32))


@pytest.mark.parametrize("subscripts", ["ii->i", "ij->ji"])
def test_einsum_without_a_sum_is_a_view(subscripts):
    x = cp.zeros((3, 3))
    cp.einsum(subscripts, x)[...] = 1
    assert x.trace() == 3
    assert cp.einsum("ii", x).tolist() == 3 and not cp.shares_memory(cp.einsum("ij->i", x), x)


def test_meshgrid_gives_a_tuple():
    assert type(cp.meshgrid(cp.arange(2), cp.arange(3))) is tuple


def test_linspace_to_whole_numbers_is_rounded_down():
    assert cp.linspace(0, cp.asarray([-10.0]), 5, dtype=np.int32).ravel().tolist() == [0, -3, -5, -8, -10]


def test_a_list_of_complex_numbers_is_complex():
    assert cp.iscomplexobj([1j]) and not cp.iscomplexobj([1.0]) and cp.iscomplexobj(cp.zeros(1, np.complex64))


@pytest.mark.parametrize(
    "made",
    [
        lambda xp: xp.broadcast_to(xp.arange(6).reshape(2, 1, 3), (2, 2, 3)),
        lambda xp: xp.broadcast_to(xp.arange(3).reshape(3, 1, 1), (3, 2, 4)),
        lambda xp: xp.broadcast_to(xp.arange(3).reshape(3, 1), (3, 3, 4)),
        lambda xp: xp.broadcast_to(xp.arange(6).reshape(2, 3).T[:, :, None], (3, 2, 4)),
        lambda xp: xp.arange(24).reshape(2, 3, 4).transpose(2, 0, 1)[::2, :, ::-1],
    ],
)
def test_ravel_in_the_order_of_memory_is_numpys(made):
    assert made(cp).ravel("K").tolist() == made(np).ravel("K").tolist()


@pytest.mark.parametrize("number", [2**63, 128, -129, -(2**70), 127])
def test_whole_numbers_that_do_not_fit_can_be_compared(number):
    here, there = cp.arange(-2, 3, dtype=np.int8), np.arange(-2, 3, dtype=np.int8)
    for compare in ("less", "less_equal", "greater", "greater_equal", "equal", "not_equal"):
        assert getattr(cp, compare)(here, number).tolist() == getattr(np, compare)(there, number).tolist()
    with pytest.raises(OverflowError):
        here + 2**63


def test_axes_of_length_one_may_lead_what_is_copied():
    x = cp.zeros(3)
    cp.copyto(x, cp.ones((1, 1, 3)))
    assert x.tolist() == [1, 1, 1]
    with pytest.raises(ValueError):
        cp.copyto(x, cp.ones((2, 3)))


class OfAnotherLibrary:
    """An array on the device that is no CuPy array. named: what its interface says beside or instead."""

    def __init__(self, array, **named):
        self.array, self.__cuda_array_interface__ = array, array.__cuda_array_interface__ | named


def test_an_array_of_another_library_may_be_empty_and_has_no_mask():
    assert cp.asarray(OfAnotherLibrary(cp.arange(3))).tolist() == [0, 1, 2]
    assert cp.asarray(OfAnotherLibrary(cp.zeros((0, 3), np.float32))).shape == (0, 3)
    with pytest.raises(ValueError, match="mask"):
        cp.asarray(OfAnotherLibrary(cp.arange(3), mask=cp.ones(3)))


@pytest.mark.parametrize("dtype", [[("x", "f4"), ("y", "i4")], "V10"])
def test_arrays_of_records_are_said_to_be_unknown_here(dtype):
    with pytest.raises(NotImplementedError, match="The simulated CuPy has no arrays of .*; on a GPU there are such"):
        cp.zeros(3, dtype)
