"""Keep a unit's process going: one that dies or hangs costs its variant, and a new one does the rest."""

import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from pathlib import Path
from typing import IO

from tools import ROOT, processes
from tools.selfcheck.recording import recorded
from tools.selfcheck.results import TELLS_STACKS, Result, TestResult, Variant
from tools.stem import ASLEEP, POSSIBLE, Copy, Stem

START = 120.0  # seconds until the first word: Python, NumPy and PyTorch are loaded by then, on any machine
PATIENCE = 90.0  # seconds without a word, beyond the limit of one test: other work may slow a machine down
TAIL = 2000  # characters of standard error that are shown when a process dies before it began, or hangs
IN_MEMORY = "/dev/shm"  # on Linux
ROOM = 4 << 30  # bytes that have to be free there
SOON = 1.0  # seconds in which a process that hangs has said where it is


_live: set["UnitProcess"] = set()
_stem: Stem | None = None
_asking = threading.Lock()
_stopping = threading.Event()  # a process that was ended on purpose has no successor


def folder_in_memory() -> str | None:
    """A folder that lies in memory, where the system has one with room; None: temporary files lie where they always do.

    Hundreds of tests copy the course, and remove their copy: 1.6 s on a busy disk, 0.2 s in memory, five copies each.
    """
    if not os.path.isdir(IN_MEMORY) or not os.access(IN_MEMORY, os.W_OK):
        return None
    about = os.statvfs(IN_MEMORY)
    runs_programs = not about.f_flag & getattr(os, "ST_NOEXEC", 0)
    return IN_MEMORY if runs_programs and about.f_bavail * about.f_frsize >= ROOM else None


class Silent(Exception):
    """No line arrived in time."""


class Stopped(Exception):
    """Somebody wants no more of it."""


def run_variants(
    variants: list[Variant], root: Path, tell: Callable[[Variant], None], imports: Sequence[str] = ()
) -> list[Result]:
    """Run the variants in order; `tell` hears of each as it begins. Raises RuntimeError if none can begin, Stopped.

    imports: modules that all of them need, which one process imports for all calls.
    """
    results: list[Result] = []
    while len(results) < len(variants):
        if _stopping.is_set():
            raise Stopped
        rest = variants[len(results) :]
        process = UnitProcess(rest, root, imports)
        try:
            begun = process.results(rest, tell)
        finally:
            process.close()
        if not begun and not _stopping.is_set():
            raise RuntimeError(f"the process for {rest[0]} ended before it began:\n{process.tail}")
        results += begun
    return results


def run_shared(
    variants: list[Variant], processes: int, root: Path, tell: Callable[[Variant], None], imports: Sequence[str] = ()
) -> list[Result]:
    """As run_variants, with so many processes side by side, each of which runs a share of the variants."""
    shares = [variants[first::processes] for first in range(processes)]
    with ThreadPoolExecutor(processes) as pool:  # each thread with this one's context: it says what is recorded
        running = [pool.submit(copy_context().run, run_variants, each, root, tell, imports) for each in shares]
        found = [iter(each.result()) for each in running]
    return [next(found[number % processes]) for number in range(len(variants))]


def stop_all() -> None:
    """End every process, and with them their runs."""
    _stopping.set()
    for process in list(_live):
        process.kill()


