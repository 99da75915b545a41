"""Which functions are still a gap: one answer, for every command that asks."""

import ast

import pytest

from tools.course.content.workload import LessonBroken, require_written
from tools.course.learner.written import gap_line, pieces
from tools.tests.course.miniature import LESSON, make
from tools.tests.course.versions.under_git import begin, git

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


@pytest.mark.parametrize(("body", "written"), [
    ("x_ptr[0] = n\n    pass", True), ("pass  # store what double returns", False),
    ('if n < 0:\n        raise NotImplementedError("negative")\n    x_ptr[0] = n', True),
])  # fmt: skip
def test_commands_and_report_agree_on_what_is_written(tmp_path, body, written):
    unit = make(begin(tmp_path), "week1/day2")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "given")
    unit.lesson.write_text(LESSON.replace("pass  # store what double returns", body))
    assert ([piece.name for piece in pieces(unit)] == ["kernel"]) == written
    if written:
        require_written(unit, "kernel")
    else:
        with pytest.raises(LessonBroken, match="kernel, of task 2, is not written yet"):
            require_written(unit, "kernel")
