"""Launches that are handed on instead of being run: a compiler wants what a launch says, and no values."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

listener: Callable | None = None


@contextmanager
def captured(take: Callable) -> Iterator[None]:
    """Inside, no kernel runs: each launch is take(configuration, types), with the types of its arguments."""
    global listener
    before, listener = listener, take
    try:
        yield
    finally:
        listener = before
