"""A verdict is remembered until something changes that it depends on, and never longer."""

import json
import os
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from tools import ROOT
from tools.course.content import catalogue
from tools.selfcheck import check, parts, remembered
from tools.selfcheck.findings import Findings
from tools.selfcheck.judge import Verdict
from tools.selfcheck.remembered import EVERYTHING, Part, dependencies, noting, recall, remember, snapshot, watched
from tools.tests.conftest import needs_solutions
from tools.tests.selfcheck.conftest import Course

GOOD = Findings("day1", [Verdict("units", "week1/day1", True)])


def quiet(*_, **__):
    """Nobody listens."""


# One part, all that it depends on ------------------------------------------------------------------


UNIT = Part("unit week1/day1", ("week1/day1", "reference/week1/day1"))


@pytest.fixture(scope="module")
def checked_once(tmp_path_factory):
    """What the check of a unit found, and what its processes read."""
    course = Course(tmp_path_factory.mktemp("course"))
    with noting() as reads:
        return parts.check_unit(course.unit(), course.root, tell=quiet), reads()


@pytest.fixture
def part(course, checked_once):
    """The same unit elsewhere, remembered."""
    assert remember(UNIT, *checked_once, snapshot(course.root), course.root)
    assert recall(UNIT, snapshot(course.root), course.root)
    return UNIT


def test_what_was_found_comes_back_whole(course, part, checked_once):
    found, again = checked_once[0], recall(part, snapshot(course.root), course.root)
    assert (again.verdicts, again.notes, again.skips) == (found.verdicts, found.notes, found.skips)


@pytest.mark.parametrize("path", [
    "week1/day1/adding.py", "week1/day1/test_adding.py", "week1/day1/day.toml", "reference/week1/day1/adding.py",
    "reference/week1/day1/wrong.toml", "conftest.py",
])  # fmt: skip
def test_a_change_of_any_of_its_files_is_noticed(course, part, path):
    file = course.root / path
    file.write_text(file.read_text(encoding="utf-8") + "\n# A comment\n", encoding="utf-8")
    assert not recall(part, snapshot(course.root), course.root)


def test_a_file_that_is_new_is_noticed_wherever_it_lies(course, part):
    course.write("week1/day2/statistics.py", "")
    assert not recall(part, snapshot(course.root), course.root)


def test_a_file_that_is_gone_is_noticed(course, part):
    (course.root / "pytest.ini").unlink()
    assert not recall(part, snapshot(course.root), course.root)


def test_a_fault_is_found_after_the_change_and_is_not_remembered(course, part):
    course.edit("reference/week1/day1/adding.py", "result += value", "result -= value")
    now = snapshot(course.root)
    assert not recall(part, now, course.root)
    with noting() as reads:
        found = parts.check_unit(course.unit(), course.root, tell=quiet, most=1)
    assert not found.passed and not remember(part, found, reads(), now, course.root)


def test_what_changed_while_it_was_checked_is_not_remembered(course):
    before, made = snapshot(course.root), Part("unit week1/day1", ("week1/day1",))
    course.edit("week1/day1/day.toml", "minutes = 10", "minutes = 20")
    assert not remember(made, GOOD, (), before, course.root)


def test_what_failed_is_not_remembered(course):
    bad = Findings("day1", [Verdict("units", "week1/day1", False)])
    assert not remember(Part("unit"), bad, (), snapshot(course.root), course.root)


@pytest.mark.parametrize("change", [
    {"packages": ["numpy 3.0"]}, {"gpus": ["nvidia0"]}, {"programs": {}}, {"python": ["3.14"]},
    {"variables": {"TRITON_INTERPRET": "1"}},
])  # fmt: skip
def test_another_environment_is_noticed(course, part, change, monkeypatch):
    changed = remembered._environment() | change
    monkeypatch.setattr(remembered, "_environment", lambda: changed)
    assert not recall(part, snapshot(course.root), course.root)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"key": "unit week1/day1"}'])
def test_a_broken_record_is_none(course, part, text):
    part.file(course.root).write_text(text, encoding="utf-8")
    assert not recall(part, snapshot(course.root), course.root)


def test_other_options_are_another_part(course, part):
    assert not recall(replace(part, key="unit week1/day1 mutants=20"), snapshot(course.root), course.root)


# What processes note -------------------------------------------------------------------------------


@contextmanager
def noted(code: str, root: Path, *options: str):
    """What a Python that runs `code` notes."""
    with noting() as reads:
        environment = {**os.environ, **watched(root, ROOT)}
        subprocess.run([sys.executable, *options, "-c", code], cwd=root, env=environment, check=True, timeout=60)
        yield reads()


CHILD = "import subprocess, sys; subprocess.run({})"
PLAIN = "[sys.executable, '-c', 'open(\"b.txt\")']"


