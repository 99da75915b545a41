"""Remembered verdicts: recalled when nothing changed, and never where a change could alter them."""

import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from tools import ROOT
from tools.selfcheck import check, inputs, memory, parts, pieces
from tools.selfcheck.findings import Findings
from tools.selfcheck.memory import EVERYTHING, Memory
from tools.selfcheck.recorder import sitecustomize as recorder
from tools.selfcheck.recording import UNSEEN, read, recorded, recording
from tools.selfcheck.verdicts import Verdict
from tools.stem import POSSIBLE, Stem

JOB = "week1/day1 check_quickly"
PASSED = Findings("week1/day1", [Verdict("units", "week1/day1", True)], ["a note"])


@pytest.fixture
def checked(course, monkeypatch):
    """checked() -> how many jobs were recalled, and whether the day passed, by a real run or from memory."""
    monkeypatch.setattr(check, "ROOT", course.root)

    def checked(fresh: bool = False) -> tuple[int, bool]:
        jobs = [("week1/day1", partial(parts.check_quickly, course.unit(), course.root))]
        found = check._run(jobs, fresh)
        return sum(part.name == "remembered" for part in found), all(part.passed for part in found)

    return checked


# Verdicts, by real runs ---------------------------------------------------------------------------


def test_what_passed_is_recalled_until_a_file_that_it_read_changes(checked, course):
    assert checked() == (0, True)
    assert checked() == (1, True)
    course.edit("reference/week1/day1/adding.py", "return total(values) / len(values)", "return 0")
    assert checked() == (0, False)
    assert checked() == (0, False), "a failure runs again"
    course.edit("reference/week1/day1/adding.py", "return 0", "return total(values) / len(values)")
    assert checked() == (0, True)


@pytest.mark.parametrize(
    "path, text",
    [
        ("week1/day1/conftest.py", "import pytest\n@pytest.fixture(autouse=True)\ndef no(): assert 0\n"),
        ("statistics.py", "raise ImportError\n"),
    ],
)
def test_a_file_that_was_not_there_turns_a_remembered_verdict(checked, course, path, text):
    assert checked() == (0, True)
    course.write(path, text)
    assert checked() == (0, False)


def test_fresh_forgets(checked):
    checked()
    assert checked(fresh=True) == (0, True)
    assert checked() == (1, True)


# What is kept -------------------------------------------------------------------------------------


def test_findings_come_back_as_they_were(course):
    found = Findings("u", [Verdict("k", "s", True, "d")], ["n"])
    found.skips.update(["no GPU", "no GPU"])
    found.unjudged["x"] = 3
    Memory(course.root).keep(JOB, found, [])
    assert Memory(course.root).recall(JOB) == found


def test_a_failure_is_not_kept_and_takes_an_older_verdict_with_it(course):
    Memory(course.root).keep(JOB, PASSED, [])
    ran = Memory(course.root, fresh=True)
    assert ran.recall(JOB) is None
    ran.keep(JOB, Findings("u", [Verdict("k", "s", False)]), [])
    assert Memory(course.root).recall(JOB) is None


def test_what_changed_during_the_run_is_not_kept(course):
    ran = Memory(course.root)
    course.write("week1/day1/day.toml", "")
    ran.keep(JOB, PASSED, ["week1/day1/day.toml"])
    assert Memory(course.root).recall(JOB) is None


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"form": 0}', "\x00"])
def test_a_file_that_cannot_be_read_is_as_none(course, text):
    Memory(course.root).keep(JOB, PASSED, [])
    [file] = (course.root / ".course/check").iterdir()
    file.write_text(text)
    assert Memory(course.root).recall(JOB) is None


def test_jobs_that_were_asked_something_else_are_others(course):
    jobs = [
        ("u", partial(parts.check_unit, course.unit(), course.root, most=most, absent=absent))
        for most in (None, 20)
        for absent in ([], ["numba-cuda"])
    ]
    assert len({pieces.identity(job) for job in jobs}) == 4


def test_a_job_whose_reads_nobody_saw_depends_on_every_file(course):
    now = inputs.snapshot(course.root)
    assert memory.depends_on([EVERYTHING], now) == now.files
    assert inputs.COMMIT in memory.depends_on([EVERYTHING], now)


