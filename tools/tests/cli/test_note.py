"""course note asks three questions, in a terminal or from a pipe, and keeps the answers below the earlier ones."""

import io
import os
from datetime import datetime, timedelta, timezone

import pytest

from tools.cli import note as command
from tools.cli.__main__ import main
from tools.course.learner import diary, journal
from tools.tests.course.miniature import write

PAGE = "journal/week1/day1.md"


def full(*_, **__):
    raise OSError(28, "No space left on device")


class Evening(datetime):
    """It is always this evening: no test fails at midnight."""

    @classmethod
    def now(cls, tz=None):
        return cls(2026, 11, 22, 21, tzinfo=timezone(timedelta(hours=1)))

    def astimezone(self, tz=None):
        return super().astimezone(tz or self.tzinfo)


@pytest.fixture
def note(tmp_path, capsys, monkeypatch):
    """note("a\\nb\\n") -> what `course note week1/day1` prints when that is typed."""
    write(tmp_path)
    monkeypatch.setattr(command, "datetime", Evening)

    def note(typed: str, *day: str) -> str:
        monkeypatch.setattr("sys.stdin", io.StringIO(typed))
        assert main(["note", *day], tmp_path) == 0
        return capsys.readouterr().out

    return note


def test_a_note_from_a_pipe(note, tmp_path):
    assert (
        note("Blocks.\nNo loop.\nTiny n.\n", "week1/day1")
        == """\
week1/day1  Small
One line for each answer; an empty one leaves it out.

What is it? Say it in one sentence, as to a colleague.
  > Blocks.

Why does it work, or why is it fast?
  > No loop.

When would you not use it?
  > Tiny n.

Kept in journal/week1/day1.md. It is yours to edit.
"""
    )
    assert (tmp_path / PAGE).read_text() == (
        "# week1/day1: Small\n\n## 2026-11-22\n\n**What.** Blocks.\n\n**Why.** No loop.\n\n**When not.** Tiny n.\n"
    )
    assert [entry.kind for entry in journal.read(tmp_path)] == ["note"]


def test_without_a_day_it_is_the_current_one(note, tmp_path):
    note("Blocks.\n\n\n")
    assert "**What.** Blocks.\n" in (tmp_path / PAGE).read_text()


def test_a_second_note_stands_below_the_first(note, tmp_path):
    note("One.\n\n\n")
    first = (tmp_path / PAGE).read_text()
    assert "day1.md, below what was there. It is" in note("Two.\n\n\n")
    assert (tmp_path / PAGE).read_text() == f"{first}\n## 2026-11-22\n\n**What.** Two.\n"


@pytest.mark.parametrize("typed", ["Blocks.\n", "Blocks."])
def test_what_was_answered_before_the_end_of_the_input_is_kept(note, tmp_path, typed):
    note(typed)
    assert "**What.** Blocks.\n" in (tmp_path / PAGE).read_text()


def test_so_is_what_was_answered_before_an_interrupt(note, tmp_path, monkeypatch):
    answers = iter(["Blocks."])

    def typed(prompt):
        for answer in answers:
            return answer
        raise KeyboardInterrupt

    monkeypatch.setattr("builtins.input", typed)
    note("")
    assert "**What.** Blocks.\n" in (tmp_path / PAGE).read_text()


@pytest.mark.parametrize("typed", ["", "\n\n\n", "  \n\n \n"])
def test_without_an_answer_nothing_is_written(note, tmp_path, typed):
    assert note(typed).endswith("\nNothing was written.\n")
    assert not (tmp_path / "journal").exists()


def test_a_page_that_cannot_be_written_is_said_before_anything_is_asked(tmp_path, capsys):
    write(tmp_path)
    (tmp_path / "journal").write_text("a file where the folder should be")
    assert main(["note", "week1/day1"], tmp_path) == 2
    assert capsys.readouterr() == ("", "journal/week1/day1.md cannot be written (Not a directory).\n")


def test_so_is_a_full_disk(tmp_path, monkeypatch, capsys):
    write(tmp_path)
    monkeypatch.setattr(os, "fsync", full)
    assert main(["note", "week1/day1"], tmp_path) == 2
    assert capsys.readouterr() == ("", "journal/week1/day1.md cannot be written (No space left on device).\n")
    assert not (tmp_path / "journal").exists()


def test_answers_that_cannot_be_kept_after_all_are_given_back(tmp_path, monkeypatch, capsys):
    write(tmp_path)
    monkeypatch.setattr("sys.stdin", io.StringIO("Blocks.\nNo loop.\n"))
    monkeypatch.setattr(diary, "open", full, raising=False)
    assert main(["note", "week1/day1"], tmp_path) == 2
    printed = capsys.readouterr()
    assert printed.out.endswith("\n\n**What.** Blocks.\n\n**Why.** No loop.\n\n")
    assert printed.err == (
        "journal/week1/day1.md cannot be written (No space left on device).\n"
        "What you wrote stands above: copy it to where it is safe.\n"
    )


def test_a_journal_that_cannot_be_told_costs_a_line_and_no_answer(note, tmp_path, capsys):
    (tmp_path / "journal/journal.jsonl").mkdir(parents=True)
    assert "Kept in journal/week1/day1.md." in note("Blocks.\n")
    assert "**What.** Blocks.\n" in (tmp_path / PAGE).read_text()


def test_a_day_that_does_not_exist_is_said_before_anything_is_asked(tmp_path, capsys):
    write(tmp_path)
    assert main(["note", "week1/day9"], tmp_path) == 2
    printed = capsys.readouterr()
    assert printed.out == "" and printed.err.startswith("There is no day or kata 'week1/day9'.")
