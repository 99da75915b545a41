"""Tests of tools are remembered file by file: what only one of them read, here or in a copy of the course, is its own.

Real runs of small test files, each of which reads one lesson.
"""

import os
import subprocess
import sys
from functools import partial

import pytest

from tools.course.content import catalogue
from tools.selfcheck import check, parts, recording, static
from tools.selfcheck.readers import outlived
from tools.selfcheck.recording import COPY, UNSEEN, read, recorded
from tools.tests.selfcheck import small_day

ROOM = "tools/tests/room"
ALL = ["test_1.py", "test_2.py"]
LESSONS = ("week1/day1/adding.py", "week1/day2/more.py")
READS = "def test_reads():\n    assert open({path!r}).read() != 'broken'\n"
IN_A_COPY = """
import os, shutil, subprocess, sys
from pathlib import Path
from tools.selfcheck.recording import COPY, copying

def test_reads(tmp_path):
    copy = tmp_path / COPY
    with copying(copy):
        shutil.copytree("week1", copy / "week1")
    code = "assert open({path!r}).read() != 'broken'"
    assert subprocess.run([sys.executable, "-c", code], cwd=copy).returncode == 0
"""


@pytest.fixture
def room(course, monkeypatch):
    """room() -> the test files that had to run, and whether all passed."""
    monkeypatch.setattr(check, "ROOT", course.root)
    monkeypatch.setattr(check, "AT_ONCE", 1)
    course.write(LESSONS[1], "x = 1\n")
    ran = []
    real = parts.run_variants

    def run_variants(variants, *args, **kwargs):
        ran.extend(path for path in variants[0].arguments if ROOM in path)
        return real(variants, *args, **kwargs)

    monkeypatch.setattr(parts, "run_variants", run_variants)

    def room() -> tuple[list[str], bool]:
        ran.clear()
        job = ("tools", partial(parts.check_tests, course.root / ROOM, course.root))
        found = check._run([job], False)
        files = ALL if ran == [f"{course.root}/{ROOM}"] else [os.path.basename(path) for path in ran]
        return files, all(part.passed for part in found)

    return room


def write_both(course, text: str) -> None:
    course.write("conftest.py", "")
    for number, path in enumerate(LESSONS, start=1):
        course.write(f"{ROOM}/test_{number}.py", text.format(path=path))


def test_of_the_rules_for_units_files_those_of_a_unit_that_changed_are_asked_again(course, monkeypatch):
    monkeypatch.setattr(check, "ROOT", course.root)
    for path, text in small_day.files("week1/katas/counting", "counting").items():
        course.write(path, text)
    asked = []
    real = static.check_unit
    monkeypatch.setattr(static, "check_unit", lambda unit, root: asked.append(unit.name) or real(unit, root))

    def again(*names: str) -> list[str]:
        asked.clear()
        units = [catalogue.unit(name, course.root) for name in names]
        assert all(
            part.passed for part in check._run([("static", partial(parts.check_files, units, course.root))], False)
        )
        return list(asked)

    both = ["week1/day1", "week1/katas/counting"]
    assert again(*both) == both
    assert again(*both) == again("week1/day1") == []
    course.write("week1/day1/adding.py", (course.root / "week1/day1/adding.py").read_text() + "\n")
    assert again(*both) == ["week1/day1"]


@pytest.mark.parametrize("text", [READS, IN_A_COPY], ids=["here", "in a copy"])
def test_only_the_test_file_that_read_a_lesson_runs_again(room, course, text):
    write_both(course, text)
    assert room() == (ALL, True)
    assert room() == ([], True)
    course.write(LESSONS[1], "x = 2\n")
    assert room() == (["test_2.py"], True)
    course.write(LESSONS[0], "broken")
    assert room() == (["test_1.py"], False)
    assert room() == (["test_1.py"], False), "a failure runs again, and alone"


@pytest.mark.parametrize(
    "shared",
    [
        f"open({LESSONS[0]!r}).read()\n",
        f"import pytest\n@pytest.fixture(scope='session')\ndef lesson(): return open({LESSONS[0]!r}).read()\n",
        "import helper\n",
        "import week1.day1.adding\n",
    ],
    ids=["while tests are collected", "a fixture for all", "a module at import", "a module that is the lesson"],
)
def test_what_all_may_have_read_makes_all_of_them_run_again(room, course, shared):
    write_both(course, READS)
    course.write("helper.py", f"TEXT = open({LESSONS[0]!r}).read()\n")
    text = shared + "def test_reads(lesson): pass\n" if "lesson()" in shared else shared + "def test_reads(): pass\n"
    course.write(f"{ROOM}/test_1.py", text)
    assert room()[1]
    course.write(LESSONS[0], "x = 3\n")
    assert room() == (ALL, True)


