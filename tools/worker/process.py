"""The process that a lesson runs in, as its parent sees it: frames out, frames in, under a deadline.

The parent never waits without a limit, keeps only the end of what is printed, and ends the process group.
"""

import os
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

from tools import ROOT, gpu, processes, wire
from tools.stem import Copy
from tools.worker import forked
from tools.worker.deadlines import AGAIN, Deadline, Died, TooSlow, around, hung
from tools.worker.forked import Forked
from tools.worker.own_time import OwnTime
from tools.worker.raised import Frame, frame_at, stack_in
from tools.worker.stem import copy_of_stem

COMPILING = 60.0  # own seconds for one request to a process that compiles; the limits are for what lessons do
_LOOK_AGAIN = 0.05  # seconds; a dead child whose own child holds the pipes open makes no event
_LAST_WORDS = 0.5  # seconds in which one that is too slow may tell where it is
_CHUNK = 2**20
_KEPT = 2**13  # bytes of what was printed
_PRINTED = 2000  # characters of it
_REPORT = re.compile(r"(?=Fatal Python error: |Stack \(most recent call first\):\n)")  # by faulthandler
_IMPORTING = "<frozen importlib"


Child = subprocess.Popen | Copy


class Process:
    """A child interpreter that runs `tools.worker.__main__` for the lesson in `file`.

    mode: in "interpret" there is no GPU for it, in "compile" Triton runs no kernels: see tools.gpu.
    copied: make it from this process where that can be done, with all that is imported here.
    """

    def __init__(self, file: Path, mode: str, copied: bool = False) -> None:
        self._file, self._compiles = str(file), mode == "compile"
        request_end, self._requests = os.pipe()
        self._replies, reply_end = os.pipe()
        self._child = self._started(request_end, reply_end, mode, copied)
        os.close(request_end)
        os.close(reply_end)
        assert self._child.stdout is not None
        self._prints = self._child.stdout.fileno()
        for pipe in (self._requests, self._replies, self._prints):
            os.set_blocking(pipe, False)
        self._tail, self._prints_open, self._number = b"", True, 0
        self._own = OwnTime(self._child.pid)

    def _started(self, requests: int, replies: int, mode: str, copied: bool) -> Child:
        variables = environment(mode)
        if copied and forked.usable():
            return Forked(requests, replies, variables)
        copy = copy_of_stem(mode, requests, replies, variables, Path(self._file))
        return copy or _spawned(requests, replies, variables)

    def send(self, packet: wire.Packet) -> None:
        """Send a request. Raises Died or TooSlow. After any exception the process is of no use: end it."""
        self._number += 1
        self._tail = b""
        self._begin()
        wire.send(self._write, self._number, packet.header, packet.buffers)

    def receive(self) -> tuple[bytes, list]:
        """Wait for the header and buffers of the reply to the last request. Raises as `send` does."""
        self._begin()
        try:
            number, header, buffers = wire.receive(self._fill)
        except wire.Malformed:
            number = None
        self._spend(self._own.lap())
        self._drain()
        if number != self._number:
            raise Died("something else than an answer came out of the lesson's process", self.printed())
        return header, buffers

    def printed(self) -> str:
        """The last characters that the lesson printed during the request."""
        return self._tail.decode("utf-8", "replace")[-_PRINTED:]

    def end(self) -> None:
        """End the process and all its children that stayed in its group. Harmless when it has ended."""
        assert self._child.stdout is not None
        if self._child.stdout.closed:
            return
        processes.end_group(self._child)
        self._drain()
        self._child.stdout.close()
        os.close(self._requests)
        os.close(self._replies)

    def _begin(self) -> None:
        self._limits = [Deadline(COMPILING)] if self._compiles else around()
        self._own.seen, self._asked = time.monotonic(), False

    def _spend(self, seconds: float) -> None:
        for limit in self._limits:
            limit.left -= seconds

    def _write(self, view: memoryview) -> None:
        while view:
            try:
                view = view[os.write(self._requests, view[:_CHUNK]) :]
            except BlockingIOError:
                self._wait(self._requests, select.POLLOUT)
            except BrokenPipeError:
                raise self._died() from None

    def _fill(self, view: memoryview) -> None:
        while view:
            try:
                count = os.readv(self._replies, [view[:_CHUNK]])
            except BlockingIOError:
                self._wait(self._replies, select.POLLIN)
                continue
            if count == 0:
                raise self._died()
            view = view[count:]

    def _wait(self, pipe: int, event: int) -> None:
        """Wait until `pipe` is ready, meanwhile taking in what is printed."""
        while True:
            left = min(limit.left for limit in self._limits)
            alive = self._child.poll() is None  # asked before looking: what it wrote last still counts
            prints = {self._prints: select.POLLIN} if self._prints_open else {}
            ready = _ready({pipe: event} | prints, max(0.0, min(left, _LOOK_AGAIN)))
            if self._prints in ready:
                self._drain()
            if pipe in ready:
                return
            if not alive:
                raise self._died()
            self._spend(self._own.lap())
            self._look_at_the_clock()

    def _look_at_the_clock(self) -> None:
        """Raises TooSlow."""
        passed = next((limit for limit in self._limits if limit.passed), None)
        early = (
            not self._asked
            and any(file == self._file for file, _ in hung)
            and any(limit.seconds - limit.left >= AGAIN for limit in self._limits)
        )
        if not (passed or early):
            return
        self._asked = True
        printed, stack = self._stack()
        functions = [(file, function) for file, _, function in stack if file == self._file]
        if passed and time.monotonic() < passed.end and _imports(stack, self._file):
            passed.left = passed.seconds  # a library is imported: that is no work of the lesson's
        elif passed or not hung.isdisjoint(functions):
            hung.update(functions[:1])
            self.end()
            raise TooSlow((passed or self._limits[-1]).seconds, printed, self._frames(stack), again=not passed)
        self._tail = printed.encode()

    def _drain(self) -> None:
        try:
            printed = os.read(self._prints, _CHUNK)
        except BlockingIOError:
            return
        self._prints_open = bool(printed)
        self._tail = (self._tail + printed)[-_KEPT:]

    def _died(self) -> Died:
        try:
            status = self._child.wait(timeout=1)
        except subprocess.TimeoutExpired:
            status = None
        self.end()
        if status is None:
            reason = "the lesson closed its connection to the tests"
        elif status < 0:
            reason = f"{(signal.strsignal(-status) or 'a signal').lower()} (signal {-status})"
        else:
            reason = f"the lesson ended its own process (exit status {status})"
        printed, stack = self._last_words()
        return Died(reason, printed, self._frames(stack))

    def _stack(self) -> tuple[str, list[tuple[str, int, str]]]:
        """Ask where the lesson is: what it has printed, and its stack, the innermost step first."""
        self._child.send_signal(signal.SIGUSR1)
        until, patience = time.monotonic() + _LAST_WORDS, _LAST_WORDS
        while self._prints_open and time.monotonic() < until:
            if not _ready({self._prints: select.POLLIN}, patience):
                break
            self._drain()
            patience = _LOOK_AGAIN  # it has begun, so the rest comes soon
        return self._last_words()

    def _last_words(self) -> tuple[str, list[tuple[str, int, str]]]:
        """What the lesson printed, and the stack that Python told."""
        printed, *report = _REPORT.split(self._tail.decode("utf-8", "replace"), maxsplit=1)
        return printed[-_PRINTED:], stack_in("".join(report))

    def _frames(self, stack: list[tuple[str, int, str]]) -> tuple[Frame, ...]:
        """The steps in the lesson's file, the innermost last."""
        return tuple(frame_at(*step) for step in reversed(stack) if step[0] == self._file)


