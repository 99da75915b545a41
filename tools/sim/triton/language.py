"""The Python of a kernel as the compiler understands it, where the interpreter would quietly do otherwise.

`assert`, `and`, `or` and `not` work on tensors, a loop counter is a tensor, a condition with several values
is refused. Triton's functions are put in place once, not anew in each launch and each call between kernels.
"""

import ast
import operator
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from types import SimpleNamespace
from typing import Any

import numpy as np
import triton.language as tl
from triton.backends.nvidia.compiler import CUDAOptions

from tools.sim.triton import driver, tensors, undefined
from tools.sim.triton.closures import closed
from tools.sim.triton.faults import Fault, running
from tools.sim.triton.turns import hooks

HELPERS = ("interpreter_semantic", "kernel_python")  # names that a rewritten kernel sees; the lesson does not


def patch(interpreter: Any) -> None:
    """Replace how `triton.runtime.interpreter` rewrites a kernel, and how it puts the language in place."""
    _patch_source(interpreter)
    _patch_calls(interpreter)
    _patch_asserts(interpreter)
    driver.activate()


# The source of a kernel --------------------------------------------------------------------------


class KernelPython:
    """What Python does in a kernel; each method follows the compiler's rule of the same thing."""

    def __init__(self, semantic: Any) -> None:
        self.semantic = semantic

    def check(self, condition: Any, message: str = "") -> None:
        """assert"""
        self.semantic.device_assert(self.semantic.to_tensor(condition), message, None)

    def every(self, *values: Callable) -> Any:
        """and: of tensors all are computed and combined; other values decide at once."""
        return self._combined(values, False, self.semantic.logical_and)

    def some(self, *values: Callable) -> Any:
        """or"""
        return self._combined(values, True, self.semantic.logical_or)

    def _combined(self, values: Any, decisive: bool, combine: Callable) -> Any:
        result = None
        for compute in values:
            value = compute()
            if isinstance(value, tl.tensor):
                result = value if result is None else combine(result, value)
            elif bool(value) is decisive:
                return value
        return value if result is None else result

    def opposite(self, value: Any) -> Any:
        """not"""
        return value.__not__() if isinstance(value, tl.tensor) else not value

    def truth(self, condition: Any) -> Any:
        """The condition of if."""
        if isinstance(condition, tl.tensor) and condition.handle.data.size > 1:
            size = condition.handle.data.size
            raise Fault(
                "condition",
                f"{this_program()}: this condition has {size} values; a program can go one way only.",
                "Is tl.where meant, or a mask?",
            )
        undefined.check(getattr(condition, "handle", None), "a condition")
        return condition

    def again(self, condition: Any) -> bool:
        """The condition of while: what other programs do may change it."""
        holds = bool(self.truth(condition))
        (hooks.round_begins if holds else hooks.loop_ends)()
        return holds

    def drop(self, value: Any) -> None:
        """An atomic whose result nobody uses."""
        hooks.result_dropped()

    def chain(self) -> None:
        """a <= b < c, of which Python would take the first half for true."""
        raise Fault(
            "condition",
            "A kernel cannot compare three things at once.",
            "What do two comparisons look like, joined by &?",
        )

    def counters(self, start: Any, end: Any = None, step: Any = None, **hints: Any) -> Iterator[tl.tensor]:
        """range and tl.range: counters are tensors, of the type that the bounds together have."""
        start, end = (0, start) if end is None else (start, end)
        bounds = (start, end, 1 if step is None else step)
        start, end, step = (self.semantic.to_tensor(bound) for bound in bounds)
        for each in (start, end, step):
            undefined.check(each.handle, "the bound of a loop")
        kind = self.semantic.integer_promote_impl(start.dtype, end.dtype)
        for value in range(operator.index(start), operator.index(end), operator.index(step)):
            yield self.semantic.scalar_constant(value, kind)


