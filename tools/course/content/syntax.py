"""A lesson as a syntax tree: its functions and classes, what they use, and the task that each stands in.

The lesson is the learner's to edit: text that Python cannot read has no tree, and still has its tasks.
"""

import ast
import io
import re
import warnings
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

TASK_COMMENT = re.compile(r"^# Task (\d+)\b", re.MULTILINE)  # begins a task's part of the lesson
Definition = ast.FunctionDef | ast.ClassDef


@lru_cache(maxsize=64)
def parsed(text: str) -> ast.Module | None:
    """The tree of a text, shared by all who ask, so not to be changed; None where Python cannot read the text."""
    try:
        with warnings.catch_warnings():  # "invalid escape sequence" is said once, when the lesson is imported
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # the last two: nested too deep to parse
        return None


def statements(text: str) -> list[ast.stmt]:
    """The statements at the top of a file; none where it does not parse."""
    tree = parsed(text)
    return tree.body if tree else []


def definitions(text: str) -> dict[str, Definition]:
    """The functions and classes at the top of a file, by name; none where it does not parse."""
    return {node.name: node for node in statements(text) if isinstance(node, Definition)}


def functions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Every function of a module and every method of its classes, by name ("f", "Class.f")."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from (
                (f"{node.name}.{inner.name}", inner) for inner in node.body if isinstance(inner, ast.FunctionDef)
            )


def find_function(tree: ast.Module, name: str) -> ast.FunctionDef | None:
    """The function `name` ("f", or "Class.f") in `tree`, the last of several; None where it has none."""
    return {known: function for known, function in functions(tree)}.get(name)


def used_by(tree: ast.Module, function: str) -> list[ast.FunctionDef]:
    """The definition of `function`, then those of the lesson's functions that it names, and what these name."""
    known = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    found, queue = [], [function]
    while queue:
        node = known.pop(queue.pop(0), None)  # each once, and no recursion without end
        if node is not None:
            found.append(node)
            queue += [inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)]
    return found


def after_docstring(node: Definition) -> list[ast.stmt]:
    """The statements of a function or class that follow its docstring."""
    return node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body


@lru_cache(maxsize=256)
def edited(before: str, after: str) -> tuple[ast.Module, ast.Module]:
    """The statements at the top of `before` that an edit took away, and those that `after` has in their place.

    Of `after` only the statements around the lines that differ are parsed, and lines are counted from there. Where they
    cannot be read by themselves, everything counts as replaced. Raises SyntaxError.
    """
    tree, old, new = parsed(before) or ast.parse(before), _lines(before), _lines(after)
    head = _same_lines(old, new)
    tail = _same_lines(old[head:][::-1], new[head:][::-1])
    cuts = [0, *_cuts(before), len(old)]
    start = max(line for line in cuts if line <= head)
    end = min(line for line in cuts if line >= len(old) - tail)
    between = parsed("".join(new[start : end + len(new) - len(old)]))
    if between is None:  # a fault, or an "else:" that belongs to the statement above
        return tree, parsed(after) or ast.parse(after)
    return ast.Module([node for node in tree.body if start < node.lineno <= end], []), between


def _lines(text: str) -> list[str]:
    """The lines of a text with their ends, as Python counts them: str.splitlines knows other ends too."""
    return list(io.StringIO(text))


def _same_lines(old: list[str], new: list[str]) -> int:
    """How many lines are the same in both, from the first on."""
    return next((n for n, (a, b) in enumerate(zip(old, new)) if a != b), min(len(old), len(new)))


@lru_cache(maxsize=4)
def _cuts(text: str) -> list[int]:
    """How many lines stand above each statement at the top of a text but the first, if it begins a line."""
    nodes = statements(text)
    return [_first_line(node) - 1 for above, node in pairwise(nodes) if _first_line(node) > (above.end_lineno or 0)]


def _first_line(node: ast.stmt) -> int:
    return min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", ()))])


def new_statements(before: str, after: str) -> list[ast.stmt]:
    """The statements at the top of `after` that do not stand at the top of `before`, whatever layout and comments."""
    known = set(map(meaning, statements(before)))
    return [node for node in edited(before, after)[1].body if meaning(node) not in known]


@lru_cache(maxsize=512)
def meaning(node: ast.stmt) -> str:
    """What a statement of a shared tree says, whatever its layout and comments."""
    return ast.dump(node)


def same(node: ast.AST, other: ast.AST | None) -> bool:
    """Do two definitions say the same, whatever their layout and comments?"""
    return other is not None and ast.dump(node) == ast.dump(other)


def task_comments(text: str) -> list[tuple[int, int]]:
    """Line and number of each `# Task N`, in file order; lines count from 1, as Python counts them."""
    lines = enumerate(text.split("\n"), start=1)
    return [(number, int(match[1])) for number, line in lines if (match := TASK_COMMENT.match(line))]


def task_at(text: str, line: int) -> int:
    """The number of the last `# Task N` above a line of the text; 0 where there is none."""
    return next((task for start, task in reversed(task_comments(text)) if start < line), 0)
