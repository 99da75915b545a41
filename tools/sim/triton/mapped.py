"""tl.map_elementwise: a function of single numbers, with all of Python's control flow, for each element of tensors.

Which elements come together with pack= depends on a layout, on a GPU; here they are neighbours.
"""

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import numpy as np
import triton.language as tl


def patch(interpreter: ModuleType) -> None:
    """Put it in place, which the interpreter lacks. After the language."""
    builder, handle = interpreter.InterpreterBuilder, interpreter.TensorHandle
    semantic = interpreter.interpreter_semantic

    def create_mapped(self: Any, *values: Any, data: np.ndarray, kind: Any) -> Any:
        return handle(data, kind)

    def map_elementwise(scalar_fn: Callable, *args: Any, pack: int = 1, **_: Any) -> Any:
        tensors, pack = broadcast(semantic, args), int(pack)
        shape, size = tensors[0].shape, tensors[0].handle.data.size
        if size % pack:
            raise ValueError(f"map_elementwise takes {pack} elements at a time, and there are {size}.")

        def scalar(tensor: Any, place: int) -> Any:
            return tl.tensor(
                handle(tensor.handle.data.reshape(-1)[place : place + 1].copy(), tensor.dtype), tensor.dtype
            )

        def call(first: int) -> Sequence:
            given = [scalar(tensor, first + place) for tensor in tensors for place in range(pack)]
            results = scalar_fn(*given)
            return [semantic.to_tensor(each) for each in (results if _is_several(results) else (results,))]

        several = [call(first) for first in range(0, size, pack)]
        made = []
        for number in range(0, len(several[0]), pack):
            kind = several[0][number].dtype
            parts = [each.handle.data for results in several for each in results[number : number + pack]]
            data = np.concatenate([part.reshape(1) for part in parts]).reshape([int(length) for length in shape])
            result = semantic.builder.create_mapped(*(tensor.handle for tensor in tensors), data=data, kind=kind)
            made.append(tl.tensor(result, tl.block_type(kind, list(shape)) if shape else kind))
        return made[0] if len(made) == 1 else tl.tuple(made)

    builder.create_mapped = create_mapped
    tl.map_elementwise = tl.core.map_elementwise = map_elementwise


def broadcast(semantic: Any, tensors: Sequence) -> list:
    """The tensors in the one shape that they have together."""
    first, *others = (semantic.to_tensor(each) for each in tensors)
    for place, other in enumerate(others):
        first, others[place] = semantic.broadcast_impl_value(first, other)
    return [first, *(semantic.broadcast_impl_value(other, first)[0] for other in others)]


def _is_several(results: Any) -> bool:
    return isinstance(results, (tuple, tl.tuple))
