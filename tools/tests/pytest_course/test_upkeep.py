"""What a lesson spoils for everybody is put back, or its tests run once more in a process of their own; a plain
sentence says so, and pytest goes on.
"""

import builtins
import os
import signal
import sys

import pytest

from tools.pytest_course.run import Run
from tools.pytest_course.upkeep import kept
from tools.tests.pytest_course.test_bad_input import at_import
from tools.tests.pytest_course.test_runs import FEW, LESSON, TESTS, fill

GONE = "import os, tempfile; gone = tempfile.mkdtemp(); os.chdir(gone); os.rmdir(gone)"
SPOILT = {
    "its own file": ("import os; os.remove(__file__)", f"{LESSON} was deleted while it ran, and put back as it was."),
    "its folder": (
        "import os, shutil; shutil.rmtree(os.path.dirname(__file__))",
        f"{LESSON} was deleted while it ran, and put back as it was.",
    ),
    "the folder to work in": (GONE, ""),
    "output": ("import sys; sys.stdout.close(); sys.stderr.close()", ""),
    "builtins": ("import builtins; builtins.len = lambda values: 3; builtins.open = None", ""),
    "modules": ("import sys; sys.modules.clear()", ""),
    "recursion": ("import sys; sys.setrecursionlimit(60)", ""),
    "what cannot be put back": ("import os; os.getcwd = None", "Once more, with the lesson in its own process:"),
    "ten megabytes": ("print('x' * 10_000_000)", ""),
    "a thread without end": (
        "import threading, time; threading.Thread(target=lambda: time.sleep(1000)).start()",
        "A thread that the lesson started is still at work; it ends here.",
    ),
}
CALL, IMPORT = "call", "import"


@pytest.mark.parametrize("when", [CALL, IMPORT])
@pytest.mark.parametrize("line, told", SPOILT.values(), ids=SPOILT)
def test_what_a_lesson_spoils_costs_no_more_than_a_sentence(course, line, told, when):
    course.write(TESTS, FEW)
    fill(course, "matmul_flops", f"    {line if when == CALL else 'pass'}\n    return 2 * m * n * k")
    fill(course, "matmul_min_bytes", "    return 24")
    if when == IMPORT:
        at_import(line)(course)
    before = course.read(LESSON)
    ran = course.pytest("week1/day1")
    assert ran.code == 0 and "3 passed" in ran.text
    assert told in " ".join(ran.text.split()) and "INTERNALERROR" not in ran.text and "Traceback" not in ran.text
    assert course.read(LESSON) == before


def test_streams_names_folder_and_ctrl_c_are_as_they_were(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def now():
        return len, sys.stdout, signal.getsignal(signal.SIGINT), sys.getrecursionlimit(), sys.modules["textwrap"]

    before = now()
    with kept(Run(seed=1)):
        builtins.len, sys.stdout = None, None
        sys.setrecursionlimit(500)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        del sys.modules["textwrap"]
        os.chdir("/")
    assert now() == before
    assert os.getcwd() == str(tmp_path)


def test_what_a_lesson_adds_stays(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", sys.path[:])
    with kept(Run(seed=1)):
        sys.path.append(str(tmp_path))
        sys.modules["a_module_of_its_own"] = sys
    assert sys.path[-1] == str(tmp_path) and sys.modules.pop("a_module_of_its_own") is sys
