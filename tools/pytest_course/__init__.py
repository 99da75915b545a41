"""The course's pytest plugin, one concern a file. What they share is one `Run` on `config.stash` (run.py)."""

import os
from importlib import import_module

import pytest

from tools.stem import ASLEEP

PLUGINS = [
    "tools.pytest_course.options",  # the command line, what is under test, the header
    "tools.pytest_course.marks",  # tasks, stages, capabilities; skips that teach
    "tools.pytest_course.order",  # "after task N", "undecided", --red
    "tools.pytest_course.limits",  # time limit, forks, speed tests alone
    "tools.pytest_course.upkeep",  # what a lesson spoils is put back
    "tools.pytest_course.supervisor",  # a crash becomes a failed test
    "tools.pytest_course.preload",  # imports, made cheap
    "tools.pytest_course.compiler",  # the compiler's process starts early
    "tools.pytest_course.failures",  # what a failure says
    "tools.pytest_course.screen",  # what a run of lessons looks like
    "tools.pytest_course.recording",  # progress
    "tools.pytest_course.html",  # columns of the HTML report
]


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    """Register them. For a name in `pytest_plugins` pytest looks through all packages that are installed: 5 ms each."""
    for name, value in ASLEEP.items():  # before some of them import NumPy
        os.environ.setdefault(name, value)
    for name in PLUGINS:
        pluginmanager.register(import_module(name), name)
