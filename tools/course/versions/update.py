"""New material of the course, merged into what the learner has; what the learner wrote is never lost.

First everything is kept in a commit. Then the merged tree is made in git's store, where nobody sees it. Only when
it is whole do files change, and if that fails half-way they go back to what they were.
"""

import os
import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from tools.course.versions import in_place
from tools.course.versions.git import MAIN_LINES, GitProblem, Repository, Tree, names
from tools.course.versions.merged_tree import Changes, merged
from tools.words import LONGEST, cut, listed, quoted


@dataclass(kw_only=True)
class Report(Changes):
    """The report of an update. `before` is the commit to go back to; `kept` says that it holds uncommitted work."""

    source: str
    commit: str  # of the source
    date: str
    before: str
    kept: bool = False
    warnings: list[str] = field(default_factory=list)  # what did not go as it should
    changed: bool = False  # is there a new commit?


def update(root: Path, source: str | None = None, fetch: bool = True) -> Report:
    """Merge the course's line `source` into the current branch. Raises GitProblem; then nothing has changed."""
    repository = Repository(root)
    _refuse_if_busy(repository)
    name, fetched = _source(repository, source, fetch)
    theirs, head = (repository.text("rev-parse", f"{commit}^{{commit}}") for commit in (name, "HEAD"))
    date = repository.text("show", "-s", "--format=%cs", theirs)
    report = Report(source=name, commit=theirs, date=date, before=head)
    report.warnings += fetched
    base = repository.merge_base(head, theirs)
    if base is None and repository.text("rev-parse", "--is-shallow-repository") == "true":
        raise GitProblem("This clone has only the newest commits, so nobody knows what you changed.\n"
                         "First: git fetch --unshallow")  # fmt: skip
    if base is None:
        raise GitProblem(f"{name} and your branch have no commit in common, so nobody knows what you changed.\n"
                         "Clone the course anew, and copy your lessons into it.")  # fmt: skip
    if base != theirs:
        _merge(repository, base, theirs, report)
    return report


# Before anything ----------------------------------------------------------------------------------


def _refuse_if_busy(repository: Repository) -> None:
    repository.refuse_if_busy()
    if repository.commit_of("HEAD") is None:
        raise GitProblem("This repository has no commit yet. First: git add -A && git commit -m 'the course'")
    if repository.branch() is None:
        raise GitProblem("You are on no branch, and git would forget the update. First: ./course start NAME")


def _source(repository: Repository, asked: str | None, fetch: bool) -> tuple[str, list[str]]:
    """The name of the course's line, after a fetch; and notes on what could not be fetched."""
    notes = []
    for name in ["/".join(asked.split())] if asked else MAIN_LINES:
        notes += _fetched(repository, name) if fetch else []
        if repository.commit_of(name) is not None:
            return name, notes
    if asked:
        reason = f"{notes[0]}\n" if notes else ""
        raise GitProblem(f"{reason}There is no branch {quoted(name)} here. git branch --all lists those that are.")
    raise GitProblem(
        "\n".join(
            [
                *notes,
                f"There is no {listed(MAIN_LINES, 'or')} to take new material from.",
                "Name the course once: git remote add upstream URL",
            ]
        )
    )


def _fetched(repository: Repository, name: str) -> list[str]:
    """Fetch the remote of a line such as upstream/main, where git knows one; what is to be said of that."""
    remote, _, branch = name.partition("/")
    if not branch or remote not in repository.text("remote").split():
        return []
    known = repository.commit_of(name) is not None
    try:
        repository.run("fetch", "--quiet", remote)
    except GitProblem as problem:
        reason = str(problem).splitlines()[0].removeprefix("git fetch: ")
        so = "this is what was fetched before" if known else "nothing of it was fetched before"
        return [f"{remote} cannot be reached ({reason}); {so}."]
    return [] if repository.commit_of(name) is not None else [f"{remote} has no branch {cut(branch, LONGEST)}."]


# The merge ----------------------------------------------------------------------------------------


def _merge(repository: Repository, base: str, theirs: str, report: Report) -> None:
    with tempfile.TemporaryDirectory(prefix="course-update-") as folder:
        index = Path(folder, "index")
        _keep(repository, theirs, index, report)
        tree = merged(repository, base, report.before, theirs, report)
        untouched = report.before == base  # then the course's commit will do, without one of the learner's
        commit = theirs if untouched else _committed(repository, tree, theirs, index, report)
    in_place.put(repository, report.before, commit, tree)
    report.changed = True


def _committed(repository: Repository, tree: Tree, theirs: str, index: Path, report: Report) -> str:
    """A commit of this tree, of which the learner's work and the course's new line are the parents."""
    index.unlink()
    lines = "".join(f"{mode} {blob}\t{path}\0" for path, (mode, blob) in tree.items())
    repository.run("update-index", "-z", "--index-info", index=index, input=os.fsencode(lines))
    written = repository.text("write-tree", index=index)
    message = f"Update of the course: {report.source}, {report.commit[:10]}"
    return repository.text("commit-tree", written, "-p", report.before, "-p", theirs, "-m", message)


def _keep(repository: Repository, theirs: str, index: Path, report: Report) -> None:
    """A commit, on no branch yet, of all that the update could touch: report.before."""
    shutil.copy2(repository.index, index)  # with its time, by which git knows what may have changed since
    _commit_if_new(repository, index, report, "Staged work")
    repository.run("add", "--update", "--", ".", index=index)
    tracked = set(names(repository.run("ls-files", "-z", index=index)))
    new = [path for path in repository.tree(theirs).keys() - tracked if os.path.lexists(repository.root / path)]
    if new:
        repository.run("add", "--force", "--pathspec-from-file=-", "--pathspec-file-nul", index=index,
                       input=os.fsencode("\0".join(new)))  # fmt: skip
    _commit_if_new(repository, index, report, "Work in progress")


def _commit_if_new(repository: Repository, index: Path, report: Report, what: str) -> None:
    tree = repository.text("write-tree", index=index)
    if tree != repository.text("rev-parse", f"{report.before}^{{tree}}"):
        message = f"{what}, kept before an update of the course"
        report.before = repository.text("commit-tree", tree, "-p", report.before, "-m", message)
        report.kept = True
