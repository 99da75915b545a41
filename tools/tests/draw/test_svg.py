"""The elements of a picture: readable for browsers in light and dark, and for programs that know no style sheets."""

import re
import xml.etree.ElementTree as ElementTree

import pytest

from tools.draw import explore, svg
from tools.draw.svg import Canvas

SVG = "{http://www.w3.org/2000/svg}"


def one_of_each() -> str:
    canvas = Canvas(200, "title", "description")
    for number, kind in enumerate((*svg.KINDS, "soft small", "tiny on")):
        canvas.text(0, number, "words", kind)
        if "fill=" in svg.KINDS.get(kind, ""):
            canvas.rect(0, number, 10, 10, kind)
            canvas.circle(0, 0, 1, kind, "tip")
        if "stroke=" in svg.KINDS.get(kind, ""):
            canvas.line(0, 0, 1, 1, kind)
    canvas.text(0, 0, "words")
    canvas.curve([(0, 0), (1, 1)])
    return canvas.finish(100)


PICTURES = {"one of each": one_of_each(), "sectors": explore.sectors(1, 0, 4), "tiles": explore.tiles(40, 24, 16, 16)}


@pytest.mark.parametrize("name", PICTURES)
def test_every_element_says_its_colour_itself(name):
    tree = ElementTree.fromstring(PICTURES[name])
    assert tree.get("fill") == svg.INK  # of words that say none
    shapes = [each for each in tree.iter() if each.tag.removeprefix(SVG) in ("rect", "circle", "polyline")]
    lines = [each for each in tree.iter(f"{SVG}line")]
    assert shapes and all(each.get("fill") for each in shapes) and all(each.get("stroke") for each in lines)
    assert "var(" not in PICTURES[name]


@pytest.mark.parametrize("name", PICTURES)
def test_a_style_sheet_speaks_of_dark_pages_only(name):
    sheet = re.search("<style>(.*?)</style>", PICTURES[name], re.S)[1]
    assert re.fullmatch(r"@media \(prefers-color-scheme: dark\) \{[^@]*\}", sheet, re.S)
    named = {kind for kinds in re.findall(r"\.picture \.(\w+)", sheet) for kind in kinds.split()}
    assert named <= svg.KINDS.keys()


def test_on_a_dark_page_all_that_is_light_or_dark_changes():
    """What is left out there is a colour of its own: a series, and the letters on it."""
    same = {
        kind
        for kind, style in svg.KINDS.items()
        if ('fill="#' in style or 'stroke="#' in style) and not re.search(rf"\.picture \.{kind}\b", svg.DARK)
    }
    assert same == {"on", *(f"c{number}" for number in range(svg.COLOURS))}


def test_every_series_has_a_colour():
    assert {svg.colour(number) for number in range(100)} <= svg.KINDS.keys()
    assert len(svg.SERIES) == svg.COLOURS
