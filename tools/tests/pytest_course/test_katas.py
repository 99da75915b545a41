"""A kata is worked as a day is: by its path, its answers, its place in the month."""

import sys

from tools.tests.conftest import needs_solutions

KATA = "week1/katas/locality"


def test_the_stub_of_a_kata_shows_each_task_and_the_first_gap(course):
    ran = course.pytest(KATA)
    assert f"{KATA}  Locality" in ran.lines
    assert "  to write  task 1  addresses, count_misses, predict_misses" in ran.lines
    assert f"  Task 1 is yours to write: addresses,\n  in {KATA}/locality.py, at line" in ran.text
    assert f"Stuck? The next hint for task 1: pytest {KATA} --hint" in ran.lines


@needs_solutions
def test_a_wrong_answer_to_a_kata_is_named_by_its_path(course):
    ran = course.pytest(KATA, f"--answers=wrong:{KATA}/counts_the_hits", "-k", "columns_miss")
    assert "Got 18, wanted 6." in ran.text


def test_a_kata_stands_in_the_month_after_the_days(course):
    lines = course.run(sys.executable, "-m", "tools.cli", "status").lines
    assert lines.index("Week 1") < lines.index("Week 1, katas")
    assert any(line.split() == ["locality", "Locality", "open"] for line in lines)
