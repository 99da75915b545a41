"""Processes ended together with all that they started."""

import os
import signal
import subprocess
from contextlib import suppress
from typing import Protocol

KILL = getattr(signal, "SIGKILL", signal.SIGTERM)  # Windows has one way to end a process
PATIENCE = 5.0  # seconds for a killed process to end: a driver may hold it for a while even then


class Process(Protocol):
    """As much of subprocess.Popen as is asked for here."""

    pid: int

    def wait(self, timeout: float) -> int: ...


def signal_group(leader: int, number: int) -> None:
    """Send a signal to the process group that `leader` leads, as whoever was started with start_new_session=True does.

    Nothing where the group has ended, of which macOS says PermissionError. Where there are no groups, as on Windows,
    the process alone gets the signal, and any signal ends it.
    """
    send = getattr(os, "killpg", os.kill)
    with suppress(OSError):
        send(leader, number)


def end_group(process: Process, patience: float = PATIENCE) -> None:
    """Kill a process and all in its group, also those that outlive it, and collect it. Harmless when it has ended.

    patience: seconds to wait for it; one that the system itself holds does not end, and is left behind.
    """
    signal_group(process.pid, KILL)
    with suppress(subprocess.TimeoutExpired):
        process.wait(timeout=patience)