def test_what_is_installed_or_made_is_no_file_of_the_course(course):
    before = inputs.paths(course.root)
    for path in (".venv/x.py", "week1/__pycache__/x.pyc", ".course/x", "build/x.py", "a.egg-info/x", "report.html"):
        course.write(path, "")
    assert inputs.paths(course.root) == before


@pytest.mark.parametrize("change", ["variable", "version", "program"])
def test_the_environment_tells_packages_programs_and_variables_apart(tmp_path, monkeypatch, change):
    (tmp_path / "numpy-2.3.0.dist-info").mkdir()
    (tmp_path / "g++").write_text("#!/bin/sh\n")
    (tmp_path / "g++").chmod(0o755)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    before = inputs.environment()
    assert inputs.environment() == before
    if change == "variable":
        monkeypatch.setenv("TRITON_INTERPRET", "maybe")
    elif change == "version":
        (tmp_path / "numpy-2.3.0.dist-info").rename(tmp_path / "numpy-2.3.1.dist-info")
    else:
        (tmp_path / "g++").write_text("#!/bin/sh\necho\n")
    assert inputs.environment() != before


# What is recorded ---------------------------------------------------------------------------------


def reads_of(course, code: str, *options: str) -> set[str]:
    """What a process of Python that runs this is seen to read of the course."""
    with recording() as log:
        subprocess.run(
            [sys.executable, *options, "-c", code], cwd=course.root, check=False,
            env=recorded({**os.environ, "PYTHONPATH": str(course.root)}, course.root), stderr=subprocess.DEVNULL,
        )  # fmt: skip
        return read(log)


IMPORT = "import week1.day1.adding"


@pytest.mark.skipif(not POSSIBLE, reason="needs Linux; found another system; nothing to do")
def test_a_copy_of_a_process_has_read_what_that_one_had_imported(course, monkeypatch):
    """`before` by the stem, which nobody records, and the lesson by the copy."""
    course.write("before.py", "")
    course.write("work.py", f"from tools.selfcheck import recording\ndef work():\n    recording.start()\n    {IMPORT}")
    monkeypatch.setenv("PYTHONPATH", str(course.root))
    with recording() as log, open(os.devnull) as nothing:
        given = recorded({**os.environ, "PYTHONPATH": f"{course.root}{os.pathsep}{ROOT}"}, course.root)
        copy = Stem().copy("work:work", given, course.root, nothing.fileno(), imports=["before"])
        assert copy.wait(60) == 0, copy.stdout.read()
        assert {"before.py", "work.py", "week1/day1/adding.py"} <= read(log)


@pytest.mark.parametrize(
    "code",
    [
        IMPORT,
        f"{IMPORT}; import os; os._exit(3)",
        f"{IMPORT}; import os; os.abort()",
        f"import os\nif not os.fork():\n    {IMPORT}",
        f"import subprocess, sys; subprocess.run([sys.executable, '-P', '-c', {IMPORT!r}])",
        f"import threading; t = threading.Thread(target=lambda: exec({IMPORT!r})); t.start(); t.join()",
        "import os; os.chdir('week1/day1'); open('adding.py').read()",
        "import shutil, tempfile; shutil.copytree('week1', tempfile.mkdtemp() + '/w')",
        "import os; os.close(os.open('week1/day1/adding.py', os.O_RDONLY))",
        "import os, tempfile as t; p = t.mkdtemp() + '/l'; os.symlink(os.path.abspath('week1'), p);"
        " open(p + '/day1/adding.py')",
    ],
)
def test_a_file_is_recorded_however_it_is_read(course, code):
    assert "week1/day1/adding.py" in reads_of(course, code)
    assert "week1/day1/adding.py" in reads_of(course, code), "its bytecode stands for it"


