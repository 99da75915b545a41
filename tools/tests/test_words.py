"""Quantities, lists and lines of text."""

import pytest

from tools.words import LONGEST, cut, listed, plural, quantity, quoted, wrapped


@pytest.mark.parametrize(
    "count, thing, said",
    [
        (0, "line", "0 lines"),
        (1, "line", "1 line"),
        (2, "line", "2 lines"),
        (1000, "launch", "1,000 launches"),
        (1, "launch", "1 launch"),
        (2, "copy", "2 copies"),
        (1, "query", "1 query"),
        (3, "day", "3 days"),
    ],
)
def test_a_quantity_has_its_noun_in_the_right_number(count, thing, said):
    assert quantity(count, thing) == said
    assert said.endswith(plural(thing, count))


@pytest.mark.parametrize("names, said", [(["x"], "x"), (["x", "y"], "x and y"), (("x", "y", "z"), "x, y and z")])
def test_the_last_name_of_a_list_comes_after_and(names, said):
    assert listed(names) == said


def test_a_name_of_any_length_fits_a_message():
    assert quoted("week1/day1") == "'week1/day1'"
    assert quoted("x" * 1000) == f"'{'x' * (LONGEST - 3)}...'"


def test_what_is_cut_is_as_wide_as_asked_and_shows_it():
    assert cut("0123456789", 10) == "0123456789"
    assert cut("0123456789a", 10) == "0123456..."


def test_no_word_is_broken_however_long():
    long = "load(x_ptr+row*x_row_stride+col*x_col_stride,mask=row<m)"
    assert wrapped(f"Try {long} here.", 30) == ["Try", long, "here."]
    assert wrapped("a multiple-of-32-lanes thing", 12) == ["a", "multiple-of-32-lanes", "thing"]


def test_code_between_backticks_stays_in_one_line_where_that_has_room():
    assert wrapped("Write it as `a * b + c` once.", 20) == ["Write it as", "`a * b + c` once."]


def test_code_that_is_wider_than_a_line_breaks_at_its_blanks():
    lines = wrapped("So: `offsets = start + tl.arange(0, BLOCK)` and on.", 24)
    assert lines == ["So: `offsets = start +", "tl.arange(0, BLOCK)` and", "on."]


def test_the_lines_below_the_first_begin_where_its_text_began_or_as_asked():
    assert wrapped("one two three", 9, lead="1   ") == ["1   one", "    two", "    three"]
    assert wrapped("one two", 7, lead="  ", indent="    ") == ["  one", "    two"]


def test_the_lines_of_a_text_stay_lines():
    assert wrapped("one\n\ntwo\n", 80, lead="- ") == ["- one", "", "  two"]
    assert wrapped("") == [""]


def test_no_line_is_wider_than_asked_beside_its_lead():
    lines = wrapped("word " * 60 + "`some code here` " * 20, 40, lead="  lead  ", indent="    ")
    assert max(map(len, lines)) <= 40 and all(line == line.rstrip() for line in lines)
