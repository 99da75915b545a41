"""course kata names the kata that is due, says why, and what to do where none is."""

from datetime import date, timedelta

import pytest

from tools.cli.__main__ import main
from tools.course.content import catalogue
from tools.course.learner.progress import SIMULATED, Check, Progress, Result
from tools.tests.course.miniature import DAY, write

CHECKS = [Check(1, "correctness")]


def kata(root, name, *needs, concepts=()):
    lines = f"needs = {list(needs)}\nconcepts = {list(concepts)}\n".replace("'", '"')
    write(root, f"week1/katas/{name}", day=lines + DAY.replace("Small", name.title()))


def do(root, name, days_ago=0):
    when = date.today() - timedelta(days=days_ago)
    result = Result(1, "correctness", SIMULATED)
    Progress.load(root).record(catalogue.unit(name, root), [result], "hash", when, CHECKS)
    return when


@pytest.fixture
def root(tmp_path):
    write(tmp_path, "week1/day1")
    kata(tmp_path, "simd", "week1/day1", concepts=["lane", "vector"])
    return tmp_path


def show(root, capsys) -> str:
    assert main(["kata"], root) == 0
    return capsys.readouterr().out


def test_the_one_that_is_due_is_shown_with_its_reason(root, capsys):
    when = do(root, "week1/day1", days_ago=3)
    assert (
        show(root, capsys)
        == f"""\
week1/katas/simd  Simd, 30 minutes
  lane, vector
  It needs week1/day1, done since {when}.

Next: ./course week1/katas/simd
"""
    )


def test_before_its_ground_is_laid_the_way_there_is_shown(root, capsys):
    assert (
        show(root, capsys)
        == """\
No kata is due yet.
The nearest is week1/katas/simd, Simd: it waits for week1/day1.
Next: ./course week1/day1
"""
    )


def test_a_day_that_does_not_exist_yet_is_never_what_comes_next(root, capsys):
    do(root, "week1/day1")
    do(root, "week1/katas/simd")
    kata(root, "later", "week9/day1")
    assert (
        show(root, capsys)
        == """\
No kata is due yet.
The nearest is week1/katas/later, Later: it waits for week9/day1.
Not here yet: week9/day1.
Next: ./course status
"""
    )
    kata(root, "sooner", "week1/day2", "week1/day3")
    for day in ("week1/day2", "week1/day3"):
        write(root, day)
    assert show(root, capsys).endswith("Sooner: it waits for week1/day2 and\nweek1/day3.\nNext: ./course week1/day2\n")


def test_one_from_long_ago_comes_back_from_an_empty_page(root, capsys):
    do(root, "week1/day1", days_ago=60)
    when = do(root, "week1/katas/simd", days_ago=30)
    assert (
        show(root, capsys)
        == f"""\
week1/katas/simd  Simd, 30 minutes
  lane, vector
  You did it on {when}. What comes back without looking is yours.

Again, from an empty page: ./course reset week1/katas/simd
Then: ./course week1/katas/simd
"""
    )


def test_others_that_are_due_are_listed_and_many_are_counted(root, capsys):
    for number in range(6):
        kata(root, f"kata{number}")
    do(root, "week1/day1")
    lines = show(root, capsys).splitlines()
    assert lines[0].startswith("week1/katas/kata0 ")
    assert lines[lines.index("Also due") + 1] == "  week1/katas/kata1  Kata1, 30 minutes"
    assert lines[-1] == "  and 2 more"


def test_when_all_were_done_of_late_it_says_so(root, capsys):
    do(root, "week1/day1")
    do(root, "week1/katas/simd")
    assert show(root, capsys) == "No kata is due: all are done, the last within 14 days.\n"


def test_a_course_without_katas_says_so(tmp_path, capsys):
    write(tmp_path, "week1/day1")
    assert main(["kata"], tmp_path) == 2
    assert capsys.readouterr().err == "There is no kata here: no file week1/katas/NAME/day.toml.\n"


def test_a_broken_file_is_named(root, capsys):
    (root / "week1/day1/day.toml").write_text("title = = 3")
    assert main(["kata"], root) == 2
    assert capsys.readouterr().err.startswith("week1/day1/day.toml:1: ")
