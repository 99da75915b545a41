"""The language as Triton's compiler knows it, which the patches of the interpreter have replaced for good."""

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

# Modules that take over names as they are when they are imported, or that the patches import
TAKE_NAMES = ("compiler.code_generator", "language.extra.libdevice", "language.extra.cuda.libdevice")
_OF_PYTHON = {"__dict__", "__weakref__", "__doc__", "__builtins__"}
_MISSING = object()
_kept: dict[Any, dict[str, Any]] = {}  # by module or class: its names before the patches
_replaced: list[tuple[Any, str, Any, Any]] = []  # owner, name, what it was, what it is


def keep() -> None:
    """Remember all names of triton.language and of its classes. Before the patches."""
    for name in TAKE_NAMES:
        importlib.import_module(f"triton.{name}")
    listed = [module for name, module in sys.modules.items() if name.startswith("triton.language")]
    reached = [value for module in listed for value in vars(module).values() if isinstance(value, ModuleType)]
    for module in listed + [
        each for each in reached if each.__name__.startswith("triton.language")
    ]:  # extra.cuda is two
        classes = [value for value in vars(module).values() if isinstance(value, type)]
        for owner in (module, *(each for each in classes if each.__module__.startswith("triton.language"))):
            _kept.setdefault(owner, _names(owner))


@contextmanager
def in_place() -> Iterator[dict[int, Any]]:
    """In this block the language is the compiler's. Gives what functions were, by the id of what they are now: a lesson
    that imported one by its name keeps it."""
    if not _replaced:
        _replaced.extend(_changes())
    for owner, name, was, _ in _replaced:
        _put(owner, name, was)
    try:
        yield {id(now): was for _, _, was, now in _replaced if was is not _MISSING and callable(now)}
    finally:
        for owner, name, _, now in _replaced:
            _put(owner, name, now)


def _changes() -> Iterator[tuple[Any, str, Any, Any]]:
    for owner, before in _kept.items():
        after = _names(owner)
        for name in before | after:
            was, now = before.get(name, _MISSING), after.get(name, _MISSING)
            if was is not now:
                yield owner, name, was, now


def _names(owner: Any) -> dict[str, Any]:
    return {name: value for name, value in vars(owner).items() if name not in _OF_PYTHON}


def _put(owner: Any, name: str, value: Any) -> None:
    if value is _MISSING:
        delattr(owner, name)
    else:
        setattr(owner, name, value)
