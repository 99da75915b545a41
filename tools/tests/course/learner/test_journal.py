"""The journal keeps one line for each thing that happened, and survives what happens to its file."""

import subprocess
import sys
from datetime import datetime, timedelta, timezone

import pytest

from tools import ROOT
from tools.course.learner import journal
from tools.course.learner.journal import FILE, Entry, NotKept
from tools.tests.course.miniature import LESSON, make

EVENING = datetime(2026, 11, 20, 19, 40, 12, tzinfo=timezone.utc)


def test_an_entry_is_one_line_of_json_with_its_facts_beside_its_time(tmp_path):
    journal.add("passed", "week1/day4", {"task": 2, "state": "simulated", "card": None}, tmp_path, EVENING)
    assert (tmp_path / FILE).read_text() == (
        '{"when": "2026-11-20T19:40:12+00:00", "kind": "passed", "unit": "week1/day4", '
        '"task": 2, "state": "simulated", "card": null}\n'
    )


def test_what_was_added_is_read_oldest_first(tmp_path):
    journal.add("hint", "week1/day4", {"task": 1, "rung": 1}, tmp_path, EVENING)
    journal.add("opened", "week1/day4", {}, tmp_path, EVENING - timedelta(minutes=3))
    read = journal.read(tmp_path)
    assert [(entry.kind, entry.facts) for entry in read] == [("opened", {}), ("hint", {"task": 1, "rung": 1})]
    assert [entry.when for entry in read] == [EVENING - timedelta(minutes=3), EVENING]
    assert (len(read), read.damaged, read.warning) == (2, 0, None)


def test_a_time_is_kept_in_utc_and_now_where_none_is_given(tmp_path):
    india = timezone(timedelta(hours=5, minutes=30))
    journal.add("opened", "week1/day4", {}, tmp_path, EVENING.astimezone(india))
    before = datetime.now(timezone.utc).replace(microsecond=0)
    journal.add("note", "week1/day4", {}, tmp_path)
    (first,), (second,) = (journal.read(tmp_path).of(kind) for kind in ("opened", "note"))
    assert first.when == EVENING and first.when.utcoffset() == timedelta(0)
    assert before <= second.when <= datetime.now(timezone.utc)


def test_entries_are_found_by_kind_and_by_unit(tmp_path):
    for kind, unit in [("opened", "week1/day4"), ("opened", "week1/day5"), ("hint", "week1/day5")]:
        journal.add(kind, unit, {}, tmp_path)
    read = journal.read(tmp_path)
    assert [entry.unit for entry in read.of("opened")] == ["week1/day4", "week1/day5"]
    assert [entry.kind for entry in read.of(unit="week1/day5")] == ["opened", "hint"]
    assert len(read.of("hint", "week1/day4")) == 0 and len(read.of()) == 3


def test_without_a_file_the_journal_is_empty_and_reading_makes_none(tmp_path):
    assert (journal.read(tmp_path).entries, journal.read(tmp_path).warning) == ((), None)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("line", [
    b"{", b"null", b"3", b"[]", b"\xff\xfe", b"<<<<<<< HEAD", b'{"kind": "hint", "unit": "week1/day4"}', b"[" * 9999,
    b'{"when": "yesterday", "kind": "hint", "unit": "week1/day4"}', b'{"when": 3, "kind": "hint", "unit": "a"}',
    b'{"when": "2026-11-20T19:40:12+00:00", "kind": 3, "unit": "week1/day4"}',
    b'{"when": "2026-11-20T19:40:12+00:00", "kind": "hint", "unit": ["week1/day4"]}',
    b'{"when": "0001-01-01T00:00:00+23:59", "kind": "hint", "unit": "week1/day4"}',
])  # fmt: skip
def test_a_damaged_line_is_counted_and_stays_while_all_others_are_read(tmp_path, line):
    journal.add("opened", "week1/day4", {}, tmp_path)
    with open(tmp_path / FILE, "ab") as file:
        file.write(line + b"\n")
    journal.add("note", "week1/day4", {}, tmp_path)
    read = journal.read(tmp_path)
    assert ([entry.kind for entry in read], read.damaged) == (["opened", "note"], 1)
    assert read.warning == f"{FILE} has 1 line that is no entry and was left out."
    assert line in (tmp_path / FILE).read_bytes()


def test_a_line_that_was_cut_short_does_not_take_the_next_one_with_it(tmp_path):
    journal.add("opened", "week1/day4", {}, tmp_path)
    whole = (tmp_path / FILE).read_bytes()
    (tmp_path / FILE).write_bytes(whole + whole[:20])
    journal.add("note", "week1/day4", {}, tmp_path)
    assert [entry.kind for entry in journal.read(tmp_path)] == ["opened", "note"]


def test_windows_ends_of_lines_and_empty_lines_are_no_damage(tmp_path):
    journal.add("opened", "week1/day4", {}, tmp_path)
    (tmp_path / FILE).write_bytes((tmp_path / FILE).read_bytes().replace(b"\n", b"\r\n\r\n"))
    assert (len(journal.read(tmp_path)), journal.read(tmp_path).damaged) == (1, 0)


