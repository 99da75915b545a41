"""A process that has imported what others need, and copies of it: to import PyTorch takes two seconds. On Linux."""

import importlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from tools import ROOT

# Variables with which the threads of PyTorch's operations, and of NumPy's products, sleep between two of them. Else
# they spin: a sixth of the processor time of a day of kernels, in which other processes wait for the core. NumPy's spin
# for 2 to the power of this many cycles.
ASLEEP = {"OMP_WAIT_POLICY": "PASSIVE", "OPENBLAS_THREAD_TIMEOUT": "4"}
POSSIBLE = sys.platform == "linux"  # other systems' libraries expect no forks, and no such sockets are there
_MOST = 1 << 20  # bytes of a message
_PIPES = 16  # of a copy, at most
_LOOK = 0.01  # seconds between two looks at a copy that is to end


class Copy:
    """A process that is a copy of another: of Popen, as much as is asked for here. prints: where it prints into."""

    returncode: int | None = None

    def __init__(self, pid: int, prints: int) -> None:
        self.pid = pid
        self.stdout = os.fdopen(prints, "rb", buffering=0)

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
                raise subprocess.TimeoutExpired("a copy of a process", timeout)
            time.sleep(_LOOK)
        return status

    def send_signal(self, number: signal.Signals) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)


class Stem:
    """The process, seen from the one that keeps it. It ends with that one.

    here: it is itself a copy of this process as it is now, which should have one thread; else a new interpreter.
    """

    def __init__(self, here: bool = False) -> None:
        self._socket, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._one_at_a_time = threading.Lock()
        with there:
            if here:
                _fork(there)
            else:
                command = [sys.executable, "-P", "-c", f"from {__name__} import serve; serve({there.fileno()})"]
                paths = [str(ROOT), os.environ.get("PYTHONPATH", "")]
                self._process = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    pass_fds=[there.fileno()],
                    start_new_session=True,
                    env={**ASLEEP, **os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
                )

    def copy(
        self,
        runs: str,
        environment: Mapping[str, str],
        folder: str | Path,
        stdin: int,
        stderr: int | None = None,
        pipes: Sequence[int] = (),
        imports: Sequence[str] = (),
    ) -> "CopyOfStem":
        """A copy that runs a function in a folder.

        runs: "module:function", which is given the numbers that `pipes` have there. stderr: None for that of its
        output. imports: modules that the stem imports first, those that are installed.
        """
        read, write = os.pipe()
        asked = [str(folder), dict(environment), runs, list(imports)]
        try:
            pid = self._ask(asked, [stdin, write, write if stderr is None else stderr, *pipes])
        finally:
            os.close(write)
        return CopyOfStem(self, pid, read)

    def status(self, pid: int) -> int | None:
        """What os.waitpid says of a copy; None while it runs."""
        return self._ask(pid)

    def _ask(self, request: object, pipes: Sequence[int] = ()) -> int:
        with self._one_at_a_time:
            socket.send_fds(self._socket, [json.dumps(request).encode()], list(pipes))
            return json.loads(self._socket.recv(_MOST))


class CopyOfStem(Copy):
    def __init__(self, stem: Stem, pid: int, prints: int) -> None:
        super().__init__(pid, prints)
        self._stem = stem

    def ended(self) -> int | None:
        return self._stem.status(self.pid)


def _fork(connection: socket.socket) -> None:
    """Be the stem, in a copy of this process."""
    flush()
    if os.fork() == 0:
        try:
            os.dup2(os.open(os.devnull, os.O_RDWR), 0)
            os.dup2(0, 1)
            close_others({connection.fileno()})
            serve(connection.detach())
        finally:
            os._exit(0)


def serve(number: int) -> None:
    """Be the stem, until whoever keeps it is gone. number: of the connection, here."""
    connection = socket.socket(fileno=number)
    while True:
        message, pipes, _, _ = socket.recv_fds(connection, _MOST, _PIPES)
        if not message:
            return
        request = json.loads(message)
        if pipes:
            answer: int | None = _start(pipes, *request)
        else:
            pid, status = os.waitpid(request, os.WNOHANG)
            answer = status if pid else None
        connection.send(json.dumps(answer).encode())


def _start(pipes: list[int], folder: str, environment: dict[str, str], runs: str, imports: list[str]) -> int:
    os.environ.clear()
    os.environ.update(environment)  # which libraries may look at when they are imported
    for name in imports:
        with suppress(Exception):  # whoever needs it says what is missing
            importlib.import_module(name)
    pid = os.fork()
    if pid == 0:
        try:
            os.chdir(folder)
            become(runs, pipes[:3], pipes[3:], environment)
        finally:
            os._exit(1)
    for pipe in pipes:
        os.close(pipe)
    return pid


def become(runs: str, streams: Sequence[int], pipes: Sequence[int], environment: Mapping[str, str]) -> NoReturn:
    """Be, in a copy, what a new process would be that runs a function: its own session, streams and variables."""
    os.setsid()
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    close_others(set(pipes))
    sys.stdin, sys.stdout, sys.stderr = (open(number, "rw"[number > 0], closefd=False) for number in range(3))
    first = [*filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))]
    sys.path[:] = first + [place for place in sys.path if place not in (*first, "", os.getcwd())]
    os.environ.clear()
    os.environ.update(environment)
    try:
        module, _, function = runs.partition(":")
        getattr(importlib.import_module(module), function)(*pipes)  # by name: it may stand on a floor above
        status = 0
    except BaseException:
        traceback.print_exc()
        status = 1
    flush()
    os._exit(status)


def flush() -> None:
    """Write what this process has printed, before a copy of it would."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):  # whatever stands there by now
            stream.flush()


def close_others(kept: set[int]) -> None:
    """Close what is open but for the three streams and `kept`."""
    for number in map(int, os.listdir("/proc/self/fd")):
        if number > 2 and number not in kept:
            with suppress(OSError):
                os.close(number)
