"""Refuses a kernel before it runs, for its first line that Numba would not compile or the simulator does not know."""

import ast
from collections.abc import Callable, Iterator

from tools.sim import faults
from tools.sim.cuda.faults import Refused, Unknown
from tools.sim.cuda.translate import name_rules, recursion_rules, shape_rules, syntax_rules
from tools.sim.cuda.translate.findings import Finding


def refuse(tree: ast.FunctionDef, function: Callable, device: bool = False) -> None:
    """Raise Refused for what Numba does not compile, Unknown for what a GPU may run and the simulator does not know.

    tree: of the function, with the line numbers of its file. What depends on types shows only when it runs.
    device: is it a device function, whose parameters may be constants of its callers?
    """
    first = min(_findings(tree, function, device), key=lambda each: each.node.lineno, default=None)
    if first is None:
        return
    spot = faults.Spot(function.__code__.co_filename, first.node.lineno, function.__name__)
    if first.unknown:
        what = f"The simulator does not know this: {first.what}. A GPU may run it."
        raise Unknown(what, first.advice, spot)
    raise Refused(first.what, first.advice, spot)


def _findings(tree: ast.FunctionDef, function: Callable, device: bool) -> Iterator[Finding]:
    known = name_rules.Names(tree, function)
    yield from syntax_rules.findings(tree)
    yield from name_rules.findings(tree, function, known)
    yield from recursion_rules.findings(tree, function, known, device)
    yield from shape_rules.findings(tree, known, device)
