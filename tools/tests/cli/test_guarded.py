"""A lesson that takes a command's process down, or does not end, gets a plain sentence and exit code 1."""

import sys

import pytest

from tools.tests.conftest import needs_solutions
from tools.worker import guard

pytestmark = [needs_solutions, pytest.mark.skipif(not guard.usable(), reason="needs a POSIX system to fork")]

LESSON = "week1/day3/how_gpus_work.py"
BEGINS = "    out = cupy.empty_like(x) if out is None else out\n"
IMPATIENT = """import sys
from tools.cli import __main__, guarded
from tools.worker import guard
guarded.LIMIT, guard.GRACE = 1.0, 0.5
sys.exit(guarded.run(sys.argv[1:], __main__.main))"""
EXITS, LOOPS = "    import os; os._exit(0)\n", "    while True: pass\n"


@pytest.fixture
def command(course):
    """command(name, line) -> how a command of day 3 ends whose saxpy begins with that line."""

    def run(name: str, line: str, at=BEGINS):
        course.solve("week1/day3")
        text = course.read(LESSON)
        assert at in text
        course.write(LESSON, text.replace(at, at + line, 1))
        course.write("impatient.py", IMPATIENT)
        return course.run(sys.executable, "-m", "impatient", name, "week1/day3")

    return run


@pytest.mark.parametrize("name", ["count", "show"])
def test_a_lesson_that_ends_the_process_is_told(command, name):
    ran = command(name, EXITS)
    assert ran.code == 1
    told = ran.lines[-1]
    assert told.startswith("saxpy, ") and told.endswith(": the lesson ended its own process (exit status 0).")


@pytest.mark.parametrize("name", ["count", "show"])
def test_a_loop_without_end_is_ended_with_its_line(command, name):
    ran = command(name, LOOPS)
    assert ran.code == 1
    told = " ".join(ran.text.split())
    assert "it did not end within 1 s." in told and f"{LESSON}, line " in told and ": while True: pass" in told
    assert "Traceback" not in ran.text


def test_a_loop_in_native_code_is_ended_too(command):
    ran = command("count", "    sum(iter(int, 1))\n")
    assert ran.code == 1
    assert "it did not end within 1 s." in ran.text and f"{LESSON}, line " in ran.text


def test_a_lesson_that_ends_the_process_while_it_is_imported_is_told(command):
    ran = command("count", "import os; os._exit(0)\n", at="import math\n")
    assert (ran.code, ran.lines[-1]) == (1, "how_gpus_work.py: the lesson ended its own process (exit status 0).")


def test_what_other_commands_say_and_how_they_end_stays(course):
    ran = course.run(sys.executable, "-m", "tools.cli", "count", "week1/day99")
    assert ran.code == 2 and ran.lines[0].startswith("There is no day or kata 'week1/day99'.")
