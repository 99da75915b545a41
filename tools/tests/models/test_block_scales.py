"""Block scales against their definitions, value by value, with ml_dtypes for the narrow floats."""

import ml_dtypes
import numpy as np
import pytest

from tools.models.block_scales import mx, nvfp4
from tools.models.formats import E2M1, E4M3, E5M2
from tools.models.quantization import stochastic

DTYPES = {"E2M1": ml_dtypes.float4_e2m1fn, "E4M3": ml_dtypes.float8_e4m3fn, "E5M2": ml_dtypes.float8_e5m2}
mx_elements = pytest.mark.parametrize("element", [E2M1, E4M3, E5M2], ids=lambda element: element.name)


def values_of_all_sizes(cols: int) -> np.ndarray:
    """Rows of normal numbers of very different sizes, with outliers, zeros, and powers of two."""
    rng = np.random.default_rng(cols)
    values = rng.standard_normal((40, cols)) * np.geomspace(1e-6, 1e6, 40)[:, None]
    values[rng.random(values.shape) < 0.05] *= 30
    values[5], values[6, ::3] = 0, 0
    values[7] = 2.0 ** rng.integers(-9, 9, cols)
    return values.astype(np.float32).astype(float)


def narrowed(value: float, element) -> float:
    """Rounded by ml_dtypes; at most the largest value of the format."""
    limit = float(ml_dtypes.finfo(DTYPES[element.name]).max)
    return float(np.float32(np.clip(value, -limit, limit)).astype(DTYPES[element.name]))


@mx_elements
def test_mx_blocks_are_those_of_the_specification(element):
    values, top = values_of_all_sizes(96), {"E2M1": 4, "E4M3": 256, "E5M2": 32768}[element.name]
    blocks = mx(values, element)
    dequantized = blocks.dequantize()
    for row in range(len(values)):
        for start in range(0, 96, 32):
            block = values[row, start : start + 32]
            scale = 2.0**-127
            while scale * 2 <= abs(block).max() / top:  # the largest power of two that is no larger
                scale *= 2
            assert 2.0 ** (int(blocks.scales[row, start // 32]) - 127) == scale
            expected = [narrowed(value / scale, element) * scale for value in block]
            assert dequantized[row, start : start + 32].tolist() == expected


def test_nvfp4_blocks_have_a_scale_each_and_one_for_all():
    values = values_of_all_sizes(48)[12:28]
    blocks = nvfp4(values)
    assert blocks.overall == np.float32(abs(values).max() / (448 * 6))
    for row in range(len(values)):
        for start in range(0, 48, 16):
            block = values[row, start : start + 16]
            scale = narrowed(abs(block).max() / 6 / float(blocks.overall), E4M3) * float(blocks.overall)
            expected = [narrowed(value / scale, E2M1) * scale if scale else 0 for value in block]
            np.testing.assert_allclose(blocks.dequantize()[row, start : start + 16], expected, rtol=1e-14)


def test_the_block_with_the_largest_value_has_the_largest_scale():
    blocks = nvfp4(values_of_all_sizes(48))
    assert E4M3.decode(blocks.scales).max() == 448


def test_nvfp4_codes_do_not_depend_on_the_size_of_all_values():
    values = values_of_all_sizes(48)[12:28]
    larger, smaller = nvfp4(values), nvfp4(values * 2.0**-60)
    assert (larger.codes == smaller.codes).all() and (larger.scales == smaller.scales).all()


def test_a_scale_of_all_that_float32_can_hardly_hold_still_gives_numbers():
    # 5e-42 / 2688 is rounded down to the smallest float32, so that 448 is too little for the block.
    dequantized = nvfp4(np.full((1, 16), 5e-42)).dequantize()
    assert dequantized == pytest.approx(448 * 6 * 2.0**-149)


def test_bits_for_each_value_include_the_scales():
    values = values_of_all_sizes(96)
    blocks = mx(values), mx(values, E4M3), nvfp4(values)
    assert [each.bits_per_value for each in blocks] == [4.25, 8.25, 4.5]


def test_smaller_blocks_and_finer_scales_lose_less():
    values = np.random.default_rng(0).standard_normal((64, 128))
    errors = [np.square(blocks.dequantize() - values).mean() for blocks in (nvfp4(values), mx(values))]
    assert errors[0] < 0.8 * errors[1]


@pytest.mark.parametrize("quantize", [mx, nvfp4])
def test_zeros_stay_zeros_and_nothing_stays_nothing(quantize):
    assert (quantize(np.zeros((2, 64))).dequantize() == 0).all()
    assert quantize(np.zeros((0, 64))).dequantize().shape == (0, 64)
    assert quantize(np.zeros((3, 0))).dequantize().shape == (3, 0)


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
def test_what_is_not_finite_spoils_its_block_in_mx_and_everything_in_nvfp4(value):
    values = np.ones((2, 64))
    values[1, 40] = value
    assert np.isnan(mx(values).dequantize()).tolist() == [[False] * 64, [False] * 32 + [True] * 32]
    assert np.isnan(nvfp4(values).dequantize()).all()


def test_stochastic_rounding_keeps_the_mean_of_a_block():
    values = np.tile(np.linspace(0.1, 3.9, 31).tolist() + [4.0], (4000, 1))
    blocks = mx(values, rounding=stochastic(np.random.default_rng(3)))
    np.testing.assert_allclose(blocks.dequantize().mean(axis=0), values[0], atol=0.05)
    assert np.abs(mx(values).dequantize().mean(axis=0) - values[0]).max() > 0.2


@pytest.mark.parametrize("quantize, cols", [(mx, 48), (nvfp4, 24)])
def test_rows_that_are_no_whole_number_of_blocks_are_refused(quantize, cols):
    with pytest.raises(ValueError, match=f"rows of {cols} values cannot be cut into groups"):
        quantize(np.ones((2, cols)))
