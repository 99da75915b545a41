"""A lesson's process as a copy of this one, so that what is imported here need not be imported there: PyTorch alone
takes more than a second.

The copy knows all that this process knows: it is for the compiler, which judges nobody, and never for --remote.
"""

import os
import sys
import threading
import warnings

from tools import gpu
from tools.stem import POSSIBLE, Copy, become, flush
from tools.worker.heartbeat import heartbeat

SERVES = "tools.worker.__main__"  # as a new process does


def usable() -> bool:
    """Would a copy of this process do? Triton decides at its import whether it compiles or simulates, and nobody may
    use a driver that was asked before the fork; other threads' locks would stay locked. Elsewhere than on Linux,
    system libraries do not expect to be forked."""
    return POSSIBLE and threading.active_count() == 1 and "triton" not in sys.modules and gpu.installed_card() is None


class Forked(Copy):
    """A copy of this process."""

    def __init__(self, requests: int, replies: int, environment: dict[str, str]) -> None:
        read, write = os.pipe()
        flush()
        pid = os.fork()
        if pid == 0:
            try:
                _forget_the_tests()
                nothing = os.open(os.devnull, os.O_RDONLY)
                become(f"{SERVES}:serve_lesson", [nothing, write, write], [requests, replies], environment)
            finally:
                os._exit(1)
        os.close(write)
        super().__init__(pid, read)

    def ended(self) -> int | None:
        known, status = os.waitpid(self.pid, os.WNOHANG)
        return status if known else None


def _forget_the_tests() -> None:
    heartbeat.watched = False
    warnings.resetwarnings()
    sys.meta_path[:] = [finder for finder in sys.meta_path if not _is_for_tests(finder)]


def _is_for_tests(finder: object) -> bool:
    """Does it find modules in another way because tests are run?"""
    return type(finder).__module__.startswith(("_pytest.", "tools.pytest_course."))
