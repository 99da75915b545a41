"""Parameters of a kernel that say their type, as in `stride: tl.int64`: numbers are handed over in it, as a launcher
does. Without it a whole number is an int32 where it fits, and any other a float32."""

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import triton.language as tl
from triton.runtime.jit import KernelParam

from tools.sim.triton.casts import BF16

BITS = 8, 16, 32, 64
KINDS = {
    "u1": tl.int1,
    **{f"i{bits}": getattr(tl, f"int{bits}") for bits in BITS},
    **{f"u{bits}": getattr(tl, f"uint{bits}") for bits in BITS},
    **{"fp16": tl.float16, "bf16": tl.bfloat16, "fp32": tl.float32, "fp64": tl.float64},
}


@functools.cache
def kinds(kernel: Callable) -> dict[str, Any]:
    """The types that its parameters say, by their names: tl.int64 and so on."""
    parameters = inspect.signature(kernel).parameters.values()
    said = {each.name: KernelParam(0, each, False, False).annotation_type for each in parameters}
    return {name: KINDS[kind] for name, kind in said.items() if kind in KINDS}


def handed_over(kernel: Callable, name: str, value: Any, interpreter: Any) -> Any:
    """A number as its parameter says, in a tensor of Triton's; None for what has no such parameter, or is no number.

    Raises TypeError for one that the type does not hold.
    """
    kind = kinds(kernel).get(name)
    if kind is None or not isinstance(value, (bool, int, float)):
        return None
    return tl.tensor(interpreter.TensorHandle(_number(name, value, kind, interpreter._get_np_dtype(kind)), kind), kind)


def _number(name: str, value: Any, kind: Any, dtype: np.dtype) -> np.ndarray:
    if kind is tl.int1:
        return np.array([bool(value)])
    if kind is tl.bfloat16:  # of a float32 a launcher takes the first half
        return (np.array([value], np.float32).view(np.uint32) >> 16).astype(np.uint16).view(BF16)
    if kind.is_floating():
        with np.errstate(over="ignore"):
            return np.array([float(value)]).astype(dtype)
    limits = np.iinfo(dtype)
    if isinstance(value, float) or not limits.min <= value <= limits.max:
        raise TypeError(f"{name} is annotated as {kind}, and is given {value}, which does not fit.")
    return np.array([value], dtype)
