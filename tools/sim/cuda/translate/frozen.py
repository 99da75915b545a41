"""Names from outside a function, as they were when it was first compiled: for Numba they are constants from then on."""

from types import FunctionType
from typing import Any

import numpy as np

_NUMBERS = (bool, int, float, complex, str, np.generic)


class Frozen:
    """The globals and the outer variables of a function at this moment; arrays are copied.

    globals: for a function that shall see them. closure: outer functions' variables by name.
    """

    def __init__(self, function: FunctionType) -> None:
        self._function = function
        used = [name for name in _names(function) if name in function.__globals__]
        self._before = {name: _copied(function.__globals__[name]) for name in used}
        self.globals = {**function.__globals__, **self._before}
        self.closure = {name: _copied(value) for name, value in _closure(function).items()}

    def changed(self) -> dict[str, object]:
        """Names that stand for something else by now, with what they stood for."""
        now = {**self._function.__globals__, **_closure(self._function)}
        before = self._before | self.closure
        return {name: value for name, value in before.items() if name in now and not _same(value, now[name])}


def _closure(function: FunctionType) -> dict[str, Any]:
    """An outer function's names that have a value."""
    found = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        try:
            found[name] = cell.cell_contents
        except ValueError:  # it has none yet
            continue
    return found


def _names(function: FunctionType) -> set[str]:
    """Names in its code, and in that of its inner functions and comprehensions."""
    found, waiting = set(), [function.__code__]
    while waiting:
        code = waiting.pop()
        found |= set(code.co_names)
        waiting += [each for each in code.co_consts if hasattr(each, "co_names")]
    return found


def _copied(value: Any) -> Any:
    return value.copy() if type(value) is np.ndarray else value


def _same(before: Any, now: Any) -> bool:
    if before is now:
        return True
    if type(before) is not type(now):
        return False
    if isinstance(before, np.ndarray):
        shape = before.shape == now.shape and before.dtype == now.dtype
        return shape and before.tobytes() == now.tobytes()
    if isinstance(before, tuple):
        return len(before) == len(now) and all(map(_same, before, now))
    return isinstance(before, _NUMBERS) and (before == now or before != before and now != now)
