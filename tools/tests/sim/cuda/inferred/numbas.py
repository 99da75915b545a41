"""The types that Numba's type inference finds for the variables of a function. It needs no GPU for that."""

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace

import numba
from numba import types
from numba.cuda import compiler, dispatcher
from numba.cuda.descriptor import cuda_target


@contextmanager
def no_gpu_needed() -> Iterator[None]:
    """Numba asks which GPU there is when it compiles device functions."""
    asks = dispatcher.get_current_device
    dispatcher.get_current_device = lambda: SimpleNamespace(compute_capability=(9, 0))
    cuda_target.typing_context.refresh()
    try:
        yield
    finally:
        dispatcher.get_current_device = asks


def of_numba(function, arguments) -> dict[str, set[str]]:
    """All types that each variable has, in one place or another."""
    kinds = tuple(map(numba.typeof, arguments))
    result = compiler.compile_cuda(function, None, kinds, cc=(9, 0))
    found: dict[str, set[str]] = {}
    for name, kind in result.type_annotation.typemap.items():
        if name[0].isalpha() and not name.startswith("arg."):  # y and y.1 are the first two values of y
            found.setdefault(name.partition(".")[0], set()).add(shown(kind))
    return {name: kinds - {"none"} for name, kinds in found.items()}


def shown(kind) -> str:
    kind = types.unliteral(kind)
    if isinstance(kind, types.Optional):
        return shown(kind.type)
    if isinstance(kind, types.BaseTuple):
        return f"({', '.join(map(shown, kind.types))})"
    return f"{kind.dtype}[{kind.ndim}]" if isinstance(kind, types.Array) else str(kind)