def _spawned(requests: int, replies: int, environment: dict[str, str]) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "tools.worker", str(requests), str(replies)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        pass_fds=(requests, replies),
        start_new_session=True,
        env=environment,
    )


def _imports(stack: list[tuple[str, int, str]], lesson: str) -> bool:
    """Is a library being imported, whether the lesson asked for it or not?"""
    files = [file for file, _, _ in stack]
    inner = files[: files.index(lesson)] if lesson in files else files
    return any(file.startswith(_IMPORTING) for file in inner)


def _ready(events: dict[int, int], seconds: float) -> set[int]:
    poll = select.poll()
    for pipe, event in events.items():
        poll.register(pipe, event)
    return {pipe for pipe, _ in poll.poll(seconds * 1000)}


def environment(mode: str) -> dict[str, str]:
    """Variables of a process that runs a lesson in this mode."""
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    if mode != "gpu":  # its tensors are in CPU memory on every machine, and no library finds a GPU in it
        environment |= {gpu.SIMULATE: "1", "CUDA_VISIBLE_DEVICES": ""}
    if mode == "interpret":
        environment["TRITON_INTERPRET"] = "1"
    if mode == "compile":  # the driver keeps what it compiled, and the assembler says nothing about that
        environment |= {gpu.COMPILE: "1", "CUDA_CACHE_DISABLE": "1"}
    paths = [str(ROOT), environment.get("PYTHONPATH", "")]
    environment["PYTHONUNBUFFERED"] = "1"  # what a lesson prints before it crashes must come out
    environment.setdefault("NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS", "0")  # tests, and count, start small grids on purpose
    return environment | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}
