"""The pictures of touches, as a learner sees them in a terminal and in a browser."""

import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from tools.draw import touches
from tools.draw.cells import OUTSIDE, binned
from tools.draw.touches_svg import _regions
from tools.draw.words import lanes, place, tint
from tools.tests.draw.kernels import add, along_rows, corners, down_columns, one_bank, picture, product, zeros

pytestmark = pytest.mark.filterwarnings("ignore::tools.sim.cuda.host.errors.NumbaPerformanceWarning")
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def drawn():
    return {
        "add": picture(lambda: add[3, 4](zeros(10), zeros(10), zeros(10)), "add, 10 float32"),
        "large add": picture(lambda: add[200, 64](zeros(12345), zeros(12345), zeros(12345))),
        "product": picture(lambda: product[(2, 2), (4, 4)](zeros(8, 8), zeros(8, 8), zeros(8, 8)), "product, 8 x 8"),
        "columns": picture(lambda: down_columns[1, (32, 2)](zeros(40, 16), zeros(40, 16)), "down, 40 x 16"),
        "two long rows": picture(lambda: along_rows[(16, 2), 256](zeros(2, 4096), zeros(2, 4096)), "2 x 4096"),
        "three axes": picture(lambda: corners[(2, 2), 2](zeros(2, 2, 2)), "corners"),
        "many": picture(lambda: product[(8, 8), (4, 4)](zeros(32, 32), zeros(32, 32), zeros(32, 32)), "many"),
        "bank": picture(lambda: one_bank[1, 32](zeros(32)), "<one & bank>"),
    }


def without_source(text: str) -> str:
    """Line numbers are this file's neighbours' affair."""
    return re.sub(r"^line \d+ ", "line N ", text, flags=re.M)


def test_a_vector_in_blocks(drawn):
    assert (
        without_source(touches.terminal(drawn["add"]))
        == """\
add, 10 float32
add, 3 blocks

x, y loaded; out stored, 10 elements
by 1 block each
0 AAAABBBBCC

block: A 0, B 1, C 2

line N  out[i] = x[i] + y[i]
  load of x, load of y, store of out: 1 sector each (warp 0 of block 0)
  |0-3|"""
    )


def test_a_product_by_tiles(drawn):
    maps = touches.terminal(drawn["product"]).split("\n\nline")[0]
    assert (
        maps
        == """\
product, 8 x 8
product, 4 blocks (2 x 2)

a loaded, 8 x 8    b loaded, 8 x 8    out stored, 8 x 8
by 2 blocks each   by 2 blocks each   by 1 block each
0 ++++++++         0 ####++++         0 AAAABBBB
1 ++++++++         1 ####++++         1 AAAABBBB
2 ++++++++         2 ####++++         2 AAAABBBB
3 ++++++++         3 ####++++         3 AAAABBBB
4 ########         4 ####++++         4 CCCCDDDD
5 ########         5 ####++++         5 CCCCDDDD
6 ########         6 ####++++         6 CCCCDDDD
7 ########         7 ####++++         7 CCCCDDDD

block: A (0, 0), B (1, 0), C (0, 1), D (1, 1)
# C (0, 1), as an example, and other blocks   + several blocks without it"""
    )


def test_an_array_of_three_axes_is_labelled_by_the_first_two(drawn):
    lines = touches.terminal(drawn["three axes"]).splitlines()
    assert lines[3:9] == ["out stored, 2 x 2 x 2", "by 1 block each", "0,0 AB", "0,1 CD", "1,0 AB", "1,1 CD"]


def test_what_a_cell_shows_of_several_elements_is_said(drawn):
    text = touches.terminal(drawn["many"])
    assert "a cell: 4 x 2 elements" in text and "shown: the first of them" not in text
    wide = picture(lambda: add[300, 1](zeros(300), zeros(300), zeros(300)))
    assert "by 1 block each, a cell: 2 elements, shown: the first of them\n" in touches.terminal(wide)


def test_where_letters_repeat_the_legend_names_a_program_by_its_place(drawn):
    assert "block: A (0, 0), B (1, 0), C (2, 0)" in touches.terminal(drawn["many"])
    assert "# (0, 4), as an example, and other blocks" in touches.terminal(drawn["many"])


def test_what_nobody_touches_and_what_lies_apart_is_said(drawn):
    text = touches.terminal(drawn["columns"])
    assert "576 of 640 by nobody" in text and ". nobody" in text
    assert (
        "load of x, store of out: 32 sectors each, 4 would do (warp 0)\n  |0|1|2| ... |31|  a sector every 64 bytes"
    ) in text


