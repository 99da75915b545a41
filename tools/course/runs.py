"""One run of a unit's tests in a process of its own, which can be stopped at any time and started ahead."""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from tools.course.content.catalogue import Unit

COLOUR = re.compile(r"\x1b\[[0-9;]*m")
AHEAD = str(Path(__file__).with_name("ahead.py"))
GRACE = 1.0  # seconds for a run to end itself before it is ended
_HINT = re.compile(r"The next hint for task (\d+):")  # how the short screen names the task in focus


@dataclass(frozen=True)
class Outcome:
    """How a run ended: pytest's exit code, what it printed, and every failure in full, by test."""

    code: int
    text: str
    failures: tuple[tuple[str, str], ...]
    seconds: float

    @property
    def focus(self) -> int | None:
        """The task that the one failure shown is about, where that task has hints."""
        found = _HINT.search(COLOUR.sub("", self.text))
        return int(found[1]) if found else None


class Ahead:
    """A process for the next run, which imports what takes long while the learner thinks."""

    def __init__(self):
        self._process: subprocess.Popen | None = None
        self._wanted: list[str] = []  # by it: what it imports

    def prepare(self, unit: Unit) -> None:
        """Have a process for a run of this unit. Harmless when there is one."""
        wanted = _slow_imports(unit)
        if self._process is None or self._wanted != wanted:
            self.stop()
            self._process, self._wanted = _waiting(unit, wanted), wanted

    def take(self, unit: Unit) -> subprocess.Popen:
        """A process for a run of this unit, which is the caller's from now on."""
        self.prepare(unit)
        process, self._process = self._process, None
        return process

    def stop(self) -> None:
        """End the process that waits."""
        if self._process:
            self._process.kill()
            self._process.communicate()
            self._process = None


def _waiting(unit: Unit, modules: list[str]) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, AHEAD, *modules],
        cwd=unit.root, env={**os.environ, "PYTHONIOENCODING": "utf-8"},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        encoding="utf-8", errors="replace", start_new_session=True,  # Ctrl-C is ours to answer
    )  # fmt: skip


def _slow_imports(unit: Unit) -> list[str]:
    """What takes seconds to import and the unit's tests will import."""
    with suppress(OSError, UnicodeDecodeError):
        if any("import torch" in file.read_text(encoding="utf-8") for file in (unit.lesson, unit.tests)):
            return ["torch"]
    return []


class Run:
    """Starts at once. Calls `ended(run, outcome)` in a thread of its own, unless it was stopped before."""

    def __init__(self, unit: Unit, ended: Callable[["Run", Outcome], None], ahead: Ahead,
                 columns: int = 80, colour: bool = False):  # fmt: skip
        self._ended, self._stopped = ended, False
        self._began = time.monotonic()
        self._keep = tempfile.TemporaryDirectory(prefix="course-watch-")
        self._report = Path(self._keep.name) / "report.xml"
        self._process = ahead.take(unit)
        arguments = [unit.name, f"--junitxml={self._report}", f"--color={'yes' if colour else 'no'}"]
        self._begin(json.dumps([arguments, columns]))
        self._thread = threading.Thread(target=self._wait, daemon=True)
        self._thread.start()

    @property
    def seconds(self) -> float:
        """Since it began."""
        return time.monotonic() - self._began

    def stop(self) -> None:
        """End it, and whatever it started. Harmless when it has ended."""
        self._stopped = True
        self._signal("SIGINT")
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(GRACE)
        self._signal("SIGKILL")
        self._thread.join(GRACE)

    def _begin(self, order: str) -> None:
        with suppress(BrokenPipeError):  # it has ended already, and its exit code says so
            with self._process.stdin as pipe:
                print(order, file=pipe)
        self._process.stdin = None  # communicate() would flush it

    def _signal(self, name: str) -> None:
        if self._process.poll() is not None:
            return
        if not hasattr(os, "killpg"):
            return self._process.kill()
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, getattr(signal, name))

    def _wait(self) -> None:
        text, _ = self._process.communicate()
        outcome = Outcome(self._process.returncode, text, _failures(self._report), self.seconds)
        self._keep.cleanup()
        if not self._stopped:
            self._ended(self, outcome)


def _failures(report: Path) -> tuple[tuple[str, str], ...]:
    """What pytest's JUnit report says of each test that failed; nothing where a run ended too early to write one."""
    try:
        cases = ElementTree.parse(report).iter("testcase")
        return tuple((case.get("name", ""), found.text or "") for case in cases for found in case
                     if found.tag in ("failure", "error"))  # fmt: skip
    except (OSError, ElementTree.ParseError):
        return ()
