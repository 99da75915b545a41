"""Warnings on the short screen: the learner's own are there, with their line; those of libraries are not."""

import re

import pytest

from tools import ROOT
from tools.tests.conftest import needs_solutions
from tools.tests.pytest_course.test_runs import FEW, LESSON, TESTS, fill

LIBRARY = """
import warnings

def work():
    for number in range(60):
        warnings.warn(f"Grid size {number} will likely result in GPU under-utilization", UserWarning)
        warnings.warn(f"option {number} is deprecated", DeprecationWarning)
"""


@pytest.fixture
def warned(course):
    """warned(body) -> a run of day 1 whose task 2 does that; a library that warns is to be imported."""
    course.write(TESTS, FEW)
    course.write("library.py", LIBRARY)
    fill(course, "matmul_min_bytes", "    return 24")

    def run(body: str, *arguments: str):
        fill(course, "matmul_flops", f"{body}\n    return 2 * m * n * k")
        return course.pytest("week1/day1", *arguments, PYTHONPATH=str(course.folder))

    return run


def test_warnings_of_libraries_are_not_the_learners(warned):
    ran = warned("    import library; library.work()")
    assert ran.code == 0 and ran.lines[-1].startswith("3 passed in")
    assert "Grid size" not in ran.text and "deprecated" not in ran.text


def test_a_warning_at_the_learners_line_is_shown_once(warned):
    ran = warned("    np.float64(1) / np.float64(0)")
    lines = (ROOT / LESSON).read_text().splitlines()
    line = next(n for n, text in enumerate(lines, start=1) if "task 2: matmul_flops" in text)
    told = " ".join(ran.text.split())
    assert f"RuntimeWarning in {LESSON}, line {line}: divide by zero encountered in scalar divide" in told
    assert ran.text.count("RuntimeWarning") == 1
    assert re.match(r"3 passed, \d warnings? in", ran.lines[-1])


def test_of_many_a_few_are_shown(warned):
    ran = warned("\n".join(f"    import warnings; warnings.warn('number {number}')" for number in range(5)))
    assert "number 2" in ran.text and "number 3" not in ran.text
    assert "and 2 warnings more; pytest -v shows them" in ran.lines


def test_under_v_all_of_them_are_there(warned):
    assert "Grid size 59 will likely" in warned("    import library; library.work()", "-v").text


SMALL_GRID = """
import numpy as np
import pytest
from tools.gpu import cupy
from week1.day3 import how_gpus_work as lesson


@pytest.mark.task(2)
def test_saxpy_of_four_elements():
    lesson.saxpy(2.0, cupy.zeros(4, np.float32), cupy.zeros(4, np.float32), block=4)
"""


@needs_solutions
@pytest.mark.parametrize("how", [(), ("--remote",)], ids=["direct", "remote"])
def test_numbas_advice_to_start_more_blocks_is_not_given_to_tests(course, how):
    course.solve("week1/day3")
    course.write("week1/day3/test_how_gpus_work.py", SMALL_GRID)
    ran = course.pytest("week1/day3", *how)
    assert ran.code == 0 and "Grid size" not in ran.text and "warning" not in ran.text
