"""Pieces of the syntax tree that a kernel is rewritten to."""

import ast
from typing import TypeVar

Node = TypeVar("Node", bound=ast.expr | ast.stmt)
LANES, OPERATIONS = "_lanes", "_ops"


def at(new: Node, old: ast.expr | ast.stmt) -> Node:
    """Give the new node the first line of the old one; Python reports a method call at the line it ends in."""
    new.lineno = new.end_lineno = old.lineno
    new.col_offset = new.end_col_offset = old.col_offset
    return new


def name(text: str) -> ast.Name:
    return ast.Name(text, ast.Load())


def stored(text: str) -> ast.Name:
    return ast.Name(text, ast.Store())


def assign(target: str, value: ast.expr) -> ast.stmt:
    return ast.Assign([stored(target)], value)


def later(value: ast.expr) -> ast.expr:
    """lambda: value"""
    return ast.Lambda(ast.arguments(posonlyargs=[], args=[], defaults=[], kwonlyargs=[], kw_defaults=[]), value)


def runtime(method: str, *arguments: ast.expr) -> ast.Call:
    """_lanes.method(*arguments)"""
    return ast.Call(_of(LANES, method), list(arguments), [])


def run(method: str, *arguments: ast.expr) -> ast.stmt:
    """The same as a statement."""
    return ast.Expr(runtime(method, *arguments))


def operate(operator: str, *operands: ast.expr) -> ast.Call:
    return ast.Call(_of(OPERATIONS, operator), list(operands), [])


def if_active(body: list[ast.stmt]) -> ast.stmt:
    """if _lanes.active: body"""
    return ast.If(_of(LANES, "active"), body, [])


def step() -> ast.stmt:
    return run("step")


def _of(owner: str, attribute: str) -> ast.expr:
    return ast.Attribute(name(owner), attribute, ast.Load())
