"""Wrong answers: what they make of the reference, and what is said of one that does not fit."""

import pytest

from tools.course.content.answers import BadAnswer, apply, broken_machines, materialise, wrong_answers

WRONG = "reference/week1/day1/wrong.toml"
ENTRY = 'name = "x"\nrejected_by = "test_a"\nsays = "b"\n'


def written(course, name, folder):
    materialise(f"week1/day1/{name}", folder, course.root)
    return (folder / "week1" / "day1" / "adding.py").read_text()


def test_an_edit_changes_its_place_alone(course, tmp_path):
    reference = (course.root / "reference/week1/day1/adding.py").read_text()
    assert written(course, "takes_away", tmp_path / "out") == reference.replace("result += value", "result -= value")


def test_a_line_that_the_docstring_shows_is_changed_in_the_code_alone(course, tmp_path):
    course.edit("reference/week1/day1/adding.py", "A sum needs a start.", "A sum is result += value, again and again.")
    text = written(course, "takes_away", tmp_path / "out")
    assert "A sum is result += value, again and again." in text
    assert "        result -= value\n" in text


def test_all_changes_every_place(course):
    course.write(WRONG, f'[[wrong]]\n{ENTRY}find = "values:"\nreplace = "items:"\nall = true\n')
    with pytest.raises(BadAnswer, match="the result changes a signature"):
        apply(wrong_answers("week1/day1", course.root)[0], (course.root / "reference/week1/day1/adding.py").read_text())


def test_code_replaces_the_body_and_keeps_the_docstring(course, tmp_path):
    course.write(
        WRONG, f'[[wrong]]\n{ENTRY}function = "mean"\ncode = """\n    first = values[0]\n    return first\n"""\n'
    )
    tail = written(course, "x", tmp_path / "out")[-120:]
    assert tail.endswith('over how many they are."""\n    first = values[0]\n    return first\n')


def test_a_method_is_named_with_its_class(course, tmp_path):
    course.write("reference/week1/day1/adding.py", "class Sum:\n    def up(self):\n        return 1\n")
    course.write(WRONG, f'[[wrong]]\n{ENTRY}function = "Sum.up"\ncode = "return 2"\n')
    assert written(course, "x", tmp_path / "out") == "class Sum:\n    def up(self):\n        return 2\n"


def test_one_rejecting_test_may_stand_without_brackets(course):
    assert [wrong.rejected_by for wrong in wrong_answers("week1/day1", course.root)][0] == (
        "test_total_adds_every_value",
    )


def test_a_broken_machine_has_its_facts(course):
    course.write(WRONG, f"[[broken]]\n{ENTRY}facts = {{ python = [3, 9] }}\n")
    assert broken_machines("week1/day1", course.root)[0].facts == {"python": [3, 9]}
    assert wrong_answers("week1/day1", course.root) == []


UNREADABLE = {
    "not TOML": ("[[wrong]\n", "is not valid TOML: Expected ']]'"),
    "another table": ("[[wrnog]]\n", "'wrnog' is neither [[wrong]] nor [[broken]]."),
    "single brackets": (f"[wrong]\n{ENTRY}", "write [[wrong]], in double brackets."),
    "two of one name": (f"[[wrong]]\n{ENTRY}[[wrong]]\n{ENTRY}", "two entries are called x."),
    "no words": ('[[wrong]]\nname = "x"\nrejected_by = "test_a"\n', "x: says is missing."),
    "empty words": ('[[wrong]]\nname = "x"\nrejected_by = "test_a"\nsays = ""\n', "x: says is missing."),
    "an unknown key": (f'[[wrong]]\n{ENTRY}al = "b"\n', "x: unknown key 'al'. Did you mean all?"),
    "a number for a text": (f"[[wrong]]\n{ENTRY}find = 3\n", "x: find has a value of the wrong type."),
    "no edit": (f"[[wrong]]\n{ENTRY}", "x: give find and replace, or function and code."),
    "half an edit": (f'[[wrong]]\n{ENTRY}find = "a"\n', "x: give find and replace, or function and code."),
    "two edits": (f'[[wrong]]\n{ENTRY}find = "a"\nreplace = "b"\nfunction = "f"\ncode = "c"\n',
                  "x: give find and replace, or function and code."),
}  # fmt: skip


@pytest.mark.parametrize("text, words", UNREADABLE.values(), ids=UNREADABLE)
def test_a_file_that_breaks_the_rules_is_refused_in_one_line(course, text, words):
    course.write(WRONG, text)
    with pytest.raises(BadAnswer) as caught:
        wrong_answers("week1/day1", course.root)
    assert str(caught.value).removeprefix("reference/week1/day1/wrong.toml").lstrip(": ").startswith(words)


UNFIT = {
    "nothing to replace": ('find = "zero"\nreplace = ""', "the reference does not contain 'zero'."),
    "two places": ('find = "result"\nreplace = "r"', "'result' occurs 3 times; say more of it, or all = true."),
    "broken syntax": (
        'find = "return result"\nreplace = "return ="',
        "the result does not parse (line 27: invalid syntax).",
    ),
    "only a comment": (
        'find = "return result"\nreplace = "return result  # so"',
        "the result is the reference itself.",
    ),
    "another signature": ('find = "def mean(values"\nreplace = "def mean(items"', "the result changes a signature."),
    "no such function": ('function = "median"\ncode = "return 1"', "the reference has no function median with a body."),
}


@pytest.mark.parametrize("edit, words", UNFIT.values(), ids=UNFIT)
def test_an_edit_that_does_not_fit_is_refused_in_one_line(course, tmp_path, edit, words):
    course.write(WRONG, f"[[wrong]]\n{ENTRY}{edit}\n")
    with pytest.raises(BadAnswer) as caught:
        materialise("week1/day1/x", tmp_path / "out", course.root)
    assert str(caught.value) == f"reference/week1/day1/wrong.toml: x: {words}"
    assert not (tmp_path / "out").exists()


UNKNOWN = {
    "week1/day1/takes_awya": "week1/day1 has no wrong answer 'takes_awya'. Did you mean takes_away?",
    "takes_away": "'takes_away' names no unit; write it like week1/day1/takes_away.",
    "week1/day2/x": "There is no reference/week1/day2/wrong.toml; "
    "wrong answers come with the authors' edition of the course.",
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_a_name_that_does_not_exist_is_answered_with_the_nearest(course, tmp_path, name):
    with pytest.raises(BadAnswer) as caught:
        materialise(name, tmp_path / "out", course.root)
    assert str(caught.value) == UNKNOWN[name]
