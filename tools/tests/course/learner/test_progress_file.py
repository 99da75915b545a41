"""Nothing that happens to .course/progress.json breaks a run: at worst there is one line to read."""

import json
import os
import subprocess
import sys
from datetime import date, datetime, timezone

import pytest

from tools import ROOT
from tools.course.learner import journal
from tools.course.learner import progress as module
from tools.course.learner.progress import CONFIRMED, SIMULATED, Check, Progress, Result
from tools.tests.course.miniature import make

FILE = ".course/progress.json"
DAMAGED = ".course/progress.json was damaged; it is now .course/progress.broken.json, and {}."


def store(root, content: bytes | str):
    (root / FILE).parent.mkdir()
    (root / FILE).write_bytes(content if isinstance(content, bytes) else content.encode())


def use(root, unit) -> Progress:
    """Everything a run does with progress."""
    progress = Progress.load(root)
    results = [Result(1, "correctness", SIMULATED), Result(1, "speed", CONFIRMED, "NVIDIA H200")]
    progress.record(unit, results, "hash", date(2026, 11, 20), [Check(1, "correctness"), Check(1, "speed", True)])
    progress.show_hint(unit, 1)
    assert progress.hint_shown(unit, 1) == 1
    assert progress.state(unit).overall == CONFIRMED
    assert progress.current([unit]) is None
    return progress


def test_nothing_is_written_before_there_is_something_to_remember(tmp_path):
    assert Progress.load(tmp_path).warning is None
    assert list(tmp_path.iterdir()) == []


def test_what_was_recorded_is_there_for_the_next_run(tmp_path):
    unit = make(tmp_path)
    before, after = use(tmp_path, unit), Progress.load(tmp_path)
    assert (before.warning, after.warning) == (None, None)
    assert after.state(unit) == before.state(unit)
    assert sorted(file.name for file in (tmp_path / ".course").iterdir()) == ["progress.json", "progress.lock"]


GOOD_ENTRY = {"task": 1, "stage": "edge", "state": "simulated", "card": None, "date": "2026-11-20", "hash": "0"}
GOOD = {"entries": [GOOD_ENTRY], "checks": [{"task": 1, "stage": "edge", "needs_gpu": False}], "hints": {"1": 2}}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b"[]",
        b"null",
        b"3",
        b'{"version": 1}',
        b'{"version": 1, "units": []}',
        b'{"version": "1", "units": {}}',
        b'{"version": 0, "units": {}}',
        b"[" * 100_000,
        b'{"version": ' + b"9" * 5000 + b', "units": {}}',
    ],
    ids=lambda content: content[:30].decode("latin-1") or "empty",
)
def test_a_damaged_file_is_set_aside_and_progress_starts_anew(tmp_path, content):
    unit = make(tmp_path)
    store(tmp_path, content)
    assert use(tmp_path, unit).warning == DAMAGED.format("progress starts anew")
    assert (tmp_path / ".course/progress.broken.json").read_bytes() == content
    assert Progress.load(tmp_path).warning is None


@pytest.mark.parametrize(
    "record",
    [
        None,
        [],
        {},
        {**GOOD, "entries": {}, "hints": []},
        {**GOOD, "entries": [3]},
        {**GOOD, "entries": [{**GOOD_ENTRY, "task": "1"}]},
        {**GOOD, "entries": [{**GOOD_ENTRY, "stage": []}]},
        {**GOOD, "entries": [{**GOOD_ENTRY, "state": "solved"}]},
        {**GOOD, "entries": [{**GOOD_ENTRY, "state": "confirmed"}]},
        {**GOOD, "entries": [{**GOOD_ENTRY, "date": "yesterday"}]},
        {**GOOD, "entries": [{**GOOD_ENTRY, "date": 3}]},
        {**GOOD, "entries": [{**GOOD_ENTRY, "mood": "fine"}]},
        {**GOOD, "checks": [{"task": 1}]},
        {**GOOD, "checks": 3},
        {**GOOD, "hints": {"one": 1}},
        {**GOOD, "hints": {"1": -1}},
        {**GOOD, "hints": {"1": "2"}},
    ],
    ids=str,
)
def test_a_damaged_unit_costs_that_unit_only(tmp_path, record):
    damaged, sound = make(tmp_path, "week1/day1"), make(tmp_path, "week1/day2")
    store(tmp_path, json.dumps({"version": 1, "units": {damaged.name: record, sound.name: GOOD}}))
    progress = Progress.load(tmp_path)
    assert progress.warning == DAMAGED.format("what could be read is kept")
    assert (progress.state(damaged).overall, progress.hint_shown(damaged, 1)) == ("open", 0)
    for later in (progress, use(tmp_path, damaged)):
        assert (later.state(sound).overall, later.hint_shown(sound, 1)) == ("passed", 2)


