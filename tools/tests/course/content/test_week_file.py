"""week.toml is read strictly, and the pages of a week follow from it and from each day.toml."""

import pytest

from tools.course.content import glossary, week_file, week_pages
from tools.course.content.catalogue import BrokenCourseFile
from tools.course.content.generated import filled
from tools.tests.course.miniature import DAY, write

WEEK = """
title = "small things"
aim = "One line."

[[unit]]
name = "day1"
writes = "twice x"

[[unit]]
name = "day2"
in = "Triton"
writes = "half of x"

[[unit]]
name = "katas/simd"
writes = "a lane"
"""
LAST = '[[unit]]\nname = "katas/simd"\nwrites = "a lane"\n'
JOURNEY = """
[journey]
note = "On an {card}, {host}, {date}."

[[journey.step]]
unit = "day1"
function = "double"
name = "twice"
changed = "x"
predicted = [1, 2]
"""


@pytest.fixture
def root(tmp_path):
    """A course with two days and a kata in week 2."""
    write(tmp_path, "week2/day1")
    write(tmp_path, "week2/day2", day=DAY.replace("minutes = 30", "minutes = 90\nsittings = 2"))
    write(tmp_path, "week2/katas/simd")
    (tmp_path / "week2/week.toml").write_text(WEEK, encoding="utf-8")
    return tmp_path


def test_a_week_has_its_units_in_the_order_of_the_file(root):
    [week] = week_file.weeks(root)
    assert (week.name, week.heading, week.aim) == ("week2", "Week 2: small things", "One line.")
    assert [(each.unit.name, each.writes, each.written_in) for each in week.entries] == [
        ("week2/day1", "twice x", ""),
        ("week2/day2", "half of x", "Triton"),
        ("week2/katas/simd", "a lane", ""),
    ]
    assert week.journey is None


def test_a_running_table_is_read_with_its_steps(root):
    (root / "week2/week.toml").write_text(WEEK + JOURNEY, encoding="utf-8")
    journey = week_file.week("week2", root).journey
    assert journey.note == "On an {card}, {host}, {date}."
    [step] = journey.steps
    assert (step.unit.name, step.function, step.predicted) == ("week2/day1", "double", (1, 2))


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('aim = "One line."', "", "aim is missing"),
        ('aim = "One line."', 'aim = "Two\\nlines."', "aim must be one line"),
        ('aim = "One line."', 'aim = ""', "aim is missing"),
        ("title =", "minutes = 60\ntitle =", "unknown key 'minutes'; known: title, aim, unit, journey"),
        ('"day2"', '"day3"', "unit 2: there is no day or kata 'day3' in week2"),
        ('"day2"', '"week2/day2"', "unit 2: there is no day or kata 'week2/day2' in week2"),
        ('"day2"', '"day1"', "unit: week2/day1 stands here twice"),
        (LAST, "", "unit: week2/katas/simd is missing: each day and kata of the week has a [[unit]]"),
        ('writes = "half of x"', "writes = 2", "unit 2: writes must be text"),
        ('in = "Triton"', 'title = "Triton"', "unit 2: unknown key 'title'; known: name, writes, in"),
        ("{date}", "{time}", "journey: note may hold {card}, {host} and {date}, and no other braces"),
        ("[1, 2]", '["1"]', "journey: step 1: predicted must be whole numbers"),
        ('function = "double"\n', "", "journey: step 1: function is missing"),
    ],
)  # fmt: skip
def test_what_a_week_must_not_say_is_refused_in_one_line(root, old, new, says):
    text = WEEK + JOURNEY
    assert old in text
    (root / "week2/week.toml").write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(BrokenCourseFile) as raised:
        week_file.weeks(root)
    assert str(raised.value) == f"week2/week.toml: {says}"


def test_katas_come_after_the_days(root):
    first, *others = WEEK.split("[[unit]]")
    (root / "week2/week.toml").write_text("[[unit]]".join([first, *reversed(others)]), encoding="utf-8")
    with pytest.raises(BrokenCourseFile, match="the days come first, then the katas"):
        week_file.weeks(root)


def test_a_week_without_its_file_is_named(root):
    (root / "week2/week.toml").unlink()
    with pytest.raises(BrokenCourseFile, match=r"^week2/week.toml: cannot be read \(No such file or directory\)$"):
        week_file.weeks(root)


# The pages ----------------------------------------------------------------------------------------


def test_the_page_of_a_week_has_a_row_for_each_unit_with_its_minutes(root):
    page = "# Old title\n\nBy hand.\n\n<!-- units -->\nold\n<!-- end of units -->\n\nBy hand too.\n"
    assert (
        week_pages.week_page(week_file.week("week2", root), page)
        == """\
# Week 2: small things

By hand.

<!-- units -->
| day | | minutes | you write |
|---|---|---:|---|
| [1](day1/small.py) | Small | 30 | twice x |
| [2](day2/small.py) | Small (Triton) | 90, 2 sittings | half of x |

Katas, one idea each, whenever it suits (`./course kata` names one that is due):

| kata | minutes | you write |
|---|---:|---|
| [simd](katas/simd/small.py) | 30 | a lane |
<!-- end of units -->

By hand too.
"""
    )


def test_the_readme_has_a_row_for_each_week(root):
    page = week_pages.course_page("<!-- weeks -->\n<!-- end of weeks -->\n", root)
    assert page.splitlines()[3] == "| [Week 2: small things](week2/README.md) | One line. | 2 | 1 | 2 |"


def test_the_glossary_lists_words_by_week_and_links_their_units(root):
    words = (
        "## Words of the field\n\n- **lane**: a place. [week2/katas/simd], [week2/day2]\n- **scan**: later. (week 3)\n"
    )
    page = glossary.page(f"{words}\n<!-- words by week -->\n<!-- end of words by week -->\n", root)
    assert (
        page.partition("<!-- words by week -->\n")[2]
        == """\
### Week 2: small things

- [day2](../week2/day2/small.py): lane
- [katas/simd](../week2/katas/simd/small.py): lane

[week2/day2]: ../week2/day2/small.py
[week2/katas/simd]: ../week2/katas/simd/small.py
<!-- end of words by week -->
"""
    )
    assert glossary.page(page, root) == page


PAIR = "<!-- x -->\n<!-- end of x -->\n"


@pytest.mark.parametrize("page", ["", "<!-- x -->\n", "<!-- end of x -->\n<!-- x -->\n", 2 * PAIR])
def test_a_page_without_one_pair_of_marks_is_named(page):
    with pytest.raises(BrokenCourseFile) as raised:
        filled(page, "x", "", "a.md")
    assert str(raised.value) == "a.md: must hold one line <!-- x --> and one line <!-- end of x --> after it"
