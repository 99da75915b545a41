"""A run of a unit's tests leaves in the journal what is new: opened, passed, and now and then that work goes on."""

from datetime import date, datetime, timedelta, timezone

import pytest

from tools.course.learner import activity, journal
from tools.course.learner.progress import CONFIRMED, OPEN, SIMULATED, Check, Progress, Result
from tools.tests.course.miniature import LESSON, make

MORNING = datetime(2026, 11, 20, 9, 0, tzinfo=timezone.utc)
CARD = "NVIDIA H200"
CHECKS = [Check(1, "correctness"), Check(2, "correctness"), Check(2, "speed", needs_gpu=True)]


@pytest.fixture
def visit(tmp_path):
    """visit(results, minute) -> what a run that began then adds to the journal."""
    unit = make(tmp_path, lesson=LESSON.replace("@staticmethod", "@cuda.jit"))

    def visit(results=(), minute=0, among=1):
        before = journal.read(tmp_path).entries
        progress = Progress.load(tmp_path)
        progress.record(unit, results, "hash", date(2026, 11, 20), CHECKS)
        activity.enter(unit, progress.state(unit), MORNING + timedelta(minutes=minute), tmp_path, among)
        return [entry for entry in journal.read(tmp_path) if entry not in before]

    return visit


def result(task, state=SIMULATED, stage="correctness"):
    return Result(task, stage, state, CARD if state == CONFIRMED else None)


def test_the_first_run_opens_the_unit_at_the_time_it_began(visit):
    (opened,) = visit()
    assert (opened.kind, opened.unit, opened.when, opened.facts) == ("opened", "week1/day1", MORNING, {})
    assert visit() == []


def test_a_task_that_passes_is_told_once_whatever_comes_later(visit):
    visit()
    (passed,) = visit([result(1)])
    assert passed.facts == {"task": 1, "state": "passed", "card": None, "kernel": False}
    assert visit([result(1)]) == visit([result(1, OPEN)]) == visit([result(1)]) == []


def test_a_task_with_gpu_tests_is_simulated_and_later_confirmed_on_a_card(visit):
    visit()
    (simulated,) = visit([result(2)])
    (confirmed,) = visit([result(2), result(2, CONFIRMED, "speed")])
    assert simulated.facts == {"task": 2, "state": "simulated", "card": None, "kernel": True}
    assert confirmed.facts == {"task": 2, "state": "confirmed", "card": CARD, "kernel": True}


def test_a_first_run_may_open_a_unit_and_pass_it(visit):
    assert [entry.kind for entry in visit([result(1), result(2)])] == ["opened", "passed", "passed"]


@pytest.mark.parametrize(("minute", "kinds"), [(3, []), (5, ["worked"]), (600, ["worked"])])
def test_a_run_some_minutes_after_the_last_entry_says_that_work_goes_on(visit, minute, kinds):
    visit()
    assert [entry.kind for entry in visit(minute=minute)] == kinds
    assert visit(minute=minute + 1) == []


def test_an_hour_of_runs_adds_up_to_an_hour(visit, tmp_path):
    for minute in range(0, 61, 3):
        visit(minute=minute)
    assert journal.minutes(journal.read(tmp_path)) == {"week1/day1": 60}


def test_other_units_do_not_matter(visit, tmp_path):
    journal.add("opened", "week1/day2", {}, tmp_path, MORNING)
    journal.add("passed", "week1/day2", {"task": 1, "state": "passed"}, tmp_path, MORNING)
    assert [entry.kind for entry in visit([result(1)])] == ["opened", "passed"]


def test_coming_back_from_another_unit_is_told_at_once(visit, tmp_path):
    visit()
    journal.add("opened", "week1/day2", {}, tmp_path, MORNING + timedelta(minutes=1))
    assert [entry.kind for entry in visit(minute=2)] == ["worked"]
    assert visit(minute=3) == []


def test_a_run_of_many_units_says_so_and_is_no_return(visit, tmp_path):
    (opened,) = visit(among=9)
    assert opened.facts == {"among": 9}
    journal.add("opened", "week1/day2", {}, tmp_path, MORNING + timedelta(minutes=1))
    assert visit(minute=2, among=9) == []
    (passed,) = visit([result(1)], minute=3, among=9)
    assert passed.facts["among"] == 9
