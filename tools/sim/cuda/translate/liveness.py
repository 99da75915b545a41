"""Variables that are still read, at the places where ways of a kernel meet: only those have a value there."""

import ast

Names = frozenset[str]


class Liveness:
    """after: of each statement. otherwise: of each if, where its else begins. top: of each loop, before its test."""

    def __init__(self, tree: ast.FunctionDef) -> None:
        self.after: dict[ast.stmt, Names] = {}
        self.otherwise: dict[ast.stmt, Names] = {}
        self.top: dict[ast.stmt, Names] = {}
        self._block(tree.body, frozenset(), ())

    def _block(self, statements: list[ast.stmt], after: Names, loop: tuple[Names, ...]) -> Names:
        """Those at its start. after: those at its end; loop: those where a break leads to, and a continue."""
        for statement in reversed(statements):
            self.after[statement] = after
            after = self._before(statement, after, loop)
        return after

    def _before(self, node: ast.stmt, after: Names, loop: tuple[Names, ...]) -> Names:
        match node:
            case ast.Break():
                return loop[0]
            case ast.Continue():
                return loop[1]
            case ast.Return() | ast.Raise():
                return read(node)
            case ast.If():
                self.otherwise[node] = self._block(node.orelse, after, loop)
                return read(node.test) | self._block(node.body, after, loop) | self.otherwise[node]
            case ast.For():
                return self._loop(node, after, loop, node.target) | read(node.iter)
            case ast.While():
                return self._loop(node, after, loop, node.test)
        return after - assigned(node) | read(node)

    def _loop(self, node: ast.For | ast.While, after: Names, outer: tuple[Names, ...], head: ast.expr) -> Names:
        """head: what each turn begins with."""
        top = None
        leaving = frozenset() if is_endless(node) else self._block(node.orelse, after, outer)
        found = leaving
        while found != top:
            top = found
            found = leaving | self._block(node.body, top, (after, top)) - assigned(head) | read(head)
        self.top[node] = top
        return top


def read(node: ast.AST) -> Names:
    names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)}
    updated = {
        each.target.id
        for each in ast.walk(node)
        if isinstance(each, ast.AugAssign) and isinstance(each.target, ast.Name)
    }
    return frozenset(names | updated)


def assigned(*nodes: ast.AST) -> Names:
    return frozenset(
        each.id
        for node in nodes
        for each in ast.walk(node)
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
    )


def is_endless(node: ast.stmt) -> bool:
    """while True"""
    return isinstance(node, ast.While) and isinstance(node.test, ast.Constant) and bool(node.test.value)
