"""Own time: for how long a process worked or slept, without what it waited for a processor or a disk."""

import sys
import time
from contextlib import suppress
from pathlib import Path

UNTOLD = 1 / 3  # of the time that passes is counted where the system does not tell how long a process waited


class OwnTime:
    """A stopwatch for the first thread of a process, in which Python's main thread runs; by default of this one.

    others_waited: seconds that were not own in all laps of other processes.
    """

    others_waited = 0.0

    def __init__(self, process: int | None = None) -> None:
        self._folder, self._other = Path("/proc", str(process or "self")), process is not None
        self._told = (self._folder / "schedstat").exists() or sys.platform == "win32"
        self.seen, self._waited = time.monotonic(), self._waits()

    def lap(self) -> float:
        """Own seconds since the last lap."""
        seen, waited = self.seen, self._waited
        self.seen, self._waited = time.monotonic(), self._waits()
        passed = self.seen - seen
        if not self._told:
            return passed * UNTOLD
        own = 0.0 if self._reads_a_disk() else max(0.0, passed - (self._waited - waited))
        if self._other:
            OwnTime.others_waited += passed - own
        return own

    def _waits(self) -> float:
        """Seconds that it has waited for a processor so far."""
        with suppress(OSError, ValueError, IndexError):
            return int((self._folder / "schedstat").read_text().split()[1]) / 1e9
        return 0.0

    def _reads_a_disk(self) -> bool:
        """Is it stuck in the system now, as while a large library is read from a slow disk?"""
        if not self._other:  # who asks is not stuck
            return False
        with suppress(OSError, IndexError):
            return (self._folder / "stat").read_text().rpartition(")")[2].split()[0] == "D"
        return False


class OwnTimeOfAll:
    """The same for this process and the lessons' together: while this one waits for an answer, the time in which that
    process waits for a processor does not count."""

    def __init__(self) -> None:
        self._here, self._others = OwnTime(), OwnTime.others_waited

    def lap(self) -> float:
        """Own seconds since the last lap."""
        others, self._others = self._others, OwnTime.others_waited
        return max(0.0, self._here.lap() - (self._others - others))
