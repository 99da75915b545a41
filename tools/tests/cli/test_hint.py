"""course hint shows one rung, for the task that is next unless another is named."""

from datetime import date

import pytest

from tools.cli.__main__ import main
from tools.course.learner import journal
from tools.course.learner.progress import SIMULATED, Check, Progress, Result, file_hash
from tools.tests.course.miniature import DAY, make, write


@pytest.fixture
def hint(tmp_path, capsys, monkeypatch):
    """hint("week1/day1", "2") -> exit code, output and errors of `course hint week1/day1 2`."""
    monkeypatch.delenv("CI", raising=False)

    def hint(*arguments: str) -> tuple[int, str, str]:
        code = main(["hint", *arguments], tmp_path)
        return code, *capsys.readouterr()

    return hint


def finish(unit, *tasks):
    checks = [Check(task.number, "correctness") for task in unit.tasks]
    results = [Result(task, "correctness", SIMULATED) for task in tasks]
    Progress.load(unit.root).record(unit, results, file_hash(unit.lesson), date(2026, 11, 20), checks)


def test_a_hint_says_which_it_is_where_its_task_is_and_one_thing(tmp_path, hint):
    write(tmp_path)
    assert hint("week1/day1", "1") == (0, """\
week1/day1: hint 1 of 3 for task 1
  week1/day1/small.py:9  double, halve

  one?
""", "")  # fmt: skip


def test_rungs_come_one_by_one_and_the_journal_hears_of_each(tmp_path, hint):
    write(tmp_path)
    shown = [hint("week1/day1", "1")[1].splitlines() for _ in range(4)]
    assert [lines[-1] for lines in shown] == ["  one?", "  two", "  three", "  three"]
    assert shown[3][0] == "week1/day1: hint 3 of 3 for task 1, the last one, again"
    assert [entry.facts["rung"] for entry in journal.read(tmp_path).of("hint")] == [1, 2, 3]


def test_without_a_task_it_is_the_first_that_is_not_done(tmp_path, hint):
    unit = make(tmp_path)
    assert "hint 1 of 3 for task 1\n" in hint("week1/day1")[1]
    finish(unit, 1)
    assert "hint 1 of 3 for task 2\n" in hint("week1/day1")[1]


def test_without_a_day_it_is_the_current_one_and_a_number_alone_is_a_task_of_it(tmp_path, hint):
    finish(make(tmp_path), 1, 2)
    write(tmp_path, "week1/day2")
    assert hint()[1].startswith("week1/day2: hint 1 of 3 for task 1\n")
    assert hint("2")[1].startswith("week1/day2: hint 1 of 3 for task 2\n")


def test_without_a_day_it_is_the_one_that_was_worked_on_last(tmp_path, hint):
    write(tmp_path, "week1/day0")
    write(tmp_path, "week1/day1")
    journal.add("opened", "week1/day1", {}, tmp_path)
    assert hint()[1].startswith("week1/day1: hint 1 of 3 for task 1\n")


@pytest.mark.parametrize("columns", [40, 80])
def test_a_long_hint_fits_the_screen_and_no_word_of_it_is_broken(columns, tmp_path, hint, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(columns))
    words = [*["word"] * 40, "tl.load(x_ptr+offsets,mask=", "`mask = offsets < n`", "a-long-word-with-hyphens-in-it"]
    write(tmp_path, day=DAY.replace('"one?"', f'"{" ".join(words)}"'))
    _, *lines = hint("week1/day1")[1].splitlines()
    assert max(map(len, lines)) <= columns
    assert all(any(word in line for line in lines) for word in words)


@pytest.mark.parametrize(("arguments", "says"), [
    (["week1/day9"], "There is no day or kata 'week1/day9'. Did you mean week1/day1?\n"),
    (["week1/day1", "7"], "week1/day1 has no hints for task 7; tasks with hints: 1, 2.\n"),
    (["7", "1"], "There is no day or kata '7'. ./course status lists them.\n"),
    (["7"], "week1/day1 has no hints for task 7; tasks with hints: 1, 2.\n"),
])  # fmt: skip
def test_a_hint_that_does_not_exist_is_said_in_one_line(tmp_path, hint, arguments, says):
    write(tmp_path)
    assert hint(*arguments) == (2, "", says)
    assert not (tmp_path / "journal").exists()


def test_when_every_task_is_done_a_task_must_be_named(tmp_path, hint):
    finish(make(tmp_path), 1, 2)
    says = ("Every task of week1/day1 is done. To read a hint all the same, name the task:\n"
            "./course hint week1/day1 2\n")  # fmt: skip
    assert hint("week1/day1") == (2, "", says)
    assert hint("week1/day1", "2")[0] == 0
