"""The kinds of small fault that mutants are made of.

Each is a function from a node, and the function it stands in, to what may replace the node. A new kind is a
new function here and a new entry in FAULTS.
"""

import ast
from collections.abc import Callable, Iterator
from typing import Any

Replacements = Iterator[ast.AST]

_ARITHMETIC = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
               ast.FloorDiv: ast.Div, ast.Mod: ast.FloorDiv}  # fmt: skip
_COMPARISONS = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
                ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn,
                ast.NotIn: ast.In}  # fmt: skip
_SYMMETRIC = {"min", "max", "minimum", "maximum", "add", "multiply", "gcd", "lcm"}
_CASTS = {"astype", "to", "float", "int", "float16", "float32", "float64", "int32", "int64"}


def swap_operator(node: ast.AST, function: ast.FunctionDef) -> Replacements:
    if isinstance(node, (ast.BinOp, ast.AugAssign)) and type(node.op) in _ARITHMETIC:
        yield _with(node, op=_ARITHMETIC[type(node.op)]())


def flip_comparison(node: ast.AST, function: ast.FunctionDef) -> Replacements:
    if isinstance(node, ast.Compare):
        for i, op in enumerate(node.ops):
            yield _with(node, ops=[*node.ops[:i], _COMPARISONS[type(op)](), *node.ops[i + 1 :]])


def nudge_integer(node: ast.AST, function: ast.FunctionDef) -> Replacements:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        yield from (ast.Constant(node.value + step) for step in (1, -1))


def swap_pair(node: ast.AST, function: ast.FunctionDef) -> Replacements:
    """(rows, cols) -> (cols, rows), in shapes, indices and assignments."""
    if isinstance(node, ast.Tuple) and len(node.elts) == 2:
        yield _with(node, elts=node.elts[::-1])


def drop_transpose(node: ast.AST, function: ast.FunctionDef) -> Replacements:
    if isinstance(node, ast.Attribute) and node.attr in ("T", "mT"):
        yield node.value


def drop_keyword(node: ast.AST, function: ast.FunctionDef) -> Replacements:
    if isinstance(node, ast.Call):
        yield from (_with(node, keywords=_without(node.keywords, i)) for i in range(len(node.keywords)))


def swap_arguments(node: ast.AST, function: ast.FunctionDef) -> Replacements:
    if isinstance(node, ast.Call) and _called(node) not in _SYMMETRIC:
        for i in range(len(node.args) - 1):
            first, second = node.args[i : i + 2]
            yield _with(node, args=[*node.args[:i], second, first, *node.args[i + 2 :]])


def drop_statement(node: ast.AST, function: ast.FunctionDef) -> Replacements:
    """Only where names stay bound: a name that is missing is noticed by Python, not by a test."""
    if isinstance(node, ast.AugAssign) or isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield ast.Pass()
    elif isinstance(node, ast.Assign) and all(_bound_elsewhere(target, function) for target in node.targets):
        yield ast.Pass()


def return_first_parameter(node: ast.AST, function: ast.FunctionDef) -> Replacements:
    parameters = [a.arg for a in function.args.posonlyargs + function.args.args if a.arg != "self"]
    if isinstance(node, ast.Return) and node.value is not None and parameters:
        yield ast.Return(ast.Name(parameters[0], ast.Load()))


def shorten_range(node: ast.AST, function: ast.FunctionDef) -> Replacements:
    if isinstance(node, ast.Call) and _called(node) == "range" and node.args:
        stop = min(1, len(node.args) - 1)
        yield _with(node, args=[*node.args[:stop], _plus(node.args[stop], -1), *node.args[stop + 1 :]])


def shift_index(node: ast.AST, function: ast.FunctionDef) -> Replacements:
    if isinstance(node, ast.Subscript):
        if not isinstance(node.slice, ast.Tuple):
            yield from (_with(node, slice=index) for index in _shifted(node.slice))
            return
        for i, index in enumerate(node.slice.elts):
            for other in _shifted(index):
                yield _with(
                    node, slice=_with(node.slice, elts=[*node.slice.elts[:i], other, *node.slice.elts[i + 1 :]])
                )


def drop_cast(node: ast.AST, function: ast.FunctionDef) -> Replacements:
    if isinstance(node, ast.Call) and _called(node) in _CASTS:
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("astype", "to"):
            yield node.func.value
        elif len(node.args) == 1:
            yield node.args[0]


def negate_condition(node: ast.AST, function: ast.FunctionDef) -> Replacements:
    if isinstance(node, (ast.If, ast.While, ast.IfExp, ast.Assert)):
        yield _with(node, test=_negated(node.test))
    elif isinstance(node, ast.comprehension):
        for i, test in enumerate(node.ifs):
            yield _with(node, ifs=[*node.ifs[:i], _negated(test), *node.ifs[i + 1 :]])


FAULTS: list[Callable[[ast.AST, ast.FunctionDef], Replacements]] = [
    swap_operator, flip_comparison, nudge_integer, swap_pair, drop_transpose, drop_keyword, swap_arguments,
    drop_statement, return_first_parameter, shorten_range, shift_index, drop_cast, negate_condition,
]  # fmt: skip


# Small pieces of syntax --------------------------------------------------------------------------


def _with(node: ast.AST, **changes: Any) -> ast.AST:
    return type(node)(**{**dict(ast.iter_fields(node)), **changes})


def _without(items: list, index: int) -> list:
    return items[:index] + items[index + 1 :]


def _plus(node: ast.expr, step: int) -> ast.expr:
    return ast.BinOp(node, ast.Add() if step > 0 else ast.Sub(), ast.Constant(abs(step)))


def _shifted(index: ast.expr) -> Replacements:
    """A literal index is left to nudge_integer."""
    if isinstance(index, ast.Slice):
        for bound in ("lower", "upper"):
            if (value := getattr(index, bound)) is not None and not _is_literal(value):
                yield _with(index, **{bound: _plus(value, 1)})
    elif not _is_literal(index):
        yield _plus(index, 1)


def _is_literal(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) or isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant)


def _negated(test: ast.expr) -> ast.expr:
    return ast.UnaryOp(ast.Not(), test)


def _called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _bound_elsewhere(target: ast.expr, function: ast.FunctionDef) -> bool:
    """Would what `target` names exist without this assignment? An element of an array always does."""
    if not isinstance(target, ast.Name):
        return isinstance(target, (ast.Subscript, ast.Attribute))
    parameters = function.args.posonlyargs + function.args.args + function.args.kwonlyargs
    names = [a.arg for a in parameters]
    names += [n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    return names.count(target.id) > 1
