"""A lesson's process as a copy of this one, so that what is imported here need not be imported there: PyTorch alone
takes more than a second.

The copy knows all that this process knows: it is for the compiler, which judges nobody, and never for --remote.
"""

import importlib
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from contextlib import suppress
from typing import NoReturn

from tools import ROOT, gpu
from tools.worker.heartbeat import heartbeat

_LOOK = 0.01  # seconds between two looks at a child that is to end


def usable() -> bool:
    """Would a copy of this process do? Triton decides at its import whether it compiles or simulates, and nobody may
    use a driver that was asked before the fork; other threads' locks would stay locked. Elsewhere than on Linux,
    system libraries do not expect to be forked."""
    return (
        sys.platform == "linux"
        and threading.active_count() == 1
        and "triton" not in sys.modules
        and gpu.installed_card() is None
    )


class Copy:
    """A process that is a copy of another, and serves pipes: of Popen, as much as `Process` asks for."""

    def __init__(self, pid: int, prints: int) -> None:
        self.pid, self.returncode = pid, None
        self.stdout = os.fdopen(prints, "rb", buffering=0)

    returncode: int | None

    def ended(self) -> int | None:
        """What os.waitpid says of it; None while it runs."""
        raise NotImplementedError

    def poll(self) -> int | None:
        """The exit status, or minus the signal; None while it runs."""
        if self.returncode is None and (status := self.ended()) is not None:
            self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode

    def wait(self, timeout: float) -> int:
        """Its exit status. Raises subprocess.TimeoutExpired."""
        end = time.monotonic() + timeout
        while (status := self.poll()) is None:
            if time.monotonic() > end:
                raise subprocess.TimeoutExpired("a lesson's process", timeout)
            time.sleep(_LOOK)
        return status

    def send_signal(self, number: signal.Signals) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)


class Forked(Copy):
    """A copy of this process."""

    def __init__(self, requests: int, replies: int, environment: dict[str, str]) -> None:
        read, write = os.pipe()
        for stream in (sys.stdout, sys.stderr):
            with suppress(Exception):  # whatever stands there by now
                stream.flush()
        pid = os.fork()
        if pid == 0:
            try:
                _forget_the_tests()
                serve(requests, replies, write, environment)
            finally:
                os._exit(1)
        os.close(write)
        super().__init__(pid, read)

    def ended(self) -> int | None:
        known, status = os.waitpid(self.pid, os.WNOHANG)
        return status if known else None


def serve(requests: int, replies: int, prints: int, environment: dict[str, str]) -> NoReturn:
    """Be, in the copy, what a new process would be: its own session, streams and variables."""
    os.setsid()
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(prints, 1)
    os.dup2(prints, 2)
    _close_others({requests, replies})
    sys.stdin, sys.stdout, sys.stderr = (open(number, "rw"[number > 0], closefd=False) for number in range(3))
    os.environ.clear()
    os.environ.update(environment)

    # By name, as a new process is given it: what it runs stands above what starts it.
    importlib.import_module("tools.worker.__main__").serve_lesson(requests, replies)
    os._exit(0)


def _forget_the_tests() -> None:
    heartbeat.watched = False
    warnings.resetwarnings()
    sys.path[:] = [str(ROOT), *(place for place in sys.path if place not in ("", os.getcwd(), str(ROOT)))]
    sys.meta_path[:] = [finder for finder in sys.meta_path if not _is_for_tests(finder)]


def _close_others(kept: set[int]) -> None:
    for number in map(int, os.listdir("/proc/self/fd")):
        if number > 2 and number not in kept:
            with suppress(OSError):
                os.close(number)


def _is_for_tests(finder: object) -> bool:
    """Does it find modules in another way because tests are run?"""
    return type(finder).__module__.startswith(("_pytest.", "tools.pytest_course."))
