"""Small courses under git, with a learner and a course that both go on; every call is real git."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

from tools.course.versions.update import Report, update
from tools.tests.course.miniature import write

IDENTITY = {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER")
            for what, value in (("NAME", "t"), ("EMAIL", "t@example.org"))}  # fmt: skip
ALONE = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}  # nobody's own settings decide a test


def git(root: Path, *arguments: str) -> str:
    """What git prints."""
    done = subprocess.run(["git", *arguments], cwd=root, env=os.environ | IDENTITY | ALONE, check=True,
                          capture_output=True, text=True, errors="surrogateescape")  # fmt: skip
    return done.stdout


def commit(root: Path, message: str = "as it is") -> None:
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--allow-empty", "--message", message)


def begin(root: Path, *names: str, **texts: str) -> Path:
    """A repository with a course of these units in its first commit, on main; the learner stands on main."""
    for name in names or ("week1/day1",):
        write(root, name, **texts)
    (root / ".gitignore").write_text(".course/\n")
    git(root, "init", "--quiet", "--template=", "--initial-branch=main")
    commit(root, "the course")
    return root


def snapshot(root: Path) -> dict[str, bytes]:
    """Every file and its content, git's own left out."""
    files = (file for file in root.rglob("*") if file.is_file() and ".git" not in file.relative_to(root).parts)
    return {file.relative_to(root).as_posix(): file.read_bytes() for file in files}


def course_goes_on(root: Path, change: Callable[[], object]) -> None:
    """Let `change` edit main; the learner then stands on a branch from before that."""
    git(root, "switch", "--quiet", "main")
    change()
    commit(root, "the course goes on")
    git(root, "switch", "--quiet", "--create", "learner/ada", "main~1")


def course_writes(root: Path, path: str, text: str) -> None:
    def change():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)

    course_goes_on(root, change)


def run(root: Path, source: str | None = "main") -> Report:
    """An update that leaves nothing uncommitted."""
    report = update(root, source)
    assert git(root, "status", "--porcelain") == ""
    return report
