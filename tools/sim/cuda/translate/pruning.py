"""Conditions that Numba decides before it looks at types; of a branch that it prunes for that, nothing has a type."""

import ast
from collections import Counter


class Pruning:
    """local: the variables of a function. constant: those that one line sets, to what Numba takes as a constant.

    parameters: those that no line sets.
    """

    def __init__(self, tree: ast.FunctionDef) -> None:
        given = {argument.arg for argument in tree.args.args}
        stored = Counter(
            node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        )
        self.local, self.parameters, self.constant = {*given, *stored}, given - {*stored}, set()
        for node in ast.walk(tree):
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if name not in given:
                    if stored[name] == 1 and self._is_constant(value):
                        self.constant.add(name)

    def decides(self, condition: ast.expr) -> bool:
        """A constant, two of them compared, or `not` before that."""
        match condition:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return self.decides(operand)
            case ast.Compare(left=left, comparators=[right]):
                return self._is_constant(left) and self._is_constant(right)
        return self._is_constant(condition)

    def asks_for_nothing(self, condition: ast.expr) -> str:
        """x, for `x is None` of a parameter: Numba decides that where x is None."""
        match condition:
            case ast.Compare(left=ast.Name(id=name), comparators=[ast.Constant(value=None)]):
                return name if name in self.parameters else ""
        return ""

    def is_constant(self, node: ast.expr) -> bool:
        """Is it computed from constants alone? An optimizer finds that, later than `decides`."""
        match node:
            case ast.UnaryOp(operand=operand):
                return self.is_constant(operand)
            case ast.BinOp(left=left, right=right):
                return self.is_constant(left) and self.is_constant(right)
        return self._is_constant(node)

    def _is_constant(self, node: ast.expr) -> bool:
        match node:
            case ast.Constant():
                return True
            case ast.Name(id=name):
                return name in self.constant or name not in self.local
            case ast.Attribute(value=ast.Name(id=name), attr="ndim") if name in self.parameters:
                return True
        return False
