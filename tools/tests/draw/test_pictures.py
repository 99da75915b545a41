"""The small pictures of models: rooflines, bars, time lines and multiprocessors."""

import xml.etree.ElementTree as ElementTree

import pytest

from tools.draw import bars, resident, roofline, spans
from tools.draw.bars import Bar
from tools.draw.roofline import Point
from tools.models.occupancy import Occupancy
from tools.models.timeline import COMPUTE, DOWNLOAD, UPLOAD, Span, Timeline

SVG = "{http://www.w3.org/2000/svg}"


def parts(text: str, tag: str) -> list:
    return list(ElementTree.fromstring(text).iter(SVG + tag))


def words(text: str) -> list[str]:
    return [each.text for each in parts(text, "text")]


# Roofline ----------------------------------------------------------------------------------------

def places(*points: Point) -> list[tuple[float, float]]:
    circles = parts(roofline.svg("t", points, 1e13, 1e12), "circle")
    return [(float(each.get("cx")), float(each.get("cy"))) for each in circles]


def test_a_decade_is_as_long_everywhere():
    (x1, y1), (x2, y2), (x3, y3) = places(Point("a", 0.01, 1e9), Point("b", 0.1, 1e10), Point("c", 1, 1e11))
    assert x2 - x1 == pytest.approx(x3 - x2, abs=0.02) and y1 - y2 == pytest.approx(y2 - y3, abs=0.02)
    assert x1 < x2 < x3 and y1 > y2 > y3


def test_what_nobody_measured_lies_on_the_roof():
    (x, y), = places(Point("guess", 2))
    roof = parts(roofline.svg("t", [Point("guess", 2)], 1e13, 1e12), "polyline")[0].get("points").split()
    (x1, y1), (x2, y2) = (tuple(map(float, point.split(","))) for point in roof[:2])
    assert x1 < x < x2 and y == pytest.approx(y1 + (y2 - y1) * (x - x1) / (x2 - x1), abs=0.1)


def test_each_point_says_how_near_its_ceiling_it_is():
    points = [Point("slow", 1, 5e11), Point("fast", 100, 1e13), Point("guess", 1)]
    said = words(roofline.svg("t", points, 1e13, 1e12, "chip"))
    assert ("50% of its ceiling" in said, "100% of its ceiling" in said, "at the most" in said) == (True, True, True)
    assert "10 Tflop/s, 1 Tbyte/s, chip" in said


def test_a_roofline_names_both_axes():
    said = words(roofline.svg("Day 7", [Point("a", 1, 1e12)], 1e13, 1e12))
    assert {"Day 7", "operations for each byte (flop/byte)", "operations in a second (flop/s)"} <= set(said)


# Bars --------------------------------------------------------------------------------------------

BARS = [Bar("yours", 2.0, "2.0 ms", "half"), Bar("NumPy", 4.0, "4.0 ms"), Bar("tiny", 0.001, "1 us"),
        Bar("none", None, "not here")]  # fmt: skip


def test_bars_are_as_long_as_their_values():
    lengths = [line.count("#") for line in bars.terminal(BARS, 80).splitlines()]
    assert lengths[1] == pytest.approx(2 * lengths[0], abs=1) and lengths[0] > 20
    assert lengths[2:] == [1, 0]


@pytest.mark.parametrize("width", [40, 80, 120])
def test_bars_fit_into_the_width(width):
    assert max(map(len, bars.terminal(BARS, width).splitlines())) <= width


def test_no_bars_are_no_text():
    assert bars.terminal([]) == "" and bars.svg("empty", []).startswith("<svg")


def test_bars_in_a_file_name_value_and_unit():
    text = bars.svg("vector_add", BARS, "milliseconds")
    assert {"vector_add", "yours", "2.0 ms  half", "milliseconds", "not here"} <= set(words(text))
    widths = [float(box.get("width")) for box in parts(text, "rect")[1:]]
    assert widths[1] == pytest.approx(2 * widths[0], abs=1) and widths[2] == widths[3] == 1


# Time line ---------------------------------------------------------------------------------------

def test_work_stands_where_and_as_long_as_it_runs():
    timeline = Timeline()
    work = [timeline.submit(timeline.stream(), engine, 1e-3, engine) for engine in (UPLOAD, COMPUTE, DOWNLOAD)]
    work.append(Span(1e-3, 4e-3, 1, COMPUTE, "long"))
    text = spans.svg("Streams", work)
    tips = [(box, box.find(f"{SVG}title")) for box in parts(text, "rect")]
    boxes = {tip.text.split(",")[0]: box for box, tip in tips if tip is not None}
    assert float(boxes["long"].get("width")) == pytest.approx(3 * float(boxes[UPLOAD].get("width")), abs=0.1)
    assert boxes["long"].get("y") == boxes[COMPUTE].get("y") != boxes[UPLOAD].get("y")
    assert {"Streams", "0 ms", "4 ms", UPLOAD, COMPUTE, DOWNLOAD} <= set(words(text))


def test_a_time_line_without_work_is_empty():
    assert words(spans.svg("Nothing", []))[0] == "Nothing"


# A multiprocessor --------------------------------------------------------------------------------

ROOM = Occupancy(blocks=2, warps=6, of_warps=20, limiter="registers")


def test_each_place_for_a_warp_is_shown_once():
    assert resident.terminal(ROOM) == """\
2 blocks, 6 of 20 warps (30%); limited by registers
AAABBB..........
...."""
    kinds = [box.get("class") for box in parts(resident.svg("SM", ROOM), "rect")[1:]]
    assert kinds == ["c0"] * 3 + ["c1"] * 3 + ["empty"] * 14


def test_a_kernel_that_does_not_fit_leaves_all_places_empty():
    assert resident.terminal(Occupancy(0, 0, 16, "shared memory")).splitlines()[1] == 16 * "."


@pytest.mark.parametrize("text", [
    roofline.svg("<t>", [Point("<a>&b", 1, 1e12)], 1e13, 1e12), bars.svg("<t>", [Bar("<a>&b", 1.0, "1 <s>")]),
    spans.svg("<t>", [Span(0, 1, 0, COMPUTE, "<k>")]), resident.svg("<t>", ROOM)])  # fmt: skip
def test_names_with_signs_of_xml_are_shown_as_they_are(text):
    assert words(text)[0] == "<t>"
    assert text.count("http") == 1 and "url(" not in text
