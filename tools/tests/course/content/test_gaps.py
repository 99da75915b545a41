"""The forms of a gap: the course's marker anywhere, or an untouched end; a finished kernel and a guard are none."""

import ast

import pytest

from tools.course.content import catalogue
from tools.course.content.catalogue import Task
from tools.course.content.gaps import Open, find_gaps, gap_line, marked, open_gaps, own_functions
from tools.course.content.syntax import functions, parsed
from tools.marker import Marker

STUB = 'def f(x):\n    """Doc."""\n    y = x\n    pass\n'
MARKER = 'raise NotImplementedError("week1/day1 task 1: f")'


def function(body: str) -> ast.stmt:
    lines = "".join(f"\n    {line}" for line in body.split("\n"))
    return ast.parse(f'def f(x):\n    """Doc."""{lines}\n').body[0]


@pytest.mark.parametrize(("body", "line"), [
    (MARKER, 3),
    (f"y = x\n{MARKER}", 4),
    (f"if x:\n    {MARKER}\nreturn x", 4),
    ("pass", 3),
    ("y = x\npass", 4),
    ("y = x + 1\npass", None),
    ("if x:\n    out[0] = x\nelse:\n    pass", None),
    ('if x < 0:\n    raise NotImplementedError("negative")\nreturn x', None),
    ('raise NotImplementedError("negative")', None),
    ("return x", None),
], ids=repr)  # fmt: skip
def test_a_gap_is_the_marker_or_an_untouched_pass(body, line):
    assert gap_line(function(body), ast.parse(STUB).body[0]) == line


def test_without_a_stub_only_a_body_of_nothing_but_pass_is_a_gap():
    assert gap_line(function("pass")) == 3
    assert gap_line(function("y = x\npass")) is None


def test_an_end_of_another_text_is_a_gap_only_as_it_was_given():
    stub = function("y = x\nraise NotImplementedError")
    assert gap_line(stub, stub) == 4
    assert gap_line(function("y = x + 1\nraise NotImplementedError"), stub) is None


def test_a_stub_tells_its_gaps_with_their_tasks_and_given_statements():
    text = f"# Task 1\ndef f(x):\n    y = x\n    {MARKER}\n\n\nclass C:\n    # a note\n    def g(self):\n        pass\n"
    first, second = find_gaps(text)
    assert (first.function, first.task, first.given, first.line) == ("f", 1, 1, 4)
    assert first.message == "week1/day1 task 1: f"
    assert (second.function, second.task, second.given, second.message) == ("C.g", 1, 0, None)


def test_a_guard_in_a_stub_is_no_gap():
    assert find_gaps('def f(x):\n    if x < 0:\n        raise NotImplementedError("negative")\n    return x\n') == []


def test_a_text_that_does_not_parse_has_no_gaps():
    assert find_gaps("def f(x:\n") == []


@pytest.mark.parametrize("body", [f"if x:\n    {MARKER}\nreturn x", MARKER])
def test_the_marker_names_the_task_wherever_it_stands(body):
    assert marked(function(body)) == Marker("week1/day1", 1, "f")
    assert marked(function("return x")) is None


PARTS = f"""
# Task 1
def given(x):
    return f(x)


def f(x):
    {MARKER}


@jit
def kernel(x):
    y = x
    pass


# Task 2
def wrapper(x):
    return mended(x)


@jit
def mended(x):
    return x
"""


def test_what_is_open_has_its_task_and_the_line_of_its_def():
    assert open_gaps(PARTS, PARTS) == [Open("f", 1, 7, silent=False), Open("kernel", 1, 12, silent=True)]
    written = PARTS.replace(MARKER, "return x")
    assert open_gaps(written, PARTS) == [Open("kernel", 1, 12, silent=True)]
    assert open_gaps(written.replace("    pass\n", "    x[0] = y\n"), PARTS) == []


def test_a_pass_where_a_marker_was_given_is_open_and_a_call_shows_it():
    assert open_gaps(PARTS.replace(MARKER, "pass"), PARTS)[0] == Open("f", 1, 7, silent=False)


@pytest.mark.parametrize(("task", "own"), [
    (Task(1, "gap", ("given", "f", "kernel")), ("f", "kernel")),
    (Task(2, "repair", ("wrapper", "mended")), ("wrapper", "mended")),
    (Task(2, "repair", ("wrapper", "mended"), repairs=("mended",)), ("mended",)),
    (Task(1, "repair", ("given", "f", "kernel"), repairs=("given",)), ("given", "f", "kernel")),
    (Task(0, "setup"), ()),
])  # fmt: skip
def test_the_learners_are_the_gaps_and_what_is_handed_over_for_repair(task, own):
    assert own_functions(task, PARTS) == own


def test_all_of_a_task_may_be_the_learners_where_nobody_knows_the_stub():
    assert own_functions(Task(1, "gap", ("given", "f"))) == ("given", "f")


@pytest.mark.parametrize("name", catalogue.names())
def test_both_questions_have_one_answer_on_each_stub(name):
    """What a stub lists as its gaps is what a learner who has not begun has still to write."""
    text = catalogue.unit(name).lesson.read_text(encoding="utf-8")
    open_ones = {known for known, node in functions(parsed(text)) if gap_line(node, node) is not None}
    assert {gap.function for gap in find_gaps(text)} == open_ones
