"""A name or a word that is asked for before it is taught is found, with its place; one that is taught is not."""

import pytest

from tools.selfcheck.static.material import Material
from tools.selfcheck.static.taught import names_are_taught

REFERENCE, STUB, DAY = "reference/week1/day1/adding.py", "week1/day1/adding.py", "week1/day1/day.toml"
MEAN = "return total(values) / len(values)"
GLOSSARY = """
    # Glossary

    ## Words of the course

    - **gap**: yours.

    ## Words of the field

    - **batch**: several at once. [week1/day2]
    - **sum, total**: all of them together. [week1/day1]
    - **warp**: 32 threads. (week 2, day 1)
    """
EARLY = (
    "before the unit that teaches it: say in half a sentence what it is, and list it in in_passing of day.toml, "
    "or use another word"
)


def untaught(course) -> list[str]:
    """The names that the rule reports."""
    return [problem.what.rpartition(": ")[2] for problem in names_are_taught(Material(course.unit(), course.root))]


@pytest.mark.parametrize(
    "answer, name",
    [
        ("return statistics.fmean(values)", "statistics.fmean"),
        ("return values.mean()", ".mean"),
        ("return total(values, weights=None) / len(values)", "weights="),
        ("return (values * 2).real.sum()", ".sum"),
    ],
)
def test_a_name_that_no_docstring_has_is_named(course, answer, name):
    course.edit(REFERENCE, MEAN, answer)
    assert untaught(course) == [name]


@pytest.mark.parametrize(
    "answer, line",
    [
        ("return statistics.fmean(values)", "A mean is statistics.fmean(values)."),
        ("return values.mean()", "values.mean() is one of them."),
        ("return total(values, weights=None) / len(values)", "total takes weights=None."),
    ],
)
def test_a_name_that_the_docstring_has_is_taught(course, answer, line):
    course.edit(REFERENCE, MEAN, answer)
    course.edit(STUB, "A sum needs a start.", line)
    course.edit(REFERENCE, "A sum needs a start.", line)
    assert untaught(course) == []


def test_the_place_is_the_lesson_that_needs_it(course):
    course.edit(REFERENCE, MEAN, "return statistics.fmean(values)")
    wanted = "the gaps need what no docstring teaches, here or in a unit that this one needs: statistics.fmean"
    assert f"{STUB}: {wanted}" in course.problems()


def test_a_name_is_found_whole(course):
    course.edit(REFERENCE, MEAN, "return statistics.fmean(values)")
    course.edit(STUB, "A sum needs a start.", "my_statistics.fmean, statistics.fmeans")
    assert untaught(course) == ["statistics.fmean"]


def test_what_python_itself_has_need_not_be_taught(course):
    course.edit(REFERENCE, MEAN, 'return sorted(values, key=abs).count(1) / math.ceil(len(" ".split()))')
    for path in (STUB, REFERENCE):
        course.edit(path, "import statistics", "import math\nimport statistics")
    assert untaught(course) == []


def test_an_import_teaches_nothing(course):
    course.edit(REFERENCE, MEAN, "return fmean(values)")
    for path in (STUB, REFERENCE):
        course.edit(path, "import statistics", "from statistics import fmean")
    assert untaught(course) == ["fmean"]


def test_given_code_teaches(course):
    course.edit(REFERENCE, MEAN, "return statistics.fmean(values)")
    for path in (STUB, REFERENCE):
        course.edit(path, "START = 0", "START = statistics.fmean([0])")
    assert untaught(course) == []


def test_a_unit_that_is_needed_teaches_and_so_does_one_that_it_needs(course):
    for day, needed in [("day2", "day3"), ("day3", None)]:
        course.write(f"week1/{day}/more.py", '"""Use statistics.fmean."""' if needed is None else '"""More."""')
        course.write(f"week1/{day}/test_more.py", "")
        needs = f'needs = ["week1/{needed}"]' if needed else ""
        course.write(f"week1/{day}/day.toml", f'title = "More"\nminutes = 10\n{needs}')
    course.edit(REFERENCE, MEAN, "return statistics.fmean(values)")
    assert untaught(course) == ["statistics.fmean"]
    course.edit(DAY, "minutes = 10", 'minutes = 10\nneeds = ["week1/day2"]')
    assert untaught(course) == []


@pytest.mark.parametrize("word", ["batch", "batches", "Warps"])
def test_a_word_before_its_unit_is_named(course, word):
    course.write("docs/GLOSSARY.md", GLOSSARY)
    course.edit(STUB, "A sum needs a start.", f"All {word} need a start.")
    course.edit(REFERENCE, "A sum needs a start.", f"All {word} need a start.")
    said = "batch" if word.startswith("batch") else "warp"
    assert course.problems() == [f"{STUB}: uses {said!r} {EARLY}"]
    course.edit(DAY, "minutes = 10", f'minutes = 10\nin_passing = ["{said}"]')
    assert course.problems() == []


def test_a_word_of_this_unit_may_be_used(course):
    course.write("docs/GLOSSARY.md", GLOSSARY)
    assert course.problems() == []


def test_a_word_that_is_no_longer_used_is_not_listed(course):
    course.write("docs/GLOSSARY.md", GLOSSARY)
    course.edit(DAY, "minutes = 10", 'minutes = 10\nin_passing = ["batch"]')
    assert course.problems() == [f"{DAY}: in_passing lists 'batch', which the docstring does not use before its unit"]


def test_a_long_day_says_where_its_second_sitting_begins(course):
    course.edit(DAY, "minutes = 10", "minutes = 100")
    assert course.problems() == [f"{DAY}: 100 minutes in 1 sitting; at most 75 in one"]
    course.edit(DAY, "minutes = 100", "minutes = 100\nsittings = 2")
    assert course.problems() == [f"{STUB}: the docstring does not say where the second sitting begins"]


def test_a_word_that_an_earlier_unit_explained_in_passing_may_be_used(course):
    course.write("docs/GLOSSARY.md", GLOSSARY)
    course.write("week1/day0/more.py", '"""More."""')
    course.write("week1/day0/test_more.py", "")
    course.write("week1/day0/day.toml", 'title = "More"\nminutes = 10\nin_passing = ["warp"]\n')
    course.edit(STUB, "A sum needs a start.", "A warp needs a start.")
    course.edit(REFERENCE, "A sum needs a start.", "A warp needs a start.")
    assert course.problems() == []
