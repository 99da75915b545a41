"""A line of the screen names what of a task is the learner's, and a gap that raises nothing is told as any other."""

import pytest

from tools.tests.pytest_course.test_runs import FEW, LESSON, TESTS

DAY3, DAY3_TESTS = "week1/day3/how_gpus_work.py", "week1/day3/test_how_gpus_work.py"
DAY4, DAY4_TESTS = "week1/day4/vector_add.py", "week1/day4/test_vector_add.py"

DEVICE = """
import pytest
from week1.day3 import how_gpus_work as lesson


@pytest.mark.task(5)
def test_waves():
    assert lesson.wave_efficiency(1, 1, 1) == 1


@pytest.mark.task(5)
@pytest.mark.edge
def test_device():
    assert lesson.describe_device
"""

BOTH = """

@pytest.mark.task(5)
def test_device_and_waves():
    assert lesson.describe_device() and lesson.wave_efficiency(1, 1, 1) == 1
"""

SUMS = """
import pytest, torch
from week1.day4 import vector_add as lesson


def added(n):
    return lesson.vector_add(torch.ones(n), torch.ones(n)).tolist()


@pytest.mark.task(2)
def test_sum():
    assert added(3) == [2, 2, 2]


@pytest.mark.task(2)
def test_sum_of_many():
    assert added(3000) == [2] * 3000


@pytest.mark.task(4)
def test_traffic():
    assert lesson.predict_traffic(1) == 12
"""


def fill(course, lesson: str, function: str, body: str) -> None:
    head, marker, rest = course.read(lesson).partition(f': {function}")\n')
    assert marker
    course.write(lesson, f"{head[: head.rindex('    raise')]}{body}\n{rest}")


def line_of(course, lesson: str, text: str) -> int:
    return next(n for n, line in enumerate(course.read(lesson).splitlines(), start=1) if line.startswith(text))


def test_given_functions_are_not_named_and_of_a_red_task_only_what_the_failed_test_uses(course):
    course.write(DAY3_TESTS, DEVICE)
    course.commit()
    ran = course.pytest("week1/day3")
    assert "  to write  task 5  describe_device, wave_efficiency" in ran.lines
    fill(course, DAY3, "wave_efficiency", "    return 7")
    assert "  red       task 5  wave_efficiency" in course.pytest("week1/day3").lines


def test_a_function_is_not_named_red_for_a_test_of_several_where_a_test_of_one_has_failed(course):
    course.write(DAY3_TESTS, DEVICE + BOTH)
    course.commit()
    fill(course, DAY3, "wave_efficiency", "    return 7")
    fill(course, DAY3, "describe_device", "    return {}")
    assert "  red       task 5  wave_efficiency" in course.pytest("week1/day3").lines
    course.write(DAY3_TESTS, DEVICE.partition("@pytest")[0] + BOTH)
    assert "  red       task 5  describe_device, wave_efficiency" in course.pytest("week1/day3").lines


@pytest.mark.parametrize("how", ["--sim", "--remote"])
def test_a_kernel_of_which_nothing_is_written_is_told_as_a_gap_whatever_the_test_says(course, how):
    pytest.importorskip("triton")
    course.write(DAY4_TESTS, SUMS)
    course.commit()
    fill(course, DAY4, "vector_add", "    add_kernel[1,](x, y, out, x.numel(), BLOCK=4)\n    return out")
    fill(course, DAY4, "predict_traffic", "    return 12 * n")
    ran = course.pytest("week1/day4", how)
    line = line_of(course, DAY4, "def add_kernel")
    assert f"  Task 2 is yours to write: add_kernel,\n  in {DAY4}, at line {line}." in ran.text
    assert "  to write  task 2  add_kernel" in ran.lines and "  green     task 4" in ran.lines
    assert "next hint for task 2" in ran.text and "1 failed, 1 passed" in ran.lines[-1]


def test_a_wrapper_is_not_called_the_first_where_its_kernel_is_open_above(course):
    pytest.importorskip("triton")
    course.write(DAY4_TESTS, SUMS)
    course.commit()
    line = line_of(course, DAY4, "def add_kernel")
    assert f"Task 2 is yours to write: add_kernel,\n  in {DAY4}, at line {line}." in course.pytest("week1/day4").text


def test_a_wrong_kernel_beside_an_open_one_is_red(course):
    """Only what the test uses can be why it failed."""
    pytest.importorskip("triton")
    course.write(DAY4_TESTS, SUMS)
    course.commit()
    fill(course, DAY4, "vector_add", "    return out.zero_()")
    assert "  red       task 2  vector_add" in course.pytest("week1/day4").lines


def test_the_last_line_says_which_tasks_the_tests_that_did_not_run_wait_for(course):
    course.write(
        TESTS, FEW + FEW.partition("import numpy_baseline as lesson\n")[2].replace("def test_", "def test_again_")
    )
    assert "2 failed, 4 wait for tasks 2 and 6 in" in course.pytest("week1/day1").lines[-1]
    assert "1 failed" == course.pytest("week1/day1", "-x").lines[-1].partition(" in")[0]


HELPED = """
import pytest
from tools.check import assert_matches
from week1.day1 import numpy_baseline as lesson


def of_cubes(sizes):
    return sum(lesson.matmul_flops(n, n, n) + least(n) for n in sizes)


def least(n):
    return lesson.matmul_min_bytes(n, n, n, 8) + lesson.arithmetic_intensity(n, n, n, 8)


@pytest.mark.task(6)
def test_total():
    assert_matches(of_cubes, [1, 2], oracle=lambda sizes: 18)
"""


def test_a_called_function_of_the_tests_is_told_from_the_learners_with_what_it_uses_of_them(course):
    course.write(TESTS, HELPED)
    for function in ("matmul_flops", "matmul_min_bytes", "arithmetic_intensity"):
        fill(course, LESSON, function, "    return 1")
    ran = course.pytest("week1/day1")
    assert (
        "  of_cubes(sizes=[1, 2])\n"
        "  of_cubes, of the tests, uses matmul_min_bytes, arithmetic_intensity and\n"
        "  matmul_flops.\n\n  Got 6, wanted 18.\n"
    ) in ran.text
