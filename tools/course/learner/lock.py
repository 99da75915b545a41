"""A lock file: of processes that change one thing, each in its turn."""

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import ModuleType

fcntl: ModuleType | None
try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

STEP = 0.02  # seconds between two looks


@contextmanager
def held(file: Path, patience: float) -> Iterator[None]:
    """Hold the lock inside, after at most `patience` seconds; where that cannot be done, carry on without."""
    with ExitStack() as stack:
        with suppress(OSError, ImportError):
            if fcntl:
                _wait_for(stack.enter_context(open(file, "w")).fileno(), patience)
            else:
                from filelock import FileLock  # late: it takes longer to import than all else here

                stack.enter_context(FileLock(file, timeout=patience))  # its Timeout is an OSError
        yield


def _wait_for(lock: int, patience: float) -> None:
    assert fcntl is not None
    end = time.monotonic() + patience
    while time.monotonic() < end:
        try:
            return fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(STEP)
