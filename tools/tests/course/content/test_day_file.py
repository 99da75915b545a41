"""A day.toml is read strictly: each thing it must not say is refused in one line that names it."""

import pytest

from tools.course.content import catalogue
from tools.course.content.catalogue import BrokenCourseFile
from tools.course.content.day_file import Choice, Question, Reading, Recommendation
from tools.tests.course.miniature import DAY, QUIZ, make, write

READING = """
[[reading]]
step = "Concept"
title = "A paper"
author = "Someone (2019)"
why = "It says why."
"""

ADVICE = """
[[recommend]]
at_least = 0
start = "week1/day1"
track = "standard"
words = "Begin at the beginning."

[[recommend]]
at_least = 2
start = "week1/day4"
track = "quick"
words = "You know this."

[topics]
warps = "week1/day3"
"""


def test_all_that_a_day_says_reaches_its_unit(tmp_path):
    top = 'needs = ["week1/day0"]\nconcepts = ["warp", "lane"]\n'
    quiz = QUIZ.replace("number = 32", 'number = 32\ntopic = "warps"')
    unit = make(tmp_path, day=top + DAY + quiz + READING + ADVICE)
    assert (unit.title, unit.minutes) == ("Small", 30)
    assert (unit.needs, unit.concepts) == (("week1/day0",), ("warp", "lane"))
    assert unit.points == {"correctness": 4}
    assert unit.hints == {1: ("one?", "two", "three"), 2: ("uno?", "dos", "tres")}
    assert unit.quiz[0] == Question("How many lanes has a warp?", 32, "A warp is 32 threads.", topic="warps")
    assert unit.quiz[1].choices == (
        Choice("an error", "Divergence is legal."),
        Choice("both arms run", "One after the other.", right=True),
    )
    assert unit.reading == (Reading("Concept", "A paper", "Someone (2019)", "It says why."),)
    assert unit.topics == {"warps": "week1/day3"}
    assert unit.recommend[0] == Recommendation(2, "week1/day4", "quick", "You know this.")


