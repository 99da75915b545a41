"""A lesson that takes the whole process down, or hangs where no alarm is heard, still gets a report.

The tests run in a copy of this process, under guard (tools/worker/guard.py). When the copy ends in the middle of a test
(a segmentation fault, os._exit, a loop in native code, a lesson that spoils what pytest needs), the tests run again
with --remote, where the same accident ends only the lesson's own process. Nothing is forked on Windows, under
pytest-xdist (which has its own way), under a debugger, beside other threads, or when another program drives pytest.
"""

import faulthandler
import os
import random
import signal
import sys
import threading
from collections.abc import Generator
from typing import Any, NoReturn

import pytest

from tools.pytest_course.options import asks_for_lessons
from tools.pytest_course.run import HUNG, is_worker, unit_name
from tools.worker import guard
from tools.worker.heartbeat import heartbeat

SPOILED = 70  # exit status of a first try in which pytest itself failed
LAST = "the end of the run"


def _usable(config: pytest.Config) -> bool:
    option = config.option
    alone = sys.gettrace() is None and threading.active_count() == 1 and not config.invocation_params.plugins
    return (
        guard.usable()
        and alone
        and asks_for_lessons(config)
        and not is_worker(config)
        and not getattr(option, "numprocesses", None)
        and not option.usepdb
        and not option.trace
    )


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> int | None:
    if not _usable(config):
        return None
    if config.option.seed is None:
        config.option.seed = random.randrange(10_000)  # here, so that a second run has the same inputs
    status = 0
    for attempt in range(2):
        end = guard.split(signs=getattr(config.option, "capture", "no") != "no")
        if end is None:
            config.add_cleanup(_let_go)  # the first to be added is the last to be called
            if attempt == 0 and not config.option.remote:
                config.pluginmanager.register(FirstTry())
            return None  # go on as pytest would have without us
        status = end.status if end.status >= 0 else 128 - end.status
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
    return status


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    if heartbeat.watched or is_worker(config):
        faulthandler.disable()  # a crash is told in words; a dump of the stack would show this machine, not the lesson


class FirstTry:
    """Where pytest itself fails, a lesson may have spoilt what it needs: a second try tells, and is loud if not."""

    def __init__(self) -> None:
        sys.excepthook = lambda *error: self.give_up()

    @pytest.hookimpl(tryfirst=True)
    def pytest_internalerror(self) -> None:
        self.give_up()

    def give_up(self) -> NoReturn:
        if not heartbeat.place:
            heartbeat.enter(LAST)
        os._exit(SPOILED)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    global _status
    _status = int(session.exitstatus)
    heartbeat.enter(LAST)


def _let_go() -> None:
    """The run has come to its end, whatever a lesson left at work."""
    heartbeat.leave()
    guard.clear_sign()
    if any(not thread.daemon and thread is not threading.main_thread() for thread in threading.enumerate()):
        print("A thread that the lesson started is still at work; it ends here.", flush=True)
        os._exit(_status)


_status = 0


def _obituary(end: guard.End) -> str:
    if end.hung:
        return "Python hung in native code, past the time limit, in"
    if end.status == SPOILED:
        return "pytest could not go on in"
    if end.status < 0:
        return f"Python died ({signal.strsignal(-end.status) or 'signal'}, signal {-end.status}) in"
    return f"Python was ended (exit status {end.status}) in"


def _enter(config: pytest.Config, place: str) -> None:
    """Say where we are, and flush what was written so far: a crash would swallow it."""
    column = 0
    if reporter := config.pluginmanager.getplugin("terminalreporter"):
        reporter.flush()
        column = reporter._tw.width_of_current_line
    heartbeat.enter(place, column)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, Any, Any]:
    _enter(item.config, item.nodeid)
    try:
        return (yield)
    finally:
        heartbeat.leave()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Generator[None, Any, Any]:
    if not isinstance(collector, pytest.Module) or unit_name(collector.path) is None:
        return (yield)
    _enter(collector.config, collector.nodeid)
    try:
        return (yield)
    finally:
        heartbeat.leave()
        guard.clear_sign()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_logreport() -> None:
    guard.clear_sign()  # before the letter of this test is written
