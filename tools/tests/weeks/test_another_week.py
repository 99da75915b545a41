"""A week that nobody told the tools about: its folder alone puts it on every list, page and check."""

import re
import shutil
import sys
from datetime import date

import pytest

from tools import ROOT
from tools.course.content import catalogue
from tools.course.learner.progress import Check, Progress, Result, file_hash
from tools.tests.conftest import Course, Ran, needs_solutions
from tools.tests.selfcheck import small_day

pytestmark = needs_solutions

README = """# To be made

<!-- units -->
<!-- end of units -->
"""
WEEK = """title = "sums"
aim = "Two units that add."

[[unit]]
name = "day1"
in = "Python"
writes = "a sum and a mean"

[[unit]]
name = "katas/counting"
writes = "the same again"
"""


@pytest.fixture(scope="module")
def course(given, tmp_path_factory) -> Course:
    """A copy of the course with one of its weeks, and a ninth of two units."""
    course = Course(tmp_path_factory.mktemp("another"), given)
    shutil.copytree(ROOT / "docs", course.folder / "docs")
    _leave_one_week(course)
    for unit, module in (("week9/day1", "adding"), ("week9/katas/counting", "counting")):
        for path, text in small_day.files(unit, module).items():
            (course.folder / path).parent.mkdir(parents=True, exist_ok=True)
            course.write(path, text)
    (course.folder / "CONTRIBUTING.md").unlink()  # it names tests of the tools, which no copy holds
    words = "\\1- **abacus**: what adds without a GPU. [week9/day1]\n\n"  # no others: their weeks are not all here
    glossary = re.sub(
        "(## Words of the field\n\n).*\n\n(?=## )", words, course.read("docs/GLOSSARY.md"), flags=re.DOTALL
    )
    course.write("docs/GLOSSARY.md", glossary)
    course.write("week9/week.toml", WEEK)
    course.write("week9/README.md", README)
    return course


def _leave_one_week(course: Course) -> None:
    """It is enough before the ninth: without figures, which would name the others, and its running table of them."""
    for folder in [course.folder / "benchmarks", *course.folder.glob("week*"), *course.folder.glob("reference/week*")]:
        if folder.name != "week1":
            shutil.rmtree(folder)
    course.write("week1/week.toml", course.read("week1/week.toml").partition("\n[journey]")[0] + "\n")


def command(course: Course, *words: str) -> Ran:
    return course.run(sys.executable, "-m", "tools.cli", *words)


def test_status_shows_it(course):
    ran = command(course, "status")
    assert ran.code == 0
    assert {"Week 1", "Week 9", "Week 9, katas"} <= set(ran.lines), ran.text


def test_after_the_last_day_before_it_next_goes_on_to_it(course):
    for unit in (unit for unit in catalogue.units(course.folder) if unit.week != "week9" and not unit.is_kata):
        checks = [Check(task.number, "correctness") for task in unit.tasks]
        results = [Result(check.task, check.stage, "simulated") for check in checks]
        Progress.load(course.folder).record(unit, results, file_hash(unit.lesson), date(2026, 11, 20), checks)
    ran = command(course, "next")
    assert ran.lines[0] == "week9/day1  Adding, 10 minutes", ran.text


def test_its_tests_run_and_its_hints_are_given(course):
    ran = course.pytest("week9/katas/counting")
    assert "week9/katas/counting" in ran.text
    assert "Where does a sum start?" in command(course, "hint", "week9/day1").text


def test_the_check_judges_it_by_its_name(course):
    """The reference, stub, wrong answers, mutants and static rules of its two units, and of no other."""
    ran = command(course, "check", "week9", "--mutants", "2", "--raise-floors")
    assert ran.code == 0, ran.text
    counts = dict(reversed(line.split(maxsplit=1)) for line in ran.lines if line.split()[0].isdecimal())
    assert (counts["units"], counts["wrong answers"], counts["tests seen red"]) == ("2", "12", "4"), ran.text
    assert not any("week1" in line for line in ran.lines)
    assert (course.folder / "reference/week9/day1/floors.toml").exists()


def test_its_pages_are_made(course):
    """The tables of README.md and of its own README, its sources, and its words in the glossary."""
    ran = command(course, "pages")
    assert ran.code == 0, ran.text
    assert "| [Week 9: sums](week9/README.md) | Two units that add. | 1 | 1 | 0 |" in course.read("README.md")
    page = course.read("week9/README.md")
    assert page.startswith("# Week 9: sums\n")
    assert "| [1](day1/adding.py) | Adding (Python) | 10 | a sum and a mean |" in page
    assert "| [counting](katas/counting/counting.py) | 10 | the same again |" in page
    assert "### Week 9: sums\n\n- [day1](../week9/day1/adding.py): abacus\n" in course.read("docs/GLOSSARY.md")
    assert command(course, "pages").lines == ["Every page is as it should be."]
