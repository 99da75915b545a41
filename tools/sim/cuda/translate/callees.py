"""Device functions that a kernel calls, by the names in its code, and theirs in turn."""

import dis
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

from tools.sim.cuda.translate.name_rules import outer_variables

_GLOBAL = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_CLASSDEREF")
_ATTRIBUTE = ("LOAD_ATTR", "LOAD_METHOD")


def direct(function: FunctionType) -> list[Any]:
    """Dispatchers of the device functions that its names stand for: lock, or locks.lock of a module or a class."""
    return list({id(value): value for value in _values(function) if hasattr(value, "py_func")}.values())


def _values(function: FunctionType) -> Iterator[object]:
    """What each name of its code stands for, and each attribute of such a thing; attributes of values are none."""
    outer = {**function.__globals__, **outer_variables(function)}
    value: Any = None
    for instruction in dis.get_instructions(function.__code__):
        if instruction.opname in _GLOBAL:
            value = outer.get(str(instruction.argval))
        elif instruction.opname in _ATTRIBUTE and value is not None:
            value = getattr(value, str(instruction.argval), None)
        else:
            value = None
        if value is not None:
            yield value


def reached(function: FunctionType) -> list[Callable]:
    """The Python functions of all device functions that it calls, also by way of others."""
    found: dict[Callable, None] = {}
    waiting: list[Any] = [each.py_func for each in direct(function)]
    while waiting:
        callee = waiting.pop()
        if callee not in found:
            found[callee] = None
            waiting += [each.py_func for each in direct(callee)]
    return list(found)
