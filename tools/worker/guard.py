"""Work under guard: a copy of this process does it, and this one waits, gives a sign of life, and ends what hangs.

Python code is interrupted from within (limit.py); this is for what hears nothing: a loop in C, a crash, os._exit.
"""

import ctypes
import faulthandler
import os
import select
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import IO, Any

from tools.worker.heartbeat import heartbeat
from tools.worker.own_time import OwnTime
from tools.worker.raised import stack_in

SIGN = 3.0  # seconds without a result after which there is a sign of life
GRACE = 3.0  # own seconds beyond the limit in which code may still notice by itself
PATIENCE = 3.0  # own seconds after Ctrl-C
LAST_WORDS = 0.5  # seconds in which a copy that hangs may tell where it is
LOOK = 0.2  # seconds between two looks
DEATH_SIGNAL = 1  # prctl's name for it: the signal that a process gets when its parent ends (linux/prctl.h)
ERASE, UP, RIGHT = "\r\x1b[K", "\x1b[A", "\x1b[{}C"


@dataclass(frozen=True)
class End:
    """How the copy ended: its exit code, or minus the signal.

    place: what it was busy with; "" where it came to its end. hung, stopped: it was ended here, for its silence or
    for Ctrl-C. stack: file, line and function of what it did then, the innermost first, as far as Python could tell.
    """

    status: int
    place: str = ""
    hung: bool = False
    stopped: bool = False
    stack: tuple[tuple[str, int, str], ...] = ()


def usable() -> bool:
    return hasattr(os, "fork") and hasattr(signal, "SIGUSR1")


def split(signs: bool = True) -> End | None:
    """None in the copy, which goes on as if nothing had happened; how that ended, in the original.

    signs: show a sign of life, where there is a terminal.
    """
    report = tempfile.TemporaryFile()
    ended, held = os.pipe()  # closed at the latest when the copy ends
    heartbeat.leave()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    original = os.getpid()
    copy = os.fork()
    if copy == 0:
        _end_with(original)
        os.close(ended)
        heartbeat.watched = True
        faulthandler.register(signal.SIGUSR1, file=report, all_threads=False)
        return None
    os.close(held)
    with report, _ctrl_c() as presses:
        try:
            return _Watch(copy, ended, report, presses, signs and sys.stdout.isatty()).until_it_ends()
        finally:
            os.close(ended)


def clear_sign() -> None:
    """Take the sign of life from the terminal; the cursor is where it was before."""
    if heartbeat.shown:
        heartbeat.shown = False
        right = RIGHT.format(heartbeat.column) if heartbeat.column else ""
        _write(f"{ERASE}{UP}{right}")


def _end_with(original: int) -> None:
    """Where the original is killed, its copy ends too: nobody else would end one that hangs. Only Linux can do that."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(DEATH_SIGNAL, signal.SIGKILL)
        if os.getppid() != original:  # it ended before it was asked
            os._exit(1)


class _Watch:
    """Over one copy. ended: a pipe that it holds open. presses: when Ctrl-C was pressed."""

    def __init__(self, copy: int, ended: int, report: IO, presses: list[float], signs: bool) -> None:
        self._copy, self._ended, self._report, self._presses, self._signs = copy, ended, report, presses, signs
        self._own, self._silent, self._beats = OwnTime(copy), 0.0, -1  # silent: own seconds since the last beat
        self._place, self._since = "", time.monotonic()

    def until_it_ends(self) -> End:
        poll = select.poll()
        poll.register(self._ended)
        while True:
            if poll.poll(LOOK * 1000):
                time.sleep(0.002)  # it is about to end, or has closed all its files
            known, status = os.waitpid(self._copy, os.WNOHANG)
            if known:
                return End(os.waitstatus_to_exitcode(status), heartbeat.place)
            self._look()
            if heartbeat.seconds and self._silent > heartbeat.seconds + GRACE:
                return self._kill(hung=True)
            if heartbeat.seconds and self._presses and self._silent > PATIENCE:
                return self._kill(stopped=True)

    def _look(self) -> None:
        """Take the time since the last beat, and show that there is life where there was no result for a while."""
        passed = self._own.lap()
        self._silent = self._silent + passed if heartbeat.beats == self._beats else 0.0
        self._beats = heartbeat.beats
        if heartbeat.place != self._place:
            self._place, self._since = heartbeat.place, time.monotonic()
        seconds = time.monotonic() - self._since
        if self._signs and self._place and seconds >= SIGN and not self._presses:
            self._show(int(seconds))

    def _show(self, seconds: int) -> None:
        said = f", {seconds} s; Ctrl-C stops it"
        room = max(20, shutil.get_terminal_size().columns - 1)
        text = f"still running: {self._place.rpartition('::')[2]}"[: room - len(said)] + said
        below, heartbeat.shown = "" if heartbeat.shown else "\n", True
        _write(f"{below}{ERASE}{text}")

    def _kill(self, **why: Any) -> End:
        with suppress(ProcessLookupError):
            os.kill(self._copy, signal.SIGUSR1)
            end = time.monotonic() + LAST_WORDS
            while time.monotonic() < end and not os.fstat(self._report.fileno()).st_size:
                time.sleep(0.02)
            os.kill(self._copy, signal.SIGKILL)
        status = os.waitstatus_to_exitcode(os.waitpid(self._copy, 0)[1])
        clear_sign()
        self._report.seek(0)
        stack = stack_in(self._report.read().decode(errors="replace"))
        return End(status, heartbeat.place, stack=tuple(stack), **why)


@contextmanager
def _ctrl_c() -> Iterator[list[float]]:
    """Ctrl-C is the copy's to answer; here only its moments are noted."""
    presses: list[float] = []
    before = signal.signal(signal.SIGINT, lambda *_: presses.append(time.monotonic()))
    try:
        yield presses
    finally:
        signal.signal(signal.SIGINT, before)


def _write(text: str) -> None:
    """To the terminal itself, past what pytest holds back. Called between tests, and in the process that watches."""
    with suppress(OSError):
        os.write(1, text.encode())
