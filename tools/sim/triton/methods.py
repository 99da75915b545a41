"""The functions of tl.math as methods of a tensor: x.exp() is tl.exp(x).

The compiler takes floats of 16 bits for methods, too, which it refuses for the functions: it computes in float32.
"""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import triton.language as tl

NAMES = "exp exp2 log log2 cos sin sqrt sqrt_rn rsqrt erf floor ceil".split()
SHORT = (tl.float16, tl.bfloat16)


def patch(interpreter: ModuleType) -> None:
    """Put the methods in place. After the language."""
    for name in NAMES:
        setattr(tl.tensor, name, _method(name))


def _method(name: str) -> Callable:
    def method(self: Any) -> Any:
        function, kind = getattr(tl.math, name), self.dtype
        if not kind.is_floating():
            raise TypeError(f"x.{name}() takes floats, and this is a tensor of {kind}. x.to(tl.float32) converts it.")
        if kind in SHORT and name != "sqrt_rn":
            return function(self.to(tl.float32)).to(kind)
        return function(self)

    method.__name__ = name
    return method