def test_where_a_process_outlives_its_test_file_nothing_is_told_apart(room, course):
    write_both(course, READS)
    course.write(
        f"{ROOM}/test_1.py",
        f"import subprocess, sys\n\ndef test_starts():\n    open({LESSONS[0]!r})\n"
        "    subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(20)'])\n",
    )
    assert room()[1]
    course.write(LESSONS[0], "x = 3\n")
    assert room() == (ALL, True)


def test_where_nothing_tells_what_processes_there_are_one_may_have_stayed(tmp_path):
    assert outlived(tmp_path)


# Copies -------------------------------------------------------------------------------------------


def reads_of(course, code: str, cwd) -> set[str]:
    """What a process of Python that runs this in a folder is seen to read of the course."""
    with recording.recording() as log:
        subprocess.run(
            [sys.executable, "-c", code], cwd=cwd, check=True,
            env=recorded({**os.environ, "PYTHONPATH": str(course.root)}, course.root),
        )  # fmt: skip
        return read(log)


@pytest.fixture
def copy(tmp_path_factory):
    """A copy under git of one lesson."""
    copy = tmp_path_factory.mktemp("elsewhere") / COPY
    with recording.copying(copy):  # or what is read in it would be every test file's
        (copy / "week1/day1").mkdir(parents=True)
    (copy / "week1/day1/adding.py").write_text("x = 1\n")
    for command in (["init", "-q"], ["add", "-A"], ["-c", "user.name=t", "-c", "user.email=t@e", "commit", "-qm", "c"]):
        subprocess.run(["git", *command], cwd=copy, check=True)
    return copy


GIT = "import subprocess; subprocess.run(['git', *{words!r}.split()])"


@pytest.mark.parametrize(
    ("code", "seen"),
    [
        ("", set()),
        ("open('week1/day1/adding.py')", {"week1/day1/adding.py"}),
        ("import week1.day1.adding", {"week1/day1/adding.py"}),
        ("open('week1/day1/adding.py', 'w')", set()),
        ("open('week1/day1/adding.py', 'w'); open('week1/day1/adding.py')", {"week1/day1/adding.py"}),
        ("open('week1/day1/adding.py', 'r+')", {"week1/day1/adding.py"}),
        (GIT.format(words="status --porcelain"), set()),
        (GIT.format(words="rev-parse HEAD"), set()),
        (GIT.format(words="show HEAD:week1/day1/adding.py"), {"week1/day1/adding.py"}),
        (GIT.format(words="cat-file blob HEAD:week1/day1/adding.py"), {"week1/day1/adding.py"}),
        (GIT.format(words="log --format=%H -- week1"), set()),
        (GIT.format(words="log --format=%H -p"), {UNSEEN}),
        (GIT.format(words="log -p"), {UNSEEN}),
        (GIT.format(words="diff"), {UNSEEN}),
        (GIT.format(words="cat-file --batch"), {UNSEEN}),
        ("import subprocess; subprocess.run(['sh', '-c', 'cat week1/day1/adding.py'])", {UNSEEN}),
        ("import subprocess; subprocess.run(['cat', 'week1/day1/adding.py'])", {UNSEEN}),
    ],
)
def test_a_read_in_a_copy_is_one_of_the_course(course, copy, code, seen):
    assert reads_of(course, code, copy) - {"week1/day1/__pycache__/adding.cpython-311.pyc"} == seen


def test_a_check_inside_a_check_is_recorded_for_both(course, monkeypatch):
    """The outer one is told of what a process of the inner one reads."""
    with recording.recording() as outer:
        environment = recorded({}, course.root)
        monkeypatch.setattr(os, "environ", {**os.environ, **environment})
        seen = reads_of(course, "open('week1/day1/adding.py')", course.root)
        assert "week1/day1/adding.py" in seen & read(outer)
        assert UNSEEN not in seen | read(outer)
