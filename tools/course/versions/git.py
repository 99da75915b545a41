"""git, as far as the course needs it: asked by its plumbing, answered in values or in a few plain lines."""

import os
import re
import subprocess
from pathlib import Path

MAIN_LINES = ("upstream/main", "origin/main", "main")  # where the course itself is found, first choice first
BRANCH = "learner/"  # a learner's branch is this and a name
REDIRECTS = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX")  # set where git itself started this program
STRANGER = {"GIT_AUTHOR_NAME": "learner", "GIT_AUTHOR_EMAIL": "learner@localhost",
            "GIT_COMMITTER_NAME": "learner", "GIT_COMMITTER_EMAIL": "learner@localhost"}  # fmt: skip


UNWRITABLE = re.compile(r"Read-only file system|Permission denied|No space left on device")
BUSY = {"MERGE_HEAD": "merge", "CHERRY_PICK_HEAD": "cherry-pick", "REVERT_HEAD": "revert",
        "rebase-merge": "rebase", "rebase-apply": "rebase"}  # fmt: skip

Blob = tuple[str, str]  # mode and hash
Tree = dict[str, Blob]  # by path


class GitProblem(Exception):
    """Something that git does not do; str() is one to five lines: what, why, and what to do."""


class Repository:
    """The git repository whose top folder is root. Raises GitProblem where there is none."""

    def __init__(self, root: Path):
        self.root = root
        if not root.is_dir():
            raise GitProblem(f"There is no folder {root}.")
        try:
            top = self.text("rev-parse", "--show-toplevel")
        except GitProblem as problem:
            if "not a git repository" not in str(problem):
                raise
            raise GitProblem("The course lies in no git repository here, so git can keep nothing.\n"
                             "Get it with git clone; or make this folder one: git init && git add -A && "
                             "git commit -m 'the course'") from None  # fmt: skip
        if Path(top).resolve() != root.resolve():
            raise GitProblem(f"The course lies inside another git repository, {top}.\n"
                             "This command needs a repository of the course's own.")  # fmt: skip

    def run(self, *arguments: str, input: bytes | None = None, index: Path | None = None) -> bytes:
        """The output of `git ARGUMENTS`; with `index` in place of the repository's own. Raises GitProblem."""
        done = self._run(arguments, input, index)
        if done.returncode:
            said = done.stderr.decode(errors="replace").strip().splitlines() or ["it gave no reason"]
            if reason := UNWRITABLE.search("\n".join(said)):
                raise GitProblem(f"git cannot write in {self.root} ({reason[0]}).")
            words = [line.removeprefix("fatal: ").removeprefix("error: ") for line in said[:4]]
            raise GitProblem("\n".join([f"git {arguments[0]}: {words[0]}", *words[1:]]))
        return done.stdout

    def text(self, *arguments: str, input: bytes | None = None, index: Path | None = None) -> str:
        """The same, as text without the last end of line."""
        return self.run(*arguments, input=input, index=index).decode(errors="surrogateescape").rstrip("\n")

    def says(self, *arguments: str) -> bool:
        """Does this git command succeed?"""
        return self._run(arguments, None, None).returncode == 0

    def commit_of(self, name: str) -> str | None:
        """The commit that a name stands for, or None."""
        done = self._run(("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}"), None, None)
        return done.stdout.decode().strip() or None

    def refuse_if_busy(self) -> None:
        """Raise GitProblem while a merge or the like is under way."""
        folder = self.root / self.text("rev-parse", "--git-dir")
        for mark, what in BUSY.items():
            if (folder / mark).exists():
                raise GitProblem(f"A {what} is under way. Finish it, or: git {what} --abort")

    def branch(self) -> str | None:
        """The current branch; None when HEAD is on none."""
        done = self._run(("symbolic-ref", "--quiet", "--short", "HEAD"), None, None)
        return done.stdout.decode(errors="surrogateescape").strip() or None

    def main_line(self) -> str | None:
        """The name under which the course itself is known here: upstream/main, origin/main, main or None."""
        return next((name for name in MAIN_LINES if self.commit_of(name)), None)

    def merge_base(self, one: str, other: str) -> str | None:
        """The last commit that both descend from, or None."""
        return self._run(("merge-base", one, other), None, None).stdout.decode().strip() or None

    def content(self, commit: str, path: str) -> bytes | None:
        """The content of a file in a commit; None where it had no such file."""
        done = self._run(("cat-file", "blob", f"{commit}:{path}"), None, None)
        return done.stdout if done.returncode == 0 else None

    def tree(self, commit: str) -> Tree:
        """All files of a commit."""
        entries = {}
        for line in names(self.run("ls-tree", "-r", "-z", commit)):
            facts, _, path = line.partition("\t")
            mode, _, blob = facts.split()
            entries[path] = mode, blob
        return entries

    @property
    def index(self) -> Path:
        """The file in which git keeps what is staged."""
        return self.root / self.text("rev-parse", "--git-path", "index")

    def _run(
        self, arguments: tuple[str, ...], input: bytes | None, index: Path | None
    ) -> subprocess.CompletedProcess[bytes]:
        environment = {key: value for key, value in os.environ.items() if key not in REDIRECTS}
        environment |= {"LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0"}
        if index is not None:
            environment["GIT_INDEX_FILE"] = str(index)
        if arguments[0] == "commit-tree" and not self.says("var", "GIT_COMMITTER_IDENT"):
            environment = STRANGER | environment  # a commit must not fail for want of a name
        try:
            return subprocess.run(["git", *arguments], cwd=self.root, input=input or b"", env=environment,
                                  capture_output=True)  # fmt: skip
        except FileNotFoundError:
            raise GitProblem("This needs git, which is not on the PATH. On Debian, Ubuntu and WSL: "
                             "sudo apt install git") from None  # fmt: skip


def names(output: bytes) -> list[str]:
    """The names that `git ... -z` lists."""
    return [os.fsdecode(name) for name in output.split(b"\0") if name]
