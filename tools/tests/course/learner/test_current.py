"""The unit that a learner is at: the one worked on last, until it is done; then what comes after it."""

from datetime import date, datetime, timedelta, timezone

import pytest

from tools.course.content import catalogue
from tools.course.learner import journal
from tools.course.learner.current import current, following
from tools.course.learner.progress import Check, Plan, Progress, Result
from tools.tests.course.miniature import DAY, DIAGNOSTIC, write

BEGAN = datetime(2026, 11, 20, 9, 0, tzinfo=timezone.utc)
NAMES = ["week1/day0", "week1/day1", "week1/day2", "week1/katas/locality", "week2/day1"]


class Course:
    """A course and what was done in it, a minute each."""

    def __init__(self, root):
        self.root, self.minute = root, 0
        for name in NAMES:
            write(root, name, day=DAY + DIAGNOSTIC if name == "week1/day0" else DAY)
        self.units = {unit.name: unit for unit in catalogue.units(root)}

    def tell(self, kind, name, **facts):
        self.minute += 1
        journal.add(kind, name, facts, self.root, BEGAN + timedelta(minutes=self.minute))

    def finish(self, name):
        results = [Result(1, "correctness", "simulated"), Result(2, "correctness", "simulated")]
        Progress.load(self.root).record(
            self.units[name], results, "hash", date(2026, 11, 20), [Check(1, "correctness"), Check(2, "correctness")]
        )

    def here(self):
        unit = current(list(self.units.values()), Progress.load(self.root), journal.read(self.root))
        return unit and unit.name

    def after(self, name):
        unit = following(self.units[name], list(self.units.values()), Progress.load(self.root))
        return unit and unit.name


@pytest.fixture
def course(tmp_path):
    return Course(tmp_path)


def test_before_any_work_it_is_the_first_day(course):
    assert course.here() == "week1/day0"


@pytest.mark.parametrize("kind", ["opened", "worked", "passed", "hint"])
def test_a_day_that_was_worked_on_last_is_it_until_it_is_done(course, kind):
    course.tell("opened", "week1/day0")
    course.tell(kind, "week1/day2")
    assert course.here() == "week1/day2"
    course.finish("week1/day2")
    assert course.here() != "week1/day2"


def test_a_day_that_was_passed_over_comes_after_all_that_lie_ahead(course):
    for name, after in (
        ("week1/day1", "week1/day2"),
        ("week1/day2", "week2/day1"),
        ("week2/day1", "week1/day0"),
        ("week1/day0", "week1/katas/locality"),
        ("week1/katas/locality", None),
    ):
        course.tell("opened", name)
        course.finish(name)
        assert course.here() == course.after(name) == after


def test_after_a_kata_it_goes_on_where_the_learner_was(course):
    course.tell("opened", "week1/day2")
    course.tell("opened", "week1/katas/locality")
    assert course.here() == "week1/katas/locality"
    course.finish("week1/katas/locality")
    assert course.here() == "week1/day2"


@pytest.mark.parametrize("kind", ["count", "bench", "quiz", "note"])
def test_looking_is_not_working(course, kind):
    course.tell("opened", "week1/day1")
    course.tell(kind, "week1/day2")
    assert course.here() == "week1/day1"


def test_a_quiz_that_says_where_to_begin_is_followed_until_there_is_newer_work(course):
    course.tell("opened", "week1/day0")
    course.tell("quiz", "week1/day0")
    assert course.here() == "week1/day0"  # it was stopped half-way, and said nothing
    Progress.load(course.root).follow(Plan("week1/day2", "standard"))
    assert course.here() == "week1/day2"
    course.tell("opened", "week1/day1")
    assert course.here() == "week1/day1"


def test_a_run_of_many_units_says_nothing_of_where_the_learner_is(course):
    course.tell("opened", "week1/day1")
    for name in NAMES:
        course.tell("worked", name, among=len(NAMES))
    assert course.here() == "week1/day1"


def test_entries_of_units_that_the_course_has_no_more_are_passed_over(course):
    course.tell("opened", "week1/day1")
    course.tell("opened", "week9/day9")
    assert course.here() == "week1/day1"
