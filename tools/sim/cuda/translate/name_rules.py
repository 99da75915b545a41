"""Names in a kernel: what they stand for, and what of that Numba does not take into a kernel.

Every rule was found by compiling kernels with numba-cuda 0.30; the tests compile them again.
"""

import ast
import builtins
import difflib
import enum
import functools
import inspect
import math
import textwrap
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tools.sim.cuda.numbers import mathematics
from tools.sim.cuda.numbers.promotion import dtype_of
from tools.sim.cuda.translate.findings import Finding, nodes
from tools.sim.cuda.translate.liveness import assigned
from tools.sim.cuda.translate.not_simulated import REASON
from tools.sim.cuda.translate.syntax_rules import TEXT
from tools.sim.faults import WIDTH

VARIES = object()  # what only the run can tell

SIMULATED = (breakpoint, len, print, range)  # beside what is in mathematics.py
COMPILED = (enumerate, hasattr, isinstance, iter, map, next, ord, slice, sum, tuple, type, zip)  # by Numba
INSTEAD = {
    enumerate: "Write a loop over range(len(x)).",
    zip: "Write a loop over range(len(x)).",
    sum: "Add in a loop.",
}
BUILT_IN = {name: f"{name}(a, b) is compiled." for name in ("max", "min")}
BUILT_IN |= {f"{name}imum": text for name, text in BUILT_IN.items()}
BUILT_IN |= {name: f"{name}(a) is compiled." for name in ("round", "abs")}

# Not compiled by Numba, among NumPy's functions; of those that are named nowhere, nothing is claimed.
NUMPY_ARRAYS = tuple(
    """
    arange array concatenate copy diag empty empty_like eye full full_like identity linspace ones ones_like
    stack zeros zeros_like
    """.split()
)
NUMPY_NUMBERS = tuple(
    """
    abs absolute add cbrt ceil clip copysign dot exp exp2 expm1 fabs floor fmod isfinite isinf log1p matmul
    max min mod multiply negative power rint sign sort sqrt square subtract trunc where
    """.split()
)
RANDOM = ("random", "numpy.random.mtrand")


class Missing(Exception):
    """A name, or an attribute of `owner`, that stands for nothing. near: names that there are."""

    def __init__(self, node: Any, near: list[str], owner: object = None) -> None:
        self.node, self.near, self.owner = node, near, owner


class Names:
    """Looks up what the names in a function stand for while it is compiled."""

    def __init__(self, tree: ast.FunctionDef, function: Callable) -> None:
        self.local = assigned(*tree.body) | {each.arg for each in ast.walk(tree.args) if isinstance(each, ast.arg)}
        self.outer = {**vars(builtins), **function.__globals__, **outer_variables(function)}
        self.outer.setdefault(function.__name__, VARIES)  # which is defined when its decorator is done

    def value(self, node: ast.AST) -> object:
        """The value that a name or a dotted name stands for; VARIES for anything else. Raises Missing."""
        if isinstance(node, ast.Attribute):
            return _attribute(node, self.value(node.value))
        if not isinstance(node, ast.Name) or node.id in self.local:
            return VARIES
        if node.id not in self.outer:
            raise Missing(node, [*self.local, *self.outer])
        return self.outer[node.id]


def _attribute(node: ast.Attribute, owner: object) -> object:
    if owner is VARIES:
        return VARIES
    kind = inspect.getattr_static(owner, node.attr, None)
    if isinstance(kind, (property, functools.cached_property)):
        return VARIES  # such as cuda.threadIdx.x
    if kind is None and not hasattr(owner, node.attr):
        raise Missing(node, dir(owner), owner)
    return getattr(owner, node.attr)


def outer_variables(function: Callable) -> dict[str, object]:
    """Those of outer functions that the function uses and that have a value by now."""
    cells = zip(function.__code__.co_freevars, function.__closure__ or ())
    return {name: cell.cell_contents for name, cell in cells if cell != types.CellType()}


# What is found -----------------------------------------------------------------------------------


def findings(tree: ast.FunctionDef, function: Callable, names: Names) -> Iterator[Finding]:
    """About the names in the function, in any order."""
    for node in nodes(tree):
        try:
            found = _finding(node, names)
        except Missing as missing:
            found = _missing(missing) if missing.node is node else None  # else it has a turn of its own
        if found:
            yield found