@pytest.mark.parametrize("plan", [3, [], {}, {"start": "week1/day2"}, {"start": 3, "track": "quick"},
                                  {"start": "week1/day2", "track": "quick", "mood": "fine"}], ids=str)  # fmt: skip
def test_a_damaged_plan_costs_the_plan_only(tmp_path, plan):
    unit = make(tmp_path)
    store(tmp_path, json.dumps({"version": 1, "units": {unit.name: GOOD}, "plan": plan}))
    progress = Progress.load(tmp_path)
    assert progress.warning == DAMAGED.format("what could be read is kept")
    assert (progress.plan, progress.hint_shown(unit, 1)) == (None, 2)


def test_a_unit_that_this_checkout_lacks_is_kept(tmp_path):
    unit = make(tmp_path)
    store(tmp_path, json.dumps({"version": 1, "units": {"week4/day7": GOOD}}))
    use(tmp_path, unit)
    assert json.loads((tmp_path / FILE).read_text())["units"]["week4/day7"] == GOOD


def test_a_folder_in_place_of_the_file_is_set_aside(tmp_path):
    unit = make(tmp_path)
    (tmp_path / FILE / "inside").mkdir(parents=True)
    assert use(tmp_path, unit).warning == DAMAGED.format("progress starts anew")
    assert (tmp_path / ".course/progress.broken.json/inside").is_dir()


# Out of reach: only this run remembers -------------------------------------------------------------


def assert_left_alone(root, unit, reason):
    progress = use(root, unit)
    assert progress.warning == f"Progress is not kept in .course/progress.json: {reason}."
    assert Progress.load(root).hint_shown(unit, 1) == 0


def test_a_file_of_a_newer_course_is_left_alone(tmp_path):
    unit, content = make(tmp_path), '{"version": 2, "units": {}}'
    store(tmp_path, content)
    assert_left_alone(tmp_path, unit, "it comes from a newer version of the course; update this one")
    assert (tmp_path / FILE).read_text() == content


def test_a_file_in_place_of_the_folder_is_left_alone(tmp_path):
    unit = make(tmp_path)
    (tmp_path / ".course").write_text("mine")
    assert_left_alone(tmp_path, unit, "it cannot be written (File exists)")
    assert (tmp_path / ".course").read_text() == "mine"


def test_a_damaged_file_that_cannot_be_set_aside_is_left_alone(tmp_path):
    unit = make(tmp_path)
    store(tmp_path, "{")
    (tmp_path / ".course/progress.broken.json/inside").mkdir(parents=True)
    assert_left_alone(tmp_path, unit, "it is damaged and cannot be set aside (Is a directory)")
    assert (tmp_path / FILE).read_text() == "{"


bound_by_permissions = pytest.mark.skipif(
    os.name != "posix" or os.geteuid() == 0, reason="needs a user whom file permissions bind"
)


@bound_by_permissions
@pytest.mark.parametrize("folder", [".", ".course"])
def test_a_folder_that_may_not_be_written_is_left_alone(tmp_path, folder):
    unit = make(tmp_path)
    (tmp_path / folder).mkdir(exist_ok=True)
    (tmp_path / folder).chmod(0o555)
    assert_left_alone(tmp_path, unit, "it cannot be written (Permission denied)")


@bound_by_permissions
def test_a_file_that_may_not_be_read_is_left_alone(tmp_path):
    unit = make(tmp_path)
    store(tmp_path, "{}")
    (tmp_path / FILE).chmod(0)
    assert_left_alone(tmp_path, unit, "it cannot be read (Permission denied)")


# Two runs at once ---------------------------------------------------------------------------------


def test_a_run_keeps_what_another_wrote_meanwhile(tmp_path):
    unit = make(tmp_path)
    first, second = Progress.load(tmp_path), Progress.load(tmp_path)
    first.show_hint(unit, 1)
    second.show_hint(unit, 2)
    second.record(unit, [Result(1, "edge", SIMULATED)], "hash", date(2026, 11, 20))
    first.show_hint(unit, 1)
    both = Progress.load(tmp_path).state(unit)
    assert both.hints == {1: 2, 2: 1}
    assert both.entries.keys() == {(1, "edge")}


