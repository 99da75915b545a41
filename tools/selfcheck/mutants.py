"""Small faults made by machine: one change to one gap of a reference. A test suite worth having notices each.

Which changes are made is in mutation_operators.py; here they are made one by one, named, and undone.
"""

import ast
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from tools.course.content.syntax import after_docstring, find_function
from tools.selfcheck.mutation_operators import FAULTS

CONTEXT = 30  # characters of the line shown on either side of a change


@dataclass(frozen=True)
class Mutant:
    """`id` names the change for a reader and for excused.toml; `source` is the whole changed module.

    before: the module without the change, in the same layout.
    """

    id: str
    source: str
    before: str


def mutants(reference: str, given: dict[str, int]) -> list[Mutant]:
    """Every distinct mutant of the functions in `given` (name -> statements the stub gives, left alone)."""
    tree = ast.parse(reference)
    whole = ast.unparse(tree)
    found: dict[str, Mutant] = {}
    for name, count in given.items():
        function = find_function(tree, name)
        assert function is not None
        around = next(statement for statement in tree.body if function in ast.walk(statement))  # itself, or its class
        before = ast.unparse(around)
        head, _, tail = whole.partition(before)  # only this part is written anew for each change
        seen = {before}
        for after in _changes(function, after_docstring(function)[count:], around):
            if after not in seen:
                seen.add(after)
                key = _unique(f"{name}: {_in_words(before, after)}", found)
                found[key] = Mutant(key, head + after + tail, whole)
    return list(found.values())


def _changes(function: ast.FunctionDef, body: list[ast.stmt], around: ast.stmt) -> Iterator[str]:
    """The text of `around` with each change of the function; in the tree each is undone again."""
    for place in _places(function, body):
        old = _get(*place)
        for fault in FAULTS:
            for new in fault(old, function):
                _put(*place, new)
                yield ast.unparse(around)
                _put(*place, old)


def _in_words(text: str, changed: str) -> str:
    """The first line that differs, once, with the change in braces: `out[i, {j -> k}] = total`."""
    lines = zip_longest(text.splitlines(), changed.splitlines(), fillvalue="")
    before, after = next((a.strip(), b.strip()) for a, b in lines if a != b)
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
