"""A lesson that takes the whole process down, or hangs where no alarm is heard, still gets a report.

The tests run in a copy of this process, under guard (tools/worker/guard.py). When the copy ends in the middle of a test
(a segmentation fault, os._exit, a loop in native code), the tests run again with --remote, where the same accident ends
only the lesson's own process. Nothing is forked on Windows, under pytest-xdist (which has its own way), under a
debugger, beside other threads, or when another program drives pytest.
"""

import faulthandler
import random
import signal
import sys
import threading

import pytest

from tools.pytest_course.options import asks_for_lessons
from tools.pytest_course.run import HUNG, is_worker, unit_name
from tools.worker import guard
from tools.worker.heartbeat import heartbeat


def _usable(config) -> bool:
    option = config.option
    alone = sys.gettrace() is None and threading.active_count() == 1 and not config.invocation_params.plugins
    return (guard.usable() and alone and asks_for_lessons(config) and not is_worker(config)
            and not getattr(option, "numprocesses", None) and not option.usepdb and not option.trace)


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config):
    if not _usable(config):
        return None
    if config.option.seed is None:
        config.option.seed = random.randrange(10_000)  # here, so that a second run has the same inputs
    for attempt in range(2):
        end = guard.split(signs=getattr(config.option, "capture", "no") != "no")
        if end is None:
            return None  # go on as pytest would have without us
        if not end.place:
            break
        name = end.place.rpartition("::")[2]
        if end.stopped:
            print(f"\nInterrupted in {name}, which heard nothing; the rest did not run.", flush=True)
            return pytest.ExitCode.INTERRUPTED
        print(f"\n{_obituary(end)}\n  {name}", flush=True)
        if attempt == 0:
            print("Once more, with the lesson in its own process:\n", flush=True)
            config.option.remote = True
            config.stash[HUNG] = end if end.hung else guard.End(0)
    return end.status if end.status >= 0 else 128 - end.status


@pytest.hookimpl(trylast=True)
def pytest_configure(config):
    if heartbeat.watched or is_worker(config):
        faulthandler.disable()  # a crash is told in words; a dump of the stack would show this machine, not the lesson


def _obituary(end: guard.End) -> str:
    if end.hung:
        return "Python hung in native code, past the time limit, in"
    if end.status < 0:
        return f"Python died ({signal.strsignal(-end.status) or 'signal'}, signal {-end.status}) in"
    return f"Python was ended (exit status {end.status}) in"


def _enter(config, place: str) -> None:
    """Say where we are, and flush what was written so far: a crash would swallow it."""
    column = 0
    if reporter := config.pluginmanager.getplugin("terminalreporter"):
        reporter.flush()
        column = reporter._tw.width_of_current_line
    heartbeat.enter(place, column)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item):
    _enter(item.config, item.nodeid)
    try:
        return (yield)
    finally:
        heartbeat.leave()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_make_collect_report(collector):
    if not isinstance(collector, pytest.Module) or unit_name(collector.path) is None:
        return (yield)
    _enter(collector.config, collector.nodeid)
    try:
        return (yield)
    finally:
        heartbeat.leave()
        guard.clear_sign()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_logreport():
    guard.clear_sign()  # before the letter of this test is written
