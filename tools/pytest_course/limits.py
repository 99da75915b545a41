"""Bounds on what a test may do to the run: time, forks, and speed tests that nothing may disturb.

Python code is interrupted by an alarm. A call that hangs in native code hears no alarm: a few seconds later a watchdog
thread ends the process, and the supervisor (or pytest-xdist) turns that into a failed test. With --remote the lesson's
own process is ended instead.
"""

import faulthandler
import os
import signal
import sys
import tempfile
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest

from tools import worker
from tools.pytest_course.run import is_worker, item_unit, run_of

GRACE = 3.0  # seconds between one line of defence and the next


def of(config) -> float:
    """The limit of one test, in seconds."""
    return float(config.getini("course_limit"))


class Alarm:
    """The one alarm of this process; it is stopped while a debugger holds the floor."""

    seconds: float | None = None

    @classmethod
    def start(cls, seconds: float) -> None:
        cls.seconds = seconds
        signal.setitimer(signal.ITIMER_REAL, seconds)
        faulthandler.dump_traceback_later(seconds + GRACE, exit=True, file=_NOWHERE)

    @classmethod
    def stop(cls) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        faulthandler.cancel_dump_traceback_later()


@contextmanager
def time_limit(seconds: float):
    """Raise worker.TooSlow in the main thread after `seconds`. Inert under a debugger, in other threads, on Windows."""
    usable = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    if not usable or sys.gettrace() is not None or Alarm.seconds is not None:
        yield
        return

    def ring(signum, frame):
        raise worker.TooSlow(seconds)

    before = signal.signal(signal.SIGALRM, ring)
    Alarm.start(seconds)
    try:
        yield
    finally:
        Alarm.stop()
        Alarm.seconds = None
        signal.signal(signal.SIGALRM, before)


worker.passing.add(pytest.exit.Exception)  # quitting the debugger ends the run, even inside a lesson


def pytest_enter_pdb():
    if Alarm.seconds is not None:
        Alarm.stop()


def pytest_leave_pdb():
    if Alarm.seconds is not None:
        Alarm.start(Alarm.seconds)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    if item_unit(item) is None:
        return (yield)
    owner = os.getpid()
    limit = of(item.config)
    remote = run_of(item.config).remote  # then the worker says where it hung, and the alarm is only a second line
    with _alone_if_timed(item), worker.deadline(limit), time_limit(limit + GRACE if remote else limit):
        try:
            return (yield)
        finally:
            if os.getpid() != owner:
                os._exit(0)  # a child that the lesson forked: the tests belong to its parent


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node):
    """Give all of pytest-xdist's processes one lock."""
    if not hasattr(node.config, "course_lock"):
        handle, node.config.course_lock = tempfile.mkstemp(prefix="course-speed-")
        os.close(handle)
        node.config.add_cleanup(lambda: Path(node.config.course_lock).unlink(missing_ok=True))
    node.workerinput["course_lock"] = node.config.course_lock


@contextmanager
def _alone_if_timed(item):
    """Under pytest-xdist a speed test waits until no other test runs, and others wait for it."""
    if not is_worker(item.config) or sys.platform == "win32":
        yield
        return
    import fcntl

    with open(item.config.workerinput["course_lock"], "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX if item.get_closest_marker("speed") else fcntl.LOCK_SH)
        yield


_NOWHERE = open(os.devnull, "w")  # the watchdog's traceback would only show paths of the machine
