"""A change planted in any room is noticed: the job that could tell it has that file among its inputs.

What a job reads is recorded from real runs: lessons of three kinds, called in a process of their own, and tests of
tools. Then each change is made in a copy of the hashes, and the remembered verdict must no longer hold.
"""

import os
import subprocess
import sys
from dataclasses import replace
from functools import partial

import pytest

from tools import ROOT
from tools.course.content import catalogue
from tools.selfcheck import golden, inputs, memory, parts
from tools.selfcheck.recording import UNSEEN, read, recorded, recording
from tools.tests.conftest import needs_solutions

pytestmark = needs_solutions

LESSONS = {  # a unit of each kind -> one of its tests
    "week1/day2": "test_multiplies_the_matrices_of_the_lesson",
    "week1/day3": "test_saxpy_of_four_elements_by_four_threads",
    "week1/day4": "test_adds_one_full_block",
}
ROOMS = ("bench", "cli", "compiler", "course", "doctor", "draw", "notebook", "pytest_course", "sim", "check_diagnosis")
OF_ONE_FILE = ("bench", "cli", "compiler", "course", "doctor", "draw", "pytest_course", "sim", "check_diagnosis")

# room, the job that must notice, the file that is changed
CHANGES = [
    ("models", "week1/day4", "tools/models/units.py"),
    ("models: data", "week1/day4", "tools/models/chips.toml"),
    ("sim", "week1/day4", "tools/sim/counters.py"),
    ("sim/triton", "week1/day4", "tools/sim/triton/memory.py"),
    ("sim/cuda", "week1/day3", "tools/sim/cuda/host/launch.py"),
    ("sim/cupy", "week1/day2", "tools/sim/cupy/__init__.py"),
    ("sim/cupy: C++", "week1/day2", "tools/sim/cupy/raw/cpp/*.cpp"),
    ("sim/cupy: a header", "week1/day3", "tools/sim/cupy/raw/cpp/*.h"),
    ("compiler", "week1/day4", "tools/compiler/__init__.py"),
    ("compiler: tests", "compiler", "tools/compiler/layouts.py"),
    ("gpu", "week1/day4", "tools/gpu.py"),
    ("wire", "week1/day4", "tools/wire/frames.py"),
    ("worker", "week1/day4", "tools/worker/calls.py"),
    ("worker: what runs there", "week1/day4", "tools/worker/__main__.py"),
    ("check", "week1/day4", "tools/check/compare.py"),
    ("check: tolerances", "week1/day2", "tools/check/tolerances.py"),
    ("diagnosis", "check_diagnosis", "tools/check/diagnosis/loop_mistakes.py"),
    ("doctor", "doctor", "tools/doctor/checks.py"),
    ("course", "week1/day4", "tools/course/content/catalogue.py"),
    ("draw", "draw", "tools/draw/svg.py"),
    ("pytest_course", "week1/day4", "tools/pytest_course/lessons.py"),
    ("bench", "bench", "tools/bench/records.py"),
    ("notebook", "notebook", "tools/notebook/build.py"),
    ("report", "report", "tools/report/page.py"),
    ("cli", "cli", "tools/cli/commands.py"),
    ("selfcheck", "week1/day4", "tools/selfcheck/unit.py"),
    ("selfcheck: verdicts", "week1/day4", "tools/selfcheck/verdicts.py"),
    ("words", "draw", "tools/__init__.py"),
    ("tests of tools", "draw", "tools/tests/draw/test_svg.py"),
    ("tests of tools: a conftest", "cli", "tools/tests/cli/watch/conftest.py"),
    ("tests of tools: conftest of all", "draw", "tools/tests/conftest.py"),
    ("documents", "static", "docs/GLOSSARY.md"),
    ("README", "static", "README.md"),
    ("lesson", "week1/day4", "week1/day4/vector_add.py"),
    ("lesson: rules", "static", "week1/day4/vector_add.py"),
    ("test", "week1/day4", "week1/day4/test_vector_add.py"),
    ("day.toml", "week1/day4", "week1/day4/day.toml"),
    ("bench file", "week1/day4", "week1/day4/bench_vector_add.py"),
    ("reference", "week1/day4", "reference/week1/day4/vector_add.py"),
    ("wrong answers", "week1/day4", "reference/week1/day4/wrong.toml"),
    ("transcript", "transcript", "tools/tests/golden/stub_serial.txt"),
    ("transcript: its lesson", "transcript", "week1/day1/numpy_baseline.py"),
    ("conftest", "week1/day4", "conftest.py"),
    ("pyproject", "week1/day4", "pyproject.toml"),
    ("constraints", "draw", "constraints.txt"),
]
ADDED = ("week1/day4/conftest.py", "numpy.py", "tools/tests/draw/test_more.py", "week1/day4/test_more.py",
         "pytest.ini", ".pytest.ini")  # fmt: skip


