"""Small faults made by machine: one change to one gap of a reference. A test suite worth having notices each.

Which changes are made is in faults.py; here they are made one by one, named, and undone.
"""

import ast
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tools.course.content.syntax import after_docstring, find_function
from tools.selfcheck.mutation_operators import FAULTS

CONTEXT = 30  # characters of the line shown on either side of a change


@dataclass(frozen=True)
class Mutant:
    """`id` names the change for a reader and for excused.toml; `source` is the whole changed module."""

    id: str
    source: str


def mutants(reference: str, given: dict[str, int]) -> list[Mutant]:
    """Every distinct mutant of the functions in `given` (name -> statements the stub gives, left alone)."""
    tree = ast.parse(reference)
    seen = {ast.unparse(tree)}
    found: dict[str, Mutant] = {}
    for name, count in given.items():
        function = find_function(tree, name)
        assert function is not None
        for change in _changes(function, after_docstring(function)[count:]):
            source = ast.unparse(tree)
            if source not in seen:
                seen.add(source)
                key = _unique(f"{name}: {change}", found)
                found[key] = Mutant(key, source)
    return list(found.values())


def _changes(function: ast.FunctionDef, body: list[ast.stmt]) -> Iterator[str]:
    """Make each change in the tree, yield its name while it is in force, and undo it."""
    for owner, field, index in _places(function, body):
        node = _get(owner, field, index)
        for fault in FAULTS:
            for new in fault(node, function):
                yield from _in_force(function, (owner, field, index), new)


def _in_force(function: ast.FunctionDef, place: tuple[ast.AST, str, int | None], new: ast.AST) -> Iterator[str]:
    old, before = _get(*place), ast.unparse(function).splitlines()
    _put(*place, new)
    after = ast.unparse(function).splitlines()
    first = next((i for i, (a, b) in enumerate(zip(before, after)) if a != b), None)
    if first is not None:
        yield _in_words(before[first].strip(), after[first].strip())
    _put(*place, old)


def _in_words(before: str, after: str) -> str:
    """The changed line, once, with the change in braces: `out[i, {j -> k}] = total`."""
    if after == "pass":
        return f"without {before}"
    a, b = (re.findall(r"\w+|\s+|[-+*/%@<=>!&|^~]+|.", line) for line in (before, after))
    start = len(os.path.commonprefix([a, b]))
    end = len(os.path.commonprefix([a[start:][::-1], b[start:][::-1]]))
    while end and not all(_balanced(line[start : len(line) - end]) for line in (a, b)):
        end -= 1
    head, tail = "".join(a[:start]), "".join(a[len(a) - end :])
    old, new = "".join(a[start : len(a) - end]), "".join(b[start : len(b) - end])
    change = "{" + " ".join(part for part in (old.strip(), "->", new.strip()) if part) + "}"
    change = " " * (new[:1] == " ") + change + " " * (new[-1:] == " ")
    head = head if len(head) <= CONTEXT else "..." + head[-CONTEXT:]
    tail = tail if len(tail) <= CONTEXT else tail[:CONTEXT] + "..."
    return head + change + tail


def _balanced(tokens: list[str]) -> bool:
    return all(tokens.count(left) == tokens.count(right) for left, right in ("()", "[]", "{}"))


def _places(function: ast.FunctionDef, body: list[ast.stmt]) -> Iterator[tuple[ast.AST, str, int | None]]:
    for index, statement in enumerate(function.body):
        if any(statement is wanted for wanted in body):
            yield function, "body", index
            yield from _inner_places(statement)


def _inner_places(node: ast.AST) -> Iterator[tuple[ast.AST, str, int | None]]:
    for field, value in ast.iter_fields(node):
        for index, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if isinstance(child, ast.AST) and field != "annotation" and not isinstance(child, ast.JoinedStr):
                yield node, field, index
                yield from _inner_places(child)


def _get(owner: ast.AST, field: str, index: int | None) -> ast.AST:
    return getattr(owner, field) if index is None else getattr(owner, field)[index]


def _put(owner: ast.AST, field: str, index: int | None, node: ast.AST) -> None:
    if index is None:
        setattr(owner, field, node)
    else:
        getattr(owner, field)[index] = node


def _unique(key: str, taken: Any) -> str:
    if key not in taken:
        return key
    return next(f"{key} ({n})" for n in range(2, len(taken) + 2) if f"{key} ({n})" not in taken)