def test_a_journal_that_cannot_be_written_is_said_in_one_line(tmp_path):
    (tmp_path / "journal").write_text("a file where the folder should be")
    with pytest.raises(NotKept) as raised:
        journal.add("opened", "week1/day4", {}, tmp_path)
    assert str(raised.value) == f"{FILE} cannot be written (File exists)."
    assert journal.read(tmp_path).entries == ()


def test_a_journal_that_cannot_be_read_is_said_in_one_line(tmp_path):
    (tmp_path / FILE).mkdir(parents=True)
    read = journal.read(tmp_path)
    assert (read.entries, read.warning) == ((), f"{FILE} cannot be read (Is a directory).")


@pytest.mark.parametrize(("kind", "facts"), [("opend", {}), ("hint", {"unit": "week1/day5"}), ("hint", {"when": 3})])
def test_what_could_not_be_told_from_another_entry_is_refused(tmp_path, kind, facts):
    with pytest.raises(ValueError, match="not an entry"):
        journal.add(kind, "week1/day4", facts, tmp_path)
    assert not (tmp_path / FILE).exists()


def test_a_figure_that_json_does_not_know_is_refused_before_anything_is_written(tmp_path):
    with pytest.raises(ValueError):
        journal.add("bench", "week1/day4", {"seconds": float("nan")}, tmp_path)
    assert not (tmp_path / FILE).exists()


WRITE_MANY = """
import sys
from pathlib import Path
from tools.course.learner import journal
for number in range(50):
    journal.add("hint", "week1/day4", {"task": number, "text": "x" * 500}, Path(sys.argv[1]))
"""


def test_two_runs_at_once_lose_no_line(tmp_path):
    command = [sys.executable, "-c", WRITE_MANY, str(tmp_path)]
    runs = [subprocess.Popen(command, cwd=ROOT) for _ in range(2)]
    assert [run.wait(60) for run in runs] == [0, 0]
    found = journal.read(tmp_path)
    assert sorted(entry.facts["task"] for entry in found) == sorted(2 * list(range(50)))
    assert not found.damaged


@pytest.mark.parametrize(("value", "wanted"), [(None, True), ("", True), ("1", False), ("true", False)])
def test_continuous_integration_is_no_learner(monkeypatch, value, wanted):
    monkeypatch.delenv("CI", raising=False)
    if value is not None:
        monkeypatch.setenv("CI", value)
    assert journal.wanted() == wanted


def at(minute: float, kind: str = "worked", unit: str = "week1/day4", **facts) -> Entry:
    return Entry(EVENING + timedelta(minutes=minute), kind, unit, facts)


def test_minutes_are_the_gaps_below_a_quarter_of_an_hour(tmp_path):
    sitting = [at(0, "opened"), at(14), at(20, "passed"), at(35), at(36)]
    assert journal.minutes(sitting) == {"week1/day4": 14 + 6 + 1}


def test_the_minutes_before_an_entry_belong_to_its_unit():
    evening = [at(0, "opened"), at(10), at(18, "opened", "week1/day5"), at(20, unit="week1/day5"), at(30, "note")]
    assert journal.minutes(evening) == {"week1/day4": 10 + 10, "week1/day5": 8 + 2}


def test_nothing_done_took_no_time():
    assert journal.minutes([]) == {} and journal.minutes([at(0, "opened")]) == {}


def test_hints_are_counted_by_unit():
    taken = [at(0, "hint"), at(1, "hint"), at(2, "hint", "week1/day5"), at(3)]
    assert journal.hints(taken) == {"week1/day4": 2, "week1/day5": 1}


def test_the_first_green_kernel_counts_from_the_first_entry_of_all():
    entries = [at(0, "opened", "week1/day1"), at(30, "passed", "week1/day1", task=1, kernel=False),
               at(70, "passed", task=2, kernel=True), at(80, "passed", task=3, kernel=True)]  # fmt: skip
    assert journal.first_green_kernel(entries) == timedelta(minutes=70)
    assert journal.first_green_kernel(entries[2:]) == timedelta(0)
    assert journal.first_green_kernel(entries[:2]) is journal.first_green_kernel([]) is None


@pytest.mark.parametrize(("decorator", "tasks"), [
    ("@triton.jit", {2}), ('@cuda.jit("void(f4[:], i4)")', {2}), ("@njit", set()), ("@staticmethod", set()),
])  # fmt: skip
def test_a_kernel_is_what_a_compiler_for_gpus_is_given(tmp_path, decorator, tasks):
    assert journal.kernels(make(tmp_path, lesson=LESSON.replace("@staticmethod", decorator))) == tasks


def test_a_lesson_that_cannot_be_read_has_no_kernels(tmp_path):
    assert journal.kernels(make(tmp_path, lesson="@triton.jit\ndef f(:")) == set()
