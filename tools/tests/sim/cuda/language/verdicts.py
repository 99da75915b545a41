"""Small kernels, one construct each (kernels/), and what Numba makes of them: the tests ask it, and the simulator.

A parameter's first letter is its type: a is a float32[:], m a float32[:, :], n an int64.
"""

import runpy
from collections.abc import Callable
from pathlib import Path

KERNELS = Path(__file__).with_name("kernels")

cuda = None  # Numba's or the simulator's, while the kernels are loaded
_loaded: list[tuple[Callable, str]] = []


def load(module) -> list[tuple[Callable, str]]:
    """Every kernel, made with this `cuda`: the function, and "runs", "refused" or "unknown"."""
    global cuda
    cuda = module
    _loaded.clear()
    for file in sorted(KERNELS.glob("*.py")):
        runpy.run_path(str(file))
    return list(_loaded)


def runs(function: Callable) -> Callable:
    """Numba compiles it, and the simulator runs it."""
    _loaded.append((function, "runs"))
    return function


def refused(function: Callable) -> Callable:
    """Numba does not compile it, and the simulator says so."""
    _loaded.append((function, "refused"))
    return function


def unknown(function: Callable) -> Callable:
    """Numba compiles it, and the simulator says that it does not know it."""
    _loaded.append((function, "unknown"))
    return function
