"""The picture of a softmax with a number taken off: it says what NumPy finds."""

from xml.etree import ElementTree

import numpy as np
import pytest

from tools.draw import explore


def parts(svg: str, of: str) -> list[ElementTree.Element]:
    return list(ElementTree.fromstring(svg).iterfind(f".//{{*}}{of}"))


def texts(svg: str) -> list[str]:
    return [part.text for part in parts(svg, "text")]


@pytest.mark.parametrize(
    "scores, taken_off, became",
    [
        ((2, 0, 1, 3), 3, "weights"),
        ((102, 100, 101, 103), 90, "weights"),
        ((102, 100, 101, 103), 0, "NaN"),
        ((88, 88, 88, 88), 0, "zeros"),
        ((0, 0, 0, 1), 200, "NaN"),
    ],
)
def test_says_what_became_of_it(scores, taken_off, became):
    title = texts(explore.stable_softmax(scores, taken_off))[0]
    assert title == f"{taken_off} taken off, the maximum is {max(scores)}: {became}"


@pytest.mark.parametrize("taken_off", [0, 3, -20])
def test_bars_are_as_long_as_weights(taken_off):
    scores = (2, 0, 1, 3)
    svg = explore.stable_softmax(scores, taken_off)
    widths = [float(bar.get("width")) for bar in parts(svg, "rect") if "key" in (bar.findtext("{*}title") or "")]
    whole, bars = widths[::2], widths[1::2]
    exact = np.exp(scores) / np.exp(scores).sum()
    assert np.divide(bars, whole) == pytest.approx(exact, abs=0.001)


def test_tells_the_log_sum_exp():
    assert texts(explore.stable_softmax((102, 100, 101, 103), 103))[1].endswith(" is 103.44")
