"""Names that mean something only inside a kernel: functions, and registers such as the lane's number."""

import functools
from collections.abc import Callable


class Intrinsic:
    """A function that kernels call. meaning: what it does, given kernel values."""

    def __init__(self, meaning: Callable, name: str = ""):
        functools.update_wrapper(self, meaning)
        self.meaning = meaning
        self.name = name or f"cuda.{meaning.__name__}"
        meaning.__qualname__ = self.name  # for Python's words about a call with too few arguments

    def __call__(self, *args, **kwargs):
        raise TypeError(f"{self.name}() works only inside a kernel: every thread calls it for itself.")


def intrinsic(meaning: Callable | None = None, *, name: str = ""):
    """Decorator: this function may be called inside kernels. name: as learners write it, "cuda.atomic.add"."""
    if meaning is None:
        return functools.partial(intrinsic, name=name)
    return Intrinsic(meaning, name)


class Register:
    """A value that each thread reads from the hardware, such as cuda.laneid."""

    def __init__(self, read: Callable):
        self.read = read
