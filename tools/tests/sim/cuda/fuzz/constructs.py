"""What a random kernel is made of, read from its source text."""

import ast
from collections import Counter
from collections.abc import Iterator

import numpy as np

from tools.tests.sim.cuda.fuzz import source
from tools.tests.sim.cuda.fuzz.tree import Kernel

NODES = {
    ast.For: "for",
    ast.While: "while",
    ast.Break: "break",
    ast.Continue: "continue",
    ast.And: "and",
    ast.Or: "or",
    ast.Not: "not",
    ast.IfExp: "x if c else y",
    ast.AugAssign: "augmented assignment",
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.Invert: "~x",
    ast.USub: "-x",
}
NESTING = (ast.If, ast.For, ast.While)
LOOPS = (ast.For, ast.While)


def constructs(kernel: Kernel) -> Counter:
    """How often each one occurs."""
    tree = ast.parse(source.kernel(kernel))
    found = Counter(NODES[type(node)] for node in ast.walk(tree) if type(node) in NODES)
    for function in tree.body:
        if isinstance(function, ast.FunctionDef):
            found.update(_of_function(function, function.name.startswith("kernel")))
    return found + Counter(_of_launch(kernel))


def _of_launch(kernel: Kernel) -> Iterator[str]:
    yield f"{len(kernel.grid)}-D grid"
    yield "whole warps" if np.prod(kernel.block) % 32 == 0 else "a warp with missing lanes"
    if kernel.shared:
        yield "dynamic shared memory"
    for value in kernel.arguments.values():
        if isinstance(value, np.ndarray):
            yield f"{value.ndim}-D array"
            yield f"array of {value.dtype}"
        else:
            yield f"scalar of {type(value).__name__}"


def _of_function(function: ast.FunctionDef, is_kernel: bool) -> Iterator[str]:
    if not is_kernel:
        yield "device function"
    for node, parents in _walk(function, ()):
        loops = [parent for parent in parents if isinstance(parent, LOOPS)]
        depth = sum(isinstance(parent, NESTING) for parent in parents)
        if isinstance(node, NESTING) and depth in (2, 3):
            yield f"nested {depth + 1} deep"
        if isinstance(node, ast.Return) and parents[:-1]:
            yield "early return" if is_kernel else "return in a branch of a device function"
        if isinstance(node, ast.Call):
            yield from _of_call(node, bool(loops), depth > len(loops), not is_kernel)
        yield from _of_shape(node)


def _walk(node: ast.AST, parents: tuple) -> Iterator[tuple[ast.AST, tuple]]:
    """Each node with the statements around it."""
    for child in ast.iter_child_nodes(node):
        if not (isinstance(node, ast.If) and node.orelse == [child] and isinstance(child, ast.If)):  # elif is no deeper
            inside = parents + (node,) if isinstance(node, (ast.stmt, ast.FunctionDef)) else parents
        else:
            inside = parents
        yield child, inside
        yield from _walk(child, inside)


def _of_call(node: ast.Call, in_loop: bool, in_branch: bool, in_device: bool) -> Iterator[str]:
    name = ast.unparse(node.func)
    yield name if not name.startswith(("device", "warp_total")) else "call of a device function"
    if name.startswith("device") and (in_device or any(ast.unparse(each).startswith("device") for each in node.args)):
        yield "nested call of a device function"
    if name == "cuda.syncthreads" and in_loop:
        yield "barrier in a loop"
    if name == "cuda.syncthreads" and in_branch:
        yield "barrier in a branch"
    if name == "cuda.shared.array" and isinstance(node.args[0], ast.Tuple):
        yield "shared array of several dimensions"
    if name == "range":
        yield from _of_range(node.args)


def _of_range(arguments: list[ast.expr]) -> Iterator[str]:
    names = {each.id for argument in arguments for each in ast.walk(argument) if isinstance(each, ast.Name)}
    if names - {"np"}:
        yield "range with computed bounds"
    if len(arguments) == 3:
        yield (
            "range with a computed step"
            if any(isinstance(each, ast.Name) for each in ast.walk(arguments[2]))
            else "range with a fixed step"
        )
        yield "range downwards" if ast.unparse(arguments[2]).startswith(("-", "(-")) else "range upwards by steps"


def _of_shape(node: ast.AST) -> Iterator[str]:
    """What shows in how a node is put together."""
    match node:
        case ast.If(orelse=orelse):
            yield "if"
            if orelse:
                yield "elif" if isinstance(orelse[0], ast.If) and len(orelse) == 1 else "else"
        case ast.Compare(ops=[_, _, *_]):
            yield "chained comparison"
        case ast.Assign(targets=[ast.Tuple()]):
            yield "tuple unpacking"
        case ast.While(test=ast.Constant()):
            yield "while True"
        case ast.While(test=ast.Call()):
            yield "loop on a vote"
        case ast.Assign(value=ast.Call(func=ast.Attribute(value=ast.Attribute(attr="atomic")))):
            yield "old value of an atomic"
        case ast.Attribute(attr="size" | "shape"):
            yield "extent of an array"


ASKED = (
    "if",
    "elif",
    "else",
    "for",
    "while",
    "while True",
    "break",
    "continue",
    "early return",
    "and",
    "or",
    "not",
    "x if c else y",
    "chained comparison",
    "augmented assignment",
    "tuple unpacking",
    "nested 3 deep",
    "nested 4 deep",
    "range with computed bounds",
    "range with a fixed step",
    "range with a computed step",
    "range downwards",
    "range upwards by steps",
    "loop on a vote",
    "1-D grid",
    "2-D grid",
    "3-D grid",
    "whole warps",
    "a warp with missing lanes",
    "device function",
    "call of a device function",
    "return in a branch of a device function",
    "nested call of a device function",
    "1-D array",
    "2-D array",
    "3-D array",
    "extent of an array",
    "cuda.local.array",
    "cuda.shared.array",
    "shared array of several dimensions",
    "dynamic shared memory",
    "cuda.syncthreads",
    "barrier in a loop",
    "barrier in a branch",
    "cuda.syncwarp",
    "cuda.syncthreads_count",
    "cuda.syncthreads_and",
    "cuda.syncthreads_or",
    "cuda.shfl_sync",
    "cuda.shfl_up_sync",
    "cuda.shfl_down_sync",
    "cuda.shfl_xor_sync",
    "cuda.ballot_sync",
    "cuda.any_sync",
    "cuda.all_sync",
    "cuda.eq_sync",
    "cuda.match_any_sync",
    "cuda.match_all_sync",
    "cuda.popc",
    "cuda.clz",
    "cuda.ffs",
    "cuda.brev",
    "cuda.atomic.add",
    "cuda.atomic.sub",
    "cuda.atomic.min",
    "cuda.atomic.max",
    "cuda.atomic.and_",
    "cuda.atomic.or_",
    "cuda.atomic.xor",
    "cuda.atomic.exch",
    "cuda.atomic.cas",
    "old value of an atomic",
    "min",
    "max",
    "abs",
    "int",
    "float",
    "math.sqrt",
    "math.floor",
    "math.ceil",
    "math.fabs",
    "np.int32",
    "np.int64",
    "np.uint32",
    "np.float32",
    "np.float64",
    "np.int8",
    "np.uint8",
    "np.int16",
    "np.uint64",
    "array of int32",
    "array of int64",
    "array of uint32",
    "array of float32",
    "array of float64",
    "array of int16",
    "scalar of int",
    "scalar of float",
    "scalar of int32",
    "scalar of float32",
    "scalar of uint32",
    *(sign for sign in NODES.values() if not sign.isalpha() and " " not in sign),
)
