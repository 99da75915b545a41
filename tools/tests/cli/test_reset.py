"""course reset says where the stub comes from, where the work is, and how to have it back."""

import re

import pytest

from tools.cli.__main__ import main
from tools.tests.course.miniature import LESSON
from tools.tests.course.versions.under_git import ALONE, IDENTITY, begin, git

PATH = "week1/day1/small.py"


@pytest.fixture
def root(tmp_path, monkeypatch):
    for name, value in {**IDENTITY, **ALONE}.items():
        monkeypatch.setenv(name, value)
    return begin(tmp_path)


def test_the_screen_names_the_commit_the_copy_and_the_way_back(root, capsys):
    (root / PATH).write_text("# mine\n")
    assert main(["reset", "week1/day1"], root) == 0
    first, second, third, last = capsys.readouterr().out.splitlines()
    when = git(root, "show", "-s", "--format=%cs").strip()
    assert first == f"{PATH} is the stub of commit {git(root, 'rev-parse', 'HEAD')[:10]}, {when}."
    assert second == "Your work is kept; this brings it back:" and last == "Next: ./course week1/day1"
    kept = re.fullmatch(rf"  cp (\.course/kept/week1/day1/small-\d{{8}}-\d{{6}}\.py) {PATH}", third)[1]
    assert ((root / PATH).read_text(), (root / kept).read_text()) == (LESSON, "# mine\n")


def test_a_stub_that_is_untouched_is_said_to_be(root, capsys):
    assert main(["reset", "week1/day1"], root) == 0
    assert capsys.readouterr().out.splitlines()[0].endswith(" is the stub: there is nothing to put back.")


@pytest.mark.parametrize(("day", "says"), [("week1/day9", "There is no day or kata"), ("nothing", "There is no day")])
def test_a_day_that_does_not_exist_is_said(root, capsys, day, says):
    assert main(["reset", day], root) == 2
    assert capsys.readouterr().err.startswith(says)


def test_without_git_one_line_says_so_and_the_lesson_stays(root, monkeypatch, capsys):
    (root / PATH).write_text("# mine\n")
    monkeypatch.setenv("PATH", "")
    assert main(["reset", "week1/day1"], root) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert (root / PATH).read_text() == "# mine\n"
