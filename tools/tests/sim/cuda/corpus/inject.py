"""Kernels with one safeguard taken away: a barrier, a guard, the mask of a warp's operation.

for mutant in inject(function_or_file):
    module = mutant.load(folder)    # the whole file again, changed in one place
"""

import ast
import importlib.util
import inspect
import sys
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

BARRIERS = ("syncthreads", "syncwarp")
ALL_LANES, FIRST_LANE = "0xFFFFFFFF", "0x1"


@dataclass(frozen=True)
class Mutant:
    """kind: "barrier", "guard" or "mask". function, line: where. removed: source text. text: of the changed file."""

    file: Path
    kind: str
    function: str
    line: int
    removed: str
    text: str

    def __str__(self) -> str:
        return f"{self.function}, line {self.line}: without the {self.kind} {self.removed}"

    def load(self, folder: Path):
        """The changed file as a module; kernels must live in files, so it is written to the folder."""
        file = folder / f"{self.file.stem}_{zlib.crc32(self.text.encode()):08x}.py"
        file.write_text(self.text, encoding="utf-8")
        spec = importlib.util.spec_from_file_location(file.stem, file)
        module = importlib.util.module_from_spec(spec)
        sys.modules[file.stem] = module
        spec.loader.exec_module(module)
        return module


def inject(where: Callable | Path) -> Iterator[Mutant]:
    """All mutants of a kernel or device function, or of all those in a file."""
    function = getattr(where, "py_func", where)
    file = where if isinstance(where, Path) else Path(inspect.getsourcefile(function))
    text = file.read_text(encoding="utf-8")
    for node in ast.parse(text).body:
        if _is_kernel(node) and (isinstance(where, Path) or node.name == function.__name__):
            for kind, part, replacement in _safeguards(node):
                yield Mutant(file, kind, node.name, part.lineno, ast.unparse(part), _replaced(text, part, replacement))


def _is_kernel(node: ast.stmt) -> bool:
    return isinstance(node, ast.FunctionDef) and any("cuda.jit" in ast.unparse(each) for each in node.decorator_list)


def _safeguards(function: ast.FunctionDef) -> Iterator[tuple[str, ast.AST, str]]:
    """Each with the part of the source that is replaced, and what by."""
    for node in ast.walk(function):
        if isinstance(node, ast.Expr) and _called(node.value) in BARRIERS:
            yield "barrier", node, "pass"
        if isinstance(node, ast.Call) and _called(node).endswith("_sync") or _called(node) == "syncwarp" and node.args:
            yield "mask", node.args[0], FIRST_LANE if _is_constant(node.args[0]) else ALL_LANES
        if isinstance(node, (ast.If, ast.IfExp)):
            yield from _guard(node)
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.BoolOp) and _guards(node.value.values[1:]):
            yield "guard", node.value.values[0], "True"


def _guard(node: ast.If | ast.IfExp) -> Iterator[tuple[str, ast.expr, str]]:
    """Every lane goes into the body, and every lane into the else: if they touch memory, or leave.

    Of a test in parts that must all hold for that, each part is taken away by itself.
    """
    body, otherwise = (part if isinstance(part, list) else [part] for part in (node.body, node.orelse))
    leaves = all(isinstance(each, ast.Return) for each in body)
    if _guards(body):
        joined = ast.Or if leaves else ast.And
        parted = isinstance(node.test, ast.BoolOp) and isinstance(node.test.op, joined)
        for test in node.test.values if parted else [node.test]:
            yield "guard", test, "False" if leaves else "True"
    if _guards(otherwise) and not isinstance(otherwise[0], ast.If):
        yield "guard", node.test, "False"


def _called(node: ast.AST) -> str:
    """syncthreads, for cuda.syncthreads(...)"""
    is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    return node.func.attr if is_call and ast.unparse(node.func.value) == "cuda" else ""


def _is_constant(mask: ast.expr) -> bool:
    return isinstance(mask, ast.Constant) or isinstance(mask, ast.Name) and mask.id.isupper()


def _guards(parts: list[ast.AST]) -> bool:
    """Do they touch memory, or leave those out who would?"""
    return any(
        isinstance(node, (ast.Subscript, ast.Return)) or "atomic" in _called_from(node)
        for part in parts
        for node in ast.walk(part)
    )


def _called_from(node: ast.AST) -> str:
    return ast.unparse(node.func) if isinstance(node, ast.Call) else ""


def _replaced(text: str, part: ast.AST, replacement: str) -> str:
    """The text with another in place of this part; lines stay where they are."""
    lines = text.splitlines(keepends=True)
    first, last = part.lineno - 1, part.end_lineno - 1
    before = lines[first].encode()[: part.col_offset].decode()
    after = lines[last].encode()[part.end_col_offset :].decode()
    return "".join(lines[:first] + [before + replacement + "\n" * (last - first) + after] + lines[last + 1 :])
