"""Arithmetic in float64 and conversions of kernels, counted line by line while a recording runs.

As the kernel is written: each element of a tile counts, also those that a mask leaves out. A single number that is
converted does not, as it may be a constant; nor does a tile made of one, such as what `other` puts in masked places.
"""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from tools.sim.triton import memory
from tools.sim.triton.casts import is_float

FLOAT64 = np.dtype(np.float64)
OPERATIONS = (
    "fadd",
    "fsub",
    "fmul",
    "fdiv",
    "frem",
    "precise_divf",
    "fma",
    "clampf",
    "minimumf",
    "maximumf",
    "minnumf",
    "maxnumf",
    "cos",
    "sin",
    "exp",
    "exp2",
    "log",
    "log2",
    "sqrt",
    "precise_sqrt",
    "rsqrt",
    "erf",
    "floor",
    "ceil",
    "libdevice",
)
CASTS = ("si_to_fp", "ui_to_fp", "fp_to_si", "fp_to_ui", "fp_ext", "fp_trunc", "fp_to_fp")


def patch(interpreter: ModuleType) -> None:
    """Wrap the arithmetic of `InterpreterBuilder`, and reductions and scans."""
    builder = interpreter.InterpreterBuilder
    compared = [name for name in dir(builder) if name.startswith("create_fcmp")]
    for name in (*(f"create_{each}" for each in OPERATIONS), *compared):
        setattr(builder, name, _operation(getattr(builder, name)))
    builder.create_splat = _splat(builder.create_splat)
    for name in CASTS:
        setattr(builder, f"create_{name}", _cast(getattr(builder, f"create_{name}")))
    for kind in (interpreter.ReduceOps, interpreter.ScanOps):
        kind.apply_impl = _fold(kind.apply_impl)


def _operation(plain: Callable) -> Callable:
    def operate(self: Any, first: Any, *rest: Any, **named: Any) -> Any:
        result = plain(self, first, *rest, **named)
        if first.data.dtype == FLOAT64:
            _count(float64=result.data.size)
        return result

    return operate


def _cast(plain: Callable) -> Callable:
    def convert(self: Any, source: Any, *rest: Any) -> Any:
        result = plain(self, source, *rest)
        old, new = source.data.dtype, result.data.dtype
        if old != new and result.data.size > 1 and (is_float(old) or is_float(new)):
            if not hasattr(source, "is_splat"):
                _count(conversions=result.data.size)
        return result

    return convert


def _splat(plain: Callable) -> Callable:
    def repeat(self: Any, *args: Any) -> Any:
        result = plain(self, *args)
        result.is_splat = True  # of one number: where it is converted, one conversion is enough
        return result

    return repeat


def _fold(plain: Callable) -> Callable:
    """A reduction takes as many operations as elements disappear, a scan as many as there are."""

    def fold(self: Any, inputs: Any) -> Any:
        current, memory.current = memory.current, None  # what combines two of them is counted here
        try:
            results = plain(self, inputs)
        finally:
            memory.current = current
        given, made = (each[0] if isinstance(each, (tuple, list)) else each for each in (inputs, results))
        before, after = given.handle.data, made.handle.data
        if before.dtype == FLOAT64:
            _count(float64=before.size - after.size or before.size)
        return results

    return fold


def _count(float64: int = 0, conversions: int = 0) -> None:
    if memory.current is not None and memory.current.lines is not None:
        counts = memory.current.figures("arithmetic")
        counts.float64 += float64
        counts.conversions += conversions
