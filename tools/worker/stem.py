"""A process that has imported what lessons import, and of which the processes of lessons are copies.

The self-check has the compiler look at hundreds of wrong answers, at each in a process of its own, and PyTorch and
Triton take two seconds to be imported. A copy of the process of its tests would not do: that one has imported Triton to
run kernels, not to compile them.
"""

import importlib
import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from tools.worker.forked import Copy, serve

IMPORTS = re.compile(r"^(?:import|from) (torch|triton|numba)\b", re.MULTILINE)  # that take long
SERVES = "from tools.worker.stem import main; main()"
MOST = 1 << 20  # bytes of a message

_stem: "Stem | None" = None
_keeping = False


def keep() -> None:
    """From now on lessons' processes that compile are copies of one process, which ends with this one; on Linux."""
    global _keeping
    _keeping = sys.platform == "linux"  # other systems expect no forks, and have no such sockets


def copy_of_stem(requests: int, replies: int, environment: dict[str, str], lesson: Path) -> "CopyOfStem | None":
    """A lesson's process that serves the two pipes; None where no stem is kept."""
    global _stem
    if not _keeping:
        return None
    if _stem is None:
        _stem = Stem(IMPORTS.findall(lesson.read_text(encoding="utf-8", errors="replace")), environment)
    return CopyOfStem(_stem, requests, replies, environment)


class Stem:
    """The process, and its end of a connection: a message there is answered by one here."""

    def __init__(self, libraries: Sequence[str], environment: dict[str, str]) -> None:
        self._socket, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with there:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", SERVES, str(there.fileno()), *libraries],
                stdin=subprocess.DEVNULL,
                pass_fds=[there.fileno()],
                start_new_session=True,
                env=environment,
            )

    def start(self, pipes: list[int], environment: dict[str, str]) -> int:
        """The number of a copy that has these pipes: requests, replies, prints."""
        socket.send_fds(self._socket, [json.dumps([os.getcwd(), environment]).encode()], pipes)
        return json.loads(self._socket.recv(MOST))

    def status(self, pid: int) -> int | None:
        """What os.waitpid says of a copy; None while it runs."""
        self._socket.send(json.dumps(pid).encode())
        return json.loads(self._socket.recv(MOST))


class CopyOfStem(Copy):
    def __init__(self, stem: Stem, requests: int, replies: int, environment: dict[str, str]) -> None:
        read, write = os.pipe()
        self._stem = stem
        super().__init__(stem.start([requests, replies, write], environment), read)
        os.close(write)

    def ended(self) -> int | None:
        return self._stem.status(self.pid)


def main() -> None:
    """Be the stem, until whoever asks is gone. The command line: the number of its connection, libraries."""
    connection, libraries = socket.socket(fileno=int(sys.argv[1])), sys.argv[2:]
    importlib.import_module("tools.worker.__main__")  # and with it what decides that Triton compiles here
    for name in libraries:
        with suppress(Exception):  # what is missing the lesson says
            importlib.import_module(name)
    while True:
        message, pipes, _, _ = socket.recv_fds(connection, MOST, 3)
        if not message:
            return
        request = json.loads(message)
        if pipes:
            requests, replies, prints = pipes
            answer: int | None = _started(requests, replies, prints, *request)
        else:
            pid, status = os.waitpid(request, os.WNOHANG)
            answer = status if pid else None
        connection.send(json.dumps(answer).encode())


def _started(requests: int, replies: int, prints: int, folder: str, environment: dict[str, str]) -> int:
    pid = os.fork()
    if pid == 0:
        try:
            os.chdir(folder)
            serve(requests, replies, prints, environment)
        finally:
            os._exit(1)
    for pipe in (requests, replies, prints):
        os.close(pipe)
    return pid
