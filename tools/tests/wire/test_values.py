"""Values that are no arrays come out of the wire as they went in."""

import ml_dtypes
import numpy as np
import pytest
import torch
from hypothesis import given

from tools import wire
from tools.tests.wire.crossing import PLAIN, crossed
from tools.wire import frames


@given(PLAIN)
def test_a_plain_value_comes_out_as_it_went_in(value):
    assert repr(crossed(value)) == repr(value)  # repr tells 1 from True and 1.0, and finds nan like itself


@pytest.mark.parametrize("value", [2**63, -(2**63), -0.0, 5e-324, float("-inf"), complex(-0.0, 1), "\ud800", "\0"])
def test_awkward_plain_values_come_out_exactly(value):
    assert repr(crossed(value)) == repr(value)


def test_an_int_of_thousands_of_digits_crosses():
    assert crossed(10**5000) == 10**5000


@pytest.mark.parametrize(
    "value",
    [
        np.float32(0.1),
        np.float64("nan"),
        np.int64(-3),
        np.longlong(3),
        np.bool_(True),
        np.complex64(1j),
        ml_dtypes.bfloat16(1.5),
        ml_dtypes.float8_e4m3fn(448),
    ],
)
def test_numpy_scalars_keep_type_and_bits(value):
    back = crossed(value)
    assert back.dtype == value.dtype and back.tobytes() == value.tobytes()


@pytest.mark.parametrize(
    "dtype",
    [
        float,
        int,
        bool,
        complex,
        np.float32,
        np.int64,
        np.dtype("float16"),
        np.dtype(">i2"),
        ml_dtypes.bfloat16,
        np.dtype(ml_dtypes.float8_e5m2),
        torch.float32,
        torch.bfloat16,
        torch.float8_e4m3fn,
    ],
)
def test_dtypes_cross_as_themselves(dtype):
    assert crossed(dtype) == dtype and type(crossed(dtype)) is type(dtype)


def test_a_subclass_of_a_plain_type_is_no_plain_value():
    class Sly(int):
        pass

    with pytest.raises(TypeError, match="Sly cannot cross"):
        wire.encode(Sly(3))


def test_a_handle_crosses_and_other_objects_do_not():
    assert crossed(wire.Handle(3, "Cache")) == wire.Handle(3, "Cache")
    with pytest.raises(TypeError, match="set cannot cross"):
        wire.encode([{1, 2}])


def test_nesting_and_size_are_limited_for_the_sender_too():
    deep = []
    for _ in range(101):
        deep = [deep]
    with pytest.raises(ValueError, match="nested more than 100 deep"):
        wire.encode(deep)
    with pytest.raises(ValueError, match="3 GiB"):
        wire.encode("x" * (frames.MAX_HEADER + 1))
