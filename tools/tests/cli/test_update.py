"""course update says where the news come from, what arrived, what to look at, and how to undo it."""

import pytest

from tools.cli import update as command
from tools.cli.__main__ import main
from tools.tests.course.miniature import DAY, LESSON, write
from tools.tests.course.versions.under_git import ALONE, IDENTITY, begin, commit, git, snapshot

PATH = "week1/day1/small.py"
GAP = '    raise NotImplementedError("week1/day1 task 1: double")\n'
SOLVED = LESSON.replace(GAP, "    return 2 * x\n")


@pytest.fixture
def root(tmp_path, monkeypatch):
    for name, value in {**IDENTITY, **ALONE}.items():
        monkeypatch.setenv(name, value)
    begin(tmp_path)
    git(tmp_path, "branch", "learner/ada")
    return tmp_path


def course_goes_on(root, lesson=LESSON, **texts):
    (root / PATH).write_text(lesson)
    write(root, "week1/day2", **texts)
    commit(root)
    git(root, "switch", "--quiet", "learner/ada")


def test_the_screen_of_an_update_with_a_conflict_in_a_gap(root, capsys):
    course_goes_on(
        root,
        LESSON.replace(
            'x: int) -> int:\n    """Twice x."""\n' + GAP, 'x: int, y=1) -> int:\n    """Twice x."""\n    z = y\n' + GAP
        ),
    )
    (root / PATH).write_text(SOLVED)
    assert main(["update"], root) == 0
    printed = capsys.readouterr()
    course, kept, when = (
        git(root, *words).strip()[:10]
        for words in (["rev-parse", "main"], ["rev-parse", "HEAD^1"], ["show", "-s", "--format=%cs", "main"])
    )
    assert printed.err == ""
    assert (
        printed.out
        == f"""\
From main, {course} of {when}.
What you had not committed is now in commit {kept}.

New or changed: 3 files
  week1/day2/day.toml
  week1/day2/small.py
  week1/day2/test_small.py

Joined with your changes: 1 file
  week1/day1/small.py

To look at
  week1/day1/small.py: your double stayed; the course has changed it too. The
    course's: git show {course}:week1/day1/small.py
  week1/day1/small.py: double has a new signature. Does your body still fit it?

To undo all of it: git reset --hard {kept}
Next: ./course week1/day1
"""
    )
    assert "def double(x: int, y=1)" in (root / PATH).read_text() and "return 2 * x" in (root / PATH).read_text()


def test_what_the_screen_says_undoes_it(root, capsys):
    course_goes_on(root)
    (root / PATH).write_text(SOLVED)
    before = snapshot(root)
    main(["update", "main"], root)
    undo = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("To undo all of it: git "))
    git(root, *undo.removeprefix("To undo all of it: git ").split())
    assert snapshot(root) == before


def test_nothing_new_is_one_line_and_what_is_next(root, capsys):
    git(root, "switch", "--quiet", "learner/ada")
    assert main(["update"], root) == 0
    first, *where, last = capsys.readouterr().out.splitlines()
    assert first.startswith("Nothing new: you have all of main, ") and last == "Next: ./course week1/day1"
    assert " ".join(where) == (
        "git knows no remote upstream or origin here, so this looked at your own branch. "
        "To name the course, once: git remote add upstream URL"
    )


def test_many_files_are_counted(root, capsys):
    for number in range(12):
        (root / f"page{number:02}.md").write_text("x")
    course_goes_on(root)
    main(["update"], root)
    lines = capsys.readouterr().out.splitlines()
    assert "New or changed: 15 files" in lines and "  and 7 more" in lines


def test_a_day_that_came_broken_is_said_after_the_update(root, capsys):
    course_goes_on(root, day=DAY.replace("minutes = 30", "minutes = = 30"))
    assert main(["update"], root) == 0
    assert "week1/day2/day.toml:2: not valid TOML" in capsys.readouterr().err


@pytest.mark.parametrize("source", ["nowhere", "origin/main", "--all"])
def test_what_cannot_be_done_ends_with_the_words_that_nothing_has_changed(root, capsys, source):
    assert main(["update", "--", source], root) == 2
    printed = capsys.readouterr()
    assert printed.out == "" and printed.err.splitlines()[-1] == "Nothing has changed."
    assert len(printed.err.splitlines()) <= 5


def test_an_interrupt_ends_with_the_same_words(root, capsys, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "update", interrupted)
    assert main(["update"], root) == 130
    assert capsys.readouterr().err == "\nStopped. Nothing has changed.\n"
