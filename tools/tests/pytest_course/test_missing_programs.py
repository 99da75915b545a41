"""What a lesson can do without: where the program is missing its test is one skip, and the day can still be done."""

import sys

import pytest

from tools.pytest_course.marks import INSTALLED

TESTS = """
import pytest
from week1.day1 import numpy_baseline as lesson


@pytest.mark.task(2)
def test_flops_of_one_product():
    assert lesson.matmul_flops(1, 1, 1) == 2


@pytest.mark.task(2)
@pytest.mark.compiled
@pytest.mark.{mark}
def test_flops_of_nothing():
    assert lesson.matmul_flops(0, 3, 3) == 0
"""
HIDE_NUMBA = """
import importlib.util
known = importlib.util.find_spec
importlib.util.find_spec = lambda name, *more: None if name == "numba" else known(name, *more)
"""


@pytest.mark.parametrize("mark", INSTALLED)
def test_a_test_whose_program_is_missing_is_skipped_with_the_way_out(course, tmp_path, mark):
    course.write("week1/day1/test_numpy_baseline.py", TESTS.format(mark=mark))
    course.solve("week1/day1")
    (tmp_path / "sitecustomize.py").write_text(HIDE_NUMBA)
    ran = course.pytest("week1/day1", PATH=str(tmp_path), PYTHONPATH=str(tmp_path))
    meaning, _, remedy = INSTALLED[mark]
    assert ran.code == 0
    told = " ".join(ran.text.split())
    assert f"skipped 1: needs {meaning}; found none. All else counts without. {remedy.split(': ')[0]}" in told
    assert f"1 compiled test waits for {meaning}: ./course doctor" in told
    assert "1 passed, 1 skipped" in ran.text
    assert "passed here;" in course.run(sys.executable, "-m", "tools.cli", "status").text
