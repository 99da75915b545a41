"""Each rule for a unit's files: a sound day keeps it, a day with one fault breaks it, in these words."""

from dataclasses import replace

import pytest

from tools.selfcheck.static.material import Material
from tools.selfcheck.static.wrong import there_are_enough_wrong_answers

STUB, REFERENCE = "week1/day1/adding.py", "reference/week1/day1/adding.py"
TESTS, WRONG = "week1/day1/test_adding.py", "reference/week1/day1/wrong.toml"


def test_a_sound_day_keeps_every_rule(course):
    assert course.problems() == []


FAULTS = {
    "a step is missing": (
        STUB, "Explore\n", "Look\n",
        "week1/day1/adding.py",
        "the docstring needs the five steps, in order: Challenge, Explore, Concept, Code it, Verify",
    ),
    "a marker names another task": (
        STUB, "task 2: mean", "task 1: mean",
        "week1/day1/adding.py, line 31",
        "the marker says 'week1/day1 task 1: mean'; it must say 'week1/day1 task 2: mean'",
    ),
    "a marker names another function": (
        STUB, "task 2: mean", "task 2: total",
        "week1/day1/adding.py, line 31",
        "the marker says 'week1/day1 task 2: total'; it must say 'week1/day1 task 2: mean'",
    ),
    "pass stands for a marker": (
        STUB, 'raise NotImplementedError("week1/day1 task 2: mean")', "pass",
        "week1/day1/adding.py, line 31",
        "`pass` marks a gap only in a kernel; raise NotImplementedError('week1/day1 task 2: mean')",
    ),
    "a marker stands above all tasks": (
        STUB, "# Task 1\n", "",
        "week1/day1/adding.py, line 24",
        "total stands above the first `# Task N`",
    ),
    "a marker is not the end": (
        STUB, '    raise NotImplementedError("week1/day1 task 1: total")\n',
        '    raise NotImplementedError("week1/day1 task 1: total")\n    return result\n',
        "week1/day1/adding.py, line 25",
        "NotImplementedError must be the last statement of a gap",
    ),
    "tasks are not counted": (
        STUB, "# Task 2", "# Task 3",
        "week1/day1/adding.py",
        "the `# Task N` comments count [1, 3]; they must count 1, 2, 3, ...",
    ),
    "the docstring leaves a task out": (
        STUB, "    Task 2  mean", "    mean",
        "week1/day1/adding.py",
        "the docstring lists the tasks [1]; the lesson has [1, 2]",
    ),
    "hints are missing": (
        "week1/day1/day.toml", '2 = ["How many are there?", "Use len.", "total(values) / len(values)"]', "",
        "week1/day1/day.toml",
        "task 2 has no hints",
    ),
    "hints are for no task": (
        "week1/day1/day.toml", "2 = [", '3 = ["a", "b", "c"]\n2 = [',
        "week1/day1/day.toml",
        "there are hints for task 3, which the lesson does not have",
    ),
    "a given statement differs": (
        REFERENCE, "result = START", "result = 0.0",
        "week1/day1/adding.py, line 22",
        "differs from the reference (line 22) outside the gaps in total",
    ),
    "a signature differs": (
        REFERENCE, "def mean(values: list[float])", "def mean(values)",
        "week1/day1/adding.py, line 29",
        "differs from the reference (line 31) outside the gaps in mean",
    ),
    "a constant differs": (
        REFERENCE, "START = 0", "START = 1",
        "week1/day1/adding.py, line 18",
        "differs from the reference (line 18) outside the gaps",
    ),
    "the reference has more": (
        REFERENCE, "    return total(values) / len(values)\n",
        "    return total(values) / len(values)\n\nEND = 1\n",
        "week1/day1/adding.py",
        "stub and reference do not end with the same statement",
    ),
    "the reference leaves a gap": (
        REFERENCE, "return total(values) / len(values)",
        'raise NotImplementedError("week1/day1 task 2: mean")',
        "reference/week1/day1/adding.py, line 31",
        "mean is still a gap",
    ),
    "the reference imports more": (
        REFERENCE, "    return total(values) / len(values)",
        "    import functools\n    return total(values) / len(values)",
        "reference/week1/day1/adding.py",
        "imports functools, which the stub does not",
    ),
    "a test's name is no sentence": (
        TESTS, "def test_mean_divides_by_the_count", "def test_mean_divides",
        "week1/day1/test_adding.py, line 9",
        "test_mean_divides is not a sentence; say what the lesson does, in 3 words or more",
    ),
    "two tests share a name": (
        TESTS, "def test_mean_divides_by_the_count", "def test_total_adds_every_value",
        "week1/day1/test_adding.py, line 9",
        "test_total_adds_every_value is defined twice; pytest would run only the second",
    ),
    "a test has no task": (
        TESTS, "@pytest.mark.task(2)\n", "",
        "week1/day1/test_adding.py, line 8",
        "test_mean_divides_by_the_count has no @pytest.mark.task(n)",
    ),
    "a test is for no task": (
        TESTS, "@pytest.mark.task(2)", "@pytest.mark.task(2, 5)",
        "week1/day1/test_adding.py, line 9",
        "test_mean_divides_by_the_count is for task 5, which the lesson does not have",
    ),
    "a task has no test": (
        TESTS, "@pytest.mark.task(2)", "@pytest.mark.task(1)",
        "week1/day1/test_adding.py",
        "no test is for task 2",
    ),
    "a seed is written down": (
        TESTS, "    assert lesson.mean", "    rng = np.random.default_rng(0)\n    assert lesson.mean",
        "week1/day1/test_adding.py, line 10",
        "a literal seed for default_rng; use the fixture rng",
    ),
    "an edit does not fit": (
        WRONG, 'find = " / len(values)"', 'find = "// len(values)"',
        "reference/week1/day1/wrong.toml: forgets_to_divide",
        "the reference does not contain '// len(values)'.",
    ),
    "a rejecting test does not exist": (
        WRONG, '"test_mean_divides_by_the_count"\nsays = "2 == 3"', '"test_mean"\nsays = "2 == 3"',
        "reference/week1/day1/wrong.toml: takes_the_median",
        "there is no test test_mean",
    ),
    "a hint says the words": (
        WRONG, 'says = "2 == 3"', 'says = "Use len"',
        "reference/week1/day1/wrong.toml: takes_the_median",
        "says 'Use len', and so does hint 2 of task 2",
    ),
    "a test's name says the words": (
        WRONG, 'says = "2 == 3"', 'says = "divides by"',
        "reference/week1/day1/wrong.toml: takes_the_median",
        "says 'divides by', and so does the name test_mean_divides_by_the_count",
    ),
}  # fmt: skip


