"""A kernel's Python function as a program over all lanes at once; made once for each function."""

import ast
import inspect
import textwrap
import types
import weakref
from collections.abc import Callable
from typing import Any

from tools.sim.cuda.run.phi import Phi
from tools.sim.cuda.run.values import type_of
from tools.sim.cuda.session import session
from tools.sim.cuda.translate.inference import infer
from tools.sim.cuda.translate.rewrite import RESULT, Rewriter
from tools.sim.cuda.translate.syntax import LANES, OPERATIONS
from tools.sim.cuda.translate.unsupported import refuse

_programs: "weakref.WeakKeyDictionary[Callable, Program]" = weakref.WeakKeyDictionary()


class Program:
    """The rewritten function, and its versions by the types of the arguments.

    parameters: their names. written: those that the function may store to, or hand on.
    waits: it has a loop that may wait for what another block does. cooperates: its blocks have a common barrier.
    """

    def __init__(self, function: Callable) -> None:
        self.function, self.name = function, function.__name__
        tree = parse(function)
        self.parameters = [argument.arg for argument in tree.args.args]
        self.written, self.waits = _written(tree), any(map(_waits, ast.walk(tree)))
        self.cooperates = any(isinstance(node, ast.Attribute) and node.attr == "this_grid" for node in ast.walk(tree))
        refuse(tree, function)
        typed, plain = (Rewriter(tree, function.__code__.co_freevars, typed) for typed in (True, False))
        self.code = {each: _compiled(rewriter, function) for each, rewriter in ((True, typed), (False, plain))}
        self.constants, self.phis = typed.constants, {True: typed.phis, False: plain.phis}
        self._versions: dict[tuple, Version] = {}

    def version(self, arguments: tuple) -> "Version":
        """That for arguments of such types. Raises Refused for what Numba does not compile."""
        key = tuple(map(type_of, arguments))
        if key not in self._versions:
            version = Version(self)
            infer(version, arguments)
            self._versions[key] = version
        return self._versions[key]

    def run(self, lanes: Any, *arguments: Any) -> None:
        """Execute it for the active lanes."""
        self.version(arguments).run(lanes, *arguments)


class Version:
    """A program for arguments of certain types. result: the phi of what it returns.

    typed: must the results of operations be converted? value, unclear: see `infer`, which sets all three.
    """

    typed, value, unclear = True, None, ()

    def __init__(self, program: Program) -> None:
        self.program, self.result = program, Phi("the result")
        self.phis = {name: Phi(variable) for name, variable in program.phis[True].items()}
        self._known = {
            typed: {RESULT: self.result, **program.constants, **{name: self.phis[name] for name in names}}
            for typed, names in program.phis.items()
        }

    def run(self, lanes: Any, *arguments: Any) -> None:
        """Execute it; for a device function inside the kernel that calls it."""
        outer, code = self.program.function, self.program.code[self.typed]
        function = types.FunctionType(code, outer.__globals__, outer.__name__, outer.__defaults__)
        function.__kwdefaults__ = {
            LANES: lanes,
            OPERATIONS: lanes.operations,
            **self._known[self.typed],
            **_closure(outer),
        }
        with session.having(warps=lanes):
            function(*arguments)


def program(function: Callable) -> Program:
    """The program of a Python function. Raises Refused for what Numba does not compile."""
    if function not in _programs:
        _programs[function] = Program(function)
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


def _closure(function: Callable) -> dict:
    """Values of an outer function's names at this moment; as in Numba, a launch sees them as constants."""
    cells = function.__closure__ or ()
    return {name: cell.cell_contents for name, cell in zip(function.__code__.co_freevars, cells)}


def _written(tree: ast.FunctionDef) -> set[str]:
    """Names that appear other than as `name[...]` that is read, or `name.attribute`: stored to, or handed on."""
    only_read = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load) and isinstance(node.value, ast.Name):
            only_read.add(node.value)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            only_read.add(node.value)
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and node not in only_read}


def _waits(node: ast.AST) -> bool:
    """A while loop whose test reads memory, or a variable that its body reads from memory."""
    if not isinstance(node, ast.While):
        return False
    tested = {name.id for name in ast.walk(node.test) if isinstance(name, ast.Name)}
    reads = [each for each in ast.walk(node) if isinstance(each, ast.Assign) and any(map(_reads, ast.walk(each.value)))]
    targets = {
        name.id for each in reads for target in each.targets for name in ast.walk(target) if isinstance(name, ast.Name)
    }
    return any(map(_reads, ast.walk(node.test))) or bool(tested & targets)


def _reads(node: ast.AST) -> bool:
    atomic = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Attribute) and node.value.attr == "atomic"
    return atomic or isinstance(node, ast.Subscript)
