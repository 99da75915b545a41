"""One run of a unit's tests, or of one of them, in a process of its own, which can be stopped at any time."""

import re
import signal
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from tools import processes
from tools.cli.terminal import COLOUR
from tools.cli.watch.prestart import Ahead
from tools.course.content.catalogue import Unit

GRACE = 1.0  # seconds for a run to end itself before it is ended
STOPPED = "!+ stopping after 1 failures !+"  # what pytest says of --exitfirst
_HINT = re.compile(r"The next hint for task (\d+):")  # how the short screen names the task in focus
_FAILED = re.compile(r"^FAILED (.+)$", re.MULTILINE)  # and the test


@dataclass(frozen=True)
class Outcome:
    """The end of a run: pytest's exit code, what it printed, and every failure in full, by test."""

    code: int
    text: str
    failures: tuple[tuple[str, str], ...]
    seconds: float

    @property
    def focus(self) -> int | None:
        """The task that the one failure shown is about, where that task has hints."""
        found = _HINT.search(COLOUR.sub("", self.text))
        return int(found[1]) if found else None

    @property
    def early(self) -> bool:
        """Did it stop at a test that failed, before others had run?"""
        return self.code == 1 and bool(re.search(f"^{STOPPED}$", COLOUR.sub("", self.text), re.MULTILINE))

    @property
    def failed(self) -> str | None:
        """The test whose failure is shown, as pytest calls it."""
        found = _FAILED.search(COLOUR.sub("", self.text))
        return found[1] if found and found[1] in dict(self.failures) else None


class Run:
    """Starts at once. Calls `ended(run, outcome)` in a thread of its own, unless it was stopped before.

    test: the only one that runs; without it all do, up to the first that fails. follows: all do, since one has failed.
    """

    def __init__(self, unit: Unit, ended: Callable[["Run", Outcome], None], ahead: Ahead, columns: int = 80,
                 colour: bool = False, test: str | None = None, follows: bool = False):  # fmt: skip
        self.test, self.follows = test, follows
        self._ended, self._stopped = ended, False
        self._pid: int | None = None  # of the process that runs pytest, once that is known
        self._began = time.monotonic()
        self._keep = tempfile.TemporaryDirectory(prefix="course-watch-")
        self._report, self._text = Path(self._keep.name, "report.xml"), Path(self._keep.name, "text")
        self._warm = ahead.prepare(unit)
        what = f"{unit.tests.relative_to(unit.root).as_posix()}::{test}" if test else unit.name
        arguments = [what, f"--junitxml={self._report}", f"--color={'yes' if colour else 'no'}"]
        if not (test or follows):
            arguments.append("--exitfirst")
        self._thread = threading.Thread(target=self._work, args=(arguments, columns), daemon=True)
        self._thread.start()

    @property
    def seconds(self) -> float:
        """Since it began."""
        return time.monotonic() - self._began

    def stop(self) -> None:
        """End it, and whatever it started. Harmless when it has ended."""
        self._stopped = True
        if not self._thread.is_alive():
            return
        if self._pid:
            processes.signal_group(self._pid, signal.SIGINT)
            self._thread.join(GRACE)
            processes.signal_group(self._pid, processes.KILL)
            self._thread.join(GRACE)
        if self._thread.is_alive():  # it has not even begun: PyTorch is still being imported
            self._warm.end()
            self._thread.join(GRACE)

    def _work(self, arguments: list[str], columns: int) -> None:
        self._pid = self._warm.begin(arguments, columns, self._text)
        if self._stopped and self._pid:  # meanwhile
            processes.signal_group(self._pid, processes.KILL)
        code = self._warm.code()
        text = self._text.read_text(encoding="utf-8", errors="replace") if self._text.exists() else ""
        outcome = Outcome(code, text, _failures(self._report), self.seconds)
        self._keep.cleanup()
        if not self._stopped:
            self._ended(self, outcome)


def _failures(report: Path) -> tuple[tuple[str, str], ...]:
    """The tests that failed, as pytest's JUnit report has them; none where a run ended too early to write one."""
    try:
        cases = ElementTree.parse(report).iter("testcase")
        return tuple((case.get("name", ""), found.text or "") for case in cases for found in case
                     if found.tag in ("failure", "error"))  # fmt: skip
    except (OSError, ElementTree.ParseError):
        return ()
