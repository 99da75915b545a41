"""A rewritten kernel over the names of the functions that it was written in."""

from collections.abc import Callable
from types import FunctionType


def closed(around: Callable, helpers: tuple, fn: FunctionType) -> FunctionType:
    """The kernel inside `around`, over the helpers, and over the names of the functions that it was written in."""
    outer = fn.__code__.co_freevars
    kernel = around(*helpers, *outer)
    if not outer:
        return kernel
    cells = dict(zip(kernel.__code__.co_freevars, kernel.__closure__ or ()))
    cells |= dict(zip(outer, fn.__closure__ or ()))  # which see what these names come to mean later
    closure = tuple(cells[name] for name in kernel.__code__.co_freevars)
    rewritten = FunctionType(kernel.__code__, kernel.__globals__, kernel.__name__, kernel.__defaults__, closure)
    rewritten.__annotations__, rewritten.__kwdefaults__ = kernel.__annotations__, kernel.__kwdefaults__
    return rewritten
