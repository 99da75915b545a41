"""Pictures of floats: they say and draw what NumPy finds."""

from xml.etree import ElementTree

import ml_dtypes
import numpy as np
import pytest

from tools.draw import explore
from tools.draw.explore.floats import SCORES

DTYPES = {"float16": np.float16, "bfloat16": ml_dtypes.bfloat16, "float32": np.float32, "E5M2": ml_dtypes.float8_e5m2}
FIELDS = {"float16": (5, 10), "bfloat16": (8, 7), "float32": (8, 23), "E5M2": (5, 2)}


def texts(svg: str) -> list[str]:
    return [part.text for part in ElementTree.fromstring(svg).iterfind(".//{*}text")]


def tips(svg: str) -> list[str]:
    return [tip.text for tip in ElementTree.fromstring(svg).iterfind(".//{*}rect/{*}title")]


def read(name: str, bits: int) -> float:
    dtype = np.dtype(DTYPES[name])
    return float(np.array(bits, f"u{dtype.itemsize}").view(dtype))


@pytest.mark.parametrize("name", FIELDS)
@pytest.mark.parametrize("share_of_codes", [0, 0.5, 0.99])
@pytest.mark.parametrize("last_mantissa", [False, True])
@pytest.mark.parametrize("negative", [False, True])
def test_bits_are_those_of_the_number(name, share_of_codes, last_mantissa, negative):
    exponent_bits, mantissa_bits = FIELDS[name]
    code = int(share_of_codes * (2**exponent_bits - 2))
    mantissa = (2**mantissa_bits - 1) * last_mantissa
    bits = (negative << (exponent_bits + mantissa_bits)) + (code << mantissa_bits) + mantissa
    svg = explore.float_bits(exponent_bits, mantissa_bits, code, mantissa, negative)
    title, formula = texts(svg)[:2]
    assert float(title.partition(", ")[0]) == pytest.approx(read(name, bits), rel=1e-8)
    assert title.endswith(name) or name == "E5M2"
    assert eval(formula.partition(":")[0]) == read(name, bits)
    assert "".join(word for word in texts(svg) if word in ("0", "1")) == f"{bits:0{1 + exponent_bits + mantissa_bits}b}"


@pytest.mark.parametrize("name, code, mantissa", [("float16", 15, 0), ("bfloat16", 0, 0), ("E5M2", 30, 3)])
def test_neighbours_are_the_numbers_whose_bits_are_a_few_less_or_more(name, code, mantissa):
    bits = (code << FIELDS[name][1]) + mantissa
    last = (2 ** FIELDS[name][0] - 1) << FIELDS[name][1]  # infinity
    around = [read(name, each) for each in range(max(0, bits - 5), min(bits + 6, last))]
    shown = [float(tip) for tip in tips(explore.float_bits(*FIELDS[name], code, mantissa)) if "bit " not in tip]
    assert shown == pytest.approx(around, rel=1e-8)


@pytest.mark.parametrize("mantissa", [0, 5])
def test_all_ones_have_no_neighbours(mantissa):
    svg = explore.float_bits(5, 10, 31, mantissa)
    assert texts(svg)[0].startswith(f"{read('float16', (31 << 10) + mantissa)}, ")
    assert all(tip.startswith("bit ") for tip in tips(svg))


def test_what_needs_more_bits_than_there_are_is_the_largest_that_does_not():
    assert explore.float_bits(5, 2, 30, 1023) == explore.float_bits(5, 2, 30, 3)
    assert explore.float_bits(5, 2, 255, 0) == explore.float_bits(5, 2, 31, 0)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # they overflow, and divide by 0
@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32"])
@pytest.mark.parametrize("shift, times", [(0, 1), (8, 1), (9, 1), (-21, 1), (86, 1), (-105, 1), (0, 3), (-20, 6)])
def test_weights_are_those_that_the_format_can_hold(name, shift, times):
    scores = (np.array(SCORES) * times + shift).astype(DTYPES[name])
    exponentials = np.exp(scores)
    weights = exponentials / exponentials.astype(np.float64).sum().astype(DTYPES[name])
    svg = explore.naive_softmax(name, shift, times)
    became = "NaN" if np.isnan(weights).any() else "weights" if weights.any() else "zeros"
    assert texts(svg)[0].endswith(f": {became}")
    told = [tip for tip in tips(svg) if tip.startswith("key")][::2]
    numbers = [[float(part.split()[-1]) for part in tip.split(", ")] for tip in told]
    wanted = np.stack([scores, exponentials, weights], axis=1).astype(np.float64)
    np.testing.assert_allclose(numbers, wanted, rtol=8e-3)
