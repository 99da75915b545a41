"""course, alone: at most twelve lines that say where the learner is and what to type now."""

import shutil
from datetime import date, datetime, timezone

import pytest

from tools import ROOT
from tools.cli.__main__ import main
from tools.course.content.day_file import TRACKS
from tools.course.learner import journal
from tools.course.learner.progress import SIMULATED, Check, Plan, Progress, Result, file_hash
from tools.tests.course.miniature import DAY, DIAGNOSTIC, QUIZ, make, write

LONG_AGO = datetime(2026, 1, 1, tzinfo=timezone.utc)


@pytest.fixture
def following(tmp_path, capsys):
    """following() -> what `course next` prints."""

    def following() -> str:
        assert main(["next"], tmp_path) == 0
        printed = capsys.readouterr()
        assert printed.err == ""
        assert len(printed.out.splitlines()) <= 12
        assert max(map(len, printed.out.splitlines())) <= 80
        return printed.out

    return following


def reach(unit, *passed: tuple[int, str]):
    """Record a run in which these passed, or all."""
    checks = [Check(1, "correctness"), Check(1, "edge"), Check(2, "correctness")]
    keys = passed or [(check.task, check.stage) for check in checks]
    results = [Result(*key, SIMULATED) for key in keys]
    Progress.load(unit.root).record(unit, results, file_hash(unit.lesson), date(2026, 11, 20), checks)


def test_a_learner_in_the_middle_of_a_day(tmp_path, following):
    reach(make(tmp_path, "week1/day1", day=DAY + QUIZ))
    reach(make(tmp_path, "week1/day2"), (2, "correctness"))
    assert (
        following()
        == """\
week1/day2  Small, 30 minutes
  done   task 2
  next   task 1  week1/day2/small.py:9  double, halve

Now  ./course watch week1/day2          runs its tests whenever you save
Due  ./course quiz week1/day1           2 questions about what you just did
     ./course note week1/day1           what, why, when not to use it
"""
    )


def test_a_course_not_yet_begun_is_begun_with_the_diagnosis(tmp_path, following):
    write(tmp_path, "week1/day0", day=DAY + DIAGNOSTIC)
    assert following().endswith("""
Now  ./course quiz week1/day0           3 questions say where to begin
""")


@pytest.mark.parametrize("skip", ["quiz stopped", "task begun"])
def test_whoever_begins_otherwise_is_not_asked_again(tmp_path, following, skip):
    unit = make(tmp_path, "week1/day0", day=DAY + DIAGNOSTIC)
    if skip == "task begun":
        reach(unit, (1, "edge"))
    else:
        journal.add(journal.QUIZ, "week1/day0", {"missed": []}, tmp_path)
    assert "Now  ./course watch week1/day0 " in following()


def test_after_the_diagnosis_its_day_is_next_at_its_pace(tmp_path, following):
    write(tmp_path, "week1/day0", day=DAY + DIAGNOSTIC)
    write(tmp_path, "week1/day4")
    Progress.load(tmp_path).follow(Plan("week1/day4", "quick"))
    assert (
        following()
        == """\
week1/day4  Small, 30 minutes
  next   task 1  week1/day4/small.py:9  double, halve
  open   task 2
  track  two days at a sitting

Now  ./course watch week1/day4          runs its tests whenever you save
"""
    )


def test_half_an_hour_a_day_is_some_of_the_days_tasks(tmp_path, following):
    unit = make(tmp_path, day=DAY.replace("30", "60"))
    Progress.load(tmp_path).follow(Plan("week1/day1", "half an hour a day"))
    assert "  track  half an hour a day: task 1 now\n" in following()
    reach(unit, (1, "correctness"), (1, "edge"))
    assert "  track  half an hour a day: task 2 now\n" in following()


@pytest.mark.parametrize("track", TRACKS)
def test_every_track_has_words(tmp_path, following, track):
    write(tmp_path)
    Progress.load(tmp_path).follow(Plan("week1/day1", track))
    assert "day" in following().split("track  ")[1].splitlines()[0]


def test_of_much_that_is_due_three_things_are_named(tmp_path, following):
    reach(make(tmp_path, "week1/day1", day=DAY + QUIZ))
    write(tmp_path, "week1/katas/simd", day=DAY.replace("\nminutes", '\nneeds = ["week1/day1"]\nminutes'))
    write(tmp_path, "week2/day1")
    missed = {"missed": ["How many lanes has a warp?"], "mended": []}
    journal.add(journal.QUIZ, "week1/day1", missed, tmp_path, when=LONG_AGO)
    lines = following().splitlines()
    assert [line[5:38].strip() for line in lines[-3:]] == [
        "./course note week1/day1", "./course review week1", "./course quiz --review",
    ]  # fmt: skip


def test_when_all_is_done_it_says_so(tmp_path, following):
    reach(make(tmp_path))
    assert following().splitlines()[0] == "Every day and kata is done."


def test_a_damaged_journal_costs_one_line(tmp_path, capsys):
    write(tmp_path)
    (tmp_path / "journal").mkdir()
    (tmp_path / "journal/journal.jsonl").write_text("{\n")
    assert main(["next"], tmp_path) == 0
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(("damage", "line"), [
    ("", "There is no day here: no file week1/day0/day.toml, nor any other day."),
    ("title = ", "week1/day1/day.toml:1: not valid TOML: Invalid value"),
])  # fmt: skip
def test_no_course_and_a_broken_one_are_said_in_one_line(tmp_path, capsys, damage, line):
    if damage:
        write(tmp_path, day=damage)
    assert main(["next"], tmp_path) == 2
    assert capsys.readouterr() == ("", f"{line}\n")


def test_each_unit_of_this_course_fits_on_twelve_lines(tmp_path, following):
    for week in ROOT.glob("week*"):  # a copy: the progress of whoever runs this stays out of it
        shutil.copytree(week, tmp_path / week.name)
    for folder in sorted(tmp_path.glob("week*/day*")):
        Progress.load(tmp_path).follow(Plan(folder.relative_to(tmp_path).as_posix(), "half an hour a day"))
        assert following().startswith(f"{folder.relative_to(tmp_path).as_posix()}  ")
