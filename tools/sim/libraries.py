"""Which of PyTorch's own functions worked on elements outside kernels while a recording ran."""

import functools
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

# Operators that only allocate, fill, or read one number. "zeros" stands for new_zeros and zeros_like too.
PLAIN = {"empty", "empty_strided", "zeros", "ones", "full", "zero", "fill", "resize", "set",
         "local_scalar_dense"}
TO_HOST = {"numpy", "tolist", "cpu", "__array__"}  # whatever follows them is no kernel

_silent = False


@contextmanager
def unlisted() -> Iterator[None]:
    """Nothing inside is listed."""
    global _silent
    before, _silent = _silent, True
    try:
        yield
    finally:
        _silent = before


@contextmanager
def listed(names: list[str]) -> Iterator[None]:
    """Append to `names` each function that computes or copies inside, in order, as "torch.add".

    Only PyTorch's, and only where PyTorch was imported before. NumPy's are not seen: the step from a tensor
    to a NumPy array is listed instead.
    """
    with ExitStack() as stack:
        if "torch" in sys.modules:
            calls, operators = _mode_types()
            calls = stack.enter_context(calls(names))
            stack.enter_context(operators(calls))
        yield


@functools.cache
def _mode_types() -> tuple[type, type]:
    """Two ways to look at the same call. Made when needed, because their base classes come with PyTorch."""
    from torch.overrides import TorchFunctionMode
    from torch.utils._python_dispatch import TorchDispatchMode

    class Calls(TorchFunctionMode):
        """Knows what was called, in the caller's words."""

        def __init__(self, names: list[str]):
            super().__init__()
            self.names, self.worked = names, False

        def __torch_function__(self, function, types, args=(), kwargs=None):
            self.worked = getattr(function, "__name__", "") in TO_HOST
            value = function(*args, **(kwargs or {}))
            if self.worked and not _silent:
                self.names.append(_public_name(function))
            return value

    class Operators(TorchDispatchMode):
        """Knows which operators that came down to, and so whether it worked on elements."""

        @classmethod
        def _should_skip_dynamo(cls) -> bool:
            return False  # nobody compiles here, and to be skipped costs the import of the compiler: 0.8 s

        def __init__(self, calls: Calls):
            super().__init__()
            self.calls = calls

        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            self.calls.worked |= _works(function, (*args, *(kwargs or {}).values()))
            return function(*args, **(kwargs or {}))

    return Calls, Operators


def _works(operator, arguments: tuple) -> bool:
    """Does this operator compute from, or copy, the elements of a tensor?"""
    name = operator.overloadpacket.__name__.strip("_").removeprefix("new_").removesuffix("_like")
    return not operator.is_view and name not in PLAIN and any(map(_holds_tensor, arguments))


def _holds_tensor(value: object) -> bool:
    if isinstance(value, (list, tuple)):
        return any(map(_holds_tensor, value))
    return isinstance(value, sys.modules["torch"].Tensor)


def _public_name(function: Callable) -> str:
    """torch.add for x + y, x.add(y) and torch.add(x, y); torch.Tensor.copy_ for what only tensors have."""
    torch, name = sys.modules["torch"], getattr(function, "__name__", "")
    if callable(getattr(torch, name, None)):
        return f"torch.{name}"
    return torch.overrides.resolve_name(function) or name
