"""What the learner wrote of a lesson, what is still a gap, and what the file was given with."""

import ast
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

from tools.check.gaps import gap_in
from tools.course.content import source
from tools.course.content.catalogue import Unit
from tools.course.versions import reset
from tools.course.versions.git import GitProblem


@dataclass(frozen=True)
class Piece:
    """A function or class of a lesson, as text."""

    name: str
    task: int | None
    source: str
    known: bool  # it differs from the stub; False where there is no stub to compare with


def pieces(unit: Unit) -> Iterator[Piece]:
    """In file order what has no gap left and is not as it was given; nothing while the file does not parse."""
    text, stub = source.read(unit.lesson), given(unit)
    theirs = definitions(stub or "")
    lines = text.split("\n")
    for name, node in definitions(text).items():
        if gap_line(node, theirs.get(name)) is None and not same(node, theirs.get(name)):
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            yield Piece(name, _task(unit, first), "\n".join(lines[first - 1 : node.end_lineno]), stub is not None)


def statements(text: str) -> list[ast.stmt]:
    """The statements at the top of a file; none where it does not parse."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


def definitions(text: str) -> dict[str, ast.stmt]:
    """The functions and classes at the top of a file, by name; none where it does not parse."""
    return {node.name: node for node in statements(text) if isinstance(node, (ast.FunctionDef, ast.ClassDef))}


def same(node: ast.stmt, other: ast.stmt | None) -> bool:
    """Do two definitions say the same, whatever their layout and comments?"""
    return other is not None and ast.dump(node) == ast.dump(other)


def gap_line(node: ast.stmt, stub: ast.stmt | None = None) -> int | None:
    """The line where a function is still to be written, None where it is written.

    stub: as it was given, where that is known. A gap is the course's marker, wherever it stands, or the `pass` at the
    end of a function that is as it was given, or that holds nothing else. A kernel that ends in `pass`, and a guard
    that raises NotImplementedError for what it does not take, are written.
    """
    markers = (inner.lineno for inner in ast.walk(node) if isinstance(inner, ast.Raise) and _is_marker(inner))
    if (line := next(markers, None)) is not None:
        return line
    body = node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body
    empty = all(isinstance(statement, ast.Pass) for statement in body)
    unchanged = isinstance(node.body[-1], ast.Pass) and same(node, stub)
    return node.body[-1].lineno if empty or unchanged else None


def _is_marker(statement: ast.Raise) -> bool:
    match statement.exc:
        case ast.Call(func=ast.Name(id="NotImplementedError"), args=[ast.Constant(value=str(message))]):
            return gap_in(message) is not None
    return False


def untouched(unit: Unit) -> frozenset[int]:
    """The tasks of repair whose functions are all as they were given; none where git does not know how that was."""
    repairs = [task for task in unit.tasks if task.kind == "repair"]
    stub = definitions(given(unit) or "") if repairs else {}
    own = definitions(source.read(unit.lesson)) if stub else {}
    return frozenset(
        task.number
        for task in repairs
        if stub and task.functions and all(name in own and same(own[name], stub.get(name)) for name in task.functions)
    )


def given(unit: Unit) -> str | None:
    """The stub as git has it; None where it has none."""
    try:
        return reset.stub(unit).text.decode(errors="replace")
    except GitProblem:
        return None


def _task(unit: Unit, line: int) -> int | None:
    above = [task for task in unit.tasks if task.line and task.line <= line]
    return max(above, key=lambda task: task.line).number if above else None
