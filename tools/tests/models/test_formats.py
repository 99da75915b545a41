"""Every code of every format against ml_dtypes, both ways, and tf32 against arithmetic on float32's own bits."""

import ml_dtypes
import numpy as np
import pytest

from tools.models.formats import BF16, E2M1, E4M3, E5M2, FORMATS, FP16, TF32, UE8M0, Format

# NumPy remarks on signalling NaN, of which there are some among all codes.
pytestmark = pytest.mark.filterwarnings("ignore:invalid value encountered in cast")

DTYPES = {
    "fp16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "E4M3": ml_dtypes.float8_e4m3fn,
    "E5M2": ml_dtypes.float8_e5m2,
    "E2M1": ml_dtypes.float4_e2m1fn,
    "UE8M0": ml_dtypes.float8_e8m0fnu,
}
with_dtype = pytest.mark.parametrize("fmt", [FORMATS[name] for name in DTYPES], ids=list(DTYPES))
every_format = pytest.mark.parametrize("fmt", FORMATS.values(), ids=list(FORMATS))


def all_codes(fmt: Format) -> np.ndarray:
    return np.arange(2**fmt.bits)


def decoded_by_dtype(fmt: Format, codes: np.ndarray) -> np.ndarray:
    dtype = np.dtype(DTYPES[fmt.name])
    return codes.astype(f"u{dtype.itemsize}").view(dtype).astype(float)


def judged_by_dtype(fmt: Format, values: np.ndarray) -> np.ndarray:
    """Those values that ml_dtypes (0.6.0) rounds to nearest; not NaN for E2M1, which has none, and not what lies
    closely above the smallest UE8M0, a subnormal float32, which it rounds up."""
    if fmt is UE8M0:
        return values[~((values > 2.0**-127) & (values < 1.5 * 2.0**-127))]
    return values if fmt.nan else values[~np.isnan(values)]


def rounded_by_dtype(fmt: Format, values: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        return values.astype(np.float32).astype(DTYPES[fmt.name]).astype(float)


def midpoints_and_neighbours(fmt: Format) -> np.ndarray:
    """Each tie between two values of the format, and of the largest and what would follow, with the float32 numbers
    around it; the values themselves with theirs."""
    values = decoded_by_dtype(fmt, all_codes(fmt))
    values = np.unique(values[np.isfinite(values)])
    above = values[-1] + (values[-1] - values[-2])
    values = np.concatenate([values, [above], -values, [-above]]) if fmt.signed else np.append(values, above)
    values = np.unique(values)
    with np.errstate(over="ignore"):  # what would follow the largest value of bf16 is beyond float32
        points = np.concatenate([values, (values[1:] + values[:-1]) / 2]).astype(np.float32)
        return np.concatenate(
            [points, np.nextafter(points, np.float32(np.inf)), np.nextafter(points, np.float32(-np.inf))]
        )


# Against ml_dtypes -------------------------------------------------------------------------------


@with_dtype
def test_every_code_means_what_it_means_to_ml_dtypes(fmt):
    np.testing.assert_array_equal(fmt.decode(all_codes(fmt)), decoded_by_dtype(fmt, all_codes(fmt)))


@with_dtype
def test_the_sign_of_zero_is_that_of_ml_dtypes(fmt):
    values, expected = fmt.decode(all_codes(fmt)), decoded_by_dtype(fmt, all_codes(fmt))
    numbers = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(values[numbers]), np.signbit(expected[numbers]))


@with_dtype
def test_every_value_is_encoded_as_its_own_code(fmt):
    codes = all_codes(fmt)
    numbers = ~np.isnan(decoded_by_dtype(fmt, codes))
    np.testing.assert_array_equal(fmt.encode(decoded_by_dtype(fmt, codes))[numbers], codes[numbers])


@with_dtype
def test_midpoints_and_their_neighbours_are_rounded_as_by_ml_dtypes(fmt):
    values = judged_by_dtype(fmt, midpoints_and_neighbours(fmt))
    np.testing.assert_array_equal(fmt.decode(fmt.encode(values)), rounded_by_dtype(fmt, values))


@with_dtype
def test_numbers_of_all_sizes_are_rounded_as_by_ml_dtypes(fmt):
    rng = np.random.default_rng(1)
    values = judged_by_dtype(fmt, rng.integers(0, 2**32, 200_000, dtype=np.uint32).view(np.float32))
    np.testing.assert_array_equal(fmt.decode(fmt.encode(values)), rounded_by_dtype(fmt, values))


@with_dtype
def test_limits_are_those_of_ml_dtypes(fmt):
    info = ml_dtypes.finfo(DTYPES[fmt.name])
    assert fmt.bits == info.bits
    assert fmt.max == float(info.max)
    assert fmt.smallest_normal == float(info.smallest_normal)
    if fmt.signed:
        assert fmt.smallest == float(info.smallest_subnormal)
        assert fmt.epsilon == float(info.eps)


