"""The tensors that autograd keeps for the backward of a lesson's function, where the lesson runs."""

import inspect
from collections.abc import Callable
from inspect import Parameter
from typing import Any

from tools.worker.gradients import as_leaves
from tools.worker.made import Made, make

ASKS = "asks"  # keyword: the names of the arguments that ask for a gradient


def saved_tensors(function: Callable) -> Callable:
    """A function that returns the tensors which `function` hands to ctx.save_for_backward, as a tuple, in that order.

    It takes the arguments of `function`, of which every float tensor asks for a gradient; with the keyword `asks`, a
    tuple of names, only these do. What PyTorch's own operations keep counts too.

    Raises NoGradient where no argument is a tensor of floats, and what `function` raises.
    """
    return make(SavedTensors, function)


class SavedTensors(Made):
    words = "tensors saved by"

    @classmethod
    def changed(cls, signature: inspect.Signature) -> inspect.Signature:
        """With asks."""
        kept = list(signature.parameters.values())
        rest = kept[-1:] if kept and kept[-1].kind == Parameter.VAR_KEYWORD else []
        own = Parameter(ASKS, Parameter.KEYWORD_ONLY, default=None)
        return signature.replace(parameters=[*kept[: len(kept) - len(rest)], own, *rest], return_annotation=tuple)

    def __call__(self, *args: Any, asks: tuple[str, ...] | None = None, **kwargs: Any) -> tuple:
        import torch

        leaves: dict[str, Any] = {}
        args, kwargs = as_leaves(self.function, args, kwargs, leaves)
        for name, leaf in leaves.items():
            leaf.requires_grad_(asks is None or name in asks)
        found: list[torch.Tensor] = []

        def pack(tensor: torch.Tensor) -> None:
            found.append(tensor.detach())

        def unpack(_: Any) -> torch.Tensor:
            raise AssertionError("nobody goes back")

        with torch.enable_grad(), torch.autograd.graph.saved_tensors_hooks(pack, unpack):
            self.function(*args, **kwargs)
        return tuple(found)