def test_what_a_day_does_not_say_is_empty(tmp_path):
    unit = make(tmp_path, day='title = "Bare"\nminutes = 5\n', lesson="")
    assert (unit.needs, unit.concepts, unit.quiz, unit.reading, unit.recommend, unit.tasks) == ((),) * 6
    assert (unit.points, unit.hints, unit.topics) == ({},) * 3


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        # the day
        ('title = "Small"', "", "title is missing"),
        ('title = "Small"', 'title = ""', "title is missing"),
        ('title = "Small"', "title = 3", "title must be text"),
        ("minutes = 30", 'minutes = "30"', "minutes must be a whole number"),
        ("minutes = 30", "minutes = true", "minutes must be a whole number"),
        ("minutes = 30", "minutes = 0", "minutes must be at least 1"),
        ("minutes = 30", "minutes = 30\nsittings = 0", "sittings must be at least 1"),
        (
            "minutes = 30",
            "minutes = 30\nconcept = []",
            "unknown key 'concept'; known: title, minutes, sittings, needs, concepts, in_passing, quiz, "
            "reading, recommend, points, hints, topics, task_kinds, repairs",
        ),
        ("minutes = 30", 'minutes = 30\nconcepts = ["a", ""]', "concepts: must be a list of texts, none of them empty"),
        (
            "minutes = 30",
            'minutes = 30\nneeds = ["day0"]',
            "needs: 'day0' is not the name of a day or kata, such as 'week1/day1'",
        ),
        (
            "correctness",
            "corectness",
            "points: stage is 'corectness', not one of: correctness, edge, nonfinite, tolerance, counters, "
            "compiled, speed",
        ),
        ("correctness = 4", "correctness = -1", "points: correctness must be a whole number from 0"),
        ("correctness = 4", "correctness = 1.5", "points: correctness must be a whole number from 0"),
        # hints
        ('"one?", "two", "three"', '"one?", "two"', "task 1 has 2 hints, not 3"),
        ('"one?", "two", "three"', '"one?"', "task 1 has 1 hint, not 3"),
        ('"one?", "two", "three"', '"a", "b", "c", "d"', "task 1 has 4 hints, not 3"),
        ('"one?", "two", "three"', '"a", " ", "c"', "hints for task 1: must be a list of texts, none of them empty"),
        ('["one?", "two", "three"]', '"one?"', "hints for task 1: must be a list of texts, none of them empty"),
        ("1 = [", "one = [", "hints: 'one' is not the number of a task"),
        ("1 = [", "01 = [", "hints: '01' is not the number of a task"),
        # quiz
        ("number = 32\n", "", "quiz 1 needs either number or choices"),
        ("number = 32\n", "number = 32\nchoices = []\n", "quiz 1 needs either number or choices"),
        ("number = 32", 'number = "32"', "quiz 1: number must be a number"),
        (
            "number = 32",
            "number = 32\nanswer = 32",
            "quiz 1: unknown key 'answer'; known: question, number, why, choices, topic",
        ),
        ('question = "How many lanes has a warp?"\n', "", "quiz 1: question is missing"),
        ('why = "A warp is 32 threads."', "", "quiz 1 has no why"),
        ("choices = [", 'why = "Because."\nchoices = [', "quiz 2: why belongs to each choice"),
        (', why = "Divergence is legal."', "", "quiz 2: choice 1 has no why"),
        ('"Divergence is legal."', '""', "quiz 2: choice 1 has no why"),
        ("right = true, ", "", "quiz 2 has no right choice"),
        ('"an error"', '"an error", right = true', "quiz 2 has 2 right choices"),
        ("right = true", "right = 1", "quiz 2: choice 2: right must be true or false"),
        ('{ text = "an error", why = "Divergence is legal." }', '"an error"', "quiz 2: choice 1: is not a table"),
        (
            "number = 32",
            'number = 32\ntopic = "lanes"',
            "quiz 1: the table topics does not say which day teaches 'lanes'",
        ),
        # reading
        (
            '"Concept"',
            '"Concepts"',
            "reading 1: step is 'Concepts', not one of: Challenge, Explore, Concept, Code it, Verify",
        ),
        ('why = "It says why."', "", "reading 1: why is missing"),
        # recommend
        ('"quick"', '"fast"', "recommend 2: track is 'fast', not one of: quick, standard, half an hour a day"),
        ("at_least = 0", "at_least = 1", "recommend: no entry with at_least = 0, for a learner who gets nothing right"),
        ("at_least = 2", "at_least = 3", "recommend: at_least = 3, but the quiz has 2 questions"),
        (
            'start = "week1/day4"',
            'start = "day4"',
            "recommend 2: start: 'day4' is not the name of a day or kata, such as 'week1/day1'",
        ),
        (
            'warps = "week1/day3"',
            "warps = 3",
            "topics: warps: 3 is not the name of a day or kata, such as 'week1/day1'",
        ),
        # task_kinds
        ("[topics]", '[task_kinds]\n1 = "gap"\n[topics]', "task_kinds: task 1 is 'gap', not one of: repair, setup"),
        ("[topics]", '[task_kinds]\nx = "setup"\n[topics]', "task_kinds: 'x' is not the number of a task"),
        # repairs
        (
            "[topics]",
            '[repairs]\n2 = ["kernel"]\n[topics]',
            "repairs: task 2 is no task of repair; task_kinds says which are",
        ),
        (
            "[topics]",
            '[task_kinds]\n2 = "repair"\n[repairs]\n2 = "kernel"\n[topics]',
            "repairs: task 2: must be a list of texts, none of them empty",
        ),
    ],
)
def test_a_broken_rule_is_named_in_one_line(tmp_path, old, new, says):
    text = DAY + QUIZ + READING + ADVICE
    assert text.count(old) >= 1
    write(tmp_path, day=text.replace(old, new, 1))
    with pytest.raises(BrokenCourseFile) as caught:
        catalogue.unit("week1/day1", tmp_path)
    assert str(caught.value) == f"week1/day1/day.toml: {says}"
    assert caught.value.line is None


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("title =", 1),
        ('title = "Small"\nminutes 30\n', 2),
        ('title = "Small"\n\nminutes = 30\ntitle = "Again"\n', 4),
        ('title = "Small"\nconcepts = [\n  "warp",\n', 4),
        ('\ufefftitle = "Small"\n', 1),
    ],
)
def test_a_syntax_error_has_its_line(tmp_path, text, line):
    write(tmp_path, day=text)
    with pytest.raises(BrokenCourseFile) as caught:
        catalogue.unit("week1/day1", tmp_path)
    assert caught.value.line == line
    assert str(caught.value).startswith(f"week1/day1/day.toml:{line}: not valid TOML: ")
    assert "\n" not in str(caught.value)


def test_text_that_is_not_utf8_has_its_line(tmp_path):
    (write(tmp_path) / "day.toml").write_bytes(b'minutes = 30\ntitle = "sm\xe4ll"\n')
    with pytest.raises(BrokenCourseFile) as caught:
        catalogue.unit("week1/day1", tmp_path)
    assert str(caught.value) == "week1/day1/day.toml:2: not UTF-8 text"
