"""A pytest plugin that tells the recorder of this process which test file is at work.

What a test file reads while its tests run, here and in processes that it starts, is its own affair. All else belongs
to every test file of the job: what is imported, what a fixture for all of them reads, what is read while tests are
collected, and everything where a process outlives the file that started it.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tools.selfcheck.inputs import loaded
from tools.selfcheck.recording import READER, UNSURE, active

SHARED = ("session", "package")  # scopes of fixtures


class Readers:
    """reader: the test file at work, relative to the root; "" between them."""

    def __init__(self) -> None:
        self.reader = ""

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: Any) -> Iterator[None]:
        file = item.nodeid.partition("::")[0]
        if file != self.reader:
            self._ended()
            self.reader = file
        self._set(file)
        try:
            return (yield)
        finally:
            self._set("")

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Iterator[None]:
        if fixturedef.scope not in SHARED:
            return (yield)
        self._set("")
        try:
            return (yield)
        finally:
            self._set(self.reader)

    def pytest_sessionfinish(self) -> None:
        self._ended()
        for path in loaded():
            self._write(path)

    def _ended(self) -> None:
        if self.reader and outlived():
            self._write(UNSURE)

    def _set(self, reader: str) -> None:
        if module := active():
            module.read_by(reader)

    def _write(self, path: str) -> None:
        if module := active():
            for record in module.records:
                record.write(path, "")


def outlived(proc: Path = Path("/proc")) -> bool:
    """Is a process still there that was started for one test file, or a copy of this one? Where none can tell, yes."""
    lists = list((proc / "self/task").glob("*/children"))
    if not lists:
        return True
    ours = (proc / "self/cmdline").read_bytes()
    return any(_is_of_a_file(proc / child, ours) for each in lists for child in each.read_text().split())


def _is_of_a_file(child: Path, ours: bytes) -> bool:
    try:
        variables = (child / "environ").read_bytes().split(b"\0")
        readers = [each.partition(b"=")[2] for each in variables if each.startswith(f"{READER}=".encode())]
        return (child / "cmdline").read_bytes() == ours or any(each.strip(b":") for each in readers)
    except OSError:
        return False  # it has ended meanwhile
