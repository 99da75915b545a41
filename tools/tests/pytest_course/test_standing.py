"""How far a task or a unit is: the screen of a run and every command give the same answer."""

import re
import sys

import pytest

from tools.tests.conftest import needs_solutions
from tools.tests.pytest_course.test_runs import FEW, LESSON, TESTS, fill

MORE = """

@pytest.mark.task({tasks})
@pytest.mark.{stage}
def test_one_more():
    {body}
"""
NO_COMPILER = 'from tools.check import NoCompiler; raise NoCompiler("needs a compiler; found none. Get one.")'
HIDE_CUDA = """
import sys

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "cuda":
            raise ModuleNotFoundError("No module named 'cuda'", name=name)

sys.meta_path.insert(0, Blocker())
"""
WAITS = "1 compiled test waits for numba-cuda"


@pytest.fixture
def solved(course):
    """solved(tasks=..., stage=..., body=...): day 1 with its two tasks written and one test more."""

    def make(**more):
        course.write(TESTS, FEW + MORE.format(**more))
        fill(course, "matmul_flops", "    return 2 * m * n * k")
        fill(course, "matmul_min_bytes", "    return 24")
        return course

    return make


def cli(course, *arguments: str) -> str:
    return " ".join(course.run(sys.executable, "-m", "tools.cli", *arguments, CI="").text.split())


def status(course) -> str:
    """What status says of day 1."""
    return re.search(r"day1 The NumPy baseline (.*?) (?:> )?day2", cli(course, "status"))[1]


def test_what_waits_for_a_package_is_named_and_is_neither_progress_nor_a_step_back(solved):
    course = solved(tasks=2, stage="compiled", body=NO_COMPILER)
    ran = course.pytest("week1/day1", CI="")
    assert ran.code == 0
    assert "  green     tasks 2, 6" in ran.lines and f"  {WAITS}: ./course doctor" in ran.lines
    assert "Passed here. Next: ./course quiz week1/day1" in ran.lines
    assert status(course) == f"passed here; {WAITS}"
    assert '"state": "passed here"' in course.read("journal/journal.jsonl")
    course.run(sys.executable, "-m", "tools.cli", "report")
    assert f"passed here: {WAITS}" in course.read("report.html")


@needs_solutions
def test_without_numba_cuda_day_3_can_be_finished(course, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(HIDE_CUDA)
    course.solve("week1/day3")
    ran = course.pytest("week1/day3", PYTHONPATH=str(tmp_path))
    assert "  green     tasks 1, 2, 3, 4, 5" in ran.lines and f"  {WAITS}: ./course doctor" in ran.lines
    assert "needs numba-cuda and NVIDIA's compiler, for CUDA kernels; found none" in ran.text
    assert "Every task of week1/day3 that can run here is done." in cli(course, "hint", "week1/day3")


def test_the_package_once_installed_the_same_tests_count(solved):
    course = solved(tasks=2, stage="compiled", body=NO_COMPILER)
    course.pytest("week1/day1")
    course.write(TESTS, FEW + MORE.format(tasks=2, stage="compiled", body="pass"))
    assert "Green. Next: ./course quiz week1/day1" in course.pytest("week1/day1").lines
    assert status(course) == "passed"


def test_a_task_of_which_all_waits_is_neither_green_nor_next(solved):
    course = solved(tasks=3, stage="compiled", body=NO_COMPILER)
    ran = course.pytest("week1/day1")
    assert "  green     tasks 2, 6" in ran.lines and "  waits     task 3  matmul_numpy" in ran.lines
    assert status(course) == f"passed here; {WAITS}"
    assert "matmul_numpy" not in cli(course, "hint", "week1/day1")


@pytest.mark.parametrize(
    "body, state",
    [
        ('from tools.check import Undecided; raise Undecided("too noisy")', "undecided"),
        ("assert False", "red"),
        ('pytest.skip("I would rather not")', "skipped"),
    ],
)
def test_screen_and_status_agree_on_a_test_that_names_two_tasks(solved, body, state):
    course = solved(tasks="2, 6", stage="speed", body=body)
    ran = course.pytest("week1/day1")
    assert "  green     task 2" in ran.lines and f"  {state:<9} task 6  " in ran.text
    assert "Green" not in ran.text
    assert status(course) == "started, 1 of 6 tasks"
    assert "for task 6" in cli(course, "hint", "week1/day1", "6")


def test_the_second_of_two_tasks_that_a_test_names_is_not_red_while_the_first_is(solved):
    course = solved(tasks="2, 6", stage="edge", body="assert False")
    of_task_2 = MORE.format(tasks=2, stage="edge", body="assert False").replace("one_more", "the_edge")
    course.write(TESTS, course.read(TESTS) + of_task_2)
    ran = course.pytest("week1/day1")
    assert "  red       task 2  matmul_flops" in ran.lines
    assert "  waiting   task 6  matmul_min_bytes, arithmetic_intensity" in ran.lines
    assert status(course) == "started, 0 of 6 tasks"


def test_a_run_that_stops_at_its_first_failure_says_nothing_about_what_it_left_out(solved):
    course = solved(tasks=2, stage="edge", body="pass")
    fill(course, "matmul_flops", "    return 2")
    course.write(LESSON, course.read(LESSON).replace("return 24", "return 25"))
    course.write(TESTS, course.read(TESTS).replace("@pytest.mark.task(2)", "@pytest.mark.task(1)", 1))
    ran = course.pytest("week1/day1", "-x")
    assert "  red       task 6  matmul_min_bytes" in ran.lines
    assert "green" not in ran.text and "task 2" not in ran.text
    assert status(course) == "started, 0 of 6 tasks"


# Given code that is to be mended -------------------------------------------------------------------

DAY3, DAY3_TESTS = "week1/day3/how_gpus_work.py", "week1/day3/test_how_gpus_work.py"
REPAIR = """
import pytest
from week1.day3 import how_gpus_work as lesson


@pytest.mark.task(1)
def test_one_block():
    assert lesson.launch_config(1, 32) == (1, 32)


@pytest.mark.task(4)
def test_is_faster():
    assert lesson.convert is None
"""


def test_given_code_that_nobody_touched_is_to_mend_and_leaves_the_focus_where_it_is(course):
    course.write(DAY3_TESTS, REPAIR)
    course.commit()
    ran = course.pytest("week1/day3")
    assert "  to write  task 1  warp_and_lane, launch_config" in ran.lines
    assert "  to mend   task 4  convert_kernel, convert" in ran.lines and "  red  " not in ran.text
    assert "FAILED test_one_block" in ran.lines and "next hint for task 1" in ran.text


def test_given_code_that_the_learner_changed_is_red_and_has_the_focus(course):
    course.write(DAY3_TESTS, REPAIR)
    course.commit()
    text = course.read(DAY3)
    course.write(DAY3, text.replace("def convert(levels: cupy.ndarray", "def convert(levels: 'cupy.ndarray'"))
    assert course.read(DAY3) != text
    ran = course.pytest("week1/day3")
    assert "  red       task 4  " in ran.text and "FAILED test_is_faster" in ran.lines


def test_a_new_comment_is_no_change(course):
    course.write(DAY3_TESTS, REPAIR)
    course.commit()
    course.write(DAY3, course.read(DAY3).replace("# Task 4\n", "# Task 4\n# to do\n"))
    assert "  to mend   task 4  " in course.pytest("week1/day3").text


def test_where_git_knows_no_stub_red_is_red(course):
    course.write(DAY3_TESTS, REPAIR)
    (course.folder / ".git").rename(course.folder / "not-git")
    assert "  red       task 4  " in course.pytest("week1/day3").text
