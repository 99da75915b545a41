"""Notes of what a kernel's syntax tree has that Numba does not compile or the simulator does not know."""

import ast
from collections.abc import Iterator
from typing import Any, NamedTuple


class Finding(NamedTuple):
    """Something in a kernel's syntax tree that Numba does not compile; if `unknown`, something that a GPU may run.

    what: the reason; if unknown, what it is. advice: what to write instead, or "".
    """

    node: Any  # an expression, or a statement
    what: str
    advice: str = ""
    unknown: bool = False


def nodes(tree: ast.FunctionDef) -> Iterator[ast.AST]:
    """Those of the body that are run: not what annotations say of types."""
    types = {node for each in ast.walk(tree) if isinstance(each, ast.AnnAssign) for node in ast.walk(each.annotation)}
    for statement in tree.body:
        yield from (node for node in ast.walk(statement) if node not in types)
