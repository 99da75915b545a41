"""Gluon, Triton's language of layouts, shared memory and barriers: compiled here, and not run."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

from triton.runtime.jit import JITFunction


def patch(interpreter: ModuleType) -> None:
    """Refuse the launch of a Gluon kernel in one sentence. Kernels of Triton are no JITFunction here."""
    setattr(JITFunction, "run", _refusing(JITFunction.run))


def _refusing(plain: Callable) -> Callable:
    def run(self: Any, *args: Any, **named: Any) -> Any:
        if self.is_gluon() and not named.get("warmup"):
            raise NotImplementedError(
                f"{self.__name__} is a Gluon kernel, and those are not simulated: layouts, shared memory and barriers\n"
                "of a chip would have to be. compiled(...) shows what the compiler makes of it; a GPU runs it."
            )
        return plain(self, *args, **named)

    return run
