"""Masked loads whose `other` is a single 0: the interpreter drops it, as a tensor of one element that is false.

A GPU's compiler hands it on like any other number.
"""

from typing import Any

import numpy as np


def patch(interpreter: Any) -> None:
    """Hand it on after all. After all other patches of loads. interpreter: triton.runtime.interpreter."""
    semantic, builder = type(interpreter.interpreter_semantic), interpreter.InterpreterBuilder
    load, create = semantic._load_legacy, builder.create_masked_load
    has_other = [False]  # of the load under way

    def _load_legacy(self: Any, pointers: Any, mask: Any, other: Any, *rest: Any) -> Any:
        has_other.append(other is not None)
        try:
            return load(self, pointers, mask, other, *rest)
        finally:
            has_other.pop()

    def create_masked_load(self: Any, pointers: Any, mask: Any, other: Any, *rest: Any, **named: Any) -> Any:
        if other is None and has_other[-1]:
            kind = pointers.get_element_ty()
            zeros = np.zeros(pointers.data.shape, interpreter._get_np_dtype(kind))
            other = interpreter.TensorHandle(zeros, kind)
        return create(self, pointers, mask, other, *rest, **named)

    semantic._load_legacy, builder.create_masked_load = _load_legacy, create_masked_load
