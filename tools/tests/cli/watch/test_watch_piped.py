"""course watch without a terminal: results one after the other, until the input ends."""

import os
import re
import signal
import subprocess

import pytest

from tools.cli.__main__ import main
from tools.tests.cli.watch.watching import DAY, DOUBLE, ENDLESS, LESSON, LONG, SMALL, Place, environment, running, write
from tools.tests.conftest import needs_solutions


@pytest.fixture
def piped():
    """piped(place) -> `course watch` between two pipes."""
    children = []

    def start(place: Place) -> subprocess.Popen:
        both = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        children.append(subprocess.Popen(place.command, cwd=place.root, env=environment(), text=True, **both))
        return children[-1]

    yield start
    for child in children:
        child.kill()
        child.communicate()


def result(child: subprocess.Popen) -> str:
    """What it prints up to the end of the next result."""
    text = ""
    for line in child.stdout:
        text += line
        if re.match(r"\(\d\d:\d\d:\d\d, ", line):
            return text
    raise AssertionError(f"it ended with {child.wait()}: {text}")


def test_each_save_prints_a_result_without_cursor_tricks_until_the_input_ends(small, piped):
    child = piped(small)
    assert "got 3" in result(child)
    small.double("return 2 * x")
    text = result(child)
    assert "FAILED" not in text
    assert "\x1b" not in text
    (small.root / DAY / "small.py").unlink()
    assert "No module named 'small'" in result(child)
    small.double("return x")  # it is back
    assert "got 3" in result(child)
    rest, _ = child.communicate(timeout=LONG)
    assert (child.returncode, rest.strip()) == (0, "")


def test_the_end_of_the_input_lets_the_run_under_way_end(small):
    small.double("import time; time.sleep(0.5); return x")
    done = subprocess.run(small.command, cwd=small.root, env=environment(), text=True, stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=LONG)  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert "got 3" in done.stdout


def test_sigterm_ends_it_and_the_run_under_way(small, piped):
    small.double(ENDLESS)
    child = piped(small)
    pid = running(small)
    child.send_signal(signal.SIGTERM)
    rest, _ = child.communicate(timeout=LONG)
    assert (child.returncode, rest.strip()) == (0, "")
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_reader_that_goes_away_ends_it(small):
    child = subprocess.Popen(small.command, cwd=small.root, env=environment(), text=True, stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # fmt: skip
    child.stdout.readline()
    child.stdout.close()
    small.double("return 2 * x")
    assert (child.wait(timeout=LONG), child.stderr.read()) == (0, "")


def test_an_editor_that_renames_and_several_files_at_once_make_one_run(small, piped):
    child = piped(small)
    result(child)
    new = small.root / DAY / ".small.py.new"
    new.write_text(DOUBLE.format("return x + 1"))
    os.replace(new, small.root / DAY / "small.py")
    write(small.root / DAY, {"day.toml": SMALL["day.toml"].replace("Small", "Smaller")})
    text = result(child)
    assert "Smaller" in text
    assert "got 4" in text
    rest, _ = child.communicate(timeout=LONG)
    assert rest.strip() == ""


@needs_solutions
def test_after_a_save_the_first_failure_is_told_and_then_how_all_tests_end(real, piped):
    """Of the test in focus, where there is one, before any other test runs."""
    course, place = real
    course.solve(DAY)
    right = course.read(LESSON)
    child = piped(place)
    assert "Green" in result(child)

    wrong = right.replace("total += a[i, p] * b[p, j]", "total = a[i, p] * b[p, j]")
    for save in (wrong, wrong + "# still\n"):
        course.write(LESSON, save)
        text = result(child)
        assert "FAILED test_naive_multiplies_the_matrices_of_the_lesson" in text
        assert "\n1 failed in " in text
        assert text.endswith(" s; the other tests are running)\n")
        assert "12 wait for task 1" in result(child)

    course.write(LESSON, right)
    assert "Green" in result(child)
    rest, _ = child.communicate(timeout=LONG)
    assert (child.returncode, rest.strip()) == (0, "")


def test_a_syntax_error_and_a_lost_lesson_are_results_like_others(real, piped):
    course, place = real
    course.write(LESSON, "def (\n")
    child = piped(place)
    assert "week1/day1/numpy_baseline.py, line 1: SyntaxError: invalid syntax" in result(child)
    (course.folder / LESSON).unlink()
    assert f"{LESSON}: is missing; this brings it back: git restore {LESSON}" in result(child)


def test_a_day_that_does_not_exist_is_said_at_once(tmp_path, capsys):
    write(tmp_path / DAY, SMALL)
    assert main(["watch", "week1/day9"], tmp_path) == 2
    assert capsys.readouterr().err == "There is no day or kata 'week1/day9'. Did you mean week1/day1?\n"
