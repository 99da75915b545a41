"""The parts of a lesson that are merged one by one: the body of each function, and each docstring."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from tools.course.content.syntax import after_docstring, find_function, functions, parsed

DOCSTRING, LESSON = "docstring of ", "the lesson"
_DEFINITION = re.compile(r"(?:async +)?def +(\w+)")
_COMMENT = re.compile(r"[ \t]+#")


def parts(text: str) -> dict[str, tuple[int, int]]:
    """The lines (from, to, counted from 0) of each function's body, by its name, and of each docstring.

    Where Python cannot read the text, functions are told apart by what begins at the left margin. Left out:
    a function that is there twice, and a part that shares a line with another.
    """
    lines = lines_of(text)
    tree = parsed(text)
    found = list(_measured(tree, lines) if tree else _estimated(lines))
    often = Counter(name for name, *_ in found)
    return {name: (start, end) for name, start, end in found if often[name] == 1 and start < end}


def _measured(tree: ast.Module, lines: list[str]) -> Iterator[tuple[str, int, int]]:
    def alone(statement: ast.stmt) -> bool:
        """Does nothing stand before it on its line?"""
        return not lines[statement.lineno - 1].encode("utf-8", "surrogateescape")[: statement.col_offset].strip()

    if ast.get_docstring(tree, clean=False) is not None:
        yield DOCSTRING + LESSON, tree.body[0].lineno - 1, _end(tree.body[0])
    for name, function in functions(tree):
        body = after_docstring(function)
        docstring = function.body[: len(function.body) - len(body)]
        if all(map(alone, function.body)):
            for statement in docstring:
                yield DOCSTRING + name, statement.lineno - 1, _end(statement)
            for statement in body[:1]:
                start = _end(docstring[0]) if docstring else _first_comment(lines, statement.lineno - 1)
                yield name, start, _end(function)


def _end(statement: ast.stmt) -> int:
    """Its last line; a tree that was parsed knows that of each statement."""
    return statement.end_lineno or statement.lineno


def _estimated(lines: list[str]) -> Iterator[tuple[str, int, int]]:
    top = _after_docstring(lines, 0, len(lines))
    yield DOCSTRING + LESSON, 0, top
    starts = [number for number, line in enumerate(lines) if number >= top and line[0] not in " \t\n#)"]
    for here, after in pairwise([*starts, len(lines)]):
        if match := _DEFINITION.match(lines[here]):
            below = _after_signature(lines, here, after)
            start = _after_docstring(lines, below, after)
            end = after
            while end > start and (not lines[end - 1].strip() or lines[end - 1].startswith("#")):
                end -= 1
            yield DOCSTRING + match[1], below, start
            yield match[1], start, end


def _after_signature(lines: list[str], here: int, after: int) -> int:
    """The first line below the signature that begins here."""
    for number in range(here, after):
        if lines[number].split("#")[0].rstrip().endswith(":"):
            return number + 1
    return after


def _after_docstring(lines: list[str], start: int, after: int) -> int:
    """The first line below the docstring, if one begins at start."""
    match = re.match(r'\s*[rR]?("""|\'\'\')', lines[start]) if start < after else None
    if not match:
        return start
    if match[1] in lines[start][match.end() :]:
        return start + 1
    return next((number + 1 for number in range(start + 1, after) if match[1] in lines[number]), after)


def _first_comment(lines: list[str], start: int) -> int:
    """Comments and empty lines above the first statement are part of the body."""
    while start and (not lines[start - 1].strip() or _COMMENT.match(lines[start - 1])):
        start -= 1
    return start


def signature(text: str, name: str) -> str | None:
    """The arguments of a function, in a form to compare; None where Python cannot read the text."""
    tree = parsed(text)
    function = find_function(tree, name) if tree else None
    return ast.dump(function.args) if function else None


def parses(text: str) -> bool:
    """Can Python read it?"""
    return parsed(text) is not None


def lines_of(text: str) -> list[str]:
    """Its lines with their ends, as Python's parser counts them."""
    return [line + "\n" for line in text.split("\n")[:-1]]