@pytest.mark.parametrize(
    "code",
    [
        "import subprocess; subprocess.run(['cat', 'README.md'])",
        "import subprocess; subprocess.run('true', shell=True)",
        "import os, subprocess; e = {**os.environ, 'HERE': os.getcwd()};"
        " subprocess.run('cat $HERE/x', shell=True, cwd='/', env=e)",
        "import subprocess; subprocess.run('true', shell=True, cwd='/', env={})",
        "import os; os.system('true')",
        "import os; os.execv('/bin/true', ['true'])",
        "import os; os.spawnv(os.P_WAIT, '/bin/true', ['true'])",
        "import subprocess, sys; subprocess.run([sys.executable, '-I', '-c', ''])",
        "import subprocess, sys; subprocess.run([sys.executable, '-sE', '-c', ''])",
        "import subprocess, sys; subprocess.run([sys.executable, '-c', ''], env={})",
        "import os, subprocess, sys; os.environ['PYTHONPATH'] = ''; subprocess.run([sys.executable, '-c', ''])",
        "import subprocess, sys; subprocess.run([sys.executable, '-c', ''], env={'PYTHONPATH': sys.path[-1]})",
        "import subprocess, sys; subprocess.run([sys.executable, '-BI', '-c', ''])",
        "import subprocess, sys; subprocess.run([sys.executable, '-B', '-s', '-I', '-c', ''])",
        "import subprocess; subprocess.run(['git', 'status'])",
        "import os, subprocess; here = os.getcwd(); subprocess.run(['git', '-C', here, 'status'], cwd='/')",
        "import os, subprocess; subprocess.run(['git', 'log'], cwd='/', env={**os.environ, 'GIT_DIR': os.getcwd()})",
        "import shutil, subprocess as s, tempfile as t; p = t.mkdtemp() + '/true';"
        " shutil.copy('/bin/true', p); s.run([p])",
    ],
)
def test_a_program_that_nobody_can_look_into_may_have_read_anything(course, code):
    assert UNSEEN in reads_of(course, code)


@pytest.mark.parametrize(
    "code",
    [
        "",
        "import subprocess; subprocess.run(['g++', '--version'])",
        "import platform; platform.processor()",
        "import subprocess; subprocess.run('true', shell=True, cwd='/')",
        "import subprocess; subprocess.run(['git', 'init', '-q'], cwd=__import__('tempfile').mkdtemp())",
        "import shutil, subprocess as s, tempfile as t; f = t.mkdtemp(); shutil.copy('/bin/true', f + '/true');"
        " s.run([f + '/true'], cwd=f)",
    ],
)
def test_compilers_and_what_asks_about_the_machine_are_known(course, code):
    assert UNSEEN not in reads_of(course, code)


@pytest.mark.parametrize("program", [["git", "rev-parse", "--show-toplevel"], ["openssl", "version"]])
def test_what_reads_nothing_of_the_course_leaves_no_trace(course, program):
    """The course lies in no repository here, and a variable that names no place does not send git to another one."""
    code = f"import os, subprocess; subprocess.run({program}, env={{**os.environ, 'GIT_TERMINAL_PROMPT': '0'}})"
    assert not {UNSEEN, recorder.COMMIT} & reads_of(course, code)


def test_bytecode_elsewhere_says_nothing_of_its_source(course):
    assert UNSEEN in reads_of(course, "", "-X", "pycache_prefix=/nowhere")


@pytest.mark.parametrize(
    "path, source",
    [
        ("tools/__pycache__/gpu.cpython-311.pyc", "tools/gpu.py"),
        ("week1/__pycache__/test_x.cpython-313-pytest-9.0.1.pyc", "week1/test_x.py"),
        ("tools/__pycache__/gpu.cpython-311.opt-1.pyc", "tools/gpu.py"),
        ("tools/__pycache__/gpu.cpython-311.pyc.140213", "tools/gpu.py"),
        ("docs/SETUP.md", "docs/SETUP.md"),
    ],
)
def test_bytecode_is_traced_to_its_source(path, source):
    assert recorder.source_of(path) == source


def test_what_is_kept_is_plain_data(course):
    Memory(course.root).keep(JOB, PASSED, ["week1/day1/"])
    [file] = Path(course.root / ".course/check").iterdir()
    table = json.loads(file.read_text())
    assert table["job"] == JOB
    assert "week1/day1/adding.py" in table["inputs"] and "reference/week1/day1/adding.py" not in table["inputs"]
    assert str(ROOT) not in table["inputs"]
