"""The page of pytest-html: the course's columns, failures as the screen shows them, and no wider than a phone."""

import re
from html import unescape

import pytest

from tools.tests.browser import EXECUTABLE, MISSING, Browser
from tools.tests.pytest_course.test_runs import FEW, TESTS, fill

pytest.importorskip("pytest_html", reason="needs pytest-html; found none; pip install pytest-html")

MEASURED = """

@pytest.mark.task(3)
@pytest.mark.speed
def test_measures_something():
    from tools.check import speed_ratio
    speed_ratio(min, max, 3, 4)


@pytest.mark.task(4)
@pytest.mark.hopper
def test_needs_a_gpu():
    pass
"""


@pytest.fixture
def page(course):
    """The file of a run with a failure, a gap, a measurement and a skip."""
    course.write(TESTS, FEW + MEASURED)
    fill(course, "matmul_flops", "    return 3")
    course.pytest("week1/day1", "--html=report.html", "--self-contained-html")
    return course.folder / "report.html"


def test_task_stage_and_counters_are_columns(page):
    text = unescape(page.read_text(encoding="utf-8"))
    for title in ("Task", "Stage", "Counters"):
        assert f"<th>{title}</th>" in text
    assert re.search(r'"col-counters.*?\dx \(\d', text)


def test_a_failure_reads_as_on_the_screen_and_a_skip_is_its_reason(page):
    text = unescape(unescape(page.read_text(encoding="utf-8"))).replace("\\n", "\n")
    assert "The test says  assert lesson.matmul_flops(1, 1, 1) == 2" in text
    assert "Stuck? pytest week1/day1 --hint" in text
    assert "needs a Hopper GPU (9.x); found none" in text and "Skipped: needs" not in text
    assert "('week1" not in text and "(\\'week1" not in text


@pytest.mark.skipif(EXECUTABLE is None, reason=MISSING)
@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_is_as_wide_as_the_window(page, tmp_path, width):
    with Browser(tmp_path / "profile") as browser:
        browser.open(page, width)
        assert browser.value("document.documentElement.scrollWidth") == width
        assert browser.value("getComputedStyle(document.querySelector('.log')).whiteSpace") == "pre-wrap"
