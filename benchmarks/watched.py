"""`./course watch` at work on a unit, and how long a save takes to become a verdict."""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

from tools.cli.watch.screens import OTHERS
from tools.course.content.catalogue import Unit

END_OF_RESULT = re.compile(rf"\(\d\d:\d\d:\d\d, [\d.]+ s({OTHERS})?")  # the line below each result
REST = 0.5  # seconds without work, after which all that is made ready for the next save is ready
TICKS = os.sysconf("SC_CLK_TCK")


class Watched:
    """A watch of `unit`, its input open and its output read here."""

    def __init__(self, unit: Unit):
        from benchmarks.loop import environment

        self._process = subprocess.Popen(
            [sys.executable, "-m", "tools.cli", "watch", unit.name],
            cwd=unit.root,
            env=environment(unit.root),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def __enter__(self) -> "Watched":
        self.verdict()
        return self

    def __exit__(self, *error: object) -> None:
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def at_rest(self) -> None:
        """Wait until it has nothing to do, as while the learner thinks."""
        used, since = self._used(), time.monotonic()
        while time.monotonic() - since < REST:
            time.sleep(0.1)
            if (now := self._used()) != used:
                used, since = now, time.monotonic()

    def verdict(self) -> tuple[float, float]:
        """Processor and wall seconds from now to the next result. Raises RuntimeError where none comes.

        That is the result of the test in focus, where there is one and it fails again, else of all up to the first that
        fails; on return the others have run too.
        """
        used, began = self._used(), time.monotonic()
        others_run = self._result()
        found = self._used() - used, time.monotonic() - began
        if others_run:
            self._result()
        return found

    def _result(self) -> bool:
        """Read a result to its end. Do the other tests follow?"""
        for line in self._process.stdout:
            if end := END_OF_RESULT.match(line):
                return bool(end[1])
        raise RuntimeError("watch ended")

    def _used(self) -> float:
        """Processor seconds of the watch and all that it has started; 0.0 where the system does not tell."""
        mine, used = {self._process.pid}, 0
        for process, parent, ticks in sorted(_processes()):
            if process in mine or parent in mine:
                mine.add(process)
                used += ticks
        return used / TICKS


def _processes() -> list[tuple[int, int, int]]:
    """Each process, its parent, and the ticks that it and its ended children have used."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        found.append((int(stat.parent.name), int(fields[1]), sum(map(int, fields[11:15]))))
    return found
