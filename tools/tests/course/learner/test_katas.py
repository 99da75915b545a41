"""A kata is due when its ground is laid, and again when it was done long ago."""

from datetime import date, timedelta

import pytest

from tools.course.content import catalogue
from tools.course.learner import katas
from tools.course.learner.katas import RETURN, Ahead, Due
from tools.course.learner.progress import SIMULATED, Check, Progress, Result
from tools.tests.course.miniature import DAY, write

TODAY = date(2026, 11, 20)
CHECKS = [Check(1, "correctness"), Check(2, "correctness")]


@pytest.fixture
def course(tmp_path):
    """Two days and three katas: simd needs day 1, locality both days, and warmup nothing."""
    for name, needs in {"week1/day1": [], "week1/day2": [], "week1/katas/locality": ["week1/day1", "week1/day2"],
                        "week1/katas/simd": ["week1/day1"], "week1/katas/warmup": []}.items():  # fmt: skip
        write(tmp_path, name, day=f"needs = {needs}\n{DAY}".replace("'", '"'))
    return tmp_path


def do(root, name, days_ago=0, tasks=(1, 2)):
    unit = catalogue.unit(name, root)
    results = [Result(task, "correctness", SIMULATED) for task in tasks]
    Progress.load(root).record(unit, results, "hash", TODAY - timedelta(days=days_ago), CHECKS)


def due(root):
    units = catalogue.units(root)
    return [(kata.unit.name.split("/")[-1], kata.since and (TODAY - kata.since).days, kata.again)
            for kata in katas.due(units, Progress.load(root), TODAY)]  # fmt: skip


def test_at_first_only_a_kata_that_needs_nothing_is_due(course):
    assert due(course) == [("warmup", None, False)]


def test_a_kata_is_due_since_the_last_of_its_needs_was_done_the_longest_waiting_first(course):
    do(course, "week1/katas/warmup")
    do(course, "week1/day1", days_ago=5)
    assert due(course) == [("simd", 5, False)]
    do(course, "week1/day2", days_ago=9)
    assert due(course) == [("locality", 5, False), ("simd", 5, False)]
    do(course, "week1/day2", days_ago=3, tasks=(1,))
    assert katas.due(catalogue.units(course), Progress.load(course), TODAY)[0].since == TODAY - timedelta(days=5)


def test_one_that_is_begun_is_due_still(course):
    do(course, "week1/katas/warmup", tasks=(1,))
    assert due(course) == [("warmup", None, False)]


@pytest.mark.parametrize(("days", "expected"), [(RETURN.days - 1, []), (RETURN.days, [("warmup", 14, True)])])
def test_one_that_was_done_comes_back_after_two_weeks(course, days, expected):
    do(course, "week1/katas/warmup", days_ago=days)
    assert due(course) == expected


def test_new_ones_come_before_those_to_do_again(course):
    do(course, "week1/katas/warmup", days_ago=40)
    do(course, "week1/day1", days_ago=2)
    do(course, "week1/katas/locality", days_ago=60)
    assert due(course) == [("simd", 2, False), ("locality", 60, True), ("warmup", 40, True)]


def test_what_is_ahead_names_what_it_waits_for_the_nearest_first(course):
    units = catalogue.units(course)
    ahead = katas.ahead(units, Progress.load(course))
    assert [(kata.unit.folder.name, kata.needs) for kata in ahead] == [
        ("simd", ("week1/day1",)), ("locality", ("week1/day1", "week1/day2"))]  # fmt: skip
    do(course, "week1/day1")
    assert katas.ahead(units, Progress.load(course)) == [Ahead(units[2], ("week1/day2",))]


def test_a_need_that_the_course_does_not_have_is_never_met(course):
    write(course, "week2/katas/far", day=f'needs = ["week2/day1"]\n{DAY}')
    assert "far" not in [name for name, *_ in due(course)]
    assert Due(catalogue.unit("week2/katas/far", course), None) not in katas.due(
        catalogue.units(course), Progress.load(course), TODAY)  # fmt: skip
