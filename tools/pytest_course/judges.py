"""The functions that judge a lesson: are they, after a run, those that were there before the lesson was imported?

A record is worth something only if they are. This is no sandbox: who runs in the process of what judges them can fool
it, and --remote is there for whoever must not be fooled.
"""

import sys
from collections.abc import Iterator
from types import FunctionType, ModuleType

PACKAGES = ("_pytest", "pluggy", "tools")  # Python's own names are put back: see upkeep.py


class Judges:
    """As they are now."""

    def __init__(self) -> None:
        self._before = dict(_functions())

    def replaced(self) -> list[str]:
        """The names of those that stand for something else by now, or have other code."""
        now = dict(_functions())
        return [name for name, known in self._before.items() if now.get(name) != known]


def _functions() -> Iterator[tuple[str, tuple]]:
    """Each by name, with its code; of a class, those in its body."""
    for place, module in list(sys.modules.items()):
        if place.partition(".")[0] in PACKAGES and isinstance(module, ModuleType):
            for name, thing in list(vars(module).items()):
                yield from _of(f"{place}.{name}", thing, place)


def _of(name: str, thing: object, place: str) -> Iterator[tuple[str, tuple]]:
    if isinstance(thing, FunctionType):
        yield name, (thing, thing.__code__)
    elif isinstance(thing, type) and thing.__module__ == place:
        for part, inner in list(vars(thing).items()):
            if isinstance(inner, FunctionType):
                yield f"{name}.{part}", (inner, inner.__code__)
