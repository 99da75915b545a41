"""Python functions of Numba's, taken apart so that they can be pickled, and put together for a real GPU."""

import ast
import linecache
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tools import ROOT

SIMULATED = "tools.sim.cuda"
BUILTINS = __builtins__ if isinstance(__builtins__, dict) else vars(__builtins__)


class NotDescribed(Exception):
    """A function, or what it uses, that cannot be carried over."""


def described(function: Callable, seen: tuple = ()) -> dict[str, Any]:
    """Where it is written, and what its names mean. Raises NotDescribed."""
    code = function.__code__
    file = Path(code.co_filename)
    if not file.is_relative_to(ROOT) or not file.exists():
        raise NotDescribed("its source is in no file")
    if code in seen:
        raise NotDescribed("it calls itself")
    closure = dict(zip(code.co_freevars, (_content(cell) for cell in function.__closure__ or ())))
    names = {
        name: _meaning(closure.get(name, function.__globals__.get(name)), (*seen, code))
        for name in {*_names(code), *code.co_freevars}
        if name in closure or name in function.__globals__
    }
    names |= {
        f"__default_{number}": _meaning(value, (*seen, code))
        for number, value in enumerate(function.__defaults__ or ())
    }
    return {"file": str(file.relative_to(ROOT)), "line": code.co_firstlineno, "name": code.co_name, "names": names}


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return None


def _names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)


def _meaning(value: Any, seen: tuple) -> tuple:
    kind = type(value).__name__
    if isinstance(value, types.ModuleType):
        return ("module", value.__name__)
    if kind == "Dispatcher":
        return ("device" if value.device else "kernel", described(value.py_func, seen))
    if kind == "Number" and type(value).__module__.startswith(SIMULATED):
        return ("type", str(value))
    module = getattr(value, "__module__", None) or type(value).__module__
    if kind == "DeviceNDArray":
        return ("array", value.copy_to_host())
    if isinstance(module, str) and module.startswith("tools.sim"):
        return ("simulated", module, getattr(value, "__qualname__", getattr(value, "__name__", kind)))
    if isinstance(value, types.FunctionType):
        return ("function", described(value, seen))
    return ("value", value)


def rebuilt(description: dict[str, Any]) -> Callable:
    """The Python function, its names as numba.cuda has them."""
    file = ROOT / description["file"]
    text = file.read_text(encoding="utf-8")
    tree = ast.parse(text)
    found = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        and node.name == description["name"]
        and description["line"] in (node.lineno, *(each.lineno for each in node.decorator_list))
    ]
    if not found:
        raise NotDescribed(f"{description['name']} is not at line {description['line']} of {file}")
    node = found[0]
    node.decorator_list, node.returns = [], None
    defaults = len(node.args.defaults)
    node.args.defaults = [ast.Name(f"__default_{number}", ast.Load()) for number in range(defaults)]
    _name_atomics(node, description["names"])
    module = ast.fix_missing_locations(ast.Module([node], []))
    space: dict[str, Any] = {"__builtins__": BUILTINS, "__name__": "replayed", "__file__": str(file)}
    space |= {name: _made(meaning) for name, meaning in description["names"].items()}
    space["__numba_cuda"] = _made(("module", SIMULATED))
    exec(compile(module, str(file), "exec"), space)
    linecache.getlines(str(file))
    return space[description["name"]]


def _name_atomics(node: ast.AST, names: dict[str, tuple]) -> None:
    """Numba knows an atomic function by cuda.atomic.add and the like alone, and not by a global name."""

    class Renamed(ast.NodeTransformer):
        def visit_Name(self, name: ast.Name) -> ast.AST:
            meaning = names.get(name.id, ("",))
            if meaning[0] != "simulated" or "atomic" not in meaning[1]:
                return name
            return ast.parse(f"__numba_cuda.atomic.{meaning[2].rpartition('.')[2]}", mode="eval").body

    Renamed().visit(node)


def _made(meaning: tuple) -> Any:
    import importlib

    import numba
    import numba.cuda

    kind, *rest = meaning
    match kind:
        case "module":
            name = rest[0].replace(SIMULATED, "numba.cuda").replace("numba.cuda.device.", "numba.cuda.")
            return importlib.import_module(name)
        case "device":
            return numba.cuda.jit(rebuilt(rest[0]), device=True)
        case "kernel":
            return numba.cuda.jit(rebuilt(rest[0]))
        case "function":
            return rebuilt(rest[0])
        case "type":
            return getattr(numba.types, rest[0])
        case "simulated":
            value: Any = numba.cuda
            for part in rest[1].removeprefix("cuda.").split("."):
                value = getattr(value, part, None) or getattr(numba.cuda.atomic, part)
            return value
        case "array":
            return numba.cuda.to_device(rest[0])
    return rest[0]
