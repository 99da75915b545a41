"""The functions of libdevice, NVIDIA's mathematics for kernels, as tl.extra.libdevice has them.

Each is computed in float64 and rounded once: right where the GPU's is right, and nearer where the GPU's is off by a
unit or two in the last place (CUDA C++ Programming Guide, Mathematical Functions Appendix). fast_sinf and its like
are rough on a GPU; here they are as good as the others.
"""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from tools.sim.triton.faults import Fault
from tools.sim.triton.libdevice import conversions, directed, integers, mathematics

PREFIX = "__nv_"  # of a symbol of the library
MEANINGS = {**mathematics.MEANINGS, **integers.MEANINGS, **directed.MEANINGS, **conversions.MEANINGS}


def patch(interpreter: ModuleType) -> None:
    """Give kernels the functions, under each name by which a module may have them."""
    from triton.language.extra import libdevice as names
    from triton.language.extra.cuda import libdevice as functions

    builder, handle = interpreter.InterpreterBuilder, interpreter.TensorHandle

    def create_extern_elementwise(
        self: Any, library: str, path: str, symbol: str, arguments: list, kind: Any, is_pure: bool
    ) -> Any:
        first, *rest = arguments
        return self.create_libdevice(first, *rest, symbol=symbol, kind=kind.scalar)

    def create_libdevice(self: Any, *arguments: Any, symbol: str, kind: Any) -> Any:
        result = evaluated(symbol, [each.data for each in arguments], interpreter._get_np_dtype(kind))
        return handle(result, kind)

    builder.create_extern_elementwise, builder.create_libdevice = create_extern_elementwise, create_libdevice
    semantic = interpreter.interpreter_semantic
    for name, function in vars(functions).copy().items():
        if interpreter.tl.core.is_builtin(function):
            setattr(functions, name, _callable(name, function, semantic))
    for name, function in vars(names).copy().items():
        if callable(function):
            setattr(names, name, getattr(functions, name, None) or _not_for_nvidia(name))


def _callable(name: str, function: Callable, semantic: Any) -> Callable:
    """What a kernel calls: the compiler adds the semantic by itself."""

    def call(*arguments: Any, **named: Any) -> Any:
        named.pop("_semantic", None)
        try:
            return function(*arguments, **named, _semantic=semantic)
        except KeyError as error:  # how Triton says that there is no such overload
            given = ", ".join(map(str, error.args[0] if error.args else ()))
            raise TypeError(
                f"libdevice has no {name}({given}): its functions take few types. x.to(tl.float32) converts."
            ) from None

    return call


def _not_for_nvidia(name: str) -> Callable:
    def refuse(*arguments: Any, **named: Any) -> None:
        raise AttributeError(f"libdevice has no function {name} on NVIDIA's chips.")

    return refuse


def evaluated(symbol: str, arguments: list[np.ndarray], dtype: np.dtype) -> np.ndarray:
    """The values of a function of the library, by its symbol, in the type that it gives.

    Raises Fault for one that is not simulated.
    """
    name = symbol.removeprefix(PREFIX)
    meaning = MEANINGS.get(name)
    if meaning is None:
        raise Fault(
            "not_simulated",
            f"The function {name} of libdevice is not simulated here; a GPU has it, and compiled() builds it.",
            "Can it be written with the functions of tl.math?",
        )
    result = np.asarray(meaning(*arguments))
    return result.view(dtype) if _same_bits(result.dtype, dtype) else result.astype(dtype)


def _same_bits(one: np.dtype, other: np.dtype) -> bool:
    """Whole numbers of one size, with and without a sign."""
    return one.kind in "iu" and other.kind in "iu" and one.itemsize == other.itemsize
