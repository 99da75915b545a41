"""Imports, made cheap: PyTorch before the compiler's process is copied from this one, all of them for good, and none
that nobody needs.

What is imported stays until the end, so the garbage collector need not look at it again and again: a fifth of the time
that PyTorch's import takes, and a third of a second at the end of each run, where pytest collects five times.
"""

import gc
import importlib
import re
import sys
from collections.abc import Generator
from contextlib import suppress
from typing import Any

import pytest

from tools.pytest_course.run import run_of


def libraries(*sources: str) -> None:
    """Import PyTorch where one of these files will; not for an import inside of one test, which may be left out."""
    if any(re.search("^import torch", source, re.MULTILINE) for source in sources):
        with suppress(Exception):  # what is missing or broken the tests say
            importlib.import_module("torch")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection(session: pytest.Session) -> Generator[None, Any, Any]:
    if not run_of(session.config).only_lessons:
        return (yield)
    enabled = gc.isenabled()
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        if enabled:
            gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Hypothesis's plugin imports Hypothesis to ask what it has to say, 0.3 s, also where no test has used it."""
    plugins = session.config.pluginmanager
    if (
        run_of(session.config).only_lessons
        and "hypothesis" not in sys.modules
        and plugins.has_plugin("hypothesispytest")
    ):
        plugins.unregister(name="hypothesispytest")
