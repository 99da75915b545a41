"""The stub of a lesson back as it was, with the learner's work kept under .course/kept."""

import os
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from tools.course.content.catalogue import Unit
from tools.course.content.gaps import find_gaps
from tools.course.versions import merge
from tools.course.versions.git import GitProblem, Repository

KEPT = ".course/kept"


class NotReset(OSError):
    """A file could not be written; str() is one line. The lesson is as it was."""


@dataclass(frozen=True)
class Stub:
    """A lesson as the course gives it, and the commit that has it so."""

    text: bytes
    commit: str
    date: str


def stub(unit: Unit) -> Stub:
    """The lesson of `unit` on the course's main line. Raises GitProblem where git does not know it.

    That is the line's last commit that the learner's branch has too; an update moves it on. A learner may have
    committed on that very line: then, of all versions up to there, the newest with the most gaps is the stub.
    """
    repository = Repository(unit.root)
    path = unit.lesson.relative_to(unit.root).as_posix()
    line = repository.main_line()
    last = (repository.merge_base("HEAD", line) if line else None) or repository.commit_of("HEAD")
    commits = repository.text("log", "--format=%H %cs", last, "--", path).splitlines() if last else []
    versions = [Stub(text, *commit.split()) for commit in commits
                if (text := repository.content(commit.split()[0], path)) is not None]  # fmt: skip
    if not versions:
        raise GitProblem(f"git has no earlier version of {path}, so there is nothing to go back to.")
    return max(versions, key=lambda version: len(find_gaps(_text(version))))  # the first of equals: the newest


def given(unit: Unit) -> str | None:
    """The text of the stub; None where git does not know it."""
    try:
        return _text(stub(unit))
    except GitProblem:
        return None


def _text(version: Stub) -> str:
    return version.text.decode(errors="replace")


def reset(unit: Unit, to: Stub, now: datetime) -> Path | None:
    """Put the stub in place; returns where the learner's work is kept, None where the lesson was the stub.

    Raises NotReset.
    """
    try:
        work = unit.lesson.read_bytes()
        if merge.same(work, to.text):
            return None
        kept = keep(unit, work, now)
        new = unit.lesson.with_name(f".{unit.lesson.name}.{os.getpid()}.tmp")
        new.write_bytes(merge.with_ends_of(work, to.text))
        os.replace(new, unit.lesson)
    except OSError as error:
        raise NotReset(f"{error.filename}: {error.strerror}. The lesson is as it was.") from None
    return kept


def keep(unit: Unit, work: bytes, now: datetime) -> Path:
    """A copy of the learner's work under a name that nothing has yet. Raises OSError."""
    folder = unit.root / KEPT / unit.name
    folder.mkdir(parents=True, exist_ok=True)
    name, number = f"{unit.lesson.stem}-{now:%Y%m%d-%H%M%S}", 1
    while True:
        file = folder / f"{name}{'' if number == 1 else f'-{number}'}.py"
        try:
            with open(file, "xb") as copy:
                copy.write(work)
            return file
        except FileExistsError:
            number += 1
