"""Loops in which a thread may wait for what another one does: those whose end depends on memory."""

import ast
from collections.abc import Callable, Mapping

from tools.sim.cuda.translate import callees
from tools.sim.cuda.translate.liveness import names, read


def waits(trees: Mapping[Callable, ast.FunctionDef]) -> bool:
    """Does one of these functions have such a loop? trees: all that run in a kernel, with their syntax."""
    return any(_Loops(function).wait(tree) for function, tree in trees.items())


class _Loops:
    """The while loops of a function. reading: names of device functions of its that read memory."""

    def __init__(self, function: Callable) -> None:
        called: list = callees.direct(function)  # type: ignore[arg-type]
        self.reading = {each.py_func.__name__ for each in called}

    def wait(self, tree: ast.FunctionDef) -> bool:
        return any(self._waits(node) for node in ast.walk(tree) if isinstance(node, ast.While))

    def _waits(self, node: ast.While) -> bool:
        """Its test reads memory, or a variable that its body reads from memory; or its end is an if that does."""
        assigns = [each for each in ast.walk(node) if isinstance(each, ast.Assign)]
        reads = [each for each in assigns if any(map(self._reads, ast.walk(each.value)))]
        fed = names(*(target for each in reads for target in each.targets))
        return any(
            any(map(self._reads, ast.walk(test))) or not read(test).isdisjoint(fed)
            for test in (node.test, *_ends(node))
        )

    def _reads(self, node: ast.AST) -> bool:
        match node:
            case ast.Subscript() | ast.Attribute(value=ast.Attribute(attr="atomic")):
                return True
            case ast.Call(func=ast.Name(id=name)) | ast.Call(func=ast.Attribute(attr=name)):
                return name in self.reading
        return False


def _ends(loop: ast.While) -> list[ast.expr]:
    """Conditions before a break, of a loop without other end that looks at memory atomically to know when to go on.

    A loop that takes its next piece of work from a counter is none.
    """
    if not isinstance(loop.test, ast.Constant) or not any(map(_looks, ast.walk(loop))):
        return []
    ifs = [each for each in ast.walk(loop) if isinstance(each, ast.If)]
    leave = ast.Break, ast.Return
    return [each.test for each in ifs if any(isinstance(inner, leave) for inner in ast.walk(each))]


def _looks(node: ast.AST) -> bool:
    """A compare-and-swap, an exchange, or an update by 0."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Attribute(attr="atomic"), attr=name), args=[*_, last]):
            return name in ("cas", "compare_and_swap", "exch") or isinstance(last, ast.Constant) and last.value == 0
    return False