@pytest.mark.parametrize("lost", ["nothing", "fcntl"])  # as on Windows
def test_processes_that_write_at_the_same_time_lose_nothing(tmp_path, lost):
    unit = make(tmp_path)
    script = (
        f"import sys; sys.modules[{lost!r}] = None; "
        "from pathlib import Path; from tools.course.content import catalogue; "
        "from tools.course.learner.progress import Progress; root = Path(sys.argv[1]); "
        "unit = catalogue.unit('week1/day1', root); progress = Progress.load(root); "
        "[progress.show_hint(unit, 1) for _ in range(25)]; sys.exit(progress.warning)"
    )
    runs = [subprocess.Popen([sys.executable, "-c", script, str(tmp_path)], cwd=ROOT) for _ in range(3)]
    assert [run.wait(timeout=300) for run in runs] == [0, 0, 0]
    assert Progress.load(tmp_path).hint_shown(unit, 1) == 75


def test_a_lock_that_is_never_released_does_not_hang_a_run(tmp_path, monkeypatch):
    fcntl = pytest.importorskip("fcntl")
    monkeypatch.setattr(module, "PATIENCE", 0.05)
    unit = make(tmp_path)
    (tmp_path / ".course").mkdir()
    with open(tmp_path / ".course/progress.lock", "w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert use(tmp_path, unit).warning is None
    assert Progress.load(tmp_path).hint_shown(unit, 1) == 1


# Rebuilt from the journal -------------------------------------------------------------------------


def told(root, unit, kind="passed", **facts):
    journal.add(kind, unit.name, facts, root, datetime(2026, 11, 9, 12, tzinfo=timezone.utc))


def test_a_damaged_file_is_rebuilt_from_the_journal_as_far_as_that_goes(tmp_path):
    day1, day2, day3 = (make(tmp_path, f"week1/day{number}") for number in (1, 2, 3))
    told(tmp_path, day1, task=1, state="passed", card=None, kernel=False)
    told(tmp_path, day1, task=2, state="simulated", card=None, kernel=True)
    told(tmp_path, day1, "hint", task=2, rung=1)
    told(tmp_path, day1, "hint", task=2, rung=2)
    told(tmp_path, day2, task=1, state="passed here", card=None, kernel=False)
    told(tmp_path, day3, task=1, state="confirmed", card="NVIDIA H200", kernel=True)
    told(tmp_path, day3, task=2, state="confirmed", card="NVIDIA H200", kernel=True)
    store(tmp_path, "{")
    progress = Progress.load(tmp_path)
    assert progress.warning == DAMAGED.format("what the journal tells is taken over")
    one, two, three = map(progress.state, (day1, day2, day3))
    assert (one.overall, one.done, one.hints, one.edited) == ("simulated", {1, 2}, {2: 2}, False)
    assert (two.overall, two.done) == ("started", {1})
    assert (three.overall, three.confirmation.card, three.confirmation.date) == (CONFIRMED, "NVIDIA H200", "2026-11-09")
    again = Progress.load(tmp_path)
    assert again.warning is None and again.state(day1) == one


def test_what_could_be_read_counts_and_the_journal_tells_the_rest(tmp_path):
    sound, lost = make(tmp_path, "week1/day1"), make(tmp_path, "week1/day2")
    told(tmp_path, sound, task=2, state="passed", card=None, kernel=False)
    told(tmp_path, lost, task=1, state="passed", card=None, kernel=False)
    store(tmp_path, json.dumps({"version": 1, "units": {sound.name: GOOD, lost.name: None}}))
    progress = Progress.load(tmp_path)
    both = "what could be read is kept, and what the journal tells is taken over"
    assert progress.warning == DAMAGED.format(both)
    assert (progress.state(sound).done, progress.state(lost).done) == ({1}, {1})


@pytest.mark.parametrize("facts", [{"task": "1", "state": "passed"}, {"task": 9, "state": "passed"}, {"task": 1},
                                   {"task": 1, "state": ["passed"]}, {}], ids=str)  # fmt: skip
def test_an_entry_of_another_form_tells_nothing(tmp_path, facts):
    unit = make(tmp_path)
    told(tmp_path, unit, **facts)
    told(tmp_path, make(tmp_path, "week1/day2"), "hint", task=[1], rung="2")
    journal.add("passed", "week9/day9", {"task": 1, "state": "passed"}, tmp_path)
    store(tmp_path, "{")
    progress = Progress.load(tmp_path)
    assert progress.warning == DAMAGED.format("progress starts anew")
    assert progress.state(unit).overall == "open"
