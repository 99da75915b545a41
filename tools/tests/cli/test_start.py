"""course start gives the learner a branch, says what to do next, and takes uncommitted work along."""

import subprocess

import pytest

from tools import ROOT
from tools.cli.__main__ import main
from tools.course.versions.git import Repository
from tools.tests.course.versions.under_git import ALONE, IDENTITY, begin, commit, git

ADVICE = """\
To keep your work: git add -A && git commit -m "what I did"
journal/ is kept with it; .course/ stays on this machine.
Next: ./course week1/day1
"""


@pytest.fixture
def root(tmp_path, monkeypatch):
    for name, value in {**IDENTITY, **ALONE}.items():
        monkeypatch.setenv(name, value)
    return begin(tmp_path)


def branch(root) -> str:
    return git(root, "symbolic-ref", "--short", "HEAD").strip()


@pytest.mark.parametrize("name", ["ada", "learner/ada"])
def test_a_branch_is_made_and_the_next_step_said(root, capsys, name):
    assert main(["start", name], root) == 0
    made = "You are on learner/ada, a new branch of your own, made from main.\n"
    assert capsys.readouterr().out == made + ADVICE
    assert branch(root) == "learner/ada"


def test_a_branch_that_is_there_is_taken_up_again(root, capsys):
    main(["start", "ada"], root)
    main(["start", "ada"], root)
    git(root, "switch", "--quiet", "main")
    capsys.readouterr()
    assert main(["start", "ada"], root) == 0
    assert capsys.readouterr().out == "You are on learner/ada again.\n" + ADVICE


def test_uncommitted_work_comes_along(root):
    (root / "week1/day1/small.py").write_text("# mine\n")
    assert main(["start", "ada"], root) == 0
    assert (root / "week1/day1/small.py").read_text() == "# mine\n"
    assert git(root, "status", "--porcelain") == " M week1/day1/small.py\n"


def test_uncommitted_work_that_would_be_overwritten_stays_and_is_said(root, capsys):
    main(["start", "ada"], root)
    (root / "week1/day1/small.py").write_text("# hers\n")
    commit(root)
    git(root, "switch", "--quiet", "main")
    (root / "week1/day1/small.py").write_text("# mine\n")
    capsys.readouterr()
    assert main(["start", "ada"], root) == 2
    assert capsys.readouterr().err == (
        "What you changed and did not commit would be overwritten on learner/ada.\n"
        "First: git add -A && git commit -m 'work so far'\n"
    )
    assert (root / "week1/day1/small.py").read_text() == "# mine\n" and branch(root) == "main"


@pytest.mark.parametrize(("name", "better"), [
    ("Ada Lovelace", "ada-lovelace"), ("-d", "d"), ("", "ada"), ("a..b", "a-b"), ("ada.lock", "ada-lock"),
    ("week1/day1", "week1-day1"), ("ada~1", "ada-1"), ("ada.", "ada"), ("Größe", "gr-e"), ("@{u}", "u"),
    ("a\nb", "a-b"),
])  # fmt: skip
def test_a_name_that_git_or_a_shell_would_trip_over_is_refused_with_a_better_one(root, capsys, name, better):
    assert main(["start", "--", name], root) == 2
    assert capsys.readouterr().err == (
        f"{name!r} cannot be the name of a branch. Letters, digits, - and _ can:\n./course start {better}\n"
    )
    assert branch(root) == "main"


@pytest.mark.parametrize("name", ["a", "ada", "Ada_2", "ada.lovelace", "a-b"])
def test_git_takes_every_name_that_is_let_through(root, name):
    assert main(["start", name], root) == 0
    assert branch(root) == f"learner/{name}"


def test_a_folder_that_is_no_repository_is_answered_with_what_to_do(tmp_path, capsys):
    assert main(["start", "ada"], tmp_path) == 2
    printed = capsys.readouterr()
    assert printed.out == "" and "git init" in printed.err and len(printed.err.splitlines()) == 2


def test_a_repository_without_a_commit_is_answered_with_what_to_do(tmp_path, capsys):
    git(tmp_path, "init", "--quiet", "--template=")
    assert main(["start", "ada"], tmp_path) == 2
    assert capsys.readouterr().err.startswith("This repository has no commit yet. First: git add -A")


def test_without_git_one_line_says_so(root, monkeypatch, capsys):
    monkeypatch.setenv("PATH", "")
    assert main(["start", "ada"], root) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_in_this_course_git_keeps_the_journal_and_leaves_progress_out():
    ignored = (ROOT / ".gitignore").read_text().splitlines()
    assert ".course/" in ignored and not any("journal" in line for line in ignored)


def test_a_merge_under_way_is_named(root, capsys):
    (root / ".git/MERGE_HEAD").write_text(git(root, "rev-parse", "HEAD"))
    assert main(["start", "ada"], root) == 2
    assert capsys.readouterr() == ("", "A merge is under way. Finish it, or: git merge --abort\n")


def test_a_branch_called_learner_is_in_the_way(root, capsys):
    git(root, "branch", "learner")
    assert main(["start", "ada"], root) == 2
    assert capsys.readouterr() == (
        "",
        "A branch called learner is in the way of learner/ada.\nFirst: git branch -m learner old-learner\n",
    )
    git(root, *"branch -m learner old-learner".split())
    assert main(["start", "ada"], root) == 0


def test_a_name_that_is_too_long_is_said_with_a_shorter_one(root, capsys):
    assert main(["start", "x" * 300], root) == 2
    assert capsys.readouterr().err == (
        f"'{'x' * 37}...' is longer than the 40 letters that a branch may have here:\n./course start {'x' * 40}\n"
    )


def test_git_that_cannot_write_is_one_plain_line(root, capsys, monkeypatch):
    said = (
        b"fatal: cannot lock ref 'refs/heads/learner/ada': Unable to create "
        b"'/x/.git/refs/heads/learner/ada.lock': Read-only file system\n"
    )
    done = subprocess.CompletedProcess([], 128, b"", said)
    run = Repository._run
    monkeypatch.setattr(
        Repository,
        "_run",
        lambda self, arguments, *how: done if arguments[0] == "switch" else run(self, arguments, *how),
    )
    assert main(["start", "ada"], root) == 2
    assert capsys.readouterr().err == f"git cannot write in {root} (Read-only file system).\n"


def test_its_lines_fit_a_narrow_terminal(root, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    assert main(["start", "ada"], root) == 0
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 40