def _finding(node: ast.AST, names: Names) -> Finding | None:
    match node:
        case ast.Attribute(ctx=ast.Store()) if names.value(node.value) is not VARIES:
            return Finding(node, f"{ast.unparse(node)} cannot be set in a kernel.", "Store to elements: x[i] = ...")
        case ast.Name() | ast.Attribute():
            return _judge(node, names.value(node))
        case ast.Call(keywords=[_, *_]) if _is_known(names.value(node.func)):
            return Finding(node, f"Numba takes no keywords for {ast.unparse(node.func)}.", "Pass them by position.")
        case ast.Subscript(ctx=ast.Store()) if isinstance(names.value(node.value), np.ndarray):
            return Finding(
                node,
                f"Numba copies {ast.unparse(node.value)} into the kernel, as a constant.",
                "Pass the array to the kernel to store to it.",
            )
    return None


def _missing(missing: Missing) -> Finding:
    node = missing.node
    name, what = (
        (node.id, f"{node.id} is not defined.")
        if isinstance(node, ast.Name)
        else (node.attr, f"{ast.unparse(node.value)} has no {node.attr}.")
    )
    if name in REASON and getattr(missing.owner, "__name__", "") == "tools.sim.cuda":
        reason = f"{REASON[name][0].upper()}{REASON[name][1:]}."
        return Finding(node, ast.unparse(node), textwrap.fill(reason, WIDTH), unknown=True)
    near = difflib.get_close_matches(name, missing.near, 1)
    if missing.owner is math and name in BUILT_IN:
        return Finding(node, what, BUILT_IN[name])
    return Finding(node, what, f"Is {near[0]} meant?" if near else "")


def _judge(node: ast.AST, value: object) -> Finding | None:
    """A note of what is wrong with a value that a kernel takes from outside."""
    name = ast.unparse(node)
    if isinstance(value, (list, dict, set, frozenset, range)):
        return Finding(
            node,
            f"{name} is a {type(value).__name__}; Numba takes none into a kernel.",
            "A tuple or a NumPy array can be read there.",
        )
    if not callable(value) or _is_known(value) or hasattr(value, "py_func"):
        return None
    if type(getattr(value, "__self__", None)).__module__ in RANDOM:
        return Finding(node, f"Numba compiles no {name} for a GPU.", "Draw the numbers outside, and pass an array.")
    module = getattr(value, "__module__", None) or ""
    called = getattr(value, "__name__", "")
    if isinstance(value, np.ufunc) or module.split(".")[0] == "numpy":
        return _judge_numpy(node, name, called)
    if getattr(builtins, called, None) is value or module == "math":
        return _judge_builtin(node, name, value)
    if module in ("cmath", "_operator"):
        return Finding(node, name, unknown=True)
    return _judge_other(node, name, value, module.startswith("tools.sim."))


def _judge_other(node: ast.AST, name: str, value: Callable, of_simulator: bool) -> Finding | None:
    """Functions and classes that were written in Python."""
    if isinstance(value, types.FunctionType) and of_simulator:
        return Finding(node, f"{name} is for the host; a kernel cannot call it.")
    if isinstance(value, (types.FunctionType, functools.partial)):
        return Finding(
            node,
            f"{name} is a Python function; a kernel calls device functions only.",
            "@cuda.jit(device=True) above its def makes it one.",
        )
    if isinstance(value, type) and not of_simulator and not issubclass(value, (enum.Enum, tuple, BaseException)):
        return Finding(node, f"{name} is a class; Numba takes none into a kernel.", "Pass numbers and arrays.")
    return None


def _judge_numpy(node: ast.AST, name: str, function: str) -> Finding:
    if function in NUMPY_ARRAYS:
        return Finding(
            node,
            f"{name} makes an array, and nothing allocates memory on a GPU.",
            "cuda.shared.array(shape, dtype): one a block. cuda.local.array: one a thread.",
        )
    if function not in NUMPY_NUMBERS:
        return Finding(node, name, _in_math(function) or BUILT_IN.get(function, ""), unknown=True)
    return Finding(node, f"Numba compiles no {name} for a GPU.", _in_math(function) or BUILT_IN.get(function, ""))


def _in_math(function: str) -> str:
    return f"math.{function} is compiled." if mathematics.meaning(getattr(math, function, None)) else ""


def _judge_builtin(node: ast.AST, name: str, value: Callable) -> Finding | None:
    if value in COMPILED:
        return Finding(node, name, INSTEAD.get(value, ""), unknown=True)
    if isinstance(value, type) and issubclass(value, BaseException):
        return None
    if value in (str, repr, format):
        return Finding(node, *TEXT)
    return Finding(node, f"Numba compiles no {name} for a GPU.")


def _is_known(value: object) -> bool:
    """A function or a type that Numba and the simulator know."""
    return callable(value) and (
        value in SIMULATED or mathematics.meaning(value) is not None or dtype_of(value) is not None
    )
