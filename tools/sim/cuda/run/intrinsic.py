"""Names that mean something only inside a kernel: functions, and registers such as the lane's number."""

import functools
from collections.abc import Callable
from typing import Any


class Intrinsic:
    """A function that kernels call. meaning: what it does, given kernel values."""

    def __init__(self, meaning: Callable, name: str = "") -> None:
        functools.update_wrapper(self, meaning)
        self.meaning = meaning
        self.name = name or f"cuda.{meaning.__name__}"
        meaning.__qualname__ = self.name  # for Python's words about a call with too few arguments

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError(f"{self.name}() works only inside a kernel: every thread calls it for itself.")


def intrinsic(meaning: Callable | None = None, *, name: str = "") -> Any:
    """Decorator: this function may be called inside kernels. name: as learners write it, "cuda.atomic.add"."""
    if meaning is None:
        return functools.partial(intrinsic, name=name)
    return Intrinsic(meaning, name)


class Register:
    """A value that each thread reads from the hardware, such as cuda.laneid."""

    def __init__(self, read: Callable) -> None:
        self.read = read