class UnitProcess:
    """A process that runs tools.selfcheck.unit, and the lines that it writes."""

    def __init__(self, variants: list[Variant], root: Path, imports: Sequence[str]) -> None:
        self.errors = tempfile.TemporaryFile()
        # of its own, or pytest spends minutes on what other runs left in the one that all share
        self.temporary = tempfile.TemporaryDirectory(
            prefix="course-check-", dir=folder_in_memory(), ignore_cleanup_errors=True
        )
        own = {"COLUMNS": "80", "PYTHONPATH": str(ROOT), "PYTEST_DEBUG_TEMPROOT": self.temporary.name}
        if all(variant.kind != "tools" for variant in variants):
            own["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # of lessons none needs them, and each run would load them anew
        with tempfile.TemporaryFile() as asked:
            asked.write(json.dumps([variant.to_json() for variant in variants]).encode())
            asked.seek(0)
            environment = recorded({**ASLEEP, **os.environ, **own}, root)
            self.process = _started(root, environment, asked, self.errors, imports)
        _live.add(self)
        self.lines: queue.Queue[bytes | None] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        with open(self.process.stdout.fileno(), "rb", closefd=False) as stdout:  # a copy's own has no buffer
            for line in stdout:
                self.lines.put(line)
        self.lines.put(None)

    def results(self, variants: list[Variant], tell: Callable[[Variant], None]) -> list[Result]:
        """One for each variant that began, the one in which the process died included."""
        begun: list[Result] = []
        try:
            self._listen(begun, variants, tell)
            died = f"the process died ({_cause(self.process.wait(timeout=processes.PATIENCE))})"
        except (Silent, subprocess.TimeoutExpired):
            died = f"the process hung{self._stacks()}"
        if begun and begun[-1].exit is None:
            begun[-1].died = died
        return begun

    def _listen(self, begun: list[Result], variants: list[Variant], tell: Callable[[Variant], None]) -> None:
        patience = START
        while (event := self._next(patience)) is not None:
            kind = event.pop("event")
            if kind == "begin":
                begun.append(Result(variants[len(begun)]))
                tell(begun[-1].variant)
            elif kind == "test":
                begun[-1].tests.append(_test_result(event))
            else:
                begun[-1].exit, begun[-1].seconds = event["exit"], event["seconds"]
                begun[-1].said = self._said()
            patience = begun[-1].variant.limit + PATIENCE

    def _next(self, patience: float) -> dict | None:
        try:
            line = self.lines.get(timeout=patience)
        except queue.Empty:
            raise Silent from None
        return None if line is None else json.loads(line)

    def _stacks(self) -> str:
        """Where its threads are, where it can still say that."""
        if TELLS_STACKS is None:
            return ""
        before = os.fstat(self.errors.fileno()).st_size
        os.kill(self.process.pid, TELLS_STACKS)
        time.sleep(SOON)
        said = os.pread(self.errors.fileno(), TAIL, before)  # its place in the file is the process's too: no seek
        return f"\n{said.decode(errors='replace').rstrip()}"

    def _said(self) -> str:
        """The end of what it has written to standard error."""
        size = os.fstat(self.errors.fileno()).st_size
        return os.pread(self.errors.fileno(), TAIL, max(0, size - TAIL)).decode(errors="replace")

    def kill(self) -> None:
        """End the process and all that it started."""
        processes.end_group(self.process)

    def close(self) -> None:
        self.kill()
        _live.discard(self)
        self.errors.seek(0)
        self.tail = self.errors.read().decode(errors="replace")[-TAIL:]
        self.errors.close()
        self.temporary.cleanup()


def _started(
    root: Path, environment: dict[str, str], stdin: IO[bytes], stderr: IO[bytes], imports: Sequence[str]
) -> subprocess.Popen | Copy:
    """The process of a unit: where something is imported for all, a copy of the one that did it."""
    global _stem
    if not (imports and POSSIBLE):
        command = [sys.executable, "-m", "tools.selfcheck.unit"]
        return subprocess.Popen(command, cwd=root, env=environment, start_new_session=True,
                                stdin=stdin, stdout=subprocess.PIPE, stderr=stderr)  # fmt: skip
    with _asking:
        _stem = _stem or Stem()
    return _stem.copy(
        "tools.selfcheck.copied:main", environment, root, stdin.fileno(), stderr=stderr.fileno(), imports=imports
    )


def _test_result(event: dict) -> TestResult:
    return TestResult(**{**event, "tasks": tuple(event.get("tasks", ()))})


def _cause(code: int) -> str | None:
    return signal.strsignal(-code) if code < 0 else f"exit code {code}"
