"""docs/SIMULATORS.md speaks of what tests show."""

import ast
from functools import cache

import pytest

from tools import ROOT
from tools.course.content import reach_page
from tools.course.content.reach_page import AREAS, STATUS, TABLES, Row

ROWS = [row for rows in reach_page.rows().values() for row in rows]


@cache
def defined_in(path: str) -> set[str]:
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.feature)
def test_a_row_names_a_test_that_there_is(row: Row):
    path, _, name = row.test.partition("::")
    assert name.startswith("test_") and name in defined_in(path)


@pytest.mark.parametrize("table, title", AREAS.items())
def test_a_table_holds_one_area_whose_features_are_told_once(table, title):
    rows = reach_page.rows()[table]
    assert {row.area for row in rows} == {title}
    assert {row.status for row in rows} <= set(STATUS)
    assert len({row.feature for row in rows}) == len(rows)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.feature)
def test_a_row_is_a_whole_sentence(row: Row):
    assert row.says.endswith(".") and (row.feature.endswith("...") or not row.feature.endswith("."))


def test_every_table_is_read():
    assert {file.stem for file in (ROOT / TABLES).glob("*.toml")} == set(AREAS)


def test_the_page_is_that_of_the_rows():
    assert (ROOT / reach_page.FILE).read_text(encoding="utf-8") == reach_page.text()
