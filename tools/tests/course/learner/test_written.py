"""One answer to what is still a gap, for every command that asks."""

import pytest

from tools.course.learner.lesson import LessonBroken, require_written
from tools.course.learner.written import pieces
from tools.notebook.magic import Day
from tools.tests.course.miniature import LESSON, make
from tools.tests.course.versions.under_git import begin, git


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


@pytest.mark.parametrize(("body", "written"), [
    ("x_ptr[0] = n\n    pass", True), ("pass  # store what double returns", False),
    ('if n < 0:\n        raise NotImplementedError("negative")\n    x_ptr[0] = n', True),
])  # fmt: skip
def test_a_notebook_keeps_what_is_written_and_no_gap(tmp_path, body, written):
    unit = make(tmp_path)  # under no git, so nobody knows how it was given
    section = f"@staticmethod\ndef kernel(x_ptr, n):\n    {body}\n"
    assert Day(unit, solution=False)._is_work(2, section) == written
