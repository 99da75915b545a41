"""Bounds on what a test may do to the run: time, forks, and speed tests that nothing may disturb.

The time is a test's own (tools/worker/own_time.py), and it stands still while a compiler or an import is at work: on a
busy machine no honest test is ended, and a loop without end costs seconds.
"""

import os
import sys
import tempfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tools import gpu, worker
from tools.pytest_course.marks import needs_gpu
from tools.pytest_course.run import from_controller, is_worker, item_unit
from tools.worker.limit import Alarm, time_limit

# Times the limit of other tests. The slowest honest tests of week 1, in own seconds on two slow cores: 3.6 of speed
# (a budget of three seconds, and calls that cannot be shorter), 2.6 that compile, 1.4 of all others.
MEASURED, COMPILED, ON_GPU = 6.0, 3.0, 3.0  # on a GPU the first call of every kernel compiles it


def of(item: pytest.Item) -> float:
    """The limit of one test, in own seconds."""
    limit = float(item.config.getini("course_limit"))
    if item.get_closest_marker("speed") or needs_gpu(item):
        return MEASURED * limit
    return limit * (COMPILED if item.get_closest_marker("compiled") else ON_GPU if gpu.card() else 1.0)


worker.passing.add(pytest.exit.Exception)  # quitting the debugger ends the run, even inside a lesson


def pytest_enter_pdb() -> None:
    if Alarm.current:
        Alarm.current.stop()


def pytest_leave_pdb() -> None:
    if Alarm.current:
        Alarm.current.start()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    if item_unit(item) is None:
        return (yield)
    owner, limit = os.getpid(), of(item)
    with _alone_if_timed(item), worker.deadline(limit), time_limit(limit):
        try:
            return (yield)
        finally:
            if os.getpid() != owner:
                os._exit(0)  # a child that the lesson forked: the tests belong to its parent


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Give all of pytest-xdist's processes one lock."""
    if not hasattr(node.config, "course_lock"):
        handle, node.config.course_lock = tempfile.mkstemp(prefix="course-speed-")
        os.close(handle)
        node.config.add_cleanup(lambda: Path(node.config.course_lock).unlink(missing_ok=True))
    node.workerinput["course_lock"] = node.config.course_lock


@contextmanager
def _alone_if_timed(item: pytest.Item) -> Iterator[None]:
    """Under pytest-xdist a speed test waits until no other test runs, and others wait for it."""
    if not is_worker(item.config) or sys.platform == "win32":
        yield
        return
    import fcntl

    with open(from_controller(item.config, "course_lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX if item.get_closest_marker("speed") else fcntl.LOCK_SH)
        yield
