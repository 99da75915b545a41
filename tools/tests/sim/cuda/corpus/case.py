"""A correct kernel with what it takes to run and to judge it."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

SEED = 20


@dataclass(frozen=True)
class Case:
    """make: given a random generator, the arguments and, by parameter, what the arrays must be afterwards.

    grid, block, shared (bytes): of the launch. rtol: relative error allowed; 0 asks for equality.
    """

    kernel: object
    make: Callable[[np.random.Generator], tuple[tuple, dict[str, np.ndarray]]]
    grid: int | tuple
    block: int | tuple
    shared: int = 0
    rtol: float = 0.0

    @property
    def name(self) -> str:
        return self.kernel.py_func.__name__

    def run(self, kernel=None) -> str:
        """Launch the kernel, or another in its place. Gives the first parameter that ends up wrong, "" if none does."""
        kernel = kernel or self.kernel
        arguments, wanted = self.make(np.random.default_rng(SEED))
        kernel[self.grid, self.block, 0, self.shared](*arguments)
        kernel.py_func.__globals__["cuda"].synchronize()
        found = dict(zip(inspect.signature(kernel.py_func).parameters, arguments))
        close = [np.allclose(found[name], value, rtol=self.rtol, atol=self.rtol) for name, value in wanted.items()]
        return next((name for name, is_close in zip(wanted, close) if not is_close), "")


def correct(cases: list[Case], kernel, grid: int | tuple, block: int | tuple, shared: int = 0, rtol: float = 0.0):
    """Decorator of a function that makes arguments and wanted arrays: one more case."""

    def register(make):
        cases.append(Case(kernel, make, grid, block, shared, rtol))
        return make

    return register