# tf32: the upper 19 bits of float32 --------------------------------------------------------------


def float32_of(codes: np.ndarray) -> np.ndarray:
    return (codes.astype(np.uint32) << 13).view(np.float32)


def test_every_tf32_code_is_a_float32_with_thirteen_zero_bits():
    codes = np.arange(2**19)
    np.testing.assert_array_equal(TF32.decode(codes), float32_of(codes).astype(float))


def test_tf32_rounds_float32_to_ten_bits_of_mantissa():
    ties = (np.arange(2**19, dtype=np.uint32) << 13) + 4096
    bits = np.concatenate([ties - 1, ties, ties + 1])
    values = bits.view(np.float32)
    bits, values = bits[~np.isnan(values)], values[~np.isnan(values)]
    kept, dropped = bits >> 13, bits & 8191
    up = (dropped > 4096) | ((dropped == 4096) & (kept % 2 == 1))
    np.testing.assert_array_equal(TF32.encode(values), kept + up)


# What ml_dtypes cannot say -----------------------------------------------------------------------


def test_limits_by_hand():
    assert (FP16.max, BF16.smallest_normal, TF32.epsilon) == (65504, 2.0**-126, 2.0**-10)
    assert (E4M3.max, E5M2.max, E2M1.max) == (448, 57344, 6)
    assert (E4M3.smallest, E5M2.smallest, E2M1.smallest) == (2.0**-9, 2.0**-16, 0.5)
    assert (UE8M0.max, UE8M0.smallest, UE8M0.smallest_normal) == (2.0**127, 2.0**-127, 2.0**-127)


@pytest.mark.parametrize(
    "fmt, plain, saturated",
    [
        (FP16, np.inf, 65504),
        (BF16, np.inf, float.fromhex("0x1.FEp127")),
        (E5M2, np.inf, 57344),
        (E4M3, np.nan, 448),
        (E2M1, 6, 6),
        (UE8M0, np.nan, 2.0**127),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
@pytest.mark.parametrize("value", [1e39, np.inf])
def test_what_is_too_large_saturates_on_request(fmt, plain, saturated, value):
    np.testing.assert_equal(float(fmt.decode(fmt.encode(value))), plain)
    assert fmt.decode(fmt.encode(value, saturate=True)) == saturated
    if fmt.signed:
        np.testing.assert_equal(float(fmt.decode(fmt.encode(-value))), -plain)
        assert fmt.decode(fmt.encode(-value, saturate=True)) == -saturated


@every_format
@pytest.mark.parametrize("saturate", [False, True])
def test_nan_stays_nan_where_there_is_one(fmt, saturate):
    value = fmt.decode(fmt.encode(np.nan, saturate=saturate))
    assert np.isnan(value) if fmt is not E2M1 else value == 6


@pytest.mark.parametrize(
    "fmt, code",
    [(FP16, 0x7E00), (BF16, 0x7FC0), (TF32, 0x3FE00), (E4M3, 0x7F), (E5M2, 0x7E), (UE8M0, 0xFF)],
    ids=lambda value: getattr(value, "name", ""),
)
def test_nan_is_the_quiet_one(fmt, code):
    assert fmt.encode(np.nan) == code


def test_without_a_sign_zero_and_negative_values_are_nan():
    assert np.isnan(UE8M0.decode(UE8M0.encode([0.0, -0.0, -1.0, -np.inf]))).all()


def test_a_power_of_two_is_chosen_by_distance_and_a_tie_goes_up():
    values = np.array([2.0**-140, 1.25 * 2.0**-127, 1.5 * 2.0**-127, 1.49, 1.5, 3.0, 6.0])
    np.testing.assert_array_equal(UE8M0.encode(values), [0, 0, 1, 127, 128, 129, 130])


@every_format
def test_rounding_down_and_up_give_the_values_on_either_side(fmt):
    values = np.unique(fmt.decode(all_codes(fmt)[: 2 ** (fmt.bits - fmt.signed)]))
    values = values[np.isfinite(values)]
    between = values[:-1] + np.diff(values) / 4
    np.testing.assert_array_equal(fmt.decode(fmt.encode(between, np.floor)), values[:-1])
    np.testing.assert_array_equal(fmt.decode(fmt.encode(between, np.ceil)), values[1:])


def test_codes_keep_their_shape():
    assert E4M3.encode(1.0).shape == () and E4M3.encode(np.ones((2, 0, 3))).shape == (2, 0, 3)
    assert E4M3.decode(56).shape == () and E4M3.decode(np.zeros((2, 0, 3), int)).shape == (2, 0, 3)


@pytest.mark.parametrize("codes", [[0, 256], [-1, 3]])
def test_a_code_with_too_many_bits_is_refused(codes):
    with pytest.raises(ValueError, match=f"codes of E4M3 are 0 to 255; these are {codes[0]} to {codes[1]}"):
        E4M3.decode(codes)
