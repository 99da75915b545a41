"""Functions whose variables have types that are not written anywhere, for Numba and for the simulator to find.

A parameter's first letter is its type; a capital is an array of it, with one axis: i n is an int64, f x a float32.

    python -m tools.tests.sim.cuda.inferred

asks numba-cuda, without a GPU, and writes the record of its types.
"""

import json
import runpy
from collections.abc import Callable
from pathlib import Path

import numpy as np

LETTERS = {
    "n": "int64",
    "i": "int32",
    "b": "uint8",
    "s": "int16",
    "u": "uint32",
    "w": "uint64",
    "h": "float16",
    "f": "float32",
    "d": "float64",
    "c": "complex64",
}

FILES = ("branches", "expressions", "loops", "mixtures", "operations", "sums")
RECORD = Path(__file__).with_name("numba.json")

cuda = None  # Numba's or the simulator's, while the functions are loaded
_loaded: list[Callable] = []


def typed(function: Callable) -> Callable:
    """Decorator: a function to be looked at."""
    _loaded.append(function)
    return function


def load(module) -> list[Callable]:
    """All of them, made with this `cuda`."""
    global cuda
    cuda = module
    _loaded.clear()
    for name in FILES:
        runpy.run_path(str(Path(__file__).with_name(f"{name}.py")))
    return list(_loaded)


def arguments(function: Callable) -> list:
    """Arguments of the types that the names of its parameters say."""
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    return [
        np.zeros(4, LETTERS[name[0].lower()]) if name[0].isupper() else np.dtype(LETTERS[name[0]]).type(3)
        for name in names
    ]


def recorded() -> dict[str, dict[str, set[str]]]:
    """Name of a function -> of each variable, the types that Numba gives it in one place or another."""
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    return {name: {variable: set(types) for variable, types in found.items()} for name, found in record.items()}
