"""A kernel's function with Numba's own names in it, where the lesson's has those of the stand-in."""

import builtins
import importlib
import sys
import types
from collections.abc import Iterator
from typing import Any

STAND_IN = "tools.sim.cuda"
NAMESPACES = ("atomic", "fp16", "cg", "libdevice", "shared", "local", "const", "types")

PLAIN = (bool, int, float, str, tuple, dict, type(None))  # what others may share: no name of the stand-in's own


class Translation:
    """From the stand-in's objects to Numba's; what both know is left as it is. One for each compilation."""

    def __init__(self, cuda: types.ModuleType) -> None:
        self._cuda = cuda
        self._known = _counterparts(sys.modules[STAND_IN], cuda)
        for name in NAMESPACES:
            self._known |= _counterparts(getattr(sys.modules[STAND_IN], name), getattr(cuda, name, None))

    def function(self, function: types.FunctionType) -> types.FunctionType:
        """The same code, whose names mean Numba's."""
        used = set(_names(function.__code__)) & function.__globals__.keys()
        scope = {name: self.value(function.__globals__[name]) for name in used}
        scope |= {"__name__": function.__module__, "__builtins__": builtins}
        closure = tuple(types.CellType(self.value(cell.cell_contents)) for cell in function.__closure__ or ())
        return types.FunctionType(function.__code__, scope, function.__name__, function.__defaults__, closure)

    def value(self, value: object) -> object:
        """What a name stands for: a module, an intrinsic, a type, a device function."""
        if id(value) in self._known:
            return self._known[id(value)]
        if isinstance(value, types.ModuleType) and value.__name__.startswith(STAND_IN):
            return importlib.import_module(value.__name__.replace(STAND_IN, "numba.cuda"))
        if type(value).__module__.startswith(STAND_IN) and hasattr(value, "py_func"):
            self._known[id(value)] = self._device_function(value)
        return self._known.get(id(value), value)

    def _device_function(self, dispatcher: Any) -> Any:
        options = {name: dispatcher.options[name] for name in ("inline", "forceinline") if name in dispatcher.options}
        signatures = [tuple(map(self.type, types)) for types in dispatcher.signatures] or None
        jit = self._cuda.jit(signatures, device=True, lineinfo=True, **options)
        return jit(self.function(dispatcher.py_func))

    def type(self, kind: Any) -> object:
        """Numba's type for one of the stand-in's. NotImplementedError for records."""
        known = self._cuda.types
        if hasattr(kind, "layout"):
            return known.Array(self.type(kind.dtype), kind.ndim, kind.layout, readonly=kind.readonly)
        if hasattr(kind, "types"):
            return known.Tuple(tuple(map(self.type, kind.types)))
        if not hasattr(known, kind.name):
            raise NotImplementedError(f"an argument of type {kind} is not compiled here")
        return getattr(known, kind.name)


def _counterparts(stand_in: Any, real: Any) -> dict[int, object]:
    names = [name for name in dir(stand_in) if not name.startswith("_") and hasattr(real, name)]
    things = {name: getattr(stand_in, name, None) for name in names}
    return {id(thing): getattr(real, name) for name, thing in things.items() if not isinstance(thing, PLAIN)}


def _names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)
