"""Runs of Python modules in processes that are forked from one in which the libraries are imported already.

A run of pytest in a copy of the course costs half then, and a third where PyTorch is needed. What is under test is
imported by each run itself: the warm process has libraries only, and of the course nothing.
"""

import gc
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = sys.platform == "linux"  # elsewhere there is no fork, or none that all libraries survive
ARGUMENTS = 2**20  # bytes of one request
PIECE = 2**16
READER = "COURSE_INPUTS_READER"  # of the self-check's recorder: this process serves every test file


class Warm:
    """The warm process: it imports pytest with its plugins, and `modules`, and waits."""

    def __init__(self, *modules: str):
        self._asks, answers = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._process = subprocess.Popen(
            [sys.executable, __file__, str(answers.fileno()), *modules],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=[answers.fileno()],
            env={name: value for name, value in os.environ.items() if name != READER},
        )
        answers.close()

    def run(self, command: list[str], cwd: Path, env: dict[str, str], timeout: float) -> tuple[int, bytes]:
        """`python -m *command`: how it ended, and what it and its children printed, both streams together.

        Raises subprocess.TimeoutExpired if it is still at work after so many seconds; it is ended then.
        """
        end = time.monotonic() + timeout
        reads, writes = os.pipe()
        socket.send_fds(self._asks, [json.dumps([command, str(cwd), env]).encode()], [writes])
        os.close(writes)
        process = int(self._asks.recv(PIECE))
        printed = []
        try:
            while select.select([reads], [], [], max(0.0, end - time.monotonic()))[0]:
                printed.append(os.read(reads, PIECE))
                if not printed[-1]:
                    if select.select([self._asks], [], [], max(0.0, end - time.monotonic()))[0]:
                        return int(self._asks.recv(PIECE)), b"".join(printed)
                    break
        finally:
            os.close(reads)
        os.kill(process, signal.SIGKILL)
        self._asks.recv(PIECE)
        raise subprocess.TimeoutExpired(command, timeout)

    def end(self) -> None:
        """End the process. It would not hear of a closed socket while a process that was forked here holds it too."""
        self._asks.close()
        self._process.kill()
        self._process.wait()


def _serve(requests: socket.socket) -> None:
    """Fork a process for each request until nobody can ask any more. Returns in those processes only."""
    gc.freeze()  # or each of them copies all pages when its garbage is collected
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the one who asks decides
    while True:
        message, streams, _, _ = socket.recv_fds(requests, ARGUMENTS, 1)
        if not message:
            os._exit(0)
        child = os.fork()
        if not child:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            requests.close()
            return _become(*json.loads(message), streams[0])
        os.close(streams[0])
        requests.send(str(child).encode())
        requests.send(str(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])).encode())


def _import(modules: list[str]) -> None:
    """Import pytest with the plugins that are installed, in its own way, and the modules."""
    import pytest

    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        pytest.main(["-p", "no:cacheprovider", "--rootdir", folder, folder])
        os.chdir("/")
    for module in modules:
        __import__(module)


def _become(command: list[str], cwd: str, env: dict[str, str], stream: int) -> None:
    """Turn this process into the one that was asked for, as far as Python code can tell."""
    for name, number, buffering in (("stdout", 1, -1), ("stderr", 2, 1)):
        os.dup2(stream, number)
        old = getattr(sys, name)  # which believes that it writes where the warm process does
        new = open(number, "w", encoding=old.encoding, errors=old.errors, closefd=False, buffering=buffering)
        setattr(sys, name, new)
        setattr(sys, f"__{name}__", new)
    os.close(stream)
    os.environ.clear()
    os.environ.update(env)
    os.chdir(cwd)
    recorder = sys.modules.get("sitecustomize")  # the self-check's, if it watches this process already
    if hasattr(recorder, "read_by"):
        recorder.read_by(env.get(READER, "").split(os.pathsep)[0])
    places = [place for place in env.get("PYTHONPATH", "").split(os.pathsep) if place and place not in sys.path]
    sys.argv, sys.path[:1] = command, [cwd, *places]
    sys.dont_write_bytecode = bool(env.get("PYTHONDONTWRITEBYTECODE"))
    ours = [Path(place, "sitecustomize.py") for place in places]
    for file in (file for file in ours if file.exists() and (recorder is None or not file.samefile(recorder.__file__))):
        runpy.run_path(str(file), run_name="sitecustomize")
        break
    runpy.run_module(command[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    sys.path[0] = "/"  # in place of this folder: nothing is imported from here
    _import(sys.argv[2:])
    _serve(socket.socket(fileno=int(sys.argv[1])))
