"""A lesson that takes the whole process down still gets a report.

The tests run in a forked child while the parent waits. When the child dies in the middle of a test (a segmentation
fault, os._exit, the watchdog of limits.py), the parent runs them again with --remote, where the same accident ends
only the lesson's own process. Nothing is forked on Windows, under pytest-xdist (which has its own way), under a
debugger, beside other threads, or when another program drives pytest.
"""

import faulthandler
import mmap
import os
import random
import signal
import sys
import threading

import pytest

from tools.pytest_course.options import asks_for_lessons
from tools.pytest_course.run import HUNG, is_worker, unit_name

WATCHDOG = 1  # the exit code with which faulthandler ends a process that hangs

SUPERVISED = pytest.StashKey[bool]()

_at = mmap.mmap(-1, 4096)  # shared with the child: the test or file that it is busy with, empty in between


def _usable(config) -> bool:
    option = config.option
    alone = sys.gettrace() is None and threading.active_count() == 1 and not config.invocation_params.plugins
    return (hasattr(os, "fork") and alone and asks_for_lessons(config) and not is_worker(config)
            and not getattr(option, "numprocesses", None) and not option.usepdb and not option.trace)


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config):
    if not _usable(config):
        return None
    if config.option.seed is None:
        config.option.seed = random.randrange(10_000)  # here, so that a second run has the same inputs
    for attempt in range(2):
        child = os.fork()
        if child == 0:
            config.stash[SUPERVISED] = True
            return None  # go on as pytest would have without us
        status = _wait(child)
        place = _busy_with()
        if not place:
            break
        print(f"\n{_obituary(status)}\n  {place.rpartition('::')[2]}", flush=True)
        if attempt == 0:
            print("Once more, with the lesson in its own process:\n", flush=True)
            config.option.remote = True
            config.stash[HUNG] = place if status == WATCHDOG else ""
            _mark("")
    return status if status >= 0 else 128 - status


@pytest.hookimpl(trylast=True)
def pytest_configure(config):
    if config.stash.get(SUPERVISED, False) or is_worker(config):
        faulthandler.disable()  # a crash is told in words; a dump of the stack would show this machine, not the lesson


def _wait(child: int) -> int:
    """The child's exit code, or minus the signal that ended it. Ctrl-C is the child's to answer."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    finally:
        signal.signal(signal.SIGINT, before)


def _obituary(status: int) -> str:
    if status < 0:
        return f"Python died ({signal.strsignal(-status) or 'signal'}, signal {-status}) in"
    if status == WATCHDOG:
        return "Python hung in native code, past the time limit, in"
    return f"Python was ended (exit status {status}) in"


def _mark(place: str) -> None:
    text = place.encode()[:4095]
    _at[:len(text) + 1] = text + b"\0"


def _busy_with() -> str:
    return _at[:].split(b"\0", 1)[0].decode(errors="replace")


def _let_out(config) -> None:
    """Flush what was written so far: a crash would swallow it."""
    if reporter := config.pluginmanager.getplugin("terminalreporter"):
        reporter.flush()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item):
    _let_out(item.config)
    _mark(item.nodeid)
    try:
        return (yield)
    finally:
        _mark("")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_make_collect_report(collector):
    if not isinstance(collector, pytest.Module) or unit_name(collector.path) is None:
        return (yield)
    _let_out(collector.config)
    _mark(collector.nodeid)
    try:
        return (yield)
    finally:
        _mark("")
