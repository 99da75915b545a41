"""NumPy's products of matrices on one thread.

NumPy's library gives half of a small product to another thread, and where other processes keep the cores busy, waiting
for that thread takes a hundred times as long as the product.
"""

import ctypes
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

NAMES = ("scipy_openblas_{}64_", "scipy_openblas_{}", "openblas_{}64_", "openblas_{}")


def on_one_thread(multiply: Callable[..., Any]) -> Callable[..., Any]:
    """The same function, within which NumPy uses one thread, where its library lets itself be told."""

    def alone(*operands: Any) -> Any:
        ask, tell = _library()
        before = ask()
        if before == 1:
            return multiply(*operands)
        tell(1)
        try:
            return multiply(*operands)
        finally:
            tell(before)

    return alone


@cache
def _library() -> tuple[Callable[[], int], Callable[[int], Any]]:
    """How to ask for the number of threads, and how to set it. Of another library: it is 1, and stays so."""
    package = Path(np.__file__).parent
    for file in (*package.parent.glob("numpy.libs/*openblas*"), *package.glob(".dylibs/*openblas*")):
        library = ctypes.CDLL(str(file))
        for name in NAMES:
            if hasattr(library, name.format("set_num_threads")):
                return getattr(library, name.format("get_num_threads")), getattr(
                    library, name.format("set_num_threads")
                )
    return lambda: 1, lambda threads: None
