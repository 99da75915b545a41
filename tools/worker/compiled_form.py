"""A function under torch.compile, whose graph is traced but not made into machine code."""

from collections.abc import Callable
from functools import cached_property
from typing import Any

from tools.worker.made import Made, make


def compiled_by_torch(function: Callable) -> Callable:
    """The function under torch.compile(backend="aot_eager"), which runs where `function` does.

    Its graphs, forwards and backwards, are traced and run as they are. A launch of a simulated kernel breaks the graph;
    an operator of torch.library.triton_op does not.
    """
    return make(Compiled, function)


class Compiled(Made):
    words = "compiled"

    @cached_property
    def compiled(self) -> Callable:
        import torch._functorch.config

        torch._functorch.config.donated_buffer = False  # or gradcheck could not go back more than once
        return torch.compile(self.function, backend="aot_eager")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.compiled(*args, **kwargs)
