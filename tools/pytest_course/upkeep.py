"""Upkeep of what a lesson may spoil for all: the names of Python, the streams, the folder, its own file. All is put
back after the import and after each test. What cannot be put back is the supervisor's affair.
"""

import builtins
import os
import signal
import sys
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest

from tools import ROOT
from tools.pytest_course.run import Run, item_unit, run_of

STREAMS = ("stdin", "stdout", "stderr")
_names, _dict = builtins.__dict__, dict  # at hand, whatever a lesson makes of builtins


@pytest.hookimpl(wrapper=True, trylast=True)  # inside of pytest's own, which change the streams
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    if item_unit(item) is None:
        return (yield)
    with kept(run_of(item.config)):
        return (yield)


@contextmanager
def kept(run: Run) -> Iterator[None]:
    """After what happens inside, Python and the lessons' files are as they were."""
    names, modules, path, limit = _dict(_names), _dict(sys.modules), sys.path[:], sys.getrecursionlimit()
    streams = {name: getattr(sys, name) for name in STREAMS}
    interrupt, folder = _handler(), os.getcwd()
    for stream in streams.values():
        with suppress(AttributeError):
            stream.close = _stay_open
    try:
        yield
    finally:
        _names.update(names)
        sys.setrecursionlimit(limit)
        sys.modules.update({name: modules[name] for name in modules.keys() - sys.modules.keys()})
        sys.path[:] = path if not sys.path else sys.path
        for name, stream in streams.items():
            setattr(sys, name, stream)
            with suppress(AttributeError):
                del stream.close
        if interrupt is not None:
            signal.signal(signal.SIGINT, interrupt)
        os.chdir(folder)
        _put_back_files(run)


def _stay_open() -> None:
    """In place of a stream's `close`: others write to it too."""


def _handler() -> Any:
    """Of Ctrl-C; None where this thread may not set it."""
    main = threading.current_thread() is threading.main_thread()
    return signal.getsignal(signal.SIGINT) if main else None


def _put_back_files(run: Run) -> None:
    for file, source in run.sources.items():
        if not file.exists():
            with suppress(OSError):
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(source)
                run.put_back.add(file.relative_to(ROOT).as_posix() if file.is_relative_to(ROOT) else file.name)
