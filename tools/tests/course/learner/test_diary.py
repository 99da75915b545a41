"""What a learner writes is added to, never rewritten, and the journal hears of it."""

import io
from datetime import datetime, timezone

import pytest

from tools.course.learner import diary, journal
from tools.course.learner.journal import NotKept

EVENING = datetime(2026, 11, 20, 19, 40, tzinfo=timezone.utc)
NOTE, REVIEW = "journal/week1/day4.md", "journal/week1/review.md"


def note(root, **answers):
    diary.write_note("week1/day4", "Your first Triton kernel", answers, root, EVENING)


def test_a_first_note_begins_the_page(tmp_path):
    diary.write_note("week1/day4", "First", {"What": "Blocks.", "Why": "", "When not": "Tiny n."}, tmp_path, EVENING)
    assert (
        (tmp_path / NOTE).read_text()
        == """\
# week1/day4: First

## 2026-11-20

**What.** Blocks.

**When not.** Tiny n.
"""
    )
    (entry,) = journal.read(tmp_path)
    assert (entry.kind, entry.unit, entry.facts) == ("note", "week1/day4", {"answers": 2})


@pytest.mark.parametrize("before", [b"", b"mine", b"# mine\r\n\r\nold\xff\r\n", "größer\n".encode()])
def test_what_is_there_stays_to_the_last_byte(tmp_path, before):
    (tmp_path / "journal/week1").mkdir(parents=True)
    (tmp_path / NOTE).write_bytes(before)
    note(tmp_path, What="New.")
    after = (tmp_path / NOTE).read_bytes()
    assert after.startswith(before) and after.endswith(b"\n\n## 2026-11-20\n\n**What.** New.\n")


def test_a_katas_note_has_its_own_folder(tmp_path):
    diary.write_note("week1/katas/simd", "Small", {"What": "x"}, tmp_path, EVENING)
    assert (tmp_path / "journal/week1/katas/simd.md").exists()


def test_a_page_that_cannot_be_written_is_said_in_one_line_and_the_journal_says_nothing(tmp_path):
    (tmp_path / NOTE).mkdir(parents=True)
    with pytest.raises(NotKept, match=r"^journal/week1/day4.md cannot be written \(Is a directory\).$"):
        note(tmp_path, What="x")
    assert len(journal.read(tmp_path)) == 0


def test_a_review_is_kept_as_a_list_and_as_scores(tmp_path):
    diary.write_review("week1", {"explain": (4, "I did, twice."), "redo": (2, "")}, tmp_path, EVENING)
    assert (
        (tmp_path / REVIEW).read_text()
        == f"""\
# week1: review

## 2026-11-20

- {diary.REVIEW["explain"]} **4** I did, twice.
- {diary.REVIEW["redo"]} **2**
"""
    )
    assert diary.last_review(journal.read(tmp_path)) == ("week1", EVENING, {"explain": 4, "redo": 2})


def test_the_last_review_is_the_newest_that_can_be_read(tmp_path):
    assert diary.last_review(journal.read(tmp_path)) is None
    diary.write_review("week1", {"explain": (1, "")}, tmp_path, EVENING.replace(day=22))
    diary.write_review("week2", {"explain": (5, "")}, tmp_path, EVENING)
    for answers in (3, {}, {"explain": 3}, {"explain": {"score": "3"}}, {"other": {"score": 3}}):
        journal.add("review", "week3", {"answers": answers}, tmp_path, EVENING.replace(day=25))
    assert diary.last_review(journal.read(tmp_path)) == ("week1", EVENING.replace(day=22), {"explain": 1})


def test_there_are_five_questions_for_every_week_and_three_for_every_day():
    assert (len(diary.REVIEW), len(diary.NOTE)) == (5, 3)


def test_a_page_that_could_be_written_in_part_only_is_as_it_was(tmp_path, monkeypatch):
    diary.write_note("week1/day4", "First", {"What": "Blocks."}, tmp_path, EVENING)
    before = (tmp_path / "journal/week1/day4.md").read_bytes()

    class Filling(io.FileIO):
        def write(self, text):
            super().write(text[:5])
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(diary, "open", Filling, raising=False)
    with pytest.raises(NotKept, match="No space left on device"):
        diary.write_note("week1/day4", "First", {"What": "Tiles."}, tmp_path, EVENING)
    assert (tmp_path / "journal/week1/day4.md").read_bytes() == before


def test_checking_a_page_leaves_nothing_behind(tmp_path):
    diary.check("journal/week1/day4.md", tmp_path)
    assert list(tmp_path.iterdir()) == []
