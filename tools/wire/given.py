"""Given objects: behaviour that a test lends to a lesson. It crosses by the name of its builder."""

import functools
import importlib
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Recipe:
    """How a given object was built, so that it can be built again where the lesson runs."""

    module: str
    name: str
    args: tuple
    kwargs: dict
    number: int  # of the instance


_builders: dict[tuple[str, str], Callable] = {}
_numbers = itertools.count(1)


def builder(function: Callable) -> Callable:
    """Register a function whose objects may cross to a lesson, as may their bound methods.

    What it builds has `state() -> dict` of plain values and `restore(state)`: so what happens to the
    object over there happens to the caller's too. Its module must be importable by name.
    """
    _builders[function.__module__, function.__name__] = function

    @functools.wraps(function)
    def build(*args: Any, **kwargs: Any) -> Any:
        return _build(Recipe(function.__module__, function.__name__, args, kwargs, next(_numbers)))

    return build


def rebuild(recipe: Recipe) -> object:
    """Build it again. Only for recipes from a trusted sender: it names a module to import."""
    importlib.import_module(recipe.module)
    return _build(recipe)


def recipe_of(value: Any) -> Recipe | None:
    """The recipe of a given object, None for any other object."""
    try:  # not getattr: a lesson's own __getattr__ may answer anything
        recipe = object.__getattribute__(value, "_recipe")
    except AttributeError:
        return None
    return recipe if type(recipe) is Recipe else None


def _build(recipe: Recipe) -> object:
    thing = _builders[recipe.module, recipe.name](*recipe.args, **recipe.kwargs)
    thing._recipe = recipe
    return thing
