"""A limit on the own time of what runs in this process, Python code at least: it is interrupted by an alarm.

A call that hangs in native code hears no alarm. Where somebody watches (guard.py) the process is ended a little later;
else a watchdog thread ends it, and whoever drives it turns that into a failure.
"""

import faulthandler
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from tools.worker import process
from tools.worker.deadlines import AGAIN, MOST, TooSlow, hung
from tools.worker.heartbeat import heartbeat
from tools.worker.own_time import OwnTime

TICK = 0.5  # seconds between two looks at the clock
WATCHDOG = 3.0, 5.0  # times the limit, and seconds: a process that nobody watches and that heard no alarm is ended
LESSON = re.compile(r"week\d+\.(?:day\d+|katas\.\w+)\.(?!test_|bench_)\w+")
# While these are at work for a lesson, its clock stands: a library is imported or another program runs, a compiler
# for example, or a lesson's own process, which has a clock itself.
ASIDE = ("<frozen importlib", subprocess.__file__, process.__file__)


class Alarm:
    """The one alarm of this process; it is stopped while a debugger holds the floor."""

    current: "Alarm | None" = None

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.start()

    def start(self) -> None:
        """Give all the time there is, from now on."""
        self.left, self.end, self.clock = self.seconds, time.monotonic() + MOST * self.seconds, OwnTime()
        self.runs, self.rang = True, False
        self.wind()
        heartbeat.beat(self.seconds)
        if not heartbeat.watched:
            times, more = WATCHDOG
            faulthandler.dump_traceback_later(times * self.seconds + more, exit=True, file=_NOWHERE)

    def wind(self) -> None:
        """A lesson that sets an alarm of its own stops this one, until that rings."""
        tick = min(TICK, self.seconds / 5)
        signal.setitimer(signal.ITIMER_REAL, tick, tick)

    def stop(self) -> None:
        self.runs = False  # first of all: a last signal may be on its way, and must not wind it again
        signal.setitimer(signal.ITIMER_REAL, 0)
        heartbeat.beat(0)
        faulthandler.cancel_dump_traceback_later()

    def ring(self, signum: int, frame: FrameType | None) -> None:
        """Look at the clock. Raises TooSlow."""
        if not self.runs:
            return
        self.wind()
        passed, lessons = self.clock.lap(), _lessons(frame)
        if not _is_aside(frame):
            self.left -= passed
        if not self.rang:  # a lesson that catches what is raised here, and goes on, is found silent
            heartbeat.beat(max(self.left, AGAIN))
        before = self.seconds - self.left >= AGAIN and not hung.isdisjoint(lessons)
        if before or self.left <= 0 or time.monotonic() > self.end:
            self.rang = True
            hung.update(lessons[:1])
            raise TooSlow(self.seconds, again=before)


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise TooSlow in the main thread after `seconds` of its own. Inert under a debugger, in other threads, on
    Windows, and inside of another limit."""
    usable = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    if not usable or sys.gettrace() is not None or Alarm.current is not None:
        yield
        return
    before = signal.signal(signal.SIGALRM, lambda *rung: Alarm.current.ring(*rung) if Alarm.current else None)
    Alarm.current = Alarm(seconds)
    try:
        yield
    finally:
        Alarm.current.stop()
        Alarm.current = None
        signal.signal(signal.SIGALRM, before)


def _stack(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


def _is_lesson(frame: FrameType) -> bool:
    return bool(LESSON.fullmatch(str(frame.f_globals.get("__name__"))))


def _lessons(frame: FrameType | None) -> list[tuple[str, str]]:
    """The functions of lessons that are at work, the innermost first."""
    return [(each.f_code.co_filename, each.f_code.co_name) for each in _stack(frame) if _is_lesson(each)]


def _is_aside(frame: FrameType | None) -> bool:
    """Is something at work that a lesson, or a test, has asked for and has to wait for?"""
    for each in _stack(frame):
        if each.f_code.co_filename.startswith(ASIDE):
            return True
        if _is_lesson(each):
            return False
    return False


_NOWHERE = open(os.devnull, "w")  # the watchdog's traceback would only show paths of the machine