@pytest.fixture(scope="module")
def now():
    return inputs.snapshot(ROOT)


@pytest.fixture(scope="module")
def jobs(now):
    """Name -> the file of a job that has passed, by real reads."""
    loaded = {path for path in inputs.loaded(ROOT) if path.startswith("tools/selfcheck/")}
    texts, transcript = (
        partial(parts.check_texts, [], ROOT),
        partial(parts.check_transcript, golden.TRANSCRIPTS[0], ROOT),
    )
    reads = {"static": parts.reads(texts), "transcript": parts.reads(transcript)}
    for name, test in LESSONS.items():
        unit = catalogue.unit(name)
        job = partial(parts.check_unit, unit, ROOT)
        reads[name] = loaded | parts.reads(job) | _reads(unit.tests, "-k", test, "--answers=reference", "--remote")
    for room in ROOMS:
        reads[room] = loaded | _reads(ROOT / "tools/tests" / room, "--collect-only")
    page = ROOT / "tools/tests/cli/test_report.py"  # its command imports the room late
    reads["report"] = loaded | _reads(page, "-k", "test_an_empty_month_gives_an_honest_page")
    return {job: _table(those, now) for job, those in reads.items()}


def _reads(*arguments) -> set[str]:
    """The recorded reads of a run of pytest, as the self-check starts one."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *map(str, arguments)]
    with recording() as log:
        done = subprocess.run(
            command, cwd=ROOT, env=recorded({**os.environ, "PYTHONPATH": str(ROOT)}), capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout
        return read(log)


def _table(reads, now) -> dict:
    return {"inputs": memory.depends_on(reads, now), "environment": now.environment}


def with_files(now, files) -> inputs.Snapshot:
    return replace(now, files=files)


def test_nothing_changed_and_every_verdict_holds(jobs, now):
    assert [job for job, table in jobs.items() if not memory.holds(table, now)] == []


@pytest.mark.parametrize("room, job, path", CHANGES, ids=[room for room, _, _ in CHANGES])
def test_a_change_in_any_room_is_noticed(jobs, now, room, job, path):
    if "*" in path:
        folder, _, ending = path.partition("*")
        path = next(file for file in now.files if file.startswith(folder) and file.endswith(ending))
    assert path in now.files
    assert not memory.holds(jobs[job], with_files(now, {**now.files, path: "another hash"}))


@pytest.mark.parametrize("path", ADDED)
def test_a_file_that_is_added_is_noticed_by_every_job(jobs, now, path):
    assert path not in now.files
    names = inputs.names([*(each for each in now.files if not each.startswith("(")), path])
    more = with_files(now, {**now.files, path: "its hash", inputs.NAMES: names})
    assert [job for job, table in jobs.items() if memory.holds(table, more)] == []


def test_another_machine_or_package_is_noticed_by_every_job(jobs, now):
    elsewhere = replace(now, environment="another")
    assert [job for job, table in jobs.items() if memory.holds(table, elsewhere)] == []


@pytest.mark.parametrize("room", OF_ONE_FILE)
def test_no_lesson_is_read_while_tests_are_collected(jobs, room):
    """Else every test file of the room would run again after an edit of it."""
    read = [path for path in jobs[room]["inputs"] if path.startswith("week")]
    assert [path for path in read if path.endswith((".py", ".toml"))] == []


@pytest.mark.parametrize("name", LESSONS)
def test_a_lesson_does_not_depend_on_the_others(jobs, now, name):
    """Else nothing would be remembered after an edit of one."""
    others = [path for path in jobs[name]["inputs"] if path.startswith("week1/day") and name not in path]
    assert others == []
    assert UNSEEN not in jobs[name]["inputs"] and inputs.COMMIT not in jobs[name]["inputs"]
