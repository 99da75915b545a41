"""What is next, how much of it is one sitting, and what is due beside it."""

from datetime import date, datetime, timedelta, timezone

import pytest

from tools.course.content import catalogue
from tools.course.learner import journal
from tools.course.learner.progress import SIMULATED, Check, Progress, Result, file_hash
from tools.course.learner.todo import BEGUN, DONE, due, next_task, sitting, task_states, whats_left
from tools.tests.course.miniature import DAY, QUIZ, make

NOW = datetime(2026, 11, 22, 12, tzinfo=timezone.utc)
CHECKS = [Check(1, "correctness"), Check(1, "edge"), Check(2, "correctness")]
NEEDS = '\nneeds = ["week1/day1", "week1/day2"]\n'


@pytest.fixture(autouse=True)
def with_a_journal(monkeypatch):
    monkeypatch.delenv("CI", raising=False)


def reach(unit, *passed: tuple[int, str], when=date(2026, 11, 20)):
    """Record a run in which these passed; all of CHECKS where none is named. Returns the state."""
    passed = passed or [(check.task, check.stage) for check in CHECKS]
    progress = Progress.load(unit.root)
    progress.record(unit, [Result(*key, SIMULATED) for key in passed], file_hash(unit.lesson), when, CHECKS)
    return progress.state(unit)


def dues(root, now=NOW) -> list[str]:
    return [one.command for one in due(catalogue.units(root), Progress.load(root), journal.read(root), root, now)]


def write_note(root, name):
    file = root / f"journal/{name}.md"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("what, why\n")


# Tasks --------------------------------------------------------------------------------------------


def test_a_task_is_done_begun_or_open(tmp_path):
    unit = make(tmp_path)
    state = reach(unit, (1, "edge"), (2, "correctness"))
    assert {task.number: reached for task, reached in task_states(unit, state).items()} == {1: BEGUN, 2: DONE}
    assert next_task(unit, state).number == 1
    state = reach(unit)
    assert next_task(unit, state) is None


def test_a_task_that_is_set_up_comes_after_those_that_are_written(tmp_path):
    unit = make(tmp_path, day=DAY.replace("[hints]", '[task_kinds]\n0 = "setup"\n1 = "setup"\n[hints]'))
    assert next_task(unit, Progress.load(tmp_path).state(unit)).number == 2


@pytest.mark.parametrize(("minutes", "tasks"), [(30, (1, 2)), (31, (1,)), (60, (1,)), (600, (1,)), (5, (1, 2))])
def test_a_sitting_is_a_part_of_the_day_of_half_an_hour(tmp_path, minutes, tasks):
    unit = make(tmp_path, day=DAY.replace("30", str(minutes)))
    assert sitting(unit, Progress.load(tmp_path).state(unit)) == tasks


def test_a_sitting_is_what_is_not_done_of_its_part(tmp_path):
    unit = make(tmp_path)
    assert sitting(unit, reach(unit, (1, "correctness"), (1, "edge"))) == (2,)
    assert sitting(unit, reach(unit)) == ()


# Due ----------------------------------------------------------------------------------------------


def test_nothing_is_due_before_a_day_is_done(tmp_path):
    reach(make(tmp_path, day=DAY + QUIZ), (1, "edge"))
    make(tmp_path, "week1/day2")
    assert dues(tmp_path) == []


def test_the_quiz_and_the_note_of_the_day_that_was_done_last_are_due_until_they_are_done(tmp_path):
    reach(make(tmp_path, "week1/day1", day=DAY + QUIZ), when=date(2026, 11, 21))
    reach(make(tmp_path, "week1/day2", day=DAY + QUIZ), when=date(2026, 11, 20))
    make(tmp_path, "week1/day3")
    assert dues(tmp_path) == ["quiz week1/day1", "note week1/day1"]
    journal.add(journal.QUIZ, "week1/day1", {"missed": []}, tmp_path)
    assert dues(tmp_path) == ["note week1/day1"]
    write_note(tmp_path, "week1/day1")
    assert dues(tmp_path) == []


def test_of_two_days_done_on_one_date_the_later_one_counts(tmp_path):
    for name in ("week1/day1", "week1/day2"):
        reach(make(tmp_path, name))
    make(tmp_path, "week1/day3")
    assert dues(tmp_path) == ["note week1/day2"]


def test_a_week_is_reviewed_when_all_its_days_are_done_whatever_its_katas(tmp_path):
    reach(make(tmp_path, "week1/day1"))
    make(tmp_path, "week1/katas/simd", day=DAY.replace("\nminutes", NEEDS + "minutes"))
    make(tmp_path, "week2/day1")
    write_note(tmp_path, "week1/day1")
    assert dues(tmp_path) == ["review week1"]
    write_note(tmp_path, "week1/review")
    assert dues(tmp_path) == []


def test_missed_questions_are_due_on_a_later_day_until_they_are_mended(tmp_path):
    make(tmp_path, day=DAY + QUIZ)
    lanes = "How many lanes has a warp?"
    missed = {"missed": [lanes, "A question of old"], "mended": []}
    journal.add(journal.QUIZ, "week1/day1", missed, tmp_path, when=NOW - timedelta(days=2))
    assert dues(tmp_path, NOW - timedelta(days=2)) == []
    assert dues(tmp_path) == ["quiz --review"]
    journal.add(journal.QUIZ, "week1/day1", {"missed": [], "mended": [lanes]}, tmp_path, when=NOW)
    assert dues(tmp_path) == []


def test_a_kata_is_due_when_all_that_it_needs_is_done(tmp_path):
    day1, day2 = make(tmp_path, "week1/day1"), make(tmp_path, "week1/day2")
    make(tmp_path, "week1/day3")
    kata = make(tmp_path, "week1/katas/simd", day=DAY.replace("\nminutes", NEEDS + "minutes"))
    for name in ("week1/day1", "week1/day2"):
        write_note(tmp_path, name)
    reach(day1)
    assert dues(tmp_path) == []
    reach(day2)
    assert dues(tmp_path) == ["week1/katas/simd"]
    reach(kata, when=date(2026, 11, 19))
    assert dues(tmp_path) == []
    assert dues(tmp_path, NOW + timedelta(days=30)) == ["kata"]  # from an empty page


def test_a_kata_that_is_the_current_unit_is_not_due_beside_itself(tmp_path):
    reach(make(tmp_path, "week1/day1"))
    make(tmp_path, "week1/katas/simd")
    write_note(tmp_path, "week1/day1")
    write_note(tmp_path, "week1/review")
    assert dues(tmp_path) == []


@pytest.mark.parametrize(("needs_gpu", "line"), [
    (True, "Next, on a machine with a GPU: ./course --all"),
    (False, "Every day and kata is done."),
])  # fmt: skip
def test_what_is_left_at_the_end_is_a_gpu_or_nothing(tmp_path, needs_gpu, line):
    unit, progress = make(tmp_path), Progress.load(tmp_path)
    checks = [*CHECKS, Check(2, "speed", needs_gpu)]
    results = [Result(check.task, check.stage, SIMULATED) for check in checks if not check.needs_gpu]
    progress.record(unit, results, file_hash(unit.lesson), date(2026, 11, 20), checks)
    assert whats_left([unit], progress) == line
