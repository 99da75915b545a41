"""Device functions that call themselves: Numba compiles that where each call has the types of the first.

Found by compiling with numba-cuda 0.30: a number that is written in the call, or a name for one, has a type of its
own, unless the function was given a signature; and no function may call itself by way of another one.
"""

import ast
from collections.abc import Callable, Iterator
from typing import Any

from tools.sim.cuda.translate import callees
from tools.sim.cuda.translate.findings import Finding, nodes
from tools.sim.cuda.translate.name_rules import Missing, Names
from tools.sim.cuda.translate.pruning import Pruning


def findings(tree: ast.FunctionDef, function: Any, names: Names, device: bool) -> Iterator[Finding]:
    """About recursion in the function. device: it is a device function."""
    if function in callees.reached(function):
        if not _calls_itself(function):
            yield Finding(
                tree,
                f"{tree.name} calls itself by way of another function.\nNumba compiles no such recursion for a GPU.",
                "Write a loop, or one function that calls itself.",
            )
        elif not device:
            yield Finding(
                tree,
                f"{tree.name} calls itself, and a kernel cannot be called in a kernel.",
                "@cuda.jit(device=True) makes a function that can be.",
            )
    pruning = Pruning(tree)
    for node in nodes(tree):
        if isinstance(node, ast.Call) and _is_recursive(_called(node, names)):
            if any(map(pruning.is_constant, node.args)):
                yield Finding(
                    node,
                    f"{ast.unparse(node.func)} calls itself, and is given a written number here.\n"
                    "That has a type of its own, and Numba compiles no recursion that changes types.",
                    "np.int64(7) has the type that n - 1 has. So has what a signature says.",
                )


def _called(node: ast.Call, names: Names) -> Any:
    try:
        return names.value(node.func)
    except Missing:  # which is refused for that
        return None


def _is_recursive(value: Any) -> bool:
    """A device function that calls itself and takes arguments of any types."""
    return hasattr(value, "py_func") and not value.signatures_given and _calls_itself(value.py_func)


def _calls_itself(function: Any) -> bool:
    called: list[Callable] = [each.py_func for each in callees.direct(function)]
    return function in called