def test_a_conflict_shows_in_the_banks(drawn):
    text = touches.terminal(drawn["bank"])
    assert "32 wavefronts, 1 would do (warp 0)\n  banks  *..............................." in text


@pytest.mark.parametrize("width", [50, 60, 80, 120])
@pytest.mark.parametrize("name", ["add", "large add", "product", "columns", "bank"])
def test_no_line_is_wider_than_the_terminal(drawn, name, width):
    assert max(map(len, touches.terminal(drawn[name], width).splitlines())) <= width


@pytest.mark.parametrize("name", ["add", "large add", "product", "columns", "bank"])
def test_colours_change_nothing_but_colours(drawn, name):
    plain, coloured = (touches.terminal(drawn[name], 80, colour) for colour in (False, True))
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == plain
    assert "\x1b" not in plain and "\x1b[30;41m" in coloured


# SVG ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["add", "large add", "product", "columns", "bank", "two long rows", "three axes"])
def test_the_file_is_xml_without_outside_parts(drawn, name):
    text = touches.svg(drawn[name])
    root = ElementTree.fromstring(text)
    assert root.tag == f"{SVG}svg" and root.find(f"{SVG}title").text == drawn[name].title
    tags = ("svg", "title", "desc", "style", "g", "rect", "text")
    assert {each.tag for each in root.iter()} <= {SVG + tag for tag in tags}
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "") and "url(" not in text
    words = " ".join(each.text for each in root.iter(f"{SVG}text"))
    legend = f"{drawn[name].unit}: A" if drawn[name].units <= 62 else "each block has a colour, one of 8"
    assert drawn[name].title in words and legend in words
    width, height = float(root.get("width")), float(root.get("height"))
    assert all(
        0 <= float(box.get("x", 0)) <= width and 0 <= float(box.get("y", 0)) <= height
        for box in root.iter(f"{SVG}rect")
    )


def spans(root):
    """Where each text of a picture stands, roughly: baseline, left, right."""
    for text in root.iter(f"{SVG}text"):
        size, x, wide = float(text.get("font-size", 13)), float(text.get("x")), len(text.text)
        wide *= size * (0.62 if "mono" in text.get("class", "") else 0.5)
        left = {"middle": x - wide / 2, "end": x - wide}.get(text.get("text-anchor"), x)
        yield float(text.get("y")), left, left + wide, text.text


@pytest.mark.parametrize(
    "name", ["add", "large add", "product", "columns", "bank", "two long rows", "three axes", "many"]
)
def test_no_text_overprints_another(drawn, name):
    found = list(spans(ElementTree.fromstring(touches.svg(drawn[name]))))
    for number, (y, left, right, text) in enumerate(found):
        for other_y, other_left, other_right, other in found[number + 1 :]:
            apart = abs(y - other_y) >= 8 or right <= other_left or other_right <= left
            assert apart, f"{text!r} and {other!r}"


def test_several_pictures_stand_below_each_other(drawn):
    one, other, both = (
        float(ElementTree.fromstring(touches.svg(*pictures)).get("height"))
        for pictures in ([drawn["add"]], [drawn["product"]], [drawn["add"], drawn["product"]])
    )
    assert both == one + other


@pytest.mark.parametrize("name", ["add", "large add", "product", "columns"])
def test_regions_cover_each_cell_once(drawn, name):
    for each in drawn[name].maps:
        cells = binned(each, drawn[name].followed, 16, 32)
        painted = np.full(cells.who.shape, OUTSIDE)
        for line, column, height, width, who, followed in _regions(cells):
            piece = slice(line, line + height), slice(column, column + width)
            assert (painted[piece] == OUTSIDE).all() and (cells.followed[piece] == followed).all()
            painted[piece] = who
        assert np.array_equal(painted, cells.who)


# Words -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("numbers", "text"), [
    ([5], "5"), ([3, 1, 2], "1-3"), ([0, 2, 4, 5], "0,2,4-5"), ([7, 7], "7")])  # fmt: skip
def test_lanes_are_drawn_together(numbers, text):
    assert lanes(numbers) == text


def test_a_place_counts_along_the_first_axis_first():
    assert [place(number, (3, 2)) for number in range(6)] == [
        "(0, 0)",
        "(1, 0)",
        "(2, 0)",
        "(0, 1)",
        "(1, 1)",
        "(2, 1)",
    ]
    assert place(5, (9,)) == "5"


@pytest.mark.parametrize("columns", [8, 16, 32, 64, 128])
def test_neighbours_in_a_grid_differ_in_colour(columns):
    for number in range(16 * columns):
        assert tint(number, 8) not in (tint(number + 1, 8), tint(number + columns, 8))
