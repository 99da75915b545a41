"""The tensors that a lesson's function makes where PyTorch makes them unless told otherwise: on the CPU.

Without a GPU the course's device is the CPU too. So it is not asked where a tensor lies, but whether the call that made
it said where.
"""

import functools
import os
import sys
from collections.abc import Callable, Iterable
from typing import Any

from tools.worker import alive
from tools.worker.made import Made, make
from tools.worker.origin import module_of

# Functions of PyTorch that make a tensor on the CPU unless told otherwise
MAKERS = """arange as_tensor empty eye from_numpy full linspace logspace ones rand randint randn randperm tensor
tril_indices triu_indices zeros""".split()
CROSSES = ("copy_", "__setitem__")  # they take a tensor of another device


def made_elsewhere(function: Callable) -> Callable:
    """A function that returns what `function` makes elsewhere than on the course's `device`, and leaves there.

    It takes the arguments of `function`. What it returns is a list of (line, operation), one for each call of PyTorch
    that made a tensor and did not say where; empty if nothing of it came back or met tensors of `device`. What is
    moved in time is all right, as is a tensor of no axes, which may meet any device.

    Raises what `function` raises.
    """
    return make(MadeElsewhere, function)


class MadeElsewhere(Made):
    words = "tensors made elsewhere by"

    def __call__(self, *args: Any, **kwargs: Any) -> list[tuple[int, str]]:
        file = getattr(sys.modules.get(module_of(self.function)), "__file__", None)
        with _mode_type()({os.path.realpath(file)} if file else set()) as mode:
            try:
                result = self.function(*args, **kwargs)
            except RuntimeError:  # on a GPU: they met
                if not mode.met:
                    raise
                result = None
        return mode.found if mode.met or any(map(mode.has, alive.tensors_in(result))) else []


@functools.cache
def _mode_type() -> type:
    """Made when needed, because its base class comes with PyTorch."""
    import torch
    from torch.overrides import TorchFunctionMode

    makers = {getattr(torch, name) for name in MAKERS}

    class Unasked(TorchFunctionMode):
        """Follows tensors that were made by calls which did not say where."""

        def __init__(self, files: set[str]) -> None:
            super().__init__()
            self.files = files
            self.found: list[tuple[int, str]] = []
            self.met = False  # tensors of the course's device
            self._elsewhere: dict[int, Any] = {}  # by id; they are held, so that no other gets it

        def has(self, tensor: Any) -> bool:
            return id(tensor) in self._elsewhere

        def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            kwargs = kwargs or {}
            given = list(alive.tensors_in((args, kwargs)))
            if function in makers and not given and kwargs.get("device") is None:
                self.found.append((alive.line_of(self.files)[0], function.__name__))
                return self._enter(function(*args, **kwargs))
            theirs = [each for each in given if self.has(each)]
            if not theirs or function.__name__ in CROSSES:
                return function(*args, **kwargs)
            if kwargs.get("device") is not None or function is torch.Tensor.to and self._says_where(args[1:]):
                result = function(*args, **kwargs)
                return result.clone() if self.has(result) else result
            follow = any(each.ndim for each in theirs) or len(theirs) == len(given)
            self.met |= follow and any(each.ndim and not self.has(each) for each in given)
            result = function(*args, **kwargs)
            return self._enter(result) if follow else result

        def _says_where(self, args: Iterable[Any]) -> bool:
            return any(
                isinstance(each, (str, torch.device)) or isinstance(each, torch.Tensor) and not self.has(each)
                for each in args
            )

        def _enter(self, result: Any) -> Any:
            for tensor in alive.tensors_in(result):
                self._elsewhere[id(tensor)] = tensor
            return result

    return Unasked
