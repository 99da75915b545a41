"""Launches that are handed on instead of being run: a compiler wants what a launch says, and no values."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tools.sim.cuda.faults import Refused
from tools.sim.cuda.session import session


@contextmanager
def captured(take: Callable, rejection: Callable[[Refused], Exception] | None = None) -> Iterator[None]:
    """Inside, no kernel runs: each launch is take(configuration, types), with the types of its arguments.

    rejection: makes what is raised for a kernel that is Refused; without it, that comes out as it is.
    """
    try:
        with session.having(take=take):
            yield
    except Refused as error:
        if rejection is None:
            raise
        raise rejection(error) from None
