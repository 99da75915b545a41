"""Integer quantization against its definition in plain loops and exact fractions."""

from fractions import Fraction
from math import floor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tools.models.quantization import Quantizer, affine, grouped, pack, stochastic, symmetric, unpack

numbers = st.floats(-1e6, 1e6, width=32)
matrices = hnp.arrays(np.float64, hnp.array_shapes(min_dims=2, max_dims=2, max_side=6), elements=numbers)
checked = settings(max_examples=100, deadline=None, derandomize=True)
every_kind = pytest.mark.parametrize("kind", [symmetric, affine])
ROUNDING_ERROR = 1 + 1e-12  # of float64, where a value lies in the middle between two codes


def nearest_even(value: Fraction) -> int:
    below = floor(value)
    rest = value - below
    return below + (rest > Fraction(1, 2) or (rest == Fraction(1, 2) and below % 2 == 1))


# Scales ------------------------------------------------------------------------------------------


@checked
@given(matrices, st.sampled_from([2, 4, 8]), st.sampled_from([None, 0, 1]))
def test_symmetric_scales_reach_the_largest_size_of_what_shares_them(values, bits, axis):
    scale = np.broadcast_to(symmetric(values, bits, axis).scale, values.shape)
    for (row, col), of_this in np.ndenumerate(scale):
        sharing = {None: values, 0: values[:, col], 1: values[row]}[axis]
        largest = max(abs(value) for value in sharing.ravel().tolist())
        assert of_this == (largest / (2 ** (bits - 1) - 1) if largest else 1)


@checked
@given(matrices, st.sampled_from([2, 4, 8]), st.sampled_from([None, 0, 1]))
@every_kind
def test_no_value_changes_by_more_than_the_bound(kind, values, bits, axis):
    quantizer = kind(values, bits, axis)
    error = np.abs(quantizer.dequantize(quantizer.quantize(values)) - values)
    assert (error <= quantizer.scale / 2 * ROUNDING_ERROR).all()
    assert (quantizer.error_bound() == quantizer.scale / 2).all()


@checked
@given(matrices, st.sampled_from([2, 4, 8]))
@every_kind
def test_stochastic_rounding_changes_no_value_by_more_than_a_step(kind, values, bits):
    quantizer = kind(values, bits)
    codes = quantizer.quantize(values, stochastic(np.random.default_rng(0)))
    assert (np.abs(quantizer.dequantize(codes) - values) <= quantizer.scale * ROUNDING_ERROR).all()
    assert (quantizer.error_bound(nearest=False) == quantizer.scale).all()


@checked
@given(matrices, st.sampled_from([2, 4, 8]))
def test_affine_codes_use_the_whole_range_and_keep_zero(values, bits):
    quantizer = affine(values, bits)
    assert (quantizer.low, quantizer.high) == (0, 2**bits - 1)
    assert quantizer.dequantize(quantizer.quantize(0.0)) == 0
    span = max(values.max(), 0) - min(values.min(), 0)
    assert quantizer.scale == pytest.approx(span / (2**bits - 1) if span else 1)


def test_codes_have_8_bits_unless_told_otherwise():
    assert [(kind([1.0]).low, kind([1.0]).high) for kind in (symmetric, affine)] == [(-127, 127), (0, 255)]


def test_affine_codes_of_values_worked_out_by_hand():
    # -1 to 3 in 4 bits: steps of 4 / 15; -1 is 3.75 steps below zero, so the zero point is 4.
    quantizer = affine([-1.0, 0.0, 1.0, 3.0], bits=4)
    assert quantizer.zero_point == 4
    assert quantizer.quantize([-1.0, 0.0, 1.0, 3.0]).tolist() == [0, 4, 8, 15]
    assert quantizer.dequantize([0, 4, 8, 15]).tolist() == pytest.approx([-16 / 15, 0, 16 / 15, 44 / 15])


def test_finer_scales_lose_less():
    values = np.random.default_rng(0).standard_normal((8, 64)) * np.geomspace(0.01, 10, 8)[:, None]
    values[:, ::16] *= 4

    def error(values: np.ndarray, axis: int | None) -> float:
        quantizer = symmetric(values, 4, axis)
        return np.abs(quantizer.dequantize(quantizer.quantize(values)) - values).mean()

    assert error(grouped(values, 8), -1) < error(values, 1) < error(values, None)


# Codes -------------------------------------------------------------------------------------------


@checked
@given(st.lists(numbers, min_size=1, max_size=30), st.integers(-6, 6), st.integers(-9, 9))
def test_a_code_is_the_nearest_step_and_ties_are_even(values, power, zero_point):
    quantizer = Quantizer(np.array(2.0**power), np.array(zero_point), -128, 127)
    expected = [
        min(max(nearest_even(Fraction(value) / Fraction(2) ** power) + zero_point, -128), 127) for value in values
    ]
    assert quantizer.quantize(values).tolist() == expected


def test_ties_by_hand():
    quantizer = Quantizer(np.array(1.0), np.array(0), -3, 3)
    assert quantizer.quantize([0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 9.0, -9.0]).tolist() == [0, 2, 2, 0, -2, -2, 3, -3]


# Stochastic rounding -----------------------------------------------------------------------------


@pytest.mark.parametrize("value", [0.25, 0.5, 2.9, -0.25, -3.875])
def test_stochastic_rounding_is_right_on_average(value):
    rolls = 40_000
    rounded = stochastic(np.random.default_rng(7))(np.full(rolls, value))
    assert set(rounded.tolist()) == {floor(value), floor(value) + 1}
    deviation = abs(rounded.mean() - value)
    assert deviation < 5 * np.sqrt((value - floor(value)) * (floor(value) + 1 - value) / rolls)


def test_stochastic_rounding_leaves_whole_numbers_alone():
    whole = np.array([-3.0, 0.0, 1.0, 2.0**52] * 1000)
    assert (stochastic(np.random.default_rng(7))(whole) == whole).all()


# Groups and bytes --------------------------------------------------------------------------------


def test_groups_are_neighbours_in_a_row():
    assert grouped(np.arange(12).reshape(2, 6), 3).tolist() == [[[0, 1, 2], [3, 4, 5]], [[6, 7, 8], [9, 10, 11]]]
    with pytest.raises(ValueError, match="rows of 6 values cannot be cut into groups of 4"):
        grouped(np.arange(6), 4)


@checked
@given(
    hnp.arrays(
        np.int64,
        st.tuples(st.integers(0, 3), st.integers(0, 5).map(lambda half: 2 * half)),
        elements=st.integers(-8, 7),
    )
)
def test_two_codes_share_a_byte_and_come_back(codes):
    packed = pack(codes)
    assert packed.dtype == np.uint8
    assert packed.tolist() == [
        [row[i] % 16 + 16 * (row[i + 1] % 16) for i in range(0, len(row), 2)] for row in codes.tolist()
    ]
    assert unpack(packed, signed=True).tolist() == codes.tolist()
    assert unpack(packed).tolist() == (codes % 16).tolist()
