"""Programs asked for an answer, each for a limited time: whatever is installed here, nobody waits for it for ever."""

import os
import subprocess
import tempfile
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tools import ROOT, processes

MOST = 100_000  # bytes of an answer that are read
_running: set[subprocess.Popen] = set()
_stopped = threading.Event()


@dataclass(frozen=True)
class Reply:
    """The output of a program, standard output and error together. code: None when it had not ended in time."""

    code: int | None
    text: str


def ask(
    command: Sequence[str], seconds: float, *, folder: Path = ROOT, environment: Mapping[str, str] | None = None
) -> Reply:
    """Run a command for at most so many seconds. Never raises for what the command does, or for not being there."""
    if _stopped.is_set():
        return Reply(None, "")
    with tempfile.TemporaryFile() as said:  # a pipe would wait for grandchildren that hold it
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.STDOUT,
                cwd=folder,
                env={**os.environ, "LC_ALL": "C", **(environment or {})},
                start_new_session=True,
            )
        except OSError as error:
            return Reply(127, str(error.strerror))
        _running.add(process)
        try:
            code = process.wait(0 if _stopped.is_set() else seconds)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            _end(process)
        said.seek(0)
        return Reply(code, said.read(MOST).decode(errors="replace"))


def begin() -> None:
    """Ask again, after a stop."""
    _stopped.clear()


def stop() -> None:
    """End all that still runs, and ask no more: nobody wants to know. Callable from another thread."""
    _stopped.set()
    for process in tuple(_running):
        _end(process)


def _end(process: subprocess.Popen) -> None:
    """End a program and what it started."""
    _running.discard(process)
    if process.poll() is not None:
        return
    processes.end_group(process, patience=1)
