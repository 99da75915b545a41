"""The journal of quizzes: what was missed stays missed until it is mended."""

from datetime import datetime, timezone

import pytest

from tools.course.content.day_file import Question
from tools.course.content.quiz import Asked, Verdict
from tools.course.learner import quizzes
from tools.course.learner.journal import Entry
from tools.tests.course.miniature import make


def quizzed(*rounds: tuple[list[str], list[str]]) -> list[Entry]:
    """The journal after quizzes that missed and mended these."""
    when = datetime(2026, 11, 20, tzinfo=timezone.utc)
    return [Entry(when, "quiz", "week1/day1", {"missed": missed, "mended": mended}) for missed, mended in rounds]


def test_what_was_missed_counts_until_it_is_mended_and_the_newest_miss_comes_first():
    assert quizzes.missed(quizzed((["a", "b"], []), (["c"], ["a"]))) == ["c", "b"]
    assert quizzes.missed(quizzed((["a", "b"], []), (["a"], []))) == ["a", "b"]
    assert quizzes.missed(quizzed((["a"], []), ([], ["a"]), (["a"], []))) == ["a"]
    assert quizzes.missed([]) == []


@pytest.mark.parametrize("facts", [{}, {"missed": "a"}, {"missed": None}, {"missed": [3, None]}])
def test_a_journal_that_somebody_edited_is_read_as_far_as_it_makes_sense(facts):
    entry = Entry(datetime(2026, 11, 20, tzinfo=timezone.utc), "quiz", "week1/day1", facts)
    assert quizzes.missed([entry]) == []


def test_the_journal_keeps_what_was_missed_and_what_was_mended(tmp_path):
    unit = make(tmp_path)
    asked = [Asked(unit, Question(text, number=1, why="Because.")) for text in ("1a", "1b", "1c", "1d")]
    verdicts = [Verdict(False, ""), Verdict(True, ""), Verdict(True, "")]  # stopped before the fourth
    assert quizzes.facts("review", asked, verdicts, ["1b", "1d", "1a"]) == {
        "mode": "review", "right": 2, "asked": 3, "missed": ["1a"], "mended": ["1b"],
    }  # fmt: skip
