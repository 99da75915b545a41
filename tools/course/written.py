"""Which of a lesson's functions the learner wrote: those that differ from the stub and have no gap left."""

import ast
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

from tools.course import source
from tools.course.versions import reset
from tools.course.catalogue import Unit
from tools.course.versions.git import GitProblem

MARKER = "NotImplementedError"


@dataclass(frozen=True)
class Piece:
    """A function or class of a lesson, as text."""

    name: str
    task: int | None
    source: str
    known: bool  # it differs from the stub; False where there is no stub to compare with


def pieces(unit: Unit) -> Iterator[Piece]:
    """In file order what has no gap left and is not as it was given; nothing while the file does not parse."""
    text = source.read(unit.lesson)
    own, stub = definitions(text), given(unit)
    theirs = None if stub is None else {name: ast.dump(node) for name, node in definitions(stub).items()}
    lines = text.split("\n")
    for name, node in own.items():
        if not is_open(node) and (theirs is None or theirs.get(name) != ast.dump(node)):
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            yield Piece(name, _task(unit, first), "\n".join(lines[first - 1 : node.end_lineno]), theirs is not None)


def definitions(text: str) -> dict[str, ast.stmt]:
    """The functions and classes at the top of a file, by name; none where it does not parse."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    return {node.name: node for node in body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}


def is_open(node: ast.stmt) -> bool:
    """Is there a gap left in it: a marker that raises, or a body of nothing but pass?"""
    body = node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body
    if all(isinstance(statement, ast.Pass) for statement in body):
        return True
    names = (n.id for n in ast.walk(node) if isinstance(n, ast.Name))
    return MARKER in names


def given(unit: Unit) -> str | None:
    """The stub as git has it; None where it has none."""
    try:
        return reset.stub(unit).text.decode(errors="replace")
    except GitProblem:
        return None


def _task(unit: Unit, line: int) -> int | None:
    above = [task for task in unit.tasks if task.line and task.line <= line]
    return max(above, key=lambda task: task.line).number if above else None
