"""Where a stub leaves gaps: functions that end in a marker, after docstring and given statements."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from tools.course.content.answers import after_docstring
from tools.course.content.catalogue import Unit

TASK_COMMENT = re.compile(r"^# Task (\d+)\b", re.MULTILINE)


@dataclass(frozen=True)
class Gap:
    """A function to be written. `given` statements precede its marker; `message` is None for a `pass`."""

    function: str  # "f", or "Class.f"
    task: int  # the number of the last `# Task N` above it; 0 if there is none
    given: int
    line: int
    message: str | None


def functions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Every function of a module and every method of its classes, by name ("f", "Class.f")."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from (
                (f"{node.name}.{inner.name}", inner) for inner in node.body if isinstance(inner, ast.FunctionDef)
            )


def find_gaps(stub: str) -> list[Gap]:
    """The gaps of the lesson text `stub`, in order. Raises SyntaxError."""
    gaps = []
    for name, function in functions(ast.parse(stub)):
        body = after_docstring(function)
        if body and is_marker(body[-1]):
            task = task_at(stub, function.lineno)
            gaps.append(Gap(name, task, len(body) - 1, body[-1].lineno, _message(body[-1])))
    return gaps


def repaired(unit: Unit, stub: str) -> list[str]:
    """Names of the functions that a repair task hands over to be changed."""
    owners = {name for task in unit.tasks if task.kind == "repair" for name in task.functions}
    return [name for name, _ in functions(ast.parse(stub)) if name.partition(".")[0] in owners]


def task_at(text: str, line: int) -> int:
    """The number of the last `# Task N` above `line` of `text`, or 0."""
    above = "\n".join(text.splitlines()[: line - 1])
    return int(([0] + TASK_COMMENT.findall(above))[-1])


def is_marker(statement: ast.stmt) -> bool:
    """Is this `pass`, or does it raise NotImplementedError?"""
    return isinstance(statement, ast.Pass) or _message(statement) is not None


def _message(statement: ast.stmt) -> str | None:
    if not isinstance(statement, ast.Raise) or statement.exc is None:
        return None
    call = statement.exc if isinstance(statement.exc, ast.Call) else ast.Call(statement.exc, [], [])
    if not isinstance(call.func, ast.Name) or call.func.id != "NotImplementedError":
        return None
    first = call.args[0] if call.args else None
    return first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else ""
