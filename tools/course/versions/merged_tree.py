"""Path by path, what a tree holds in which the learner's changes and the course's are joined."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tools.course.versions import merge
from tools.course.versions.git import Blob, GitProblem, Repository, Tree, names
from tools.words import listed

LESSON = re.compile(r"(?P<folder>week\d+/(?:day\d+|katas/\w+))/(?P<name>(?!test_)\w+)\.py")
PLAIN, RUNNABLE = "100644", "100755"


@dataclass
class Changes:
    """The changes that a merge made, file by file."""

    arrived: list[str] = field(default_factory=list)  # files that are now as the course has them
    joined: list[str] = field(default_factory=list)  # files with changes of both
    left: list[str] = field(default_factory=list)  # files that the course gave up
    notes: list[str] = field(default_factory=list)  # what the learner should look at, a line each


def merged(repository: Repository, base: str, mine: str, theirs: str, changes: Changes) -> Tree:
    """The tree of what both made of `base`; `changes` learns of it. Raises GitProblem where it cannot be one tree."""
    tree = _Merge(repository, base, mine, theirs, changes).tree()
    _refuse_clashes(tree)
    return tree


class _Merge:
    """Decides path by path what the merged tree holds."""

    def __init__(self, repository: Repository, base: str, mine: str, theirs: str, changes: Changes):
        self.repository, self.course, self.changes = repository, theirs[:10], changes
        self.base, self.mine, self.theirs = (repository.tree(commit) for commit in (base, mine, theirs))
        renames = _renames(repository, base, theirs)
        self.moved = {old: new for old, new in renames if new not in self.mine and _akin(old, new)}

    def tree(self) -> Tree:
        came_from = {new: old for old, new in self.moved.items()}
        merged = {}
        for path in sorted(self.base.keys() | self.mine.keys() | self.theirs.keys()):
            old = came_from.get(path, path)
            if path in self.moved:
                continue  # decided under its new name
            entry = self._decide(path, old, self.base.get(old), self.mine.get(old), self.theirs.get(path))
            if entry:
                merged[path] = entry
        return merged

    def _decide(self, path: str, old: str, base: Blob | None, mine: Blob | None, theirs: Blob | None) -> Blob | None:
        """The entry of one file, or None where there is to be none."""
        if theirs == base and path == old or theirs == mine:
            return mine
        if mine == base or (mine and base and theirs and self._only_ends_of_lines(base, mine)):
            (self.changes.arrived if theirs else self.changes.left).append(path)
            return self._with_ends_of(mine, theirs) if mine and theirs and mine != base else theirs
        if theirs is None:
            self._note(f"{path}: the course has given it up; you changed it, so it stays.")
            return mine
        if mine is None:
            if theirs != base:
                self._note(f"{path}: you had removed it, and the course has a new one. It is back.")
                self.changes.arrived.append(path)
                return theirs
            return None
        return self._join(path, old, base, mine, theirs)

    def _join(self, path: str, old: str, base: Blob | None, mine: Blob, theirs: Blob) -> Blob:
        """Both changed it."""
        if base is None or not {entry[0] for entry in (mine, theirs)} <= {PLAIN, RUNNABLE}:
            self._note(f"{path}: you and the course each have one; yours stays. {self._see(path)}")
            return mine
        contents = [self._blob(entry) for entry in (base, mine, theirs)]
        match = LESSON.fullmatch(path)
        is_lesson = match and f"{match['folder']}/test_{match['name']}.py" in self.theirs
        result = (merge.lesson if is_lesson else merge.plain)(*contents)
        self.changes.joined.append(path)
        self._tell(path, result, "outside the gaps " if is_lesson else "")
        mode = theirs[0] if mine[0] == base[0] else mine[0]
        return mode, self.repository.text("hash-object", "-w", "--stdin", input=result.text)

    def _tell(self, path: str, result: merge.Merged, where: str) -> None:
        see = self._see(path)
        if result.kept:
            self._note(f"{path}: your {listed(result.kept)} stayed; the course has changed it too. {see}")
        if result.signatures:
            self._note(f"{path}: {listed(result.signatures)} has a new signature. Does your body still fit it?")
        if result.elsewhere:
            self._note(f"{path}: {where}you and the course changed the same lines; yours stayed. {see}")

    def _only_ends_of_lines(self, base: Blob, mine: Blob) -> bool:
        return base[0] == mine[0] and merge.same(self._blob(base), self._blob(mine))

    def _with_ends_of(self, mine: Blob, theirs: Blob) -> Blob:
        """The course's version with the ends of lines that the learner's editor writes."""
        text = merge.with_ends_of(self._blob(mine), self._blob(theirs))
        return theirs[0], self.repository.text("hash-object", "-w", "--stdin", input=text)

    def _blob(self, entry: Blob) -> bytes:
        return self.repository.run("cat-file", "blob", entry[1])

    def _see(self, path: str) -> str:
        return f"The course's: git show {self.course}:{path}"

    def _note(self, line: str) -> None:
        self.changes.notes.append(line)


def _refuse_clashes(tree: Tree) -> None:
    """A file and a folder cannot have the same name."""
    for path in tree:
        for folder in map(str, Path(path).parents):
            if folder in tree:
                raise GitProblem(f"The course has a folder {folder}, where you have a file. Move the file first.")


def _renames(repository: Repository, base: str, theirs: str) -> Iterator[tuple[str, str]]:
    fields = iter(names(repository.run("diff-tree", "-r", "-z", "-M", "--diff-filter=R", base, theirs)))
    for _ in fields:  # the facts; then the two names
        yield next(fields), next(fields)


def _akin(old: str, new: str) -> bool:
    """Is it still the same file? One that merely looks alike may be another day's."""
    return Path(old).parent == Path(new).parent or Path(old).name == Path(new).name
