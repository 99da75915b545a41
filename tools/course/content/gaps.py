"""The learner's part of a lesson: its gaps, and what it hands over for repair. The one place that knows a gap.

A gap holds the course's marker, `raise NotImplementedError("week1/day4 task 3: vector_add")`; or, in a kernel, it ends
in `pass`. A finished kernel may end in `pass`, and a guard may raise NotImplementedError for what it does not take:
so without the marker only a function that is as it was given is a gap, or one that holds nothing but `pass`.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tools.course.content.syntax import Definition, after_docstring, functions, parsed, same, task_at
from tools.marker import Marker, marker_in

if TYPE_CHECKING:  # the catalogue asks here for markers
    from tools.course.content.catalogue import Task


@dataclass(frozen=True)
class Gap:
    """A function to be written. `given` statements precede its marker; `message` is None for a `pass`."""

    function: str  # "f", or "Class.f"
    task: int  # the number of the last `# Task N` above it; 0 if there is none
    given: int
    line: int
    message: str | None


@dataclass(frozen=True)
class Open:
    """A function that is still to be written.

    line: of its def. silent: it was given with `pass`, so that a call of it raises nothing.
    """

    function: str  # "f", or "Class.f"
    task: int
    line: int
    silent: bool


def gap_line(node: Definition, stub: Definition | None = None) -> int | None:
    """The line where a function or class is still to be written; None where it is written.

    stub: the same as it was given, where that is known.
    """
    for inner in ast.walk(node):
        if isinstance(inner, ast.Raise) and marker_in(message(inner) or ""):
            return inner.lineno
    nothing = all(isinstance(statement, ast.Pass) for statement in after_docstring(node))
    unchanged = is_placeholder(node.body[-1]) and same(node, stub)
    return node.body[-1].lineno if nothing or unchanged else None


def find_gaps(stub: str) -> list[Gap]:
    """The gaps of a lesson as it is given, in order; none where it does not parse.

    In a stub each function is as it was given. A marker before the end of its function is no gap, but a mistake.
    """
    tree, gaps = parsed(stub), []
    for name, function in functions(tree) if tree else ():
        body = after_docstring(function)
        if body and is_placeholder(body[-1]):
            gaps.append(Gap(name, task_at(stub, function.lineno), len(body) - 1, body[-1].lineno, message(body[-1])))
    return gaps


def open_gaps(text: str, stub: str | None = None) -> list[Open]:
    """What is still to be written of a lesson as it stands, in order; nothing where it does not parse.

    stub: the lesson as it was given, where that is known.
    """
    tree, given, found = parsed(text), parsed(stub or ""), []
    known = dict(functions(given)) if given else {}
    for name, function in functions(tree) if tree else ():
        if gap_line(function, known.get(name)) is not None:
            marker = marked(function)
            task = marker.task if marker else task_at(text, function.lineno)
            ends = function.body[-1], known.get(name, function).body[-1]
            found.append(Open(name, task, function.lineno, silent=all(isinstance(end, ast.Pass) for end in ends)))
    return found


def own_functions(task: Task, stub: str | None = None) -> tuple[str, ...]:
    """The functions of a task that are the learner's: its gaps as they were given, and what it hands over for repair.

    All of the task's functions where the stub is not known.
    """
    gaps = {gap.function for gap in find_gaps(stub or "") if gap.task == task.number}
    own = gaps.union((task.repairs or task.functions) if task.kind == "repair" else ())
    order = [name for name, _ in functions(tree)] if (tree := parsed(stub or "")) else []
    return tuple(sorted(own, key=lambda name: order.index(name) if name in order else len(order))) or task.functions


def marked(node: Definition) -> Marker | None:
    """The first marker in a function or class; None where it has none."""
    raised = (message(inner) for inner in ast.walk(node) if isinstance(inner, ast.Raise))
    return next((marker for text in raised if text and (marker := marker_in(text))), None)


def message(statement: ast.stmt) -> str | None:
    """The text of a `raise NotImplementedError(text)`, "" where it has none; None for any other statement."""
    if not isinstance(statement, ast.Raise) or statement.exc is None:
        return None
    call = statement.exc if isinstance(statement.exc, ast.Call) else ast.Call(statement.exc, [], [])
    if not isinstance(call.func, ast.Name) or call.func.id != "NotImplementedError":
        return None
    first = call.args[0] if call.args else None
    return first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else ""


def is_placeholder(statement: ast.stmt) -> bool:
    """Is this what a stub may put in place of what is to be written?"""
    return isinstance(statement, ast.Pass) or message(statement) is not None
