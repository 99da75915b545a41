"""Where an update takes the course from, and what it says where that cannot be done."""

import shutil

import pytest

from tools.course.versions.git import GitProblem, Repository
from tools.course.versions.update import update
from tools.tests.course.versions.edits import LESSON, NEW, SOLVED
from tools.tests.course.versions.under_git import IDENTITY, commit, course_writes, git, run, snapshot


@pytest.fixture
def clone(root, tmp_path):
    git(root, "clone", "--quiet", "--template=", str(root), str(tmp_path / "clone"))
    return tmp_path / "clone"


def test_without_a_name_the_course_is_fetched_from_upstream_then_from_origin(root, clone):
    (root / LESSON).write_text(NEW)
    commit(root)
    report = run(clone, None)
    assert (report.source, report.changed, (clone / LESSON).read_text()) == ("origin/main", True, NEW)
    git(clone, "remote", "rename", "origin", "upstream")
    assert update(clone).source == "upstream/main"


def test_an_upstream_that_was_never_fetched_is_fetched(root, clone, tmp_path):
    git(root, "clone", "--quiet", "--template=", str(root), str(tmp_path / "theirs"))
    (tmp_path / "theirs" / LESSON).write_text(NEW)
    commit(tmp_path / "theirs")
    git(clone, "remote", "add", "upstream", str(tmp_path / "theirs"))
    report = run(clone, None)
    assert (report.source, report.arrived, report.warnings) == ("upstream/main", [LESSON], [])


def test_an_upstream_that_was_never_fetched_and_cannot_be_reached_is_said(root, clone, tmp_path):
    git(clone, "remote", "add", "upstream", str(tmp_path / "nowhere"))
    report = run(clone, None)
    assert report.source == "origin/main" and len(report.warnings) == 1
    assert report.warnings[0].startswith("upstream cannot be reached (")
    assert report.warnings[0].endswith("; nothing of it was fetched before.")


def test_an_upstream_without_a_main_branch_is_said(root, clone, tmp_path):
    git(tmp_path, "init", "--quiet", "--template=", "--initial-branch=trunk", "theirs")
    git(clone, "remote", "add", "upstream", str(tmp_path / "theirs"))
    report = run(clone, None)
    assert (report.source, report.warnings) == ("origin/main", ["upstream has no branch main."])


def test_a_named_remote_that_cannot_be_reached_is_the_reason(root, tmp_path):
    git(root, "remote", "add", "upstream", str(tmp_path / "nowhere"))
    with pytest.raises(GitProblem, match="^upstream cannot be reached .*\n?.*There is no branch 'upstream/main' here"):
        update(root, "upstream/main")


@pytest.mark.parametrize("source", ["origin/main", "origin main"])
def test_a_source_may_be_named_as_git_pull_does(root, clone, source):
    (root / LESSON).write_text(NEW)
    commit(root)
    assert run(clone, source).arrived == [LESSON]


def test_a_remote_that_cannot_be_reached_is_said_and_what_was_fetched_before_is_used(root, clone, tmp_path):
    (root / LESSON).write_text(NEW)
    commit(root)
    git(clone, "fetch", "--quiet")
    root.rename(tmp_path / "elsewhere")
    report = run(clone, None)
    assert report.arrived == [LESSON]
    assert report.warnings[0].startswith("origin cannot be reached (") and len(report.warnings) == 1


def test_a_shallow_clone_is_told_how_to_become_a_whole_one(root, tmp_path):
    commit(root)
    git(tmp_path, "clone", "--quiet", "--template=", "--depth=1", root.as_uri(), "shallow")
    commit(tmp_path / "shallow", "mine")
    (root / LESSON).write_text(NEW)
    commit(root)
    git(tmp_path / "shallow", "fetch", "--quiet", "--depth=1")
    with pytest.raises(GitProblem, match="git fetch --unshallow"):
        update(tmp_path / "shallow")
    git(tmp_path / "shallow", "fetch", "--quiet", "--unshallow")
    assert update(tmp_path / "shallow").changed


def test_whoever_has_no_name_in_git_can_update_too(root, monkeypatch):
    course_writes(root, LESSON, NEW)
    (root / LESSON).write_text(SOLVED)
    for name in IDENTITY:
        monkeypatch.delenv(name)
    git_config = root / ".git/config"
    git_config.write_text(git_config.read_text() + "[user]\n\tuseConfigOnly = true\n")
    assert run(root).kept
    assert git(root, "show", "-s", "--format=%an", "HEAD") == "learner\n"


def detach(root):
    git(root, "switch", "--quiet", "--detach")


def forget_history(root):
    shutil.rmtree(root / ".git")
    git(root, "init", "--quiet", "--template=", "--initial-branch=main")


def begin_anew(root):
    forget_history(root)
    commit(root)
    git(root, "switch", "--quiet", "--orphan", "learner/ada")
    commit(root)


def be_in_a_merge(root):
    (root / ".git/MERGE_HEAD").write_text(git(root, "rev-parse", "HEAD"))


@pytest.mark.parametrize(("harm", "source", "says"), [
    (detach, "main", "You are on no branch"),
    (be_in_a_merge, "main", "A merge is under way. Finish it, or: git merge --abort"),
    (forget_history, "main", "This repository has no commit yet"),
    (begin_anew, "main", "no commit in common"),
    (lambda root: git(root, "branch", "-m", "mine"), None, "no upstream/main, origin/main or main to take"),
    (lambda root: None, "nowhere", "There is no branch 'nowhere' here"),
    (lambda root: None, "--force", "There is no branch '--force' here"),
    (lambda root: None, "x" * 300, r"There is no branch 'x{37}\.\.\.' here"),
    (lambda root: shutil.rmtree(root / ".git"), None, "in no git repository"),
])  # fmt: skip
def test_what_cannot_be_updated_is_said_with_what_to_do_and_left_alone(root, harm, source, says):
    harm(root)
    before = snapshot(root)
    with pytest.raises(GitProblem, match=says) as raised:
        update(root, source)
    assert len(str(raised.value).splitlines()) <= 4
    assert snapshot(root) == before


def test_a_course_inside_another_repository_is_refused(root):
    with pytest.raises(GitProblem, match="inside another git repository"):
        Repository(root / "week1")


def test_without_git_one_line_says_so(root, monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(GitProblem, match="^This needs git, which is not on the PATH"):
        Repository(root)
