"""Rewrites the syntax tree of a kernel so that one run serves all lanes: variables become vectors, and control
flow becomes masks. Where ways meet, a variable that is still needed gets each lane's value, in one type for all.

    if x > 0:              _split_1 = _lanes.split(_ops.gt(x, int64_0))
        y = x + 1          _y_2 = y
    out[i] = y             if _lanes.active:
                               y = _ops.add(x, int64_1)
                           y, _y_2 = _y_2, y
                           _lanes.other(_split_1)
                           y = _lanes.merge(y, _y_2, _split_1, _phi_3)
                           _lanes.join(_split_1)
                           _lanes.store(out, i, y)

Every piece keeps its place in the learner's file, so that tracebacks and counts name the learner's lines.
"""

import ast
from collections.abc import Iterable
from typing import NamedTuple

from tools.sim.cuda.run.values import Undefined
from tools.sim.cuda.translate.expressions import OPERATOR, Expressions
from tools.sim.cuda.translate.liveness import Liveness, assigned
from tools.sim.cuda.translate.meetings import Meeting, hand_over, keep, merge, swap
from tools.sim.cuda.translate.syntax import (
    LANES,
    OPERATIONS,
    assign,
    at,
    if_active,
    name,
    operate,
    run,
    runtime,
    step,
    stored,
)

RESULT = "_result"  # the phi of what a function returns


class _Loop(NamedTuple):
    """again: where lanes have another turn. out: where those that break out meet the others."""

    name: str
    again: list[Meeting]
    out: list[Meeting]


