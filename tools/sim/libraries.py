"""Library functions: those of PyTorch that worked on elements outside kernels while a recording ran."""

import functools
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

# Operators that only write elements, that only allocate or read one number. "zeros" stands for zeros_like too.
FILLS = {"zeros", "ones", "full", "zero", "fill"}
PLAIN = FILLS | {"empty", "empty_strided", "resize", "set", "local_scalar_dense"}
TO_HOST = {"numpy", "tolist", "cpu", "__array__"}  # whatever follows them is no kernel

_silent = False
_listing: list[Any] = []  # the Calls of each `listed` that is open


@contextmanager
def unlisted() -> Iterator[None]:
    """Nothing inside is listed."""
    global _silent
    before, _silent = _silent, True
    try:
        yield
    finally:
        _silent = before


def silent() -> bool:
    """Is this inside `unlisted`?"""
    return _silent


@contextmanager
def listed(names: list[str], in_float64: list[str], fills: list[str]) -> Iterator[None]:
    """Append to `names` each function that computes or copies inside, in order, as "torch.add"; those that work with
    float64 or complex128 to `in_float64`, too. To `fills` those that only write elements, as "torch.zeros".

    Only PyTorch's, and only where PyTorch was imported before. NumPy's are not seen: the step from a tensor
    to a NumPy array is listed instead.
    """
    with ExitStack() as stack:
        if "torch" in sys.modules:
            calls, operators = _mode_types()
            calls = stack.enter_context(calls(names, in_float64, fills))
            stack.enter_context(operators(calls))
            stack.enter_context(_as_written())
            stack.callback(_listing.remove, calls)
            _listing.append(calls)
        yield


@contextmanager
def by_their_own_names() -> Iterator[None]:
    """What is called inside is listed call by call, though something that is itself listed calls it, as autograd does
    with a backward."""
    calls = _listing[-1] if _listing else None
    if calls is None or not calls.inside:
        yield
        return
    calls.inside = False
    try:
        with calls:
            yield
    finally:
        calls.inside = True


@contextmanager
def _as_written() -> Iterator[None]:
    """torch.compile compiles nothing inside: its code could not be looked into. Functions run as they are written."""
    torch: Any = sys.modules["torch"]
    compiler, torch.compile = torch.compile, _leave_uncompiled
    try:
        if "torch._dynamo" in sys.modules:  # something may have been compiled before
            with torch.compiler.set_stance("force_eager"):
                yield
        else:
            yield
    finally:
        torch.compile = compiler


def _leave_uncompiled(model: Callable | None = None, **options: Any) -> Callable:
    """As torch.compile is called: with a function or a module, or as a decorator with options."""
    return model if model is not None else lambda function: function


@functools.cache
def _mode_types() -> tuple[type, type]:
    """Two ways to look at the same call. Made when needed, because their base classes come with PyTorch."""
    import torch
    from torch.overrides import TorchFunctionMode
    from torch.utils._python_dispatch import TorchDispatchMode

    class Calls(TorchFunctionMode):
        """Knows what was called, in the caller's words."""

        def __init__(self, names: list[str], in_float64: list[str], fills: list[str]) -> None:
            super().__init__()
            self.names, self.in_float64, self.fills = names, in_float64, fills
            self.worked = self.filled = self.wide = self.inside = False  # of the call at work

        def __torch_function__(self, function: Callable, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            around = self.worked, self.filled, self.wide, self.inside
            self.worked, self.filled = getattr(function, "__name__", "") in TO_HOST, False
            self.wide, self.inside = False, True
            try:
                value = function(*args, **(kwargs or {}))
                if self.worked and not _silent:
                    self.names.append(_public_name(function))
                    self.in_float64 += [self.names[-1]] * self.wide
                elif self.filled and not _silent:
                    self.fills.append(_public_name(function))
            finally:
                self.worked, self.filled, self.wide, self.inside = around
            return value

    wide = torch.float64, torch.complex128

    class Operators(TorchDispatchMode):
        """Knows which operators that came down to, and so whether it worked on elements."""

        @classmethod
        def _should_skip_dynamo(cls) -> bool:
            return False  # nobody compiles here, and to be skipped costs the import of the compiler: 0.8 s

        def __init__(self, calls: Calls) -> None:
            super().__init__()
            self.calls = calls

        def __torch_dispatch__(self, function: Callable, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            given = (*args, *(kwargs or {}).values())
            self.calls.worked |= not _silent and _works(function, given)
            self.calls.filled |= _plain_name(function) in FILLS
            result = function(*args, **(kwargs or {}))
            self.calls.wide |= any(tensor.dtype in wide for tensor in _tensors((*given, result)))
            return result

    return Calls, Operators


def _works(operator: Any, arguments: tuple) -> bool:
    """Does this operator compute from, or copy, the elements of a tensor?"""
    return not operator.is_view and _plain_name(operator) not in PLAIN and any(True for _ in _tensors(arguments))


def _plain_name(operator: Any) -> str:
    """zeros for zeros_like, fill for fill_."""
    return operator.overloadpacket.__name__.strip("_").removeprefix("new_").removesuffix("_like")


def _tensors(value: object) -> Iterator:
    """Those in a list or tuple, and in lists and tuples in it."""
    if isinstance(value, (list, tuple)):
        for each in value:
            yield from _tensors(each)
    elif isinstance(value, sys.modules["torch"].Tensor):
        yield value


def _public_name(function: Callable) -> str:
    """torch.add for x + y, x.add(y) and torch.add(x, y); torch.Tensor.copy_ for what only tensors have."""
    torch, name = sys.modules["torch"], getattr(function, "__name__", "")
    if callable(getattr(torch, name, None)):
        return f"torch.{name}"
    module = getattr(function, "__module__", None) or ""
    return torch.overrides.resolve_name(function) or (f"{module}.{name}" if module.startswith("torch.") else name)
