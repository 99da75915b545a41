"""The material of the static rules: the files of one unit, parsed once, and the problems they report."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tools.course.content.answers import Broken, Wrong, broken_machines, reference_file, wrong_answers
from tools.course.content.catalogue import Unit
from tools.course.content.gaps import Gap, find_gaps
from tools.course.content.syntax import task_comments


@dataclass(frozen=True)
class Problem:
    """Something that a rule found: `where` in the course, and `what` is wrong, in one line each."""

    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}"


@dataclass(frozen=True)
class Material:
    """One unit and its texts. Trees raise SyntaxError; `reference`, `wrong` and `broken` raise BadAnswer."""

    unit: Unit
    root: Path

    @cached_property
    def stub(self) -> str:
        return self.unit.lesson.read_text(encoding="utf-8")

    @cached_property
    def reference_path(self) -> Path:
        return reference_file(self.unit.name, self.root)

    @cached_property
    def reference(self) -> str:
        return self.reference_path.read_text(encoding="utf-8")

    @cached_property
    def stub_tree(self) -> ast.Module:
        return ast.parse(self.stub, self.at(self.unit.lesson))

    @cached_property
    def reference_tree(self) -> ast.Module:
        return ast.parse(self.reference, self.at(self.reference_path))

    @cached_property
    def tests_tree(self) -> ast.Module:
        return ast.parse(self.unit.tests.read_text(encoding="utf-8"), self.at(self.unit.tests))

    @cached_property
    def gaps(self) -> list[Gap]:
        return find_gaps(self.stub)

    @cached_property
    def comments(self) -> list[int]:
        """The numbers of the `# Task N` comments, in file order."""
        return [number for _, number in task_comments(self.stub)]

    @cached_property
    def tasks(self) -> list[int]:
        """The numbers of all tasks: those of the comments, and the setup tasks, which have none."""
        return sorted({*self.comments, *(task.number for task in self.unit.tasks if task.kind == "setup")})

    @cached_property
    def wrong(self) -> list[Wrong]:
        return wrong_answers(self.unit.name, self.root)

    @cached_property
    def broken(self) -> list[Broken]:
        return broken_machines(self.unit.name, self.root)

    @cached_property
    def test_functions(self) -> list[ast.FunctionDef]:
        """The tests, methods of test classes included, in file order."""
        owners: list[ast.Module | ast.ClassDef] = [
            self.tests_tree,
            *(n for n in self.tests_tree.body if isinstance(n, ast.ClassDef)),
        ]
        inner = (node for owner in owners for node in owner.body)
        return [n for n in inner if isinstance(n, ast.FunctionDef) and n.name.startswith("test_")]

    def at(self, path: Path, line: int | None = None) -> str:
        """`path` as a place in the course: "week1/day1/test_x.py, line 7"."""
        shown = path.relative_to(self.root).as_posix()
        return f"{shown}, line {line}" if line else shown


Problems = Iterator[Problem]
