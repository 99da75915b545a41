"""Shapes of shared and local arrays, which Numba must know as plain numbers while it compiles.

Found by compiling with numba-cuda 0.30: a number, the name of a global or local constant, or a tuple of these will
do; what is computed from constants, even as N * 2, will not, and neither will N of a module or a class.
"""

import ast
from collections.abc import Iterator

from tools.sim.cuda.constructs import nodes
from tools.sim.cuda.names import Missing, Names
from tools.sim.cuda.refused import Finding

ARITHMETIC = (ast.Constant, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop)  # Python does it before Numba sees it


def findings(tree: ast.FunctionDef, names: Names) -> Iterator[Finding]:
    """About the shapes in the function."""
    shapes = _Shapes(tree, names)
    for node in nodes(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("shared.array", "local.array")):
            given = [*node.args[:1], *(each.value for each in node.keywords if each.arg == "shape")]
            if any(map(shapes.varies, given)):
                yield Finding(node, f"Numba wants plain whole numbers as a shape, not {ast.unparse(given[0])}.",
                              "Give the number a name outside the kernel, SIZE = ..., and use that name.")


class _Shapes:
    """What is known of the local variables. moving: those that get more than plain values."""

    def __init__(self, tree: ast.FunctionDef, names: Names):
        self.names = names
        self.moving = {argument.arg for argument in ast.walk(tree.args) if isinstance(argument, ast.arg)}
        self.values: dict[str, list[ast.expr]] = {}
        for node in nodes(tree):
            match node:
                case ast.For(target=target) | ast.AugAssign(target=target):
                    self.moving.update(each.id for each in ast.walk(target) if isinstance(each, ast.Name))
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    self.values.setdefault(name, []).append(value)

    def varies(self, node: ast.expr) -> bool:
        """It is surely no plain number, and no tuple of them, to Numba."""
        match node:
            case ast.Constant(value=value):
                return type(value) is not int
            case ast.Tuple(elts=parts):
                return any(map(self.varies, parts))
            case ast.Name(id=name) if name in self.names.local:
                values = self.values.pop(name, [])  # to look once is enough, and ends a circle
                return name in self.moving or any(map(self.varies, values))
            case ast.Name():
                return not _is_plain(self._outer(node))
            case ast.Subscript(value=ast.Name() as values, slice=ast.Constant()):
                return self.varies(values)
            case ast.IfExp():
                return False  # a condition that Numba can decide
        return not all(isinstance(each, ARITHMETIC) for each in ast.walk(node))

    def _outer(self, node: ast.Name) -> object:
        try:
            return self.names.value(node)
        except Missing:  # which is refused for that
            return 0


def _is_plain(value: object) -> bool:
    return type(value) is int or type(value) is tuple and all(type(each) is int for each in value)