class Rewriter(Expressions):
    """tree: of a function. free: names of outer functions' variables. typed: see Expressions."""

    def __init__(self, tree: ast.FunctionDef, free: tuple[str, ...] = (), typed: bool = False) -> None:
        super().__init__(tree, typed)
        self._tree, self._free, self._live = tree, free, Liveness(tree)
        self._parameters = [argument.arg for argument in tree.args.args]
        self._variables = sorted(assigned(*tree.body))
        self.constants |= {_undefined(each): Undefined(each) for each in self._variables}
        self._loops: list[_Loop] = []

    def function(self) -> ast.FunctionDef:
        """The whole function. Its keyword-only arguments: the lanes, the operators, constants, phis, free names."""
        start = [assign(each, name(_undefined(each))) for each in self._variables if each not in self._parameters]
        body = start + self._block(self._tree.body)
        extra = [LANES, OPERATIONS, RESULT, *self.constants, *self.phis, *self._free]
        arguments = ast.arguments(
            posonlyargs=[],
            args=[ast.arg(each) for each in self._parameters],
            defaults=[],
            kwonlyargs=[ast.arg(each) for each in extra],
            kw_defaults=[None] * len(extra),
        )
        return at(ast.FunctionDef(self._tree.name, arguments, body, []), self._tree)

    # Statements ----------------------------------------------------------------------------------

    def _block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        """Those of one block, each with its place in the file. What no lane reaches any more is not run."""
        new: list[ast.stmt] = []
        for number, statement in enumerate(statements, start=1):
            new += [at(each, statement) for each in self.visit(statement)]
            rest = statements[number:]
            if rest and _may_leave(statement):
                return [*new, at(if_active(self._block(rest)), rest[0])]
        return new or [ast.Pass()]

    def visit_Expr(self, node: ast.Expr) -> list[ast.stmt]:
        return [] if isinstance(node.value, ast.Constant) else [step(), ast.Expr(self.visit(node.value))]

    def visit_Pass(self, node: ast.Pass) -> list[ast.stmt]:
        return []

    def visit_Assign(self, node: ast.Assign) -> list[ast.stmt]:
        if len(node.targets) == 1:
            return [step(), *self._store(node.targets[0], self.visit(node.value))]
        value = self.new("value")
        return [
            step(),
            assign(value, self.visit(node.value)),
            *(each for target in node.targets for each in self._store(target, name(value))),
        ]

    def visit_AnnAssign(self, node: ast.AnnAssign) -> list[ast.stmt]:
        return [step(), *self._store(node.target, self.visit(node.value))] if node.value else []

    def visit_AugAssign(self, node: ast.AugAssign) -> list[ast.stmt]:
        operator, value, target = OPERATOR[type(node.op)], node.value, node.target
        if isinstance(target, ast.Name):
            return [step(), *self._store(target, self.typed(operate(operator, name(target.id), self.visit(value))))]
        array, index = self.new("array"), self.new("index")  # evaluated once, as Python does
        element = at(runtime("load", name(array), name(index)), target)
        place = self.visit(target.slice) if isinstance(target, ast.Subscript) else ast.Constant(target.attr)
        return [
            step(),
            assign(array, self.visit(target.value)),
            assign(index, place),
            run("store", name(array), name(index), self.typed(operate(operator, element, self.visit(value)))),
        ]

    def _store(self, target: ast.expr, value: ast.expr) -> list[ast.stmt]:
        """Assign the (rewritten) value to a variable, an element, or to several of them."""
        if isinstance(target, ast.Name):
            return [assign(target.id, value)]
        if isinstance(target, ast.Subscript):
            return [run("store", self.visit(target.value), self.visit(target.slice), value)]
        if isinstance(target, ast.Attribute) and not self.is_outside(target):  # a field of a record
            return [run("store", self.visit(target.value), ast.Constant(target.attr), value)]
        if not isinstance(target, (ast.Tuple, ast.List)):
            self.unknown(target, "an assignment to anything but variables and elements")
        values = self.new("values")
        unpacked = runtime("unpack", value, ast.Constant(len(target.elts)))
        parts = [
            self._store(each, ast.Subscript(name(values), ast.Constant(number), ast.Load()))
            for number, each in enumerate(target.elts)
        ]
        return [assign(values, unpacked), *(each for part in parts for each in part)]

    def visit_Assert(self, node: ast.Assert) -> list[ast.stmt]:
        return [step(), run("check", self.visit(node.test), *([self.visit(node.msg)] if node.msg else []))]

    def visit_Raise(self, node: ast.Raise) -> list[ast.stmt]:
        return [step(), run("raise_", ast.Constant(ast.unparse(node.exc) if node.exc else "an error"))]

    def visit_Return(self, node: ast.Return) -> list[ast.stmt]:
        return [step(), run("return_", *([] if node.value is None else [self.visit(node.value), name(RESULT)]))]

    # Ways that part and meet ---------------------------------------------------------------------

    def visit_If(self, node: ast.If) -> list[ast.stmt]:
        split, set_here = self.new("split"), assigned(*node.body, *node.orelse)
        after, otherwise = self._live.after[node], self._live.otherwise[node]
        meetings = self._meetings(set_here & after)
        kept = meetings + self._meetings(set_here & otherwise - after)
        test, body = self.test(node.test), self._block(node.body)
        return [
            step(),
            assign(split, runtime("split", test)),
            *keep(kept),
            if_active(body),
            *map(swap, kept),
            run("other", name(split)),
            *([if_active(self._block(node.orelse))] if node.orelse else []),
            *merge("merge", split, meetings),
            run("join", name(split)),
        ]

    def visit_While(self, node: ast.While) -> list[ast.stmt]:
        loop = self._enter(node)
        test = ast.BoolOp(
            ast.And(), [runtime("again", name(loop.name)), runtime("test", name(loop.name), self.test(node.test))]
        )
        return self._loop(loop, node, [], ast.While(test, self._turn(loop, node, []), []))

    def visit_For(self, node: ast.For) -> list[ast.stmt]:
        loop, values, value = self._enter(node), self.new("values"), self.new("value")
        if isinstance(node.iter, ast.Call) and isinstance(node.iter.func, ast.Name) and node.iter.func.id == "range":
            through = runtime("range", name(loop.name), *map(self.visit, node.iter.args))
        else:
            through = runtime("elements", name(loop.name), self.sequence(node.iter))
        body = self._turn(loop, node, self._store(node.target, name(value)))
        return self._loop(loop, node, [assign(values, through)], ast.For(stored(value), name(values), body, []))

    def _enter(self, node: ast.For | ast.While) -> _Loop:
        """A loop, whose body is to come."""
        set_here = assigned(*node.body, *([node.target] if isinstance(node, ast.For) else []))
        breaks = any(isinstance(each, ast.Break) for each in ast.walk(node))
        again = self._meetings(set_here & self._live.top[node])
        out = self._meetings(self._live.after[node] & (set_here | assigned(*node.orelse)) if breaks else ())
        self._loops.append(_Loop(self.new("loop"), again, out))
        return self._loops[-1]

    def _turn(self, loop: _Loop, node: ast.For | ast.While, start: list[ast.stmt]) -> list[ast.stmt]:
        body = [at(each, node) for each in [*keep(loop.again), *start]] + self._block(node.body)
        self._loops.pop()
        return body + [at(each, node) for each in merge("turn", loop.name, loop.again)]

    def _loop(
        self, loop: _Loop, node: ast.For | ast.While, before: list[ast.stmt], statement: ast.stmt
    ) -> list[ast.stmt]:
        new = [assign(loop.name, runtime("loop")), *before]
        new += [assign(each.variable, runtime("fit", name(each.variable), name(each.phi))) for each in loop.again]
        new += [assign(each.waiting, name(_undefined(each.variable))) for each in loop.out]
        new += [statement]
        if node.orelse or loop.out:
            new += [run("otherwise", name(loop.name)), if_active(self._block(node.orelse))]
        return [*new, *merge("merge", loop.name, loop.out), run("leave", name(loop.name))]

    def visit_Break(self, node: ast.Break) -> list[ast.stmt]:
        loop = self._loops[-1]
        return [*hand_over("merge", loop.name, loop.out), run("break_")]

    def visit_Continue(self, node: ast.Continue) -> list[ast.stmt]:
        loop = self._loops[-1]
        return [*hand_over("turn", loop.name, loop.again), run("continue_")]

    def _meetings(self, variables: Iterable[str]) -> list[Meeting]:
        return [Meeting(each, self.new(each), self.phi(each)) for each in sorted(variables)]


def _may_leave(statement: ast.stmt) -> bool:
    """Can a lane leave the block in this statement?"""
    return any(isinstance(node, (ast.Break, ast.Continue, ast.Return)) for node in ast.walk(statement))


def _undefined(variable: str) -> str:
    return f"{variable}_undefined"
