"""Launches of RawKernels that are handed on instead of being run: a compiler wants their source, and no values."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

takers: list[Callable] = []  # the innermost is the last


@contextmanager
def captured(take: Callable) -> Iterator[None]:
    """Inside, no RawKernel is compiled for this machine or run: each launch is take(kernel, shape)."""
    takers.append(take)
    try:
        yield
    finally:
        takers.pop()
