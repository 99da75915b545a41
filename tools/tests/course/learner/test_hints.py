"""Hints come one rung at a time, are remembered, and end with the last."""

import pytest

from tools.course.learner import journal
from tools.course.learner.hints import NoHints, next_rung
from tools.course.learner.progress import Progress
from tools.tests.course.miniature import make


def test_rungs_come_in_order_and_the_last_one_again(tmp_path):
    unit, progress = make(tmp_path), Progress.load(tmp_path)
    rungs = [next_rung(unit, 1, progress) for _ in range(5)]
    assert [rung.text for rung in rungs] == ["one?", "two", "three", "three", "three"]
    assert [rung.heading for rung in rungs] == [
        "Hint 1 of 3 for task 1",
        "Hint 2 of 3 for task 1",
        "Hint 3 of 3 for task 1",
        "Hint 3 of 3 for task 1, the last one, again",
        "Hint 3 of 3 for task 1, the last one, again",
    ]


def test_each_task_has_a_ladder_of_its_own(tmp_path):
    unit, progress = make(tmp_path), Progress.load(tmp_path)
    next_rung(unit, 1, progress)
    assert next_rung(unit, 2, progress).text == "uno?"


def test_the_next_run_goes_on_where_this_one_stopped(tmp_path):
    unit = make(tmp_path)
    assert [next_rung(unit, 2, Progress.load(tmp_path)).text for _ in range(4)] == ["uno?", "dos", "tres", "tres"]


def test_seeing_the_last_rung_again_is_not_counted(tmp_path):
    unit, progress = make(tmp_path), Progress.load(tmp_path)
    for _ in range(7):
        next_rung(unit, 1, progress)
    assert progress.hint_shown(unit, 1) == 3


@pytest.mark.parametrize(
    ("day", "says"),
    [
        ({}, "week1/day1 has no hints for task 9; tasks with hints: 1, 2."),
        ({"day": 'title = "Bare"\nminutes = 5\n'}, "week1/day1 has no hints for task 9; tasks with hints: none."),
    ],
)
def test_a_task_without_hints_is_named_with_those_that_have_some(tmp_path, day, says):
    unit = make(tmp_path, **day)
    with pytest.raises(NoHints) as caught:
        next_rung(unit, 9, Progress.load(tmp_path))
    assert str(caught.value) == says


def test_the_journal_hears_of_each_new_rung_but_not_of_one_shown_again(tmp_path, monkeypatch):
    monkeypatch.delenv("CI", raising=False)
    unit, progress = make(tmp_path, "week1/katas/tiny"), Progress.load(tmp_path)
    for _ in range(4):
        next_rung(unit, 2, progress)
    told = [(entry.kind, entry.unit, entry.facts) for entry in journal.read(tmp_path)]
    assert told == [("hint", "week1/katas/tiny", {"task": 2, "rung": rung}) for rung in (1, 2, 3)]


def test_a_hint_is_shown_where_no_journal_can_be_kept(tmp_path, monkeypatch):
    monkeypatch.delenv("CI", raising=False)
    unit = make(tmp_path)
    (tmp_path / "journal").write_text("a file where the folder should be")
    assert next_rung(unit, 1, Progress.load(tmp_path)).text == "one?"


def test_continuous_integration_leaves_no_journal(tmp_path, monkeypatch):
    monkeypatch.setenv("CI", "true")
    next_rung(make(tmp_path), 1, Progress.load(tmp_path))
    assert not (tmp_path / "journal").exists()
