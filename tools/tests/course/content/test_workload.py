"""Workloads: what bench_NAME.py says, and the lesson that it is about."""

import numpy as np
import pytest

from tools.course.content.catalogue import BrokenCourseFile
from tools.course.content.workload import Workload, workloads
from tools.course.learner.lesson import LessonBroken, lesson_of, lines_of_code, require_written
from tools.tests.course.miniature import DAY, make

BENCH = """
from tools.course.content.workload import Workload, arrays

WORKLOADS = (
    Workload(function="double", arguments=lambda n, rng: arrays(rng, n), sizes=(8,), laptop_sizes=(8,), small=8,
             shape=lambda n: f"{n} float32", moved=lambda n: 8 * n, flops=lambda n: n, on="cpu",
             rivals={"NumPy": lambda x: x + x}),
)
"""
WRITTEN = '''"""Small"""

import numpy as np

SCALE = 2.0


# Task 1
def double(x):
    """Twice x.

    Of any shape.
    """
    # as a product
    return scaled(x,
                  SCALE)


def halve(x):
    """Half of x."""
    raise NotImplementedError("week1/day1 task 1: halve")


def quarter(x):
    return halve(halve(x))


# Task 2
def kernel(x):
    pass  # to be written


def launch(x):
    kernel(x)


def scaled(x, by: float):
    return x * np.float32(by)
'''


def small(tmp_path, lesson=WRITTEN, bench=BENCH):
    unit = make(tmp_path, day=DAY, lesson=lesson)
    if bench is not None:
        (unit.folder / "bench_small.py").write_text(bench, encoding="utf-8")
    return unit


def test_a_unit_without_a_file_has_no_workloads(tmp_path):
    assert workloads(small(tmp_path, bench=None)) == ()


def test_a_units_workloads_are_those_of_its_file(tmp_path):
    (workload,) = workloads(small(tmp_path))
    assert isinstance(workload, Workload)
    assert (workload.function, workload.shape(8)) == ("double", "8 float32")
    assert (workload.crossed(8), workload.terms(8), workload.naive) == (0, 1, "")


@pytest.mark.parametrize("bench", ["WORKLOADS = (", "import no_such_module", "pass"])
def test_a_broken_file_is_named(tmp_path, bench):
    with pytest.raises(BrokenCourseFile, match="week1/day1/bench_small.py"):
        workloads(small(tmp_path, bench=bench))


# The lesson ---------------------------------------------------------------------------------------


def test_a_written_function_can_be_called(tmp_path):
    lesson = lesson_of(small(tmp_path), "double")
    np.testing.assert_array_equal(lesson.double(np.ones(2, np.float32)), [2, 2])


@pytest.mark.parametrize(
    ("function", "says"),
    [
        ("halve", "week1/day1/small.py, line 21: halve, of task 1, is not written yet."),
        ("quarter", "week1/day1/small.py, line 21: halve, of task 1, is not written yet."),
        ("launch", "week1/day1/small.py, line 30: kernel, of task 2, is not written yet."),
        ("triple", "week1/day1/small.py has no function triple."),
    ],
)
def test_a_gap_is_named_also_where_it_is_further_down(tmp_path, function, says):
    with pytest.raises(LessonBroken) as caught:
        lesson_of(small(tmp_path), function)
    assert str(caught.value).splitlines()[0] == says


@pytest.mark.parametrize(
    ("lesson", "says"),
    [
        ("x = 1\ny = = 2\n", "week1/day1/small.py, line 2: SyntaxError: invalid syntax"),
        ("\nx = 1 / 0\n", "week1/day1/small.py, line 2: ZeroDivisionError: division by zero"),
        ("import no_such_module\n", "week1/day1/small.py needs no_such_module, which is not installed here."),
        ("raise SystemExit(3)\n", "week1/day1/small.py, line 1: SystemExit: 3"),
    ],
)
def test_a_lesson_that_cannot_be_imported_says_where(tmp_path, lesson, says):
    with pytest.raises(LessonBroken) as caught:
        lesson_of(small(tmp_path, lesson=lesson))
    assert str(caught.value).splitlines()[0] == says
    assert len(str(caught.value).splitlines()) <= 5


def test_a_function_can_be_measured_while_others_are_gaps(tmp_path):
    assert lesson_of(small(tmp_path)).double is not None


def test_lines_of_code_count_helpers_and_no_docstrings_or_comments(tmp_path):
    assert lines_of_code(small(tmp_path), "double") == 5  # def, return in two lines; and of scaled def, return


def test_a_lesson_that_does_not_parse_is_broken_and_no_crash(tmp_path):
    unit = small(tmp_path)
    unit.lesson.write_text("def double(x:\n", encoding="utf-8")
    with pytest.raises(LessonBroken, match=r"week1/day1/small\.py, line 1: "):
        require_written(unit, "double")
