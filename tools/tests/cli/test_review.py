"""course review asks about a green week, keeps the scores, and shows what changed since the last review."""

import io
import os
from datetime import date, datetime, timezone

import pytest

from tools.cli.__main__ import main
from tools.course.content import catalogue
from tools.course.learner import diary, journal
from tools.course.learner.progress import SIMULATED, Check, Progress, Result
from tools.tests.course.miniature import write

EARLIER = datetime(2026, 11, 10, 12, tzinfo=timezone.utc)
TYPED = "4\nTwice.\n3\n\n2\nNever right.\n3\nSometimes.\n5\nAlways.\n"


def do(root, name):
    unit = catalogue.unit(name, root)
    Progress.load(root).record(unit, [Result(1, "edge", SIMULATED)], "hash", date.today(), [Check(1, "edge")])


@pytest.fixture
def root(tmp_path):
    for name in ("week1/day1", "week1/day2", "week1/katas/simd", "week2/day1"):
        write(tmp_path, name)
    do(tmp_path, "week1/day1")
    do(tmp_path, "week1/day2")
    return tmp_path


@pytest.fixture
def review(root, capsys, monkeypatch):
    def review(typed: str, week: str = "week1") -> str:
        monkeypatch.setattr("sys.stdin", io.StringIO(typed))
        assert main(["review", week], root) == 0
        return capsys.readouterr().out

    return review


def test_a_first_review(review, root):
    printed = review(TYPED)
    assert printed.startswith("""\
week1: 1 is not yet, 5 is at any time. Then one sentence: what makes you say so?

1. I can explain this week to a colleague, with a pencil and no screen.
  > 4
  > Twice.
""")
    assert printed.endswith("""\

  explain      4
  redo         3
  predict      2
  debug        3
  limits       5

Lowest: predict. ./course count DAY shows what your kernels did; guess before
you look.

Kept in journal/week1/review.md. It is yours to edit.
""")
    (entry,) = journal.read(root)
    assert (entry.kind, entry.unit, len(entry.facts["answers"])) == ("review", "week1", 5)
    assert entry.facts["answers"]["predict"] == {"score": 2, "sentence": "Never right."}
    assert "pencil and no screen. **4** Twice.\n" in (root / "journal/week1/review.md").read_text()


def test_the_next_review_is_compared_with_the_last(review, root):
    scores = {"explain": (2, ""), "redo": (3, ""), "predict": (4, ""), "debug": (1, "")}
    diary.write_review("week1", scores, root, EARLIER)
    assert """\
             week1   now   (week1: 2026-11-10)
  explain        2     4    +2
  redo           3     3
  predict        4     2    -2
  debug          1     3    +2
  limits         -     5
""" in review(TYPED)


def test_what_is_no_score_is_asked_again(review):
    printed = review("six\n6\n0\n\n4\nTwice.\n")
    assert printed.count("    A number, please: 1 to 5.\n") == 4 and "  explain      4\n" in printed


@pytest.mark.parametrize("typed", ["4\nTwice.\n", "4\nTwice.\n3", "4"])
def test_what_was_answered_before_the_end_of_the_input_is_kept(review, root, typed):
    assert "  explain      4\n" in review(typed)
    assert "**4**" in (root / "journal/week1/review.md").read_text()


def test_without_an_answer_nothing_is_written(review, root):
    assert review("").endswith("\nNothing was written.\n")
    assert not (root / "journal").exists()


def test_five_everywhere_needs_no_advice(review):
    assert "Lowest" not in review(5 * "5\n\n")


@pytest.mark.parametrize("week", ["week1", "week1/", "1"])
def test_a_week_may_be_named_in_short(review, week):
    assert review("", week).startswith("week1: 1 is not yet")


@pytest.mark.parametrize(("week", "says"), [
    ("week2", "week2 is not green yet: 1 of 1 days wait, day1.\nNext: ./course week2/day1\n"),
    ("week3", "There is no week 'week3' here. Weeks with days: week1, week2.\n"),
    ("day1", "There is no week 'day1' here. Weeks with days: week1, week2.\n"),
])  # fmt: skip
def test_a_week_that_is_not_green_or_is_none_is_said_before_anything_is_asked(root, capsys, week, says):
    assert main(["review", week], root) == 2
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", says)


def full(*_, **__):
    raise OSError(28, "No space left on device")


def test_a_full_disk_is_said_before_anything_is_asked(root, monkeypatch, capsys):
    monkeypatch.setattr(os, "fsync", full)
    assert main(["review", "week1"], root) == 2
    assert capsys.readouterr() == ("", "journal/week1/review.md cannot be written (No space left on device).\n")


def test_answers_that_cannot_be_kept_after_all_are_given_back(root, monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", io.StringIO(TYPED))
    monkeypatch.setattr(diary, "open", full, raising=False)
    assert main(["review", "week1"], root) == 2
    printed = capsys.readouterr()
    answers = printed.out.split("\n\n")[-2]
    assert answers.count("\n- I ") == 4 and "**" in answers
    assert printed.err.endswith("What you wrote stands above: copy it to where it is safe.\n")


def test_a_page_that_cannot_be_written_is_one_line(root, capsys):
    (root / "journal").write_text("a file where the folder should be")
    assert main(["review", "week1"], root) == 2
    assert capsys.readouterr() == ("", "journal/week1/review.md cannot be written (Not a directory).\n")
