"""A lesson's function run in memory that holds a known number wherever nothing was stored yet."""

import inspect
from collections.abc import Callable
from inspect import Parameter
from typing import Any

from tools.worker.made import Made, make

FRESH = "fresh"  # keyword: the number
NUMBERS = 96, 40  # of which every dtype of PyTorch that holds numbers has both


def in_fresh_memory(function: Callable) -> Callable:
    """A function that does what `function` does, while tensors of torch.empty and its kin hold the number `fresh`.

    It takes the arguments of `function`, and the keyword `fresh`, one of NUMBERS.
    """
    return make(InFreshMemory, function)


def holds(number: int, dtype: Any) -> int | bool:
    """What an element of that dtype holds for the number: False for the second of NUMBERS, where it is a bool."""
    return number == NUMBERS[0] if str(dtype) == "torch.bool" else number


class InFreshMemory(Made):
    words = "in fresh memory"

    @classmethod
    def changed(cls, signature: inspect.Signature) -> inspect.Signature:
        """With fresh."""
        kept = list(signature.parameters.values())
        rest = kept[-1:] if kept and kept[-1].kind == Parameter.VAR_KEYWORD else []
        own = Parameter(FRESH, Parameter.KEYWORD_ONLY)
        return signature.replace(parameters=[*kept[: len(kept) - len(rest)], own, *rest])

    def __call__(self, *args: Any, fresh: int, **kwargs: Any) -> Any:
        import torch
        from torch.utils._python_dispatch import TorchDispatchMode

        aten = torch.ops.aten
        fresh_ones = {aten.empty, aten.empty_like, aten.empty_strided, aten.new_empty, aten.new_empty_strided}

        class Filled(TorchDispatchMode):
            def __torch_dispatch__(self, operation: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
                result = operation(*args, **(kwargs or {}))
                return result.fill_(holds(fresh, result.dtype)) if operation.overloadpacket in fresh_ones else result

        with Filled():
            return self.function(*args, **kwargs)
