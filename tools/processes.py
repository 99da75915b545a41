"""Processes and all that they started, ended at once."""

import os
import signal
import subprocess
from contextlib import suppress

KILL = getattr(signal, "SIGKILL", signal.SIGTERM)  # Windows has one way to end a process


def signal_group(leader: int, number: int) -> None:
    """Send a signal to the process group that this process leads, as one started with start_new_session=True does.

    Nothing where the group has ended: macOS says PermissionError of that. Where there are no groups, as on Windows, the
    process alone gets the signal; any signal ends it there.
    """
    send = getattr(os, "killpg", os.kill)
    with suppress(ProcessLookupError, PermissionError):
        send(leader, number)


def end_group(process: subprocess.Popen, patience: float = 5.0) -> None:
    """Kill a process and all in its group, collect it, and close its pipes. Harmless when it has ended.

    patience: seconds to wait for its end; a driver may hold a process for a while even then.
    """
    if process.returncode is None:
        signal_group(process.pid, KILL)
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=patience)
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe:
            with suppress(OSError):  # what was written and not sent is lost
                pipe.close()
