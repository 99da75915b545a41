"""The origin of something callable of a lesson: its module, and its name there.

Functions say so themselves. What PyTorch makes of them says where PyTorch made it: the `apply` of an
autograd.Function, an operator of torch.library.
"""

import sys
from collections.abc import Callable, Iterator
from typing import Any


def module_of(thing: Any) -> str:
    """The name of the module whose code it runs; empty where it does not say."""
    own = getattr(thing, "__module__", None) or ""
    if not own.startswith("torch."):
        return own
    others = (getattr(each, "__module__", None) or "" for each in _inside(thing))
    return next((name for name in others if name and not name.startswith("torch.")), own)


def name_of(function: Callable) -> str:
    """Its name among those of its module: f of `f = Function.apply`."""
    own = getattr(function, "__name__", "")
    names = vars(sys.modules.get(module_of(function), object)) if module_of(function) else {}
    if names.get(own) is function or getattr(function, "lesson", None) is not None:
        return own
    return next((name for name, value in names.items() if type(value) is type(function) and value == function), own)


def _inside(thing: Any) -> Iterator[Any]:
    """The class of a bound method; the functions that an operator was made of."""
    yield getattr(thing, "__self__", None)
    made_of = getattr(thing, "_init_fn", None)
    for cell in getattr(made_of, "__closure__", None) or ():
        if callable(cell.cell_contents):
            yield cell.cell_contents
    yield made_of
