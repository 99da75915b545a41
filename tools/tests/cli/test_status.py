"""course status shows the month in 80 columns: what each unit reached, which is current, what to run next."""

import os
import shutil
import subprocess
import sys
from datetime import date

import pytest

from tools import ROOT
from tools.cli.__main__ import main
from tools.course.content import catalogue
from tools.course.learner.progress import CONFIRMED, SIMULATED, Check, Progress, Result, file_hash
from tools.tests.course.miniature import DAY, make, write

ANYWHERE = [Check(1, "correctness"), Check(2, "correctness")]
WITH_GPU = [*ANYWHERE, Check(2, "speed", needs_gpu=True)]


@pytest.fixture(autouse=True)
def eighty_columns_without_colour(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")


def reach(root, name, checks, card=None, tasks=(1, 2), title="Small", hints=0):
    """Write a unit whose last run passed `checks` of `tasks`, on `card` if there was one."""
    unit = make(root, name, day=DAY.replace("Small", title))
    state = CONFIRMED if card else SIMULATED
    results = [
        Result(check.task, check.stage, state, card)
        for check in checks
        if check.task in tasks and (card or not check.needs_gpu)
    ]
    progress = Progress.load(root)
    progress.record(unit, results, file_hash(unit.lesson), date(2026, 11, 20), checks)
    for _ in range(hints):
        progress.show_hint(unit, 1)
    return unit


def test_a_month_in_progress(tmp_path, capsys):
    reach(tmp_path, "week1/day0", ANYWHERE, title="Ready check")
    reach(tmp_path, "week1/day1", WITH_GPU, "NVIDIA H200", title="The same call, elsewhere")
    edited = reach(tmp_path, "week1/day2", WITH_GPU, title="How GPUs work", hints=2)
    edited.lesson.write_text("# rewritten\n", encoding="utf-8")
    reach(tmp_path, "week1/day3", WITH_GPU, tasks=[1], title="Your first Triton kernel", hints=1)
    reach(tmp_path, "week1/katas/simd", WITH_GPU, tasks=[], title="What -O3 made of a loop")
    reach(tmp_path, "week2/day1", WITH_GPU, "NVIDIA GeForce RTX 4090 Laptop GPU", title="Profiling: where does it go?")
    assert main(["status"], tmp_path) == 0
    assert (
        capsys.readouterr().out
        == """\
Week 1
  day0  Ready check                   passed
  day1  The same call, elsewhere      confirmed on NVIDIA H200, 2026-11-20
  day2  How GPUs work                 simulated; 2 hints; edited since
> day3  Your first Triton kernel      started, 1 of 2 tasks; 1 hint

Week 1, katas
  simd  What -O3 made of a loop       open

Week 2
  day1  Profiling: where does it go?  confirmed on NVIDIA GeForce RTX 4090
                                      Laptop GPU, 2026-11-20

Next: ./course week1/day3
"""
    )


def test_a_course_not_yet_begun_points_to_its_first_day(tmp_path, capsys):
    write(tmp_path, "week1/day0")
    write(tmp_path, "week1/day1")
    main(["status"], tmp_path)
    assert capsys.readouterr().out == (
        "Week 1\n> day0  Small  open\n  day1  Small  open\n\nNext: ./course week1/day0\n"
    )


@pytest.mark.parametrize(
    ("checks", "card", "next_line"),
    [
        (WITH_GPU, None, "Next, on a machine with a GPU: ./course --all"),
        (WITH_GPU, "NVIDIA H200", "Every day and kata is done."),
        (ANYWHERE, None, "Every day and kata is done."),
    ],
)
def test_the_last_line_says_what_is_left(tmp_path, capsys, checks, card, next_line):
    reach(tmp_path, "week1/day1", checks, card)
    main(["status"], tmp_path)
    assert capsys.readouterr().out.splitlines()[-1] == next_line


def test_no_line_is_longer_than_80_columns_or_ends_in_spaces(tmp_path, capsys):
    title = "A title that says rather more than a title should, at least in a table of five columns"
    reach(tmp_path, "week1/day1", WITH_GPU, "NVIDIA RTX 6000 Ada Generation Laptop GPU", title=title, hints=3)
    reach(tmp_path, "week1/katas/" + "x" * 40, WITH_GPU, title=title)
    main(["status"], tmp_path)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines == [line.rstrip() for line in lines]


def test_square_brackets_in_a_title_are_printed(tmp_path, capsys):
    reach(tmp_path, "week1/day1", ANYWHERE, title="Element [row, col] in [bold]")
    main(["status"], tmp_path)
    assert "Element [row, col] in [bold]" in capsys.readouterr().out


def test_a_title_with_letters_that_the_terminal_lacks_is_no_error(tmp_path):
    write(tmp_path, day=DAY.replace("Small", "Größe"))
    script = "from pathlib import Path; from tools.cli.__main__ import main; main(['status'], Path.cwd())"
    ascii_only = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", script]
    run = subprocess.run(command, cwd=tmp_path, env=ascii_only, capture_output=True, text=True, timeout=300)
    assert (run.returncode, run.stderr) == (0, "")
    assert "Gr??e" in run.stdout


def test_damaged_progress_costs_one_line(tmp_path, capsys):
    write(tmp_path)
    (tmp_path / ".course").mkdir()
    (tmp_path / ".course/progress.json").write_text("{")
    assert main(["status"], tmp_path) == 0
    assert capsys.readouterr().err.splitlines() == [
        ".course/progress.json was damaged; it is now .course/progress.broken.json, and progress starts anew."
    ]


def test_the_status_of_this_course_names_every_unit(tmp_path, capsys):
    for week in ROOT.glob("week*"):  # a copy: the progress of whoever runs this stays out of it
        shutil.copytree(week, tmp_path / week.name)
    assert main(["status"], tmp_path) == 0
    printed = capsys.readouterr().out
    assert all(f" {name.split('/')[-1]} " in printed for name in catalogue.names())
    assert printed.endswith("\nNext: ./course week1/day0\n")
