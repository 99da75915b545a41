"""Memory that holds a known number wherever nothing was stored yet, and a lesson's function run in it."""

import inspect
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from inspect import Parameter
from typing import Any
from unittest.mock import patch

from tools.worker.made import Made, make

FRESH = "fresh"  # keyword: the number
OF_TORCH = "empty", "empty_like", "empty_strided"
OF_TENSORS = "new_empty", "new_empty_strided"
NUMBERS = 96, 40  # of which every dtype of PyTorch that holds numbers has both


def in_fresh_memory(function: Callable) -> Callable:
    """A function that does what `function` does, while tensors of torch.empty and its kin hold the number `fresh`.

    It takes the arguments of `function`, and the keyword `fresh`, one of NUMBERS.
    """
    return make(InFreshMemory, function)


@contextmanager
def fresh_memory(number: int) -> Iterator[None]:
    """While it is open, tensors of torch.empty and its kin hold the number, one of NUMBERS, in this process."""
    import torch

    with ExitStack() as patches:  # no mode of PyTorch: it would look at every operation, and a loop has thousands
        for owner, names in ((torch, OF_TORCH), (torch.Tensor, OF_TENSORS)):
            for name in names:
                patches.enter_context(patch.object(owner, name, _filled(getattr(owner, name), number)))
        yield


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
        with fresh_memory(fresh):
            return self.function(*args, **kwargs)


def _filled(makes: Callable, number: int) -> Callable:
    """The function, whose tensors hold the number."""

    def filled(*args: Any, **kwargs: Any) -> Any:
        made = makes(*args, **kwargs)
        made.data.fill_(holds(number, made.dtype))  # past autograd
        return made

    return filled
