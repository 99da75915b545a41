"""A table fits the screen: in lines, in pairs of lines, or figure by figure; nothing of it is cut or broken."""

import pytest

from tools.cli.table import Row, lines

ROWS = [Row("add, 4096 float32", ("17 ms", "1,024", "host link")), Row("mul", ("2 us", "-", "memory"), "bold")]


def table(width: int) -> list[str]:
    return [line for line, _ in lines("function", ("time", "bytes", "limit"), ROWS, width, texts=("limit",))]


def test_where_there_is_room_each_row_is_a_line():
    assert table(80) == [
        "  function            time  bytes  limit",
        "  add, 4096 float32  17 ms  1,024  host link",
        "  mul                 2 us      -  memory",
    ]
    assert table(44) == table(80)


def test_where_there_is_less_the_title_stands_above_its_figures():
    assert table(43) == [
        "     time  bytes  limit",
        "  add, 4096 float32",
        "    17 ms  1,024  host link",
        "  mul",
        "     2 us      -  memory",
    ]


def test_where_there_is_least_each_figure_has_a_line():
    assert table(26) == [
        "  add, 4096 float32",
        "    time   17 ms",
        "    bytes  1,024",
        "    limit  host link",
        "  mul",
        "    time   2 us",
        "    bytes  -",
        "    limit  memory",
    ]


@pytest.mark.parametrize("width", range(20, 90, 7))
def test_no_line_is_wider_than_asked_and_none_ends_in_spaces(width):
    found = table(width)
    assert max(map(len, found)) <= width
    assert all(line == line.rstrip() for line in found)
    assert all(any(cell in line for line in found) for row in ROWS for cell in row.cells)


def test_headings_are_dim_and_a_row_has_its_own_style():
    styles = [style for _, style in lines("", ("time", "bytes", "limit"), ROWS, 80)]
    assert styles == ["dim", "", "bold"]
