"""The one object for what a process has under way: the kernel that runs, a thread to follow, who takes launches."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


class Session:
    """warps: those of the kernel that runs. followed: block and thread for the debugger.

    take: what launches are handed to instead of being run. compile: gives the resources of a dispatcher for types on
    a chip. Each is None where there is no such thing.
    """

    def __init__(self) -> None:
        self.warps: Any = None
        self.followed: tuple | None = None
        self.take: Callable | None = None
        self.compile: Callable | None = None

    @contextmanager
    def having(self, **fields: Any) -> Iterator[None]:
        """These fields have other values inside."""
        before = {name: getattr(self, name) for name in fields}
        vars(self).update(fields)
        try:
            yield
        finally:
            vars(self).update(before)


session = Session()
