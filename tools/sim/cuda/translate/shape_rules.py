"""Shapes of shared and local arrays, which Numba must know as plain numbers while it compiles.

Found by compiling with numba-cuda 0.30: a number, the name of a global or local constant, or a tuple of these will
do; what is computed from constants, even as N * 2, will not, and neither will N of a module or a class, nor a variable
that has one number here and another there. A parameter of a device function will do where its callers pass constants,
which only the run can tell. The number of axes in cuda.grid and cuda.gridsize is such a number, too; x.ndim is one.
"""

import ast
from collections.abc import Iterator

from tools.sim.cuda.translate.findings import Finding, nodes
from tools.sim.cuda.translate.liveness import assigned
from tools.sim.cuda.translate.name_rules import Missing, Names
from tools.sim.cuda.translate.pruning import Pruning

AXES = ("cuda.grid", "cuda.gridsize")

# Python does it before Numba sees it
ARITHMETIC = (ast.Constant, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.Tuple, ast.expr_context)


def findings(tree: ast.FunctionDef, names: Names, device: bool = False) -> Iterator[Finding]:
    """About the shapes in the function. device: it is a device function."""
    shapes = _Shapes(tree, names, device)
    for node in nodes(tree):
        if not isinstance(node, ast.Call):
            continue
        called = ast.unparse(node.func)
        if called.endswith(("shared.array", "local.array")):
            given = [*node.args[:1], *(each.value for each in node.keywords if each.arg == "shape")]
            lengths = [each for shape in given for each in (shape.elts if isinstance(shape, ast.Tuple) else [shape])]
            if wrong := next(filter(shapes.varies, lengths), None):
                yield Finding(
                    node,
                    f"Numba wants plain whole numbers as a shape, not {ast.unparse(wrong)}.",
                    "Give the number a name outside the kernel, SIZE = ..., and use that name.",
                )
        elif called in AXES and len(node.args) == 1 and shapes.varies(node.args[0]):
            yield Finding(
                node,
                f"{called} takes 1, 2 or 3, written as a number, not {ast.unparse(node.args[0])}.",
                "How many axes are meant?",
            )


class _Shapes:
    """Local variables, as far as known. values: what each of them gets. moving: those that get something else."""

    def __init__(self, tree: ast.FunctionDef, names: Names, device: bool) -> None:
        self.names, self.pruning = names, Pruning(tree)
        given = {argument.arg for argument in ast.walk(tree.args) if isinstance(argument, ast.arg)}
        self.moving = set() if device else given
        self.values: dict[str, list[ast.expr]] = {}
        self._on_some_ways: set[str] = set()
        self._read(tree.body, on_all_ways=True)
        told = {name: set(map(ast.unparse, values)) for name, values in self.values.items()}
        self.moving |= {name for name in self._on_some_ways if len(told[name]) > 1}

    def _read(self, statements: list[ast.stmt], on_all_ways: bool) -> None:
        for statement in statements:
            match statement:
                case ast.Assign(targets=targets, value=value):
                    for target in targets:
                        self._assign(target, value, on_all_ways)
                case ast.AnnAssign(target=target, value=value) if value is not None:
                    self._assign(target, value, on_all_ways)
                case ast.For(target=target) | ast.AugAssign(target=target):
                    self._assign(target, None, on_all_ways)
            decided = isinstance(statement, ast.If) and self.pruning.decides(statement.test)
            for block in ("body", "orelse"):
                self._read(getattr(statement, block, []), on_all_ways and decided)

    def _assign(self, target: ast.expr, value: ast.expr | None, on_all_ways: bool) -> None:
        """value: None for what is not written there."""
        if isinstance(target, ast.Name) and value is not None:
            self.values.setdefault(target.id, []).append(value)
            if not on_all_ways:
                self._on_some_ways.add(target.id)
        elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            for each, part in zip(target.elts, value.elts):
                self._assign(each, part, on_all_ways)
        else:
            self.moving |= assigned(target)

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
            case ast.IfExp() | ast.Attribute(attr="ndim"):
                return False  # a condition that Numba can decide; what it knows of an array
        return not all(isinstance(each, ARITHMETIC) for each in ast.walk(node))

    def _outer(self, node: ast.Name) -> object:
        try:
            return self.names.value(node)
        except Missing:  # which is refused for that
            return 0


def _is_plain(value: object) -> bool:
    return type(value) is int or type(value) is tuple and all(type(each) is int for each in value)