def _patch_source(interpreter: Any) -> None:
    helpers = interpreter.interpreter_semantic, KernelPython(interpreter.interpreter_semantic)

    class Reader(interpreter.ASTTransformer):
        def visit_Assign(self, node: ast.Assign) -> ast.AST:
            return super().visit_Assign(self.generic_visit(node))

        def visit_Assert(self, node: ast.Assert) -> ast.AST:
            self.generic_visit(node)
            return ast.Expr(_call("check", node.test, *filter(None, [node.msg])))

        def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
            self.generic_visit(node)
            return _call("every" if isinstance(node.op, ast.And) else "some", *map(_later, node.values))

        def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
            self.generic_visit(node)
            return _call("opposite", node.operand) if isinstance(node.op, ast.Not) else node

        def visit_If(self, node: ast.If | ast.IfExp) -> ast.AST:
            self.generic_visit(node)
            node.test = ast.copy_location(_call("truth", node.test), node.test)  # not where the block ends
            return node

        visit_IfExp = visit_If

        def visit_Expr(self, node: ast.Expr) -> ast.AST:
            self.generic_visit(node)
            match node.value:
                case ast.Call(func=ast.Attribute(attr=str(name))) as call if name.startswith("atomic_"):
                    node.value = ast.copy_location(_call("drop", call), call)
            return node

        def visit_While(self, node: ast.While) -> ast.AST:
            self.generic_visit(node)
            node.test = ast.copy_location(_call("again", node.test), node.test)
            return node

        def visit_Compare(self, node: ast.Compare) -> ast.AST:
            self.generic_visit(node)
            return _call("chain") if len(node.ops) > 1 else node

        def visit_For(self, node: ast.For) -> ast.AST:
            self.generic_visit(node)
            match node.iter:
                case ast.Call(func=ast.Name("range") | ast.Attribute(attr="range")) as call:
                    call.func = _helper("counters")
            return node

        def visit(self, node: ast.AST) -> ast.AST:
            """New nodes stand where the old ones stood, so that errors and debuggers show the right line."""
            new = super().visit(node)
            moved = new is not node and isinstance(node, (ast.stmt, ast.expr))
            return ast.copy_location(new, node) if moved else new

    def compile_and_exec(self: Any, tree: ast.Module) -> Any:
        """The kernel becomes a closure over the helpers: nothing is added to the names of its module."""
        kernel = tree.body[0]
        assert isinstance(kernel, ast.FunctionDef)
        outer = (*HELPERS, *self.fn.__code__.co_freevars)
        arguments = ast.arguments(
            posonlyargs=[], args=[ast.arg(name) for name in outer], kwonlyargs=[], kw_defaults=[], defaults=[]
        )
        body = [kernel, ast.Return(ast.Name(kernel.name, ast.Load()))]
        around = ast.copy_location(ast.FunctionDef("kernel_with_helpers", arguments, body, []), kernel)
        names = dict(self.kwargs)
        exec(
            compile(ast.fix_missing_locations(ast.Module([around], [])), self.filename, "exec"),
            self.fn.__globals__,
            names,
        )
        return closed(names[around.name], helpers, self.fn)

    interpreter.FunctionRewriter.ast_transformer = Reader()
    interpreter.FunctionRewriter._compile_and_exec = compile_and_exec


def _helper(name: str) -> ast.expr:
    return ast.Attribute(ast.Name("kernel_python", ast.Load()), name, ast.Load())


def _call(name: str, *args: ast.expr) -> ast.expr:
    return ast.Call(_helper(name), list(args), [])


def _later(value: ast.expr) -> ast.expr:
    nothing = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    return ast.copy_location(ast.Lambda(nothing, value), value)


# Launches and calls ------------------------------------------------------------------------------


class Launch(ExitStack):
    """What holds while a kernel runs: like a GPU, it says nothing about overflow and NaN."""

    running = 0

    def __init__(self, kernel: Callable) -> None:
        super().__init__()
        self.enter_context(np.errstate(all="ignore"))
        Launch.running += 1
        self.callback(Launch.ended)

    @classmethod
    def ended(cls) -> None:
        cls.running -= 1

    restore = ExitStack.close  # the name that the interpreter calls it by


def _patch_calls(interpreter: Any) -> None:
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        """One kernel function calls another."""
        if not Launch.running:
            name = self.__name__
            raise RuntimeError(f"{name} is a kernel: launch it with a grid, {name}[grid](...)")
        return self.rewrite()(*args, **kwargs)

    interpreter._patch_lang(SimpleNamespace(__globals__={"tl": tl, "core": tl.core}))
    interpreter._patch_lang = Launch
    interpreter.InterpretedFunction.__call__ = call
    tensors.patch(interpreter)


def this_program() -> str:
    """program 3 of 8, or program (0, 3) of (2, 4)"""
    program, grid = (place if len(place) > 1 else place[0] for place in running())
    return f"program {program} of {grid}"


# Assertions --------------------------------------------------------------------------------------


def _patch_asserts(interpreter: Any) -> None:
    # Triton's own check of overflow would refuse it everywhere, not only in addresses: see overflow.py
    options = interpreter.InterpreterOptions(
        debug=True, sanitize_overflow=False, allowed_dot_input_precisions=CUDAOptions.allowed_dot_input_precisions
    )
    interpreter.interpreter_builder.options = options

    def refuse(kind: str, words: str, question: str) -> Callable:
        def check(self: Any, condition: Any, message: str = "") -> None:
            wrong = np.count_nonzero(~condition.data.astype(bool))
            if wrong:
                of = f" for {wrong} of {condition.data.size} elements" if condition.data.size > 1 else ""
                raise Fault(kind, f"{this_program()}: {words}{of}" + (f": {message}" if message else "."), question)

        return check

    interpreter.InterpreterBuilder.create_assert = refuse(
        "device_assert",
        "the assertion is false",
        "What is the value there, and is it the value or the condition that is wrong?",
    )
    interpreter.InterpreterBuilder.create_assume = refuse(
        "assume", "what is assumed here is false", "For which inputs is it true?"
    )
