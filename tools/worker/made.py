"""Functions that are made of a lesson's and run where it runs, such as its gradients.

Each is known by a name that ends in the lesson's own, "gradients of layernorm", by which a worker makes it too.
"""

import inspect
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from tools.worker.lesson import RemoteFunction
from tools.worker.origin import module_of, name_of


class Made:
    """A function made of `function`, to be called in its place."""

    words: ClassVar[str]  # with which its name begins
    kinds: ClassVar[dict[str, type["Made"]]] = {}  # by those words

    def __init_subclass__(cls) -> None:
        Made.kinds[cls.words] = cls

    def __init__(self, function: Callable) -> None:
        self.function = function
        self.__name__ = self.__qualname__ = f"{self.words} {name_of(function)}"
        self.__module__ = module_of(function)
        self.__doc__ = getattr(function, "__doc__", None)
        if (signature := signature_of(function)) is not None:
            self.__signature__ = self.changed(signature)

    @classmethod
    def changed(cls, signature: inspect.Signature) -> inspect.Signature:
        """The signature of what is made of a function with this one."""
        return signature

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<{self.__name__}>"


def make(kind: type[Made], function: Callable) -> Callable:
    """What `kind` makes of a function of this process or of a lesson elsewhere."""
    if not isinstance(function, RemoteFunction):
        return kind(function)
    signature = signature_of(function)
    name = f"{kind.words} {function.__name__}"
    return RemoteFunction(function.lesson, name, signature and kind.changed(signature), function.__doc__)


def named(name: str, functions: Mapping[str, Callable]) -> Callable:
    """The function of that name, of `functions` or made of one of them. KeyError where there is none."""
    if name in functions:
        return functions[name]
    for words, kind in Made.kinds.items():
        if name.startswith(f"{words} "):
            return kind(named(name.removeprefix(f"{words} "), functions))
    raise KeyError(name)


def is_made(kind: type[Made], function: Callable) -> bool:
    """Is it of this kind, here or elsewhere?"""
    own = getattr(function, "__name__", "")
    return isinstance(function, kind) or isinstance(function, RemoteFunction) and own.startswith(f"{kind.words} ")


def signature_of(function: Callable) -> inspect.Signature | None:
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):  # some built-in functions have none
        return None
