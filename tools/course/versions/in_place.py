"""A merged commit becomes what the learner sees: all of it, or nothing."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from tools.course.versions.git import GitProblem, Repository, Tree


def put(repository: Repository, before: str, commit: str, merged: Tree) -> None:
    """Change the working tree and the branch; on any failure put both back."""
    head = repository.text("rev-parse", "HEAD")
    new = [path for path in merged if not os.path.lexists(repository.root / path)]
    with _index_restored(repository), _files_restored(repository, before, new):
        repository.run("read-tree", before)
        repository.says("update-index", "-q", "--refresh")  # what differs all the same, the next line refuses
        repository.run("read-tree", "-m", "-u", before, commit)
        repository.run("update-ref", "-m", "course update", "HEAD", commit, head)


@contextmanager
def _index_restored(repository: Repository) -> Iterator[None]:
    """Put git's index back if something fails."""
    index = repository.index
    known = index.read_bytes()
    try:
        yield
    except BaseException:
        index.write_bytes(known)
        raise


@contextmanager
def _files_restored(repository: Repository, commit: str, new: list[str]) -> Iterator[None]:
    """Put the files of a commit back, and take the new ones away, if something fails."""
    try:
        yield
    except BaseException:
        for path in new:
            with suppress(OSError):
                (repository.root / path).unlink()
        with suppress(GitProblem):
            repository.run("read-tree", "--reset", "-u", commit)
        raise
