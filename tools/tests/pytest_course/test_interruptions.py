"""A run that is interrupted says where, is green nowhere, and leaves no progress."""

import os
import signal
import subprocess
import sys
import time

import pytest

from tools.tests.pytest_course.test_runs import FEW, TESTS, fill

PATIENCE = 60.0  # seconds
LOOP = '    open("at work", "w").close()\n    while True: pass'
TEST = "test_bytes_of_one_product"


@pytest.fixture
def looping(course):
    """Day 1 with task 2 written, and a loop without end in task 6."""
    course.write(TESTS, FEW)
    fill(course, "matmul_flops", "    return 2 * m * n * k")
    fill(course, "matmul_min_bytes", LOOP)
    return course


def interrupted(course, *arguments: str) -> tuple[int, str]:
    """Exit code and text of a run that gets Ctrl-C in the loop."""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "week1/day1", *arguments]
    with subprocess.Popen(
        command,
        cwd=course.folder,
        start_new_session=True,
        text=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=os.environ | {"COLUMNS": "80"},
    ) as ran:
        end = time.monotonic() + PATIENCE
        while not (course.folder / "at work").exists():
            assert time.monotonic() < end and ran.poll() is None
            time.sleep(0.02)
        os.killpg(ran.pid, signal.SIGINT)
        text, _ = ran.communicate(timeout=PATIENCE)
    return ran.returncode, text


@pytest.mark.parametrize(
    "how, where",
    [([], f" in {TEST}"), (["--remote"], f" in {TEST}"), (["-n", "2"], "")],
    ids=["direct", "remote", "two processes"],
)
def test_ctrl_c_says_where_it_was_and_nothing_is_green(looping, how, where):
    code, text = interrupted(looping, *how)
    assert code == 2
    assert f"\nInterrupted{where}; the rest did not run.\n" in text
    assert "green" not in text.lower() and "quiz" not in text
    assert "Traceback" not in text and "KeyboardInterrupt" not in text
    assert not (looping.folder / ".course/progress.json").exists()


def test_a_failure_is_shown_before_the_interruption(looping):
    looping.write(TESTS, FEW.replace("== 2", "== 3"))
    _, text = interrupted(looping)
    assert "  red       task 2  matmul_flops\n" in text and "FAILED test_flops_of_one_product\n" in text
    assert text.index("FAILED") < text.index("Interrupted in")


def test_a_lesson_that_ends_the_run_is_no_green_run(looping):
    fill(looping, "matmul_naive", "    pass")
    body = "    import pytest; pytest.exit('done', returncode=0)"
    looping.write("week1/day1/numpy_baseline.py", looping.read("week1/day1/numpy_baseline.py").replace(LOOP, body))
    ran = looping.pytest("week1/day1")
    assert ran.code == 2 and "green" not in ran.text.lower()
    assert f"Interrupted in {TEST}; the rest did not run." in ran.lines
