"""A kernel's Python function as a program over all lanes at once; made once for each function."""

import ast
import inspect
import textwrap
import types
import weakref
from collections.abc import Callable
from functools import cached_property
from typing import Any

from tools.sim.cuda.faults import Refused
from tools.sim.cuda.run.phi import Phi
from tools.sim.cuda.run.values import type_of
from tools.sim.cuda.session import session
from tools.sim.cuda.translate import callees, waiting
from tools.sim.cuda.translate.frozen import Frozen
from tools.sim.cuda.translate.inference import infer
from tools.sim.cuda.translate.rewrite import RESULT, Rewriter
from tools.sim.cuda.translate.syntax import LANES, OPERATIONS
from tools.sim.cuda.translate.unsupported import refuse

_programs: "weakref.WeakKeyDictionary[Callable, Program]" = weakref.WeakKeyDictionary()


class Program:
    """The rewritten function, and its versions by the types of the arguments.

    parameters: their names. written: those that the function may store to, or hand on.
    """

    def __init__(self, function: Any, device: bool = False) -> None:
        self.function, self.name = function, function.__name__
        tree = parse(function)
        self.parameters = [argument.arg for argument in tree.args.args]
        self.written = _written(tree)
        self._returns = any(isinstance(node, ast.Return) and node.value is not None for node in ast.walk(tree))
        refuse(tree, function, device)
        typed, plain = (Rewriter(tree, function.__code__.co_freevars, typed) for typed in (True, False))
        self.code = {each: _compiled(rewriter, function) for each, rewriter in ((True, typed), (False, plain))}
        self.constants, self.phis = typed.constants, {True: typed.phis, False: plain.phis}
        self._versions: dict[tuple, Version] = {}
        self._inferring: list[tuple] = []  # types for which `version` is under way

    @cached_property
    def waits(self) -> bool:
        """It has a loop that may wait for what another block does, or a device function of it has."""
        return waiting.waits(self._trees)

    @cached_property
    def cooperates(self) -> bool:
        """Its blocks have a common barrier."""
        return self._names("this_grid")

    @cached_property
    def fences(self) -> bool:
        """It has fences that other blocks heed."""
        return self._names("threadfence", "threadfence_system")

    def _names(self, *attributes: str) -> bool:
        """Does something that runs in it have such a name, as in cuda.threadfence?"""
        nodes = (node for tree in self._trees.values() for node in ast.walk(tree))
        return any(isinstance(node, ast.Attribute) and node.attr in attributes for node in nodes)

    @cached_property
    def _trees(self) -> dict[Callable, ast.FunctionDef]:
        """The functions that run when it does, with their syntax."""
        return {each: parse(each) for each in (self.function, *callees.reached(self.function))}

    def version(self, arguments: tuple) -> "Version":
        """That for arguments of such types. Raises Refused for what Numba does not compile."""
        key = tuple(map(type_of, arguments))
        if self._inferring and key != self._inferring[-1]:
            raise self._changes_types()
        if key not in self._versions:
            version = self._versions[key] = Version(self)
            self._inferring.append(key)
            try:
                infer(version, arguments)
                self._check_end(version)
            except BaseException:
                del self._versions[key]
                raise
            finally:
                self._inferring.pop()
        return self._versions[key]

    def _changes_types(self) -> Refused:
        return Refused(
            f"{self.name} calls itself with other types than it was called with.\n"
            "Numba compiles recursion only with the same types all the way.",
            "n - 1 is an int64, so n should be one from the start.",
        )

    def _check_end(self, version: "Version") -> None:
        """Refuse a function that gives something back, and calls itself in every way to that."""
        if self._returns and version.result.type is None and self.function in callees.reached(self.function):
            raise Refused(f"{self.name} calls itself in every way through it.", "When should it stop?")

    def run(self, lanes: Any, *arguments: Any) -> None:
        """Execute it for the active lanes."""
        self.version(arguments).run(lanes, *arguments)


class Version:
    """A program for arguments of certain types. result: the phi of what it returns.

    typed: must the results of operations be converted? value, unclear: see `infer`, which sets all three.
    frozen: what its names from outside stand for.
    """

    typed, unclear = True, ()
    value: Any = None

    def __init__(self, program: Program) -> None:
        self.program, self.result, self.frozen = program, Phi("the result"), Frozen(program.function)
        self.phis = {name: Phi(variable) for name, variable in program.phis[True].items()}
        self._known = {
            typed: {RESULT: self.result, **program.constants, **{name: self.phis[name] for name in names}}
            for typed, names in program.phis.items()
        }

    def run(self, lanes: Any, *arguments: Any) -> None:
        """Execute it; for a device function inside the kernel that calls it."""
        outer, code = self.program.function, self.program.code[self.typed]
        lanes.begins(self)
        function = types.FunctionType(code, self.frozen.globals, outer.__name__, outer.__defaults__)
        function.__kwdefaults__ = {
            LANES: lanes,
            OPERATIONS: lanes.operations,
            **self._known[self.typed],
            **self.frozen.closure,
        }
        with session.having(warps=lanes):
            function(*arguments)


def program(function: Callable, device: bool = False) -> Program:
    """The program of a Python function. device: kernels call it. Raises Refused for what Numba does not compile."""
    if function not in _programs:
        _programs[function] = Program(function, device)
    return _programs[function]


def parse(function: Callable) -> ast.FunctionDef:
    """Its syntax tree, with the line numbers of its file."""
    try:
        lines, first = inspect.getsourcelines(function)
    except (OSError, TypeError):
        raise TypeError(
            f"The source of {function.__name__} cannot be read, so it cannot be simulated.\n"
            "Put the kernel in a file, or in a notebook's cell."
        ) from None
    tree = ast.parse(textwrap.dedent("".join(lines)))
    ast.increment_lineno(tree, first - 1)
    if not isinstance(tree.body[0], ast.FunctionDef):
        raise TypeError("A kernel is a function that was written with def.")
    return tree.body[0]


def _compiled(rewriter: Rewriter, function: Callable) -> types.CodeType:
    module = ast.Module([rewriter.function()], type_ignores=[])
    code = compile(ast.fix_missing_locations(module), function.__code__.co_filename, "exec", dont_inherit=True)
    return next(each for each in code.co_consts if isinstance(each, types.CodeType))


def _written(tree: ast.FunctionDef) -> set[str]:
    """Names that appear other than as `name[...]` that is read, or `name.attribute`: stored to, or handed on."""
    only_read = set()
    for node in ast.walk(tree):
        match node:
            case ast.Subscript(ctx=ast.Load(), value=ast.Name() as value) | ast.Attribute(value=ast.Name() as value):
                only_read.add(value)
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and node not in only_read}