@pytest.mark.parametrize("path, old, new, where, what", FAULTS.values(), ids=FAULTS)
def test_a_fault_is_named_with_its_place(course, path, old, new, where, what):
    course.edit(path, old, new)
    assert f"{where}: {what}" in course.problems()


@pytest.mark.parametrize("end", [
    "values[0] = 1.0\n    pass",
    'if len(values) > 0:\n        return 1.0\n    raise NotImplementedError("negative")',
])  # fmt: skip
def test_a_finished_function_may_end_in_pass_or_in_a_guard(course, end):
    course.edit(REFERENCE, "return total(values) / len(values)", end)
    assert not [problem for problem in course.problems() if "still a gap" in problem]


def test_a_long_docstring_is_counted(course):
    course.edit(STUB, "    Add numbers up.\n", "    Add numbers up.\n" * 60)
    assert "week1/day1/adding.py: the docstring has 72 lines; at most 60" in course.problems()


def test_two_lessons_of_one_name_are_found(course):
    course.write("week2/katas/sums/adding.py", "")
    assert "week1/day1/adding.py: week2/katas/sums/adding.py has the same name" in course.problems()


def test_a_stub_that_does_not_parse_is_one_plain_line(course):
    course.edit(STUB, "START = 0", "START =")
    assert course.problems() == ["week1/day1/adding.py, line 18: invalid syntax"]


def test_too_few_wrong_answers_are_counted(course):
    text = (course.root / WRONG).read_text()
    course.write(WRONG, text[: text.index('[[wrong]]\nname = "takes_the_median')])
    assert course.problems() == ["reference/week1/day1/wrong.toml: 5 wrong answers; write at least 6"]


@pytest.mark.parametrize("count, problems", [(3, ["3 wrong answers; write at least 4"]), (4, [])])
def test_a_kata_needs_fewer_wrong_answers(course, count, problems):
    entries = (course.root / WRONG).read_text().split("[[wrong]]")[1 : 1 + count]
    course.write("reference/week1/katas/adding/wrong.toml", "".join("[[wrong]]" + entry for entry in entries))
    kata = Material(replace(course.unit(), name="week1/katas/adding"), course.root)
    assert [problem.what for problem in there_are_enough_wrong_answers(kata)] == problems


def test_two_wrong_answers_must_differ_in_more_than_constants(course):
    for number in (2, 3):
        with (course.root / WRONG).open("a") as file:
            file.write(f"""
                [[wrong]]
                name = "times_{number}"
                find = "    return result"
                replace = "    return result * {number}"
                rejected_by = "test_total_adds_every_value"
                says = "{number}7 == 7"
                """)
    assert course.problems() == ["reference/week1/day1/wrong.toml: times_3: differs from times_2 in constants only"]


def test_constants_of_two_functions_make_two_wrong_answers(course):
    for line in ("return total(values) / len(values)", "return result"):
        course.edit("reference/week1/day1/adding.py", line, f"{line} + 0")
    for name, line in [
        ("total_and_1", "return result + "),
        ("total_and_2", "return result + "),
        ("mean_and_1", "/ len(values) + "),
    ]:
        with (course.root / WRONG).open("a") as file:
            file.write(f"""
                [[wrong]]
                name = "{name}"
                find = "{line}0"
                replace = "{line}{name[-1]}"
                rejected_by = "test_total_adds_every_value"
                says = "{name}"
                """)
    assert course.problems() == [
        "reference/week1/day1/wrong.toml: total_and_2: differs from total_and_1 in constants only"
    ]


def test_texts_are_code_and_differ_in_more_than_constants(course):
    for name, text in [("floats", "float a[4]"), ("longer", "float a[8]"), ("doubles", "double a[4]")]:
        with (course.root / WRONG).open("a") as file:
            file.write(f"""
                [[wrong]]
                name = "{name}"
                find = "    return result"
                replace = "    return '{text}'"
                rejected_by = "test_total_adds_every_value"
                says = "{text} ="
                """)
    assert course.problems() == ["reference/week1/day1/wrong.toml: longer: differs from floats in constants only"]


def test_a_kernel_may_mark_its_gap_with_pass(course):
    for path in (STUB, REFERENCE):
        course.edit(path, "def mean(values: list[float])", "@statistics.kernel\ndef mean(values: list[float])")
    course.edit(STUB, 'raise NotImplementedError("week1/day1 task 2: mean")', "pass  # divide")
    assert course.problems() == []


def test_a_repair_task_hands_over_code_that_the_reference_changes(course):
    course.edit(STUB, 'raise NotImplementedError("week1/day1 task 2: mean")', "return values[0]")
    course.edit("week1/day1/day.toml", "[hints]", '[task_kinds]\n2 = "repair"\n[hints]')
    assert course.problems() == []
