"""Plots: every point where its figures say, inside the axes, and nothing that is not well-formed."""

import re
import xml.etree.ElementTree as ElementTree

import pytest

from tools.draw import plot
from tools.draw.plot import LIMIT, RIVAL, YOURS, Curve, Panel, svg

SVG = "{http://www.w3.org/2000/svg}"


def drawn(*curves, **how):
    return ElementTree.fromstring(svg("A day", [[Panel("f: speed", "size", "GB/s", curves, **how)]], ["small print"]))


def places(tree):
    """The points of the polylines, one list each."""
    return [
        [tuple(map(float, point.split(","))) for point in line.get("points").split()]
        for line in tree.iter(f"{SVG}polyline")
    ]


def test_points_lie_inside_the_axes_in_order():
    curve = Curve("yours", ((1e3, 2.0), (1e6, 50.0), (1e9, 700.0)), YOURS)
    (points,) = places(drawn(curve))
    assert [x for x, _ in points] == sorted(x for x, _ in points)
    assert [y for _, y in points] == sorted((y for _, y in points), reverse=True)  # up is less in SVG
    assert all(plot.LEFT <= x <= plot.WIDTH - plot.RIGHT for x, _ in points)
    assert all(plot.TOP <= y <= plot.HEIGHT - plot.BOTTOM for _, y in points)


def test_a_roof_rises_with_the_bandwidth_to_the_peak_and_holds_every_intensity():
    assert plot.roof([0.5, 20.0], 1e11, 1e10).points == ((0.125, 1.25), (10.0, 100.0), (80.0, 100.0))
    assert plot.roof([0.5], 1e11, 1e10).points[-1] == (40.0, 100.0)  # the ridge is always inside


def test_axes_are_logarithmic():
    (points,) = places(drawn(Curve("yours", ((1, 1), (10, 10), (100, 100)), YOURS)))
    (x0, y0), (x1, y1), (x2, y2) = points
    assert x1 - x0 == pytest.approx(x2 - x1, abs=0.2)
    assert y1 - y0 == pytest.approx(y2 - y1, abs=0.2)


def test_your_own_is_drawn_last_and_limits_are_dashed_without_marks():
    tree = drawn(
        Curve("yours", ((1, 1), (10, 2)), YOURS), Curve("roof", ((1, 5), (10, 5)), LIMIT), Curve("a", ((1, 3), (10, 3)))
    )
    lines = list(tree.iter(f"{SVG}polyline"))
    assert [line.get("stroke") for line in lines] == [plot.LIMIT_COLOUR, plot.COLOURS[0], plot.OWN_COLOUR]
    assert [line.get("stroke-dasharray") is not None for line in lines] == [True, False, False]
    assert len(list(tree.iter(f"{SVG}circle"))) == 2 + 1  # two points and the legend, of yours alone


def test_rivals_have_colours_and_marks_of_their_own():
    tree = drawn(*(Curve(name, ((1, 1 + number), (10, 2))) for number, name in enumerate("abcd")))
    assert len({line.get("stroke") for line in tree.iter(f"{SVG}polyline")}) == 4


def test_points_that_are_not_joined_have_no_line():
    assert places(drawn(Curve("yours", ((1, 1), (10, 2)), YOURS, joined=False))) == []


def test_names_are_escaped_and_small_print_is_there():
    text = svg("a < b & c", [[Panel("<f>", "x", "y", (Curve("a<b>", ((1, 1),), RIVAL),))]], ["1 < 2"])
    said = [element.text for element in ElementTree.fromstring(text).iter(f"{SVG}text")]
    assert {"a < b & c", "<f>", "a<b>", "1 < 2"} <= set(said)


def test_long_headings_and_small_print_are_wrapped_inside_the_picture():
    tree = ElementTree.fromstring(svg("word " * 40, [[Panel("f", "x", "y", (Curve("a", ((1, 1),)),))]], ["word " * 60]))
    lines = [element for element in tree.iter(f"{SVG}text") if element.text.startswith("word")]
    assert len(lines) > 6
    assert max(len(line.text) * plot.FOOT_LETTER for line in lines) <= plot.WIDTH


@pytest.mark.parametrize("points", [((8, 3.0),), ((8, 3.0), (8, 3.1)), ((8, 1e-9), (16, 1e12))])
def test_one_point_and_very_far_points_are_drawn(points):
    tree = drawn(Curve("yours", points, YOURS))
    assert len(list(tree.iter(f"{SVG}circle"))) == len(points) + 1
    assert "nan" not in ElementTree.tostring(tree, encoding="unicode").lower()


def test_a_panel_without_points_says_so():
    assert any("nothing was measured" in (element.text or "") for element in drawn().iter(f"{SVG}text"))


def test_given_ticks_are_shown_with_their_labels():
    tree = drawn(Curve("a", ((64, 1), (128, 2))), ticks=((64, "64"), (128, "128")))
    said = [element.text for element in tree.iter(f"{SVG}text")]
    assert {"64", "128"} <= set(said)


@pytest.mark.parametrize(("value", "text"), [(0.05, "0.05"), (20, "20"), (5000, "5k"), (2e6, "2M"), (1e12, "1T")])
def test_axes_have_short_numbers(value, text):
    assert plot.number(value) == text


@pytest.mark.parametrize(("low", "high"), [(1, 9), (0.3, 2.9), (1e3, 1e9), (11, 14), (2, 100)])
def test_every_axis_has_at_least_two_labels_inside(low, high):
    tree = drawn(Curve("a", ((1, low), (10, high))))
    labels = [element for element in tree.iter(f"{SVG}text") if element.get("text-anchor") == "end"]
    assert len(labels) >= 2
    assert all(plot.TOP - 6 <= float(label.get("y")) <= plot.HEIGHT - plot.BOTTOM + 6 for label in labels)


def test_nothing_outside_is_loaded():
    text = svg("A day", [[Panel("f", "x", "y", (Curve("a", ((1, 1),)),))]])
    assert re.findall(r"(?:href|src|url\()", text) == []
