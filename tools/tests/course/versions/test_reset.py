"""A stub comes back as the course has it, and what it replaces is kept."""

from datetime import datetime

import pytest

from tools.course.content import catalogue
from tools.course.versions.git import GitProblem
from tools.course.versions.reset import NotReset, reset, stub
from tools.course.versions.update import update
from tools.tests.course.miniature import LESSON, make
from tools.tests.course.versions.under_git import begin, commit, git

PATH = "week1/day1/small.py"
EVENING = datetime(2026, 11, 20, 19, 30)
KEPT = ".course/kept/week1/day1/small-20261120-193000.py"
SOLVED = LESSON.replace('    raise NotImplementedError("week1/day1 task 1: double")', "    return 2 * x")


@pytest.fixture
def root(tmp_path):
    return begin(tmp_path)


def back(root) -> str:
    """The lesson after a reset."""
    unit = catalogue.unit("week1/day1", root)
    reset(unit, stub(unit), EVENING)
    return (root / PATH).read_text()


def test_the_stub_is_back_and_the_work_is_kept_under_the_time(root):
    (root / PATH).write_text(SOLVED)
    unit = catalogue.unit("week1/day1", root)
    assert reset(unit, stub(unit), EVENING) == root / KEPT
    assert ((root / PATH).read_text(), (root / KEPT).read_text()) == (LESSON, SOLVED)
    assert git(root, "status", "--porcelain") == ""


def test_two_resets_in_one_second_keep_both(root):
    for text in (SOLVED, SOLVED + "# again\n"):
        (root / PATH).write_text(text)
        back(root)
    assert (root / KEPT).read_text() == SOLVED
    assert (root / KEPT.replace(".py", "-2.py")).read_text() == SOLVED + "# again\n"


def test_a_lesson_that_is_the_stub_is_left_alone(root):
    unit = catalogue.unit("week1/day1", root)
    (root / PATH).write_bytes(LESSON.replace("\n", "\r\n").encode())
    assert reset(unit, stub(unit), EVENING) is None
    assert not (root / ".course").exists()


def test_windows_ends_of_lines_stay(root):
    (root / PATH).write_bytes(SOLVED.replace("\n", "\r\n").encode())
    back(root)
    assert (root / PATH).read_bytes() == LESSON.replace("\n", "\r\n").encode()


def test_work_that_was_committed_on_a_branch_of_its_own_is_not_taken_for_the_stub(root):
    git(root, "switch", "--quiet", "--create", "learner/ada")
    (root / PATH).write_text(SOLVED)
    commit(root)
    assert back(root) == LESSON


def test_nor_is_work_that_was_committed_on_main(root):
    for text in (SOLVED, SOLVED + "# more\n"):
        (root / PATH).write_text(text)
        commit(root)
    assert back(root) == LESSON


def test_after_an_update_the_stub_is_the_new_one(root):
    new = LESSON.replace("Twice x", "Two times x")
    (root / PATH).write_text(new)
    commit(root)
    git(root, "switch", "--quiet", "--create", "learner/ada", "main~1")
    (root / PATH).write_text(SOLVED)
    assert back(root) == LESSON
    (root / PATH).write_text(SOLVED)
    update(root, "main")
    assert back(root) == new


def test_the_course_itself_is_asked_before_the_learners_own_main(root, tmp_path_factory):
    clone = tmp_path_factory.mktemp("learner") / "clone"
    git(root, "clone", "--quiet", "--template=", str(root), str(clone))
    (clone / PATH).write_text(LESSON + "    # not a gap less\n")
    commit(clone)
    assert back(clone) == LESSON


def test_without_a_main_line_the_versions_of_the_branch_are_asked(root):
    git(root, "branch", "--move", "mine")
    (root / PATH).write_text(SOLVED)
    commit(root)
    assert back(root) == LESSON


def test_a_lesson_that_git_never_saw_cannot_be_put_back(root):
    with pytest.raises(GitProblem, match="git has no earlier version of week1/day2/small.py"):
        stub(make(root, "week1/day2"))


def test_where_the_work_cannot_be_kept_the_lesson_stays(root):
    (root / PATH).write_text(SOLVED)
    (root / ".course").write_text("a file where the folder should be")
    with pytest.raises(NotReset, match="The lesson is as it was"):
        back(root)
    assert (root / PATH).read_text() == SOLVED


def test_guards_in_committed_work_do_not_make_it_the_stub(root):
    guards = "".join(f'    if x == {n}:\n        raise NotImplementedError("{n}")\n' for n in range(4))
    (root / PATH).write_text(SOLVED.replace("    return 2 * x", f"{guards}    return 2 * x"))
    commit(root, "solved, with guards")
    assert back(root) == LESSON