@pytest.mark.parametrize("code, expected", [
    ("open('a.txt')", {"a.txt"}),
    ("import pathlib; pathlib.Path('a.txt').read_bytes()", {"a.txt"}),
    ("import os; os.open('b.txt', os.O_RDONLY)", {"b.txt"}),
    ("import os; os.chdir('week1'); open('../a.txt')", {"a.txt"}),
    ("import sys; sys.path.append('week1'); import lesson", {"week1/lesson.py"}),
    ("import shutil, tempfile; shutil.copytree('.', tempfile.mkdtemp() + '/x')", {"a.txt", "b.txt", "week1/lesson.py"}),
    (CHILD.format(PLAIN), {"b.txt"}),
    (CHILD.format(PLAIN + ", env=dict(__import__('os').environ)"), {"b.txt"}),
    (CHILD.format(PLAIN + ", env={}"), {EVERYTHING}),
    (CHILD.format(PLAIN.replace("'-c'", "'-I', '-c'")), {EVERYTHING}),
    (CHILD.format("['sh', '-c', 'cat a.txt']"), {EVERYTHING}),
    (CHILD.format("['git', 'status']"), {EVERYTHING}),
    ("import os; os.system('cat a.txt > /dev/null')", {EVERYTHING}),
    ("import os; os.fork() or os.execvp('cat', ['cat', 'a.txt'])", {EVERYTHING}),
    (CHILD.format("['uname'], stdout=subprocess.DEVNULL"), set()),
    (CHILD.format("['git', 'status'], cwd='/', stderr=subprocess.DEVNULL"), set()),
    ("import json", set()),
])  # fmt: skip
def test_processes_note_what_they_read(tmp_path, code, expected):
    for name in ("a.txt", "b.txt", "week1/lesson.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    for _ in range(2):  # the second time a module comes from __pycache__
        with noted(code, tmp_path) as reads:
            assert reads == expected


def test_a_part_that_cannot_say_what_it_read_depends_on_all(course):
    now = snapshot(course.root)
    assert dependencies(Part("any"), {EVERYTHING}, now, course.root) == now.files
    assert dependencies(Part("any", (EVERYTHING,)), (), now, course.root) == now.files


# 30 planted changes in every room ------------------------------------------------------------------

ROOMS = (
    "tools/models", "tools/sim", "tools/sim/cuda", "tools/sim/cupy", "tools/sim/triton", "tools/compiler", "tools/wire",
    "tools/worker", "tools/check", "tools/check/diagnosis", "tools/course/content", "tools/course/learner",
    "tools/pytest_course", "tools/selfcheck", "tools/draw", "tools/gpu.py", "tools/__init__.py", "conftest.py",
    "pyproject.toml", "constraints.txt", "tools/sim/cupy/raw/cpp", "week1/day4", "reference/week1/day4",
)  # fmt: skip
PLANTED = 30  # in each room, or all its files
REPORT = """
import json, sys
def pytest_unconfigure():
    files = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
    json.dump([file for file in files if file], open({!r}, "w"))
"""


@pytest.fixture(scope="module")
def checked(tmp_path_factory):
    """The files that two real parts depend on, and those that their processes had imported in the end."""
    now, folder = snapshot(ROOT), tmp_path_factory.mktemp("report")
    unit = catalogue.unit("week1/day4")
    with noting() as reads:
        parts.check_quickly(unit, ROOT, tell=quiet)
        found = dependencies(check._of_unit(unit, 0, []).part, reads(), now, ROOT)
    report = folder / "imported"
    (folder / "reporting.py").write_text(REPORT.format(str(report)))
    tests = ["tools/tests/draw", "tools/tests/sim/cuda/test_memory.py", "tools/tests/sim/cupy_raw/test_races.py"]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "reporting", "-p", "no:cacheprovider", *tests]
    with noting() as reads:
        environment = {**os.environ, **watched(ROOT, ROOT)}
        environment["PYTHONPATH"] += os.pathsep + str(folder)
        subprocess.run(command, cwd=ROOT, env=environment, check=True, timeout=300, stdout=subprocess.DEVNULL)
        of_tools = dependencies(Part("tools"), reads(), now, ROOT)
    files = [Path(file) for file in json.loads(report.read_text())]
    imported = {file.relative_to(ROOT).as_posix() for file in files if file.is_relative_to(ROOT)}
    return {"unit": found, "tools": of_tools}, imported & now.files.keys(), now


@needs_solutions
def test_all_that_a_process_imported_is_noted(checked):
    files, imported, _ = checked
    assert imported and not imported - files["tools"].keys()


@needs_solutions
@pytest.mark.parametrize("room", ROOMS)
def test_planted_changes_are_noticed_in_every_room(checked, room, tmp_path):
    """A room's file that neither part read can change neither; of those read, each is missed at once."""
    files, _, now = checked
    for name, read in files.items():
        part = Part(name)
        kept = {"key": name, "environment": now.environment, "names": now.names, "files": read}
        part.file(tmp_path).parent.mkdir(parents=True, exist_ok=True)
        part.file(tmp_path).write_text(json.dumps(kept | {"findings": remembered._plain(GOOD)}))
        assert recall(part, now, tmp_path)
    planted = [path for path in now.files if path == room or path.startswith(room + "/") and "/tests/" not in path]
    read = [path for path in planted if any(path in each for each in files.values())]
    assert len(read) >= min(len(planted) // 2, PLANTED)
    for path in read[:PLANTED]:
        changed = replace(now, files=now.files | {path: "changed"})
        parts_that_miss_it = [name for name in files if not recall(Part(name), changed, tmp_path)]
        assert parts_that_miss_it == [name for name in files if path in files[name]]


# The command ---------------------------------------------------------------------------------------


def test_what_is_remembered_is_not_run_again_unless_fresh(monkeypatch, capsys, tmp_path):
    ran = []
    monkeypatch.setattr(check, "ROOT", tmp_path)
    monkeypatch.setattr(
        check, "_jobs", lambda *_: [check.Job("static", lambda tell: ran.append(1) or GOOD, Part("static"))]
    )
    for arguments in (["--only", "static"], ["--only", "static"], ["--only", "static", "--fresh"]):
        assert check.main(arguments) == 0
    assert len(ran) == 2
    assert "1 of 1 parts are as they were when they last passed; --fresh runs all" in capsys.readouterr().out
