"""Functions from tables of signatures: calls are checked by Python itself, with the words that CuPy's users see."""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any


@cache
def _made(signature: str) -> Callable[..., dict]:
    name, _, parameters = signature.partition("(")
    bind = eval(f"lambda {parameters.removesuffix(')')}: locals()")
    bind.__name__ = bind.__qualname__ = name  # Python names it so when it refuses a call
    return bind


def binder(signature: str) -> Callable[..., dict]:
    """A function of this signature, as "sum(a, axis=None)", that gives its arguments by name; made when needed."""
    return lambda *args, **named: _made(signature)(*args, **named)


def table(text: str) -> Iterator[tuple[str, Callable[..., dict]]]:
    """Name and binder for each line of a table."""
    for signature in filter(None, map(str.strip, text.splitlines())):
        yield signature.partition("(")[0], binder(signature)


def members(module: Any, names: str) -> dict[str, Any]:
    """The members of a module, or of a class, that have these names."""
    return {name: getattr(module, name) for name in names.split()}
