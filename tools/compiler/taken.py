"""Translations that succeeded before, in this process or in an earlier one, and need not be made again.

A translation is known by all that decides whether it succeeds: the kernel's source, the values of the names in it,
functions that it calls likewise, what it is given, and the releases at work; not the lines where the kernel stands.
Where that cannot be said in plain text, or where the compiler warned of something, it is not remembered.
"""

import ast
import functools
import hashlib
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FunctionType, ModuleType
from typing import Any

from triton import language
from triton.runtime.jit import JITFunction

from tools import ROOT
from tools.compiler import cache

FILE = "taken.txt"  # beside the compiled kernels: a key in each line
MOST = 10_000  # of 33 bytes
OWN = ("compiler/front_end.py", "compiler/taken.py", "sim/triton/original.py")  # files of the course that translate
PLAIN = (bool, int, float, str, type(None), language.dtype)


class _Unsayable(Exception):
    """A value of which no text says all."""


def key(function: JITFunction, given: tuple, seen_as: Callable[[Any], Any]) -> str | None:
    """Of a translation of this kernel; None where not all that decides over it can be said.

    given: all else that the translation is given. seen_as: what the compiler sees in place of a value.
    """
    try:
        decides = _releases(), *(_said(each, seen_as, ()) for each in (function, *given))
    except _Unsayable:
        return None
    return hashlib.blake2b(repr(decides).encode(), digest_size=16).hexdigest()


def is_known(key: str | None) -> bool:
    return key in _known()


@contextmanager
def remembered(key: str | None) -> Iterator[None]:
    """What is inside succeeds, unless it raises; it is then known by the key."""
    with _heard() as said:
        yield
    if key is None or said:
        return
    if len(_known()) >= MOST:
        _known().clear()
    _known().add(key)
    with suppress(OSError), cache.folder().with_name(FILE).open("a") as file:
        file.write(f"{key}\n")


@functools.cache
def _known() -> set[str]:
    file = cache.folder().with_name(FILE)
    try:
        keys = file.read_text().splitlines()
        if len(keys) > MOST:
            keys = keys[-MOST // 2 :]  # the newest
            file.write_text("\n".join(keys) + "\n")
    except OSError:
        return set()
    return set(keys)


@contextmanager
def _heard() -> Iterator[list[warnings.WarningMessage]]:
    """Warnings of the block, those included that were shown before; they are given at its end."""
    said: list[warnings.WarningMessage] = []
    try:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            yield said
    finally:
        for each in said:
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)


# Values in text ----------------------------------------------------------------------------------


@functools.cache
def _releases() -> tuple:
    """What translates: Python, Triton with its variables, and the course's part in it."""
    variables = sorted(item for item in os.environ.items() if item[0].startswith("TRITON_"))
    own = [(ROOT / "tools" / name).read_text() for name in OWN]
    return sys.version, cache.release(), variables, own


def _said(value: Any, seen_as: Callable[[Any], Any], within: tuple) -> Any:
    """All of a value that a translation can see. within: functions that are being said. Raises _Unsayable."""
    value = seen_as(value)
    kind = type(value)
    if kind in PLAIN:
        return kind.__name__, repr(value)
    if kind is ModuleType and _is_tritons(value.__name__):
        return value.__name__
    if kind in (FunctionType, type) and _is_tritons(value.__module__):
        return value.__module__, value.__qualname__
    if kind is language.constexpr:
        return "constexpr", _said(value.value, seen_as, within)
    if kind in (tuple, list):
        return kind.__name__, [_said(each, seen_as, within) for each in value]
    if kind is dict:
        return [(repr(name), _said(each, seen_as, within)) for name, each in value.items()]
    if kind is JITFunction:
        return value._fn_name if value in within else _function(value, seen_as, (*within, value))
    raise _Unsayable


def _function(function: JITFunction, seen_as: Callable[[Any], Any], within: tuple) -> Any:
    scope = function.get_capture_scope()
    values = {name: scope[name] for name in _names(function) if name in scope}
    how = function.noinline, function._repr, function.fn.__defaults__, function.fn.__kwdefaults__
    return function._fn_name, function.src, _said(how, seen_as, within), _said(values, seen_as, within)


def _is_tritons(module: str) -> bool:
    return module.partition(".")[0] == "triton"


@functools.cache
def _names(function: JITFunction) -> list[str]:
    return sorted({node.id for node in ast.walk(function.parse()) if isinstance(node, ast.Name)})
