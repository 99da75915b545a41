"""The text of a lesson as a syntax tree: what may be said about a function without running it."""

import ast
import re
import sys
from collections.abc import Callable, Iterator
from functools import cached_property, lru_cache
from pathlib import Path

KERNELS = ("triton.jit", "cuda.jit")
ENDS = (ast.Return, ast.Raise)
SHAPE = re.compile(r"((?:\w+, )*\w+): \(([^()]+)\)")  # in a docstring: a: (m, k), or x, y: (n,)

Loop = ast.For | ast.While


class Source:
    """The module that one function comes from."""

    def __init__(self, text: str, name: str, line: int | None = None):
        """line: where the function begins, where that is known."""
        self.tree, self.name, self._line = ast.parse(text), name, line
        self._lines = text.splitlines()

    @cached_property
    def function(self) -> ast.FunctionDef | None:
        """The function itself; None if several have its name and nothing tells which it is."""
        found = [node for node in ast.walk(self.tree) if isinstance(node, ast.FunctionDef) and node.name == self.name]
        found = [node for node in found if self._line in (node.lineno, _first_line(node))] or found
        return found[0] if len(found) == 1 else None

    @property
    def has_kernels(self) -> bool:
        """Does the module hold kernels? Where it does not, it says nothing that none was launched."""
        return any(
            ast.unparse(mark).partition("(")[0] in KERNELS
            for node in self.tree.body
            if isinstance(node, ast.FunctionDef)
            for mark in node.decorator_list
        )

    @property
    def has_threads(self) -> bool:
        """Does it speak of threads, as kernels of CUDA do in Python and in C++?"""
        return any("threadIdx" in line or "cuda.grid(" in line for line in self._lines)

    @property
    def allocates(self) -> bool:
        """Does it make tensors to which nothing is stored yet, by torch.empty for one?"""
        return any("empty" in line for line in self._lines)

    @cached_property
    def constants(self) -> list[int]:
        """The whole numbers to which the module gives names."""
        values = [node.value for node in self.tree.body if isinstance(node, ast.Assign)]
        return [value.value for value in values if isinstance(value, ast.Constant) and type(value.value) is int]

    @cached_property
    def axes(self) -> dict[str, tuple[str, ...]]:
        """The names that the function's docstring gives to the axes of its arrays: {"a": ("m", "k")}."""
        text = self.function and ast.get_docstring(self.function) or ""
        if other := re.search(r"rguments as for (\w+)", text):
            text += next(
                (
                    ast.get_docstring(node) or ""
                    for node in self.tree.body
                    if isinstance(node, ast.FunctionDef) and node.name == other[1]
                ),
                "",
            )
        return {
            name: tuple(re.findall(r"\w+", axes)) for names, axes in SHAPE.findall(text) for name in names.split(", ")
        }

    @property
    def pair(self) -> tuple[str, str] | None:
        """The names of the two numbers that the function returns: "(row, col) of ..." in the docstring's first
        sentence, or that of the function, warp_and_lane. None where the annotation says that they are no two."""
        if not re.fullmatch(r"tuple\[\w+, \w+\]|", self.returns):
            return None
        text = (self.function and ast.get_docstring(self.function) or "").partition(".")[0]
        listed = re.search(r"\(([^()]+)\)", text)
        names = listed[1].split(", ") if listed else self.name.split("_and_")
        return tuple(names) if len(names) == 2 else None

    @property
    def asks_whether_done(self) -> bool:
        """Does any line ask a stream or an event whether its work is done? Then no other needs to wait for it."""
        return any(isinstance(node, ast.Attribute) and node.attr in ("query", "done") for node in ast.walk(self.tree))

    @property
    def returns(self) -> str:
        """What the function's annotation says that it returns; "" where it says nothing."""
        return ast.unparse(self.function.returns) if self.function and self.function.returns else ""

    @property
    def divides_whole(self) -> bool:
        """Does the function itself divide with //?"""
        return self.function is not None and any(isinstance(node, ast.FloorDiv) for node in ast.walk(self.function))

    def returns_nothing(self) -> bool:
        """Does it certainly hand nothing back: no return with a value, or a way to the end past all of them?"""
        if self.function is None:
            return False
        values = [node.value for node in ast.walk(self.function) if isinstance(node, ast.Return)]
        return not any(values) or not _ends(self.function.body)

    def holds(self, line: int, text: str) -> bool:
        """Does this text stand in that line?"""
        return 0 < line <= len(self._lines) and self._lines[line - 1].strip() == text.strip()

    def loop_around(self, line: int) -> Loop | None:
        """The innermost loop that this line is in."""
        return next(reversed(self.loops_around(line)), None)

    def loops_around(self, line: int, heads: bool = False) -> list[Loop]:
        """All loops that it is in, the outermost first. heads: also one that it is the first line of."""
        loops = [
            node
            for node in ast.walk(self.tree)
            if isinstance(node, (ast.For, ast.While)) and node.lineno < line + heads <= (node.end_lineno or 0) + heads
        ]
        return sorted(loops, key=lambda node: node.lineno)


def source_of(function: Callable) -> Source | None:
    """That of the module of a function, wherever it runs; None where there is no file that can be read."""
    file = getattr(sys.modules.get(getattr(function, "__module__", "")), "__file__", None)
    try:
        text = Path(file).read_text(encoding="utf-8") if file else ""
        line = getattr(getattr(function, "__code__", None), "co_firstlineno", None)
        name = getattr(function, "__name__", "").rpartition(" ")[2]  # "gradients of f" is made of f
        return _source(text, name, line) if text else None
    except (OSError, SyntaxError, ValueError):
        return None


@lru_cache(maxsize=8)
def _source(text: str, name: str, line: int | None) -> Source:
    """Each failure of a lesson asks several times."""
    return Source(text, name, line)


def _first_line(node: ast.FunctionDef) -> int:
    return min([node.lineno, *(mark.lineno for mark in node.decorator_list)])


def _ends(body: list[ast.stmt]) -> bool:
    """Does every way through these statements end in a return or an error?"""
    return any(map(_is_end, body))


def _is_end(statement: ast.stmt) -> bool:
    if isinstance(statement, ENDS):
        return True
    if isinstance(statement, ast.While):
        return isinstance(statement.test, ast.Constant) and bool(statement.test.value) and not _leaves(statement)
    if isinstance(statement, (ast.If, ast.Try, ast.With, ast.Match)):
        return all(map(_ends, _branches(statement)))
    return False


def _branches(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    """The blocks of which one is gone through."""
    match statement:
        case ast.If(body=body, orelse=orelse):
            yield from (body, orelse)
        case ast.With(body=body):
            yield body
        case ast.Try(body=body, handlers=handlers, orelse=orelse, finalbody=finalbody):
            if not _ends(finalbody):
                yield [*body, *orelse]
                yield from (handler.body for handler in handlers)
        case ast.Match(cases=cases):
            yield from (case.body for case in cases)
            if not any(
                isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None and case.guard is None
                for case in cases
            ):
                yield []


def _leaves(loop: ast.While) -> bool:
    return any(isinstance(node, ast.Break) for node in ast.walk(loop))
