"""A lesson as a syntax tree: its functions and classes, what they use, and the task that each stands in.

The lesson is the learner's to edit: text that Python cannot read has no tree, and still has its tasks.
"""

import ast
import re
import warnings
from collections.abc import Iterator
from functools import lru_cache

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


def new_statements(before: str, after: str) -> list[ast.stmt]:
    """The statements at the top of `after` that do not stand at the top of `before`, whatever layout and comments."""
    texts, meanings = _known(before)
    lines = after.splitlines()
    changed = [node for node in statements(after) if text_of(node, lines) not in texts]
    return [node for node in changed if ast.dump(node) not in meanings]


@lru_cache(maxsize=4)
def _known(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """The statements at the top of a file as they are written, and what they mean. The first is quicker to compare."""
    lines, nodes = text.splitlines(), statements(text)
    return frozenset(text_of(node, lines) for node in nodes), frozenset(map(ast.dump, nodes))


def text_of(node: ast.stmt, lines: list[str]) -> str:
    """A statement at the top of a file as it is written; lines: the file's."""
    first = min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", ()))])
    return "\n".join(lines[first - 1 : node.end_lineno])


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
